//go:build !race

package testkit

// Race tells whether the race detector is on. sync.Pool then drops items at
// random, so that tests of allocation do not apply.
const Race = false

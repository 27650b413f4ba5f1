//go:build !unix

package testkit

import "time"

var began = time.Now()

// cpuTime is the time since the program began: there is no other clock here.
func cpuTime() time.Duration { return time.Since(began) }

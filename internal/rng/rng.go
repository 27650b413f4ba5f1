// Package rng supplies the randomness behind every Release: ChaCha8 keyed from
// crypto/rand where the caller gives none, and real variates made of its words.
// (Integer laws, drawn exactly, are package exact's.)
package rng

import (
	crand "crypto/rand"
	"math/rand/v2"
	"sync"
)

// Seeded returns a repeatable generator, for tests, examples and simulations.
// It is not for releases of private data: whoever knows the seed knows the
// noise.
func Seeded(seed uint64) *rand.Rand {
	var key [32]byte
	for i := range 8 {
		key[i] = byte(seed >> (8 * i))
	}
	return rand.New(rand.NewChaCha8(key))
}

// Secure returns a fresh ChaCha8 generator keyed with 256 bits of crypto/rand.
// It is not safe for concurrent use.
func Secure() *rand.Rand {
	var key [32]byte
	crand.Read(key[:]) // never fails: crypto/rand ends the program instead
	return rand.New(rand.NewChaCha8(key))
}

var pool = sync.Pool{New: func() any { return Secure() }}

// Get returns r itself, or a secure generator owned by the caller until the
// returned function is called, where r is nil. Generators are pooled, so the
// key set-up is paid about once a processor.
func Get(r *rand.Rand) (*rand.Rand, func()) {
	if r != nil {
		return r, func() {}
	}
	s := pool.Get().(*rand.Rand)
	return s, func() { pool.Put(s) }
}

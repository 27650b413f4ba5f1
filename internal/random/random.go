// Package random supplies the randomness behind every Release: ChaCha8 keyed from
// crypto/rand where the caller gives none, and real variates made of its words.
// (Integers, drawn exactly, are package exact's.)
package random

import (
	crand "crypto/rand"
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"sync/atomic"
)

// Seeded returns a repeatable generator, for tests, examples and simulations. It is not for
// releases of private data: whoever knows the seed knows the noise.
func Seeded(seed uint64) *rand.Rand {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	return rand.New(rand.NewChaCha8(key))
}

// Secure returns a fresh ChaCha8 generator keyed with 256 bits of crypto/rand.
// It is not safe for concurrent use.
func Secure() *rand.Rand {
	var key [32]byte
	crand.Read(key[:]) // never fails: crypto/rand ends the program instead
	return rand.New(rand.NewChaCha8(key))
}

// pooled is a secure generator, and in which epoch it was keyed.
type pooled struct {
	*rand.Rand
	epoch uint64
}

var (
	pool  sync.Pool     // of *pooled
	epoch atomic.Uint64 // how often Reseed was called
)

// Get returns rng itself or, where that is nil, a secure generator owned by the
// caller until the returned function is called. Generators are pooled.
func Get(rng *rand.Rand) (*rand.Rand, func()) {
	if rng != nil {
		return rng, func() {}
	}
	// Read before the key is drawn: a Reseed in between makes the new one stale too.
	now := epoch.Load()
	s, _ := pool.Get().(*pooled)
	if s == nil || s.epoch != now {
		s = &pooled{Secure(), now}
	}
	return s.Rand, func() { pool.Put(s) }
}

// Reseed makes Get leave all generators behind that it has handed out so far:
// every Get that begins later has a new one.
func Reseed() { epoch.Add(1) }

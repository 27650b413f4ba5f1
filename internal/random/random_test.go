package random

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

// The golden stream: what a seed gives must not change between releases.
func TestSeeded_Golden(t *testing.T) {
	rng := Seeded(1)
	for i, want := range golden {
		if got := rng.Uint64(); got != want {
			t.Errorf("word %d is %#x, was %#x", i, got, want)
		}
	}
}

// After Reseed no generator from before comes back, neither from the pool nor from
// one who had it meanwhile; what a copy of the process would draw next is not drawn.
func TestReseed_LeavesAllGeneratorsBehind(t *testing.T) {
	take := func(n int) (rs []*rand.Rand, done []func()) {
		for range n {
			rng, d := Get(nil)
			rs, done = append(rs, rng), append(done, d)
		}
		return rs, done
	}
	idle, back := take(8)
	for _, d := range back {
		d()
	}
	busy, later := take(4)
	again := false // the pool works at all; it may drop some under the race detector
	for _, rng := range busy {
		again = again || slices.Contains(idle, rng)
	}
	if !again && !testkit.Race {
		t.Error("generators are not pooled")
	}
	Reseed()
	for _, d := range later {
		d()
	}
	for range 100 {
		rng, done := Get(nil)
		if slices.Contains(idle, rng) || slices.Contains(busy, rng) {
			t.Fatal("a generator from before Reseed is handed out")
		}
		done()
	}
	// The words of the clone: idle and busy as they are now.
	clone := map[uint64]bool{}
	for _, rng := range append(idle, busy...) {
		for range 100 {
			clone[rng.Uint64()] = true
		}
	}
	for range 1000 {
		rng, done := Get(nil)
		if clone[rng.Uint64()] { // by chance less than once in 2^43
			t.Fatal("a word of a generator from before Reseed")
		}
		done()
	}
}

// Concurrent callers, while some call Reseed, have generators of their own: no word
// comes twice (by chance less than once in 2^33).
func TestGet_SecureGeneratorsDiffer(t *testing.T) {
	var words [4][]uint64
	var wg sync.WaitGroup
	for k := range words {
		wg.Go(func() {
			for i := range 5000 {
				rng, done := Get(nil)
				words[k] = append(words[k], rng.Uint64())
				done()
				if i%50 == k {
					Reseed()
				}
			}
		})
	}
	wg.Wait()
	all := slices.Concat(words[:]...)
	slices.Sort(all)
	if n := len(slices.Compact(all)); n != 20000 {
		t.Errorf("%d different words of 20000", n)
	}
}

var golden = []uint64{0x1be9bd4f3f78e66a, 0x47d28ea4738bb86e, 0x346879252e88e5db, 0xdd4a4525c5bfc132}

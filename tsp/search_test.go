package tsp

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// consistent fails where the arrays of s disagree, and returns the length.
func consistent(t *testing.T, s *search) (length float64) {
	t.Helper()
	for p, a := range s.order {
		if s.pos[a] != int32(p) {
			t.Fatalf("node %d is at %d, not %d", a, p, s.pos[a])
		}
		if d := s.distance(a, s.order[(p+1)%len(s.order)]); s.edge[p] != d {
			t.Fatalf("edge %d is %v, want %v", p, s.edge[p], d)
		}
		length += s.edge[p]
	}
	return length
}

func testSearch(t *testing.T, f metric.Finite, kind Kind) *search {
	t.Helper()
	near := testkit.Must(testkit.Must(newCandidates(context.Background(), f, 5)).widen(context.Background(), f))
	return newSearch(f, random.Seeded(9).Perm(f.Len()), kind, near)
}

// Every chain gains what it claims, a kick adds it, and undo takes all back.
func TestSearch_MovesGainWhatTheyClaim(t *testing.T) {
	var seen [3]int // chains of one turn and of more, and kicks
	for n := 5; n < 60; n++ {
		for _, kind := range []Kind{Closed, Open} {
			s := testSearch(t, plane(n, uint64(n)), kind)
			s.logging = true
			r := random.Seeded(uint64(n))
			for range 200 {
				before, length := slices.Clone(s.order), consistent(t, s)
				gain := s.improve(int32(r.IntN(len(s.order))), r.IntN(2))
				s.forget()
				if gain == 0 {
					gain = -s.kick(r)
					seen[2]++
				} else {
					s.apply()
					seen[min(len(s.turns)-1, 1)]++
				}
				if after := consistent(t, s); math.Abs(length-gain-after) > 1e-12 {
					t.Fatalf("n=%d: a gain of %v turned %v into %v", n, gain, length, after)
				}
				if r.IntN(2) == 0 {
					s.undo()
					if consistent(t, s); !slices.Equal(s.order, before) {
						t.Fatal("undo left a trace")
					}
				}
			}
		}
	}
	for k, times := range seen {
		if times < 50 {
			t.Errorf("moves of kind %d: %d only", k, times)
		}
	}
}

// The search of a region leaves the rest of the tour as it is, and saves what it
// claims to save.
func TestRegions_KeepTheTour(t *testing.T) {
	for _, kind := range []Kind{Closed, Open} {
		s := testSearch(t, plane(800, 1), kind)
		never := func() bool { return false }
		s.descend(never)
		r, rng := newRegions(s), random.Seeded(1)
		length, had := consistent(t, s), make([]bool, len(s.order))
		for range 200 {
			nodes := r.next(100)
			u := r.search(nodes)
			saved := 0.0
			for range 5 {
				saved -= u.kick(rng)
				saved += u.descend(never)
			}
			outside := make(map[[2]int32]bool)
			inside := make(map[int32]bool)
			for _, v := range nodes {
				inside[v], had[v] = true, true
			}
			for p, a := range s.order {
				if b := s.order[(p+1)%len(s.order)]; !inside[a] || !inside[b] {
					outside[[2]int32{min(a, b), max(a, b)}] = true
				}
			}
			r.merge(nodes, u)
			after := consistent(t, s)
			if math.Abs(length-saved-after) > 1e-12*length {
				t.Fatalf("%v: saved %v, from %v to %v", kind, saved, length, after)
			}
			length = after
			for p, a := range s.order {
				b := s.order[(p+1)%len(s.order)]
				delete(outside, [2]int32{min(a, b), max(a, b)})
			}
			if len(outside) > 0 {
				t.Fatalf("%v: %d edges outside are gone", kind, len(outside))
			}
		}
		if slices.Contains(had, false) {
			t.Errorf("%v: a round of regions misses a node", kind)
		}
	}
}

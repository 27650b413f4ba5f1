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
	near := testkit.Must(newCandidates(context.Background(), f, 8))
	return newSearch(f, random.Seeded(9).Perm(f.Len()), kind, near)
}

// Every move gains what it claims, a kick adds it, and undo takes all back.
func TestSearch_MovesGainWhatTheyClaim(t *testing.T) {
	seen := map[moveKind]int{}
	for n := 5; n < 60; n++ {
		for _, kind := range []Kind{Closed, Path} {
			s := testSearch(t, plane(n, uint64(n)), kind)
			r := random.Seeded(uint64(n))
			for range 200 {
				before, length := slices.Clone(s.order), consistent(t, s)
				var m move
				s.bestFrom(int32(r.IntN(len(s.order))), r.IntN(2), &m)
				seen[m.kind]++
				s.log = s.log[:0]
				if m.kind == noMove {
					m.gain = -s.kick(r, min(10, (len(s.order)-1)/3))
				} else {
					s.apply(m)
				}
				if after := consistent(t, s); math.Abs(length-m.gain-after) > 1e-12 {
					t.Fatalf("n=%d: %+v turned %v into %v", n, m, length, after)
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
	for _, k := range []moveKind{noMove, twoOpt, twoTwice, turnBoth, swapRuns} {
		if seen[k] < 50 {
			t.Errorf("move %d was made %d times only", k, seen[k])
		}
	}
}

// A kick allocates nothing once the log has grown.
func TestSearch_DoesNotAllocate(t *testing.T) {
	s := testSearch(t, plane(500, 1), Closed)
	never := func() bool { return false }
	s.descend(never)
	r := random.Seeded(1)
	s.log = make([]span, 0, 1<<12)
	if n := testing.AllocsPerRun(200, func() {
		s.log = s.log[:0]
		if added := s.kick(r, 30); s.descend(never) < added {
			s.undo()
		}
	}); n > 0 {
		t.Errorf("%v allocations a kick", n)
	}
}

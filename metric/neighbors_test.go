package metric

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

func TestNearestNeighbors_EqualsDefinition(t *testing.T) {
	p := planePoints(300)
	for _, f := range []Finite{p, scanned{p}} {
		for _, k := range []int{1, 4, 299} {
			got, err := NearestNeighbors(t.Context(), f, k)
			if err != nil || len(got) != 300*k {
				t.Fatal(len(got), err)
			}
			for i := range 300 {
				if want := byDistance(p, i)[:k]; !slices.Equal(got[i*k:(i+1)*k], want) {
					t.Fatalf("k=%d: neighbors of %d: %v, want %v", k, i, got[i*k:(i+1)*k], want)
				}
			}
		}
	}
}

// u is in I(v) exactly where v is u or among its r-1 nearest others.
func TestReverseNeighbors_IsTheInverse(t *testing.T) {
	p := under(gridPoints(6, 6), normSpace{2, identity})
	n := p.Len()
	for _, r := range []int{1, 2, 5, n} {
		sets := testkit.Must(ReverseNeighbors(t.Context(), p, r))
		total := 0
		for v, set := range sets {
			total += len(set)
			if !slices.IsSorted(set) {
				t.Fatalf("I(%d) = %v is not sorted", v, set)
			}
			for u := range n {
				want := u == v || slices.Contains(byDistance(p, u)[:r-1], v)
				if _, got := slices.BinarySearch(set, u); got != want {
					t.Fatalf("r=%d: %d in I(%d): %v, want %v", r, u, v, got, want)
				}
			}
		}
		if total != n*r {
			t.Fatalf("r=%d: %d entries", r, total)
		}
		// The sets share memory, and must not run into one another.
		last := slices.Clone(sets[n-1])
		_ = append(sets[n-2], -1)
		if !slices.Equal(sets[n-1], last) {
			t.Fatal("an append to one set changed the next")
		}
	}
}

func TestNeighbors_NotANumber(t *testing.T) {
	var v *Violation
	oneNaN := table{{0, 1, 2}, {1, 0, math.NaN()}, {2, math.NaN(), 0}}
	if _, err := NearestNeighbors(t.Context(), oneNaN, 2); !errors.As(err, &v) || v.Axiom != FiniteValue || v.I+v.J != 3 {
		t.Errorf("NearestNeighbors: %v", err)
	}
}

// gridPoints returns the w*h points of a grid of unit steps.
func gridPoints(w, h int) [][]float64 {
	var pts [][]float64
	for y := range h {
		for x := range w {
			pts = append(pts, []float64{float64(x), float64(y)})
		}
	}
	return pts
}

func BenchmarkNeighbors(b *testing.B) {
	for _, n := range []int{1000, 100000} {
		p := planePoints(n)
		testkit.Bench(b, fmt.Sprintf("k=10/n=%d", n), func() { testkit.Must(NearestNeighbors(b.Context(), p, 10)) })
	}
}

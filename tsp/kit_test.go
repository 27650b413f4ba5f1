package tsp

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

func cube(n, d, side int, s metric.Space[[]float64], seed uint64) metric.Finite {
	return space.Cube(n, d, side, s, random.Seeded(seed))
}

func plane(n int, seed uint64) metric.Finite { return cube(n, 2, 0, metric.Euclidean{}, seed) }

// bare hides all capabilities of a metric.
type bare struct{ f metric.Finite }

func (b bare) Len() int                  { return b.f.Len() }
func (b bare) Distance(i, j int) float64 { return b.f.Distance(i, j) }

// randomMetric returns n points at independent distances in [1, 2].
func randomMetric(n int, seed uint64) metric.Finite {
	r := random.Seeded(seed)
	upper := make([]float64, n*(n-1)/2)
	for k := range upper {
		upper[k] = 1 + r.Float64()
	}
	return testkit.Must(metric.NewDense(n, upper))
}

// shortest is the length of the shortest tour, by dynamic programming over sets
// of points and the last one visited (Held and Karp 1962).
func shortest(f metric.Finite, kind Kind) float64 {
	n := f.Len()
	best, length := math.Inf(1), make([]float64, n<<n)
	for k := range length {
		length[k] = math.Inf(1)
	}
	for i := range n {
		if i == 0 || kind == Path {
			length[i<<n|1<<i] = 0
		}
	}
	for set := range 1 << n {
		for i := range n {
			d := length[i<<n|set]
			if bits.OnesCount(uint(set)) == n {
				if kind == Closed {
					d += f.Distance(i, 0)
				}
				best = min(best, d)
			}
			for j := range n {
				if set>>j&1 == 0 {
					at := j<<n | set | 1<<j
					length[at] = min(length[at], d+f.Distance(i, j))
				}
			}
		}
	}
	return best
}

// check fails where t is no valid tour of f.
func check(t *testing.T, f metric.Finite, tour *Tour, kind Kind) {
	t.Helper()
	if tour == nil {
		t.Fatal("no tour")
	}
	sorted := slices.Sorted(slices.Values(tour.Order))
	for i := range f.Len() {
		if len(sorted) != f.Len() || sorted[i] != i {
			t.Fatalf("%v is no permutation", tour.Order)
		}
	}
	length, scale := 0.0, 1e-300
	for k := range tour.Order {
		if k > 0 || kind == Closed {
			d := f.Distance(tour.Order[(k+f.Len()-1)%f.Len()], tour.Order[k])
			length, scale = length+d, scale+d
		}
	}
	if tour.Kind != kind || math.Abs(tour.Length-length) > 1e-12*scale {
		t.Fatalf("%v, length %v; want %v, %v", tour.Kind, tour.Length, kind, length)
	}
	if tour.LowerBound > tour.Length {
		t.Fatalf("bound %v above the length %v", tour.LowerBound, tour.Length)
	}
}

// builders are all ways to a tour that need no coordinates, with that many kicks.
var builders = map[string]func(ctx context.Context, f metric.Finite, kind Kind, kicks int) (*Tour, error){
	"DoubleTree": func(ctx context.Context, f metric.Finite, kind Kind, _ int) (*Tour, error) {
		return DoubleTree(ctx, f, kind)
	},
	"Greedy": func(ctx context.Context, f metric.Finite, kind Kind, _ int) (*Tour, error) {
		return Greedy(ctx, f, &GreedyOptions{Kind: kind})
	},
	"Solve": func(ctx context.Context, f metric.Finite, kind Kind, kicks int) (*Tour, error) {
		return Solve(ctx, f, &SolveOptions{Kind: kind, Improve: ImproveOptions{Kicks: kicks}})
	},
	"Improve": func(ctx context.Context, f metric.Finite, kind Kind, kicks int) (*Tour, error) {
		t, err := NewTour(f, identity(f.Len()), kind)
		if err != nil {
			return nil, err
		}
		return Improve(ctx, f, t, &ImproveOptions{Kicks: kicks})
	},
	"Hilbert": func(ctx context.Context, f metric.Finite, kind Kind, _ int) (*Tour, error) {
		return curve(ctx, f, Hilbert, kind)
	},
	"Strips": func(ctx context.Context, f metric.Finite, kind Kind, _ int) (*Tour, error) {
		return curve(ctx, f, Boustrophedon, kind)
	},
}

// curve is SpaceFilling, and Greedy where there are no coordinates.
func curve(ctx context.Context, f metric.Finite, c Curve, kind Kind) (*Tour, error) {
	t, err := SpaceFilling(ctx, f, c, kind)
	if errors.Is(err, ErrNoCoordinates) {
		return Greedy(ctx, f, &GreedyOptions{Kind: kind})
	}
	return t, err
}

// identity is 0, 1, ..., n-1.
func identity(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

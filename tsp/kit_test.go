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
	"github.com/metricdp/metricdp/tsp/internal/heldkarp"
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
		if i == 0 || kind == Open {
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
	"greedy": func(ctx context.Context, f metric.Finite, kind Kind, _ int) (*Tour, error) {
		if err := checkSize("tsp: greedy", f.Len()); err != nil {
			return nil, err
		}
		near, err := newCandidates(ctx, f, defaultNeighbors)
		if err != nil {
			return nil, err
		}
		order, err := greedy(ctx, f, near)
		if err != nil {
			return nil, err
		}
		return newTour(f, order, kind)
	},
	"Solve": func(ctx context.Context, f metric.Finite, kind Kind, kicks int) (*Tour, error) {
		return Solve(ctx, f, &SolveOptions{Kind: kind, Kicks: kicks})
	},
	"Hilbert": func(ctx context.Context, f metric.Finite, kind Kind, _ int) (*Tour, error) {
		t, err := SpaceFilling(ctx, f, kind)
		if errors.Is(err, ErrNoCoordinates) {
			return Solve(ctx, f, &SolveOptions{Kind: kind, Kicks: -1})
		}
		return t, err
	},
}

// heldKarpBound is the ascent behind [BoundHeldKarp].
func heldKarpBound(ctx context.Context, f metric.Finite, kind Kind, upper float64) (heldkarp.Bound, error) {
	return heldkarp.Ascend(ctx, f, kind == Open, upper)
}

// oneTreeBound is what the multipliers prove: with nil, [BoundTree].
func oneTreeBound(ctx context.Context, f metric.Finite, multipliers []float64, kind Kind) (heldkarp.Bound, error) {
	return heldkarp.OneTree(ctx, f, multipliers, kind == Open)
}

// identity is 0, 1, ..., n-1.
func identity(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

// shapes are about n points of the plane each, in arrangements that are hard for
// a local search in different ways. lack is the most by which the Held-Karp
// bound falls short of the shortest tour, as far as it was seen.
var shapes = []struct {
	name string
	make func(n int, seed uint64) metric.Finite
	lack float64
}{
	{"uniform", plane, 0.01},
	{"clustered", clustered, 0.02},
	{"far", func(n int, seed uint64) metric.Finite { return clumps(n, max(2, n/90), 0.003, 0.03, seed) }, 0.01},
	{"plate", plate, 0.02},
	{"grid", func(n int, _ uint64) metric.Finite { return gridOf(n) }, 0},
}

func points(xy [][]float64) metric.Finite {
	return testkit.Must(metric.NewPoints(xy, metric.Euclidean{}))
}

// clustered are clusters of about 40 points, of spreads from 0.001 to 0.1, in the unit square.
func clustered(n int, seed uint64) metric.Finite {
	return clumps(n, max(2, n/40), 0.001, 0.1, seed)
}

// clumps are n points in Gaussian clusters with centers in the unit square, and
// spreads between least and most, uniform in their logarithm.
func clumps(n, clusters int, least, most float64, seed uint64) metric.Finite {
	r := random.Seeded(seed)
	type clump struct{ x, y, spread float64 }
	at := make([]clump, clusters)
	for i := range at {
		at[i] = clump{r.Float64(), r.Float64(), least * math.Pow(most/least, r.Float64())}
	}
	xy := make([][]float64, n)
	for i := range xy {
		c := at[r.IntN(clusters)]
		xy[i] = []float64{c.x + c.spread*r.NormFloat64(), c.y + c.spread*r.NormFloat64()}
	}
	return points(xy)
}

// plate are holes drilled in a plate: small lattices, rows and columns of equal
// steps, which stand on a coarse lattice with gaps.
func plate(n int, seed uint64) metric.Finite {
	r := random.Seeded(seed)
	var xy [][]float64
	side := 1 + int(math.Sqrt(float64(n)/25))
	for cell := 0; len(xy) < n; cell++ {
		if r.IntN(4) == 0 {
			continue
		}
		x, y := float64(cell%side)*100, float64(cell/side)*100
		across, down := 1+r.IntN(12), 1+r.IntN(3)
		if r.IntN(2) == 0 {
			across, down = down, across
		}
		step := []float64{2, 4, 5}[r.IntN(3)]
		for k := range min(across*down, n-len(xy)) {
			xy = append(xy, []float64{x + step*float64(k%across), y + step*float64(k/across)})
		}
	}
	return points(xy)
}

// gridOf is the full lattice of steps 1 nearest to a square with at most n
// points, and an even number of them: its shortest tour has length Len().
func gridOf(n int) metric.Finite {
	w := int(math.Sqrt(float64(n))) &^ 1
	xy := make([][]float64, w*(n/w))
	for i := range xy {
		xy[i] = []float64{float64(i % w), float64(i / w)}
	}
	return points(xy)
}

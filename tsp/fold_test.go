package tsp

import (
	"errors"
	"math"
	"math/bits"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// Tours of all kinds are no shorter than the tree, those of Solve at
// most twice as long, and their foldings bring no two points nearer.
func TestFold_IsLipschitzForAllPairs(t *testing.T) {
	for _, f := range []metric.Finite{plane(1, 1), plane(2, 1), plane(testkit.Sweep(200, 500), 1), cube(150, 2, 4, metric.Manhattan{}, 2), randomMetric(200, 3), cube(100, 3, 1, metric.Euclidean{}, 4)} {
		tree := testkit.Must(oneTreeBound(t.Context(), f, nil, Open)).Value
		for name, build := range builders {
			for _, kind := range []Kind{Closed, Open} {
				tour := testkit.Must(build(t.Context(), f, kind, 200))
				check(t, f, tour, kind)
				if tour.Length < tree || name == "Solve" && tour.Length > 2*tree*(1+1e-12) {
					t.Errorf("%s %v: %v, the tree %v", name, kind, tour.Length, tree)
				}
				l := testkit.Must(Fold(f, tour))
				if !slices.IsSorted(l.Position) || l.Position[0] != 0 {
					t.Fatal(name, l.Position)
				}
				for i := range f.Len() {
					if l.Order[l.Rank[i]] != i {
						t.Fatal(name, "rank", i)
					}
					for j := range i {
						if gap := math.Abs(l.Position[l.Rank[i]] - l.Position[l.Rank[j]]); f.Distance(i, j) > gap*(1+1e-15) {
							t.Fatalf("%s: %d and %d at %v came as near as %v", name, i, j, f.Distance(i, j), gap)
						}
					}
				}
				if open, err := tour.Open(f); err != nil || open.Length != l.Length() || open.Length > tour.Length {
					t.Error(name, open, l.Length(), err)
				}
			}
		}
	}
}

// A pair too far apart for its way along the path is no metric.
func TestFold_FindsAViolation(t *testing.T) {
	line := cube(600, 1, 0, metric.Euclidean{}, 1)
	tour := testkit.Must(SpaceFilling(t.Context(), line, Open))
	for _, n := range []int{200, 600} { // all pairs; a sample
		f := testkit.Must(metric.Subset(line, tour.Order[:n]))
		path := testkit.Must(newTour(f, identity(n), Open))
		_, err := Fold(squared{f}, path)
		v := new(metric.Violation)
		if !errors.As(err, &v) || v.Axiom != metric.Triangle {
			t.Fatal(n, err)
		}
		s := squared{f}
		if e := s.Distance(v.I, v.J) - s.Distance(v.I, v.K) - s.Distance(v.K, v.J); e != v.Excess || !(e > 0) {
			t.Errorf("%v: excess %v", v, e)
		}
	}
}

// squared distances of the line break the triangle inequality everywhere.
type squared struct{ metric.Finite }

func (s squared) Distance(i, j int) float64 { d := s.Finite.Distance(i, j); return d * d }

func TestFolding_NearestIsTheNearest(t *testing.T) {
	f := cube(60, 2, 6, metric.Euclidean{}, 1) // with duplicates
	tour := testkit.Must(Solve(t.Context(), f, &SolveOptions{Kind: Open}))
	l := testkit.Must(Fold(f, tour))
	for x := -1.0; x < l.Length()+1; x += 0.125 {
		want := 0
		for k := range l.Position {
			if math.Abs(l.Position[k]-x) < math.Abs(l.Position[want]-x) {
				want = k
			}
		}
		if got := l.Nearest(x); got != l.Order[want] {
			t.Errorf("%v: %d, want %d", x, got, l.Order[want])
		}
	}
	for _, x := range []float64{math.Inf(-1), math.Inf(1), math.NaN()} {
		l.Nearest(x)
	}
}

func TestCoveringIntegral_BoundsTheTour(t *testing.T) {
	for _, f := range []metric.Finite{plane(1, 1), plane(2, 1), plane(400, 1), cube(300, 4, 0, metric.Chebyshev{}, 2), randomMetric(200, 3), cube(200, 2, 1, metric.Euclidean{}, 4)} {
		c := testkit.Must(CoveringIntegral(t.Context(), f))
		tour := testkit.Must(Solve(t.Context(), f, &SolveOptions{Kicks: -1}))
		tree := testkit.Must(oneTreeBound(t.Context(), f, nil, Open)).Value
		if tour.Length > c.Bound || tree > c.Integral || c.Bound != 16*c.Integral || c.Centers != f.Len() {
			t.Errorf("%+v; tour %v, tree %v", c, tour.Length, tree)
		}
	}
}

// The bound lies above the integral by at most its factor, with few centers too.
func TestCoveringIntegral_AgainstExactCoveringNumbers(t *testing.T) {
	for n := 1; n <= 8; n++ {
		for seed := range uint64(5) {
			for _, f := range []metric.Finite{plane(n, seed), randomMetric(n, seed), cube(n, 2, 2, metric.Euclidean{}, seed)} {
				exact := 0.0
				var radii []float64
				for i := range n {
					for j := range i {
						radii = append(radii, f.Distance(i, j))
					}
				}
				slices.Sort(radii)
				last := 0.0
				for _, r := range radii {
					exact += (r - last) * float64(coverings(f, last)-1)
					last = r
				}
				for m := 1; m <= n; m++ {
					c, err := covering(t.Context(), f, m)
					if err != nil || c.Integral < exact*(1-1e-12) {
						t.Errorf("n=%d, %d centers: %v below %v, %v", n, m, c.Integral, exact, err)
					}
					if m == n && c.Integral > 2*exact*(1+1e-12) {
						t.Errorf("n=%d: %v above 2*%v", n, c.Integral, exact)
					}
				}
			}
		}
	}
}

// coverings is the least number of balls of radius r that cover f, by trying all sets of centers.
func coverings(f metric.Finite, r float64) int {
	n := f.Len()
	best := n
	for set := range 1 << n {
		covered := true
		for i := range n {
			hit := false
			for j := range n {
				hit = hit || set>>j&1 == 1 && f.Distance(i, j) <= r
			}
			covered = covered && hit
		}
		if covered {
			best = min(best, bits.OnesCount(uint(set)))
		}
	}
	return best
}

// Of many points few pairs are checked, also where the square of their number is
// beyond an int of 32 bits.
func TestFold_ChecksFewPairsOfManyPoints(t *testing.T) {
	const n = 1 << 16
	f := &counted{n: n}
	if _, err := Fold(f, &Tour{Order: identity(n), Kind: Open}); err != nil || f.calls > n+foldPairs {
		t.Errorf("%d distances: %v", f.calls, err)
	}
}

// counted are n points on a line, which have no distance once too many were asked for.
type counted struct{ n, calls int }

func (c *counted) Len() int { return c.n }
func (c *counted) Distance(i, j int) float64 {
	if c.calls++; c.calls > c.n+foldPairs {
		return math.NaN()
	}
	return math.Abs(float64(i - j))
}

// far are points with coordinates of any size, which say nothing of their distances.
type far struct{ coords []float64 }

func (f far) Len() int                  { return len(f.coords) / 2 }
func (f far) Distance(i, j int) float64 { return 1 }
func (f far) Embed() (metric.Embedding, bool) {
	return metric.Embedding{Coords: f.coords, Dim: 2, P: 2, FromNorm: func(v float64) float64 { return v }}, true
}

// The order depends on the shape alone, up to the ends of float64.
func TestSpaceFilling_OfAnyScale(t *testing.T) {
	small, large := far{}, far{}
	r := random.Seeded(31)
	for range 200 {
		v := 3.9*r.Float64() - 1.95
		small.coords, large.coords = append(small.coords, v), append(large.coords, math.Ldexp(v, 1023))
	}
	a, b := testkit.Must(SpaceFilling(t.Context(), small, Open)), testkit.Must(SpaceFilling(t.Context(), large, Open))
	if !slices.Equal(a.Order, b.Order) {
		t.Errorf("%v and, scaled, %v", a.Order, b.Order)
	}
	corners := testkit.Must(SpaceFilling(t.Context(), far{[]float64{-1, -1, 1, 1, -1, 1, 1, -1}}, Open))
	if !slices.Equal(corners.Order, []int{0, 2, 1, 3}) {
		t.Errorf("the corners of a square are met in the order %v", corners.Order)
	}
}

// The curve meets every cell once, and goes from each to a neighbor.
func TestHilbert_IsACurveThroughAllCells(t *testing.T) {
	for _, c := range []struct{ d, bits int }{{1, 1}, {1, 8}, {2, 1}, {2, 2}, {2, 5}, {3, 1}, {3, 3}, {4, 1}, {4, 2}, {5, 2}, {11, 1}} {
		cells := 1 << (c.d * c.bits)
		at := make([][]uint32, cells)
		x, key := make([]uint32, c.d), make([]uint64, 1)
		for cell := range cells {
			for a := range x {
				x[a] = uint32(cell>>(a*c.bits)) & (1<<c.bits - 1)
			}
			cellAt := slices.Clone(x)
			hilbertKey(key, x, c.bits)
			h := key[0] >> (64 - c.d*c.bits)
			if h >= uint64(cells) || at[h] != nil {
				t.Fatalf("d=%d, bits=%d: place %d twice", c.d, c.bits, h)
			}
			at[h] = cellAt
		}
		for h := 1; h < cells; h++ {
			steps := 0
			for a := range c.d {
				steps += int(math.Abs(float64(at[h][a]) - float64(at[h-1][a])))
			}
			if steps != 1 {
				t.Fatalf("d=%d, bits=%d: from %v to %v", c.d, c.bits, at[h-1], at[h])
			}
		}
	}
}

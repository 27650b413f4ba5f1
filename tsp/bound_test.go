package tsp

import (
	"context"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/tsp/internal/heldkarp"
)

type boundSpace struct {
	f     metric.Finite
	exact bool
}

// boundSpaces are small metrics with all kinds of trouble. Distances are
// integers where exact is true, so that sums of them are exact.
func boundSpaces(n int, seed uint64) map[string]boundSpace {
	r := random.Seeded(seed)
	upper := make([]float64, n*(n-1)/2)
	for k := range upper {
		upper[k] = float64(10 + r.IntN(11))
	}
	integers := testkit.Must(metric.NewDense(n, upper))
	for k := range upper {
		upper[k] = math.Floor(1 / (1e-3 + r.Float64())) // not a metric
	}
	wild := testkit.Must(metric.NewDense(n, upper))
	return map[string]boundSpace{
		"plane":      {plane(n, seed), false},
		"random":     {randomMetric(n, seed), false},
		"integers":   {integers, true},
		"wild":       {wild, true},
		"duplicates": {cube(n, 2, 2, metric.Manhattan{}, seed), true},
		"line":       {cube(n, 1, 100, metric.Manhattan{}, seed), true},
		"constant":   {space.Constant(n, 3), true},
		"points":     {space.Constant(n, 0), true},
	}
}

// boundAll are the ways to a bound.
var boundAll = map[string]func(context.Context, metric.Finite, Kind) (heldkarp.Bound, error){
	"HeldKarp": func(ctx context.Context, f metric.Finite, kind Kind) (heldkarp.Bound, error) {
		return heldKarpBound(ctx, f, kind, 0)
	},
	"tree": treeBound,
}

func treeBound(ctx context.Context, f metric.Finite, kind Kind) (heldkarp.Bound, error) {
	return oneTreeBound(ctx, f, nil, kind)
}

// No bound passes the optimum, to the last bit where that is known exactly, and
// most often Held and Karp's reaches it.
func TestBound_IsAtMostTheShortestTour(t *testing.T) {
	reached, cases := 0, 0
	for n := 1; n <= 9; n++ {
		for seed := range uint64(4) {
			for name, s := range boundSpaces(n, seed) {
				for _, kind := range []Kind{Closed, Open} {
					best := shortest(s.f, kind)
					limit := best
					if !s.exact {
						limit *= 1 + 1e-15*float64(n)
					}
					var value float64
					for how, bound := range boundAll {
						b, err := bound(t.Context(), s.f, kind)
						if err != nil || !(b.Value >= 0 && b.Value <= limit) {
							t.Errorf("%s %s n=%d %v: %v, the optimum is %v (%v)", how, name, n, kind, b.Value, best, err)
						}
						if how == "HeldKarp" {
							value = b.Value
							again, err := oneTreeBound(t.Context(), s.f, b.Multipliers, kind)
							if err != nil || again.Value != value {
								t.Errorf("%s n=%d %v: multipliers prove %v, not %v (%v)", name, n, kind, again.Value, value, err)
							}
						}
					}
					if m, err := treeBound(t.Context(), s.f, kind); err != nil || m.Value > value {
						t.Errorf("%s n=%d %v: tree %v above %v", name, n, kind, m.Value, value)
					}
					cases++
					if value >= best*(1-1e-6) {
						reached++
					}
				}
			}
		}
	}
	if t.Logf("%d of %d optimal", reached, cases); 10*reached < 8*cases {
		t.Errorf("only %d of %d bounds are the optimum", reached, cases)
	}
}

// Any multipliers prove something true, also where rounding eats most of it.
func TestBound_HoldsForAnyMultipliers(t *testing.T) {
	r := random.Seeded(3)
	for n := 1; n <= 7; n++ {
		for seed := range uint64(3) {
			for name, s := range boundSpaces(n, seed) {
				if !s.exact {
					continue
				}
				for _, kind := range []Kind{Closed, Open} {
					best := shortest(s.f, kind)
					for _, size := range []float64{0.3, 10, 1e9, 1e17, 1e300} {
						pi := make([]float64, n)
						for i := range pi {
							pi[i] = size * (1 - 2*r.Float64())
						}
						shift := size * r.Float64() / 2 // which changes nothing in exact arithmetic
						for i := range pi {
							pi[i] = max(-1e300, min(1e300, pi[i]/1e8+shift))
						}
						b, err := oneTreeBound(t.Context(), s.f, pi, kind)
						if err != nil || b.Value > best {
							t.Errorf("%s n=%d %v size %v: %v above %v (%v)", name, n, kind, size, b.Value, best, err)
						}
					}
				}
			}
		}
	}
}

func TestBoundHeldKarp_KnownValues(t *testing.T) {
	points := func(n int, at func(i int) []float64) metric.Finite {
		pts := make([][]float64, n)
		for i := range pts {
			pts[i] = at(i)
		}
		return testkit.Must(metric.NewPoints(pts, metric.Euclidean{}))
	}
	lattice := func(w, h int) metric.Finite {
		return points(w*h, func(i int) []float64 { return []float64{float64(i % w), float64(i / w)} })
	}
	circle := func(n int) (f metric.Finite, side float64) {
		return points(n, func(i int) []float64 {
			y, x := math.Sincos(2 * math.Pi * float64(i) / float64(n))
			return []float64{x, y}
		}), 2 * math.Sin(math.Pi/float64(n))
	}
	ring7, side7 := circle(7)
	ring100, side100 := circle(100)
	line := cube(12, 1, 1000, metric.Manhattan{}, 1)
	span, _, _, _ := metric.Diameter(t.Context(), line)
	for _, c := range []struct {
		name       string
		f          metric.Finite
		tour, path float64
		tolerance  float64 // for tours; 0 asks for the proof before the first step
	}{
		{"circle 7", ring7, 7 * side7, 6 * side7, 1e-11}, // the first 1-tree proves it
		{"circle 100", ring100, 100 * side100, 99 * side100, 1e-11},
		{"unit", space.Constant(40, 1), 40, 39, 0},
		{"lattice", lattice(6, 7), 42, 41, 0},
		{"line", line, 2 * span, span, 1e-3},
		{"three", lattice(3, 1), 4, 2, 0},
		{"two", lattice(2, 1), 2, 1, 0},
		{"one", lattice(1, 1), 0, 0, 0},
	} {
		for kind, want := range map[Kind]float64{Closed: c.tour, Open: c.path} {
			tol := c.tolerance
			if kind == Open {
				tol = min(tol, 1e-11)
			}
			b, err := heldKarpBound(t.Context(), c.f, kind, want)
			if err != nil || math.Abs(b.Value-want) > tol*want || tol == 0 && b.Iterations > 0 {
				t.Errorf("%s %v: %v after %d iterations, want %v (%v)", c.name, kind, b.Value, b.Iterations, want, err)
			}
		}
	}
}

// At the ends of the range a bound is true still, and finite.
func TestBound_OfExtremeDistances(t *testing.T) {
	for how, bound := range boundAll {
		for _, d := range []float64{math.MaxFloat64, 1e307, 5e-324} {
			for _, n := range []int{2, 9, 20} {
				if b, err := bound(t.Context(), space.Constant(n, d), Closed); err != nil || !(b.Value <= float64(n)*d) || math.IsInf(b.Value, 1) {
					t.Error(how, n, d, b.Value, err)
				}
			}
		}
		if b, err := bound(t.Context(), altered{bare{plane(20, 1)}, 3, 4, math.MaxFloat64}, Closed); err != nil || !(b.Value > 0 && b.Value < 10) {
			t.Error(how, b.Value, err)
		}
	}
}

// What multipliers can prove is the optimum of the linear program with degree and
// subtour constraints. Three rows of 15 points, 5 apart, have the fractional tour
// that takes all rows whole and at either end half of the edges between each two of
// their three ends: 3*14 + 2*(5+5+10)/2 = 62. A tour crosses the space between two
// columns an even number of times, and so is longer; no ascent can close that gap.
func TestBoundHeldKarp_FallsShortOnRows(t *testing.T) {
	var xy [][]float64
	for row := range 3 {
		for x := range 15 {
			xy = append(xy, []float64{float64(x), 5 * float64(row)})
		}
	}
	const fractional = 62
	tour := testkit.Must(Solve(t.Context(), points(xy), nil))
	if tour.LowerBound < .98*fractional || tour.LowerBound > fractional || tour.Length < 1.05*fractional {
		t.Errorf("%v; a fractional tour has %d", tour, fractional)
	}
}

package wasserstein

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// placed is n points of a shape that is hard for a search in space, in a metric.
func placed(r *rand.Rand, shape string, n int) metric.Finite {
	pts := make([][]float64, n)
	for i := range pts {
		p := []float64{r.Float64(), r.Float64()}
		switch shape {
		case "grid":
			p = []float64{float64(r.IntN(12)), float64(r.IntN(12))}
		case "clusters":
			p = []float64{float64(r.IntN(3)) + 1e-6*r.NormFloat64(), 1e-6 * r.NormFloat64()}
		case "line":
			p[1] = p[0] / 3
		case "shifted":
			p[0] += 3 * float64(i%2)
		case "solid":
			p = append(p, r.Float64())
		}
		pts[i] = p
	}
	switch shape {
	case "manhattan":
		return testkit.Must(metric.NewPoints(pts, metric.Manhattan{}))
	case "globe":
		globe := make([]metric.LatLon, n)
		for i, p := range pts {
			globe[i] = metric.LatLon{Lat: 180*p[0] - 90, Lon: 360*p[1] - 180}
		}
		return testkit.Must(metric.NewPoints(globe, metric.GreatCircle{}))
	}
	return testkit.Must(metric.NewPoints(pts, metric.Euclidean{}))
}

var placedShapes = []string{"uniform", "clusters", "manhattan", "globe", "grid", "line", "shifted", "solid"}

// evenOdd splits the points of f: even ones are sources, odd ones sinks, less the
// last drop of them.
func evenOdd(f metric.Finite, drop int) (c Cost, a, b []int) {
	for i := range f.Len() {
		if i%2 == 0 {
			a = append(a, i)
		} else if i < f.Len()-2*drop {
			b = append(b, i)
		}
	}
	return testkit.Must(Distances(f, a, b)), a, b
}

// rowsOf is the cost without its places.
func rowsOf(c Cost) Cost {
	n, m := c.Dims()
	return CostFunc(n, m, c.At)
}

// Whoever stops has a proved interval by then, and it only gets narrower.
func TestProgress_BracketsTheOptimum(t *testing.T) {
	r := random.Seeded(6)
	c, a, b := evenOdd(placed(r, "shifted", 1000), 0)
	mu, nu := w1Weights(r, len(a), false), w1Weights(r, len(b), false)
	for name, c := range map[string]Cost{"space": c, "rows": rowsOf(c)} {
		want := testkit.Must(Between(t.Context(), c, mu, nu, nil))
		calls, lower, upper := 0, 0.0, math.Inf(1)
		testkit.Must(Between(t.Context(), c, mu, nu, &Options{Progress: func(pivots int, lo, hi float64) {
			if !(lower <= lo && lo <= want.Upper && want.Lower <= hi && hi <= upper) {
				t.Errorf("%s: [%v, %v] after [%v, %v], optimum %v", name, lo, hi, lower, upper, want.Cost)
			}
			calls, lower, upper = calls+1, lo, hi
		}}))
		if calls < 2 || upper-lower > 1e-9*want.Cost {
			t.Errorf("%s: %d calls, the last [%v, %v]", name, calls, lower, upper)
		}
	}
	// Of many points there is a bracket before the first pivot.
	many, _ := samplePair("near", 2*firstCells)
	equal := slices.Repeat([]float64{1. / (2 * firstCells)}, 2*firstCells)
	best, first := testkit.Must(Between(t.Context(), many, equal, equal, nil)), true
	testkit.Must(Between(t.Context(), many, equal, equal, &Options{Progress: func(pivots int, lo, hi float64) {
		if first && !(pivots == 0 && 0 < lo && lo <= best.Cost && best.Cost <= hi && hi < 2*lo) {
			t.Errorf("first [%v, %v] after %d pivots, optimum %v", lo, hi, pivots, best.Cost)
		}
		first = false
	}}))
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := Between(ctx, c, mu, nu, &Options{Progress: func(int, float64, float64) { cancel() }}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestCells_BracketTheDistance(t *testing.T) {
	r := random.Seeded(10)
	for _, shape := range placedShapes[:testkit.Sweep(4, 8)] {
		f := placed(r, shape, 1500)
		c, a, b := evenOdd(f, 50)
		mu, nu := w1Weights(r, len(a), true), w1Weights(r, len(b), false)
		best := testkit.Must(Between(t.Context(), c, mu, nu, nil))
		last := math.Inf(1)
		for _, k := range []int{1, 16, 64} {
			got := testkit.Must(Between(t.Context(), c, mu, nu, &Options{Cells: k}))
			if !(got.Lower <= best.Upper && best.Lower <= got.Upper) || got.Unmatched > 1e-12 {
				t.Errorf("%s: [%v, %v] of %d cells, optimum %v", shape, got.Lower, got.Upper, k, best.Cost)
			}
			if got.Gap() > last {
				t.Errorf("%s: %d cells leave %v, fewer %v", shape, k, got.Gap(), last)
			}
			last = got.Gap()
			for i := range a {
				for j := range b {
					if s := (exact.DD{Hi: got.U[i]}).AddFloat(got.V[j]).AddFloat(-c.At(i, j)); s.Hi > 0 {
						t.Fatalf("%s: U[%d]+V[%d] passes the cost by %v", shape, i, j, s.Hi)
					}
				}
			}
		}
	}
	// The same on the points of one metric, where mass stays.
	f := placed(r, "uniform", 1500)
	mu, nu := w1Weights(r, 1500, true), w1Weights(r, 1500, false)
	best := testkit.Must(W1(t.Context(), f, mu, nu, nil))
	got := testkit.Must(W1(t.Context(), f, mu, nu, &Options{Cells: 64}))
	if !(got.Lower <= best.Upper && best.Lower <= got.Upper) || got.Gap() > 0.1 {
		t.Errorf("[%v, %v], optimum %v", got.Lower, got.Upper, best.Cost)
	}
	// And where nothing moves between cells.
	if got := testkit.Must(W1(t.Context(), f, mu, mu, &Options{Cells: 64})); got.Cost != 0 || got.Gap() > 1e-12 {
		t.Errorf("from a measure to itself: [%v, %v]", got.Lower, got.Upper)
	}
}

package lp

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// Few outputs of a graph are solved input by input, with a prior and without.
func TestOptimal_FewOutputs(t *testing.T) {
	f := roads(t, 14, 14)
	outputs, _, err := metric.FarthestFirst(t.Context(), f, 7, 0)
	if err != nil {
		t.Fatal(err)
	}
	prior := make([]float64, f.Len())
	for i := range prior {
		prior[i] = 1 / float64(len(prior))
	}
	for _, prior := range [][]float64{nil, prior} {
		o := &Options{Tolerance: 1e-5, Outputs: outputs, Prior: prior}
		s := testkit.Must(Optimal(t.Context(), metric.Same(f), .5, o))
		certified(t, metric.Same(f), .5, prior, s)
		if s.Engine != EngineByInput || s.Status != StatusOptimal {
			t.Errorf("%v", s)
		}
	}
}

// One point moved apart by rounding alone costs nothing: points that rho1 does
// not tell apart get one row, and rho2 still counts each.
func TestOptimal_CoincidentForPrivacyOnly(t *testing.T) {
	b := metric.Bimetric{
		Privacy: space.Formula(4, func(i, j int) float64 { return math.Abs(float64(i/2 - j/2)) }),
		Utility: space.Path(4, 1),
	}
	s := testkit.Must(Optimal(t.Context(), b, 1, nil))
	certified(t, b, 1, nil, s)
	if lo, hi := simplexOptimum(t, b, 1, []int{0, 1, 2, 3}, nil); s.DualBound > hi || s.Objective < lo || s.Status != StatusOptimal {
		t.Errorf("%v, simplex method [%v, %v]", s, lo, hi)
	}
	// Nothing can be told apart: a matrix game, which mixes outputs.
	b.Privacy = space.Formula(4, func(i, j int) float64 { return 0 })
	b.Utility = space.Simplex(4, 1)
	s = testkit.Must(Optimal(t.Context(), b, 1, nil))
	certified(t, b, 1, nil, s)
	if s.Status != StatusOptimal || math.Abs(s.Objective-.75) > 1e-6 {
		t.Errorf("%v, want 3/4", s)
	}
}

// Random spaces of the kinds that break solvers: lengths of many scales, ties,
// tight clusters, coincident points; alpha*diameter from 1e-6 to 300. Every
// answer is certified, and where rounding is in the way the gap stays small.
func TestOptimal_HostileSpaces(t *testing.T) {
	testkit.Slow(t)
	r := random.Seeded(11)
	stalled := 0
	spaces := testkit.Sweep(80, 200)
	for i := range spaces {
		n := 2 + r.IntN(12)
		space := func() metric.Finite {
			if r.IntN(5) == 0 {
				return randomMetric(t, r, n)
			}
			kind := r.IntN(4)
			pts := make([][]float64, n)
			for u := range pts {
				x, y := r.Float64(), r.Float64()
				switch kind {
				case 1: // distances from 2e-9 to 1
					x, y = math.Exp(20*x-20), 0
				case 2:
					x, y = math.Floor(4*x), math.Floor(3*y)
				case 3:
					x, y = float64(r.IntN(3))+1e-4*x, 1e-4*y
				}
				pts[u] = []float64{x, y}
			}
			return space.Euclidean(pts)
		}
		b := metric.Same(space())
		if r.IntN(2) == 0 {
			b.Utility = space()
		}
		d, _, _, _ := metric.Diameter(t.Context(), b.Privacy)
		if d == 0 {
			d = 1
		}
		reach := math.Exp(math.Log(1e-6) + r.Float64()*math.Log(300/1e-6))
		if r.IntN(3) == 0 {
			reach = 300 * r.Float64()
		}
		var o Options
		if r.IntN(3) == 0 {
			o.Prior = testkit.Distribution(r, n, func(u int) bool { return u > 0 && r.IntN(4) == 0 })
		}
		s, err := Optimal(t.Context(), b, reach/d, &o)
		if err != nil {
			t.Fatalf("space %d: %v", i, err)
		}
		certified(t, b, reach/d, o.Prior, s)
		if s.Status != StatusOptimal {
			stalled++
		}
		if s.Gap > 5e-3 {
			t.Errorf("space %d, n=%d, alpha*diameter=%v: %v", i, n, reach, s)
		}
	}
	if stalled > spaces/5 {
		t.Errorf("%d of %d stalled", stalled, spaces)
	}
	t.Logf("%d of %d stalled", stalled, spaces)
}

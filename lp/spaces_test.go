package lp

import (
	"fmt"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// tieRich are spaces full of equal distances and implied constraints.
func tieRich() map[string]metric.Finite {
	abs := func(i int) float64 { return math.Abs(float64(i)) }
	return map[string]metric.Finite{
		"one point":  space.Path(1, 1),
		"two points": space.Path(2, 1),
		"simplex":    space.Simplex(5, 1),
		"path":       space.Path(6, 1),
		"grid":       space.Grid(4),
		"cycle":      space.Formula(11, func(i, j int) float64 { return min(abs(i-j), 11-abs(i-j)) }),
		"star": space.Formula(9, func(i, j int) float64 {
			if i*j == 0 {
				return 1
			}
			return 2
		}),
		"clusters": space.Formula(12, func(i, j int) float64 {
			if i/4 == j/4 {
				return 1e-3
			}
			return 1
		}),
		"ultrametric": space.Formula(16, func(i, j int) float64 {
			d := 0.0
			for k := range 4 {
				if i>>k != j>>k {
					d = math.Ldexp(1, k)
				}
			}
			return d
		}),
		"coincident":     space.Formula(7, func(i, j int) float64 { return abs(i/2 - j/2) }),
		"all coincident": space.Formula(3, func(i, j int) float64 { return 0 }),
		"nearly coincident": space.Formula(8, func(i, j int) float64 {
			if i/2 == j/2 {
				return 1e-12
			}
			return 1 + abs(i/2-j/2)
		}),
		"two scales": space.Formula(8, func(i, j int) float64 {
			if i/2 == j/2 {
				return 1e-6
			}
			return abs(i/2 - j/2)
		}),
	}
}

func TestOptimal_TieRichSpaces(t *testing.T) {
	for name, f := range tieRich() {
		for _, reach := range []float64{1e-6, 1, 30, 300} {
			t.Run(fmt.Sprintf("%s reach=%v", name, reach), func(t *testing.T) {
				if reach > 1 && testing.Short() {
					t.Skip("long")
				}
				d, _, _, _ := metric.Diameter(t.Context(), f)
				if d == 0 {
					d = 1
				}
				b, alpha := metric.Same(f), reach/d
				s := testkit.Must(Optimal(t.Context(), b, alpha, nil))
				certified(t, b, alpha, nil, s)
				if s.Status != StatusOptimal {
					t.Errorf("%v", s)
				}
			})
		}
	}
}

// Few outputs of a graph are solved input by input, with a prior and without.
func TestOptimal_FewOutputs(t *testing.T) {
	f := roads(t, 20, 20)
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

// Graphs of 64 points and more are solved with sparse factors, at any alpha.
func TestOptimal_Graphs(t *testing.T) {
	testkit.Slow(t)
	for name, f := range map[string]metric.Finite{"grid": space.Grid(8), "tree": tree(80), "path": space.Path(70, 1)} {
		for _, reach := range []float64{1e-3, 1, 30, 300} {
			t.Run(fmt.Sprintf("%s reach=%v", name, reach), func(t *testing.T) {
				if reach != 300 && (name != "tree" || reach != 1e-3) {
					testkit.Swept(t)
				}
				d, _, _, _ := metric.Diameter(t.Context(), f)
				b, alpha := metric.Same(f), reach/d
				s := testkit.Must(Optimal(t.Context(), b, alpha, nil))
				certified(t, b, alpha, nil, s)
				// At 1e-3 a leaf of the tree is at a budget of some 1e-5. At 300 tight
				// weights may be optimal.
				if s.Engine != EngineSparse && s.Method == MethodProgram || s.Gap > 1e-5 {
					t.Errorf("%v", s)
				}
			})
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

// A dissimilarity that breaks the triangle inequality has the optimum of its
// shortest paths.
func TestOptimal_NoMetric(t *testing.T) {
	f := space.Formula(3, func(i, j int) float64 { return []float64{0, 1, 5}[max(i-j, j-i)] })
	b := metric.Bimetric{Privacy: f, Utility: space.Path(3, 1)}
	s := testkit.Must(Optimal(t.Context(), b, 1, nil))
	certified(t, b, 1, nil, s)
	lo, hi := simplexOptimum(t, metric.Same(space.Path(3, 1)), 1, []int{0, 1, 2}, nil)
	if s.Status != StatusOptimal || s.DualBound > hi || s.Objective < lo {
		t.Errorf("%v, want [%v, %v]", s, lo, hi)
	}
}

func TestOptimal_UnitsDoNotMatter(t *testing.T) {
	want := .637582264
	for _, c := range []float64{1e-200, 1e-9, 1e9, 1e200} {
		s := testkit.Must(Optimal(t.Context(), metric.Same(space.Path(5, c)), 1/c, nil))
		if s.Status != StatusOptimal || math.Abs(s.Objective/c-want) > 1e-6 {
			t.Errorf("unit %v: %v", c, s)
		}
	}
}

func TestOptimal_PriorIsLeastFavorable(t *testing.T) {
	f := space.Halton(10)
	b := metric.Same(f)
	worst := testkit.Must(Optimal(t.Context(), b, 3, nil))
	// The best response to the least favorable prior gains nothing.
	mean := testkit.Must(Optimal(t.Context(), b, 3, &Options{Prior: worst.Prior}))
	certified(t, b, 3, worst.Prior, mean)
	if math.Abs(mean.Objective-worst.Objective) > 3e-6*worst.Objective {
		t.Errorf("worst case %v, mean under its prior %v", worst, mean)
	}
}

// Workers change the time, not a bit of the result.
func TestOptimal_WorkersAgree(t *testing.T) {
	b := metric.Same(referencePoints(t, 20))
	var first *Solution
	for _, workers := range []int{1, 2, 5} {
		s := testkit.Must(Optimal(t.Context(), b, .5, &Options{Workers: workers}))
		if first == nil {
			first = s
		}
		if s.Objective != first.Objective || s.DualBound != first.DualBound || s.Iterations != first.Iterations {
			t.Errorf("%d workers: %v, 1 worker: %v", workers, s, first)
		}
		for x := range b.Len() {
			for y, p := range s.Channel.Row(x, nil) {
				if q := first.Channel.Prob(x, y); p != q {
					t.Fatalf("%d workers: Prob(%d, %d) = %v, 1 worker: %v", workers, x, y, p, q)
				}
			}
		}
	}
}

package lp

import (
	"fmt"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// extended checks what the mechanisms and bounds of extend promise, and returns them.
func extended(t testing.TB, b metric.Bimetric, alpha float64, o *Options, anchors int) *Solution {
	t.Helper()
	p := testkit.Must(read(t.Context(), "test", b, alpha, o))
	s := p.solution()
	s.keep(testkit.Must(p.constant(t.Context())))
	testkit.Check(t, (&extension{problem: p, s: s, anchors: anchors, stage: func() {}}).run())
	certified(t, b, alpha, nil, s)
	if b.Utility != nil {
		if loss := lossOf(t, s.Channel, b.Utility, nil); loss > s.Objective || loss < s.Objective*(1-1e-9) {
			t.Errorf("loss %v, objective %v", loss, s.Objective)
		}
	}
	if s.BoundBy != boundByPatch {
		t.Error(s)
	}
	return s
}

// The bracket contains the optimum, with all inputs in the local program and with some
// of them, with all outputs and with few; and the figures do not depend on the workers.
func TestExtended_ContainsOptimum(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	f, few := referencePoints(t, 30), []int{3, 14, 15, 9, 26, 5}
	for _, c := range []struct {
		name       string
		f          metric.Finite
		alpha      float64
		outputs    []int
		anchors    int
		most, gain float64 // of the gap, and of what the bound may lack
	}{
		{"all inputs", f, .5, few, 200, .04, .011},
		{"some inputs", f, .5, few, 17, .3, .1},
		{"all outputs", f, .5, nil, 200, .07, .011},
		{"sparse", f, 3, nil, 200, .06, 1},
		{"roads", roads(t, 6, 6), 2, nil, 200, .06, 1},
	}[:testkit.Sweep(2, 5)] {
		t.Run(c.name, func(t *testing.T) {
			best := testkit.Must(Optimal(t.Context(), metric.Same(c.f), c.alpha, &Options{Outputs: c.outputs, Tolerance: 1e-3}))
			s := extended(t, metric.Same(c.f), c.alpha, &Options{Outputs: c.outputs}, c.anchors)
			if s.DualBound > best.Objective || s.Objective < best.DualBound || s.DualBound < (1-c.gain)*best.DualBound || s.Gap > c.most {
				t.Errorf("%v, optimum %v", s, best)
			}
		})
	}
	var same []string
	for _, workers := range []int{1, 3} {
		s := extended(t, metric.Same(f), 1.5, &Options{Outputs: few, Workers: workers}, 15)
		same = append(same, fmt.Sprint(s.Objective, s.DualBound, s.Audited, s.Prior, s.Row(7, nil)))
	}
	if same[0] != same[1] {
		t.Error("the result depends on the number of workers")
	}
}

// Where the triangle inequality does not hold, and the kernel's weights grow without end, there is a
// bracket too.
func TestExtended_NoMetric(t *testing.T) {
	for seed := range testkit.Sweep(1, 20) {
		r := random.Seeded(uint64(3 + seed))
		f, n := space.Uniform(80, r), 80
		noise := make([]float64, n*n)
		for i := range noise {
			noise[i] = math.Exp(.6 * r.NormFloat64())
		}
		b := metric.Same(space.Formula(n, func(i, j int) float64 {
			return f.Distance(i, j) * noise[min(i, j)*n+max(i, j)]
		}))
		o := r.Perm(n)[:[]int{6, n}[seed%2]] // columns are remapped of many
		s := extended(t, b, 4.6, &Options{Outputs: o}, 200)
		best := testkit.Must(Optimal(t.Context(), b, 4.6, &Options{Outputs: o, Tolerance: .01}))
		if s.DualBound > best.Objective || s.Objective < best.DualBound {
			t.Errorf("%v, optimum %v", s, best)
		}
	}
}

// Utility and privacy are different metrics, and an output is no input.
func TestExtended_TwoMetrics(t *testing.T) {
	all := referencePoints(t, 50)
	inputs := testkit.Must(metric.Subset(all, upTo(30)))
	b := metric.Bimetric{Privacy: testkit.Must(metric.Scaled(inputs, 2)), Utility: all}
	o := []int{40, 2, 41, 42, 43, 49}
	s := extended(t, b, .5, &Options{Outputs: o}, 200)
	best := testkit.Must(Optimal(t.Context(), b, .5, &Options{Outputs: o, Tolerance: 1e-3}))
	if s.DualBound > best.Objective || s.Objective < best.DualBound {
		t.Errorf("%v, optimum %v", s, best)
	}
}

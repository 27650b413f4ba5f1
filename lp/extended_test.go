package lp

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// extended checks what every bracket promises, and returns it.
func extended(t testing.TB, b metric.Bimetric, alpha float64, o *ExtendedOptions) *ExtendedSolution {
	t.Helper()
	s := testkit.Must(Extended(t.Context(), b, alpha, o))
	certified(t, b, alpha, nil, &Solution{Channel: s.Channel, Audited: s.Audited, Objective: s.Objective, DualBound: s.DualBound, Gap: s.Gap,
		Prior: distribution(nil, b.Privacy.Len())})
	if loss := lossOf(t, s.Channel, b.Utility, nil); loss > s.Objective || loss < s.Objective*(1-1e-9) {
		t.Errorf("loss %v, objective %v", loss, s.Objective)
	}
	if s.Status != StatusExtended || s.Upper.Method == "" || s.Lower.Method != endPatch || len(s.Prior) != len(s.Patch) {
		t.Errorf("%v: %v, %v; prior of %d for %d inputs", s, s.Upper, s.Lower, len(s.Prior), len(s.Patch))
	}
	return s
}

// The bracket contains the optimum, with all inputs in the local program and with some
// of them, with all outputs and with few; and the figures do not depend on the workers.
func TestExtended_ContainsOptimum(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	f, alpha := referencePoints(t, 50), .5
	few := []int{3, 14, 15, 9, 26, 35}
	atFew := testkit.Must(Optimal(t.Context(), metric.Same(f), alpha, &Options{Outputs: few, Tolerance: 1e-3}))
	roads := roads(t, 6, 6)
	for _, c := range []struct {
		name       string
		f          metric.Finite
		alpha      float64
		o          ExtendedOptions
		low, high  float64 // of the optimum
		most, gain float64 // of the gap, and of what the bound may lack
	}{
		{"all inputs", f, alpha, ExtendedOptions{Patches: 1}, 2.500029, 2.500030, .07, .011},
		{"some inputs", f, alpha, ExtendedOptions{Anchors: 27, Patches: 1}, 2.500029, 2.500030, .3, .1},
		{"few outputs", f, alpha, ExtendedOptions{Outputs: few}, atFew.DualBound, atFew.Objective, .04, .011},
		{"sparse", referencePoints(t, 30), 3, ExtendedOptions{Patches: 1}, 0, 1, .06, 1},
		{"roads", roads, 2, ExtendedOptions{}, 0, 9, .06, 1},
	}[:testkit.Sweep(2, 5)] {
		t.Run(c.name, func(t *testing.T) {
			s := extended(t, metric.Same(c.f), c.alpha, &c.o)
			if s.DualBound > c.high || s.Objective < c.low || s.DualBound < (1-c.gain)*c.low || s.Gap > c.most {
				t.Errorf("%v, optimum in [%v, %v]", s, c.low, c.high)
			}
		})
	}
	var same []string
	for _, workers := range []int{1, 3} {
		s := extended(t, metric.Same(f), 1.5, &ExtendedOptions{Anchors: 30, Workers: workers})
		same = append(same, fmt.Sprint(s.Objective, s.DualBound, s.Audited, s.Patch, s.Prior, s.Row(7, nil)))
	}
	if same[0] != same[1] {
		t.Error("the result depends on the number of workers")
	}
}

// The losses of a channel are not below the exact ones, however its rows round.
func TestExtended_LossesAreRoundedUp(t *testing.T) {
	r, b := random.Seeded(52), metric.Same(space.Path(2, 1))
	for range 200 {
		p, q := r.Float64(), r.Float64()
		c := testkit.Must(mechanism.FromWeights(t.Context(), 2, 2, []float64{p, q, q, p}, nil))
		exact := new(big.Rat).Add(new(big.Rat).SetFloat64(p), new(big.Rat).SetFloat64(q))
		exact.Quo(new(big.Rat).SetFloat64(q), exact)
		e := &extension{b: b, n: 2, late: t.Context()}
		for _, l := range testkit.Must(e.losses(c)) {
			if new(big.Rat).SetFloat64(l).Cmp(exact) < 0 || l > q/(p+q)*(1+1e-11) {
				t.Fatalf("weights %v and %v: %v", p, q, l)
			}
		}
	}
	c := testkit.Must(mechanism.FromLogWeights(t.Context(), 2, 2, []float64{0, -800, -800, 0}, nil))
	if l := testkit.Must((&extension{b: b, n: 2, late: t.Context()}).losses(c)); !(l[0] > 0 && l[1] > 0) {
		t.Errorf("e^-800: %v", l)
	}
}

// Utility and privacy are different metrics, and an output is no input.
func TestExtended_TwoMetrics(t *testing.T) {
	all := referencePoints(t, 50)
	inputs := testkit.Must(metric.Subset(all, slices.Collect(func(yield func(int) bool) {
		for i := range 30 {
			if !yield(i) {
				return
			}
		}
	})))
	b := metric.Bimetric{Privacy: testkit.Must(metric.Scaled(inputs, 2)), Utility: all}
	o := []int{40, 2, 41, 42, 43, 49}
	s := extended(t, b, .5, &ExtendedOptions{Outputs: o})
	best := testkit.Must(Optimal(t.Context(), b, .5, &Options{Outputs: o, Tolerance: 1e-3}))
	if s.DualBound > best.Objective || s.Objective < best.DualBound {
		t.Errorf("%v, optimum %v", s, best)
	}
}

// Where the triangle inequality does not hold, and the kernel's weights grow without end, there is a
// bracket too.
func TestExtended_NoMetric(t *testing.T) {
	for seed := range testkit.Sweep(1, 20) {
		r := random.Seeded(uint64(seed))
		f, n := space.Uniform(150, r), 150
		noise := make([]float64, n*n)
		for i := range noise {
			noise[i] = math.Exp(.3 * r.NormFloat64())
		}
		b := metric.Same(space.Formula(n, func(i, j int) float64 {
			return f.Distance(i, j) * noise[min(i, j)*n+max(i, j)]
		}))
		o := r.Perm(n)[:6]
		s := extended(t, b, 4.6, &ExtendedOptions{Outputs: o})
		best := testkit.Must(Optimal(t.Context(), b, 4.6, &Options{Outputs: o, Tolerance: .01}))
		if s.DualBound > best.Objective || s.Objective < best.DualBound {
			t.Errorf("%v, optimum %v", s, best)
		}
	}
}

// A time limit ends whatever is under way within half a second, and what comes back has
// a bound.
func TestExtended_EndsAtItsLimit(t *testing.T) {
	f := scattered(1500)
	outputs, _, err := metric.FarthestFirst(t.Context(), f, 60, 0)
	if err != nil {
		t.Fatal(err)
	}
	var read time.Duration
	for _, limit := range []time.Duration{300 * time.Millisecond, 800 * time.Millisecond} {
		clock := testkit.StartClock()
		s := testkit.Must(Extended(t.Context(), metric.Same(f), .5, &ExtendedOptions{Outputs: outputs, TimeLimit: limit, Progress: func(stage string, _, _ float64, _ time.Duration) {
			if stage == endPatch && read == 0 {
				read = clock.Took()
			}
		}}))
		if took := clock.Took() - read; took > limit+500*time.Millisecond || s.Status != StatusTimeLimit || s.DualBound == 0 || s.Audited.Hi > .5 {
			t.Errorf("limit %v: %v: %v", limit, took, s)
		}
	}
}

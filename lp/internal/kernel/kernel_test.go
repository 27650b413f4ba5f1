package kernel

import (
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	testspace "github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// halton is a kernel for points and their distances times alpha.
func halton(t *testing.T, n int, alpha float64) (*Kernel, metric.Finite) {
	f := testkit.Must(metric.Scaled(testspace.Halton(n), alpha))
	p := &Problem{Inputs: n, Outputs: n, Memory: func(float64) error { return nil }}
	for i := range n {
		for j := range n {
			p.Budget = append(p.Budget, f.Distance(i, j))
		}
	}
	p.Loss = p.Budget
	return testkit.Must(New(t.Context(), p, nil, 0)), f
}

// The safe rate keeps the level without a look at any pair, and a rate that was raised
// too far gives way to it.
func TestChannel_FallsBackToTheSafeRate(t *testing.T) {
	labels := make([]int, 60)
	for i := range labels {
		labels[i] = i
	}
	for _, alpha := range []float64{2, 10, 40} {
		k, f := halton(t, 60, alpha)
		if !(k.safe > 0 && k.safe <= k.rate && k.rate <= 1) {
			t.Errorf("alpha %v: rates %v and %v", alpha, k.safe, k.rate)
		}
		level := func(safe bool) float64 {
			return testkit.Must(testkit.Must(k.Channel(t.Context(), labels, safe)).Audit(t.Context(), f, nil)).Hi
		}
		k.rate = 1.3
		if high, l := level(false), level(true); !(high > 1) || l > 1 {
			t.Errorf("alpha %v: level %v at the safe rate, %v at 1.3", alpha, l, high)
		}
	}
}

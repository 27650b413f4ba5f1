package kernel

import (
	"testing"

	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/testkit"
	testspace "github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// halton is a kernel for points and their distances times alpha.
func halton(t *testing.T, n int, alpha float64) (*Kernel, metric.Finite) {
	f := testkit.Must(metric.Scaled(testspace.Halton(n), alpha))
	budget := finite.Square{N: n}
	p := &Problem{Inputs: n, Outputs: n, Memory: func(float64) error { return nil }}
	for i := range n {
		for j := range n {
			budget.D = append(budget.D, f.Distance(i, j))
		}
	}
	p.Budget, p.Loss = budget, budget.D
	return testkit.Must(New(t.Context(), p, nil, 0)), f
}

// A mended kernel keeps the level and hardly less, and so does a safe one whatever the rate was.
func TestChannel_KeepsTheLevel(t *testing.T) {
	labels := make([]int, 60)
	for i := range labels {
		labels[i] = i
	}
	for _, alpha := range []float64{2, 10, 40, 2000} {
		k, f := halton(t, 60, alpha)
		level := func(safe bool) float64 {
			return testkit.Must(testkit.Must(k.Channel(t.Context(), labels, safe)).Audit(t.Context(), f, nil)).Hi
		}
		if l := level(false); !(l > .99 && l <= 1) {
			t.Errorf("alpha %v: level %v", alpha, l)
		}
		k.rate = 1.3
		if high, l := level(false), level(true); !(high > 1) || l > 1 {
			t.Errorf("alpha %v: level %v of the safe channel, %v at a rate of 1.3", alpha, l, high)
		}
	}
}

package demo

import (
	"context"
	"errors"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// The constant mechanism has the losses of its matrix in every simulation.
func TestSimulate_IsTheLossOfAConstant(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	line := testkit.Must(metric.NewPoints([][]float64{{0}, {1}, {3}}, metric.Euclidean{}))
	m := testkit.Must(exponential.Constant(3, 0, ""))
	want := testkit.Must(LossOf(testkit.Must(m.Loss(ctx, line)), nil))
	if got, err := Simulate(ctx, m, line, nil, 1, 4); err != nil || got != want || got.Worst != 3 {
		t.Errorf("%v, want %v, %v", got, want, err)
	}
	stop()
	if _, err := Simulate(ctx, m, line, nil, 1, 4); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := exponential.Tight(t.Context(), line, -1, &exponential.Options{}); err == nil || Why(err) != err.Error() {
		t.Error(err)
	}
	if why := Why(new(exponential.NegativeWeightError)); why != "a weight would be negative" {
		t.Error(why)
	}
}

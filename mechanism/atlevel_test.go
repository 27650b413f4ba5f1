package mechanism

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// coin tells two points at distance 1 apart: the point with the weight 1, the other with
// e^(-rate).
func coin(rate float64) (*Channel, error) {
	return FromLogWeights(context.Background(), 2, 2, []float64{0, -rate, -rate, 0}, nil)
}

// Randomized response, in closed form: p - e^level (1-p) = delta for the probability p of
// the truth, and rate = ln(p/(1-p)).
func TestAtLevel_RandomizedResponse(t *testing.T) {
	pair := testkit.Must(metric.NewPoints([]float64{0, 1}, metric.Numbers[float64]{}))
	for _, c := range []struct{ level, delta, times float64 }{{1, 0, 1}, {1, .01, .5}, {.1, .1, .5}, {5, 1e-3, .5}, {1, .2, 64}, {.7, 0, 1 << 10}} {
		got, alpha, err := AtLevel(t.Context(), pair, c.level, func(_ context.Context, alpha float64) (*Channel, error) { return coin(alpha * c.times) },
			&AuditOptions{Delta: c.delta})
		if err != nil {
			t.Fatal(err)
		}
		p := (math.Exp(c.level) + c.delta) / (1 + math.Exp(c.level))
		want := math.Log(p/(1-p)) / c.times
		if g := got.Guarantee(); !(alpha <= want && alpha > want*(1-2e-3)) || g.Alpha() > c.level || g.Alpha() < .99*c.level || g.Delta() != c.delta {
			t.Errorf("%+v: alpha %v, %v, want %v", c, alpha, g, want)
		}
	}
}

func TestAtLevel_Ends(t *testing.T) {
	pair := testkit.Must(metric.NewPoints([]float64{0, 1}, metric.Numbers[float64]{}))
	steps := 0
	constant := func(rate float64) func(context.Context, float64) (*Channel, error) {
		return func(context.Context, float64) (*Channel, error) { steps++; return coin(rate) }
	}
	if c, alpha, err := AtLevel(t.Context(), pair, 2, constant(1), nil); err != nil || alpha != 0x1p61 || c.Guarantee().Alpha() > 1.001 || steps > 70 {
		t.Errorf("a level that stays below: %v, %v, %v, %d steps", c, alpha, err, steps)
	}
	// Level 1 needs an alpha of 2^-60, which is the last one that is tried.
	last := func(_ context.Context, alpha float64) (*Channel, error) { return coin(alpha * 0x1p60 * (1 - 1e-6)) }
	if c, alpha, err := AtLevel(t.Context(), pair, 1, last, nil); err != nil || c.Guarantee().Alpha() > 1 || math.Abs(alpha*0x1p60-1) > 2e-3 {
		t.Errorf("the last alpha: %v, %v, %v", c, alpha, err)
	}
	failing := errors.New("no such mechanism")
	build := func(c *Channel, err error) func(context.Context, float64) (*Channel, error) {
		return func(context.Context, float64) (*Channel, error) { return c, err }
	}
	of := func(level float64, build func(context.Context, float64) (*Channel, error)) error {
		_, _, err := AtLevel(t.Context(), pair, level, build, nil)
		return err
	}
	refuse(t, []refused{
		{of(0, constant(1)), "AtLevel: level = 0"},
		{of(math.NaN(), constant(1)), "AtLevel: level = NaN"},
		{of(math.Inf(1), constant(1)), "AtLevel: level = +Inf"},
		{of(1, nil), "AtLevel: build: empty"},
		{of(.5, constant(1)), "AtLevel: "}, // at every alpha the level is above
		{of(1, build(nil, nil)), "AtLevel: "},
		{of(1, build(FromWeights(t.Context(), 1, 1, []float64{1}, nil))), "AtLevel: rho has size 2, want 1"},
	})
	if err := of(1, build(nil, failing)); !errors.Is(err, failing) {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := AtLevel(ended, pair, 1, constant(1), nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

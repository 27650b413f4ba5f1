package emd

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/metric"
)

// Constructors end with their context, before they begin and in the middle of
// the decomposition of a large channel.
func TestConstructors_EndWithTheirContext(t *testing.T) {
	space := line(t, 40)
	c := geometricChannel(t, space, 1)
	model := Model{Trust: Central, Users: 1000, Items: 10}
	points := testkit.Must(metric.NewPoints([]float64{0, 0.5, 1}, metric.Func[float64](func(x, y float64) float64 { return math.Abs(x - y) })))
	query := Query[float64]{
		Name: "place", Norm: additive.Norm{P: 1, Dim: 1}, Lipschitz: 1,
		Func: func(x float64, dst []float64) { dst[0] = x },
	}
	for name, build := range map[string]func(ctx context.Context) error{
		"NewItemWise": func(ctx context.Context) error {
			_, err := NewItemWise(ctx, c, model, &ItemWiseOptions{Delta: 1e-6, Space: space})
			return err
		},
		"ItemWiseBudget": func(ctx context.Context) error {
			_, err := ItemWiseBudget(ctx, model, Target{1, 1e-6}, &BudgetOptions{Space: space})
			return err
		},
		"NewFrequencies": func(ctx context.Context) error {
			_, err := NewFrequencies(ctx, c, space, model, nil)
			return err
		},
		"NewHadamardFrequencies": func(ctx context.Context) error {
			_, err := NewHadamardFrequencies(ctx, space, model, DP{Eps: 1, Delta: 1e-6}, nil)
			return err
		},
		"NewLinear": func(ctx context.Context) error {
			m := model
			m.Diameter = 1
			_, err := NewLinear(ctx, query, m, Target{Alpha: 1}, &LinearOptions[float64]{Sample: points})
			return err
		},
	} {
		if err := build(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		done, cancel := context.WithCancel(t.Context())
		cancel()
		if err := build(done); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, its context done: %v", name, err)
		}
	}

	large := randomChannel(t, random.Seeded(1), 400, 400)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := newInverse(ctx, "", large, 1e12); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > 500*time.Millisecond {
		t.Errorf("newInverse: %v after %v", err, time.Since(start))
	}
}

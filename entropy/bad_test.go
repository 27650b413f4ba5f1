package entropy_test

import (
	"errors"
	"math"
	"testing"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// Every function meets the same bad input with an error, and a single point and
// identical points with the trivial answer.
func TestEntropy_BadInput(t *testing.T) {
	alphas := []float64{1}
	calls := map[string]func(f metric.Finite, alpha float64) (float64, error){
		"Packing": func(f metric.Finite, s float64) (float64, error) {
			c, err := entropy.Packing(t.Context(), f, nil, s, nil)
			return float64(c.Hi - 1), err
		},
		"Covering": func(f metric.Finite, s float64) (float64, error) {
			c, err := entropy.Covering(t.Context(), f, nil, s, nil)
			return float64(c.Hi - 1), err
		},
		"EntropicScale": func(f metric.Finite, a float64) (float64, error) {
			s, err := entropy.EntropicScale(t.Context(), metric.Same(f), a, nil)
			return s.Hi, err
		},
		"EntropicScales": func(f metric.Finite, a float64) (float64, error) {
			alphas[0] = a
			_, err := entropy.EntropicScales(t.Context(), metric.Same(f), alphas, nil)
			return 0, err
		},
		"DiametricScale": func(f metric.Finite, a float64) (float64, error) {
			s, err := entropy.DiametricScale(t.Context(), metric.Same(f), a, nil)
			return s.Hi, err
		},
		"DoublingScale": func(f metric.Finite, a float64) (float64, error) {
			s, err := entropy.DoublingScale(t.Context(), f, a, nil)
			return s.Hi, err
		},
		"OuterScale": func(f metric.Finite, a float64) (float64, error) {
			s, err := entropy.OuterScale(t.Context(), f, a, nil)
			return s.Hi, err
		},
		"LowerBounds": func(f metric.Finite, a float64) (float64, error) {
			b, err := entropy.LowerBounds(t.Context(), metric.Same(f), a, nil)
			if err != nil {
				return 0, err
			}
			return b[0].Value, nil
		},
		"UpperBounds": func(f metric.Finite, a float64) (float64, error) {
			b, err := entropy.UpperBounds(t.Context(), metric.Same(f), a, nil)
			if err != nil {
				return 0, err
			}
			return b[0].Value, nil
		},
		"Accuracy": func(f metric.Finite, a float64) (float64, error) {
			b, err := entropy.Accuracy(t.Context(), metric.Same(f), a, nil)
			return b.Hi, err
		},
		"Accuracies": func(f metric.Finite, a float64) (float64, error) {
			_, err := entropy.Accuracies(t.Context(), metric.Same(f), []float64{a}, nil)
			return 0, err
		},
		"LevelFor": func(f metric.Finite, loss float64) (float64, error) {
			a, _, err := entropy.LevelFor(t.Context(), metric.Same(f), loss, nil)
			return a, err
		},
		"PrivateMeasureBound": func(f metric.Finite, a float64) (float64, error) {
			b, err := entropy.PrivateMeasureBound(t.Context(), f, a)
			return b.Value, err
		},
		"PrivateDataBound": func(f metric.Finite, eps float64) (float64, error) {
			b, err := entropy.PrivateDataBound(t.Context(), f, 10, eps)
			return b.Value, err
		},
	}
	for name, call := range calls {
		for _, f := range []metric.Finite{space.Constant(1, 0), space.Constant(5, 0), space.Constant(1100, 0)} {
			if v, err := call(f, 0.5); v != 0 || err != nil {
				t.Errorf("%s of %+v: %v, %v", name, f, v, err)
			}
		}
		for _, d := range []float64{math.NaN(), -1, math.Inf(1)} {
			for _, n := range []int{2, 5, 1100} {
				var v *metric.Violation
				if _, err := call(space.Constant(n, d), 0.5); !errors.As(err, &v) || v.I != 0 || v.J != 1 {
					t.Errorf("%s of %d points at distance %v: %v", name, n, d, err)
				}
			}
		}
		if _, err := call(space.Constant(0, 1), 0.5); err == nil {
			t.Errorf("%s of no points: no error", name)
		}
		for _, a := range []float64{-1, math.NaN(), math.Inf(1)} {
			if _, err := call(space.Constant(5, 1), a); err == nil {
				t.Errorf("%s at %v: no error", name, a)
			}
		}
	}
}

// A nil space is one without points.
func TestEntropy_NoSpace(t *testing.T) {
	for name, call := range map[string]func() error{
		"Packing":             func() error { _, err := entropy.Packing(t.Context(), nil, nil, 1, nil); return err },
		"DoublingScale":       func() error { _, err := entropy.DoublingScale(t.Context(), nil, 1, nil); return err },
		"OuterScale":          func() error { _, err := entropy.OuterScale(t.Context(), nil, 1, nil); return err },
		"PositiveMeasure":     func() error { _, err := entropy.PositiveMeasure(t.Context(), nil); return err },
		"BallMass":            func() error { _, _, err := entropy.BallMass(t.Context(), nil, nil, 1, nil); return err },
		"MeasureNet":          func() error { _, err := entropy.MeasureNet(t.Context(), nil, 3); return err },
		"PrivateMeasureBound": func() error { _, err := entropy.PrivateMeasureBound(t.Context(), nil, 1); return err },
		"MeasureBound":        func() error { _, err := entropy.MeasureBound{}.Prove(t.Context(), nil, 1); return err },
	} {
		if err := call(); !errors.Is(err, metric.ErrEmpty) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

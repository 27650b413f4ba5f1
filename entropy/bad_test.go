package entropy_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/entropy/families"
	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// fails reports an error that is not the one wanted: with a sentinel that it
// is, or about an argument and index.
func fails(t *testing.T, err, is error, arg string, index int) {
	t.Helper()
	var v *metric.ValueError
	if is != nil && !errors.Is(err, is) || is == nil && (!errors.As(err, &v) || v.Arg != arg || v.Index != index) {
		t.Errorf("%v, want %v %s[%d]", err, is, arg, index)
	}
}

func TestEntropy_OtherBadInput(t *testing.T) {
	ctx, f := t.Context(), space.Path(4, 1)
	done, cancel := context.WithCancel(ctx)
	cancel()
	net := testkit.Must(families.MeasureNet(ctx, f, 8))
	for _, c := range []struct {
		err, is error
		arg     string
		index   int
	}{
		{testkit.Err(scale.Packing(ctx, f, []int{1, 5}, 1, nil)), nil, "subset", 1},
		{testkit.Err(scale.Packing(ctx, f, []int{}, 1, nil)), metric.ErrEmpty, "", 0},
		{testkit.Err(entropy.Accuracy(ctx, metric.Same(f), nil, nil)), metric.ErrEmpty, "", 0},
		{testkit.Err(scale.Entropic(ctx, metric.Same(f), nil, nil)), metric.ErrEmpty, "", 0},
		{testkit.Err(scale.PositiveMeasure(ctx, nil)), metric.ErrEmpty, "", 0},
		{testkit.Err(families.MeasureNet(ctx, nil, 3)), metric.ErrEmpty, "", 0},
		{testkit.Err(families.MeasureNet(ctx, f, 0)), nil, "m", -1},
		{testkit.Err(families.PrivateDataBound(ctx, f, 0, 1)), nil, "records", -1},
		{testkit.Err2(scale.BallMass(ctx, f, []float64{1.5, -.5, 0, 0}, 1, nil)), nil, "mu", 1},
		{testkit.Err(net.TotalVariation(done)), context.Canceled, "", 0},
		{testkit.Err(net.Wasserstein(done, nil)), context.Canceled, "", 0},
		{testkit.Err(scale.PositiveMeasure(done, f)), context.Canceled, "", 0},
	} {
		fails(t, c.err, c.is, c.arg, c.index)
	}
	var size *metric.SizeError
	if _, err := entropy.Accuracy(ctx, metric.Bimetric{Privacy: f, Utility: space.Path(3, 1)}, []float64{1}, nil); !errors.As(err, &size) {
		t.Errorf("sizes 4 and 3: %v", err)
	}
	var memory *metric.MemoryError
	if _, err := families.MeasureNet(ctx, space.Path(30, 1), 1000); !errors.As(err, &memory) {
		t.Errorf("too many measures: %v", err)
	}
}

// Witnesses are asked about any space: what they name must be in it.
func TestWitness_BadInput(t *testing.T) {
	b := metric.Same(space.Path(3, 1))
	for arg, ws := range map[string][]entropy.Witness{
		"X":      {entropy.Star{X: 3}, entropy.Star{X: -1}, entropy.Constant{X: 3}},
		"Points": {entropy.Star{Points: []int{7}, Weights: []float64{1}, Radii: []float64{0}}},
		"Weights": {entropy.Star{Points: []int{0}, Weights: []float64{-1}, Radii: []float64{0}},
			entropy.Star{Points: []int{0}, Weights: []float64{math.NaN()}, Radii: []float64{0}}, entropy.Star{Points: []int{0}, Weights: []float64{math.Inf(1)}, Radii: []float64{0}}},
		"Radii":  {entropy.Star{Points: []int{0}, Weights: []float64{1}, Radii: []float64{math.NaN()}}, entropy.Star{Points: []int{0}, Weights: []float64{1}, Radii: []float64{-1}}},
		"Inputs": {entropy.Priced{Inputs: []int{3}, Prior: []float64{1}, Prices: []float64{0}}},
		"Prior":  {entropy.Priced{Inputs: []int{0}, Prior: []float64{-1}, Prices: []float64{0}}},
		"Prices": {entropy.Priced{Inputs: []int{0}, Prior: []float64{1}, Prices: []float64{math.Inf(1)}}},
	} {
		for _, w := range ws {
			var v *metric.ValueError
			if p, err := w.Prove(t.Context(), b, 1); !errors.As(err, &v) || !strings.HasPrefix(v.Arg, arg) {
				t.Errorf("%T %+v proves %v: %v, want one about %s", w, w, p, err, arg)
			}
		}
	}
	for _, w := range []entropy.Witness{entropy.Star{}, entropy.Constant{}} {
		for _, alpha := range []float64{0, -1, math.NaN(), math.Inf(1)} {
			_, err := w.Prove(t.Context(), b, alpha)
			fails(t, err, nil, "alpha", -1)
		}
		_, err := w.Prove(t.Context(), metric.Bimetric{}, 1)
		fails(t, err, metric.ErrEmpty, "", 0)
	}
	// Sets that prove nothing.
	for _, w := range []entropy.Witness{entropy.Star{}, entropy.Star{Points: []int{1}, Weights: []float64{0}, Radii: []float64{1}}, entropy.Star{Points: []int{0, 0}, Weights: []float64{1, 1}, Radii: []float64{1, 1}},
		entropy.Star{Points: []int{0}, Weights: []float64{1e300}, Radii: []float64{1e300}}, entropy.Priced{Inputs: []int{0, 1}, Prior: []float64{0, 0}, Prices: []float64{1, 1}}, entropy.Priced{Inputs: []int{0, 1}, Prior: []float64{1, 1e300}, Prices: []float64{-1e300, 1e300}}} {
		if v, err := w.Prove(t.Context(), b, 1); v != 0 || err != nil {
			t.Errorf("%T %+v proves %v (%v)", w, w, v, err)
		}
	}
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for _, w := range []entropy.Witness{entropy.Star{Points: []int{0}, Weights: []float64{1}, Radii: []float64{0}}, entropy.Priced{Inputs: []int{0}, Prior: []float64{1}, Prices: []float64{0}}} {
		if v, err := w.Prove(done, b, 1e-9); v != 0 || !errors.Is(err, context.Canceled) {
			t.Errorf("%T, canceled: %v, %v", w, v, err)
		}
	}
	f := space.Path(4, 1)
	for _, w := range []families.MeasureBound{
		{Pairs: [][2]int{{0, 4}}}, {Pairs: [][2]int{{0, 1}, {2, 1}}}, {Pairs: [][2]int{{-1, 1}}},
		{Pairs: [][2]int{{0, 1}}, Records: -1}, {Pairs: [][2]int{{0, 1}}, Records: 1, Transport: true},
	} {
		arg, index := "Pairs", len(w.Pairs)-1
		if w.Records != 0 {
			arg, index = "Records", -1
		}
		_, err := w.Prove(t.Context(), f, 1)
		fails(t, err, nil, arg, index)
	}
	_, err := families.MeasureBound{}.Prove(t.Context(), nil, 1)
	fails(t, err, metric.ErrEmpty, "", 0)
	if v, err := (families.MeasureBound{}).Prove(t.Context(), space.Path(1, 1), 1); v != 0 || err != nil {
		t.Errorf("nothing proves %v, %v", v, err)
	}
}

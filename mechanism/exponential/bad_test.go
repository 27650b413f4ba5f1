package exponential

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// Every constructor takes the unit of its metric, refuses another, and refuses what is no distance, all
// in its own name.
func TestConstructors_RefuseUnitsAndDistances(t *testing.T) {
	type builder = func(context.Context, metric.Finite, float64, *Options) (*Mechanism, error)
	globe := testkit.Must(metric.NewPoints([]metric.LatLon{{}, {Lat: 90}}, metric.GreatCircle{}))
	for name, build := range map[string]builder{
		"Standard": Standard, "Tuned": Tuned, "Tight": Tight, "Lazy": Lazy,
		"Weighted": func(ctx context.Context, f metric.Finite, alpha float64, o *Options) (*Mechanism, error) {
			return Weighted(ctx, f, alpha, slices.Repeat([]float64{1}, f.Len()), o)
		},
		"Relaxed": func(ctx context.Context, f metric.Finite, alpha float64, o *Options) (*Mechanism, error) {
			m, err := Relaxed(ctx, metric.Same(f), alpha, &RelaxedOptions{Options: *o})
			return &cmp.Or(m, &RelaxedMechanism{}).Mechanism, err
		},
		"Best": func(ctx context.Context, f metric.Finite, alpha float64, o *Options) (*Mechanism, error) {
			m, err := Best(ctx, metric.Same(f), alpha, &BestOptions{Unit: o.Unit})
			return &cmp.Or(m, &Choice{}).Mechanism, err
		},
	} {
		for given, want := range map[metric.Unit]metric.Unit{"": "km", "km": "km", "m": ""} {
			m, err := build(t.Context(), globe, 1, &Options{Unit: given})
			if want == "" && !errors.Is(err, mechanism.ErrUnit) || want != "" && (err != nil || m.Guarantee().Unit() != want) {
				t.Errorf("%s, unit %q: %v (%v)", name, given, m, err)
			}
		}
		if m, err := build(t.Context(), space.Path(2, 1), 1, &Options{Unit: "step"}); err != nil || m.Guarantee().Unit() != "step" {
			t.Errorf("%s: %v (%v)", name, m, err)
		}
		for _, d := range []float64{math.NaN(), -1, math.Inf(1)} {
			if _, err := build(t.Context(), distances{d}, 1, &Options{}); err == nil || !strings.HasPrefix(err.Error(), "exponential: "+name+": ") {
				t.Errorf("%s(%v): %v", name, d, err)
			}
		}
	}
}

// Errors name the call, the argument, the value and what was wanted.
func TestErrors(t *testing.T) {
	ctx, nan := t.Context(), math.NaN()
	f, u := space.Path(4, 1), randomUltrametric(t, random.Seeded(25), 4)
	bad, three := distances{nan}, space.Path(3, 1)
	near := space.Func(3, func(i, j int) float64 { return []float64{.01, 1, 9}[i+j-1] }) // 2 is near 0 and far from 1, 0 near 1
	lazily := func(f metric.Finite, alpha float64) error { return testkit.Err(Lazy(ctx, f, alpha, nil)) }
	for _, c := range []struct {
		want string
		err  error
	}{
		{"Standard: Outputs[1] = 4, want an index in [0, 4)", testkit.Err(Standard(ctx, f, 1, &Options{Outputs: []int{0, 4}}))},
		{"standard: audited level 37", testkit.Err(Standard(ctx, near, 1, nil))},
		{"standard: audited level +Inf", testkit.Err(Standard(ctx, space.Func(3, func(i, j int) float64 { return float64(i) }), 1, nil))}, // d(0,1) = d(0,2) = 0
		{"standard: audited level 2 exceeds alpha = 1 between points 0 and", &LevelError{MethodStandard, 1, mechanism.Audit{Hi: 2}}},
		{"standard: alpha = 1 is below what an audit in float64", &LevelError{MethodStandard, 1, mechanism.Audit{Hi: 2, X: -1}}},
		{"Weighted: weights has size 3, want 4", testkit.Err(Weighted(ctx, f, 1, []float64{1, 1, 1}, nil))},
		{"Tight: Outputs: want none", testkit.Err(Tight(ctx, f, 1, &Options{Outputs: []int{0}}))},
		{"Tight: exp(-alpha*rho) is singular", testkit.Err(Tight(ctx, f, 1e-14, nil))},
		{"Lazy: rho.Distance(1, 2) = 9.094947017729282e-13, want 0 or at least", lazily(euclidean(t, 0, 1, 1+0x1p-40), 1)},
		{"Lazy: rho.Distance(0, 1) = 1e-160", lazily(euclidean(t, 0, 1e-160, 2e-160), 1)}, // squares without digits
		{"Snapped: no points of the line", testkit.Err(Snapped(ctx, f, 1, nil))},          // of no known geometry
		{"Remapped: no points of the line", testkit.Err(Remapped(ctx, metric.Same(f), 1, nil))},
		{"Best: Remap: want a Prior", testkit.Err(Best(ctx, metric.Same(f), 1, &BestOptions{Remap: true}))},
		{"Best: Privacy.Distance(0, 1) = NaN", testkit.Err(Best(ctx, metric.Bimetric{Privacy: bad, Utility: three}, 1, nil))},
		{"Best: Utility.Distance(0, 1) = NaN", testkit.Err(Best(ctx, metric.Bimetric{Privacy: three, Utility: bad}, 1, nil))},
		{"Relaxed: Prior has size 1, want 4", testkit.Err(Relaxed(ctx, metric.Same(f), 1, &RelaxedOptions{Prior: []float64{1}}))},
		{"Relaxed: Accuracy: Outputs must list every point", testkit.Err(Relaxed(ctx, metric.Same(u), 1, &RelaxedOptions{Options: Options{Outputs: []int{1, 2}}, Accuracy: true}))},
		{"Relaxed: Accuracy: Separation 1e-100 is below the entropic scale", testkit.Err(Relaxed(ctx, metric.Same(u), 1e-3, &RelaxedOptions{Separation: 1e-100, Accuracy: true}))},
		{"Mechanism.Release: a Mechanism comes from Standard", testkit.Err(new(Mechanism).Release(nil, 0))},
	} {
		if c.err == nil || !strings.HasPrefix(c.err.Error(), "exponential: "+c.want) {
			t.Errorf("%v, want %s", c.err, c.want)
		}
	}
	half := metric.Bimetric{Privacy: f}
	for _, err := range []error{testkit.Err(Best(ctx, half, 1, nil)), testkit.Err(Relaxed(ctx, half, 1, nil))} {
		if !errors.Is(err, metric.ErrEmpty) {
			t.Errorf("half a space: %v", err)
		}
	}
	if _, err := Snapped(ctx, f, 1, nil); !errors.Is(err, ErrNoCells) {
		t.Error(err)
	}
	if a := (*Mechanism)(nil).Guarantee().Alpha(); !math.IsInf(a, 1) {
		t.Errorf("nil promises %v", a)
	}
}

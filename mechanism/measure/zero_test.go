package measure

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/metric"
)

// Values that no constructor made, nil pointers among them, count and release
// nothing and promise nothing: every method refuses, and names where such values
// come from.
func TestZeroValues_Refuse(t *testing.T) {
	good := unitBox(1, BoxOptions{Depth: 2})
	points := must(metric.NewPoints([][]float64{{0}, {1}}, metric.Euclidean{}))
	s := must(NewSynthesizer(good, 1, nil))
	record := []float64{0.5}
	for kind, d := range map[string]*Domain[[]float64]{"nil": nil, "zero": {}} {
		for name, f := range map[string]func() error{
			"Cell":       func() error { return second(d.Cell(record)) },
			"Weights":    func() error { return second(d.Weights([][]float64{record}, nil)) },
			"Points":     func() error { return second(d.Points()) },
			"Point":      func() error { d.Point(0); return nil },
			"Jitter":     func() error { d.Jitter(nil, 0); return nil },
			"Distance":   func() error { d.Distance(record, record); return nil },
			"Len":        func() error { d.Len(); return nil },
			"Tree":       func() error { d.Tree(); return nil },
			"Height":     func() error { d.Height(); return nil },
			"Resolution": func() error { d.Resolution(); return nil },
			"Diameter":   func() error { d.Diameter(); return nil },
			"NewCounts":  func() error { d.NewCounts(); return nil },
			"Count":      func() error { return second(Count(t.Context(), d, stream([][]float64{record}), nil)) },
			"Count none": func() error {
				return second(Count(t.Context(), d, stream[[]float64](nil), &CountOptions{SkipErrors: true}))
			},
			"CountAll":       func() error { return second(CountAll(t.Context(), d, [][]float64{record}, nil)) },
			"NewSynthesizer": func() error { return second(NewSynthesizer(d, 1, nil)) },
			"NewMeasure":     func() error { return second(NewMeasure(d, 1, nil)) },
		} {
			refuses(t, kind+" Domain: "+name, "a Domain that is not from NewBox, NewSphere, NewFinite, NewUltrametric, NewTaxonomy or NewFolded", f)
		}
		if d.String() != "no domain" {
			t.Error(d)
		}
	}
	for kind, d := range map[string]*Domain[int]{"nil": nil, "zero": {}} {
		refuses(t, kind+" Domain: On", "NewTaxonomy or NewFolded", func() error { return second(On(d, points)) })
		refuses(t, kind+" Domain: Labels", "NewTaxonomy or NewFolded", func() error { return second(Labels[int](d, nil)) })
	}
	for kind, p := range map[string]*metric.Points[[]float64]{"nil": nil, "zero": {}} {
		refuses(t, kind+" Points: On", "p has size 0, want 2", func() error { return second(On(must(NewFinite(t.Context(), linePoints{1, 2}, nil)), p)) })
	}
	for kind, c := range map[string]*Counts[[]float64]{"nil": nil, "zero": {}} {
		for name, f := range map[string]func() error{
			"Add":             func() error { return c.Add(record) },
			"AddN":            func() error { return c.AddN(record, 0) },
			"Merge":           func() error { return c.Merge(good.NewCounts()) },
			"merged":          func() error { return good.NewCounts().Merge(c) },
			"MarshalBinary":   func() error { return second(c.MarshalBinary()) },
			"UnmarshalBinary": func() error { return c.UnmarshalBinary(must(good.NewCounts().MarshalBinary())) },
			"Release":         func() error { return second(s.Release(nil, c)) },
			"Len":             func() error { c.Len(); return nil },
			"Domain":          func() error { c.Domain(); return nil },
		} {
			refuses(t, kind+" Counts: "+name, "a Counts that is not from Domain.NewCounts, Count or CountAll: "+ErrMismatch.Error(), f)
			if name == "Add" && !errors.Is(f(), ErrMismatch) {
				t.Error(f())
			}
		}
		if s := c.String(); s != "counts in no domain" {
			t.Error(s)
		}
	}
	for kind, s := range map[string]*Synthesizer[[]float64]{"nil": nil, "zero": {}} {
		for name, f := range map[string]func() error{
			"Release":   func() error { return second(s.Release(nil, good.NewCounts())) },
			"Synthetic": func() error { return second(s.Synthetic(t.Context(), nil, [][]float64{record}, 1)) },
			"Bound":     func() error { return second(s.Bound(t.Context(), 10, nil)) },
			"Domain":    func() error { s.Domain(); return nil },
		} {
			refuses(t, kind+" Synthesizer: "+name, "a Synthesizer that is not from NewSynthesizer", f)
		}
		if !math.IsInf(s.Guarantee().Alpha(), 1) || s.String() != "no synthesizer" {
			t.Errorf("%s Synthesizer promises %v", kind, s.Guarantee())
		}
	}
	for kind, m := range map[string]*Measure{"nil": nil, "zero": {}} {
		for name, f := range map[string]func() error{
			"Release": func() error { return second(m.Release(nil, []float64{1})) },
			"nothing": func() error { return second(m.Release(nil, nil)) },
			"Bound":   func() error { return second(m.Bound(t.Context(), nil)) },
		} {
			refuses(t, kind+" Measure: "+name, "a Measure that is not from NewMeasure", f)
		}
		if !math.IsInf(m.Guarantee().Alpha(), 1) {
			t.Errorf("%s Measure promises %v", kind, m.Guarantee())
		}
	}
	for kind, r := range map[string]*Release[[]float64]{"nil": nil, "zero": {}, "by hand": {Weights: []float64{1}, Total: 10}} {
		for name, f := range map[string]func() error{
			"Records":        func() error { return second(r.Records(nil, 1, nil)) },
			"Multiplicities": func() error { return second(r.Multiplicities(1)) },
			"Confidence":     func() error { return second(r.Confidence(1, 0.9)) },
			"Point":          func() error { r.Point(0); return nil },
			"Mean":           func() error { r.Mean(func([]float64) float64 { return 1 }); return nil },
		} {
			refuses(t, kind+" Release: "+name, "a Release that is not from Synthesizer.Release", f)
		}
	}
}

// refuses checks that f returns an error, or panics with one, with the given
// end.
func refuses(t *testing.T, name, want string, f func() error) {
	t.Helper()
	err := func() (err error) {
		defer func() {
			if r := recover(); r != nil {
				var ok bool
				if err, ok = r.(error); !ok {
					t.Errorf("%s: %v", name, r)
				}
			}
		}()
		return f()
	}()
	if err == nil || !strings.HasPrefix(err.Error(), "measure: ") || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%s: %v", name, err)
	}
}

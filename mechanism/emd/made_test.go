package emd

import (
	"errors"
	"testing"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// What no constructor made releases nothing, and promises nothing: the zero
// value and the nil pointer of every mechanism.
func TestMechanisms_ZeroValuesRefuse(t *testing.T) {
	type (
		vector  = []float64
		reduced = Reduced[int, []int64]
	)
	items, vectors := One([]int{0}), One([]vector{{1}})
	counts := testkit.Must(NewCounts([]int64{1}, 1))
	ways := map[string]func() error{}
	add := func(name string, call func() error) { ways[name] = call }
	for kind, f := range map[string]*Frequencies{"zero ": {}, "nil ": nil} {
		add(kind+"Frequencies.Release", func() error { return second(f.Release(nil, items)) })
		add(kind+"Frequencies.Collect", func() error { return second(f.Collect(t.Context(), nil, items)) })
		add(kind+"Frequencies.Estimate", func() error { return second(f.Estimate(counts)) })
		promisesNothing(t, kind+"Frequencies", f)
	}
	for kind, f := range map[string]*LaplaceFrequencies{"zero ": {}, "nil ": nil} {
		add(kind+"LaplaceFrequencies.Release", func() error { return second(f.Release(nil, items)) })
		promisesNothing(t, kind+"LaplaceFrequencies", f)
	}
	for kind, g := range map[string]*GKRR{"zero ": {}, "nil ": nil} {
		add(kind+"GKRR.Release", func() error { return second(g.Release(nil, 0)) })
		add(kind+"GKRR.Channel", func() error { return second(g.Channel(t.Context())) })
		promisesNothing(t, kind+"GKRR", g)
	}
	for kind, h := range map[string]*Hadamard{"zero ": {}, "nil ": nil} {
		add(kind+"Hadamard.Release", func() error { return second(h.Release(nil, 0)) })
		add(kind+"Hadamard.Channel", func() error { return second(h.Channel(t.Context())) })
		promisesNothing(t, kind+"Hadamard", h)
	}
	for kind, w := range map[string]*ItemWise{"zero ": {}, "nil ": nil} {
		add(kind+"ItemWise.Release", func() error { return second(w.Release(nil, items)) })
		add(kind+"ItemWise.ReleaseShuffled", func() error { return second(w.ReleaseShuffled(nil, items)) })
		promisesNothing(t, kind+"ItemWise", w)
		if _, err := NewReduced(w, Sampling{Radius: 1, Delta: .1}); !errors.Is(err, ErrModel) {
			t.Errorf("a Reduced of the %sItemWise: %v", kind, err)
		}
	}
	for kind, l := range map[string]*Linear[vector]{"zero ": {}, "nil ": nil} {
		add(kind+"Linear.Release", func() error { return second(l.Release(nil, vectors)) })
		promisesNothing(t, kind+"Linear", l)
	}
	for kind, l := range map[string]*GridLinear[vector]{"zero ": {}, "nil ": nil} {
		add(kind+"GridLinear.Release", func() error { return second(l.Release(nil, vectors)) })
		add(kind+"GridLinear.ReleaseSum", func() error { return second(l.ReleaseSum(nil, vectors)) })
		promisesNothing(t, kind+"GridLinear", l)
	}
	for kind, d := range map[string]*reduced{"zero ": {}, "nil ": nil} {
		add(kind+"Reduced.Release", func() error { return second(d.Release(nil, items)) })
		add(kind+"Reduced.GuaranteeFor", func() error { return second(d.GuaranteeFor(Sampling{Radius: 1, Delta: .1})) })
		promisesNothing(t, kind+"Reduced", d)
	}
	for name, call := range ways {
		func() {
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("%s panics: %v", name, p)
				}
			}()
			if err := call(); !errors.Is(err, fault.ErrEmpty) {
				t.Errorf("%s: %v", name, err)
			}
		}()
	}
	if p := (Guarantee{}).UserLevel(); !(p.Eps > 1e308) {
		t.Errorf("the zero Guarantee promises %v", p)
	}
	var none *metric.Points[int]
	if _, err := NewHadamardFrequencies(t.Context(), none, Model{Trust: Local, Items: 1}, DP{Eps: 1}, nil); !errors.Is(err, fault.ErrEmpty) {
		t.Errorf("no space: %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("clusters without a diameter have distances")
		}
	}()
	Clusters{Count: 2, Size: 2, Within: .5}.Distance(0, 3)
}

func promisesNothing[G interface{ Alpha() float64 }](t *testing.T, name string, m interface{ Guarantee() G }) {
	t.Helper()
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("%s.Guarantee panics: %v", name, p)
		}
	}()
	if a := m.Guarantee().Alpha(); !(a > 1e308) {
		t.Errorf("the %s promises %v", name, a)
	}
}

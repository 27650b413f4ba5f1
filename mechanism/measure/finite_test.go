package measure

import (
	"errors"
	"math"
	"sync/atomic"
	"testing"

	"github.com/metricdp/metricdp/metric"
)

// A number of points that cannot be is refused before a distance is asked for,
// and before time or memory is spent on them.
func TestNewFinite_ChecksSizeFirst(t *testing.T) {
	for _, n := range []int{math.MinInt, -1, 0, math.MaxInt / 4, math.MaxInt - 1, math.MaxInt} {
		f := space{n, func(i, j int) float64 { panic("a distance was asked for") }}
		for name, err := range map[string]error{
			"NewFinite":     second(NewFinite(t.Context(), f, nil)),
			"with a net":    second(NewFinite(t.Context(), f, &FiniteOptions{Separation: 1})),
			"of arity 2":    second(NewFinite(t.Context(), f, &FiniteOptions{Arity: 2})),
			"NewFolded":     second(NewFolded(t.Context(), f, nil)),
			"along a tour":  second(NewFolded(t.Context(), f, &FoldedOptions{Tour: true})),
			"folded, a net": second(NewFolded(t.Context(), f, &FoldedOptions{Separation: 1})),
		} {
			var size *metric.SizeError
			var memory *metric.MemoryError
			if ok := map[bool]bool{n < 0: errors.As(err, &size), n == 0: errors.Is(err, metric.ErrEmpty), n > 0: errors.As(err, &memory)}[true]; !ok {
				t.Errorf("%d points, %s: %v", n, name, err)
			}
		}
	}
	var memory *metric.MemoryError
	large := space{1 << 16, func(i, j int) float64 { panic("a distance was asked for") }}
	if _, err := NewFinite(t.Context(), large, &FiniteOptions{Arity: 1 << 15}); !errors.As(err, &memory) {
		t.Errorf("2^31 pairs of points and centers: %v", err)
	}
	for name, tree := range map[string]*metric.Tree{"nil": nil, "zero": {}} {
		if _, err := NewTaxonomy(t.Context(), tree, nil); !errors.Is(err, metric.ErrEmpty) {
			t.Errorf("%s tree: %v", name, err)
		}
	}
}

// A distance that is none is an error wherever it is among a few points, and
// among many where it is one of those that are read.
func TestNewFinite_RefusesWrongDistances(t *testing.T) {
	const n = 9
	var value *metric.ValueError
	var law *metric.Violation
	for _, wrong := range []float64{math.NaN(), math.Inf(1), -1} {
		for i := range n {
			for j := range i {
				f := space{n, func(a, b int) float64 {
					if max(a, b) == i && min(a, b) == j {
						return wrong
					}
					return math.Abs(float64(a - b))
				}}
				for name, err := range map[string]error{
					"NewFinite":  second(NewFinite(t.Context(), f, nil)),
					"of arity 2": second(NewFinite(t.Context(), f, &FiniteOptions{Arity: 2})),
					"NewFolded":  second(NewFolded(t.Context(), f, nil)),
				} {
					if !errors.As(err, &value) && !errors.As(err, &law) {
						t.Errorf("%s: %d and %d are %v apart: %v", name, i, j, wrong, err)
					}
				}
			}
		}
		var calls atomic.Int64
		now := space{300, func(a, b int) float64 {
			if calls.Add(1)%1000 == 0 {
				return wrong
			}
			return math.Abs(float64(a - b))
		}}
		if _, err := NewFinite(t.Context(), now, nil); !errors.As(err, &value) {
			t.Errorf("%v now and then: %v", wrong, err)
		}
	}
}

package emd

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism"
)

func TestFrequencies_BadInput(t *testing.T) {
	c := Clusters{Count: 2, Size: 2, Within: .5, Diameter: 1}
	g := mustGKRR(t, c, 1)
	ch, _ := g.Channel()
	good := Model{Trust: Central, Users: 2, Items: 3, Diameter: 1}
	bare, _ := mechanism.FromWeights(4, 4, []float64{4, 1, 1, 1, 1, 4, 1, 1, 1, 1, 4, 1, 1, 1, 1, 4}, nil)
	const anyDelta = 1e-6
	for name, f := range map[string]func() error{
		"model":     func() error { _, err := NewGKRRFrequencies(g, Model{}, nil); return err },
		"unbounded": func() error { _, err := NewGKRRFrequencies(g, Model{Trust: Local, Diameter: 1}, nil); return err },
		"diameter": func() error {
			_, err := NewGKRRFrequencies(g, Model{Trust: Local, Items: 1, Diameter: .9}, nil)
			return err
		},
		"unit": func() error {
			_, err := NewGKRRFrequencies(g, Model{Trust: Local, Items: 1, Unit: "km", Diameter: 1}, nil)
			return err
		},
		"delta": func() error { _, err := NewGKRRFrequencies(g, good, &FrequencyOptions{Delta: 1}); return err },
		"no promise": func() error {
			_, err := NewFrequencies(bare, c, good, &FrequencyOptions{Delta: anyDelta})
			return err
		},
		"nil channel": func() error { _, err := NewFrequencies(nil, c, good, nil); return err },
		"nil space":   func() error { _, err := NewFrequencies(ch, nil, good, nil); return err },
		"space": func() error {
			_, err := NewFrequencies(ch, Clusters{Count: 1, Size: 2, Within: 1, Diameter: 1}, good, nil)
			return err
		},
		"matrix diameter": func() error {
			_, err := NewFrequencies(ch, c, Model{Trust: Local, Items: 1, Diameter: .9}, nil)
			return err
		},
		"no clusters": func() error {
			wide := Clusters{Count: 2, Size: 2, Within: 5, Diameter: 1} // wider than their distance
			_, err := NewFrequencies(ch, wide, good, nil)
			return err
		},
		"other matrix diameter": func() error {
			_, err := NewFrequencies(ch, line(t, 4), Model{Trust: Local, Items: 1, Diameter: .9}, nil)
			return err
		},
		"condition": func() error { _, err := NewFrequencies(ch, c, good, &FrequencyOptions{MaxCondition: 1.5}); return err },
		"Hadamard unbounded": func() error {
			_, err := NewHadamardFrequencies(c, Model{Trust: Local, Diameter: 1}, Pair{Eps: 1}, nil)
			return err
		},
		"Hadamard eps":   func() error { _, err := NewHadamardFrequencies(c, good, Pair{}, nil); return err },
		"Hadamard delta": func() error { _, err := NewHadamardFrequencies(c, good, Pair{Eps: 1, Delta: 1}, nil); return err },
		"Hadamard space": func() error { _, err := NewHadamardFrequencies(nil, good, Pair{Eps: 1}, nil); return err },
		"Hadamard diameter": func() error {
			_, err := NewHadamardFrequencies(c, Model{Trust: Local, Items: 1, Diameter: .9}, Pair{Eps: 1}, nil)
			return err
		},
		"Laplace local": func() error {
			_, err := NewLaplaceFrequencies(c, Model{Trust: Local, Items: 1, Diameter: 1}, 1)
			return err
		},
		"Laplace unbounded": func() error {
			_, err := NewLaplaceFrequencies(c, Model{Trust: Central, Users: 1, Diameter: 1}, 1)
			return err
		},
		"Laplace eps":      func() error { _, err := NewLaplaceFrequencies(c, good, math.NaN()); return err },
		"Laplace tiny eps": func() error { _, err := NewLaplaceFrequencies(c, good, 1e-20); return err },
		"Laplace space":    func() error { _, err := NewLaplaceFrequencies(nil, good, 1); return err },
	} {
		if f() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	var e *ConditionError
	if _, err := NewFrequencies(ch, c, good, &FrequencyOptions{MaxCondition: 1.5}); !errors.As(err, &e) || e.Error() == "" {
		t.Errorf("condition: %v", err)
	}
	lap, err := NewLaplaceFrequencies(c, good, 1)
	if err != nil {
		t.Fatal(err)
	}
	all := estimators(t, c, good, 1)
	for name, data := range map[string][][]int{
		"nobody": {}, "one user": {{0, 1, 2}}, "three users": {{0, 1, 2}, {0, 1, 2}, {0, 1, 2}},
		"two items": {{0, 1, 2}, {0, 1}}, "no items": {{0, 1, 2}, {}}, "item 4": {{0, 1, 2}, {0, 1, 4}}, "item -1": {{0, 1, -1}, {0, 1, 2}},
	} {
		for kind, f := range all {
			if _, err := f.Release(nil, slices.Values(data)); err == nil {
				t.Errorf("%s, %s: no error", kind, name)
			}
			if _, err := f.Collect(context.Background(), nil, slices.Values(data)); err == nil {
				t.Errorf("%s, %s: no error of Collect in the central trust", kind, name)
			}
		}
		if _, err := lap.Release(nil, slices.Values(data)); err == nil {
			t.Errorf("Laplace, %s: no error", name)
		}
	}
	local := estimators(t, c, Model{Trust: Local, Items: 3, Diameter: 1}, 1)["clusters"]
	for name, data := range map[string][][]int{"nobody": {}, "two items": {{0, 1, 2}, {0, 1}}, "item 4": {{0, 1, 4}}} {
		if _, err := local.Collect(context.Background(), nil, slices.Values(data)); err == nil {
			t.Errorf("local, %s: no error", name)
		}
	}
	if _, err := local.Release(nil, slices.Values([][]int{{0, 1, 2}, {0, 1, 2}})); err == nil {
		t.Error("two users in one local release")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := local.Collect(ctx, nil, One([]int{0, 1, 2})); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := local.Estimate(&Counts{}); !errors.Is(err, fault.ErrEmpty) {
		t.Errorf("no counts: %v", err)
	}
	if _, err := local.Estimate(&Counts{n: []int64{1}, users: 1, items: 1}); err == nil {
		t.Error("counts of another mechanism")
	}
	if !math.IsInf(local.ErrorBound(0), 1) {
		t.Error("bound without items")
	}
}

// Cancelled by its source a release reads no more users, and after the last one draws
// nothing.
func TestFrequencies_CancelledReleasesNothing(t *testing.T) {
	f := estimators(t, Clusters{Count: 2, Size: 2, Within: .5, Diameter: 1}, Model{Trust: Local, Items: 3, Diameter: 1}, 1)["matrix"]
	const users = 10
	for _, at := range []int{3, users} {
		for _, inside := range []bool{true, false} { // before a user is yielded or after
			ctx, cancel := context.WithCancel(context.Background())
			read := 0
			counts, err := f.Collect(ctx, nil, func(yield func([]int) bool) {
				for more := true; more && read < users; {
					read++
					if inside && read == at {
						cancel()
					}
					more = yield([]int{0, 1, 2})
					if !inside && read == at {
						cancel()
					}
				}
			})
			cancel()
			if counts != nil || !errors.Is(err, context.Canceled) || read > at+1 {
				t.Errorf("cancelled at user %d: %v, %v, %d read", at, counts, err, read)
			}
		}
	}
}

package walk

import (
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

// Values that no constructor made, nil pointers among them, count, transform and
// draw nothing: every method refuses, and names where such values come from.
func TestZeroValues_Refuse(t *testing.T) {
	two, three := make([]float64, 2), make([]float64, 3)
	ints := make([]int64, 3)
	good := testkit.Must(Levels(2))
	for kind, tree := range map[string]*Tree{"nil": nil, "zero": {}} {
		for name, f := range map[string]func() error{
			"Counts":      func() error { return tree.Counts(nil, nil) },
			"Counts of 2": func() error { return tree.Counts(three, two) },
			"CountsInt":   func() error { return tree.CountsInt(nil, nil) },
			"Center":      func() error { return tree.Center(nil) },
			"Haar":        func() error { return tree.Haar(nil) },
			"HaarInverse": func() error { return tree.HaarInverse(nil) },
			"HaarInt":     func() error { return tree.HaarInt(nil) },
			"Loss":        func() error { _, err := tree.Loss(ReplaceOne, Scales{}); return err },
			"LossNodes":   func() error { _, err := tree.LossNodes(ReplaceOne, 1, nil); return err },
			"EqualScales": func() error { _, err := tree.EqualScales(ReplaceOne); return err },
			"PowerScales": func() error { _, err := tree.PowerScales(ReplaceOne, 1); return err },
			"Normalize":   func() error { _, err := tree.Normalize(ReplaceOne, Scales{}); return err },
			"New":         func() error { _, err := New(tree, KNorm, Scales{}); return err },
			"Len":         func() error { tree.Len(); return nil },
			"Nodes":       func() error { tree.Nodes(); return nil },
			"Height":      func() error { tree.Height(); return nil },
			"Binary":      func() error { tree.Binary(); return nil },
			"Arity":       func() error { tree.Arity(); return nil },
			"Depth":       func() error { tree.Depth(0); return nil },
			"Split":       func() error { tree.Split(0); return nil },
			"Sensitivity": func() error { tree.Sensitivity(ReplaceOne); return nil },
		} {
			refuses(t, kind+" Tree: "+name, "a Tree that is not from NewTree, Balanced or Levels", f)
		}
		if s := tree.String(); s != "no tree" {
			t.Error(s)
		}
	}
	for kind, w := range map[string]*Walk{"nil": nil, "zero": {}} {
		for name, f := range map[string]func() error{
			"Increments":      func() error { return w.Increments(nil, two) },
			"no Increments":   func() error { return w.Increments(nil, nil) },
			"AddCounts":       func() error { return w.AddCounts(nil, ints) },
			"AddHaar":         func() error { return w.AddHaar(nil, ints) },
			"Variances":       func() error { return w.Variances(nil) },
			"RMS":             func() error { _, err := w.RMS(nil); return err },
			"Potential":       func() error { _, err := w.Potential(nil); return err },
			"PotentialCounts": func() error { _, err := w.PotentialCounts(nil); return err },
			"Loss":            func() error { _, err := w.Loss(ReplaceOne); return err },
			"Tree":            func() error { w.Tree(); return nil },
			"Distribution":    func() error { w.Distribution(); return nil },
			"Scales":          func() error { w.Scales(); return nil },
			"Noise":           func() error { w.Noise(0); return nil },
		} {
			refuses(t, kind+" Walk: "+name, "a Walk that is not from New or Superregular", f)
		}
		if s := w.String(); s != "no walk" {
			t.Error(s)
		}
	}
	for name, f := range map[string]func(){
		"Draw":      func() { Noise{}.Draw(nil, two) },
		"Draw none": func() { Noise{}.Draw(nil, nil) },
		"Add":       func() { Noise{}.Add(nil, ints) },
		"Add whole": func() { Noise{dist: DiscreteLaplace}.Add(nil, ints) },
		"Variance":  func() { Noise{}.Variance(2) },
	} {
		refuses(t, "Noise: "+name, "a Noise that is not from NewNoise", func() error { f(); return nil })
	}
	// Scales are numbers; none at all are those of a tree without levels alone.
	refuses(t, "Scales", "Level has size 0, want 1", func() error { _, err := New(good, KNorm, Scales{}); return err })
}

// refuses checks that f returns an error, or panics, with the given end.
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
	if err == nil || !strings.HasPrefix(err.Error(), "walk: ") || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("%s: %v", name, err)
	}
}

package walk

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

// What is refused, and how: each error begins with what is given.
func TestErrors(t *testing.T) {
	nan := math.NaN()
	three, bad := testkit.Must(Levels(3)), testkit.Must(Levels(3, 2))
	six := testkit.Must(Balanced(6, 2))
	one := Scales{Level: []float64{1}}
	knorm, laplace := testkit.Must(New(three, KNorm, one)), testkit.Must(New(three, Laplace, one))
	integers := testkit.Must(New(three, DiscreteLaplace, one))
	line := equalWalk(six, KNorm, ReplaceOne)
	floats, ints := make([]float64, 4), make([]int64, 4)
	type row struct {
		want string
		err  error
	}
	var rows []row
	for _, x := range []struct {
		want string
		s    Scales
	}{
		{"Level has size 0, want 2", Scales{}}, {"Level has size 1, want 2", one},
		{"Level[1] = 0", Scales{Level: []float64{1, 0}}}, {"Level[1] = NaN", Scales{Level: []float64{1, nan}}},
		{"Level[1] = -1", Scales{Level: []float64{1, -1}}},
		{"Level[0] = 1e-101", Scales{Level: []float64{1e-101, 1}}},
		{"Total = -1", Scales{Total: -1, Level: []float64{1, 1}}}, {"Total = NaN", Scales{Total: nan, Level: []float64{1, 1}}},
	} {
		total := x.s
		if total.Total == 0 {
			total.Total = 1
		}
		rows = append(rows, row{"Tree.Loss: " + x.want, testkit.Err(bad.Loss(ReplaceOne, x.s))}, row{"New: " + x.want, testkit.Err(New(bad, Laplace, x.s))},
			row{"Tree.Normalize: " + x.want, testkit.Err(bad.Normalize(AddRemoveOne, total))})
	}
	for _, p := range []struct {
		want   string
		parent []int
	}{
		{"parent: empty input", nil},
		{"parent[0] = 0, want no cycle", []int{0, -1}},
		{"parent[1] = -1, want one root", []int{-1, -1}},
		{"parent[1] = 5", []int{-1, 5}},
		{"parent[0] = 1, want a root", []int{1, 2, 0}},
		{"parent[2] = 3, want no cycle", []int{-1, 0, 3, 4, 2, 1}}, // beside a tree
	} {
		_, _, err := NewTree(p.parent)
		rows = append(rows, row{"NewTree: " + p.want, err})
	}
	for _, r := range append(rows, []row{
		{"Balanced: n = 0,", testkit.Err(Balanced(0, 2))},
		{"Balanced: arity = 1,", testkit.Err(Balanced(4, 1))},
		{"Superregular: n = 0,", testkit.Err(Superregular(0))},
		{"Levels: arities[1] = 0,", testkit.Err(Levels(3, 0))},
		{"New: children of node[0] = 3,", testkit.Err(New(three, DiscreteHaar, one))},
		{"New: dist = 17,", testkit.Err(New(three, 17, one))},
		{"NewNoise: scale = 0,", testkit.Err(NewNoise(KNorm, 0))},
		{"Tree.Loss: relation = 7,", testkit.Err(bad.Loss(7, Scales{Level: []float64{1, 1}}))},
		{"Tree.Normalize: relation = 5,", testkit.Err(three.Normalize(5, Scales{Total: 1, Level: []float64{1}}))},
		{"Scales.At: alpha = 0,", testkit.Err(one.At(0))},
		{"Scales.At: Level[0] = 1.0000000000000002e+110,", testkit.Err(Scales{Level: []float64{1e50}}.At(1e-60))},
		{"Tree.CountsInt: x[2], want a smaller magnitude", three.CountsInt(ints, []int64{math.MaxInt64, 0, 1})},
		{"Tree.CountsInt: dst has size 0, want 4", three.CountsInt(nil, nil)},
		{"Tree.CountsInt: x has size 4, want 3", three.CountsInt(ints, ints)},
		{"Tree.Center: counts has size 3, want 4", three.Center(floats[:3])},
		{"Tree.Haar: children of node[0] = 3,", three.Haar(floats[:3])},
		{"Tree.Haar: children of node[0] = 1,", testkit.Must(Levels(1, 2)).Haar(floats[:2])},
		{"Tree.Haar: x has size 0, want 6", six.Haar(nil)},
		{"Walk.Potential: dist = 1,", testkit.Err(laplace.Potential(floats[:3]))},
		{"Walk.Potential: z[2] = NaN,", testkit.Err(knorm.Potential([]float64{0, 0, nan}))},
		{"Walk.Potential: counts of z[0] = +Inf,", testkit.Err(knorm.Potential([]float64{1e308, 1e308, 0}))},
		{"Walk.Increments: dst has size 4, want 3", knorm.Increments(nil, floats)},
		{"Walk.AddShares: dist = 3,", integers.AddShares(nil, floats, floats[:3])},
		{"Walk.AddShares: dst has size 3, want 4", knorm.AddShares(nil, floats[:3], floats[:3])},
		{"Walk.AddShares: weights has size 4, want 3", knorm.AddShares(nil, floats, floats)},
		{"Walk.AddShares: sum of weights, want a finite number > 0", knorm.AddShares(nil, floats, []float64{0, 0, 0})},
		{"Walk.AddCounts: dist = 2,", knorm.AddCounts(nil, ints)},
		{"Walk.AddCounts: counts has size 0, want 4", integers.AddCounts(nil, nil)},
		{"Walk.AddHaar: dist = 3,", integers.AddHaar(nil, ints[:3])},
		{"Walk.Variances: dst has size 4, want 6", line.Variances(floats)},
		{"Walk.RMS: gaps has size 1, want 6", testkit.Err(line.RMS([]float64{1}))},
		{"Walk.RMS: sum of gaps = 0,", testkit.Err(line.RMS(make([]float64, 6)))},
	}...) {
		if r.err == nil || !strings.HasPrefix(r.err.Error(), "walk: "+r.want) {
			t.Errorf("%v, want walk: %s", r.err, r.want)
		}
	}
	if _, _, err := NewTree(nil); !errors.Is(err, ErrEmpty) {
		t.Errorf("no nodes: %v", err)
	}
	if got := testkit.Must(bad.Loss(AddRemoveOne, Scales{Level: []float64{1, 1}})); !math.IsInf(got, 1) {
		t.Errorf("no noise on the total: loss %v", got)
	}
}

// Values that no constructor made count, transform and draw nothing.
func TestZeroValues_Refuse(t *testing.T) {
	testkit.Unmade[Tree](t, "NewTree, Balanced or Levels", "Children", "Parent", "LeafRange", "LeafNode", "Level")
	testkit.Unmade[Walk](t, "New or Superregular")
	testkit.Unmade[Noise](t, "NewNoise")
	if _, err := New(nil, KNorm, Scales{}); err == nil || !strings.HasSuffix(err.Error(), "NewTree, Balanced or Levels") {
		t.Error(err)
	}
	// Scales are numbers; none at all are those of a tree without levels alone.
	if _, err := New(testkit.Must(Levels(2)), KNorm, Scales{}); err == nil || !strings.HasSuffix(err.Error(), "Level has size 0, want 1") {
		t.Error(err)
	}
}

package measure

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// What is refused, and how: each error begins with what is given.
func TestErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	unit, f, two := []Column{{Hi: 1}}, randomPoints(20, 2, 1), linePoints{1, 2}
	mixed := []Column{{Hi: 1}, {Categories: 3}}
	box := func(c []Column, o *BoxOptions) error { return second(NewBox(c, o)) }
	split := func(c []Column, splits ...[]int) error { return box(c, &BoxOptions{Splits: splits}) }
	fin := func(o FiniteOptions) error { return second(NewFinite(t.Context(), f, &o)) }
	fold := func(o FoldedOptions) error { return second(NewFolded(t.Context(), f, &o)) }
	cell := func(d *Domain[[]float64], x ...float64) error { return second(d.Cell(x)) }
	d, other := unitBox(1, BoxOptions{Splits: [][]int{{4}, {2}}}), unitBox(1, BoxOptions{Depth: 6})
	lazy := unitBox(1, BoxOptions{})
	refuse := unitBox(1, BoxOptions{Depth: 2, Outside: Refuse})
	cats := testkit.Must(NewBox([]Column{{Categories: 3}}, nil))
	sphere := testkit.Must(NewSphere(0, &SphereOptions{Depth: 3}))
	points, pair := testkit.Must(NewFinite(t.Context(), f, nil)), testkit.Must(NewFinite(t.Context(), two, nil))
	syn := func(eps float64, o SynthesizerOptions) error { return second(NewSynthesizer(d, eps, &o)) }
	mea := func(o MeasureOptions) error { return second(NewMeasure(d, 1, &o)) }
	s, m := testkit.Must(NewSynthesizer(d, 1, nil)), testkit.Must(NewMeasure(d, 1, nil))
	c := testkit.Must(CountAll(t.Context(), d, [][]float64{{0.5}}, nil))
	out := testkit.Must(s.Release(nil, c))
	for _, x := range []struct {
		want string
		err  error
	}{
		{"NewBox: columns: empty input", box(nil, nil)},
		{"NewBox: Depth = 5, want 0 where Splits", box(unit, &BoxOptions{Depth: 5, Splits: [][]int{{2}}})},
		{"NewBox: Depth = NaN", box(unit, &BoxOptions{Depth: nan})},
		{"NewBox: P = 0.5", box(unit, &BoxOptions{P: 0.5})},
		{"NewBox: Outside = 7", box(unit, &BoxOptions{Outside: 7})},
		{"NewBox: columns.Hi[0] = 1", box([]Column{{Lo: 1, Hi: 1}}, nil)},
		{"NewBox: columns.Lo[0] = NaN", box([]Column{{Lo: nan, Hi: 1}}, nil)},
		{"NewBox: columns.Hi[0] = +Inf", box([]Column{{Hi: inf}}, nil)},
		{"NewBox: columns.Weight[0] = -1", box([]Column{{Hi: 1, Weight: -1}}, nil)},
		{"NewBox: columns.Categories[0] = -2", box([]Column{{Categories: -2}}, nil)},
		{"NewBox: Splits[0][0] = 0", split(unit, []int{0})},
		{"NewBox: Splits[0] has size 2, want 1", split(unit, []int{2, 2})},
		{"NewBox: Splits[0][0] = 2, want 1 or 4", split([]Column{{Categories: 4}}, []int{2}, []int{2})},
		{"NewBox: Splits.column[0] = 0, want 1 cuts", box([]Column{{Categories: 4}}, &BoxOptions{Splits: [][]int{}})},
		{"NewBox: Splits.column[1] = 0, want 1 cuts", split(mixed, []int{4, 1})},
		{"NewBox: Splits[1][1] = 3, want 1", split(mixed, []int{4, 3}, []int{1, 3})},
		{"NewBox: Splits.column[0] = 64, want at most 16 parts", split([]Column{{Lo: 1, Hi: 10, Whole: true}}, []int{64})},
		{"NewBox: Splits.column[0] = 2048, want at most 1024 parts", split([]Column{{Lo: 1, Hi: 1 + 0x1p-40}}, []int{2048})},
		{"NewBox: Splits[0][0] = 3, want 1 or 2", split([]Column{{Hi: 1, Missing: true}}, []int{3})},
		{"NewBox: Splits[0][0] = 4, want 1 or 12", split([]Column{{Radius: 1}}, []int{4})},
		{"NewBox: needs", box(slices.Repeat(unit, 9), &BoxOptions{Depth: 20})},
		{"NewBox: needs", box(slices.Repeat(unit, 2), &BoxOptions{Depth: 1e300})},
		{"NewBox: Depth = 55, want no more than float64", box(unit, &BoxOptions{Depth: 55})},
		{"NewBox: Depth = 1e+300, want no more than float64", box(unit, &BoxOptions{Depth: 1e300})},
		{"NewBox: columns[", box(slices.Repeat([]Column{{Categories: 100}}, 12), nil)},
		{"NewBox: columns.kinds[0] = 2", box([]Column{{Whole: true, Categories: 2, Hi: 1}}, nil)},
		{"NewBox: columns.Lo[0] = 0.5, want a whole number", box([]Column{{Lo: 0.5, Hi: 2, Whole: true}}, nil)},
		{"NewBox: columns.Hi[0] = +Inf, want a whole number", box([]Column{{Hi: inf, Whole: true}}, nil)},
		{"NewBox: columns.Hi[0] = -1, want a whole number", box([]Column{{Hi: -1, Whole: true}}, nil)},
		{"NewBox: columns.Radius[0] = -1", box([]Column{{Radius: -1}}, nil)},
		{"NewBox: columns.Radius[0] = NaN", box([]Column{{Radius: nan}}, nil)},
		{"NewBox: columns.Taxonomy[0] = 0", box([]Column{{Taxonomy: &metric.Tree{}}}, nil)},
		{"NewBox: Possible = 0, want true", box(unit, &BoxOptions{Possible: func(lo, hi []float64) bool { return false }})},
		{"NewSphere: ", second(NewSphere(1, &SphereOptions{Depth: 1e300}))},
		{"NewSphere: radius = -1", second(NewSphere(-1, nil))},
		{"NewSphere: Depth = -1", second(NewSphere(-0, &SphereOptions{Depth: -1}))},
		{"Domain.Cell: record[0], want a number", cell(refuse, 1.5)},
		{"Domain.Cell: record[0], want a number in", cell(unitBox(1, BoxOptions{Depth: 2}), nan)},
		{"Domain.Cell: record, want size 1", cell(refuse)},
		{"Domain.Cell: record[0], want a category", cell(cats, 1.5)},
		{"Domain.Cell: record[0], want a category", cell(cats, 3)},
		{"Domain.Cell: metric: GreatCircle: ", second(sphere.Cell(metric.LatLon{Lat: 91}))},
		{"Domain.Cell: metric: GreatCircle: ", second(sphere.Cell(metric.LatLon{Lon: nan}))},
		{"Domain.Cell: record, want an index", second(points.Cell(20))},
		{"Domain.Cell: unknown label", second(testkit.Must(Labels(pair, []string{"a", "b"})).Cell("c"))},
		{"Domain.Cell: metric: Euclidean: ", second(testkit.Must(On(t.Context(), points, f)).Cell([]float64{nan, 1}))},
		{"Domain.Points: needs", second(lazy.Points())},
		{"Domain.Weights: points: empty input", second(d.Weights(nil, nil))},
		{"Domain.Weights: weights[0], want a finite number >= 0", second(d.Weights([][]float64{{0}}, []float64{-1}))},
		{"Domain.Weights: sum of weights, want a finite number > 0", second(d.Weights([][]float64{{0}}, []float64{0}))},
		{"Domain.Weights: weights[0], want a finite number >= 0", second(d.Weights([][]float64{{0}}, []float64{nan}))},
		{"NewFinite: Separation = -1", fin(FiniteOptions{Separation: -1})},
		{"NewFinite: Arity = 1", fin(FiniteOptions{Arity: 1})},
		{"NewFinite: Height = -1", fin(FiniteOptions{Height: -1})},
		{"NewFinite: Height = 2", fin(FiniteOptions{Height: 2, Arity: 3})},
		{"NewFinite: f: empty input", second(NewFinite(t.Context(), linePoints{}, nil))},
		{"NewFinite: distance of point 0[1] = NaN", second(NewFinite(t.Context(), linePoints{1, nan, 3}, &FiniteOptions{Arity: 2}))},
		{"NewFolded: Separation = -1", fold(FoldedOptions{Separation: -1})},
		{"NewFolded: Arity = 1", fold(FoldedOptions{Arity: 1})},
		{"NewUltrametric: Ratio = 2", second(NewUltrametric(t.Context(), nil, &HierarchyOptions{Ratio: 2}))},
		{"NewUltrametric: f: empty input", second(NewUltrametric(t.Context(), nil, nil))},
		{"Labels: labels has size 1, want 20", second(Labels(points, []string{"a"}))},
		{"Labels: labels[1] = 0, want a label that no", second(Labels(pair, []string{"a", "a"}))},
		{"On: p has size 20, want 2", second(On(t.Context(), pair, f))},

		{"NewSynthesizer: eps = 0", syn(0, SynthesizerOptions{})},
		{"NewSynthesizer: eps = NaN", syn(nan, SynthesizerOptions{})},
		{"NewSynthesizer: eps = +Inf", syn(inf, SynthesizerOptions{})},
		{"NewSynthesizer: eps = 1e-300", syn(1e-300, SynthesizerOptions{})},
		{"NewSynthesizer: Relation = 5", syn(1, SynthesizerOptions{Relation: 5})},
		{"NewSynthesizer: MaxCells = -1", syn(1, SynthesizerOptions{MaxCells: -1})},
		{"NewSynthesizer: Shares has size 1, want 0, without Levels", syn(1, SynthesizerOptions{Shares: []float64{1}})},
		{"NewSynthesizer: Prune = 2, want 0 without Levels", syn(1, SynthesizerOptions{Prune: 2})},
		{"NewSynthesizer: Prune = NaN", syn(1, SynthesizerOptions{Levels: []int{1}, Prune: nan})},
		{"NewSynthesizer: Levels[1] = 9", syn(1, SynthesizerOptions{Levels: []int{1, 9}})},
		{"NewSynthesizer: Levels[0] = 0", syn(1, SynthesizerOptions{Levels: []int{0}})},
		{"NewSynthesizer: Levels[0] = 1, want fewer", syn(1, SynthesizerOptions{Levels: []int{1}, MaxCells: 1})},
		{"NewSynthesizer: Shares has size 2, want 1", syn(1, SynthesizerOptions{Levels: []int{1}, Shares: []float64{1, 1}})},
		{"NewSynthesizer: Shares[0] = NaN", syn(1, SynthesizerOptions{Levels: []int{1}, Shares: []float64{nan}})},
		{"NewMeasure: needs", second(NewMeasure(lazy, 1, nil))},
		{"NewMeasure: alpha = 0", second(NewMeasure(d, 0, nil))},
		{"NewMeasure: Distribution = 4, want Laplace or KNorm", mea(MeasureOptions{Distribution: 4})},
		{"NewMeasure: Scales has size 7", mea(MeasureOptions{Scales: make([]float64, 7)})},
		{"NewMeasure: Estimator = -1", mea(MeasureOptions{Estimator: -1})},
		{"Measure.Release: weights, want size 8", second(m.Release(nil, []float64{1}))},
		{"Measure.Release: walk: Walk.AddShares: sum of weights, want a finite number > 0", second(m.Release(nil, make([]float64, d.Len())))},
		{"Synthesizer.Release: counts: empty input", second(s.Release(nil, d.NewCounts()))},
		{"Synthesizer.Release: counts do not belong", second(s.Release(nil, other.NewCounts()))},
		{"Measure.Bound: needs", second(m.Bound(t.Context(), &BoundOptions{Draws: math.MaxInt}))},
		{"Synthesizer.LowerBound: records = 0", second(s.LowerBound(t.Context(), 0))},
		{"Release.Records: m = -1", second(out.Records(nil, -1, nil))},
		{"Release.Records: needs", second(out.Records(nil, math.MaxInt32, nil))},
	} {
		if x.err == nil || !strings.HasPrefix(x.err.Error(), "measure: "+x.want) {
			t.Errorf("%v, want measure: %s", x.err, x.want)
		}
	}
	if err := cell(unitBox(1, BoxOptions{Depth: 2}), inf); err != nil {
		t.Errorf("clipping +Inf: %v", err)
	}
}

package domain_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/samples"
	"github.com/metricdp/metricdp/metric"
)

// Points that are farther apart than those of the domain, in another unit for instance, are
// refused, and so are those at no distance; nearer ones are not.
func TestOn_RefusesLargerDistances(t *testing.T) {
	places := make([]metric.LatLon, 40)
	for i := range places {
		places[i] = metric.LatLon{Lat: float64(i * 17 % 90), Lon: float64(i * 31 % 180)}
	}
	km := testkit.Must(metric.NewPoints(places, metric.GreatCircle{}))
	miles := testkit.Must(metric.NewPoints(places, metric.GreatCircle{Radius: metric.EarthRadiusKm / 1.609344}))
	none := testkit.Must(metric.NewPoints(places, metric.Func[metric.LatLon](func(x, y metric.LatLon) float64 { return math.NaN() })))
	for name, c := range map[string]struct {
		of, on *metric.Points[metric.LatLon]
		ok     bool
	}{"no number on km": {km, none, false}, "km on km": {km, km, true}, "miles on km": {km, miles, true}, "km on miles": {miles, km, false}} {
		for how, d := range map[string]*domain.Domain[int]{"net": testkit.Must(domain.NewFinite(t.Context(), c.of, nil)), "dense": testkit.Must(domain.NewFinite(t.Context(), testkit.Must(metric.Densify(t.Context(), c.of)), nil)), "folded": testkit.Must(domain.NewFolded(t.Context(), c.of, nil))} {
			_, err := domain.On(t.Context(), d, c.on)
			var wrong *metric.ValueError
			if c.ok && err != nil || !c.ok && !errors.As(err, &wrong) {
				t.Errorf("%s, %s: %v", name, how, err)
			}
		}
	}
}

// Whole numbers that are out of bounds are clipped or refused, and others refused.
func TestBox_ClipsWholeNumbers(t *testing.T) {
	inf := math.Inf(1)
	clip := testkit.Must(domain.NewBox([]domain.Column{{Lo: 1, Hi: 3, Whole: true, Missing: true}}, nil))
	refuse := testkit.Must(domain.NewBox([]domain.Column{{Lo: 1, Hi: 3, Whole: true}}, &domain.BoxOptions{Outside: domain.Refuse}))
	for _, v := range []float64{inf, -inf, 5, -5} {
		if got := clip.Point(testkit.Must(clip.Cell([]float64{v})))[0]; got != min(max(v, 1), 3) {
			t.Errorf("%v is counted at %v", v, got)
		}
		if _, err := refuse.Cell([]float64{v}); err == nil {
			t.Errorf("%v is not refused", v)
		}
	}
}

// What is refused, and how: each error begins with what is given.
func TestErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	unit, f, two := []domain.Column{{Hi: 1}}, samples.Points(20, 2, 1), samples.Line(1, 2)
	mixed := []domain.Column{{Hi: 1}, {Categories: 3}}
	box := func(c []domain.Column, o *domain.BoxOptions) error { return testkit.Err(domain.NewBox(c, o)) }
	split := func(c []domain.Column, splits ...[]int) error { return box(c, &domain.BoxOptions{Splits: splits}) }
	fin := func(o domain.FiniteOptions) error { return testkit.Err(domain.NewFinite(t.Context(), f, &o)) }
	unread := func(n int, o domain.FiniteOptions) error {
		return testkit.Err(domain.NewFinite(t.Context(), space.Formula(n, func(i, j int) float64 { panic("a distance was asked for") }), &o))
	}
	cell := func(d *domain.Domain[[]float64], x ...float64) error { return testkit.Err(d.Cell(x)) }
	d := samples.Unit(1, domain.BoxOptions{Splits: [][]int{{4}, {2}}})
	lazy := samples.Unit(1, domain.BoxOptions{})
	in := func(c domain.Column, x ...float64) error {
		return cell(testkit.Must(domain.NewBox([]domain.Column{c}, nil)), x...)
	}
	refuse := samples.Unit(1, domain.BoxOptions{Depth: 2, Outside: domain.Refuse})
	cats := testkit.Must(domain.NewBox([]domain.Column{{Categories: 3}}, nil))
	sphere := testkit.Must(domain.NewSphere(0, &domain.SphereOptions{Depth: 3}))
	points, pair := testkit.Must(domain.NewFinite(t.Context(), f, nil)), testkit.Must(domain.NewFinite(t.Context(), two, nil))
	testkit.Refused(t, [][3]any{
		{box(nil, nil), "domain: NewBox: columns: empty input"},
		{box(unit, &domain.BoxOptions{Depth: 5, Splits: [][]int{{2}}}), "domain: NewBox: Depth = 5, want 0 where Splits"},
		{split(unit, []int{2, 2}), "domain: NewBox: Splits[0] has size 2, want 1"},
		{split([]domain.Column{{Categories: 4}}, []int{2}, []int{2}), "domain: NewBox: Splits[0][0] = 2, want 1 or 4"},
		{box([]domain.Column{{Categories: 4}}, &domain.BoxOptions{Splits: [][]int{}}), "domain: NewBox: Splits.column[0] = 0, want 1 cuts"},
		{split(mixed, []int{4, 3}, []int{1, 3}), "domain: NewBox: Splits[1][1] = 3, want 1"},
		{split([]domain.Column{{Lo: 1, Hi: 10, Whole: true}}, []int{64}), "domain: NewBox: Splits.column[0] = 64, want at most 16 parts"},
		{split([]domain.Column{{Hi: 1, Missing: true}}, []int{3}), "domain: NewBox: Splits[0][0] = 3, want 1 or 2"},
		{split([]domain.Column{{Radius: 1}}, []int{4}), "domain: NewBox: Splits[0][0] = 4, want 1 or 12"},
		{box(slices.Repeat(unit, 9), &domain.BoxOptions{Depth: 20}), "domain: NewBox: needs"},
		{box(unit, &domain.BoxOptions{Depth: 1e300}), "domain: NewBox: Depth = 1e+300, want no more than float64"},
		{box(slices.Repeat([]domain.Column{{Categories: 100}}, 12), nil), "domain: NewBox: columns["},
		{box([]domain.Column{{Hi: 1, Share: 2, Weight: 3}}, nil), "domain: NewBox: columns.Share[0] = 2, want 0 with a Weight"},
		{box([]domain.Column{{Whole: true, Categories: 2, Hi: 1}}, nil), "domain: NewBox: columns.kinds[0] = 2"},
		{box([]domain.Column{{Lo: 0.5, Hi: 2, Whole: true}}, nil), "domain: NewBox: columns.Lo[0] = 0.5, want a whole number"},
		{box([]domain.Column{{Taxonomy: &metric.Tree{}}}, nil), "domain: NewBox: columns.Taxonomy[0] = 0"},
		{box(unit, &domain.BoxOptions{Possible: func(lo, hi []float64) bool { return false }}), "domain: NewBox: Possible = 0, want true"},
		{testkit.Err(domain.NewSphere(1, &domain.SphereOptions{Depth: 1e300})), "domain: NewSphere: "},
		{cell(refuse, 1.5), "domain: Domain.Cell: record[0], want a number"},
		{cell(samples.Unit(1, domain.BoxOptions{Depth: 2}), nan), "domain: Domain.Cell: record[0], want a number in"},
		{cell(refuse), "domain: Domain.Cell: record, want size 1"},
		{cell(cats, 3), "domain: Domain.Cell: record[0], want a category"},
		{testkit.Err(sphere.Cell(metric.LatLon{Lon: nan})), "domain: Domain.Cell: metric: GreatCircle: "},
		{in(domain.Column{Hi: 3, Whole: true}, 1.5), "domain: Domain.Cell: record[0], want a whole number"},
		{in(domain.Column{Categories: 3, Missing: true}, -inf), "domain: Domain.Cell: record[0], want a category"},
		{in(domain.Column{Taxonomy: samples.Taxonomy()}, 7), "domain: Domain.Cell: record[0], want a leaf"},
		{in(domain.Column{Taxonomy: samples.Taxonomy(), Missing: true}, -1), "domain: Domain.Cell: record[0], want a leaf"},
		{in(domain.Column{Radius: 1}, 91, 0), "domain: Domain.Cell: metric: GreatCircle: "},
		{in(domain.Column{Radius: 1, Missing: true}, nan, 0), "domain: Domain.Cell: metric: GreatCircle: "},
		{testkit.Err(points.Cell(20)), "domain: Domain.Cell: record, want an index"},
		{testkit.Err(testkit.Must(domain.Labels(pair, []string{"a", "b"})).Cell("c")), "domain: Domain.Cell: unknown label"},
		{testkit.Err(testkit.Must(domain.On(t.Context(), points, f)).Cell([]float64{nan, 1})), "domain: Domain.Cell: metric: Euclidean: "},
		{testkit.Err(lazy.Points()), "domain: Domain.Points: needs"},
		{testkit.Err(d.Weights(nil, nil)), "domain: Domain.Weights: points: empty input"},
		{testkit.Err(d.Weights([][]float64{{0}}, []float64{0})), "domain: Domain.Weights: sum of weights, want a finite number > 0"},
		{testkit.Err(d.Weights([][]float64{{0}}, []float64{nan})), "domain: Domain.Weights: weights[0], want a finite number >= 0"},
		{fin(domain.FiniteOptions{Arity: 1}), "domain: NewFinite: Arity = 1"},
		{unread(-1, domain.FiniteOptions{}), "domain: NewFinite: f has size -1"},
		{unread(math.MaxInt, domain.FiniteOptions{Separation: 1}), "domain: NewFinite: needs"},
		{unread(1<<16, domain.FiniteOptions{Arity: 1 << 15}), "domain: NewFinite: needs"},
		{testkit.Err(domain.NewTaxonomy(t.Context(), new(metric.Tree), nil)), "domain: NewTaxonomy: t: empty input"},
		{testkit.Err(domain.NewFinite(t.Context(), samples.Line(), nil)), "domain: NewFinite: f: empty input"},
		{testkit.Err(domain.NewFinite(t.Context(), samples.Line(1, nan, 3), &domain.FiniteOptions{Arity: 2})), "domain: NewFinite: distance of point 0[1] = NaN"},
		{testkit.Err(domain.NewUltrametric(t.Context(), nil, nil)), "domain: NewUltrametric: f: empty input"},
		{testkit.Err(domain.Labels(points, []string{"a"})), "domain: Labels: labels has size 1, want 20"},
		{testkit.Err(domain.Labels(pair, []string{"a", "a"})), "domain: Labels: labels[1] = 0, want a label that no"},
		{testkit.Err(domain.On(t.Context(), pair, f)), "domain: On: p has size 20, want 2"},
	})
	if err := cell(samples.Unit(1, domain.BoxOptions{Depth: 2}), inf); err != nil {
		t.Errorf("clipping +Inf: %v", err)
	}
}

// Domains and points that no constructor made are refused, as receivers and as arguments.
func TestZeroValues_Refuse(t *testing.T) {
	const made = "NewBox, NewSphere, NewFinite, NewUltrametric, NewTaxonomy or NewFolded"
	testkit.Unmade[domain.Domain[[]float64]](t, made)
	pair := testkit.Must(domain.NewFinite(t.Context(), samples.Line(1, 2), nil))
	for _, d := range []*domain.Domain[int]{nil, {}} {
		for _, err := range []error{testkit.Err(domain.On(t.Context(), d, samples.Points(2, 1, 1))), testkit.Err(domain.Labels[int](d, nil))} {
			if err == nil || !strings.Contains(err.Error(), made) {
				t.Error(err)
			}
		}
	}
	for _, p := range []*metric.Points[[]float64]{nil, {}} {
		if err := testkit.Err(domain.On(t.Context(), pair, p)); err == nil || !strings.Contains(err.Error(), "p has size 0, want 2") {
			t.Error(err)
		}
	}
}

package domain_test

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/samples"
	"github.com/metricdp/metricdp/metric"
)

func TestDomain_CellOfPoint(t *testing.T) {
	check := func(name string, n int, back func(c int) (int, error)) {
		for c := range n {
			if got, err := back(c); err != nil || got != c {
				t.Fatalf("%s: the point of cell %d is in cell %d, %v", name, c, got, err)
			}
		}
	}
	for name, d := range samples.Domains() {
		check(name, d.Len(), func(c int) (int, error) { return d.Cell(d.Point(c)) })
		if d.Tree().Len() != d.Len() {
			t.Errorf("%s: %d cells, a tree of %d leaves", name, d.Len(), d.Tree().Len())
		}
	}
	r := random.Seeded(1)
	boxes := []*domain.Domain[[]float64]{
		samples.Unit(1, domain.BoxOptions{Depth: 9}),
		samples.Unit(2, domain.BoxOptions{Depth: 4}),
		samples.Unit(3, domain.BoxOptions{Depth: 4}),
		testkit.Must(domain.NewBox([]domain.Column{{Lo: -5, Hi: 100, Weight: .01}, {Categories: 7}, {Hi: 3}}, &domain.BoxOptions{Depth: 4, P: 1})),
		testkit.Must(domain.NewBox([]domain.Column{{Categories: 3}, {Categories: 4, Weight: 2}}, nil)),
	}
	for _, d := range boxes {
		check(d.String(), d.Len(), func(c int) (int, error) { return d.Cell(d.Point(c)) })
		check(d.String(), d.Len(), func(c int) (int, error) { return d.Cell(d.Jitter(r, c)) })
	}
	for _, o := range []domain.SphereOptions{{Depth: 4}, {Depth: 7}, {Depth: 1}, {Depth: 5.3}} {
		d := testkit.Must(domain.NewSphere(0, &o))
		check(d.String(), d.Len(), func(c int) (int, error) { return d.Cell(d.Point(c)) })
		check(d.String(), d.Len(), func(c int) (int, error) { return d.Cell(d.Jitter(r, c)) })
		worst := 0.0
		for range 20000 {
			c := r.IntN(d.Len())
			worst = max(worst, d.Distance(d.Jitter(r, c), d.Point(c)))
		}
		if worst > d.Resolution() || worst < 0.6*d.Resolution() {
			t.Errorf("%v: farthest from a center %v, resolution %v", d, worst, d.Resolution())
		}
	}
}

// The cells of a Separation are the points of a net: farther from each other
// than that, and no record farther from its own.
func TestSeparation_CellsAreANet(t *testing.T) {
	const s = 0.2
	f := samples.Points(300, 2, 12)
	for name, d := range map[string]*domain.Domain[int]{
		"net tree": testkit.Must(domain.NewFinite(t.Context(), f, &domain.FiniteOptions{Separation: s})),
		"folded":   testkit.Must(domain.NewFolded(t.Context(), f, &domain.FoldedOptions{Separation: s})),
	} {
		for a := range d.Len() {
			for b := range a {
				if near := f.Distance(d.Point(a), d.Point(b)); near <= s {
					t.Errorf("%s: cells %d and %d are %v apart", name, a, b, near)
				}
			}
		}
		for i := range f.Len() {
			if far := f.Distance(i, d.Point(testkit.Must(d.Cell(i)))); far > s || far > d.Resolution() {
				t.Errorf("%s: record %d is %v from its cell, resolution %v", name, i, far, d.Resolution())
			}
		}
	}
}

// No two points are nearer on the folded line.
func TestFolded_LengthensDistances(t *testing.T) {
	testkit.Rounding(t)
	for _, o := range []domain.FoldedOptions{{}, {Tour: true}, {Arity: 8, Separation: 0.05}} {
		d := testkit.Must(domain.NewFolded(t.Context(), samples.Points(80, 2, 5), &o))
		line := testkit.Must(samples.Inside(d).Explicit("")).Line
		for i := range d.Len() {
			for j := range i {
				if line[i]-line[j] < d.Distance(d.Point(i), d.Point(j)) {
					t.Fatalf("%+v: cells %d and %d come nearer", o, i, j)
				}
			}
		}
	}
}

// The diameter is the largest distance between points of cells, for every kind of domain.
func TestDiameter_IsTheLargestDistance(t *testing.T) {
	for name, d := range samples.Domains() {
		isTheLargestDistance(t, name, d)
	}
	clouds := samples.Points(200, 2, 3)
	for name, o := range map[string]domain.FoldedOptions{"Hilbert": {}, "tour": {Tour: true}, "net": {Separation: 0.3}} {
		d := testkit.Must(domain.NewFolded(t.Context(), clouds, &o))
		isTheLargestDistance(t, name, d)
		isTheLargestDistance(t, name+" on", testkit.Must(domain.On(t.Context(), d, clouds)))
	}
	for _, p := range []float64{0, 1, 2} {
		o := domain.BoxOptions{Depth: 4, P: p}
		columns := []domain.Column{{Hi: 2, Weight: 3}, {Categories: 3}, {Lo: -1, Hi: 1}, {Categories: 1, Weight: 9}}
		isTheLargestDistance(t, "line", testkit.Must(domain.NewBox(columns[:1], &o)))
		isTheLargestDistance(t, "box", testkit.Must(domain.NewBox(columns, &o)))
		isTheLargestDistance(t, "categories", testkit.Must(domain.NewBox(columns[1:2], &o)))
	}
	isTheLargestDistance(t, "sphere", testkit.Must(domain.NewSphere(7, &domain.SphereOptions{Depth: 4})))
}

func isTheLargestDistance[P any](t *testing.T, name string, d *domain.Domain[P]) {
	t.Helper()
	points := make([]P, d.Len())
	largest := 0.0
	for c := range points {
		points[c] = d.Point(c)
		for _, q := range points[:c] {
			largest = max(largest, d.Distance(q, points[c]))
		}
	}
	if x := d.Diameter(); x > largest*(1+1e-12) || x < largest {
		t.Errorf("%s: the diameter of %v is %v, the largest distance %v", name, d, x, largest)
	}
}

// Moving measures to cells contracts total variation (BSV22, Lemma 5.3).
func TestWeights_ContractTV(t *testing.T) {
	r := random.Seeded(3)
	f := samples.Points(30, 2, 7)
	for _, delta := range []float64{0, 0.2, 0.5} {
		d := testkit.Must(domain.NewFinite(t.Context(), f, &domain.FiniteOptions{Separation: delta}))
		all := random.Seeded(1).Perm(f.Len())
		for range 50 {
			a, b := testkit.Distribution(r, f.Len(), nil), testkit.Distribution(r, f.Len(), nil)
			before := (metric.TotalVariation{}).Distance(a, b)
			after := (metric.TotalVariation{}).Distance(testkit.Must(d.Weights(all, a)), testkit.Must(d.Weights(all, b)))
			if after > before*(1+1e-12) {
				t.Fatalf("delta %v: TV %v became %v", delta, before, after)
			}
		}
	}
}

// Uniform points of the sphere must fall into all cells alike: with 48 cells and
// 200,000 points, a z-score above 6 has probability 1e-7 for all together.
func TestSphere_EqualAreas(t *testing.T) {
	d := testkit.Must(domain.NewSphere(1, &domain.SphereOptions{Depth: 3}))
	n := make([]float64, d.Len())
	r := random.Seeded(3)
	const draws = 200000
	for range draws {
		p := metric.LatLon{Lat: math.Asin(2*r.Float64()-1) * 180 / math.Pi, Lon: 720*r.Float64() - 360}
		n[testkit.Must(d.Cell(p))]++
	}
	want := draws / float64(len(n))
	for c, k := range n {
		if math.Abs(k-want) > 6*math.Sqrt(want) {
			t.Errorf("cell %d has %v points, %v expected", c, k, want)
		}
	}
	for _, p := range []metric.LatLon{{Lat: 90}, {Lat: -90, Lon: 400}, {Lon: -1e-300}} {
		testkit.Must(d.Cell(p))
	}
	if a, b := testkit.Must(d.Cell(metric.LatLon{Lat: 10, Lon: 180})), testkit.Must(d.Cell(metric.LatLon{Lat: 10, Lon: -180})); a != b {
		t.Error("the date line divides a place from itself")
	}
}

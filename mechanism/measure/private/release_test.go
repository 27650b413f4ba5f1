package private

import (
	"context"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/samples"
	"github.com/metricdp/metricdp/metric"
)

// All estimates but Signed are probability measures of multiples of 2^-52 that sum to 1 exactly,
// in any order, on every kind of tree, however much noise there is; with next to none every estimate
// returns the data.
func TestRelease_MassExactlyOne(t *testing.T) {
	r := random.Seeded(1)
	odd := false
	for name, d := range samples.Domains() {
		for _, est := range []Estimator{Weighted, Nearest} {
			for _, alpha := range []float64{30, 1e-50, 1e-20, 1e-12, 1e50} {
				m := testkit.Must(New(d, alpha, &Options{Estimator: est}))
				finest, err := samples.Mass(testkit.Must(m.Release(r, testkit.Distribution(r, d.Len(), nil))))
				if odd = odd || finest; err != nil {
					t.Errorf("%s, alpha %v, estimate %v: %v", name, alpha, est, err)
				}
			}
		}
		for _, est := range []Estimator{Weighted, Nearest, Signed} {
			mu := make([]float64, d.Len())
			mu[d.Len()/2] = 1
			p := testkit.Must(testkit.Must(New(d, 1e12, &Options{Estimator: est})).Release(r, mu))
			for cell, w := range p {
				if math.Abs(w-mu[cell]) > 1e-9 {
					t.Fatalf("%s, estimate %v: measure %v at %d", name, est, w, cell)
				}
			}
		}
	}
	if !odd {
		t.Error("all weights are multiples of 2^-51")
	}
}

// Above nearestExact cells the nearest measure is that of the tree metric.
func TestNearest_ManyCells(t *testing.T) {
	d := samples.Unit(2, domain.BoxOptions{Depth: 6})
	m := testkit.Must(New(d, 20000, &Options{Estimator: Nearest}))
	x, s := samples.Uniform(2)(random.Seeded(2), 20000), random.Seeded(3)
	for i := range x[:7000] {
		x[i] = []float64{.4 + .02*s.NormFloat64(), .8 + .02*s.NormFloat64()}
	}
	weights := testkit.Must(m.Release(random.Seeded(1), testkit.Must(d.Weights(x, nil))))
	sum, near := 0.0, 0.0
	for c, w := range weights {
		sum += w
		if x := d.Point(c); math.Hypot(x[0]-.4, x[1]-.8) < 0.1 {
			near += w
		}
	}
	if sum != 1 || math.Abs(near-0.37) > 0.05 {
		t.Errorf("mass %v, of it %v within 0.1 of a cluster of 0.35", sum, near)
	}
}

// The Nearest estimate is no farther from the Signed one, made of the same
// noise, than other measures are: random ones, and the default estimate.
func TestNearest_Optimal(t *testing.T) {
	f := testkit.Must(metric.Densify(t.Context(), samples.Points(40, 2, 8)))
	for _, d := range []*domain.Domain[int]{testkit.Must(domain.NewFinite(t.Context(), f, nil)), testkit.Must(domain.NewFolded(t.Context(), f, &domain.FoldedOptions{Tour: true}))} {
		dist := metric.Finite(testkit.Must(d.Points()))
		if line := testkit.Must(samples.Inside(d).Explicit("")).Line; line != nil {
			dist = samples.Line(line...)
		}
		r := random.Seeded(4)
		mu := testkit.Distribution(r, d.Len(), nil)
		release := func(e Estimator) []float64 {
			m := testkit.Must(New(d, 100, &Options{Estimator: e}))
			return testkit.Must(m.Release(random.Seeded(5), mu))
		}
		g := release(Signed)
		best := signedW1(t, dist, g, release(Nearest))
		if other := signedW1(t, dist, g, release(Weighted)); other < best-1e-9 {
			t.Errorf("%v: the default is at %v, nearest at %v", d, other, best)
		}
		for range 100 {
			if other := signedW1(t, dist, g, testkit.Distribution(r, len(g), nil)); other < best-1e-9 {
				t.Errorf("%v: some measure is at %v, nearest at %v", d, other, best)
			}
		}
	}
}

// What is refused, and how: each error begins with what is given. Values that no constructor
// made release nothing and promise nothing.
func TestErrors(t *testing.T) {
	const made = "a Domain that is not from NewBox, NewSphere, NewFinite, NewUltrametric, NewTaxonomy or NewFolded"
	testkit.Unmade[Measure](t, "New")
	d := samples.Unit(1, domain.BoxOptions{Splits: [][]int{{4}, {2}}})
	m := testkit.Must(New(d, 1, nil))
	stopped, stop := context.WithCancel(t.Context())
	stop()
	testkit.Refused(t, [][3]any{
		{testkit.Err(New[int](nil, 1, nil)), "private: New: " + made},
		{testkit.Err(New(new(domain.Domain[int]), 1, nil)), "private: New: " + made},
		{testkit.Err(New(d, 0, nil)), "private: New: alpha = 0"},
		{testkit.Err(New(d, 1e-300, nil)), "private: New: alpha = 1e-300"},
		{testkit.Err(New(samples.Unit(1, domain.BoxOptions{}), 1, nil)), "private: New: needs"},
		{testkit.Err(New(d, 1, &Options{Scales: make([]float64, 7)})), "private: New: Scales has size 7"},
		{testkit.Err(New(d, 1, &Options{Scales: []float64{1, 0}})), "private: New: Scales[1] = 0"},
		{testkit.Err(New(d, 1, &Options{Estimator: 3})), "private: New: Estimator = 3"},
		{testkit.Err(m.LowerBound(stopped)), "", context.Canceled},
		{testkit.Err(m.Release(nil, []float64{1})), "private: Measure.Release: weights, want size 8"},
		{testkit.Err(m.Release(nil, make([]float64, d.Len()))), "private: Measure.Release: walk: Walk.AddShares: sum of weights, want a finite number > 0"},
	})
}

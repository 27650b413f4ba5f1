package chain

import (
	"fmt"
	"math"
	"testing"

	"github.com/metricdp/metricdp/entropy/families"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/private"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
)

// TestChain_PrivateMeasures: no mechanism can do better than the lower bound of
// package entropy, the bound of package private is above that, and the error
// that is measured is below it.
//
// What is measured is a mean over releases at fixed seeds. It has to stay six
// standard errors below its bound; the means are at most 0.44 of it, and ten
// standard errors and more below. At other seeds a test of the means alone,
// without the six, would fail with a probability far below 1e-6.
func TestChain_PrivateMeasures(t *testing.T) {
	n, repeats := testkit.Sweep(12, 60), testkit.Sweep(60, 400)
	var most tightest
	for _, s := range corpus(t, n) {
		if !s.OneMetric() {
			continue
		}
		f := s.Utility
		diameter, _, _, _ := metric.Diameter(t.Context(), f)
		folded := testkit.Must(domain.NewFolded(t.Context(), f, nil))
		tree := testkit.Must(domain.NewFinite(t.Context(), f, nil))
		for _, d := range []*domain.Domain[int]{folded, tree} {
			for _, alpha := range []float64{1, 100, 1e4} {
				name := fmt.Sprintf("%s, %v, alpha=%g", s.name, d, alpha)
				m := testkit.Must(private.New(d, alpha, &private.Options{Estimator: private.Nearest}))
				b := testkit.Must(m.Bound(t.Context(), nil))
				floor := testkit.Must(families.PrivateMeasureBound(t.Context(), f, alpha))
				if p, err := floor.Prove(t.Context(), f, alpha); p != floor.Value || err != nil {
					t.Errorf("%s: %v is proved %v (%v)", name, floor.Value, p, err)
				}
				if !(floor.Value <= diameter/2 && floor.Value <= b.Nearest && b.Lower <= b.Nearest) {
					t.Errorf("%s: at least %v or %v, at most %v, diameter %v", name, floor.Value, b.Lower, b.Nearest, diameter)
				}
				if g := m.Guarantee(); g.Alpha() > alpha || g.Delta() != 0 {
					t.Errorf("%s: %v", name, g)
				}
				release := func(seed uint64, mu []float64) []float64 {
					return testkit.Must(m.Release(random.Seeded(seed), mu))
				}
				most.measure(t, name, d, b.Nearest, repeats, release)
			}
			synthesise(t, s.name, d)
		}
	}
	t.Logf("the largest mean is %.3f of its bound, the nearest %.1f standard errors away", most.ratio, 1/most.errors)
}

// tightest is how close measured errors came to their bounds: the largest
// quotient, and the standard error over the distance from the bound.
type tightest struct{ ratio, errors float64 }

// synthesise compares lower bounds on data sets with what the paper's construction
// attains.
func synthesise(t *testing.T, name string, d *domain.Domain[int]) {
	const records = 1000
	f := testkit.Must(d.Points())
	for _, eps := range []float64{0.01, 1} {
		m := testkit.Must(private.New(d, records*eps, &private.Options{Estimator: private.Nearest}))
		b := testkit.Must(m.Bound(t.Context(), &private.BoundOptions{Draws: -1}))
		s := testkit.Must(measure.NewSynthesizer(d, eps, nil))
		least := testkit.Must(s.LowerBound(t.Context(), records))
		floor := testkit.Must(families.PrivateDataBound(t.Context(), f, records, eps))
		if !(floor.Value <= b.Nearest && least <= b.Nearest && s.Guarantee().Alpha() <= eps) {
			t.Errorf("%s, %v, %d records at eps=%g: at least %v or %v, at most %v; %v", name, d, records, eps, floor.Value, least, b.Nearest, s.Guarantee())
		}
	}
}

// measure compares the mean W1 error of releases of a few measures, in whole
// thousandths, with its bound.
func (w *tightest) measure(t *testing.T, name string, d *domain.Domain[int], bound float64, repeats int, release func(seed uint64, mu []float64) []float64) {
	t.Helper()
	f := testkit.Must(d.Points())
	n := d.Len()
	r := random.Seeded(4)
	inputs := [][]float64{make([]float64, n), make([]float64, n)}
	inputs[0][0] = 1 // all in one place, and spread out
	for range 1000 {
		inputs[1][r.IntN(n)]++
	}
	for i := range n {
		inputs[1][i] /= 1000
	}
	for k, mu := range inputs {
		var sum, squares float64
		for seed := range repeats {
			res := testkit.Must(wasserstein.W1(t.Context(), f, mu, release(uint64(seed), mu), nil))
			sum += res.Cost
			squares += res.Cost * res.Cost
		}
		mean := sum / float64(repeats)
		se := math.Sqrt(max(0, squares/float64(repeats)-mean*mean) / float64(repeats-1))
		if bound == 0 {
			if mean != 0 {
				t.Errorf("%s, input %d: error %v, bound 0", name, k, mean)
			}
			continue
		}
		w.ratio = max(w.ratio, mean/bound)
		w.errors = max(w.errors, se/(bound-mean))
		if !(mean+6*se <= bound) {
			t.Errorf("%s, input %d: error %v +- %v, bound %v", name, k, mean, se, bound)
		}
	}
}

// TestChain_MeasureNet: data sets of m records on a few points are themselves a
// bimetric space, of total variation and W1. The optimum there, with outputs
// among the data sets, is no less than the bound for all private measures, and
// no more than what releasing one of them whatever the data loses.
func TestChain_MeasureNet(t *testing.T) {
	for _, c := range []struct {
		f metric.Finite
		m int
	}{{space.Path(3, 1), 4}, {space.Simplex(3, 1), 4}, {space.Path(2, 5), 12}, {cities(t, 4), 3}} {
		net := testkit.Must(families.MeasureNet(t.Context(), c.f, c.m))
		tv := testkit.Must(net.TotalVariation(t.Context()))
		w1 := testkit.Must(net.Wasserstein(t.Context(), nil))
		for _, eps := range []float64{0.1, 1, 4} {
			opt := testkit.Must(lp.Optimal(t.Context(), metric.Bimetric{Privacy: tv, Utility: w1}, eps*float64(c.m), nil))
			floor := testkit.Must(families.PrivateDataBound(t.Context(), c.f, c.m, eps))
			radius, _, _ := metric.Radius(t.Context(), w1)
			if !(0 < floor.Value && floor.Value <= opt.Objective && opt.DualBound <= radius) {
				t.Errorf("%d measures, eps=%g: bound %v, optimum [%v, %v], radius %v", net.Len(), eps, floor.Value, opt.DualBound, opt.Objective, radius)
			}
		}
	}
}

// TestChain_LineMinimax: what entropy takes for the optimum on an interval, in its
// bounds for distributions, is proved by the linear programs of points on it. A
// distribution on two points at distance 1 is a number in [0,1].
func TestChain_LineMinimax(t *testing.T) {
	betas := []float64{.1, 1, 2.25, 6, 16}
	if long() {
		betas = []float64{.1, .25, .5, .75, 1, 1.25, 1.5, 1.75, 2, 2.25, 2.5, 3, 3.5, 4, 5, 6, 8, 11, 16}
	}
	two, line := space.Path(2, 1), testkit.Must(metric.Scaled(space.Path(33, 1), 1./32))
	for _, beta := range betas {
		w := testkit.Must(families.PrivateTransportBound(t.Context(), two, beta))
		opt := testkit.Must(lp.Optimal(t.Context(), metric.Same(line), beta, &lp.Options{Tolerance: 1e-8}))
		if !(w.Value <= opt.DualBound && w.Value >= opt.Objective*(1-1e-4)) {
			t.Errorf("level %v: %v, the program is in [%v, %v]", beta, w.Value, opt.DualBound, opt.Objective)
		}
	}
}

package families_test

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/entropy/families"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// On 2m points at mutual distance t the bound is at least t/(2+alpha/m). Two points' measures are
// numbers in [0,1], on which Laplace noise cut off at the ends loses (1-e^(-alpha/2))/alpha.
func TestPrivateMeasureBound_ClosedForm(t *testing.T) {
	for _, n := range []int{2, 4, 16, 64} {
		for _, alpha := range []float64{1e-9, 1, 10, 1000} {
			const d = 3
			want := d / (2 + 2*alpha/float64(n))
			got, err := families.PrivateMeasureBound(t.Context(), space.Simplex(n, d), alpha)
			most := d / 2.
			if n == 2 {
				most = -d * math.Expm1(-alpha/2) / alpha
			}
			if err != nil || got.Value > most || got.Value < want*(1-1e-9) {
				t.Errorf("%d points, alpha %v: %v (%v), want %v", n, alpha, got.Value, err, want)
			}
		}
	}
	// A data set of one record is a point, and a mechanism for it one on the
	// space: the pairs' bound.
	f := space.Euclidean([][]float64{{0}, {3}})
	got, err := families.PrivateDataBound(t.Context(), f, 1, 0.5)
	if want := 3 / (1 + math.Exp(0.5)); err != nil || math.Abs(got.Value/want-1) > 1e-9 || got.Records != 1 || len(got.Pairs) != 1 {
		t.Errorf("%+v (%v), want %v", got, err, want)
	}
}

// The bound falls with alpha, its witness proves it again, and on a grid of K
// points with gaps t it is of the order t*min(1, K/alpha) at every scale.
func TestPrivateMeasureBound_Laws(t *testing.T) {
	f := space.Path(128, 1)
	last := math.Inf(1)
	for alpha := 1e-3; alpha < 1e5; alpha *= 2 {
		m := testkit.Must(families.PrivateMeasureBound(t.Context(), f, alpha))
		if !(m.Value < last && m.Value <= 127./2) {
			t.Errorf("alpha %v: %v after %v", alpha, m.Value, last)
		}
		last = m.Value
		if v, err := m.Prove(t.Context(), f, alpha); v != m.Value || err != nil {
			t.Errorf("alpha %v: %v is proved %v (%v)", alpha, m.Value, v, err)
		}
		for k := 2; k <= 128; k *= 2 {
			gap := 127. / float64(k-1)
			if floor := math.Floor(gap) * math.Min(0.25, 0.1*float64(k)/alpha); m.Value < floor {
				t.Errorf("alpha %v: %v, from %d points %v", alpha, m.Value, k, floor)
			}
		}
		for _, records := range []int{1, 10, 1000} {
			d, err := families.PrivateDataBound(t.Context(), f, records, alpha/float64(records))
			// Its mechanisms serve data sets, so that either bound is one on them.
			if err != nil || d.Value > m.Value*1.04 {
				t.Errorf("alpha %v: %v for %d records, %v for measures (%v)", alpha, d.Value, records, m.Value, err)
			}
			if v, err := d.Prove(t.Context(), f, alpha/float64(records)*float64(records)); math.Abs(v-d.Value) > 1e-9*v || err != nil {
				t.Errorf("alpha %v, %d records: %v is proved %v (%v)", alpha, records, d.Value, v, err)
			}
			if d.Records != records || len(d.Pairs) > records {
				t.Errorf("%d pairs in %d of %d records", len(d.Pairs), d.Records, records)
			}
		}
	}
}

// On the best of small grids the general search finds about what the cube's bound is, and on
// none much more. It has the order of Corollaries 9.3 and 9.4 of BSV22.
func TestPrivateCubeBound_IsThatOfGrids(t *testing.T) {
	for dim := 1; dim <= 3; dim++ {
		for _, n := range []int{0, 1, 10, 30} {
			for _, eps := range []float64{.1, 1, 20} {
				cube, found := testkit.Must(families.PrivateCubeBound(dim, n, eps)), 0.0
				for side := 2; math.Pow(float64(side), float64(dim)) <= 64; side++ {
					at := [][]float64{{}}
					for range dim {
						var next [][]float64
						for _, x := range at {
							for i := range side {
								next = append(next, append(x[:len(x):len(x)], float64(i)/float64(side-1)))
							}
						}
						at = next
					}
					f := testkit.Must(metric.NewPoints(at, metric.Chebyshev{}))
					w := testkit.Must(families.PrivateMeasureBound(t.Context(), f, eps))
					if n > 0 {
						w = testkit.Must(families.PrivateDataBound(t.Context(), f, n, eps))
					}
					found = max(found, w.Value)
				}
				if found > cube*1.08 || n < 30 && eps <= 1 && found < cube*.9 {
					t.Errorf("%d dimensions, %d records, eps %v: %v on grids, %v in the cube", dim, n, eps, found, cube)
				}
			}
		}
		order := math.Pow(100, 1/float64(dim))
		for _, n := range []int{0, 1} {
			a, b := testkit.Must(families.PrivateCubeBound(dim, n*1000, 1000-float64(n*999))), testkit.Must(families.PrivateCubeBound(dim, n*100_000, 1e5-float64(n*99_999)))
			if q := a / b / order; q < .7 || q > 1.3 {
				t.Errorf("%d dimensions: %v falls to %v, by %v of its order", dim, a, b, q)
			}
		}
	}
	for _, c := range []struct {
		dim, records int
		eps          float64
	}{{0, 1, 1}, {1, -1, 1}, {1, 1, 0}, {1, 1, math.NaN()}} {
		if v, err := families.PrivateCubeBound(c.dim, c.records, c.eps); err == nil {
			t.Errorf("%+v: %v", c, v)
		}
	}
	if v, err := families.PrivateCubeBound(math.MaxInt, math.MaxInt, 1e300); v != 0 || err != nil {
		t.Error(v, err)
	}
}

// No mechanism on the data sets of a grid loses less than the bound, which two points attain.
func TestPrivateCubeBound_IsBelowOptimaOfGrids(t *testing.T) {
	for _, c := range []struct {
		dim, side, records int
		near               float64
	}{{1, 2, 1, .999}, {1, 2, 3, .97}, {1, 2, 6, .97}, {1, 5, 2, .9}, {1, 4, 3, .84}, {2, 2, 2, .6}, {2, 3, 1, .5}, {3, 2, 1, .37}} {
		at := [][]float64{{}}
		for range c.dim {
			var next [][]float64
			for _, x := range at {
				for i := range c.side {
					next = append(next, append(x[:len(x):len(x)], float64(i)/float64(c.side-1)))
				}
			}
			at = next
		}
		net := testkit.Must(families.MeasureNet(t.Context(), testkit.Must(metric.NewPoints(at, metric.Chebyshev{})), c.records))
		b := metric.Bimetric{Privacy: testkit.Must(net.TotalVariation(t.Context())), Utility: testkit.Must(net.Wasserstein(t.Context(), nil))}
		for _, eps := range []float64{.01, .3, 1} {
			best := testkit.Must(lp.Optimal(t.Context(), b, eps*float64(c.records), nil))
			if v := testkit.Must(families.PrivateCubeBound(c.dim, c.records, eps)); v > best.Objective || v < c.near*best.DualBound {
				t.Errorf("%+v, eps %v: %v, the optimum is in [%v, %v]", c, eps, v, best.DualBound, best.Objective)
			}
		}
	}
}

// Data sets of K records on two points at distance 1 are a path of K gaps of length 1/K.
// Known answers: the optima of its linear program, in gaps and rounded down, to which the
// bound comes within 4 %; and a thousand times as many records in gaps of a thousandth,
// which prove more, and at most a tenth.
func TestPrivateDataBound_KnownAnswers(t *testing.T) {
	two := space.Path(2, 1)
	for _, c := range []struct {
		eps    float64
		optima [8]float64
	}{
		{.1, [8]float64{.4750, .9089, 1.3050, 2.0049, 2.8771, 3.7996, 5.1291, 6.2324}},
		{.5, [8]float64{.3775, .6574, .8512, 1.1260, 1.3736, 1.5603, 1.7435, 1.8362}},
		{1, [8]float64{.2689, .4597, .5563, .6837, .7742, .8205, .8457, .8503}},
		{2, [8]float64{.1192, .2161, .2389, .2662, .2746, .2756, .2757, .2757}},
	} {
		for i, k := range []int{1, 2, 3, 5, 8, 12, 20, 30} {
			w := testkit.Must(families.PrivateDataBound(t.Context(), two, k, c.eps))
			if gaps := w.Value * float64(k); gaps > c.optima[i]+1e-4 || gaps < c.optima[i]*.96 {
				t.Errorf("eps %v, %d records: %v, the optimum is %v", c.eps, k, gaps, c.optima[i])
			}
		}
	}
	for _, eps := range []float64{1e-4, 1e-2, 1, 10, 50, 600} {
		many := max(math.MaxInt>>23, 1<<30) // discrete Laplace noise is optimal
		w := testkit.Must(families.PrivateDataBound(t.Context(), two, many, eps))
		if noise := w.Value * float64(many) * math.Sinh(eps); noise > 1 || noise < 1-1e-6-2/(eps*float64(many)) {
			t.Errorf("eps %v: %v of what noise loses", eps, noise)
		}
	}
	for _, eps := range []float64{1e-3, 1e-2, 1e-1} {
		for _, k := range []int{129, 1000, 4097, 1 << 20} {
			w := testkit.Must(families.PrivateDataBound(t.Context(), two, k, eps))
			all := testkit.Must(families.PrivateMeasureBound(t.Context(), two, float64(k)*eps))
			if q := w.Value / all.Value; q > 1.07 || q < .93 {
				t.Errorf("eps %v, %d records: %v, for all measures %v", eps, k, w.Value, all.Value)
			}
		}
	}
}

// All data sets of a few records on a few points, under total variation and W1: no mechanism on
// that finite space loses less than the bound, and no witness proves more.
func TestPrivateDataBound_Chain(t *testing.T) {
	r := random.Seeded(3)
	for _, size := range [][2]int{{2, 6}, {3, 4}, {4, 4}} {
		n, records := size[0], size[1]
		f := space.Uniform(n, r)
		net := testkit.Must(families.MeasureNet(t.Context(), f, records))
		tv := testkit.Must(net.TotalVariation(t.Context()))
		w1 := testkit.Must(net.Wasserstein(t.Context(), nil))
		b := metric.Bimetric{Privacy: tv, Utility: w1}
		for _, eps := range []float64{0.05, 0.5, 2} {
			alpha := eps * float64(records)
			best := testkit.Must(exponential.Best(t.Context(), b, alpha, nil))
			m := testkit.Must(families.PrivateDataBound(t.Context(), f, records, eps))
			if !(m.Value > 0 && m.Value <= best.Objective) {
				t.Errorf("%d points, %d records, eps %v: bound %v, a mechanism loses %v", n, records, eps, m.Value, best.Objective)
			}
			for range 30 {
				perm := r.Perm(n)
				var w families.MeasureBound
				for k := range 1 + r.IntN(n/2) {
					w.Pairs = append(w.Pairs, [2]int{perm[2*k], perm[2*k+1]})
				}
				w.Records = records
				if v, err := w.Prove(t.Context(), f, alpha); err != nil || v > best.Objective {
					t.Errorf("%+v proves %v (%v), a mechanism loses %v", w, v, err, best.Objective)
				}
			}
		}
	}
}

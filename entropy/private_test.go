package entropy_test

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// The best multiple of 1/(1+e^u) has u = 1.27846..., and is 0.27846.
const bestU = 1.2784645427610738

// On 2m points at mutual distance t the bound is at least t*w/(1+e^(alpha*w/m)) at
// the best w. Two points' measures are numbers in [0,1], on which Laplace noise
// cut off at the ends loses (1-e^(-alpha/2))/alpha.
func TestPrivateMeasureBound_ClosedForm(t *testing.T) {
	for _, n := range []int{2, 4, 16, 64} {
		for _, alpha := range []float64{1e-9, 1, 10, 1000} {
			const d = 3
			w := math.Min(1, bestU*float64(n/2)/alpha)
			want := d * w / (1 + math.Exp(2*alpha*w/float64(n)))
			got, err := entropy.PrivateMeasureBound(t.Context(), space.Simplex(n, d), alpha)
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
	got, err := entropy.PrivateDataBound(t.Context(), f, 1, 0.5)
	if want := 3 / (1 + math.Exp(0.5)); err != nil || math.Abs(got.Value/want-1) > 1e-9 || got.Records != 1 {
		t.Errorf("%+v (%v), want %v", got, err, want)
	}
}

// The bound falls with alpha, its witness proves it again, and on a grid of K
// points with gaps t it is of the order t*min(1, K/alpha) at every scale.
func TestPrivateMeasureBound_Laws(t *testing.T) {
	f := space.Path(128, 1)
	last := math.Inf(1)
	for alpha := 1e-3; alpha < 1e5; alpha *= 2 {
		m := testkit.Must(entropy.PrivateMeasureBound(t.Context(), f, alpha))
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
			d, err := entropy.PrivateDataBound(t.Context(), f, records, alpha/float64(records))
			if err != nil || d.Value > m.Value*(1+1e-9) {
				t.Errorf("alpha %v: %v for %d records, %v for measures (%v)", alpha, d.Value, records, m.Value, err)
			}
			if v, err := d.Prove(t.Context(), f, alpha/float64(records)*float64(records)); math.Abs(v-d.Value) > 1e-9*v || err != nil {
				t.Errorf("alpha %v, %d records: %v is proved %v (%v)", alpha, records, d.Value, v, err)
			}
			if d.Records > 0 && d.Records*len(d.Pairs) > records {
				t.Errorf("%d pairs of %d in %d records", len(d.Pairs), d.Records, records)
			}
		}
	}
}

// All data sets of a few records on a few points, under total variation and W1:
// no mechanism on that finite space loses less than the bound, and no witness
// proves more.
func TestPrivateDataBound_Chain(t *testing.T) {
	r := random.Seeded(3)
	for _, size := range [][2]int{{2, 6}, {3, 4}, {4, 4}} {
		n, records := size[0], size[1]
		f := uniform(t, r, n)
		net := testkit.Must(entropy.MeasureNet(t.Context(), f, records))
		tv := testkit.Must(net.TotalVariation(t.Context()))
		w1 := testkit.Must(net.Wasserstein(t.Context(), nil))
		b := metric.Bimetric{Privacy: tv, Utility: w1}
		for _, eps := range []float64{0.05, 0.5, 2} {
			alpha := eps * float64(records)
			best := testkit.Must(exponential.Best(t.Context(), b, alpha, nil))
			m := testkit.Must(entropy.PrivateDataBound(t.Context(), f, records, eps))
			if !(m.Value > 0 && m.Value <= best.Objective) {
				t.Errorf("%d points, %d records, eps %v: bound %v, a mechanism loses %v", n, records, eps, m.Value, best.Objective)
			}
			for range 30 {
				perm := r.Perm(n)
				var w entropy.MeasureBound
				for k := range 1 + r.IntN(n/2) {
					w.Pairs = append(w.Pairs, [2]int{perm[2*k], perm[2*k+1]})
				}
				w.Records = 1 + r.IntN(records/len(w.Pairs))
				w.Beta = eps * float64(w.Records)
				if v, err := w.Prove(t.Context(), f, alpha); err != nil || v > best.Objective {
					t.Errorf("%+v proves %v (%v), a mechanism loses %v", w, v, err, best.Objective)
				}
			}
		}
	}
}

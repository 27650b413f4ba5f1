package chain

import (
	"fmt"
	"math"
	"testing"

	"github.com/metricdp/metricdp/entropy/families"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/private"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
)

// TestChain_PrivateMeasures: no mechanism can do better than the lower bounds of package
// families, the bound of package private is above those, and the error that is measured, all
// mass in one place or spread out, is below it; so for data sets, of 1000 records.
//
// What is measured is a mean over releases at fixed seeds. It has to stay six standard errors
// below its bound; the means are at most 0.44 of it, and ten standard errors and more below.
// At other seeds a test of the means alone, without the six, would fail with a probability
// far below 1e-6.
func TestChain_PrivateMeasures(t *testing.T) {
	repeats := testkit.Sweep(60, 400)
	for _, s := range corpus(t, testkit.Sweep(12, 60)) {
		if !s.OneMetric() {
			continue
		}
		diameter, _, _, _ := metric.Diameter(t.Context(), s.Utility)
		for _, d := range []*domain.Domain[int]{testkit.Must(domain.NewFolded(t.Context(), s.Utility, nil)), testkit.Must(domain.NewFinite(t.Context(), s.Utility, nil))} {
			f, n := testkit.Must(d.Points()), d.Len() // in the order of its cells
			one, spread := make([]float64, n), make([]float64, n)
			one[0] = 1
			r := random.Seeded(4)
			for range 1000 {
				spread[r.IntN(n)]++
			}
			for i := range spread {
				spread[i] /= 1000
			}
			for _, alpha := range []float64{1, 100, 1e4} {
				name := fmt.Sprintf("%s, %v, alpha=%g", s.name, d, alpha)
				m := testkit.Must(private.New(d, alpha, &private.Options{Estimator: private.Nearest}))
				b, lower := testkit.Must(m.Bound()), testkit.Must(m.LowerBound(t.Context()))
				floor := testkit.Must(families.PrivateMeasureBound(t.Context(), f, alpha))
				if p, err := floor.Prove(t.Context(), f, alpha); p != floor.Value || err != nil {
					t.Errorf("%s: %v is proved %v (%v)", name, floor.Value, p, err)
				}
				if g := m.Guarantee(); !(floor.Value <= diameter/2 && max(floor.Value, lower) <= b.Nearest) || g.Alpha() > alpha || g.Delta() != 0 {
					t.Errorf("%s: at least %v or %v, at most %v, diameter %v; %v", name, floor.Value, lower, b.Nearest, diameter, g)
				}
				for k, mu := range [][]float64{one, spread} {
					var sum, squares float64
					for seed := range repeats {
						cost := testkit.Must(wasserstein.W1(t.Context(), f, mu, testkit.Must(m.Release(random.Seeded(uint64(seed)), mu)), nil)).Cost
						sum, squares = sum+cost, squares+cost*cost
					}
					mean := sum / float64(repeats)
					se := math.Sqrt(max(0, squares/float64(repeats)-mean*mean) / float64(repeats-1))
					if !(mean+6*se <= b.Nearest) {
						t.Errorf("%s, input %d: error %v +- %v, bound %v", name, k, mean, se, b.Nearest)
					}
				}
			}
			for _, eps := range []float64{0.01, 1} {
				const records = 1000
				m := testkit.Must(private.New(d, records*eps, &private.Options{Estimator: private.Nearest}))
				most := testkit.Must(m.Bound()).Nearest
				s := testkit.Must(measure.NewSynthesizer(d, eps, nil))
				least := testkit.Must(s.LowerBound(t.Context(), records))
				floor := testkit.Must(families.PrivateDataBound(t.Context(), f, records, eps))
				if !(max(floor.Value, least) <= most && s.Guarantee().Alpha() <= eps) {
					t.Errorf("%v, %d records at eps=%g: at least %v or %v, at most %v; %v", d, records, eps, floor.Value, least, most, s.Guarantee())
				}
			}
		}
	}
}

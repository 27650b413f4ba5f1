package families_test

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/entropy/families"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/metric"
)

// countLoss is the least worst loss, in counts, of some mechanisms for the number x of
// those among n records that are at the second of two points: x plus discrete Laplace
// noise at level eps, moved into [c, n-c].
func countLoss(n int, eps float64) float64 {
	best := float64(n) / 2 // n/2 whatever the data
	q := math.Exp(-eps)
	for i := range 8 {
		c := float64(i * (n / 2) / 8)
		// Where x-y has a gap between, at distance i from x, the noise passes it with
		// probability q^(i+1)/(1+q). From c inward the loss is largest in the middle;
		// below c it falls with x.
		passed := func(from, gaps float64) float64 { // gaps at distances from, from+1, ...
			return math.Exp(-eps*from) * math.Expm1(-eps*gaps) / math.Expm1(-eps) * q / (1 + q)
		}
		left := math.Floor(float64(n)/2) - c
		middle := passed(0, left) + passed(0, float64(n)-2*c-left)
		best = min(best, max(middle, c+passed(c, float64(n)-2*c)))
	}
	return best
}

// The known loss of a count, where its mechanisms are alone.
func TestCountLoss_IsExact(t *testing.T) {
	for _, n := range []int{1, 2, 5, 16, 40} {
		for _, eps := range []float64{.1, 1, 3} {
			least := testkit.Must(lp.Optimal(t.Context(), metric.Same(space.Path(n+1, 1)), eps, nil))
			if loss := countLoss(n, eps); loss < least.DualBound || loss > 1.2*least.Objective {
				t.Errorf("%d records, eps %v: %v, the optimum is %v", n, eps, loss, least.Objective)
			}
		}
	}
	if loss := countLoss(32, 2) / 32; math.Abs(loss-.00862) > 1e-5 {
		t.Errorf("32 records at eps 2: %v, want .00862", loss)
	}
}

// TestPrivateDataBound_NoneIsBeatenByACount: data sets of up to 10,000 records at two points,
// where a mechanism counts.
func TestPrivateDataBound_NoneIsBeatenByACount(t *testing.T) {
	two := space.Path(2, 1)
	d := testkit.Must(domain.NewFinite(t.Context(), two, nil))
	beaten, cases := 0, 0
	step := testkit.Sweep(9, 1)
	for n := 1; n <= 10_000; n += max(step, n/testkit.Sweep(4, 20)) {
		for i := 0; i < 120; i += step {
			eps := .05 * float64(i+1)
			if i >= 60 {
				eps = 3 * math.Pow(50./3, float64(i-59)/60)
			}
			loss := countLoss(n, eps) * (1 + 1e-12)
			w := testkit.Must(families.PrivateDataBound(t.Context(), two, n, eps))
			proved := testkit.Must(w.Prove(t.Context(), two, eps*float64(n)))
			cases++
			if w.Value*float64(n) > loss || proved*float64(n) > loss {
				beaten++
				if beaten <= 5 {
					t.Errorf("%d records, eps %v: the bound %v (%v) is above %v", n, eps, w.Value, proved, loss/float64(n))
				}
			}
			if i%20 != 0 {
				continue
			}
			for _, o := range []measure.SynthesizerOptions{{}, {Relation: measure.AddRemoveOne}} {
				s := testkit.Must(measure.NewSynthesizer(d, eps, &o))
				least := testkit.Must(s.LowerBound(t.Context(), float64(n)))
				if loss := countLoss(n, s.Guarantee().Alpha()) * (1 + 1e-12); least*float64(n) > loss {
					t.Errorf("%d records, %v: the bound %v is above %v", n, s.Guarantee(), least, loss/float64(n))
				}
			}
		}
	}
	if beaten > 0 {
		t.Errorf("%d of %d bounds are beaten", beaten, cases)
	}
}

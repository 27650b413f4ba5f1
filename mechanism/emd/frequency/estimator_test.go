package frequency

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/accountant"
	"github.com/metricdp/metricdp/metric"
)

// A seed gives the same counts whatever the number of workers; merged counts
// are the sums; the zero Report is neutral.
func TestEstimator_SeedsAndMerging(t *testing.T) {
	c := testkit.Must(metric.NewClustered(3, 4, .3))
	p := testkit.Distribution(random.Seeded(7), 12, nil)
	local := emd.Model{Trust: emd.Local, Items: 50, Diameter: 1}
	g := mustGKRR(t, c, 1)
	var first []int64
	for _, workers := range []int{1, 2, 5} {
		f := testkit.Must(NewClustered(t.Context(), g, local, &Options{Workers: workers}))
		n := testkit.Must(f.Collect(context.Background(), random.Seeded(8), usersOf(9, p, 5000, 50)))
		if first == nil {
			first = n.Sums
		}
		if !slices.Equal(first, n.Sums) || n.Users != 5000 || n.Items != 250000 || len(n.Sums) != 12 {
			t.Errorf("%d workers: %v of %d users, not %v", workers, n.Sums, n.Users, first)
		}
	}
	for name, f := range estimators(t, c, local, 1) {
		var all emd.Report
		for u := range 4 {
			one := testkit.Must(f.Release(nil, usersOf(uint64(u), p, 1, 50)))
			testkit.Check(t, errors.Join(all.Merge(one), all.Merge(&emd.Report{})))
		}
		total := int64(0)
		for _, n := range all.Sums {
			total += n
		}
		if all.Users != 4 || all.Reports != 4 || all.Items != 200 || total != 200 {
			t.Errorf("%s: merged %+v", name, all)
		}
		if _, err := f.Estimate(&all); err != nil {
			t.Error(err)
		}
	}
}

// oneOf is the estimate that f makes of a single item released as y: row y of
// its inverse.
func oneOf(t testing.TB, f *Estimator, y int) []float64 {
	t.Helper()
	n := make([]int64, f.outputs)
	n[y] = 1
	return testkit.Must(f.Estimate(counted(n, 1))).Mean
}

// lawOf is what item x is released as.
func lawOf(t testing.TB, f *Estimator, c *mechanism.Channel, x int) []float64 {
	t.Helper()
	if h, ok := f.inv.(*hadamard); ok {
		c = channelOf(t, h, f.space.Len())
	}
	return c.Row(x, nil)
}

// At counts that are the law itself the estimate is the truth and StdErr the
// deviation, both summed over the law: neither is a part in a million off.
func TestEstimator_EstimateOfTheLaw(t *testing.T) {
	c := testkit.Must(metric.NewClustered(3, 4, .3))
	ch := testkit.Must(mustGKRR(t, c, 2).Channel(t.Context()))
	p := testkit.Distribution(random.Seeded(2), 12, nil)
	for name, f := range estimators(t, c, emd.Model{Trust: emd.Central, Users: 20, Items: 5, Diameter: 1}, 2) {
		law := make([]float64, f.outputs)
		want := make([]float64, 12) // E R[y,j]^2, of which E (E(R[y,j]|x))^2 = p_j is taken
		for x, q := range p {
			for y, v := range lawOf(t, f, ch, x) {
				law[y] += q * v
				for j, r := range oneOf(t, f, y) {
					want[j] += q * v * r * r
				}
			}
		}
		n, total := make([]int64, f.outputs), int64(0)
		for y, v := range law {
			n[y] = int64(v * 0x1p50)
			total += n[y]
		}
		counts := counted(n, 1)
		e := testkit.Must(f.Estimate(counts))
		for j, v := range e.Mean {
			deviation := math.Sqrt((want[j] - p[j]) / float64(total))
			if math.Abs(v-p[j]) > 1e-6 || math.Abs(e.StdErr[j]/deviation-1) > 1e-6 {
				t.Errorf("%s item %d: %v+-%v, want %v+-%v", name, j, v, e.StdErr[j], p[j], deviation)
			}
		}
	}
}

// Two items at distance 3, where W1 is 3 times the error of either frequency: a
// single item's expected error is below the bound, and meets it where both its
// outputs are as likely. More items divide the bound by their root.
func TestEstimator_MatrixBoundIsMet(t *testing.T) {
	space := testkit.Must(metric.NewDense(2, []float64{3}))
	for _, w := range [][]float64{{.9, .1, .5, .5}, {.5, .5, .3, .7}, {.8, .2, .2, .8}} {
		c := testkit.Must(mechanism.FromWeights(t.Context(), 2, 2, w, nil))
		f := testkit.Must(New(t.Context(), c.WithGuarantee(pureLevel(t, 1)), space, emd.Model{Trust: emd.Local, Items: 1, Diameter: 3}, nil))
		worst := 0.0
		for x := range 2 {
			err := 0.0
			for y, p := range c.Row(x, nil) {
				truth := float64(1 - x)
				err += p * 3 * math.Abs(oneOf(t, f, y)[0]-truth)
			}
			worst = max(worst, err)
		}
		bound := 10 * f.ErrorBound(100)
		if bound < worst*(1-1e-12) || w[0] != .8 && bound > worst*(1+1e-9) {
			t.Errorf("%v: bound %v, expected error up to %v", w, bound, worst)
		}
		if one := f.ErrorBound(1); math.Abs(one/min(bound, 3)-1) > 1e-12 {
			t.Errorf("%v: bound %v of 100 items, %v of one, diameter 3", w, bound/10, one)
		}
	}
}

// The mean error of 200 releases is within the bounds (8), (9) of IRC24, halved, and above half of
// that, both many deviations away.
func TestEstimator_ErrorWithinTheHalvedBound(t *testing.T) {
	for _, s := range []struct {
		c      *metric.Clustered
		alpha0 float64
		n, m   int
		peaked bool
	}{
		{testkit.Must(metric.NewClustered(2, 3, .2)), 1, 100, 10, false},
		{testkit.Must(metric.NewClustered(4, 5, .1)), 2, 100, 20, true},
		{testkit.Must(metric.NewClustered(10, 10, .3)), 3, 50, 20, false},
		{testkit.Must(metric.NewClustered(20, 1, 1)), 2, 1, 1000, true},
		{testkit.Must(testkit.Must(metric.NewClustered(1, 30, .5)).Scaled(10, "")), .5, 200, 3, false},
	} {
		k := s.c.Len()
		g := mustGKRR(t, s.c, s.alpha0)
		f := testkit.Must(NewClustered(t.Context(), g, emd.Model{Trust: emd.Central, Users: s.n, Items: s.m, Diameter: s.c.Inter()}, nil))
		p := testkit.Distribution(random.Seeded(4), k, nil)
		if s.peaked {
			p = make([]float64, k)
			p[k/2] = 1
		}
		data := usersOf(5, p, s.n, s.m)
		truth := histogram(k, data)
		const reps = 200
		r := random.Seeded(6)
		raw, near := 0.0, 0.0
		for range reps {
			e := estimateOf(t, f, r, data)
			raw += errorOn(t, s.c, e.Mean, truth) / reps
			q, _, err := f.Distribution(t.Context(), e)
			testkit.Check(t, err)
			near += errorOn(t, s.c, q, truth) / reps
		}
		bound := f.ErrorBound(int64(s.n * s.m))
		if raw > bound || raw < bound/2 || near > 2*bound {
			t.Errorf("%+v: error %v, of the distribution %v, halved bound %v", s, raw, near, bound)
		}
	}
}

// The promise is the item-wise release's by its own probabilities, and the baseline's is
// its pair at any distance.
func TestEstimator_Guarantees(t *testing.T) {
	c := testkit.Must(metric.NewClustered(3, 4, .3))
	model := emd.Model{Trust: emd.Central, Users: 10000, Items: 10, Diameter: 1}
	g := mustGKRR(t, c, 1)
	ch, _ := g.Channel(t.Context())
	f := testkit.Must(NewClustered(t.Context(), g, model, &Options{Delta: 1e-6}))
	w := testkit.Must(NewItemWise(t.Context(), ch, model, &ItemWiseOptions{Delta: 1e-6, Space: c}))
	if f.Guarantee() != w.Guarantee() || f.Guarantee().Alpha() >= 10 {
		t.Errorf("%v, item-wise %v", f.Guarantee(), w.Guarantee())
	}
	// A claim that the space does not bear out is caught by an audit.
	level := testkit.Must(mechanism.NewGuarantee(.5, 0, ""))
	if _, err := New(t.Context(), ch.WithGuarantee(level), c, model, &Options{Audit: true}); !errors.Is(err, mechanism.ErrClaim) {
		t.Errorf("half the level claimed: %v", err)
	}
	if f, err := New(t.Context(), ch, c, model, &Options{Audit: true}); err != nil || f.Guarantee().Alpha() > 10 {
		t.Errorf("audited: %v, %v", f, err)
	}
	h := testkit.Must(NewHadamardBaseline(t.Context(), c, model, emd.DP{Eps: 1, Delta: 1e-6}, nil))
	if p := h.Guarantee().At(1e-9); p != (emd.DP{Eps: 1, Delta: 1e-6}) {
		t.Errorf("Hadamard: %v", p)
	}
	// The clones are passed on: with one item a user they count.
	model.Items = 1
	last := math.Inf(1)
	for _, clones := range []accountant.Clones{accountant.Dominated, accountant.MetricRandomizer} {
		one := testkit.Must(New(t.Context(), ch, c, model, &Options{Delta: 1e-6, Clones: clones})).Guarantee()
		if w := newItemWise(t, ch, model, &ItemWiseOptions{Delta: 1e-6, Clones: clones}).Guarantee(); one != w || !(w.Alpha() < last) {
			t.Errorf("%v: %v, item-wise %v after %v", clones, one, w, last)
		}
		last = one.Alpha()
	}
	if f.Condition() != g.conditionNumber() {
		t.Error("condition")
	}
}

// Canceled by its source a release reads no more users, and after the last one draws nothing.
func TestEstimator_CanceledReleasesNothing(t *testing.T) {
	f := estimators(t, testkit.Must(metric.NewClustered(2, 2, .5)), emd.Model{Trust: emd.Local, Items: 3, Diameter: 1}, 1)["matrix"]
	for _, at := range []int{3, 10} {
		ctx, cancel := context.WithCancel(context.Background())
		read := 0
		counts, err := f.Collect(ctx, nil, func(yield func([]int) bool) {
			for more := true; more && read < 10; {
				if read++; read == at {
					cancel()
				}
				more = yield([]int{0, 1, 2})
			}
		})
		cancel()
		if counts != nil || !errors.Is(err, context.Canceled) || read > at+1 {
			t.Errorf("canceled at user %d: %v, %v, %d read", at, counts, err, read)
		}
	}
}

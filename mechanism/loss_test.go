package mechanism

import (
	"errors"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

func TestLosses(t *testing.T) {
	f := space.Path(3, 2)
	c := testkit.Must(FromWeights(t.Context(), 3, 2, []float64{1, 1, 3, 1, 0, 1}, &ChannelOptions{Labels: []int{0, 2}}))
	l, err := c.Loss(t.Context(), f)
	if err != nil || l[0] != 2 || l[1] != 2 || l[2] != 0 {
		t.Fatal(l, err)
	}
	if v, x := l.Worst(); v != 2 || x != 0 {
		t.Error(v, x)
	}
	if m, err := l.Mean([]float64{0.25, 0.25, 0.5}); m != 1 || err != nil {
		t.Error(m, err)
	}
	if m, _ := l.Mean(nil); math.Abs(m-4.0/3) > 1e-15 {
		t.Error(m)
	}
	long := make(Losses, 20)
	for i := range long {
		long[i] = float64(i)
	}
	for q, want := range map[float64]float64{0.95: 18, 1: 19, 0.01: 0, 0.5: 9} {
		if got, err := long.Quantile(q); got != want || err != nil {
			t.Errorf("quantile %v = %v (%v), want %v", q, got, err, want)
		}
	}
	for x := range 3 {
		if v, err := c.LossAt(x, f); v != l[x] || err != nil {
			t.Error(v, err)
		}
	}
}

// The remap attains the least mean loss of all relabelings (brute force), and
// the posterior is Bayes' rule.
func TestRemap_IsOptimal(t *testing.T) {
	r := random.Seeded(4)
	for range 30 {
		n := 4
		f := space.Uniform(n, r)
		c := arbitrary(t, r, n, 3, true, 0)
		prior := []float64{0.1, 0.2, 0.3, 0.4}
		remap := testkit.Must(c.Remap(t.Context(), prior, f))
		mean := func(labels []int) float64 {
			d := testkit.Must(c.Relabel(labels))
			l := testkit.Must(d.Loss(t.Context(), f))
			m, _ := l.Mean(prior)
			return m
		}
		best := math.Inf(1)
		for k := range n * n * n {
			best = min(best, mean([]int{k % n, k / n % n, k / n / n}))
		}
		if got := mean(remap); got > best+1e-12 {
			t.Errorf("remap %v has loss %v, the best %v", remap, got, best)
		}
		post := testkit.Must(c.Posterior(prior, 1, nil))
		sum := 0.0
		for x := range n {
			sum += prior[x] * c.Prob(x, 1)
		}
		for x := range n {
			if want := prior[x] * c.Prob(x, 1) / sum; math.Abs(post[x]-want) > 1e-14 {
				t.Errorf("posterior %v, want %v", post[x], want)
			}
		}
	}
}

// An adversary errs by 0 where the channel tells the input, by the mean distance to the
// median where it tells nothing, and else by that of the best of all maps from outputs
// to points (brute force), which may be no inputs.
func TestAdversaryError_IsOfTheBestGuess(t *testing.T) {
	r := random.Seeded(40)
	for range 30 {
		const n, m, k = 4, 3, 5
		f := space.Uniform(k, r)
		prior := []float64{0.1, 0.2, 0.3, 0.4}
		c := arbitrary(t, r, n, m, true, 0)
		cost := func(y, z int) (sum float64) {
			for x, p := range prior {
				sum += p * c.Prob(x, y) * f.Distance(x, z)
			}
			return sum
		}
		best := math.Inf(1)
		for code := range k * k * k {
			best = min(best, cost(0, code%k)+cost(1, code/k%k)+cost(2, code/k/k))
		}
		if got := testkit.Must(c.AdversaryError(t.Context(), prior, f)); math.Abs(got-best) > 1e-14 {
			t.Errorf("%v, the best guesses err by %v", got, best)
		}
		c = testkit.Must(FromWeights(t.Context(), n, 1, []float64{1, 1, 1, 1}, nil))
		median := min(cost(0, 0), cost(0, 1), cost(0, 2), cost(0, 3), cost(0, 4))
		if got := testkit.Must(c.AdversaryError(t.Context(), prior, f)); math.Abs(got-median) > 1e-15 {
			t.Errorf("%v of a constant, want %v", got, median)
		}
		identity := testkit.Must(FromWeights(t.Context(), 2, 2, []float64{1, 0, 0, 1}, nil))
		if got := testkit.Must(identity.AdversaryError(t.Context(), nil, f)); got != 0 {
			t.Errorf("%v of the identity", got)
		}
	}
}

// Distances that are none are an error that names the pair, whatever the channel makes of them.
func TestLoss_RefusesBadDistances(t *testing.T) {
	c := testkit.Must(FromWeights(t.Context(), 2, 2, []float64{1, 2, 2, 1}, nil))
	for _, d := range []float64{math.NaN(), math.Inf(1), -1} {
		rho := testkit.Must(metric.NewPoints([]int{0, 1}, metric.Func[int](func(x, y int) float64 { return d * math.Abs(float64(y-x)) })))
		_, lossErr := c.Loss(t.Context(), rho)
		_, atErr := c.LossAt(1, rho)
		_, remapErr := c.Remap(t.Context(), nil, rho)
		_, adversaryErr := c.AdversaryError(t.Context(), nil, rho)
		for what, err := range map[string]error{"Loss": lossErr, "LossAt": atErr, "Remap": remapErr, "AdversaryError": adversaryErr} {
			var v *metric.Violation
			if !errors.As(err, &v) || v.Axiom != metric.FiniteValue {
				t.Errorf("%s of distance %v: %v", what, d, err)
			}
		}
	}
}

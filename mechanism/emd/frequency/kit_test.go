package frequency

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
	"gonum.org/v1/gonum/floats"
)

// line is n points at distance 1/(n-1) from one to the next.
func line(_ testing.TB, n int) *metric.Dense { return space.Path(n, 1/float64(n-1)) }

// geometricChannel has weights e^(-beta*d/2): at most beta-private.
func geometricChannel(t testing.TB, space metric.Finite, beta float64) *mechanism.Channel {
	t.Helper()
	n := space.Len()
	c := testkit.Must(mechanism.NewChannel(t.Context(), mechanism.Rows{Inputs: n, Outputs: n, Log: true, Fill: func(x int, dst []float64) {
		for y := range dst {
			dst[y] = -beta / 2 * space.Distance(x, y)
		}
	}}, nil))
	c, _, err := c.Certify(t.Context(), space, "", nil)
	testkit.Check(t, err)
	return c
}

// identityChannel returns every input as it is, and claims to be private.
func identityChannel(t testing.TB, n int, o *mechanism.ChannelOptions) *mechanism.Channel {
	t.Helper()
	c := testkit.Must(mechanism.NewChannel(t.Context(), mechanism.Rows{Inputs: n, Outputs: n, Fill: func(x int, dst []float64) {
		clear(dst)
		dst[x] = 1
	}}, o))
	return c.WithGuarantee(pureLevel(t, 1))
}

func newItemWise(t testing.TB, c *mechanism.Channel, m emd.Model, o *ItemWiseOptions) *ItemWise {
	return testkit.Must(NewItemWise(t.Context(), c, m, o))
}

// multisetLaw is the exact law of the counts of the items' outputs, keyed by
// the counts.
func multisetLaw(c *mechanism.Channel, items []int) map[string]float64 {
	law, counts := map[string]float64{}, make([]int, c.Outputs())
	var add func(k int, p float64)
	add = func(k int, p float64) {
		if k == len(items) {
			law[fmt.Sprint(counts)] += p
			return
		}
		for y := range counts {
			counts[y]++
			add(k+1, p*c.Prob(items[k], y))
			counts[y]--
		}
	}
	add(0, 1)
	return law
}

// usersOf yields n users of m items each, drawn from p with a seed.
func usersOf(seed uint64, p []float64, n, m int) emd.Users[int] {
	return func(yield func([]int) bool) {
		r := random.Seeded(seed)
		items := make([]int, m)
		for range n {
			for i := range items {
				u := r.Float64()
				for items[i] = 0; u >= p[items[i]] && items[i] < len(p)-1; items[i]++ {
					u -= p[items[i]]
				}
			}
			if !yield(items) {
				return
			}
		}
	}
}

// histogram is the mean of the users' histograms.
func histogram(k int, data emd.Users[int]) []float64 {
	p := make([]float64, k)
	n := 0.0
	for items := range data {
		n++
		for _, x := range items {
			p[x] += 1 / float64(len(items))
		}
	}
	for x := range p {
		p[x] /= n
	}
	return p
}

// estimators are all three kinds on one space, in one model.
func estimators(t testing.TB, c *metric.Clustered, model emd.Model, alpha0 float64) map[string]*Estimator {
	t.Helper()
	g := mustGKRR(t, c, alpha0)
	return map[string]*Estimator{
		"clusters": testkit.Must(NewClustered(t.Context(), g, model, nil)),
		"matrix":   testkit.Must(New(t.Context(), testkit.Must(g.Channel(t.Context())), c, model, nil)),
		"Hadamard": testkit.Must(NewHadamardBaseline(t.Context(), c, model, emd.DP{Eps: alpha0 * float64(model.Items)}, nil)),
	}
}

// estimateOf releases the users' items and estimates from the counts.
func estimateOf(t testing.TB, f *Estimator, r *rand.Rand, data emd.Users[int]) *Estimate {
	t.Helper()
	return testkit.Must(f.Estimate(testkit.Must(f.Release(r, data))))
}

// unitRows checks that the estimate of each row of c is a unit vector.
func unitRows(t testing.TB, what any, c *mechanism.Channel, estimate func(f, mean, variance []float64), tol float64) {
	t.Helper()
	for x := range c.Len() {
		mean := make([]float64, c.Len())
		estimate(c.Row(x, nil), mean, make([]float64, c.Len()))
		mean[x]--
		if floats.Norm(mean, math.Inf(1)) > tol {
			t.Fatalf("%+v: item %d: off by %v", what, x, mean)
		}
	}
}

// hockeyStick is the least delta at level eps.
func hockeyStick(p, q map[string]float64, eps float64) float64 {
	delta := 0.0
	for key, v := range p {
		delta += max(0, v-math.Exp(eps)*q[key])
	}
	return delta
}

func pureLevel(t testing.TB, alpha float64) mechanism.Guarantee {
	return testkit.Must(mechanism.NewGuarantee(alpha, 0, ""))
}

func wantValueError(t *testing.T, what string, err error, arg string) {
	t.Helper()
	var v *fault.ValueError
	if !errors.As(err, &v) || v.Arg != arg {
		t.Errorf("%s: error %v, want one about %s", what, err, arg)
	}
}

// counted is the report of how often each output came up.
func counted(n []int64, users int64) *emd.Report {
	r := &emd.Report{Sums: n, Users: users, Reports: 1}
	for _, v := range n {
		r.Items += v
	}
	return r
}

// errorOn is the distance of two measures.
func errorOn(t testing.TB, space metric.Finite, p, q []float64) float64 {
	t.Helper()
	if x, ok := finite.Line(space); ok {
		space = testkit.Must(metric.NewPoints(x, metric.Numbers[float64]{}))
	}
	return testkit.Must(wasserstein.Distance(t.Context(), space, p, q))
}

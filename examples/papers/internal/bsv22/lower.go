package bsv22

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/entropy/families"
	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
)

// lowers is about what no private measure and no synthetic data can avoid.
func lowers(ctx context.Context, r *exhibit.Run) {
	rng := r.Rand()
	// All measures of four quarters on three points at mutual distance 1.
	three, six := exhibit.Simplex(3), exhibit.Simplex(6)
	net := exhibit.Must(families.MeasureNet(ctx, three, 4))
	w1 := exhibit.Must(net.Wasserstein(ctx, nil))
	b := metric.Bimetric{Privacy: exhibit.Must(net.TotalVariation(ctx)), Utility: w1}
	for _, alpha := range []float64{.25, 1.5} {
		t := 0.0 // the largest with N_pack > 2 e^alpha
		for _, s := range []float64{1e-9, .25, .5, .75} {
			if n := exhibit.Must(scale.Packing(ctx, w1, nil, s, nil)); float64(n.Lo) > 2*math.Exp(alpha) {
				t = s + .25 // distances are quarters: all above s are so large
			}
		}
		s := exhibit.Must(lp.Optimal(ctx, b, alpha, nil))
		r.Say("Proposition 8.1", fmt.Sprintf("N_pack(t) > 2e^alpha, diameter 1: E rho1 >= t/4 somewhere; alpha = %g", alpha), "t/4", s.DualBound, exhibit.If(s.DualBound >= t/4, exhibit.Holds),
			fmt.Sprintf("t = %.2f; here the optimum of all mechanisms on %d measures of 3 points", t, net.Len()))
	}
	all := exhibit.Must(exhibit.Must(families.MeasureNet(ctx, six, 3)).Wasserstein(ctx, nil))
	packed := exhibit.Must(scale.Packing(ctx, all, nil, 1./3, nil))
	c := (math.Log(1./3)/3 + math.Log(2./3)*2/3 + math.Ln2) / 5 // kl(1/3 || 1/2)/5
	r.Say("Proposition 8.2", "N_pack(measures, W1, t/3) >= exp(c N_pack(T, t)): 6 points", "exp(6c)", fmt.Sprintf("%d at least, exp(6*%.2f)", packed.Lo, math.Log(float64(packed.Lo))/6), exhibit.If(float64(packed.Lo) >= math.Exp(6*c), exhibit.Holds),
		fmt.Sprintf("measures of thirds; the proof gives c = kl(1/3||1/2)/5 = %.4f", c))
	least := math.Inf(1)
	for range 200 {
		mu, nu, outside := weights(rng, 6, 6), weights(rng, 6, 3), 0.0
		for _, m := range mu[3:] {
			outside += m
		}
		least = min(least, exhibit.Must(wasserstein.Distance(ctx, six, mu, nu))/outside)
	}
	r.Say("Lemma 8.3", "W1(mu, nu) >= t mu(outside the support of nu) on t-separated points: least quotient", 1., least, exhibit.If(least >= 1-1e-12, exhibit.Holds), "")
	n, apart := 200, math.Inf(1)
	family := make([][]float64, int(math.Ceil(math.Exp(c*float64(n)))))
	many := exhibit.Simplex(2 * n)
	for i := range family {
		family[i] = make([]float64, 2*n)
		for range n {
			family[i][rng.IntN(2*n)] += 1 / float64(n)
		}
		for _, nu := range family[:i] {
			apart = min(apart, exhibit.Must(wasserstein.Distance(ctx, many, family[i], nu)))
		}
	}
	r.Say("Lemma 8.4", fmt.Sprintf("e^(cn) = %d empirical measures on n = %d of 2n points are t/3 apart: least W1/t", len(family), n), 1./3, apart, exhibit.If(apart > 1./3, exhibit.Holds), "the first that were drawn")

	worst := math.Inf(1)
	for _, alpha := range []float64{1, 3, 10, 30, 100, 300} {
		m := exhibit.Must(families.PrivateMeasureBound(ctx, exhibit.Simplex(int(alpha)+1), alpha))
		worst = min(worst, 12*m.Value)
	}
	r.Say("Theorem 8.5", "N_pack(T, t) > C alpha, alpha >= 1: E W1 > t/12 at some measure", "some C", "C = 1", exhibit.If(worst > 1, exhibit.Holds),
		fmt.Sprintf("2m points t apart prove t/(2+alpha/m): the least of 12 W1/t over alpha from 1 to 300 is %s. C < 1 would admit a single point", demo.Number(worst)))
	worst = math.Inf(1)
	for _, n := range []int{1, 2, 10, 100} {
		m := exhibit.Must(families.PrivateDataBound(ctx, exhibit.Simplex(2*n+1), n, 2.39))
		worst = min(worst, 12*m.Value)
	}
	r.Say("Theorem 8.6", "N_pack(T, t) > 2n, n > n_0: c-private data have E W1 > t/12 somewhere", "some c, n_0", "c = 2.39, n_0 = 0", exhibit.If(worst > 1, exhibit.Better),
		fmt.Sprintf("pairs with a record each prove t/(1+e^eps), more than t/12 for eps < ln 11; 12 W1/t is %s at least", demo.Number(worst)))
}

// weights are a random probability measure on n points that is supported on the first k.
func weights(rng *rand.Rand, n, k int) []float64 {
	w := make([]float64, n)
	for i := range k {
		w[i] = rng.ExpFloat64()
	}
	return exhibit.Normalize(w)
}

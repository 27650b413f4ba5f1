package bsv22

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/metricdp/metricdp/entropy/families"
	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/private"
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

// exponents encloses the least worst error in cubes, of measures at level alpha and of synthetic
// data of n records at eps = 1, between bounds that are proved before any data are seen.
func exponents(ctx context.Context, r *exhibit.Run) {
	sizes := exhibit.Size(r, []float64{1e3, 1e4, 1e5, 1e6}, []float64{1e3, 1e4, 1e5, 1e6, 1e7})
	var charts []*demo.Chart
	for d := 1; d <= exhibit.Size(r, 2, 3); d++ {
		want, end := -1/float64(d), len(sizes)-1
		chart := &demo.Chart{Title: fmt.Sprintf("d = %d", d), X: "n (points) or alpha (per unit of W1)", Y: "worst mean W1 (distance)", LogX: true, LogY: true}
		var logs []float64
		for _, n := range sizes {
			logs = append(logs, math.Log(n))
		}
		for _, c := range []struct {
			what, upper, lower, theorem string
			above                       func(n float64) float64
			below                       func(n float64) (float64, error)
		}{
			{"private measures", "Corollary 9.1", "Corollary 9.3", "Theorem 9.5", func(n float64) float64 { return leastMeasure(d, n) },
				func(n float64) (float64, error) { return families.PrivateCubeBound(d, 0, n) }},
			{"eps-private data", "Corollary 9.2", "Corollary 9.4", "Theorem 9.6", func(n float64) float64 { return leastData(d, n) },
				func(n float64) (float64, error) { return families.PrivateCubeBound(d, int(n), 1) }},
		} {
			var above, under []float64
			ratios, ok := "", true
			for _, n := range sizes {
				above, under = append(above, c.above(n)), append(under, exhibit.Must(c.below(n)))
				q := above[len(above)-1] / under[len(under)-1]
				ratios, ok = ratios+fmt.Sprintf(" %.0f", q), ok && q >= 1
			}
			at := fmt.Sprintf("%s, d = %d, at %.0g: ", c.what, d, sizes[end])
			r.Say(c.upper, at+"E W1 <= C (log^(3/2) n/n)^(1/d)", "some C", above[end]/math.Pow(math.Pow(logs[end], 1.5)/sizes[end], -want), exhibit.If(ok, exhibit.Holds),
				fmt.Sprintf("C here: the bound, of Synthesizer.UpperBound (Corollary 7.4) or Measure.Bound, is %s. Of records eps n >= 2 is needed, not printed", demo.Number(above[end])))
			r.Say(c.lower, at+"E W1 > c n^(-1/d)", "some c", under[end]/math.Pow(sizes[end], want), exhibit.If(under[end] > 0, exhibit.Holds), "c here, by PrivateCubeBound, at eps = 1 where there are records")
			lo, hi := exhibit.Slope(sizes, under), exhibit.Slope(sizes, above)
			log := 2 * exhibit.Slope(sizes, logs) / float64(d) // of log^2 n, by which the ends may differ
			r.Say(c.theorem, fmt.Sprintf("%s, d = %d: log E W1/log n tends to -1/d", c.what, d), want, fmt.Sprintf("%.3f to %.3f", lo, hi),
				exhibit.If(math.Abs(lo-want) < .05 && hi >= want-.05 && hi <= want+log+.05, exhibit.Holds), fmt.Sprintf("slopes of two proved ends from %.0g on; upper over lower at powers of 10:%s", sizes[0], ratios))
			chart.Series = append(chart.Series, demo.Series{Name: c.what + ", proved", X: sizes, Y: above}, demo.Series{Name: "nothing does better, " + c.what, X: sizes, Y: under})
		}
		charts = append(charts, chart)
	}
	r.WriteCharts("bsv22-exponent.png", charts...)
}

// box is the cube under the largest difference of a coordinate.
func box(d int, depth float64) *domain.Domain[[]float64] {
	return exhibit.Must(domain.NewBox(slices.Repeat([]domain.Column{{Hi: 1}}, d), &domain.BoxOptions{Depth: depth, P: math.Inf(1)}))
}

// leastData is the least bound for n records over some Levels.
func leastData(d int, n float64) float64 {
	cube, best := box(d, 0), math.Inf(1)
	for k := 1; k <= 4; k++ {
		for h := 1; d*k*h <= 18; h++ {
			o := &measure.SynthesizerOptions{Levels: slices.Repeat([]int{k}, h), Shares: make([]float64, h)}
			for j := range o.Shares { // noise of a level costs its number of nodes times their side
				o.Shares[j] = math.Exp2(float64(j*k*(d-1)) / 2)
			}
			best = min(best, exhibit.Must(exhibit.Must(measure.NewSynthesizer(cube, 1, o)).UpperBound(n)))
		}
	}
	return best
}

// leastMeasure is the least bound of a private measure at level alpha over the depths of the
// cube: of the default estimate, or on the line of the nearest, as in the paper.
func leastMeasure(d int, alpha float64) float64 {
	best := math.Inf(1)
	for depth := 1.; depth*float64(d) <= 18; depth++ {
		b := exhibit.Must(exhibit.Must(private.New(box(d, depth), alpha, nil)).Bound())
		if d == 1 {
			b.Weighted = min(b.Weighted, b.Nearest)
		}
		best = min(best, b.Weighted+b.Resolution)
	}
	return best
}

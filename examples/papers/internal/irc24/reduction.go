package irc24

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/query"
)

// sampling is the reduction's step: s items are drawn of each of two users at
// d_EM <= r, and the samples are within c but for a probability of delta.
type sampling struct {
	s        int
	r, delta float64
}

// lemma is the c of Lemma 5.2 with the given factor of ln(1/delta), which is printed
// as 3/8.
func (p sampling) lemma(factor float64) float64 {
	return min(1, (1+math.Sqrt2)*p.r+factor*math.Log(1/p.delta))
}

// chernoff is the largest c with s kl(c||r) <= ln(1/delta), which Chernoff's bound
// proves for any mean of s distances in [0,1] with mean r.
func (p sampling) chernoff() float64 {
	lo, hi := p.r, 1.0
	for range 60 {
		c := (lo + hi) / 2
		if float64(p.s)*(c*math.Log(c/p.r)+(1-c)*math.Log((1-c)/(1-p.r))) <= math.Log(1/p.delta) {
			lo = c
		} else {
			hi = c
		}
	}
	return lo
}

// tail is the probability that samples are more than c apart if the distances of the
// users' items are 0 and 1, exact.
func (p sampling) tail(c float64) float64 {
	k := math.Floor(c*float64(p.s)) + 1
	if k > float64(p.s) {
		return 0
	}
	return mathext.RegIncBeta(k, float64(p.s)-k+1, p.r)
}

// reduction goes through Lemma 5.2, the promise for users beyond the radius, and a
// query on users with any number of items.
func reduction(ctx context.Context, r *exhibit.Run) error {
	var printed, root, samples []float64
	for _, p := range []sampling{{100, 0.01, 1e-6}, {1000, 0.01, 1e-12}, {1000, 0.1, 1e-6}, {10_000, 0.1, 1e-12}} {
		plan := exhibit.Must(emd.PlanReduction(ctx, emd.Model{Trust: emd.Central, Users: 1, Diameter: 1}, p.r, emd.DP{Eps: 1, Delta: p.delta}, &emd.PlanOptions{Samples: []int{p.s}}))
		c := p.chernoff()
		r.Say("", fmt.Sprintf("c for s = %d, r = %g, delta = %g", p.s, p.r, p.delta), p.lemma(3/float64(p.s)), c,
			exhibit.If(c < p.lemma(3/float64(p.s)) && p.tail(c) <= p.delta && plan.SampleDistance <= c, exhibit.Better),
			fmt.Sprintf("Chernoff's root; if all distances are 0 or 1 samples are farther apart with probability %s; the library proves %s for eps = 1",
				demo.Number(p.tail(c)), demo.Number(plan.SampleDistance)))
	}
	p := sampling{10_000, 0.1, 1e-12}
	r.Say("", "the same with the printed 3/8 in place of 3/s, s = 10000", p.lemma(3./8), p.lemma(3/float64(p.s)),
		exhibit.If(p.lemma(3./8) == 1, exhibit.Corrected), "at 3/8 it is above the diameter for any number of samples and says nothing")
	for s := 30; s <= 30_000; s *= 2 {
		p := sampling{s, 0.01, 1e-6}
		samples = append(samples, float64(s))
		printed, root = append(printed, p.lemma(3/float64(s))), append(root, p.chernoff())
	}
	if err := sayGroup(r); err != nil {
		return err
	}
	if err := sayReduced(ctx, r); err != nil {
		return err
	}
	return r.WriteCharts("irc24-reduction.png", &demo.Chart{
		Title: "How far samples of near users are apart", X: "s", Y: "c", LogX: true, LogY: true,
		Series: []demo.Series{{Name: "Lemma 5.2 with 3/s", X: samples, Y: printed}, {Name: "Chernoff's root", X: samples, Y: root}},
		Note:   "Users within r = 0.01, delta = 1e-6.",
	})
}

// sayGroup takes a promise k steps far, against probabilities of one event that grow
// from step to step by all that (eps, delta) allows.
func sayGroup(r *exhibit.Run) error {
	const level, delta, k = 0.5, 1e-6, 8
	g := exhibit.Must(emd.NewDiscrete(emd.Model{Trust: emd.Central, Users: 1, Diameter: 1}, 1./k, emd.DP{Eps: level, Delta: delta}))
	reached := 0.0
	for range k {
		reached = math.Exp(level)*reached + delta
	}
	far := g.At(1)
	r.Say("", fmt.Sprintf("delta of %d steps of (%g, %g)", k, level, delta), "less (Fact 5.1)", far.Delta,
		exhibit.If(exhibit.Near(far.Delta, reached, 1e-9) == exhibit.Holds, exhibit.Corrected),
		"delta (e^(k eps)-1)/(e^eps-1): an event of probability 0 at first reaches it")
	return nil
}

// sayReduced releases the mean of numbers of users with 1 to 300 items each, at
// (1, 1e-6) for users within 0.01, through the reduction and directly.
func sayReduced(ctx context.Context, r *exhibit.Run) error {
	const n, radius = 300, 0.01
	rng, draws := r.Rand(), exhibit.Size(r, 60, 2000)
	data, truth := sized(rng, n)
	model := emd.Model{Trust: emd.Central, Users: n, Diameter: 1}
	want := emd.DP{Eps: 1, Delta: 1e-6}
	plan := exhibit.Must(emd.PlanReduction(ctx, model, radius, want, &emd.PlanOptions{Samples: []int{1024}}))
	mean := query.Average(additive.Norm{P: 1, Dim: 1})
	inner := exhibit.Must(query.NewLinear(ctx, mean, plan.Model, plan.Promise, nil))
	reduced := exhibit.Must(emd.NewReduced(inner, plan.Sampling))
	direct := exhibit.Must(query.NewLinear(ctx, mean, model, emd.Promise{Alpha: want.Eps / radius}, nil))
	var errs [2]float64
	for i, m := range []emd.Releaser[[]float64, []float64]{reduced, direct} {
		if p := m.Guarantee().At(radius); p.Eps > want.Eps*(1+1e-12) || p.Delta > want.Delta {
			return fmt.Errorf("promise %v, want %v", p, want)
		}
		for range draws {
			y := exhibit.Must(m.Release(rng, data))
			errs[i] += math.Abs(y[0]-truth) / float64(draws)
		}
	}
	r.Say("", "mean error of a linear query, users of 1 to 300 items", errs[0], errs[1], exhibit.If(errs[1] < errs[0], exhibit.Better),
		fmt.Sprintf("the paper's reduction to %d samples, run here, beside no reduction: the mean of means has its constant for users of any size, and no delta", plan.Model.Items))
	return nil
}

// sized is n users of 1 to 300 numbers in [0,1] each, and the mean of their means.
func sized(rng *rand.Rand, n int) (data emd.Users[[]float64], mean float64) {
	all := make([][][]float64, n)
	for i := range all {
		items := make([][]float64, 1+rng.IntN(300))
		for k := range items {
			x := rng.Float64()
			items[k] = []float64{x}
			mean += x / float64(len(items)*n)
		}
		all[i] = items
	}
	return slices.Values(all), mean
}

package bsv24

import (
	"context"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/metric"
)

// wholes are connected spaces by samples: an interval, a square, and the roads of a ring with
// chords, whose points are edges too.
func wholes(ctx context.Context, seed uint64) map[string]entropy.Whole {
	edges, longest := road(12, random.Seeded(seed)), 0.0
	for _, e := range edges {
		longest = max(longest, e.Length)
	}
	return map[string]entropy.Whole{
		"interval": {Sample: exhibit.Line(0, 1, 64), Gap: 1. / 128, Shape: entropy.NormConvex},
		"square":   {Sample: grid(8), Gap: 1. / 16, Shape: entropy.NormConvex},
		"roads":    {Sample: exhibit.Must(metric.NewGraphEdges(ctx, 12, edges)), Gap: longest / 2, Shape: entropy.Connected},
	}
}

// connected is Theorem 1.5, with Theorem 4.2 and Lemmas 2.6 and 2.7 that it rests on.
func connected(ctx context.Context, r *exhibit.Run) {
	o := &entropy.Options{Nodes: 200}
	var lower, upper, convex, lemma exhibit.Tally
	for _, z := range wholes(ctx, r.Seed) {
		diameter := exhibit.Largest(metric.Diameter(ctx, z.Sample))
		for _, times := range []float64{.2, 1, 4, 16, 64} {
			alpha := times / diameter
			s := exhibit.Must(z.EntropicScale(ctx, []float64{alpha / 3, alpha, 2 * alpha}, o))
			a := exhibit.Must(z.Accuracy(ctx, []float64{alpha}, o))[0]
			lower.Add(s[2].Lo/8 <= a.Lo)
			upper.Add(a.Lo <= 13.1*s[0].Hi)
			lemma.Add(1/alpha >= 2*diameter && s[1].Hi >= diameter/2 || 1/alpha < 2*diameter && s[1].Lo >= 1/(2*alpha))
			if z.Shape == entropy.NormConvex {
				convex.Add(a.Lo <= 25.5*s[1].Hi && s[1].Lo/16 <= a.Hi)
			}
		}
	}
	constant := func(t float64) float64 { return exhibit.Must(entropy.StandardBound(1, t)) / t }
	lower.Say(r, "Theorem 1.5", "s(2 alpha)/8 <= A, an interval, a square, roads", "up to a constant", exhibit.Holds, "")
	upper.Say(r, "Theorem 4.2", fmt.Sprintf("A <= %.4g s(alpha/3)", constant(3*math.Ln2)), "up to a constant", exhibit.Holds,
		fmt.Sprintf("Lemma 4.1 where alpha s(alpha/3) >= 3 ln 2; with Lemma 2.7, 3/2, the constant is %.4g", constant(1.5)))
	convex.Say(r, "Theorem 1.5", "norm-convex: s/16 <= A <= 25.5 s", "up to a constant", exhibit.Holds, "by Proposition 2.4 from 2 alpha and alpha/3")
	lemma.Say(r, "Lemmas 2.6, 2.7", "s >= diam/2 where 1/alpha >= 2 diam, else s >= 1/(2 alpha)", "always", exhibit.Better,
		"s >= min(diam, ln(2)/alpha) on connected spaces, and 2 ln 2 on norm-convex ones")

	two := metric.Same(exhibit.Must(metric.Scaled(exhibit.Line(0, 1, 1), 1000)))
	s := exhibit.Must(scale.Entropic(ctx, two, []float64{math.Ln2 / 1000}, nil))[0]
	a := exhibit.Must(entropy.Accuracy(ctx, two, []float64{math.Ln2 / 1000}, nil))[0]
	r.Say("Section 1.2", "two points at distance 1000, alpha = ln(2)/1000: s, A", "A is as large as the distance may be", fmt.Sprintf("%v, %.4g", s.Interval, a.Lo),
		exhibit.If(s.Hi == 0 && a.Lo > 300, exhibit.Holds), "connectedness cannot just be dropped")
}

// section2 asks packing numbers of random spaces, and scales of an interval and a square.
func section2(ctx context.Context, r *exhibit.Run) {
	packing := func(f metric.Finite, set []int, s float64) scale.Count {
		return exhibit.Must(scale.Packing(ctx, f, set, s, nil))
	}
	var cover, chain, chains, outer, counts exhibit.Tally
	for _, s := range samples(ctx, r.Seed, 10, exhibit.Size(r, 2, 10), [2]string{"plane", "plane"}, [2]string{"road", "road"}, [2]string{"clusters", "clusters"}) {
		f, index := s.Utility, metric.NewIndex(s.Utility)
		scaled := s.entropic3
		sep := scaled.Hi
		net := exhibit.Must(metric.Net(ctx, f, sep, nil))
		_, dist := exhibit.Must2(metric.Assign(ctx, f, net))
		for x := range f.Len() {
			cover.Add(dist[x] <= sep)
		}
		radius := exhibit.Largest(metric.Diameter(ctx, f))
		most := func(r, sep float64) (n int) { // over all balls of radius r
			for x := range f.Len() {
				n = max(n, packing(f, index.Ball(x, r, nil), sep).Hi)
			}
			return n
		}
		for _, g := range []float64{radius / 8, radius / 3} {
			chain.Add(packing(f, nil, g/2).Lo <= packing(f, nil, g).Hi*most(g, g/2))
			chains.Add(most(2*g, g/2) <= most(2*g, g)*most(g, g/2))
		}
		out := exhibit.Must(scale.Outer(ctx, f, []float64{s.alpha / 3}, nil))[0]
		outer.Add(scaled.Lo <= 2*out.Hi)
		counts.Add(math.Log(float64(packing(f, nil, sep).Lo))/(s.alpha/3) <= out.Hi*(1+1e-12))
	}
	cover.Say(r, "Fact 2.1", "a maximal s-separated set is an s-cover", "always", exhibit.Holds, "")
	chain.Say(r, "Fact 2.2", "N(Z,s) <= N(Z,r) max N(B(a,r), s)", "always", exhibit.Holds, "")
	chains.Say(r, "Fact 2.3", "max N(B(x,4s), s) <= max N(B(x,4s), 2s) max N(B(x,2s), s)", "always", exhibit.Holds, "")
	outer.Say(r, "Proposition 2.11", "s <= 2 outer", "always", exhibit.Holds, "Definition 2.10: scale.Outer")
	counts.Say(r, "Lemma 2.15", "ln N(Z,s)/alpha <= outer", "norm-convex", exhibit.Better, "these are not norm-convex: the proof uses Fact 2.2 alone")

	var monotone, regular, doubling, logs, condition exhibit.Tally
	all := wholes(ctx, r.Seed)
	for _, name := range []string{"interval", "square"} {
		z := all[name]
		f, index, gap := z.Sample, metric.NewIndex(z.Sample), 2*z.Gap
		for _, t := range []float64{.4, .7} { // numbers of Z lie between two of the sample
			for x := 0; x < f.Len(); x += 5 {
				in := packing(f, index.Ball(x, .5, nil), .3).Lo
				monotone.Add(in <= packing(f, index.Ball(x, .5*t+gap, nil), max(0, .3*t-gap)).Hi)
			}
		}
		alphas := levels(1, 32, 2)
		s := exhibit.Must(z.EntropicScale(ctx, alphas, &scale.Options{Nodes: 200}))
		d := exhibit.Must(scale.Doubling(ctx, f, alphas, &scale.Options{Nodes: 200}))
		o := exhibit.Must(scale.Outer(ctx, f, alphas, nil))
		for k := range alphas {
			regular.Add(k == 0 || s[k].Lo <= s[k-1].Hi && s[k-1].Lo <= 2*s[k].Hi)
			doubling.Add(s[k].Lo/4 <= d[k].Hi+gap && d[k].Lo <= s[k].Hi)
			logs.Add(o[k].Lo <= 3*s[k].Hi*(1+max(0, math.Log(1/s[k].Hi))))
			for kappa := 1.; kappa < 64; kappa *= 2 { // the condition, at a scale not below s
				if packing(f, nil, s[k].Hi).Lo >= packing(f, nil, max(0, kappa*s[k].Lo-gap)).Hi*packing(f, nil, max(0, kappa*s[k].Lo-gap)).Hi {
					condition.Add(o[k].Lo <= 2*kappa*s[k].Hi && s[k].Lo <= 2*(o[k].Hi+gap))
				}
			}
		}
	}
	monotone.Say(r, "Lemma 2.5", "norm-convex: N(B(x,r), s) <= N(B(x,tr), ts), an interval, a square", "always", exhibit.Holds, "the sample adds twice its gap to radii and separations")
	regular.Say(r, "Proposition 2.4", "s(alpha) <= s(alpha/2) <= 2 s(alpha)", "always", exhibit.Holds, "")
	doubling.Say(r, "Proposition 2.9", "s/4 <= doubling scale <= s, of the samples", "always", exhibit.Holds,
		"the infimum of Definition 2.8 over single s is 0 on every finite space: scale.Doubling asks for all larger s, and has s(4 alpha)/2 below")
	logs.Say(r, "Proposition 2.12", "outer <= 3 s (1 + ln(diam/s))", "always", exhibit.Holds, "")
	condition.Say(r, "Proposition 2.14", "N(Z,s) >= N(Z, kappa s)^2: s/2 <= outer <= 2 kappa s", "always", exhibit.Holds, "")
	const d, alpha = 10, 1e4 // the cube under the largest coordinate: N(g) = ceil(1/g)^d
	best := math.Inf(1)
	for k := 1.; k < alpha; k++ {
		best = min(best, 1/k+d*math.Log(k)/alpha)
	}
	quotient := best / (2 * d * math.Ln2 / alpha)
	r.Say("Remark 2.13", "outer over s, cube of 10 dimensions, alpha = 10,000: of the order of log(alpha/d)", "log(alpha/d)", quotient,
		exhibit.If(quotient > math.Log(alpha/d)/2 && quotient < 2*math.Log(alpha/d), exhibit.Holds), "the paper has the Euclidean ball; s = 2d ln(2)/alpha here")
}

//go:build coarse

package outward_test

import (
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/mechanism/exponential/kl10"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/metric"
)

var (
	ctx = context.Background()
	// line has gaps that are no round numbers.
	line  = must(metric.NewPoints([]float64{0, 0.3, 0.7, 1.9, 2.3, 3.1, 4.7}, metric.Numbers[float64]{}))
	plane = space.Uniform(7, random.Seeded(1))
)

func must[T any](v T, err error) T { return testkit.Must(v, err) }

func audits(name string, a mechanism.Audit) []end { return both(name, a.Lo, a.Hi) }

func channel(f metric.Finite, alpha float64) *mechanism.Channel {
	w := logWeights(f, alpha)
	for i, v := range w {
		w[i] = math.Exp(v)
	}
	return must(mechanism.FromWeights(ctx, f.Len(), f.Len(), w, nil))
}

func logChannel(f metric.Finite, alpha float64) *mechanism.Channel {
	return must(mechanism.FromLogWeights(ctx, f.Len(), f.Len(), logWeights(f, alpha), nil))
}

func logWeights(f metric.Finite, alpha float64) (w []float64) {
	for i := range f.Len() {
		for j := range f.Len() {
			w = append(w, -alpha*f.Distance(i, j))
		}
	}
	return w
}

var ofMechanism = []scenario{
	{"audit", "", func() (out []end) {
		rows := slices.Repeat([]float64{1}, 49)
		for i := range rows {
			rows[i] = 1 / float64(1+(i*i)%11)
		}
		far := slices.Clone(rows)
		for i := range far[:7] {
			far[i] *= 0x1p-950
		}
		logs := slices.Clone(rows)
		for i := range logs {
			logs[i] *= 3
		}
		made := []*mechanism.Channel{must(mechanism.FromWeights(ctx, 7, 7, rows, nil)), must(mechanism.FromWeights(ctx, 7, 7, far, nil)), must(mechanism.FromLogWeights(ctx, 7, 7, logs, nil)), channel(line, 1e-7)}
		for _, c := range append(made, channel(line, 0.7), channel(line, 0.01), channel(line, 30), logChannel(line, 0.7), logChannel(line, 300), logChannel(line, 0.01)) {
			for _, delta := range []float64{0, 1e-3, 0.1} {
				out = append(out, audits("level", must(c.Audit(ctx, line, &mechanism.AuditOptions{Delta: delta})))...)
			}
		}
		return out
	}},
	{"synthesizer", "", func() (out []end) {
		d := must(domain.NewBox([]domain.Column{{Hi: .3}, {Hi: .7}}, nil))
		for _, rel := range []measure.Relation{measure.ReplaceOne, measure.AddRemoveOne} {
			s := must(measure.NewSynthesizer(d, .7, &measure.SynthesizerOptions{Relation: rel, Levels: []int{2, 1}}))
			out = append(out, hi("upper", must(s.UpperBound(1e4))))
		}
		s := must(measure.NewStream(d, .7, &measure.StreamOptions{Halves: .3, Blocks: &measure.SynthesizerOptions{Levels: []int{2, 1}}}))
		return append(out, hi("of a stream", must(s.UpperBound(1.1e4))))
	}},
	{"composition", "additive/sphere.go", func() (out []end) {
		for _, a := range []float64{0.7, 0.01} {
			for _, times := range []int64{3, 1000} {
				c := must(mechanism.NewComposition(mechanism.Repeated{Mechanism: channel(line, a), Times: times}, mechanism.Repeated{Mechanism: channel(line, 0.3), Times: 2}))
				for _, delta := range []float64{0, 1e-6, 1e-2} {
					out = append(out, audits("level", must(c.Audit(ctx, line, &mechanism.AuditOptions{Delta: delta})))...)
				}
			}
		}
		one := must(mechanism.NewComposition(mechanism.Repeated{Mechanism: channel(line, 0.3), Times: 5}))
		out = append(out, audits("level", must(one.Audit(ctx, line, nil)))...)
		_, a := must2(one.Certify(ctx, line, "m", nil))
		out = append(out, audits("level", a)...)
		noise := []mechanism.Repeated{
			{Mechanism: must(additive.NewLaplace(0.3, nil)), Times: 7}, {Mechanism: must(additive.NewPlanarLaplace(0.2, nil)), Times: 3},
			{Mechanism: must(additive.NewKNorm(additive.Norm{P: 1, Dim: 3}, 0.1, nil)), Times: 4},
			{Mechanism: must(additive.NewGaussian(1, additive.GaussianTarget{Alpha: 0.3, Delta: 1e-6, Diameter: 1}, nil)), Times: 2},
			{Mechanism: must(additive.NewKnots(0.3, nil)), Times: 4}, {Mechanism: must(additive.NewLaplace(300.3, nil)), Times: 2},
			{Mechanism: must(additive.NewSphere(1.7, &additive.SphereOptions{Radius: 10})), Times: 4},
		}
		for _, c := range []*mechanism.Composition{must(mechanism.NewComposition(noise[:4]...)), must(mechanism.NewComposition(noise[:2]...)), must(mechanism.NewComposition(noise[2:]...)), must(mechanism.NewComposition(noise[5])), one} {
			for _, delta := range []float64{0, 1e-6, 1e-2, 1e-250} {
				out = append(out, audits("level at 3", must(c.AuditAt(ctx, 3, delta)))...)
			}
		}
		return out
	}},
	{"noise of the sphere", "^mechanism/[a-z]+.go|privacyloss.go", func() (out []end) { // what is made loses less than is promised
		c := must(mechanism.NewComposition(mechanism.Repeated{Mechanism: must(additive.NewSphere(1.7, &additive.SphereOptions{Radius: 10})), Times: 1}))
		return []end{lo("level", must(c.AuditAt(ctx, 3, 0.01)).Hi)}
	}},
	{"budget by loss", "", func() (out []end) {
		limit := must(must(mechanism.NewGuarantee(2.5, 1e-6, "m")).Within(2))
		for _, level := range []float64{1e-9, 0.01, 0.3, 1.2} {
			b := must(mechanism.NewBudget(limit, &mechanism.BudgetOptions{ByLoss: true}))
			if err := b.Spend(must(mechanism.NewGuarantee(level, 1e-9, "m"))); err != nil {
				panic(err)
			}
			spent, left := must(b.Spent()), must(b.Left())
			out = append(out, hi("spent", spent.Alpha()), hi("spent delta", spent.Delta()), lo("left", left.Alpha()), lo("left delta", left.Delta()))
		}
		return out
	}},
	{"guarantee", "", func() (out []end) {
		g, h := must(mechanism.NewGuarantee(0.3, 1e-5, "m")), must(mechanism.NewGuarantee(0.7, 1e-7, "m"))
		pair := func(name string, eps, delta float64) { out = append(out, hi(name, eps), hi(name+"'s delta", delta)) }
		eps, delta := g.At(0.7)
		pair("At", eps, delta)
		for _, k := range []int{3, 1000} {
			for _, d := range []float64{1e-9, 1e-4, 0.3, 30} {
				eps, delta := g.Group(k, d)
				pair("Group", eps, delta)
			}
		}
		for _, v := range []mechanism.Guarantee{must(g.Plus(h)), g.Times(3), g.Times(1<<60 + 1)} {
			pair("sum", v.Alpha(), v.Delta())
		}
		b := must(mechanism.NewBudget(must(mechanism.NewGuarantee(3, 1e-3, "m")), nil))
		testkit.Must(0, b.Spend(g))
		testkit.Must(0, b.Spend(h))
		testkit.Must(0, b.Spend(must(mechanism.NewGuarantee(0.1, 1e-7, "m"))))
		left, spent := must(b.Left()), must(b.Spent())
		pair("a large number", must(mechanism.NewGuarantee(0.3, 0, "m")).Times(1<<53+1).Alpha(), 0)
		return append(out, lo("left", left.Alpha()), lo("left", left.Delta()), hi("spent", spent.Alpha()), hi("spent", spent.Delta()))
	}},
	{"discrete Gaussian", "", func() (out []end) {
		for _, sigma := range []float64{0.4, 1.3, 30} {
			for _, a := range []float64{0, 0.01, 0.3, 2} {
				for _, d := range []int64{1, 3, 20} {
					out = append(out, hi("delta", additive.DiscreteGaussianDelta(sigma, a, d)))
				}
			}
		}
		return out
	}},
	{"K-norm", "", func() (out []end) {
		for _, norm := range []additive.Norm{{P: 1, Dim: 1}, {P: 1, Dim: 2}, {P: 2, Dim: 3}, {P: math.Inf(1), Dim: 2}} {
			k := must(additive.NewKNorm(norm, 0.7, nil))
			out = append(out, hi("level", must(k.LevelAt(1e-3, 2.3))))
		}
		return out
	}},
	{"exponential", "", func() (out []end) {
		t := kl10.Target{Gamma: 0.9, Delta: 0.1}
		mu := []float64{.1, .2, .1, .2, .1, .2, .1}
		u := must(kl10.MostPrivate(ctx, metric.Same(line), mu, t, nil))
		out = append(out, hi("beta", u.Beta), hi("beta", u.FormulaBeta), hi("level", u.FormulaLevel))
		miss, _, err := kl10.Misses(ctx, channel(line, 2), line, 0.9)
		out = append(out, hi("misses", must(miss, err)))
		nets := must(kl10.NewNets(20, func(i int) (kl10.Net[float64], error) {
			step := 3 * math.Ldexp(1, -i)
			return kl10.Net[float64]{Len: 1 << i, At: func(k int) float64 { return (float64(k) + 0.5) * step }, Radius: step / 2}, nil
		}))
		out = append(out, hi("beta", must(nets.Beta(t))), lo("mass", must(nets.MinMass(3))))
		o := &exponential.RelaxedOptions{Accuracy: true}
		for _, b := range []metric.Bimetric{metric.Same(line), two} {
			r := must(exponential.Relaxed(ctx, b, 3, o))
			out = append(out, hi("relaxed", r.Bound), hi("relaxed", r.Entropic), hi("relaxed", r.Diametric))
		}
		return out
	}},
}

func must2[T, U any](v T, u U, err error) (T, U) {
	testkit.Must(v, err)
	return v, u
}

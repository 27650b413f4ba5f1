//go:build coarse

package outward_test

import (
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/accountant"
	"github.com/metricdp/metricdp/mechanism/emd/distribution"
	"github.com/metricdp/metricdp/mechanism/emd/frequency"
	"github.com/metricdp/metricdp/mechanism/emd/query"
	"github.com/metricdp/metricdp/mechanism/exponential/kl10"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/table"
	"github.com/metricdp/metricdp/metric"
)

var central = emd.Model{Trust: emd.Central, Users: 1000, Items: 30, Diameter: 4.7}

func pair(name string, p emd.DP) []end {
	return []end{hi(name, p.Eps), hi(name+"'s delta", p.Delta)}
}

var three = must(metric.NewPoints([]float64{0, 0.7, 1.9}, metric.Numbers[float64]{}))

var ofEMD = []scenario{
	{"guarantees of users", "", func() (out []end) {
		level := must(emd.NewGuarantee(central, must(mechanism.NewGuarantee(0.7, 1e-7, ""))))
		short := must(emd.NewDiscrete(emd.Model{Trust: emd.Central, Users: 1000, Diameter: 4.7}, 0.3, emd.DP{Eps: 0.1, Delta: 1e-9}))
		out = append(out, pair("user", level.UserLevel())...)
		for _, d := range []float64{0.1, 0.3, 0.7, 3} {
			out = append(out, pair("level", level.At(d))...)
			out = append(out, pair("discrete", short.At(d))...)
		}
		out = append(out, pair("discrete", must(level.Discrete(0.3)).At(0.3))...)
		moves := []emd.Move{{Distance: 0.7, Fraction: 0.3, Eps: 0.5}, {Distance: 3, Fraction: 0.1, Eps: 0.3}}
		out = append(out, lo("alpha", must(emd.ChooseAlpha(moves))))
		for _, p := range must(level.Protects(moves)) {
			out = append(out, hi("promise", p.Eps), hi("promise", p.Factor))
		}
		item := must(mechanism.NewGuarantee(0.7, 1e-9, ""))
		g := must(emd.Model{Trust: emd.Central, Users: 1000, Items: 30, Diameter: 0.1}.FromItems(item))
		out = append(out, hi("from items", g.Alpha()), hi("from items", g.Delta()))
		g = must(central.FromUserLevel(emd.DP{Eps: 0.3, Delta: 1e-9}, 0.7))
		return append(out, hi("from a user's level", g.Alpha()))
	}},
	{"accountant", "", func() (out []end) {
		for _, s := range []accountant.Shuffle{
			{Records: 9, Items: 1, Alpha0: 0.7, Diameter: 1.3},
			{Records: 9, Items: 3, Alpha0: 0.7, Diameter: 1.3, MinDistance: 0.3, Clones: accountant.MetricRandomizer},
			{Records: 20, Items: 5, Alpha0: 0.7, Diameter: 1.3, MinDistance: 1.1},
		} {
			d := must(s.DeltaInterval(ctx, 0.3))
			l := must(s.LevelInterval(ctx, 1e-6))
			out = append(out, both("delta", d.Lo, d.Hi)...)
			out = append(out, both("level", l.Lo, l.Hi)...)
			for _, p := range []accountant.Promise{{Alpha: 0.3, Delta: 1e-6}, {Alpha: 0.3}} {
				b := must(s.BudgetInterval(ctx, p))
				out = append(out, lo("budget", b.Lo))
				out = append(out, lo("budget", must(s.Budget(ctx, p)).Value))
			}
			for _, v := range []accountant.Moved{{Items: 1, Distance: 0.9}, {Items: 4, Distance: 2.1}} {
				out = append(out, hi("moved", must(s.MovedDelta(ctx, v, 0.1)).Value))
				for _, delta := range []float64{0, 1e-6} {
					out = append(out, hi("moved", must(s.MovedLevel(ctx, v, delta)).Value))
				}
			}
			l = must(s.LevelInterval(ctx, 0))
			out = append(out, both("pure level", l.Lo, l.Hi)...)
		}
		return out
	}},
	{"accountant of many records", "", func() (out []end) {
		for _, v := range []accountant.Moved{{Items: 1, Distance: 0.9}, {Items: 4, Distance: 2.1}} {
			s := accountant.Shuffle{Records: 1e5, Items: 4, Alpha0: 0.7, Diameter: 1.3}
			out = append(out, hi("moved", must(s.MovedDelta(ctx, v, 0.02)).Value))
		}
		return out
	}},
	{"compositions", "", func() (out []end) {
		for _, c := range []accountant.Composition{{Count: 100, Item: 0.1}, {Count: 3, Item: 2}} {
			for _, e := range []float64{0.1, 1, 4} {
				out = append(out, hi("delta", must(c.Delta(ctx, e))))
			}
			for _, d := range []float64{0, 1e-9, 0.1} {
				out = append(out, hi("level", must(c.Level(ctx, d))))
				out = append(out, lo("budget", must(accountant.ComposeBudget(ctx, c.Count, 1, d))))
			}
		}
		return out
	}},
	{"shuffled", "^mechanism/audit.go", func() (out []end) {
		response := must(mechanism.FromWeights(ctx, 2, 2, []float64{2, 1, 1, 2}, nil))
		both2 := accountant.Shuffle{Records: 6, Items: 1, Randomizer: must(accountant.NewRandomizer(ctx, response, space.Simplex(2, 0.7)))}
		out = append(out, hi("response", must(both2.Delta(ctx, 0.1)).Value))
		for _, s := range []accountant.Shuffle{{Records: 6, Items: 2, Randomizer: must(accountant.NewRandomizer(ctx, channel(three, 0.3), three))}} {
			// The lattice that the upper end is computed on is chosen anew for other numbers.
			out = append(out, lo("delta", must(s.DeltaInterval(ctx, 0.3)).Lo))
			out = append(out, hi("moved", must(s.MovedLevel(ctx, accountant.Moved{Items: 1, Distance: 1.3}, 1e-4)).Value))
			for _, delta := range []float64{0, 1e-4} {
				l := must(s.LevelInterval(ctx, delta))
				out = append(out, both("level", l.Lo, l.Hi)...)
			}
		}
		return out
	}},
	{"sampling", "", func() (out []end) {
		model := emd.Model{Trust: emd.Central, Users: 1000, Diameter: 4.7}
		p := must(emd.PlanReduction(ctx, model, 0.5, emd.DP{Eps: 0.5, Delta: 1e-3}, &emd.PlanOptions{Samples: []int{300}, Value: func(p emd.ReducePlan) float64 { return math.Abs(p.Sampling.Delta - 1e-4) }}))
		out = append(out, lo("alpha", p.Alpha), hi("distance", p.SampleDistance))
		inner := must(query.NewLinear(ctx, query.Average(additive.Norm{P: 1, Dim: 2}), emd.Model{Trust: emd.Central, Users: 1000, Items: 300, Diameter: 4.7}, emd.Promise{Alpha: 0.7}, nil))
		r := must(emd.NewReduced(inner, emd.Sampling{Radius: 0.5, Delta: 1e-6}))
		return append(out, pair("reduced", r.Guarantee().At(0.5))...)
	}},
	{"constants", "", func() (out []end) {
		numbers := metric.Numbers[float64]{}
		out = append(out, hi("ball", must(query.Ball(numbers, 0.3, 0.7, query.Smoothing{Width: 0.3})).Lipschitz))
		for _, p := range []float64{1, 2, 3, math.Inf(1)} {
			out = append(out, hi("landmarks", must(query.Landmarks(numbers, p, 0.1, 0.3, 0.7)).Lipschitz))
		}
		for _, p := range []float64{1, 2} {
			out = append(out, hi("map", must(query.LinearMap([][]float64{{.3, .1}, {.7, -.2}}, query.Average(additive.Norm{P: p, Dim: 2}))).Lipschitz))
		}
		out = append(out, hi("similarity", must(query.Similarity([]float64{.3, .1, .7})).Lipschitz))
		q, _, err := query.Shares(ctx, line)
		out = append(out, hi("shares", must(q, err).Lipschitz))
		l := must(query.NewLinear(ctx, query.Average(additive.Norm{P: 2, Dim: 2}), central, emd.Promise{Alpha: 0.7, Delta: 1e-6}, nil))
		out = append(out, hi("noise", l.StdDev()), hi("noise", l.RadiusQuantile(0.9)))
		l = must(query.NewLinear(ctx, query.Average(additive.Norm{P: 1, Dim: 2}), central, emd.Promise{Alpha: 0.7}, nil))
		out = append(out, hi("noise", l.StdDev()))
		g := must(frequency.NewGKRR(must(must(metric.NewClustered(3, 4, 0.3)).Scaled(1.7, "")), 0.7))
		c := must(g.Channel(ctx))
		// What is drawn may differ less than is promised.
		out = append(out, lo("randomized response", math.Log(c.Prob(0, 0)/c.Prob(0, 11))), lo("randomized response", math.Log(c.Prob(0, 0)/c.Prob(0, 1))))
		f := must(frequency.NewLaplaceBaseline(ctx, line, central, 0.7))
		h := must(frequency.NewHadamardBaseline(ctx, line, central, emd.DP{Eps: 0.7}, nil)) // more of it at a lower level
		return append(out, hi("Laplace", f.ErrorBound(30_000)), hi("Hadamard", h.ErrorBound(1<<50)))
	}},
	{"distributions", "", func() (out []end) {
		m := central
		m.Diameter = 0
		domain := distribution.Line(0.1, 0.7)
		d := must(distribution.New(ctx, domain, m, 0.7, nil))
		out = append(out, pair("line", d.Guarantee().UserLevel())...)
		tree := must(metric.NewTree([]int{-1, 0, 0, 1, 1, 2}, []float64{0, .3, .7, .1, .9, .3}))
		out = append(out, pair("tree", must(distribution.New(ctx, distribution.Tree(tree), m, 0.7, nil)).Guarantee().UserLevel())...)
		out = append(out, pair("finite", must(distribution.New(ctx, distribution.Finite(line), m, 0.7, nil)).Guarantee().UserLevel())...)
		for _, s := range []metric.Space[[]float64]{metric.Euclidean{}, metric.Manhattan{}} {
			out = append(out, pair("box", must(distribution.New(ctx, distribution.Box(s, []float64{0.1, 0.3}, []float64{0.7, 2.9}), m, 0.7, nil)).Guarantee().UserLevel())...)
		}
		out = append(out, pair("sphere", must(distribution.New(ctx, distribution.Sphere(metric.GreatCircle{Radius: 1.3}), m, 0.7, nil)).Guarantee().UserLevel())...)
		return out
	}},
}

// levels are those of mechanisms that are built with less than what is asked for, and
// state what they spend.
func levels(side func(string, float64) end) func() []end {
	return func() (out []end) {
		g := must(frequency.NewGKRR(must(must(metric.NewClustered(3, 4, 0.3)).Scaled(1.7, "")), 0.7))
		out = append(out, side("randomized response", g.Guarantee().Alpha()))
		box := must(domain.NewBox([]domain.Column{{Lo: 0, Hi: 3}, {Lo: 0.3, Hi: 0.9}}, nil))
		for _, o := range []*measure.SynthesizerOptions{nil, {PerPerson: 7, Relation: measure.AddRemoveOne}, {Relation: measure.AddRemoveOne}} {
			s := must(measure.NewSynthesizer(box, 0.7, o))
			out = append(out, side("level", s.Guarantee().Alpha()))
		}
		columns := []domain.Column{{Lo: 0, Hi: 3}, {Lo: 0.3, Hi: 0.9}, {Lo: 0, Hi: 1}}
		for _, o := range []*table.Options{nil, {PerPerson: 7, Relation: measure.AddRemoveOne}, {Relation: measure.AddRemoveOne}} {
			out = append(out, side("table", must(table.New(columns, 0.7, o)).Guarantee().Alpha()))
		}
		return out
	}
}

var ofMeasure = []scenario{
	{"levels stated", "Down$", levels(hi)},
	{"levels built", "Up$|Next$", levels(lo)},
	{"others", "", func() (out []end) {
		out = append(out, hi("diameter", must(domain.NewFinite(ctx, line, nil)).Diameter()))
		b := kl10.BaseMeasure[float64, float64]{Lipschitz: 1.3, Beta: 0.7, Sigma: metric.Numbers[float64]{}, MaxDraws: 100, MinMass: 0.3,
			Map: func(x float64) (float64, error) { return x, nil }, Draw: func(r *rand.Rand) (float64, error) { return r.Float64(), nil }}
		g := must(kl10.NewBaseMeasure(b)).Guarantee()
		return append(out, hi("base measure", g.Alpha()), hi("base measure", g.Delta()))
	}},
}

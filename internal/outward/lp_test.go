//go:build coarse

package outward_test

import (
	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/lp/anywhere"
	"github.com/metricdp/metricdp/mechanism/exponential/kl10"
	"github.com/metricdp/metricdp/metric"
)

var ofLP = []scenario{
	{"programs", "", func() (out []end) {
		for _, b := range []metric.Bimetric{metric.Same(line), two} {
			for _, o := range []*lp.Options{nil, {Prior: []float64{.1, .2, .3, .1, .1, .1, .1}}, {Outputs: []int{1, 3}}} {
				for _, a := range []float64{0.3, 3} {
					s := must(lp.Optimal(ctx, b, a, o))
					out = append(out, lo("optimum", s.DualBound))
				}
			}
		}
		return out
	}},
	{"losses", "^internal/ipm/|^lp/star.go|^lp/problem.go:89 ", func() (out []end) { // a better bound ends the program earlier
		for _, o := range []*lp.Options{nil, {Prior: []float64{.1, .2, .3, .1, .1, .1, .1}}, {Outputs: []int{1, 3}}} {
			for _, a := range []float64{0.3, 3} {
				s := must(lp.Optimal(ctx, two, a, o))
				out = append(out, both("optimum", s.DualBound, s.Objective)...)
				out = append(out, hi("gap", s.Gap))
			}
		}
		s := must(lp.Spanner(ctx, two, 0.7, &lp.SpannerOptions{Stretch: 1.5}))
		out = append(out, hi("spanner", s.Objective), hi("stretch", s.Stretch))
		c := must(lp.ConstOPT(ctx, two, 0.7, nil))
		return append(out, hi("constant budget", c.Objective))
	}},
	{"extensions", "", func() (out []end) {
		return []end{lo("level", anywhere.ExtendLevel(.3, .7)), lo("level", anywhere.ExtendLevel(2000, 1))}
	}},
	{"others", "^mechanism/audit.go", func() (out []end) {
		b := metric.Same(line)
		s := must(lp.Spanner(ctx, b, 0.7, &lp.SpannerOptions{Stretch: 1.5}))
		out = append(out, lo("spanner", s.DualBound))
		c := must(lp.ConstOPT(ctx, b, 0.7, nil))
		out = append(out, lo("constant budget", c.ProgramBound))
		m := must(lp.MostPrivate(ctx, b, kl10.Target{Gamma: 0.5, Delta: 0.2}, nil))
		out = append(out, lo("level", m.Level.Lo))
		for _, sensitivity := range []func(int) float64{nil, func(n int) float64 { return 1 / float64(n) }} {
			fixed := lp.MostPrivateSolution{Channel: m.Channel, Level: scale.Interval{Lo: 2, Hi: 3}}
			least, enough, err := fixed.RecordsFor(1e-9, sensitivity)
			out = append(out, lo("records", float64(least)), hi("records", float64(must(enough, err))))
		}
		for _, t := range []kl10.Target{{Gamma: 0.5, Delta: 0.2}, {Gamma: 0.1, Delta: 0.01}} {
			out = append(out, lo("level", must(lp.LevelLowerBound(ctx, b, t)).Level))
		}
		return append(out, lo("packing", must(lp.LowerBound(ctx, b, 0.7, []int{0, 3, 6})).Value))
	}},
	{"extended", "^mechanism/|^lp/(internal|star.go|problem.go|merge.go)", func() (out []end) { // others watch those
		o := &lp.Options{Tolerance: .2} // which the first local program reaches
		for i := range 60 {
			o.Outputs = append(o.Outputs, 4*i)
		}
		s := must(lp.Optimal(ctx, metric.Same(space.Uniform(260, random.Seeded(7))), 5, o))
		return append(out, both("extended", s.DualBound, s.Objective)...)
	}},
	{"stars", "^internal/ipm/", func() (out []end) {
		for _, o := range []*lp.Options{{Prior: []float64{.3, .2, .2, .2, .1}}, {Prior: []float64{.2, .2, .2, .2, .2}}, {Prior: []float64{.2, .2, .2, .2, .2}, Outputs: []int{0, 1, 2}}} {
			for _, a := range []float64{1, 4} {
				s := must(lp.Optimal(ctx, metric.Same(space.Simplex(5, 0.7)), a, o))
				out = append(out, lo("simplex", s.DualBound))
			}
		}
		s := must(lp.Optimal(ctx, metric.Same(space.Simplex(30, 1)), 2, nil))
		return append(out, both("simplex", s.DualBound, s.Objective)...)
	}},
	{"merged", "", func() (out []end) {
		f := must(metric.NewPoints([]float64{0, 1e-13, 0.3, 0.3 + 1e-13, 0.9}, metric.Numbers[float64]{}))
		for _, prior := range [][]float64{nil, {.3, .2, .2, .2, .1}} {
			out = append(out, lo("optimum", must(lp.Optimal(ctx, metric.Same(f), 3, &lp.Options{Prior: prior})).DualBound))
		}
		return out
	}},
}

//go:build coarse

package outward_test

import (
	"cmp"
	"math"
	"reflect"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/entropy/families"
	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/tsp"
	"github.com/metricdp/metricdp/walk"
	"github.com/metricdp/metricdp/wasserstein"
)

func interval(name string, i scale.Interval) []end { return both(name, i.Lo, i.Hi) }

func bounds(name string, bs []entropy.Bound) (out []end) {
	for _, b := range bs {
		out = append(out, end{name + " " + b.Name, b.Value, b.Kind == entropy.Upper})
	}
	return out
}

// two has another metric of loss.
var two = metric.Bimetric{Privacy: plane, Utility: space.Uniform(7, random.Seeded(2))}

var ofEntropy = []scenario{
	{"bounds", "", func() (out []end) {
		for _, b := range []metric.Bimetric{metric.Same(line), two} {
			for _, a := range []float64{0.3, 3} {
				out = append(out, bounds("lower", must(entropy.LowerBounds(ctx, b, a, nil)))...)
				out = append(out, bounds("upper", must(entropy.UpperBounds(ctx, b, a, nil)))...)
			}
		}
		return out
	}},
	{"rates", "", func() (out []end) {
		for _, f := range []metric.Finite{line, space.Simplex(5, 0.7)} {
			for _, b := range must(entropy.UpperBounds(ctx, metric.Same(f), 3, nil)) {
				w := reflect.ValueOf(b.Witness)
				if w.Kind() != reflect.Struct || !w.FieldByName("Rate").IsValid() {
					continue
				}
				// The largest rate at which the mechanism without weights, of which no rounding
				// would be seen, is proved to be private.
				below, above := 0.5, 1.0
				for range 34 {
					mid := (below + above) / 2
					at := reflect.New(w.Type()).Elem()
					at.Set(w)
					at.FieldByName("Weights").SetZero()
					at.FieldByName("Rate").SetFloat(mid)
					if math.IsInf(must(at.Interface().(entropy.Witness).Prove(ctx, metric.Same(f), 3)), 1) {
						above = mid
					} else {
						below = mid
					}
				}
				out = append(out, lo("rate "+b.Name, below))
			}
		}
		return out
	}},
	{"bounds of larger spaces", "", func() (out []end) {
		for _, f := range []metric.Finite{space.Path(10, 0.3), space.Uniform(9, random.Seeded(3))} {
			out = append(out, bounds("lower", must(entropy.LowerBounds(ctx, metric.Same(f), 10, nil)))...)
			out = append(out, bounds("upper", must(entropy.UpperBounds(ctx, metric.Same(f), 10, nil)))...)
		}
		return out
	}},
	{"wholes", "^(entropy/(closed|internal|nets|scale|star|upper)|metric|internal)", func() (out []end) {
		square := space.Func(16, func(i, j int) float64 { return math.Max(math.Abs(float64(i/4-j/4)), math.Abs(float64(i%4-j%4))) * .3 })
		for _, z := range []entropy.Whole{
			{Sample: line, Gap: .9, Shape: entropy.Connected}, {Sample: square, Gap: .15, Shape: entropy.NormConvex},
			{Sample: plane, Gap: .01}, {Sample: space.Path(2, .3), Gap: .15, Shape: entropy.NormConvex},
		} {
			levels := []float64{0.3, 4.4, 5, 28, 31}
			for _, i := range must(z.EntropicScale(ctx, levels, nil)) {
				out = append(out, interval("scale", i)...)
			}
			for _, b := range must(z.Accuracy(ctx, []float64{0.3, 3}, nil)) {
				slices.SortFunc(b.Bounds, func(p, q entropy.Bound) int { return cmp.Or(cmp.Compare(p.Kind, q.Kind), cmp.Compare(p.Name, q.Name)) })
				out = append(out, bounds("whole", b.Bounds)...)
			}
		}
		return out
	}},
	{"scales", "", func() (out []end) {
		for _, f := range []metric.Finite{line, space.Uniform(15, random.Seeded(4)), space.Path(12, 0.7)} {
			for _, a := range []float64{0.3, 3, 30} {
				out = append(out, interval("entropic", must(scale.Entropic(ctx, metric.Same(f), []float64{a}, nil))[0].Interval)...)
				out = append(out, interval("diametric", must(scale.Diametric(ctx, metric.Same(f), []float64{a}, nil))[0].Interval)...)
				out = append(out, interval("doubling", must(scale.Doubling(ctx, f, []float64{a}, nil))[0].Interval)...)
				out = append(out, interval("outer", must(scale.Outer(ctx, f, []float64{a}, nil))[0].Interval)...)
			}
		}
		return append(out, interval("diametric", must(scale.Diametric(ctx, two, []float64{3}, nil))[0].Interval)...)
	}},
	{"closed forms", "", func() (out []end) {
		for _, a := range []float64{0.3, 3, 300} {
			for _, k := range []int{1, 3} {
				out = append(out, interval("ball", must(families.BallAccuracy(k, a)))...)
				out = append(out, interval("Lipschitz", must(families.LipschitzAccuracy(k, a)))...)
				out = append(out, interval("measures", must(families.MeasuresAccuracy(k, a)))...)
			}
			for _, depth := range []int{0, 5} {
				b := families.Baire{Arity: 3, Depth: depth, Privacy: func(k int) float64 { return math.Pow(0.7, float64(k)) }, Utility: func(k int) float64 { return math.Pow(0.6, float64(k)) }}
				out = append(out, interval("entropic", must(b.EntropicScale(a)))...)
				out = append(out, interval("diametric", must(b.DiametricScale(a)))...)
			}
			out = append(out, hi("standard", must(entropy.StandardBound(a, 0.3))))
		}
		return append(out, hi("relaxed", must(entropy.RelaxedBound(0.3, 0.7, 3))))
	}},
	{"dimension", "", func() (out []end) {
		d := must(scale.Dimension(ctx, space.Uniform(60, random.Seeded(5)), &scale.DimensionOptions{Coarse: 0.7, Fine: 0.15}))
		return interval("slope", d.Slope)
	}},
	{"measures", "", func() (out []end) {
		for _, m := range []int{2, 3, 4} {
			for _, f := range []metric.Finite{line, space.Simplex(3, 0.7)} {
				out = append(out, hi("covering", must(families.MeasureNet(ctx, f, m)).CoveringRadius()))
			}
		}
		for _, f := range []metric.Finite{line, plane} {
			out = append(out, lo("cube", must(families.PrivateCubeBound(2, 0, 7))), lo("cube", must(families.PrivateCubeBound(1, 30, .7))))
			mass, _, err := scale.BallMass(ctx, f, must(scale.PositiveMeasure(ctx, f)), 0.7, nil)
			out = append(out, lo("mass", must(mass, err)))
			for _, a := range []float64{0.3, 3, 30} {
				for _, w := range []families.MeasureBound{must(families.PrivateMeasureBound(ctx, f, a)), must(families.PrivateTransportBound(ctx, f, a)), must(families.PrivateDataBound(ctx, f, 20, a))} {
					out = append(out, lo("bound", w.Value))
					if w.Records == 0 {
						out = append(out, lo("proof", must(w.Prove(ctx, f, a))))
					}
				}
			}
		}
		return out
	}},
	{"level", "", func() (out []end) {
		a, _, err := entropy.LevelFor(ctx, metric.Same(line), .1, nil)
		return append(out, lo("level", must(a, err)))
	}},
	{"tours", "", func() (out []end) {
		for _, f := range []metric.Finite{line, plane, space.Uniform(12, random.Seeded(5))} {
			order := make([]int, f.Len())
			for i := range order {
				order[i] = i * 5 % f.Len()
			}
			for _, k := range []tsp.Kind{tsp.Closed, tsp.Open} {
				t := must(tsp.Solve(ctx, f, &tsp.SolveOptions{Kind: k, Bound: tsp.BoundTree}))
				out = append(out, hi("length", t.Length), lo("bound", t.LowerBound))
			}
			out = append(out, hi("folding", must(tsp.Fold(f, &tsp.Tour{Order: order, Kind: tsp.Open})).Length()))
			c := must(tsp.CoveringIntegral(ctx, f))
			out = append(out, hi("integral", c.Integral), hi("covering", c.Bound))
		}
		return out
	}},
	{"transport", "", func() (out []end) {
		mu, nu := []float64{.1, .2, .3, .1, .1, .1, .1}, []float64{.3, .1, .1, .1, .15, .15, .1}
		bad := []float64{.3, .1, .1, .1, .15, .15, .1 + 1e-9}
		plan := []wasserstein.Flow{{I: 0, J: 0, Mass: .1}, {I: 1, J: 1, Mass: .1}, {I: 1, J: 0, Mass: .1}, {I: 2, J: 2, Mass: .1}, {I: 2, J: 0, Mass: .1},
			{I: 2, J: 4, Mass: .05}, {I: 2, J: 5, Mass: .05}, {I: 3, J: 3, Mass: .1}, {I: 4, J: 4, Mass: .1}, {I: 5, J: 5, Mass: .1}, {I: 6, J: 6, Mass: .09}}
		for _, f := range []metric.Finite{line, plane} {
			c := must(wasserstein.Distances(f, []int{0, 1, 2, 3, 4, 5, 6}, []int{0, 1, 2, 3, 4, 5, 6}))
			v := make([]float64, 7)
			for j := range v {
				v[j] = f.Distance(0, j)
			}
			for _, to := range [][]float64{nu, bad} {
				cert := must(wasserstein.Certify(ctx, c, mu, to, plan, v, nil))
				out = append(out, both("certificate", cert.Lower, cert.Upper)...)
				out = append(out, hi("gap", cert.Gap()), hi("unmatched", cert.Unmatched))
				w := must(wasserstein.W1(ctx, f, mu, to, nil))
				out = append(out, both("W1", w.Lower, w.Upper)...)
			}
			m := must(wasserstein.Assignment(ctx, must(wasserstein.Distances(f, []int{0, 1, 2}, []int{3, 4, 5})), nil))
			out = append(out, both("matching", m.Lower, m.Upper)...)
			out = append(out, hi("gap", m.Gap()))
			p := must(wasserstein.Project(ctx, f, []float64{.3, -.2, .4, .1, .3, -.1, .2}, nil))
			out = append(out, both("projection", p.Lower, p.Upper)...)
			out = append(out, hi("gap", p.Gap()))
		}
		return out
	}},
	{"transport of vectors", "", func() []end { // so many that their distances come from products
		r := random.Seeded(2)
		f := space.Cube(400, 8, 0, metric.Euclidean{}, r)
		mu, nu := make([]float64, 400), make([]float64, 400)
		for i := range 200 {
			mu[i], nu[200+i] = r.Float64(), r.Float64()
		}
		floats.Scale((1+1e-9)/floats.Sum(mu), mu)
		floats.Scale(1/floats.Sum(nu), nu)
		w := must(wasserstein.W1(ctx, f, mu, nu, nil))
		return both("W1", w.Lower, w.Upper)
	}},
	{"walks", "", func() (out []end) {
		for _, t := range []*walk.Tree{must(walk.Balanced(8, 2)), must(walk.Levels(3, 2, 4))} {
			s := walk.Scales{Total: 3, Level: []float64{2.1, 3.3, 1.7}[:t.Height()]}
			for _, rel := range []walk.Relation{walk.ReplaceOne, walk.AddRemoveOne} {
				s := s
				if rel == walk.ReplaceOne {
					s.Total = 0
				}
				out = append(out, hi("loss", must(t.Loss(rel, s))))
			}
		}
		return out
	}},
}

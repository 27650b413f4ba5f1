package kl10

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/mechanism/exponential/kl10"
	"github.com/metricdp/metricdp/metric"
)

// spaces are finite parts, of any size, of an infinite space of diameter 1 or less.
type spaces struct {
	name    string
	part    func(n int) metric.Finite
	compact bool
	why     string
}

// points are the numbers below n at a distance of ours.
func points(n int, distance func(i, j int) float64) metric.Finite {
	return exhibit.Must(metric.NewPoints(exhibit.Below(n), metric.Func[int](distance)))
}

var parts = []spaces{
	{"[0,1], finer and finer", func(n int) metric.Finite { return exhibit.Line(0, 1, n) }, true, "below ln(1/delta)/gamma, the level of Laplace noise"},
	{"a circle, finer and finer", func(n int) metric.Finite {
		return points(n, func(i, j int) float64 {
			d := max(i-j, j-i)
			return float64(min(d, n-d)) / float64(n)
		})
	}, true, ""},
	{"n points at distance 1", exhibit.Simplex, false, "bounded and complete, but not totally bounded"},
	{"n points on the axes of a ball of l2", func(n int) metric.Finite {
		return points(n, func(i, j int) float64 {
			switch {
			case i == j:
				return 0
			case i/2 == j/2:
				return 1 // e/2 and -e/2
			}
			return math.Sqrt2 / 2
		})
	}, false, ""},
}

// compatible computes eps* of growing parts of spaces, and compares the paper's mechanism
// with what is enough.
func compatible(ctx context.Context, r *exhibit.Run) {
	t := kl10.Target{Gamma: 0.2 * (1 + 1e-9), Delta: 0.05} // clear of rounding
	var series []demo.Series
	for _, s := range parts {
		solved := demo.Series{Name: s.name}
		most := exhibit.Size(r, 40, 80)
		if !s.compact {
			most *= 4 // the packing bound is eps* there, or nearly
		}
		for n := 5; n <= most; n *= 2 {
			f := s.part(n)
			found := solve(ctx, metric.Same(f), t).Level
			solved.X, solved.Y = append(solved.X, float64(f.Len())), append(solved.Y, found.Lo)
			solved.Lo, solved.Hi = append(solved.Lo, found.Lo), append(solved.Hi, found.Hi)
		}
		series = append(series, solved)
		// What is bounded gains less with each doubling, a logarithm as much.
		last := len(solved.Y) - 1
		gain, before := solved.Hi[last]-solved.Lo[last-1], solved.Lo[last-1]-solved.Hi[last-2]
		paper, ok := "infinite: not compact", gain > 0.8*before
		if s.compact {
			paper, ok = "finite: compact", solved.Hi[last] <= laplace(t) && gain < 0.75*before
		}
		r.Say("Theorem 3.4", s.name, paper, fmt.Sprintf("%.2f to %.2f, n = %v to %v", solved.Lo[0], solved.Hi[last], solved.X[0], solved.X[last]),
			exhibit.If(ok, exhibit.Holds), s.why)
	}
	series = append(series, demo.Series{Name: "noise (Laplace) on the line or a circle", X: []float64{5, exhibit.Size(r, 160.0, 320)}, Y: []float64{laplace(t), laplace(t)}})
	long := solve(ctx, metric.Same(exhibit.Line(0, 8, 80)), t).Level
	r.Say("Section 3 (4)", "X of diameter above 1 is left out: the line, privacy by |x-y|, 81 points over 8", "-", long, exhibit.If(long.Hi <= laplace(t), exhibit.Holds),
		fmt.Sprintf("Laplace noise has the level %.2f on all of the line, which is not compact: the theorem needs bounded inputs", laplace(t)))
	formula(ctx, r)
	measures(ctx, r)
	r.WriteCharts("kl10-thm3.4.png", &demo.Chart{Title: "eps*(.2, .05) of n points: bounded for compact spaces", X: "points n", Y: "eps* (least level per unit)", LogX: true, Series: series,
		Note: "The straight lines grow like ln(n), without end."})
}

// laplace is the level at which Laplace noise on a line or around a circle misses by more
// than gamma with probability e^(-level*gamma) = delta. On a grid that gamma fits its
// discrete form misses less often.
func laplace(t kl10.Target) float64 { return math.Log(1/t.Delta) / t.Gamma }

// formula compares the paper's rate with the smallest that is enough, and the level of the
// mechanism at that one with eps*.
func formula(ctx context.Context, r *exhibit.Run) {
	t := kl10.Target{Gamma: .1, Delta: .05}
	paper := 2 / t.Gamma * math.Log(1/(t.Delta*t.Gamma/2)) // an end of [0,1] has the ball of least measure
	n := exhibit.Size(r, 401, 801)
	m := exhibit.Must(kl10.MostPrivate(ctx, metric.Same(exhibit.Line(0, 1, n-1)), slices.Repeat([]float64{1 / float64(n)}, n), kl10.Target{Gamma: t.Gamma * (1 + 1e-9), Delta: t.Delta}, nil))
	r.Say("Theorem 3.4", "(3) to (2): rate for gamma = .1, delta = .05, uniform on [0,1]", fmt.Sprintf("%.6f", paper), m.Beta, exhibit.If(math.Abs(m.Beta/laplace(t)-1) < .02, exhibit.Better),
		fmt.Sprintf("(2/gamma) ln(1/(delta m)) with m = gamma/2; %.2f for the %d points that stand for [0,1]; the smallest rate that is enough is ln(1/delta)/gamma = %.2f", m.FormulaBeta, n, laplace(t)))

	var reached, constant exhibit.Tally
	var over, overFormula []float64 // levels, as multiples of eps*
	rng := random.Seeded(r.Seed)
	for range exhibit.Size(r, 60, 400) {
		b := function(rng)
		diameter := exhibit.Largest(metric.Diameter(ctx, b.Utility))
		target := kl10.Target{Gamma: diameter * (0.1 + 0.7*rng.Float64()), Delta: 0.02 + 0.3*rng.Float64()}
		m := exhibit.Must(kl10.MostPrivate(ctx, b, nil, target, nil))
		eps := solve(ctx, b, target)
		reached.Add(m.Miss <= target.Delta && m.Beta <= m.FormulaBeta && eps.Level.Lo <= m.Audited.Hi && m.Audited.Hi <= m.FormulaLevel)
		if eps.Level.Hi > 0 {
			over, overFormula = append(over, m.Audited.Hi/eps.Level.Hi), append(overFormula, m.FormulaLevel/eps.Level.Hi)
			continue
		}
		mu := make([]float64, b.Utility.Len()) // the one distribution of all inputs
		for y, p := range eps.Row(0, nil) {
			mu[eps.Output(y)] = p
		}
		constant.Add(exhibit.Must(kl10.MostPrivate(ctx, b, mu, target, nil)).Audited.Hi < 1e-6)
	}
	slices.Sort(over)
	slices.Sort(overFormula)
	reached.Say(r, "Theorem 3.4", "(3) to (2): the target, at a rate of at most beta and a level of at most 2 C beta", "always", exhibit.Holds, "random functions between finite spaces")
	middle := len(over) / 2
	r.Say("Theorem 3.4", "the level over eps*, median: by the formula, and audited at the smallest rate", "-", fmt.Sprintf("%.3g, %.3g", overFormula[middle], over[middle]), exhibit.If(over[middle] < overFormula[middle], exhibit.Better),
		"eps* itself, with its mechanism, is what lp.MostPrivate has")
	constant.Say(r, "Theorem 3.4", "(1) to (2), where eps* = 0: an exponential mechanism of level 0", "some measure", exhibit.Holds,
		"any measure will do (Definition 2.6): the distribution that all inputs share, where one that is positive everywhere needs a level")
}

// measures has what the proof says of measures and balls.
func measures(ctx context.Context, r *exhibit.Run) {
	const n, radius = 1001, .1
	unit := exhibit.Line(0, 1, n-1)
	mass, _ := exhibit.Must2(scale.BallMass(ctx, unit, slices.Repeat([]float64{1. / n}, n), radius, nil))
	r.Say("Example 3.3", "least measure of a ball of radius .1, uniform on [0,1]", "positive", mass, exhibit.Near(mass, radius, .02), "")
	var gauss []float64
	for _, c := range []float64{2, 4, 8} {
		wide := exhibit.Line(0, 2*c, n-1)
		mu := make([]float64, n)
		for i := range mu {
			x := wide.At(i) - c
			mu[i] = math.Exp(-x * x / 2)
		}
		least, _ := exhibit.Must2(scale.BallMass(ctx, wide, exhibit.Normalize(mu), radius, nil))
		gauss = append(gauss, least)
	}
	r.Say("Example 3.3", "the same, Gaussian on [-c,c], c = 2, 4, 8", "0 on R", fmt.Sprintf("%.1g, %.1g, %.1g", gauss[0], gauss[1], gauss[2]), exhibit.If(gauss[2] < 1e-12, exhibit.Holds), "")
	mu := exhibit.Must(scale.PositiveMeasure(ctx, unit))
	positive, at := true, 0.0
	for i := 1; i <= 8; i++ {
		r := math.Ldexp(1, -i)
		net := exhibit.Must(metric.Net(ctx, unit, r, nil))
		mass, _ := exhibit.Must2(scale.BallMass(ctx, unit, mu, r, nil))
		if i == 3 {
			at = mass
		}
		positive = positive && mass >= math.Ldexp(1, -i-1)/float64(len(net))
	}
	r.Say("Theorem 3.4", "(4) to (3): least ball of radius 1/8, the nets' measure on [0,1]", "1/(2^i n(i)), i = 3", at, exhibit.If(positive, exhibit.Holds), "at all radii 2^-i; scale.PositiveMeasure begins with i = 0, which halves the weights; kl10.Nets draws from it")
	t := kl10.Target{Gamma: .4, Delta: .05}
	bound := exhibit.Must(lp.LevelLowerBound(ctx, metric.Same(parts[3].part(100)), t))
	want := math.Log(float64(len(bound.Packing)) * (1 - t.Delta))
	r.Say("Theorem 3.4", fmt.Sprintf("(1) to (4): level that %d disjoint balls rule out, on the axes", len(bound.Packing)), fmt.Sprintf("ln(k(1-delta)) = %.2f", want), bound.Level, exhibit.If(bound.Level >= want, exhibit.Holds),
		"the paper's for infinitely many; finite k and diameter 1, with the distances that there are")
}

// covers has the size of maximal sets of disjoint balls, which cover when doubled.
func covers(ctx context.Context, r *exhibit.Run) {
	const radius = .3
	for _, s := range parts {
		var sizes []int
		covered := true
		for _, n := range []int{20, 40, 80, 160} {
			f := s.part(n)
			balls := exhibit.Must(lp.LevelLowerBound(ctx, metric.Same(f), kl10.Target{Gamma: radius / 2, Delta: .05})).Packing
			sizes = append(sizes, len(balls))
			for x := range f.Len() {
				covered = covered && slices.ContainsFunc(balls, func(y int) bool { return f.Distance(x, y) <= radius })
			}
		}
		paper, ok := "n", sizes[3] == 160
		if s.compact {
			paper, ok = "bounded", sizes[3] <= sizes[0]+1
		}
		r.Say("Theorem A.2", s.name+": balls of radius .15, disjoint and as many as fit; of radius .3 they cover", paper, fmt.Sprint(sizes), exhibit.If(ok && covered, exhibit.Holds), "")
	}
}

package bsv24

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/entropy/families"
	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/metric"
)

// family is a family of spaces, one for each dimension, whose optimal accuracy A and
// entropic scale s are a power of alpha up to constants.
type family struct {
	place, name, file string
	accuracy          func(dim int, alpha float64) (scale.Interval, error)
	exponent          func(dim int) (value float64, text string)
	dims              []int
	scaled            func(ctx context.Context) metric.Finite   // a finite subset at dimension 1
	more              func(ctx context.Context, r *exhibit.Run) // what else the section says
}

var (
	balls = family{
		place: "Theorem 6.1", name: "the unit ball", file: "bsv24-balls.png", accuracy: families.BallAccuracy, dims: []int{1, 2, 10},
		exponent: func(int) (float64, string) { return -1, "-1" }, more: doublingOfBall,
		scaled: func(context.Context) metric.Finite { return exhibit.Line(-1, 1, 800) },
	}
	measures = family{
		place: "Theorem 6.2", name: "measures on [0,1]^d", file: "bsv24-measures.png", accuracy: families.MeasuresAccuracy, dims: []int{1, 2, 3},
		exponent: overDim, more: coveringNumbers,
		scaled: func(ctx context.Context) metric.Finite { // on 5 points, with weights in multiples of 1/8
			return exhibit.Must(exhibit.Must(families.MeasureNet(ctx, exhibit.Line(0, 1, 4), 8)).Wasserstein(ctx, nil))
		},
	}
	lipschitz = family{
		place: "Theorem 6.3", name: "Lipschitz functions on [0,1]^d", file: "bsv24-lipschitz.png", accuracy: families.LipschitzAccuracy, dims: []int{1, 2, 3},
		exponent: overDim, more: farFunctions,
		scaled: func(context.Context) metric.Finite { return functions(5) },
	}
)

func overDim(dim int) (float64, string) { return -1 / float64(dim+1), fmt.Sprintf("-1/%d", dim+1) }

// run compares exponents, and draws what encloses A and s in every dimension.
func (f family) run(ctx context.Context, r *exhibit.Run) {
	title := func(what string) *demo.Chart {
		return &demo.Chart{Title: f.name + ": " + what, X: "alpha (per unit of distance)", Y: "accuracy, scale (distance)", LogX: true, LogY: true,
			Note: "Bands enclose what they are for, lines are their middle. A finite subset has at most the scale."}
	}
	accuracy, entropic := title("optimal accuracy A"), title("entropic scale s")
	alphas := levels(0.1, 1e8, math.Pow(10, 0.25))
	for _, dim := range f.dims {
		a, s := demo.Series{Name: fmt.Sprintf("d = %d", dim), X: alphas}, demo.Series{Name: fmt.Sprintf("d = %d", dim), X: alphas}
		wide := 0.0
		for _, alpha := range alphas {
			at, half := exhibit.Must(f.accuracy(dim, alpha)), exhibit.Must(f.accuracy(dim, alpha/2))
			low, high := exhibit.Must(f.accuracy(dim, 3*alpha)).Lo/8.5, 8*half.Hi // Theorem 1.5, norm-convex
			a.Lo, a.Hi, a.Y = append(a.Lo, at.Lo), append(a.Hi, at.Hi), append(a.Y, math.Sqrt(at.Lo*at.Hi))
			s.Lo, s.Hi, s.Y = append(s.Lo, low), append(s.Hi, high), append(s.Y, math.Sqrt(low*high))
			wide = max(wide, at.Hi/at.Lo)
		}
		accuracy.Series, entropic.Series = append(accuracy.Series, a), append(entropic.Series, s)
		want, text := f.exponent(dim)
		from, _ := slices.BinarySearch(alphas, 1e4)
		fit := true
		var here []any
		for _, y := range [][]float64{a.Lo, a.Hi, s.Lo, s.Hi} {
			v := exhibit.Slope(alphas[from:], y[from:])
			fit, here = fit && math.Abs(v-want) < 0.03, append(here, v)
		}
		r.Say(f.place, fmt.Sprintf("exponent of alpha, d = %d: ends of A, of s", dim), text, fmt.Sprintf("%.3f, %.3f, %.3f, %.3f", here...), exhibit.If(fit, exhibit.Holds), "")
		r.Say(f.place, fmt.Sprintf("upper over lower end of A, d = %d, alpha from .1 to 1e8", dim), "a constant", fmt.Sprintf("at most %.1f", wide), exhibit.If(wide < 20, exhibit.Holds), "")
	}

	var under exhibit.Tally
	space := f.scaled(ctx)
	found := demo.Series{Name: fmt.Sprintf("computed, %d points of d = 1", space.Len()), X: levels(2, 16, math.Sqrt2)}
	for _, s := range exhibit.Must(scale.Entropic(ctx, metric.Same(space), found.X, &scale.Options{Nodes: 2000})) {
		found.Y, found.Lo, found.Hi = append(found.Y, s.Lo), append(found.Lo, s.Lo), append(found.Hi, s.Hi)
		under.Add(s.Lo <= 8*exhibit.Must(f.accuracy(1, s.Alpha/2)).Hi)
	}
	under.Say(r, "Theorem 3.1", fmt.Sprintf("s of %d points, d = 1, is at most 8 A(alpha/2)", space.Len()), "at every alpha", exhibit.Holds, "")
	entropic.Series = append(entropic.Series, found)
	f.more(ctx, r)
	r.WriteCharts(f.file, accuracy, entropic)
}

// doublingOfBall is what the proof of Theorem 6.1 has of the doubling scale.
func doublingOfBall(ctx context.Context, r *exhibit.Run) {
	var t exhibit.Tally
	for _, d := range exhibit.Must(scale.Doubling(ctx, exhibit.Line(-1, 1, 200), levels(.5, 16, 2), &scale.Options{Nodes: 500})) {
		t.Add(d.Hi > min(1/d.Alpha, 1)/10 && d.Lo <= min(1/d.Alpha, 2))
	}
	t.Say(r, "Theorem 6.1", "min(d/alpha,1)/10 < doubling scale <= min(d/alpha,2), d = 1", "always", exhibit.Holds, "on 201 points of the segment")
}

// coveringNumbers is Lemma A.1 and (6.1).
func coveringNumbers(ctx context.Context, r *exhibit.Run) {
	var t exhibit.Tally
	for _, c := range []struct {
		dim   int
		gamma float64
		f     metric.Finite
	}{{1, .5, exhibit.Line(0, .75, 3)}, {1, .25, exhibit.Line(0, .875, 7)}, {2, .9, exhibit.Must(metric.Scaled(grid(2), 2./3))}} {
		net := exhibit.Must(families.MeasureNet(ctx, c.f, c.f.Len()))
		n := math.Ceil(2 / c.gamma)
		t.Add(math.Log(float64(net.Len())) <= math.Pow(5/c.gamma, float64(c.dim)) && net.CoveringRadius()+1/n <= c.gamma)
	}
	t.Say(r, "Lemma A.1", "a net of e^((5/gamma)^d) measures at most has radius gamma, gamma = 1/2, 1/4, .9", "always", exhibit.Holds,
		"weights in multiples of 1/m, m several times the points, at centers of cells prove the upper end of A without a logarithm")
}

// farFunctions is the paper's space at small alpha, where its diameter 2 shows.
func farFunctions(_ context.Context, r *exhibit.Run) {
	a := exhibit.Must(families.LipschitzAccuracy(1, .01))
	r.Say("Theorem 6.3", "A at alpha = .01, d = 1: near half the diameter", "-", a.String(), exhibit.If(a.Lo > .99, exhibit.Holds), "x and -x alone prove 2/(1+e^(2 alpha))")
}

// functions is the functions on [0,1] that are 1-Lipschitz and 0 at 0, linear between the
// multiples of 1/k and multiples of 1/k there.
func functions(k int) metric.Finite {
	all := [][]float64{{0}}
	for range k {
		var longer [][]float64
		for _, f := range all {
			for _, step := range []float64{-1, 0, 1} {
				longer = append(longer, append(append([]float64(nil), f...), f[len(f)-1]+step))
			}
		}
		all = longer
	}
	return exhibit.Must(metric.Scaled(exhibit.Must(metric.NewPoints(all, metric.Chebyshev{})), 1/float64(k)))
}

// baire compares the closed forms with scales computed on cubes that are built, and their
// powers of alpha with those of the infinite cube.
func baire(ctx context.Context, r *exhibit.Run) {
	power := func(base float64) func(int) float64 {
		return func(k int) float64 { return math.Pow(base, -float64(k)) }
	}
	cube := families.Baire{Privacy: power(2), Utility: power(2)}
	alphas := levels(4, 1<<20, math.Pow(2, 0.25))
	for _, c := range []struct {
		base, want float64 // base^-k is the distance of the loss, 2^-k that of privacy
		paper, why string
	}{{2, -1, "-1", ""}, {3, -math.Log2(3), "-", "by (6.4)"}} {
		of := families.Baire{Privacy: power(2), Utility: power(c.base)}
		var s, so []float64
		for _, alpha := range alphas {
			s, so = append(s, exhibit.Must(of.EntropicScale(alpha)).Hi), append(so, exhibit.Must(of.DiametricScale(alpha)).Hi)
		}
		a, b := exhibit.Slope(alphas, s), exhibit.Slope(alphas, so)
		r.Say("Remark 6.5", fmt.Sprintf("exponent of s, s_o: privacy 2^-k, loss %v^-k", c.base), c.paper, fmt.Sprintf("%.3f, %.3f", a, b),
			exhibit.If(math.Abs(a-c.want) < 0.02 && math.Abs(b-c.want) < 0.02, exhibit.Holds), c.why)
	}

	built := cube
	built.Depth = exhibit.Size(r, 10, 16)
	space := exhibit.Must(built.Space())
	alphas = levels(1, 2048, math.Sqrt2)
	found := exhibit.Must(scale.Entropic(ctx, space, alphas, nil))
	wide := exhibit.Must(scale.Diametric(ctx, space, alphas, nil))
	var same, within exhibit.Tally
	for i, alpha := range alphas {
		s, so := exhibit.Must(built.EntropicScale(alpha)), exhibit.Must(built.DiametricScale(alpha))
		same.Add(found[i].Exact() && s.Contains(found[i].Lo) && wide[i].Lo <= so.Hi && so.Lo <= wide[i].Hi)
	}
	same.Say(r, "Theorem 6.4", fmt.Sprintf("(6.4) has the scales of the cube of %d points", space.Len()), "at every alpha", exhibit.Holds, "")

	cube.Depth = exhibit.Size(r, 6, 8)
	s := sample{Bimetric: exhibit.Must(cube.Space())}
	least, most, last := math.Inf(1), 0.0, 0.0
	for _, alpha := range levels(4, 1024, 2) {
		s = s.at(ctx, alpha)
		best := s.optimum(ctx)
		within.Add(max(s.entropic2.Hi/8, s.diametric2.Hi/5) <= best.DualBound && best.Objective <= exhibit.Must(entropy.RelaxedBound(s.entropic3.Hi, s.diametric7.Hi, 1)))
		if last = best.Objective * alpha; alpha <= 64 {
			least, most = min(least, best.DualBound*alpha), max(most, last)
		}
	}
	within.Say(r, "Theorem 1.7", "A between max(s/8, s_o/5) at 2 alpha and s(alpha/3) + 14 s_o(alpha/7)", "up to constants", exhibit.Holds, "")
	r.Say("Section 1.3 (4)", fmt.Sprintf("alpha A on {0,1}^%d from alpha = 4 to 64, and at 1024", cube.Depth), "a constant (1.4)", fmt.Sprintf("%.3f to %.3f, %.2g", least, most, last),
		exhibit.If(most < 2*least && last < least/10, exhibit.Corrected), "Remark 6.5 proves it of infinite sequences; those of d bits follow while alpha is at most of the order of 2^d")
}

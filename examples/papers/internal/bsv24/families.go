package bsv24

import (
	"context"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/entropy/families"
	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/metric"
	"gonum.org/v1/gonum/stat"
)

// family is a family of spaces, one for each dimension, whose optimal accuracy A and
// entropic scale s are a power of alpha up to constants.
type family struct {
	name, file string
	accuracy   func(dim int, alpha float64) (scale.Interval, error)
	least      func(dim int, alpha float64) float64 // at most s
	exponent   func(dim int) float64                // of alpha, in the paper
	dims       []int
	why        string // for the plane
	// scaled is a finite subset of the space at dimension 1, whose entropic scale is
	// computed; solved is a smaller one, whose optimum is.
	scaled, solved func(ctx context.Context) (metric.Finite, error)
}

var (
	balls = family{
		name: "the unit ball", file: "bsv24-balls.png", accuracy: families.BallAccuracy, least: leastOfBall, dims: []int{1, 2, 10},
		exponent: func(int) float64 { return -1 },
		scaled:   func(context.Context) (metric.Finite, error) { return segment(-1, 1, 800) },
		solved:   func(context.Context) (metric.Finite, error) { return segment(-1, 1, 64) },
	}
	measures = family{
		name: "measures on [0,1]^d", file: "bsv24-measures.png", accuracy: families.MeasuresAccuracy, least: leastOfMeasures, dims: []int{1, 2, 3},
		exponent: overDim, why: "in the plane the upper end here has a logarithm that the paper's has not",
		scaled: func(ctx context.Context) (metric.Finite, error) { return measureNet(ctx, 5, 8) },
		solved: func(ctx context.Context) (metric.Finite, error) { return measureNet(ctx, 4, 4) },
	}
	lipschitz = family{
		name: "Lipschitz functions on [0,1]^d", file: "bsv24-lipschitz.png", accuracy: families.LipschitzAccuracy, least: leastOfFunctions, dims: []int{1, 2, 3},
		exponent: overDim,
		scaled:   func(context.Context) (metric.Finite, error) { return functions(4) },
		solved:   func(context.Context) (metric.Finite, error) { return functions(3) },
	}
)

func overDim(dim int) float64 { return -1 / float64(dim+1) }

// leastOfBall is below the entropic scale of the unit ball: balls of radius s around a
// maximal s-separated set of B(0,r) cover it, so that (r/s)^d <= N <= e^(alpha r); at
// r = min(1, d/alpha).
func leastOfBall(dim int, alpha float64) float64 {
	r := min(1, float64(dim)/alpha)
	return r * math.Exp(-alpha*r/float64(dim))
}

// leastOfFunctions: 1/2 and on each of k^d cells a pyramid of height 1/2k, up or down,
// are 2^(k^d) functions 1/k apart within 1/2k of the constant.
func leastOfFunctions(dim int, alpha float64) float64 {
	return 1 / leastCells(func(k float64) bool { return math.Pow(k, float64(dim))*math.Ln2 > alpha/(2*k) })
}

// leastOfMeasures: m pairs of neighbors in a grid of gaps 1/k, of which one or the other
// point has the mass 1/m. By Gilbert's bound 2^(m(1-H(1/4))) of these measures, H the
// entropy in bits, differ in more than m/4 pairs, and are 1/4k apart at least; all are
// within 1/2k of the measure that halves all masses.
func leastOfMeasures(dim int, alpha float64) float64 {
	bits := 1 + 0.25*math.Log2(0.25) + 0.75*math.Log2(0.75) // 1 - H(1/4)
	return 1 / (4 * leastCells(func(k float64) bool {
		return math.Floor(math.Pow(k+1, float64(dim))/2)*bits*math.Ln2 > alpha/(2*k)
	}))
}

// leastCells is the least k >= 1 that is enough.
func leastCells(enough func(k float64) bool) float64 {
	k := 1.0
	for !enough(k) {
		k++
	}
	return k
}

// run compares exponents, and draws what encloses A and s in every dimension.
func (f family) run(ctx context.Context, r *exhibit.Run) error {
	title := func(what string) *demo.Chart {
		return &demo.Chart{Title: f.name + ": " + what, X: "alpha", Y: "accuracy, scale", LogX: true, LogY: true,
			Note: "Bands enclose what they are for, lines are their middle. A finite subset has at most twice the accuracy, and at most the scale."}
	}
	accuracy, entropic := title("optimal accuracy A"), title("entropic scale s")
	alphas := levels(0.1, 1e8, math.Pow(10, 0.25))
	for _, dim := range f.dims {
		const upTo = 20 // the constant between the ends of A
		var a, s demo.Series
		for _, alpha := range alphas {
			at := exhibit.Must(f.accuracy(dim, alpha))
			half := exhibit.Must(f.accuracy(dim, alpha/2))
			a.Lo, a.Hi = append(a.Lo, at.Lo), append(a.Hi, at.Hi)
			s.Lo, s.Hi = append(s.Lo, f.least(dim, alpha)), append(s.Hi, 8*half.Hi) // Theorem 3.1
		}
		accuracy.Series = append(accuracy.Series, band(fmt.Sprintf("d = %d", dim), alphas, a.Lo, a.Hi))
		entropic.Series = append(entropic.Series, band(fmt.Sprintf("d = %d", dim), alphas, s.Lo, s.Hi))
		say := func(what string, ends demo.Series) {
			low, high, want := exponent(alphas, ends.Lo, 1e4), exponent(alphas, ends.Hi, 1e4), f.exponent(dim)
			r.Say("", fmt.Sprintf("exponent of alpha, d = %d: %s", dim, what), want, fmt.Sprintf("%.3f, %.3f", low, high),
				exhibit.If(math.Abs(low-want) < 0.03 && math.Abs(high-want) < 0.03, exhibit.Holds), "")
		}
		say("lower, upper end of A", a)
		say("lower, upper end of s", s)
		wide := 0.0
		for i := range alphas {
			wide = max(wide, a.Hi[i]/a.Lo[i])
		}
		why := ""
		if dim == 2 {
			why = f.why
		}
		r.Say("", fmt.Sprintf("upper over lower end of A, d = %d, alpha from .1 to 1e8", dim), "a constant", fmt.Sprintf("at most %.1f", wide),
			exhibit.If(wide < upTo, exhibit.Holds), why)
	}
	if err := f.finite(ctx, r, accuracy, entropic); err != nil {
		return err
	}
	return r.WriteCharts(f.file, accuracy, entropic)
}

// band is a series between two others.
func band(name string, x, lo, hi []float64) demo.Series {
	s := demo.Series{Name: name, X: x, Lo: lo, Hi: hi}
	for i := range x {
		s.Y = append(s.Y, math.Sqrt(lo[i]*hi[i]))
	}
	return s
}

// finite computes the entropic scale and the optimum of finite subsets at d = 1.
func (f family) finite(ctx context.Context, r *exhibit.Run, accuracy, entropic *demo.Chart) error {
	space := exhibit.Must(f.scaled(ctx))
	alphas := levels(2, 16, math.Sqrt2)
	scales := exhibit.Must(scale.Entropic(ctx, metric.Same(space), alphas, &scale.Options{Nodes: 2000}))
	found := demo.Series{Name: fmt.Sprintf("computed, %d points of d = 1", space.Len()), X: alphas}
	under := 0
	for i, s := range scales {
		found.Y, found.Lo, found.Hi = append(found.Y, s.Lo), append(found.Lo, s.Lo), append(found.Hi, s.Hi)
		a := exhibit.Must(f.accuracy(1, alphas[i]/2))
		if s.Lo <= 8*a.Hi {
			under++
		}
	}
	entropic.Series = append(entropic.Series, found)
	r.Say("", fmt.Sprintf("s of %d points, d = 1, is at most 8 A(alpha/2)", space.Len()), "at every alpha (Theorem 3.1)",
		fmt.Sprintf("%d of %d", under, len(alphas)), exhibit.If(under == len(alphas), exhibit.Holds), "")

	small := exhibit.Must(f.solved(ctx))
	solved := demo.Series{Name: fmt.Sprintf("linear program, %d points of d = 1", small.Len()), Cloud: true,
		X: exhibit.Size(r, []float64{1, 4, 16}, levels(0.5, 64, math.Sqrt2))}
	under = 0
	for _, alpha := range solved.X {
		best := exhibit.Must(lp.Optimal(ctx, metric.Same(small), alpha, &lp.Options{Tolerance: 1e-3}))
		a := exhibit.Must(f.accuracy(1, alpha))
		if best.DualBound <= 2*a.Hi {
			under++
		}
		solved.Y = append(solved.Y, best.Objective)
	}
	accuracy.Series = append(accuracy.Series, solved)
	r.Say("", fmt.Sprintf("optimum of %d points, d = 1, is at most 2 A", small.Len()), "at every alpha", fmt.Sprintf("%d of %d", under, len(solved.X)),
		exhibit.If(under == len(solved.X), exhibit.Holds), "a linear program; outputs of the space move to the nearest point of the subset")
	return nil
}

// exponent is the slope of the line fitted to ln y over ln x where x >= from.
func exponent(x, y []float64, from float64) float64 {
	var lx, ly []float64
	for i := range x {
		if x[i] >= from {
			lx, ly = append(lx, math.Log(x[i])), append(ly, math.Log(y[i]))
		}
	}
	_, slope := stat.LinearRegression(lx, ly, nil, false)
	return slope
}

// levels are from, from*by, ... up to last.
func levels(from, last, by float64) (alphas []float64) {
	for a := from; a <= last*(1+1e-9); a *= by {
		alphas = append(alphas, a)
	}
	return alphas
}

// segment is k+1 points of the line from lo to hi, at equal gaps.
func segment(lo, hi float64, k int) (metric.Finite, error) {
	points := make([]float64, k+1)
	for i := range points {
		points[i] = lo + (hi-lo)*float64(i)/float64(k)
	}
	return metric.NewPoints(points, metric.Numbers[float64]{})
}

// measureNet is the probability measures on n points of [0,1] with weights in
// multiples of 1/m.
func measureNet(ctx context.Context, n, m int) (metric.Finite, error) {
	line, err := segment(0, 1, n-1)
	if err != nil {
		return nil, err
	}
	net, err := families.MeasureNet(ctx, line, m)
	if err != nil {
		return nil, err
	}
	return net.Wasserstein(ctx, nil)
}

// functions is the functions on [0,1] that are 1-Lipschitz, linear between the
// multiples of 1/k and multiples of 1/k there.
func functions(k int) (metric.Finite, error) {
	var all [][]float64
	var extend func(f []float64)
	extend = func(f []float64) {
		if len(f) == k+1 {
			all = append(all, append([]float64(nil), f...))
			return
		}
		for v := range k + 1 {
			if len(f) == 0 || math.Abs(float64(v)-f[len(f)-1]) <= 1 {
				extend(append(f, float64(v)))
			}
		}
	}
	extend(nil)
	points, err := metric.NewPoints(all, metric.Chebyshev{})
	if err != nil {
		return nil, err
	}
	return metric.Scaled(points, 1/float64(k))
}

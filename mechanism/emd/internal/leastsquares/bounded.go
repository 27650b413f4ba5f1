package leastsquares

import (
	"context"
	"math"

	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
)

// Bounded makes of a least squares fit an estimate with a proved bound of its error in the earth
// mover's distance.
//
// The rows of A stand for points, the anchors, and a column, of sum 1, for one output: A p is p with the
// mass of each output moved to anchors. A tree on the anchors, whose edges are at least as long as the
// distances of their ends, gives the seminorm
//
//	F(v) = sum over anchors r but the root of Length[r] |sum of v at and below r|,
//
// with W1(u, v) <= F(u-v) for measures of mass 1 on the anchors. Let items p be, on average, at distance
// s of their anchors, outputs at distance s', and y = A p + z. The fit q of y is taken if F(A q - y) <=
// t, what F(z) was planned to be. Then, as A q - A p = (A q - y) + z,
//
//	W1(q, p) <= W1(q, A q) + F(A q - A p) + W1(A p, p) <= s' + t + F(z) + s.
//
// Else the answer is the distribution u on the anchors with the least F(u - y), which is at most F(A p -
// y) = F(z): W1(u, p) <= 2 F(z) + s, and what it takes to move from anchors to outputs. Both are at most
// s + s' + F(z) + max(t, F(z)), if an anchor is within s' of its output: see [Bounded.Bound].
type Bounded struct {
	Parent    []int     // Parent[r] < r, and Parent[0] = -1
	Length    []float64 // of the edge from r to its parent
	Output    []int     // the output that takes the mass of an anchor
	Blur      float64   // s + s'
	Deviation float64   // of the noise planned for
	Whole     int64     // what stands for a weight of 1 in measurements, which are integers
}

// Dim is the number of anchors, and Work the length of an accumulator.
func (b *Bounded) Dim() int  { return len(b.Parent) }
func (b *Bounded) Work() int { return b.Dim() }

// Largest bounds the weights.
func (b *Bounded) Largest() int64 { return b.Whole }

// Finish has nothing to do: an accumulator is the sum.
func (b *Bounded) Finish([]int64) {}

// Noise bounds F(z) in square mean, for independent z of mean 0 and the given standard deviation: the
// sum of m of them is sqrt(m) deviations.
func (b *Bounded) Noise(deviation float64) float64 {
	below := make([]float64, len(b.Parent))
	sum := 0.0
	for r := len(below) - 1; r > 0; r-- {
		below[r]++
		below[b.Parent[r]] += below[r]
		sum += float64(b.Length[r] * math.Sqrt(below[r]))
	}
	return float64(sum * deviation)
}

// Resolution bounds the distance of the items from the fit to their mean without noise. That ends at a
// gap of .001 deviation^2 and so within .045 deviations of A p in l2: by Cauchy and Schwarz, F is at
// most what Noise is of that.
func (b *Bounded) Resolution() float64 { return b.Blur + b.Noise(0.045*b.Deviation) }

// Bound bounds the expected error for noise of the given deviation, in quanta: Blur, and the mean of
// F(z) + max(t, F(z)), t being the Noise of the planned deviation and T that of the true one. For a mean
// m of F(z), 2 max(t,F) = t + F + |t-F| and |t-F| is sqrt(T^2 - 2mt + t^2) at most in square mean, so that
//
//	t/2 + 3m/2 + sqrt(T^2 - 2mt + t^2)/2
//
// is a bound. It is concave in m <= T, and largest where the root is t/3 or else at
// T: 25/12 t for T = t.
func (b *Bounded) Bound(_, deviation float64) float64 {
	t, top := b.Noise(b.Deviation), b.Noise(deviation/float64(b.Whole))
	if apart := math.Abs(top - t); apart >= t/3 {
		return b.Blur + (t+float64(3*top)+apart)/2
	}
	return b.Blur + float64(0.75*top*(top/t)) + float64(4*t/3)
}

// cost is F.
func (b *Bounded) cost(v []float64) float64 {
	below, sum := append([]float64(nil), v...), 0.0
	for r := len(below) - 1; r > 0; r-- {
		below[b.Parent[r]] += below[r]
		sum += float64(b.Length[r] * math.Abs(below[r]))
	}
	return sum
}

// Fit returns the distribution on the outputs for a noisy mean y, in quanta, which it overwrites.
func (b *Bounded) Fit(ctx context.Context, a Matrix, y []float64) ([]float64, error) {
	for i := range y {
		y[i] /= float64(b.Whole)
	}
	p, _, err := Fit(ctx, a, y, b.Deviation)
	if err != nil {
		return nil, err
	}
	rest := make([]float64, len(y))
	a.Apply(rest, p)
	for i, v := range y {
		rest[i] -= v
	}
	if b.cost(rest) <= b.Noise(b.Deviation) {
		return p, nil
	}
	u, err := b.nearest(y)
	if err != nil {
		return nil, err
	}
	clear(p)
	for r, m := range u {
		p[b.Output[r]] += m
	}
	return p, nil
}

// nearest returns a distribution on the anchors nearest to y in F.
func (b *Bounded) nearest(y []float64) ([]float64, error) {
	// Every anchor gets a leaf of its own, for the mass that stays.
	k := len(b.Parent)
	parent, length := append([]int(nil), b.Parent...), append([]float64(nil), b.Length...)
	for r := range k {
		parent, length = append(parent, r), append(length, 0)
	}
	t, err := metric.NewTree(parent, length)
	if err != nil {
		return nil, err
	}
	g := make([]float64, k)
	for i, leaf := range t.Leaves() {
		g[i] = y[leaf-k]
	}
	g, _, err = wasserstein.ProjectTree(t, g)
	if err != nil {
		return nil, err
	}
	u := make([]float64, k)
	for i, leaf := range t.Leaves() {
		u[leaf-k] = g[i]
	}
	return u, nil
}

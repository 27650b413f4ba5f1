package frequency

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// maxCondition is what [New] takes. Estimates through a channel of condition c err by up to about
// c/sqrt(N), and by c*2^-42 for the rounding of its probabilities.
const maxCondition = 0x1p20

// ConditionError reports a channel whose outputs say too little of its inputs.
type ConditionError struct {
	Op        string  // the function that refused it
	Condition float64 // +Inf for a channel without an inverse
	Limit     float64 // the largest that is accepted
}

func (e *ConditionError) Error() string {
	return fmt.Sprintf("%s: the channel's condition number %.3g is above %.3g: its outputs do not determine its inputs; raise alpha0 or merge close items", e.Op, e.Condition, e.Limit)
}

// inverse estimates the distribution of a channel's inputs. With A the channel's matrix, a row per
// input and a column per output, it is an R with A*R = I: f*R is unbiased for outputs of frequencies f.
type inverse struct {
	a, r *mat.Dense // n x m and m x n
	// condition is the quotient of the singular values of the channel, columns scaled by the inverse
	// roots of their probabilities.
	condition float64
}

// newInverse computes the inverse of c of least variance where all inputs are equally likely: R =
// Q^-1 A' (A Q^-1 A')^-1, Q the diagonal matrix of the outputs' probabilities then. Its rows sum to 1,
// as A Q^-1 A' takes the uniform distribution to the vector of ones, and so does Q^-1 A' itself.
//
// It is the pseudo-inverse of B = A Q^(-1/2), by singular values. A condition above limit is a
// *ConditionError; with fewer outputs than inputs it is +Inf.
// O(n^2 m) time; more than 16 GiB are a *metric.MemoryError.
func newInverse(ctx context.Context, op string, c *mechanism.Channel, limit float64) (*inverse, error) {
	n, m := c.Len(), c.Outputs()
	if err := fault.Memory(op, 4*float64(n)*float64(m), 8); err != nil {
		return nil, err
	}
	a := mat.NewDense(n, m, nil)
	if err := parallel.Chunks(ctx, n, 8, 0, nil, func(_, lo, hi int) {
		for x := lo; x < hi; x++ {
			c.Row(x, a.RawRowView(x))
		}
	}); err != nil {
		return nil, err
	}
	scale := make([]float64, m) // Q^(-1/2), 0 for an output that never comes
	for x := range n {
		for y, p := range a.RawRowView(x) {
			if math.IsNaN(p) {
				return nil, fmt.Errorf("%s: the weights of input %d are no distribution", op, x)
			}
			scale[y] += p / float64(n)
		}
	}
	b := mat.NewDense(n, m, nil)
	for y, q := range scale {
		if q > 0 {
			scale[y] = 1 / math.Sqrt(q)
		}
	}
	b.Apply(func(_, y int, p float64) float64 { return p * scale[y] }, a)
	v := &inverse{a: a}
	done := make(chan error, 1)
	go func() { done <- v.decompose(op, b, scale, limit) }()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case err := <-done:
		return v, err
	}
}

// decompose finds the condition number, and the inverse where that is at most limit. gonum's
// decomposition looks at no context and is left to end in the background.
func (v *inverse) decompose(op string, b *mat.Dense, scale []float64, limit float64) error {
	n, m := b.Dims()
	var svd mat.SVD
	if !svd.Factorize(b, mat.SVDThin) {
		return fmt.Errorf("%s: the singular value decomposition does not converge", op)
	}
	values := svd.Values(nil)
	v.condition = values[0] / values[len(values)-1]
	if m < n || math.IsNaN(v.condition) {
		v.condition = math.Inf(1)
	}
	if v.condition > limit || math.IsInf(v.condition, 1) {
		return &ConditionError{op, v.condition, limit}
	}
	// R = Q^(-1/2) V diag(1/values) U'.
	var left, right mat.Dense
	svd.UTo(&left)
	svd.VTo(&right)
	right.Apply(func(y, k int, x float64) float64 { return scale[y] * x / values[k] }, &right)
	v.r = new(mat.Dense)
	v.r.Mul(&right, left.T())
	v.refine()
	return nil
}

// refine does one step of Newton's method, R + R(I - AR), which squares the
// error of A*R and takes the condition number out of it.
func (v *inverse) refine() {
	n, _ := v.a.Dims()
	var e, d mat.Dense // AR - I and what R has too much
	e.Mul(v.a, v.r)
	for i := range n {
		e.Set(i, i, e.At(i, i)-1)
	}
	d.Mul(v.r, &e)
	v.r.Sub(v.r, &d)
}

// estimate implements inverter.
func (v *inverse) estimate(f, mean, variance []float64) {
	clear(mean)
	clear(variance)
	for y, p := range f {
		if p == 0 {
			continue
		}
		for x, w := range v.r.RawRowView(y) {
			mean[x] += float64(p * w)
			variance[x] += float64(p * w * w)
		}
	}
	for x := range variance {
		variance[x] = max(0, variance[x]-mean[x])
	}
}

// weightedVariance returns the largest expected sum over j of weight[j]*N*Var_j over all
// distributions of N items: linear, so largest where all items are the same.
func (v *inverse) weightedVariance(weight []float64) float64 {
	n, m := v.a.Dims()
	norm := make([]float64, m)
	for y := range norm {
		for j, w := range v.r.RawRowView(y) {
			norm[y] += float64(weight[j] * w * w)
		}
	}
	worst := 0.0
	for x := range n {
		s := -weight[x]
		for y, p := range v.a.RawRowView(x) {
			s += float64(p * norm[y])
		}
		worst = max(worst, s)
	}
	return worst
}

// errorBound bounds E W1 of the estimate's error on space, times sqrt N.
//
// A signed measure e of total 0 has W1(e) <= sum of w_j |e_j| for w_j = diam/2 (move all excess
// anywhere) and for w_j = d(j,o), any o (move everything through o). E|e_j| <= sqrt(Var_j), and by
// Cauchy and Schwarz sum w_j sqrt(Var_j) <= sqrt(sum w_j * sum w_j Var_j).
func (v *inverse) errorBound(space metric.Finite, diameter float64) float64 {
	n := space.Len()
	weights := make([]float64, n)
	for j := range weights {
		weights[j] = diameter / 2
	}
	bound := math.Sqrt(float64(n) * diameter / 2 * v.weightedVariance(weights))
	best := math.Inf(1)
	var row []float64
	for o := range n {
		row = finite.Row(space, o, row)
		if sum := floats.Sum(row); sum < best {
			best = sum
			copy(weights, row)
		}
	}
	return min(bound, math.Sqrt(best*v.weightedVariance(weights)))
}

package mechanism

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/metric"
)

// Losses holds the expected loss of a channel at every input.
type Losses []float64

// Worst returns the largest expected loss and the first input that has it.
func (l Losses) Worst() (loss float64, x int) {
	loss = math.Inf(-1)
	for i, v := range l {
		if v > loss {
			loss, x = v, i
		}
	}
	return loss, x
}

// Mean returns the expected loss of an input drawn from prior, uniform where prior is nil. A prior of the
// wrong length, with a negative entry or a sum other than 1 (within 1e-9) is refused.
func (l Losses) Mean(prior []float64) (float64, error) {
	prior, err := distribution("mechanism: Losses.Mean", prior, len(l))
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for x, v := range l {
		sum += float64(prior[x] * v)
	}
	return sum, nil
}

// distribution returns a prior on n inputs, uniform where it is nil. Its sum may be
// 1e-9 from 1: the rounding of up to 10^6 entries.
func distribution(op string, prior []float64, n int) ([]float64, error) {
	if prior == nil {
		return slices.Repeat([]float64{1 / float64(n)}, n), fault.Empty(op, "the inputs", n)
	}
	return prior, fault.Distribution(op, "prior", prior, n, 1e-9)
}

// Quantile returns the smallest loss that at least a fraction q of the inputs
// do not exceed, 0 < q <= 1, such as 0.95.
func (l Losses) Quantile(q float64) (float64, error) {
	const op = "mechanism: Losses.Quantile"
	if !(q > 0 && q <= 1) {
		return 0, fault.Value(op, "q", q, "a number in (0, 1]")
	}
	if err := fault.Empty(op, "the inputs", len(l)); err != nil {
		return 0, err
	}
	s := slices.Sorted(slices.Values(l))
	// ceil(q*n) computed so that q = 0.07 of 100 is 7 and not 8.
	k := int(math.Ceil(float64(q*float64(len(s))) - 1e-9))
	return s[max(k, 1)-1], nil
}

// Loss returns the expected loss at every input: the mean of rho(x, Output(y)) over the outputs
// y of x. rho must have Len() points, or more where labels point beyond; a negative or
// non-finite distance is a [*metric.Violation]. O(Len()*Outputs()).
func (c *Channel) Loss(ctx context.Context, rho metric.Finite) (Losses, error) {
	const op = "mechanism: Channel.Loss"
	if err := c.checkLoss(op, rho); err != nil {
		return nil, err
	}
	l := make(Losses, c.n)
	err := c.eachRow(ctx, op, 0, rho, func(x int, r row, dist []float64) { l[x] = c.lossOf(r, dist) })
	if err != nil {
		return nil, err
	}
	return l, nil
}

// LossAt is the expected loss at input x alone, for channels too large for
// [Channel.Loss]. O(Len() + Outputs()).
func (c *Channel) LossAt(x int, rho metric.Finite) (float64, error) {
	const op = "mechanism: Channel.LossAt"
	if err := cmp.Or(c.checkLoss(op, rho), c.checkInput(op, x)); err != nil {
		return 0, err
	}
	var buf []float64
	r, err := c.read(op, x, &buf)
	if err != nil {
		return 0, err
	}
	dist, err := distances(op, rho, x, nil)
	if err != nil {
		return 0, err
	}
	return c.lossOf(r, dist), nil
}

func (c *Channel) lossOf(r row, dist []float64) float64 {
	sum := 0.0
	for y := range r.W {
		if p := r.prob(y); p > 0 {
			sum += float64(p * dist[c.Output(y)])
		}
	}
	return sum
}

func (c *Channel) checkLoss(op string, rho metric.Finite) error {
	if err := c.built(op); err != nil {
		return err
	}
	want := c.n
	for y := range c.m {
		want = max(want, c.Output(y)+1)
	}
	// A larger space than asked for is allowed only where labels reach beyond
	// the inputs: otherwise it is another space by mistake.
	if n := fault.Len(rho); n < want || want == c.n && n != c.n {
		return &fault.SizeError{Op: op, Arg: "rho", Got: n, Want: fmt.Sprint(want)}
	}
	return nil
}

// Remap returns, for every output, the point of rho that minimizes the expected loss given that output and
// prior (nil: uniform): its own point where none is better, else the first of the best. Applied with
// [Channel.Relabel] it costs no privacy and never raises the mean loss under this prior. rho is as for
// [Channel.Loss]. O(Len()*Outputs()*rho.Len()), and two matrices of Len() rows. Source: Chatzikokolakis,
// ElSalamouny, Palamidessi, "Efficient utility improvement for location privacy", 2017.
func (c *Channel) Remap(ctx context.Context, prior []float64, rho metric.Finite) ([]int, error) {
	const op = "mechanism: Channel.Remap"
	if err := c.checkLoss(op, rho); err != nil {
		return nil, err
	}
	remap := make([]int, c.m)
	err := c.guesses(ctx, op, prior, rho, func(y int, cost []float64) {
		best := c.Output(y)
		for z, v := range cost {
			if v < cost[best] {
				best = z
			}
		}
		remap[y] = best
	})
	if err != nil {
		return nil, err
	}
	return remap, nil
}

// AdversaryError returns how far the best guess of the input is from it on average, for an adversary who
// knows the channel and that inputs are drawn from prior (nil: uniform), and sees the output: the sum over
// outputs y of the least, over points z of rho, of sum_x prior[x] P{y at x} rho(x,z). rho has Len() points
// or more; the first ones are the inputs, and all can be guessed. A negative or non-finite distance is a
// [*metric.Violation]. An estimate, rounded to nearest. O(Len()*Outputs()*rho.Len()), and two matrices of
// Len() rows. Source: Shokri, Theodorakopoulos, Le Boudec, Hubaux, "Quantifying location privacy", 2011.
func (c *Channel) AdversaryError(ctx context.Context, prior []float64, rho metric.Finite) (float64, error) {
	const op = "mechanism: Channel.AdversaryError"
	if err := c.built(op); err != nil {
		return 0, err
	}
	if err := fault.AtLeast(op, "rho", fault.Len(rho), c.n); err != nil {
		return 0, err
	}
	least := make([]float64, c.m)
	if err := c.guesses(ctx, op, prior, rho, func(y int, cost []float64) { least[y] = slices.Min(cost) }); err != nil {
		return 0, err
	}
	sum := 0.0
	for _, v := range least {
		sum += v
	}
	return sum, nil
}

// guesses calls f for every output y with the part that y has in the mean distance
// from the input to each point of rho. f may run concurrently.
func (c *Channel) guesses(ctx context.Context, op string, prior []float64, rho metric.Finite, f func(y int, cost []float64)) error {
	prior, err := distribution(op, prior, c.n)
	if err != nil {
		return err
	}
	k := rho.Len()
	if err := fault.Memory(op, float64(c.n)*(float64(c.m)+float64(k)), 8); err != nil {
		return err
	}
	joint, dist := make([]float64, c.n*c.m), make([]float64, c.n*k)
	err = c.eachRow(ctx, op, 0, rho, func(x int, r row, d []float64) {
		copy(dist[x*k:], d)
		for y := range r.W {
			joint[x*c.m+y] = prior[x] * r.prob(y)
		}
	})
	if err != nil {
		return err
	}
	const together = 4 // outputs to a pass over dist
	return parallel.Chunks(ctx, c.m, together, 0, nil, func(_, lo, hi int) {
		costs := make([]float64, (hi-lo)*k)
		for x := range c.n {
			for y := lo; y < hi; y++ {
				if p := joint[x*c.m+y]; p > 0 {
					cost := costs[(y-lo)*k : (y-lo+1)*k]
					for z, d := range dist[x*k : (x+1)*k] {
						cost[z] += float64(p * d)
					}
				}
			}
		}
		for y := lo; y < hi; y++ {
			f(y, costs[(y-lo)*k:(y-lo+1)*k])
		}
	})
}

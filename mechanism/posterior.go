package mechanism

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/metric"
)

// Posterior returns the distribution of the input given that output y was
// seen, when inputs are drawn from prior (nil: uniform), in dst where its
// capacity allows. An output of probability 0 under the prior is an error.
// O(Len()), O(Len()*Outputs()) if lazy.
func (c *Channel) Posterior(prior []float64, y int, dst []float64) ([]float64, error) {
	const op = "mechanism: Channel.Posterior"
	if err := c.built(op); err != nil {
		return nil, err
	}
	if err := fault.Index(op, "y", y, c.m); err != nil {
		return nil, err
	}
	if err := c.checkPrior(op, prior); err != nil {
		return nil, err
	}
	dst = slices.Grow(dst[:0], c.n)[:c.n]
	sum := 0.0
	for x := range dst {
		dst[x] = c.Prob(x, y)
		if prior != nil {
			dst[x] *= prior[x]
		}
		sum += dst[x]
	}
	if !(sum > 0) {
		return nil, fmt.Errorf("%s: output %d has probability 0 under the prior", op, y)
	}
	for x := range dst {
		dst[x] /= sum
	}
	return dst, nil
}

func (c *Channel) checkPrior(op string, prior []float64) error {
	if prior == nil {
		return nil
	}
	return fault.Distribution(op, "prior", prior, c.n, priorTol)
}

// Remap returns, for every output, the point of rho that minimises the expected
// loss given that output (Bayesian remap, as in Chatzikokolakis et al. 2017):
// the output's own point where none is better, else the first of the best.
// Apply it with [Channel.Relabel]; being post-processing it costs no privacy,
// and it never raises the mean loss under this prior. rho is as for
// [Channel.Loss]. O(Len()*Outputs()*rho.Len()) on every core, and the memory of
// two matrices of Len() rows.
func (c *Channel) Remap(prior []float64, rho metric.Finite) ([]int, error) {
	return c.RemapContext(context.Background(), prior, rho)
}

// RemapContext is [Channel.Remap], stopped early when ctx is done.
func (c *Channel) RemapContext(ctx context.Context, prior []float64, rho metric.Finite) ([]int, error) {
	const op = "mechanism: Channel.Remap"
	if err := c.checkLoss(op, rho); err != nil {
		return nil, err
	}
	if err := c.checkPrior(op, prior); err != nil {
		return nil, err
	}
	k := rho.Len()
	if err := fault.Memory(op, float64(c.n)*float64(c.m+k), 8); err != nil {
		return nil, err
	}
	joint, dist := make([]float64, c.n*c.m), make([]float64, c.n*k)
	err := c.eachRow(ctx, op, rho, func(x int, r row, d []float64) {
		copy(dist[x*k:], d)
		p := 1 / float64(c.n)
		if prior != nil {
			p = prior[x]
		}
		for y := range r.W {
			joint[x*c.m+y] = p * r.prob(y)
		}
	})
	if err != nil {
		return nil, err
	}
	remap := make([]int, c.m)
	err = parallel.Chunks(ctx, c.m, 1, 0, nil, func(_, lo, hi int) {
		cost := make([]float64, k)
		for y := lo; y < hi; y++ {
			clear(cost)
			for x := range c.n {
				if p := joint[x*c.m+y]; p > 0 {
					for z, d := range dist[x*k : (x+1)*k] {
						cost[z] += float64(p * d)
					}
				}
			}
			best := c.Output(y)
			for z, v := range cost {
				if v < cost[best] {
					best = z
				}
			}
			remap[y] = best
		}
	})
	if err != nil {
		return nil, err
	}
	return remap, nil
}

// Relabel returns the same channel with output y standing for point labels[y]:
// post-processing, so the guarantee stays. labels is copied.
func (c *Channel) Relabel(labels []int) (*Channel, error) {
	const op = "mechanism: Channel.Relabel"
	if err := c.built(op); err != nil {
		return nil, err
	}
	if len(labels) != c.m {
		return nil, &fault.SizeError{Op: op, Arg: "labels", Got: len(labels), Want: fmt.Sprint(c.m)}
	}
	if err := fault.Indices(op, "labels", labels, math.MaxInt); err != nil {
		return nil, err
	}
	d := *c
	d.labels = slices.Clone(labels)
	return &d, nil
}

package exponential

import (
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/metric"
)

// clusters are the outputs of a relaxed mechanism: points of a net, each with its closed ball of radius s
// under the utility metric, disjoint if an ultrametric.
type clusters struct {
	net   []int
	balls [][]int
}

// sigma writes the privacy distance from x to every ball to dst; row is x's.
func (c *clusters) sigma(row, dst []float64) {
	for j, ball := range c.balls {
		least := math.Inf(1)
		for _, v := range ball {
			if d := row[v]; d < least {
				least = d
			}
		}
		dst[j] = least
	}
}

// clusters makes a greedy maximal s-separated set of outputs, and its balls.
func (r *relaxation) clusters(ctx context.Context, s float64) (*clusters, error) {
	if r.tree != nil {
		return r.cutTree(s), nil
	}
	allowed, outputs := r.b.Utility, r.outputs()
	if r.o.Outputs != nil {
		var err error
		if allowed, err = metric.Subset(allowed, outputs); err != nil {
			return nil, err
		}
	}
	net, err := metric.Net(ctx, allowed, s, nil)
	if err != nil {
		return nil, err
	}
	c := &clusters{net, make([][]int, len(net))}
	for j, y := range net {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		net[j] = outputs[y]
		c.balls[j] = r.index.Ball(net[j], s, nil)
	}
	return c, nil
}

// cutTree is clusters for an ultrametric: O(n).
func (r *relaxation) cutTree(s float64) *clusters {
	label := r.tree.Clusters(s)
	number := slices.Repeat([]int{-1}, len(label)) // of the output for a cluster
	c := &clusters{}
	for _, y := range r.outputs() {
		if k := label[y]; number[k] < 0 {
			number[k] = len(c.net)
			c.net = append(c.net, y)
		}
	}
	c.balls = make([][]int, len(c.net))
	for v, k := range label {
		if j := number[k]; j >= 0 {
			c.balls[j] = append(c.balls[j], v)
		}
	}
	return c
}

// outputs are the points that may be released.
func (r *relaxation) outputs() []int {
	if r.o.Outputs != nil {
		return r.o.Outputs
	}
	return indices(r.b.Len())
}

package exponential

import (
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/metric"
)

// clusters are the outputs of a relaxed mechanism: the points of a net with
// their closed balls of radius s under the utility metric. Ball j is
// member[start[j]:start[j+1]]. Balls of an ultrametric are disjoint.
type clusters struct {
	net, start, member []int
}

// sigma writes the distance of x to every ball to dst, row being the privacy
// distances from x.
func (c *clusters) sigma(row, dst []float64) {
	for j := range dst {
		least := math.Inf(1)
		for _, v := range c.member[c.start[j]:c.start[j+1]] {
			if d := row[v]; d < least {
				least = d
			}
		}
		dst[j] = least
	}
}

// clusters makes a greedy maximal s-separated subset of the points that may be
// released, and its balls.
func (r *relaxation) clusters(ctx context.Context, s float64) (*clusters, error) {
	if r.tree != nil {
		return r.cut(s), nil
	}
	allowed := r.b.Utility
	if r.o.Outputs != nil {
		var err error
		if allowed, err = metric.Subset(allowed, r.o.Outputs); err != nil {
			return nil, err
		}
	}
	net, err := metric.Net(ctx, allowed, s, nil)
	if err != nil {
		return nil, err
	}
	c := &clusters{net: net, start: make([]int, 1, len(net)+1)}
	var ball []int
	for j, y := range net {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if r.o.Outputs != nil {
			y = r.o.Outputs[y]
			net[j] = y
		}
		ball = r.index.Ball(y, s, ball[:0])
		c.member = append(c.member, ball...)
		c.start = append(c.start, len(c.member))
	}
	return c, nil
}

// cut is clusters for an ultrametric: O(n).
func (r *relaxation) cut(s float64) *clusters {
	label := r.tree.Clusters(s)
	number := make([]int, len(label)) // of the output for a cluster, plus 1
	c := &clusters{start: []int{0}}
	represent := func(y int) {
		if k := label[y]; number[k] == 0 {
			c.net = append(c.net, y)
			number[k] = len(c.net)
		}
	}
	if r.o.Outputs == nil {
		for y := range label {
			represent(y)
		}
	} else {
		for _, y := range r.o.Outputs {
			represent(y)
		}
	}
	c.start = make([]int, len(c.net)+1)
	for _, k := range label {
		if j := number[k]; j > 0 {
			c.start[j]++
		}
	}
	for j := range c.net {
		c.start[j+1] += c.start[j]
	}
	c.member = make([]int, c.start[len(c.net)])
	next := slices.Clone(c.start)
	for v, k := range label {
		if j := number[k] - 1; j >= 0 {
			c.member[next[j]] = v
			next[j]++
		}
	}
	return c
}

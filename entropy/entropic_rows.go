package entropy

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"

	"github.com/metricdp/metricdp/entropy/internal/limit"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/metric"
)

const (
	// clusterSample centres come first, clusterBatch at a time after them, and a
	// chunk of clusterRows starts from what earlier batches found.
	clusterSample = 32
	clusterBatch  = 512
	clusterRows   = 16
)

// clusterRow counts the clusters of an ultrametric rho2 in the balls of any
// rho1, one centre at a time. A chunk has one of its own.
type clusterRow struct {
	b      metric.Bimetric
	alpha  float64
	values []float64 // 0 and the heights of rho2
	u      *metric.Ultrametric

	at    int // the scale is values[at] at least, 0 <= at < len(values)
	label []int
	cut   float64 // what label is for
	x     int     // the witness for at > 0
	set   []int

	row  []float64
	near []float64 // by cluster: least distance from x
	who  []int     // and the point that has it
	sort []int
}

// entropicRows is the entropic scale at one level for an ultrametric rho2: one
// row of rho1 a centre, counted at the best value so far, and a bisection where
// that is exceeded, which few centres do. O(n^2) time and O(n) memory.
func entropicRows(ctx context.Context, b metric.Bimetric, u *metric.Ultrametric, alpha float64, o *Options) (Scale, error) {
	n := b.Len()
	best := clusterRow{b: b, alpha: alpha, values: heightsOf(u), u: u, x: -1}
	step := max(1, n/clusterSample)
	run := func(from, to, step int) error {
		count := (to - from + step - 1) / step
		slots := make([]clusterRow, (count+clusterRows-1)/clusterRows)
		err := parallel.Chunks(ctx, count, clusterRows, o.Workers, nil, func(c, lo, hi int) {
			r := clusterRow{b: b, alpha: alpha, values: best.values, u: u, at: best.at, x: -1}
			for i := lo; i < hi && ctx.Err() == nil; i++ {
				r.centre(from + i*step)
			}
			slots[c] = clusterRow{at: r.at, x: r.x, set: r.set}
		})
		if err != nil {
			return err
		}
		for _, r := range slots {
			if r.x >= 0 && r.at > best.at {
				best.at, best.x, best.set = r.at, r.x, r.set
			}
		}
		return ctx.Err()
	}
	if err := run(0, n, step); err != nil {
		return Scale{}, err
	}
	for lo := 0; step > 1 && lo < n; lo += clusterBatch {
		if err := run(lo, min(n, lo+clusterBatch), 1); err != nil {
			return Scale{}, err
		}
		if o.Progress != nil {
			o.Progress(min(n, lo+clusterBatch), n)
		}
	}
	s := noWitness(alpha, ByHierarchy)
	s.Lo, s.Hi = best.values[best.at], best.values[best.at]
	if best.at > 0 {
		s.X, s.Set = best.x, best.set
		s.R = farthest(b.Privacy, s.X, s.Set)
	}
	return s, nil
}

// centre raises at to what the balls around x need.
func (c *clusterRow) centre(x int) {
	c.row = metric.Row(c.b.Privacy, x, c.row)
	last := len(c.values) - 1
	if c.at == last || !c.exceeded(c.values[c.at]) {
		return
	}
	// Somewhere above at no ball around x is exceeded; the greatest height is.
	c.at += 1 + sort.Search(last-c.at-1, func(i int) bool { return !c.exceeded(c.values[c.at+1+i]) })
	c.x = x
	c.exceeded(c.values[c.at-1])
	c.set = slices.Clone(c.set)
}

// exceeded reports whether a ball around the point of the row has too many
// clusters at separation s, and sets set to one point of each.
func (c *clusterRow) exceeded(s float64) bool {
	if c.label == nil || c.cut != s {
		c.label, c.cut = c.u.Clusters(s), s
	}
	k := 1 + slices.Max(c.label)
	c.near, c.sort = slices.Grow(c.near[:0], k)[:k], slices.Grow(c.sort[:0], k)[:k]
	c.who = slices.Grow(c.who[:0], k)[:k]
	for l := range k {
		c.near[l], c.sort[l] = math.Inf(1), l
	}
	for y, l := range c.label {
		if c.row[y] < c.near[l] {
			c.near[l], c.who[l] = c.row[y], y
		}
	}
	slices.SortFunc(c.sort, func(a, b int) int { return cmp.Or(cmp.Compare(c.near[a], c.near[b]), cmp.Compare(a, b)) })
	// The i+1 nearest clusters lie in the ball that reaches the last of them.
	for i := 1; i < k; i++ {
		r := c.near[c.sort[i]]
		if c.alpha*r < math.Log(float64(i+1))+1 && limit.Least(c.alpha, r, i+1) <= i+1 {
			c.set = c.set[:0:0]
			for _, l := range c.sort[:i+1] {
				c.set = append(c.set, c.who[l])
			}
			return true
		}
	}
	return false
}

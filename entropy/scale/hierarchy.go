package scale

import (
	"context"
	"slices"
	"sort"

	"github.com/metricdp/metricdp/entropy/internal/limit"
	"github.com/metricdp/metricdp/entropy/internal/spaces"
	"github.com/metricdp/metricdp/internal/spanning"
	"github.com/metricdp/metricdp/metric"
)

// packClusters is Packing for an ultrametric: the balls of radius s are the
// sets, and one point of each is a separated set.
func packClusters(u *metric.Ultrametric, pts []int, s float64) Count {
	ball := u.Clusters(s)
	number := make(map[int]int)
	c := Count{Proof: ByPartition}
	for _, i := range pts {
		k, ok := number[ball[i]]
		if !ok {
			k = len(c.Sets)
			number[ball[i]] = k
			c.Sets = append(c.Sets, nil)
			c.Separated = append(c.Separated, i)
		}
		c.Sets[k] = append(c.Sets[k], i)
	}
	c.Lo, c.Hi = len(c.Sets), len(c.Sets)
	return c
}

// tree is the binary tree of an ultrametric. Node p, 0 <= p < n-1, joins what stands left and right
// of the gap after position p; among equal heights the leftmost is above. The ball of radius h[p]
// around a point below p is the set below p, or more where the node above is as high.
type tree struct {
	order       []int // order[q] is the point at position q
	h           []float64
	left, right []int32 // the nodes below, or -1 where there is a single point
	first       []int32 // the first position below
	post        []int32 // the nodes, those below before those above
}

func newTree(u *metric.Ultrametric) *tree {
	d := &tree{order: u.Order(), h: u.Heights()}
	m := len(d.h)
	d.left, d.right, d.first = make([]int32, m), make([]int32, m), make([]int32, m)
	spanning.Dendrogram(d.h, func(p, left, right int) {
		d.left[p], d.right[p], d.first[p] = int32(left), int32(right), int32(p)
		if left >= 0 {
			d.first[p] = d.first[left]
		}
		d.post = append(d.post, int32(p))
	})
	return d
}

// diametricTree is the diametric scale of two ultrametrics: in the dendrogram
// of rho1 the diameter of a node is that of a node below, or the distance
// between any point on the left and any on the right.
func diametricTree(d *tree, u *metric.Ultrametric, alphas []float64) []Scale {
	m := len(d.h)
	diam, arg := make([]float64, m), make([]int32, m) // the pair after position arg
	for _, p := range d.post {
		diam[p], arg[p] = u.Distance(d.order[p], d.order[p+1]), p
		for _, c := range [2]int32{d.left[p], d.right[p]} {
			if c >= 0 && diam[c] > diam[p] {
				diam[p], arg[p] = diam[c], arg[c]
			}
		}
	}
	s := make([]Scale, len(alphas))
	for k, a := range alphas {
		s[k] = noWitness(a, ByHierarchy)
		best := &s[k]
		for _, p := range d.post {
			if diam[p] <= best.Lo {
				continue
			}
			best.Hi = max(best.Hi, spaces.WorthUp(diam[p], a, d.h[p]))
			if v := spaces.WorthDown(diam[p], a, d.h[p]); v > best.Lo {
				q := arg[p]
				best.Lo, best.X, best.R = v, d.order[d.first[p]], d.h[p]
				best.Set = []int{d.order[q], d.order[q+1]}
			}
		}
	}
	nest(s)
	return s
}

// treeCounter counts clusters of rho2 below the nodes of the dendrogram of rho1.
type treeCounter struct {
	*tree
	u     *metric.Ultrametric
	last  []int32 // by label: the position it stands at last, -1 for none
	count []int32
	stack []int32
	limit []int32 // by node: the least count that is too large
}

// entropicTree is the entropic scale of two ultrametrics, by bisection on the
// heights of rho2. O(n log n) for each of O(log n) steps.
func entropicTree(ctx context.Context, b metric.Bimetric, d *tree, u *metric.Ultrametric, alphas []float64) []Scale {
	n := len(d.order)
	values := heightsOf(u)
	c := treeCounter{d, u, make([]int32, n), make([]int32, n), nil, make([]int32, n)}
	s := make([]Scale, len(alphas))
	for k, a := range alphas {
		for p, h := range d.h {
			c.limit[p] = int32(limit.Least(a, h, n))
		}
		// The first value that no ball exceeds. Level 0 of all values is 0.
		at := sort.Search(len(values)-1, func(i int) bool { return ctx.Err() != nil || c.exceeded(values[i]) < 0 })
		s[k] = noWitness(a, ByHierarchy)
		s[k].Lo, s[k].Hi = values[at], values[at]
		if at > 0 && ctx.Err() == nil {
			p := c.exceeded(values[at-1])
			s[k].X, s[k].Set = d.order[d.first[p]], c.set(p, values[at-1])
			s[k].R = farthest(b.Privacy, s[k].X, s[k].Set)
		}
	}
	return s
}

// heightsOf returns 0 and the heights of u, ascending, each once.
func heightsOf(u *metric.Ultrametric) []float64 {
	v := append(u.Heights(), 0)
	slices.Sort(v)
	return slices.Compact(v)
}

// exceeded returns a node of rho1 with too many clusters of rho2 at separation s, or -1. A label
// that stands at positions q1 < q2 < ... below a node counts once: each further one takes back 1
// where it meets the one before, which is the highest node between them.
func (c *treeCounter) exceeded(s float64) int {
	label := c.u.Clusters(s)
	for i := range c.last {
		c.last[i] = -1
	}
	for p := range c.h {
		c.count[p] = 0
	}
	c.stack = c.stack[:0]
	for q, i := range c.order {
		if l := label[i]; c.last[l] >= 0 {
			// The stack holds the nodes before q that are higher than all
			// between them and q; the first from last on is where they meet.
			at := sort.Search(len(c.stack), func(j int) bool { return c.stack[j] >= c.last[l] })
			c.count[c.stack[at]]--
		}
		c.last[label[i]] = int32(q)
		if q < len(c.h) {
			for len(c.stack) > 0 && c.h[c.stack[len(c.stack)-1]] < c.h[q] {
				c.stack = c.stack[:len(c.stack)-1]
			}
			c.stack = append(c.stack, int32(q))
		}
	}
	found := -1
	for _, p := range c.post {
		for _, b := range [2]int32{c.left[p], c.right[p]} {
			if b >= 0 {
				c.count[p] += c.count[b]
			} else {
				c.count[p]++
			}
		}
		if found < 0 && c.count[p] >= c.limit[p] {
			found = int(p)
		}
	}
	return found
}

// set returns one point of each of too many clusters below node p.
func (c *treeCounter) set(p int, s float64) []int {
	label := c.u.Clusters(s)
	seen := make(map[int]bool)
	var set []int
	for q := c.first[p]; len(set) < int(c.limit[p]); q++ {
		if i := c.order[q]; !seen[label[i]] {
			seen[label[i]] = true
			set = append(set, i)
		}
	}
	return set
}

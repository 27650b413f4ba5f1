// Package spanning holds what minimum spanning trees are made of: Prim's algorithm on all
// pairs of points, union-find, and the dendrogram of the order in which parts join.
package spanning

import (
	"context"
	"math"

	"github.com/metricdp/metricdp/internal/finite"
)

// Edge joins two points.
type Edge struct{ I, J int32 }

// Cost is the cost of the edge of length d between points of multipliers p and
// q. It does not depend on which end comes first, and is d where both are 0.
func Cost(d, p, q float64) float64 { return d + (p + q) }

// Prim returns a minimum spanning tree of one or more points under [Cost], for
// the multipliers p, where nil means 0. It begins at point 0; the edges come in
// the order in which they join a point, J, to those before.
//
// Every distance is read once, and the first that is negative or not finite ends
// it with the error that bad makes of it. O(n^2) time, O(n) memory.
func Prim(ctx context.Context, f finite.Metric, p []float64, bad func(i, j int, d float64) error) ([]Edge, error) {
	n := f.Len()
	if p == nil {
		p = make([]float64, n)
	}
	// The points outside the tree, side by side: key is the cost of the smallest
	// edge to the tree, from its end there.
	rest, from, key := make([]int32, n-1), make([]int32, n-1), make([]float64, n-1)
	for k := range rest {
		rest[k], key[k] = int32(k+1), math.Inf(1)
	}
	tree := make([]Edge, 0, n-1)
	rows, whole := f.(finite.RowReader)
	var row []float64
	for v := 0; len(rest) > 0; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		// A row is quicker than as many calls, but not than half of them.
		if whole = whole && 2*len(rest) > n; whole {
			row = rows.DistancesFrom(v, row)
		}
		pv, least := p[v], 0
		for k, j := range rest {
			var d float64
			if whole {
				d = row[j]
			} else {
				d = f.Distance(v, int(j))
			}
			if !(d >= 0 && d <= math.MaxFloat64) {
				return nil, bad(v, int(j), d)
			}
			if c := Cost(d, pv, p[j]); c < key[k] {
				key[k], from[k] = c, int32(v)
			}
			if key[k] < key[least] {
				least = k
			}
		}
		v = int(rest[least])
		tree = append(tree, Edge{from[least], rest[least]})
		last := len(rest) - 1
		rest[least], from[least], key[least] = rest[last], from[last], key[last]
		rest, from, key = rest[:last], from[:last], key[:last]
	}
	return tree, nil
}

// Forest is a union of trees over points from [0, n): union-find, by size.
type Forest struct {
	up    []int32 // the point above, or minus the size at a root
	trees int
}

// NewForest returns the forest in which each of n points is a tree.
func NewForest(n int) *Forest {
	f := &Forest{make([]int32, n), n}
	for i := range f.up {
		f.up[i] = -1
	}
	return f
}

// Trees returns the number of trees.
func (f *Forest) Trees() int { return f.trees }

// Root returns the point that stands for the tree of i.
func (f *Forest) Root(i int) int {
	for f.up[i] >= 0 {
		if above := f.up[i]; f.up[above] >= 0 {
			f.up[i] = f.up[above]
		}
		i = int(f.up[i])
	}
	return i
}

// Join reports whether i and j were in different trees, which are one now. Its
// root is that of the larger of the two.
func (f *Forest) Join(i, j int) bool {
	i, j = f.Root(i), f.Root(j)
	if i == j {
		return false
	}
	if f.up[i] > f.up[j] {
		i, j = j, i
	}
	f.up[i] += f.up[j]
	f.up[j] = int32(i)
	f.trees--
	return true
}

// Dendrogram walks the binary tree of a row of heights, such as an ultrametric's, and calls
// join for every height, those of a part before that of the whole. Gap k lies between positions
// k and k+1, and its join unites what lies left and right of it as far as heights are lower:
// the parts joined at the gaps left and right, or where that is -1 the single point at position
// k or k+1. Of equal heights the leftmost is above. O(n).
func Dendrogram(heights []float64, join func(gap, left, right int)) {
	type open struct{ gap, left int } // a join whose right side is not complete
	var stack []open                  // from above to below: heights do not increase
	complete := func(below int) int {
		top := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		join(top.gap, top.left, below)
		return top.gap
	}
	for gap, h := range heights {
		below := -1
		for len(stack) > 0 && heights[stack[len(stack)-1].gap] < h {
			below = complete(below)
		}
		stack = append(stack, open{gap, below})
	}
	for below := -1; len(stack) > 0; {
		below = complete(below)
	}
}

package hierarchy

import (
	"slices"

	"github.com/metricdp/metricdp/internal/spanning"
	"github.com/metricdp/metricdp/metric"
)

// Contract leaves out of a tree the inner nodes with one leaf, and those whose diameter is more
// than ratio times that of the nearest node above that stays, or no smaller; order lists parents
// first. point[v] is what leaf v stands for, -1 for inner nodes.
func Contract(order, parent, point []int, diameter []float64, ratio float64) (up, at []int) {
	leaves := make([]int, len(parent))
	for i := len(order) - 1; i >= 0; i-- {
		v := order[i]
		if point[v] >= 0 {
			leaves[v] = 1
		}
		if parent[v] >= 0 {
			leaves[parent[v]] += leaves[v]
		}
	}
	item := make([]int, len(parent)) // the new node that v is or was merged into
	var size []float64               // of new nodes
	for _, v := range order {
		p := -1
		if parent[v] >= 0 {
			p = item[parent[v]]
			if point[v] < 0 && (leaves[v] == 1 || diameter[v] > ratio*size[p] || diameter[v] >= size[p]) {
				item[v] = p
				continue
			}
		}
		item[v] = len(up)
		up, at, size = append(up, p), append(at, point[v]), append(size, diameter[v])
	}
	return up, at
}

// Dendrogram returns the tree of an ultrametric's balls, contracted.
func Dendrogram(u *metric.Ultrametric, ratio float64) (up, at []int) {
	order, heights := u.Order(), u.Heights()
	// Items are the n points in their row and, from n on, the joins of the gaps between them.
	n := len(order)
	parent, point := make([]int, 2*n-1), slices.Concat(order, slices.Repeat([]int{-1}, n-1))
	diameter, sides := make([]float64, 2*n-1), make([][2]int, n-1)
	root := 0
	spanning.Dendrogram(heights, func(gap, left, right int) {
		a, b := gap, gap+1
		if left >= 0 {
			a = n + left
		}
		if right >= 0 {
			b = n + right
		}
		root = n + gap
		parent[a], parent[b], sides[gap], diameter[root] = root, root, [2]int{a, b}, heights[gap]
	})
	parent[root] = -1
	var down []int // parents first; counts that were written depend on this order
	for open := []int{root}; len(open) > 0; {
		v := open[len(open)-1]
		open, down = open[:len(open)-1], append(down, v)
		if v >= n {
			open = append(open, sides[v-n][:]...)
		}
	}
	return Contract(down, parent, point, diameter, ratio)
}

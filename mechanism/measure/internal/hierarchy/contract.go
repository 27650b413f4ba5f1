package hierarchy

import "github.com/metricdp/metricdp/metric"

// Contract leaves out of a tree the inner nodes with one leaf, and those whose
// diameter is more than ratio times that of the nearest node above that stays, or
// no smaller; order lists parents first. point[v] is what leaf v stands for, -1 for inner nodes.
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
//
// The points stand in a row with heights between them, and the balls are the
// runs below a height. A stack holds the balls that are open at a point, of
// falling diameter; a height closes those below it.
func Dendrogram(u *metric.Ultrametric, ratio float64) (up, at []int) {
	type ball struct {
		height float64
		kids   []int
	}
	var stack []ball
	var parent, point []int
	var diameter []float64
	add := func(p int, d float64) int {
		parent, point, diameter = append(parent, -1), append(point, p), append(diameter, d)
		return len(parent) - 1
	}
	order, heights := u.Order(), u.Heights()
	last := add(order[0], 0) // what the next height joins to its right
	closeBall := func() {
		b := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		v := add(-1, b.height)
		for _, c := range append(b.kids, last) {
			parent[c] = v
		}
		last = v
	}
	for k, h := range heights {
		for len(stack) > 0 && stack[len(stack)-1].height < h {
			closeBall()
		}
		if len(stack) == 0 || stack[len(stack)-1].height > h {
			stack = append(stack, ball{height: h})
		}
		b := &stack[len(stack)-1]
		b.kids = append(b.kids, last)
		last = add(order[k+1], 0)
	}
	for len(stack) > 0 {
		closeBall()
	}
	down := make([]int, len(parent)) // balls close after what they hold
	for i := range down {
		down[i] = len(down) - 1 - i
	}
	return Contract(down, parent, point, diameter, ratio)
}

package prices

import (
	"math"

	"github.com/metricdp/metricdp/internal/heap"
)

// Cell is a set of points near each other.
type Cell struct {
	IDs    []int32 // not to be modified
	Center int32   // that of them next to their mean
}

// Cells partitions the points into k cells, or as many as the tree has leaves, in the order of
// places: again and again the one is halved in which moving the given masses takes most.
func (s *Space) Cells(k int, mass []float64) []Cell {
	t := s.tree
	// Sums of masses, then the keys of a heap of the least.
	key := make([]float64, 2*t.Leaves)
	lo, hi := make([]int32, len(key)), make([]int32, len(key))
	hi[1] = int32(s.Len())
	for node := 1; node < len(key); node++ {
		if node < t.Leaves {
			mid := (lo[node] + hi[node]) / 2
			lo[2*node], hi[2*node], lo[2*node+1], hi[2*node+1] = lo[node], mid, mid, hi[node]
			continue
		}
		for _, id := range t.ID[lo[node]:hi[node]] {
			key[node] += mass[id]
		}
	}
	for node := len(key) - 1; node > 1; node-- {
		key[node/2] += key[node]
	}
	h := heap.New(key)
	split := make([]bool, len(key))
	push := func(node int) {
		key[node] *= -s.size(node)
		if node >= t.Leaves {
			key[node] = 0
		}
		h.Push(int32(node))
	}
	push(1)
	for cells := 1; cells < k && key[h.Top()] < 0; cells++ {
		node := int(h.Pop())
		split[node] = true
		push(2 * node)
		push(2*node + 1)
	}
	var cells []Cell
	var visit func(node int)
	visit = func(node int) {
		if split[node] {
			visit(2 * node)
			visit(2*node + 1)
			return
		}
		ids := t.ID[lo[node]:hi[node]]
		cells = append(cells, Cell{ids, s.center(int(lo[node]), int(hi[node]), mass)})
	}
	visit(1)
	return cells
}

// size is the longest side of a node's box.
func (s *Space) size(node int) float64 {
	least, most := s.tree.Box(node)
	d := 0.0
	for k := range least {
		d = max(d, most[k]-least[k])
	}
	return d
}

// center returns the point of the places from lo to hi next to their mean.
func (s *Space) center(lo, hi int, mass []float64) int32 {
	mean, gaps := make([]float64, s.tree.Dim), make([]float64, s.tree.Dim)
	total := 0.0
	for k := lo; k < hi; k++ {
		m := mass[s.tree.ID[k]]
		total += m
		for a, x := range s.tree.At(k) {
			mean[a] += float64(m * x)
		}
	}
	for a := range mean {
		mean[a] /= total
	}
	best, at := math.Inf(1), lo
	for k := lo; k < hi; k++ {
		if d := s.tree.Norm(k, mean, gaps); d < best {
			best, at = d, k
		}
	}
	return s.tree.ID[at]
}

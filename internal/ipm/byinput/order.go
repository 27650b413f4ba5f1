package byinput

import (
	"context"
	"slices"
)

// column is one step of the elimination: an input, and the later inputs that it
// is tied to by then, ascending by input.
type column struct {
	input  int32
	border []int32
}

// counted is the largest degree at which the fill of a step is counted.
const counted = 128

// eliminate orders the inputs by least fill, ties to the lowest number: the one
// to go next adds the fewest edges between its neighbors, counted anew where the
// neighbors themselves changed. Fewer multiplications than by least degree, by a
// tenth to a quarter on roads. It gives up, with nil, where the multiplications, with so
// many unknowns at every input, pass most. The error is the context's. O(n^2 + sum border^3).
func eliminate(ctx context.Context, start, ends []int32, unknowns [][]int32, most float64) ([]column, error) {
	n := len(unknowns)
	next := make([][]int32, n) // the graph of those that are left
	for u := range n {
		for _, v := range ends[start[u]:start[u+1]] {
			next[u], next[v] = append(next[u], v), append(next[int(v)], int32(u))
		}
	}
	// count sets the fill of u: the edges that are not there between its neighbors.
	mark := make([]int32, n)
	fill := make([]int, n)
	count := func(u int32, clique int) {
		d := len(next[u])
		if d > counted { // at most this many: clique of them have all their edges
			fill[u] = d*(d-1)/2 - clique*(clique-1)/2
			return
		}
		for _, v := range next[u] {
			mark[v] = u + 1
		}
		edges := 0
		for _, v := range next[u] {
			for _, x := range next[v] {
				if mark[x] == u+1 {
					edges++
				}
			}
		}
		fill[u] = (d*(d-1) - edges) / 2
	}
	for u := range n {
		slices.Sort(next[u])
	}
	for u := range n {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		count(int32(u), 0)
	}
	order, work := make([]column, 0, n), 0.0
	for left := n; left > 0; left-- {
		best := -1
		for u, f := range fill {
			if f >= 0 && (best < 0 || f < fill[best] || f == fill[best] && len(next[u]) < len(next[best])) {
				best = u
			}
		}
		// best goes; its neighbors become tied to each other.
		border := next[best]
		k := float64(len(unknowns[best]))
		c := k
		for _, u := range border {
			c += float64(len(unknowns[u]))
		}
		if work += float64(k*c*c) / 2; work > most || ctx.Err() != nil {
			return nil, ctx.Err()
		}
		order = append(order, column{int32(best), border})
		fill[best] = -1
		for _, u := range border {
			next[u] = union(next[u], border, int32(best), u)
		}
		for _, u := range border {
			count(u, len(border)-1)
		}
	}
	return order, nil
}

// union merges ascending lists, without two numbers.
func union(a, b []int32, no, nor int32) []int32 {
	to := make([]int32, 0, len(a)+len(b))
	for len(a) > 0 || len(b) > 0 {
		var v int32
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			v, a = a[0], a[1:]
		case len(a) == 0 || b[0] < a[0]:
			v, b = b[0], b[1:]
		default:
			v, a, b = a[0], a[1:], b[1:]
		}
		if v != no && v != nor {
			to = append(to, v)
		}
	}
	return to
}

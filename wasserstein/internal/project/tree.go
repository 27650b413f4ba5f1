package project

import (
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/metric"
)

// Tree returns the masses at and below each node of t of a probability measure on the leaves that
// is nearest in W1 to the signed measure with the masses below: from the top down, each node gives
// its mass to its children such that it is nearest in the Euclidean sense to what they have, within
// the bounds that all nearest measures keep. O(n log n).
func Tree(t *metric.Tree, below []exact.DD) []float64 {
	lo, hi := face(t, below)
	mass := make([]float64, t.Len())
	mass[t.Root()] = 1
	var s share
	for _, v := range t.Preorder() {
		s.reset(mass[v])
		for _, c := range t.Children(v) {
			s.add(below[c].Hi, lo[c], hi[c])
		}
		for k, m := range s.split() {
			mass[t.Children(v)[k]] = m
		}
	}
	return mass
}

// face returns for every node the bounds of its mass over all nearest measures: a measure >= 0 of
// total 1 on the leaves is optimal if and only if it has a mass in [lo, hi] at every node.
//
// Let f_v(m) be the least cost below and on the edge above node v if v gets mass m. It is convex
// and piecewise linear, the infimal convolution of those of the children plus length*|m-G_v|. One
// pass up makes them all, one pass down reads off an optimal dual solution, which tells for every
// node on which side of G_v all optimal P_v lie.
//
// The dual solution is a number y in [-length, length] on each edge. It is optimal with P if y =
// length where P > G, y = -length where P < G, and the sum of y from the root to a leaf is a
// constant theta where the leaf has mass and at least theta elsewhere. Complementary slackness with
// one optimal dual solution describes all optimal P. Here theta is the slope of the root's function
// at mass 1; theta[v] is theta less the sum of y down to v.
func face(t *metric.Tree, below []exact.DD) (lo, hi []float64) {
	n := t.Len()
	pre, length := t.Preorder(), grid(t)
	lists := make([]int32, n)
	// Of the children's convolution at v, the slopes on both sides of G_v.
	left, right := make([]exact.DD, n), make([]exact.DD, n)
	parts := slopes{at: make([]piece, 0, 2*n+2)}
	for _, v := range slices.Backward(pre) {
		if len(t.Children(v)) == 0 {
			lists[v] = parts.one(exact.DD{}, math.Inf(1)) // any mass, at no cost
		}
		g, up := below[v].Hi, exact.DD{Hi: length[v]}
		switch {
		case v == t.Root():
			continue
		case length[v] == 0:
		case g <= 0 || g >= 1:
			// No mass in (0, 1) is on the other side. Pieces beyond mass 1 never
			// come into play, as the order within a list is for ever.
			if g >= 1 {
				up = up.Neg()
			}
			left[v].Hi, right[v] = math.Inf(-1), parts.first(lists[v])
			parts.raise(lists[v], up)
		default:
			a, b := parts.cut(lists[v], g)
			left[v], right[v] = parts.last(a), parts.first(b)
			parts.raise(a, up.Neg())
			parts.raise(b, up)
			lists[v] = parts.join(a, b)
		}
		p := t.Parent(v)
		lists[p] = parts.union(lists[p], lists[v])
	}

	theta := make([]exact.DD, n)
	a, _ := parts.cut(lists[t.Root()], 1)
	theta[t.Root()] = parts.last(a)
	lo, hi = make([]float64, n), make([]float64, n)
	hi[t.Root()] = math.Inf(1)
	for _, v := range pre {
		if v != t.Root() {
			above := theta[t.Parent(v)]
			var y exact.DD
			y, lo[v], hi[v] = dual(above, left[v], right[v], length[v], below[v].Hi)
			theta[v] = above.Add(y.Neg())
		}
		if len(t.Children(v)) == 0 && theta[v].Hi < 0 {
			hi[v] = lo[v] // 0, unless rounding of the masses left some
		}
	}
	// From the bounds of each node by itself to those that its leaves can meet.
	sumLo, sumHi := make([]float64, n), make([]float64, n)
	for _, v := range slices.Backward(pre) {
		if len(t.Children(v)) > 0 {
			lo[v] = max(lo[v], sumLo[v])
			hi[v] = max(lo[v], min(hi[v], sumHi[v]))
		}
		if p := t.Parent(v); p >= 0 {
			sumLo[p] += lo[v]
			sumHi[p] += hi[v]
		}
	}
	return lo, hi
}

// dual returns the dual value of an edge, and the bounds that it puts on
// the mass below: theta above it, the slopes left and right of g below it.
func dual(theta, left, right exact.DD, length, g float64) (y exact.DD, lo, hi float64) {
	free := math.Inf(1)
	switch {
	case length == 0:
		return y, 0, free
	case g < 0:
		return exact.DD{Hi: length}, 0, free
	case g >= 1:
		return exact.DD{Hi: -length}, 0, free
	}
	// y must lie in [theta-right, theta-left] and in [-length, length]; where
	// the two do not meet the mass is not g, and y at an end.
	if least := theta.Add(right.Neg()); less(y, least) {
		y = least
	} else if left.Hi != math.Inf(-1) {
		if most := theta.Add(left.Neg()); less(most, y) {
			y = most
		}
	}
	edge := exact.DD{Hi: length}
	switch {
	case !less(y, edge):
		return edge, g, free
	case !less(edge.Neg(), y):
		return edge.Neg(), 0, g
	default:
		return y, g, g
	}
}

// grid returns the lengths of the edges, rounded to multiples of a power of two q of at most 2^-98
// times the height of the tree. All slopes and dual values are sums of lengths up and down one
// path, or two of them: multiples of q below 2^100 q, which a double-double adds without error.
// (Each of its parts is a multiple of q, and what an addition rounds, two parts or errors of 2^-52
// of a sum, stays below 2^53 q.) Lengths of at least 2^53 q are multiples of q by themselves.
func grid(t *metric.Tree) []float64 {
	length, depth := make([]float64, t.Len()), make([]float64, t.Len())
	height := 0.0
	for _, v := range t.Preorder()[1:] {
		length[v] = t.Length(v)
		depth[v] = depth[t.Parent(v)] + length[v]
		height = max(height, depth[v])
	}
	_, e := math.Frexp(height) // height <= 2^e
	q := max(e-98, -1074)
	for v, l := range length {
		if units := math.Ldexp(l, -q); units < 0x1p53 {
			length[v] = math.Ldexp(math.RoundToEven(units), q)
		}
	}
	return length
}

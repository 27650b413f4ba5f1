package wasserstein

import (
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// ProjectTree returns a probability measure p on the leaves of t that is
// nearest to the signed measure with weights g there, and its distance from it:
// with P and G the sums of p and g below a node, the least value over all p of
//
//	sum over nodes v but the root of t.Length(v) * |P_v - G_v|.
//
// That is the distance of [W1Tree] where g has total 1. The total of g need not
// be 1, as noise leaves it: what it lacks counts as if g had it at the root.
// Weight k lies on leaf t.Leaves()[k]. (For weights on inner nodes too, hang a
// leaf from each by an edge of length 0.)
//
// Equal lengths leave many nearest measures. Among them the result is found from
// the top down: each node gives its mass to its children such that it is
// nearest to their G in the Euclidean sense.
//
// p has weights >= 0 that sum to 1 as closely as [W1Tree] asks of totals. Where
// g is a probability measure up to rounding already, p is g bit for bit. It is
// optimal for lengths rounded to multiples of 2^-98 times the height of the
// tree and sums of g rounded to float64. dist is +Inf where it would overflow.
// g is finite with a finite total variation; errors are [metric.ErrEmpty],
// [*metric.SizeError] and [*metric.ValueError]. O(n log n) time, about 250
// bytes of memory for each node.
//
// The method: let f_v(m) be the least cost below and on the edge above node v if
// v gets mass m. It is convex and piecewise linear, the infimal convolution of
// those of the children plus length*|m-G_v|. One pass up makes them all, one
// pass down reads off an optimal dual solution, which tells for every node on
// which side of G_v all optimal P_v lie.
func ProjectTree(t *metric.Tree, g []float64) (p []float64, dist float64, err error) {
	const op = "wasserstein: ProjectTree"
	if err := fault.Empty(op, "t", fault.Len(t)); err != nil {
		return nil, 0, err
	}
	leaves := t.Leaves()
	if err := checkSigned(op, g, len(leaves)); err != nil {
		return nil, 0, err
	}
	if isProbability(g) {
		return slices.Clone(g), 0, nil
	}
	below := treeBelow(t, leaves, g, nil)
	lo, hi := treeFace(t, below)
	mass := make([]float64, t.Len())
	mass[t.Root()] = 1
	var share treeShare
	for _, v := range t.Preorder() {
		share.reset(mass[v])
		for _, c := range t.Children(v) {
			share.add(below[c].Hi, lo[c], hi[c])
		}
		for k, m := range share.split() {
			mass[t.Children(v)[k]] = m
		}
	}
	p = make([]float64, len(leaves))
	for k, v := range leaves {
		p[k] = mass[v]
	}
	for v, d := range treeBelow(t, leaves, p, nil) {
		below[v] = d.Add(below[v].Neg())
	}
	return p, treeCost(t, below), nil
}

// ProjectTreeTopDown returns a probability measure on the leaves of t near the
// signed measure with weights g there: from the root, with mass 1, down, each
// node gives its mass to its children such that, as a vector >= 0, it is nearest
// in the Euclidean sense to the sums of g below them ([ProjectSimplex]).
//
// It is not the nearest in W1, as [ProjectTree] is, but as an estimate of a
// distribution behind noisy weights it usually ends nearer the truth, because
// it spreads what it takes away and so sets small noisy weights to 0. Lengths of
// edges do not matter. g, the rounding of the result and the errors are as in
// ProjectTree. O(n log n).
func ProjectTreeTopDown(t *metric.Tree, g []float64) ([]float64, error) {
	const op = "wasserstein: ProjectTreeTopDown"
	if err := fault.Empty(op, "t", fault.Len(t)); err != nil {
		return nil, err
	}
	leaves := t.Leaves()
	if err := checkSigned(op, g, len(leaves)); err != nil {
		return nil, err
	}
	if isProbability(g) {
		return slices.Clone(g), nil
	}
	below := treeBelow(t, leaves, g, nil)
	mass := make([]float64, t.Len())
	mass[t.Root()] = 1
	var want, got []float64
	for _, v := range t.Preorder() {
		want = want[:0]
		for _, c := range t.Children(v) {
			want = append(want, below[c].Hi)
		}
		got = projectSimplex(want, mass[v], slices.Grow(got[:0], len(want))[:len(want)])
		for k, m := range got {
			mass[t.Children(v)[k]] = m
		}
	}
	p := make([]float64, len(leaves))
	for k, v := range leaves {
		p[k] = mass[v]
	}
	return p, nil
}

// treeFace returns for every node the bounds of its mass over all optimal
// measures: a measure >= 0 of total 1 on the leaves is optimal if and only if it
// has a mass in [lo, hi] at every node.
//
// The dual solution is a number y in [-length, length] on each edge. It is
// optimal with P if y = length where P > G, y = -length where P < G, and the sum
// of y from the root to a leaf is a constant theta where the leaf has mass and
// at least theta elsewhere. Complementary slackness with one optimal dual
// solution describes all optimal P. Here theta is the slope of the root's
// function at mass 1; theta[v] is theta less the sum of y down to v.
func treeFace(t *metric.Tree, below []exact.DD) (lo, hi []float64) {
	n := t.Len()
	pre, length := t.Preorder(), treeGrid(t)
	lists := make([]int32, n)
	// Of the children's convolution at v, the slopes on both sides of G_v.
	left, right := make([]exact.DD, n), make([]exact.DD, n)
	slopes := treeSlopes{at: make([]treePiece, 0, 2*n+2)}
	for _, v := range slices.Backward(pre) {
		if len(t.Children(v)) == 0 {
			lists[v] = slopes.piece(exact.DD{}, math.Inf(1)) // any mass, at no cost
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
			left[v].Hi, right[v] = math.Inf(-1), slopes.first(lists[v])
			slopes.raise(lists[v], up)
		default:
			a, b := slopes.cut(lists[v], g)
			left[v], right[v] = slopes.last(a), slopes.first(b)
			slopes.raise(a, up.Neg())
			slopes.raise(b, up)
			lists[v] = slopes.join(a, b)
		}
		p := t.Parent(v)
		lists[p] = slopes.union(lists[p], lists[v])
	}

	theta := make([]exact.DD, n)
	a, _ := slopes.cut(lists[t.Root()], 1)
	theta[t.Root()] = slopes.last(a)
	lo, hi = make([]float64, n), make([]float64, n)
	hi[t.Root()] = math.Inf(1)
	for _, v := range pre {
		if v != t.Root() {
			above := theta[t.Parent(v)]
			var y exact.DD
			y, lo[v], hi[v] = treeDual(above, left[v], right[v], length[v], below[v].Hi)
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

// treeDual returns the dual value of an edge, and the bounds that it puts on
// the mass below: theta above it, the slopes left and right of g below it.
func treeDual(theta, left, right exact.DD, length, g float64) (y exact.DD, lo, hi float64) {
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
	if least := theta.Add(right.Neg()); treeLess(y, least) {
		y = least
	} else if left.Hi != math.Inf(-1) {
		if most := theta.Add(left.Neg()); treeLess(most, y) {
			y = most
		}
	}
	edge := exact.DD{Hi: length}
	switch {
	case !treeLess(y, edge):
		return edge, g, free
	case !treeLess(edge.Neg(), y):
		return edge.Neg(), 0, g
	default:
		return y, g, g
	}
}

// treeGrid returns the lengths of the edges, rounded to multiples of a power of
// two q of at most 2^-98 times the height of the tree. All slopes and dual
// values are sums of lengths up and down one path, or two of them: multiples of
// q below 2^100 q, which a double-double adds without error. (Each of its
// parts is a multiple of q, and what an addition rounds, two parts or errors of
// 2^-52 of a sum, stays below 2^53 q.) Lengths of at least 2^53 q are multiples
// of q by themselves.
func treeGrid(t *metric.Tree) []float64 {
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

package entropy

import (
	"cmp"
	"context"
	"slices"

	"github.com/metricdp/metricdp/metric"
)

// nearly shrinks a separation by more than the triangle inequality, used twice,
// and two roundings of a sum can fail by: (1+t)^2 (1+2^-53)^2 <= 1/(1-4t) for
// t = metric.DefaultTolerance. A set of diameter at most s*nearly by the triangle
// inequality has only computed distances <= s.
const nearly = 1 - 4*metric.DefaultTolerance

// packLarge is pack without a matrix of all pairs.
func (p *packer) packLarge(ctx context.Context, f metric.Finite, pts []int, s float64, nodes int) (Count, error) {
	g := f
	if len(pts) < f.Len() {
		var err error
		if g, err = metric.Subset(f, pts); err != nil {
			return Count{}, err
		}
	}
	best := Count{Hi: len(pts) + 1}
	take := func(set []int, hi int, sets [][]int) {
		if len(set) > best.Lo {
			best.Lo, best.Separated = len(set), set
		}
		if sets != nil && (best.Sets == nil || len(sets) < len(best.Sets)) {
			best.Sets = sets
		}
		best.Hi = min(best.Hi, hi)
	}
	order := sweep(g)
	for _, order := range [][]int{nil, order} {
		set, err := metric.Net(g, s, &metric.NetOptions{Order: order, Context: ctx})
		if err != nil {
			return Count{}, err
		}
		take(set, best.Hi, nil)
	}
	take(exchange(ctx, g, best.Separated, s), best.Hi, nil)

	sets, err := clusterSets(ctx, g, s)
	if err != nil {
		return Count{}, err
	}
	take(nil, len(sets), sets)
	if sets := gridSets(g, s); sets != nil {
		take(nil, len(sets), sets)
	}
	if best.Lo < best.Hi {
		set, hi, sets, err := p.core(ctx, g, s, nodes)
		if err != nil {
			return Count{}, err
		}
		if sets != nil {
			take(set, hi, sets)
		}
	}
	best.Proof = ByPartition
	if best.Hi < len(best.Sets) {
		best.Proof = BySearch
	}
	if g != f {
		for k, i := range best.Separated {
			best.Separated[k] = pts[i]
		}
		for _, set := range best.Sets {
			for k, i := range set {
				set[k] = pts[i]
			}
		}
	}
	slices.Sort(best.Separated)
	return best, ctx.Err()
}

// sweep orders the points by their distance from a point at the rim. Greedy
// sets in that order close up against what was kept before, and are denser
// than in a random order.
func sweep(g metric.Finite) []int {
	ix := metric.NewIndex(g)
	rim, _ := ix.Farthest(0)
	d := metric.Row(g, rim, nil)
	order := allPoints(g.Len())
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(d[a], d[b]) })
	return order
}

// clusterSets partitions g into the points nearest to each centre of an s/2-net.
func clusterSets(ctx context.Context, g metric.Finite, s float64) ([][]int, error) {
	centres, err := metric.Net(g, s/2*nearly, &metric.NetOptions{Context: ctx})
	if err != nil {
		return nil, err
	}
	nearest, _, err := metric.AssignContext(ctx, g, centres)
	if err != nil {
		return nil, err
	}
	return group(nearest, len(centres)), nil
}

// group returns the sets of the points with one label in [0, k), without those
// that are empty.
func group(label []int, k int) [][]int {
	sets := make([][]int, k)
	for i, l := range label {
		sets[l] = append(sets[l], i)
	}
	return slices.DeleteFunc(sets, func(s []int) bool { return len(s) == 0 })
}

// The core of a large problem is a net of it at a distance of s/4, or the finest
// of coreHalvings further halvings, of at most corePoints points: enough to see
// the shape of sets of diameter s, few enough for a bit matrix that is quick.
const (
	corePoints   = 2048
	coreHalvings = 6
)

// coreOf returns the core of g, the cell of each point, as a place in the net
// whose point is nearest, and the radius of each cell; net is nil where a net at
// s/4 has too many points already.
func coreOf(ctx context.Context, g metric.Finite, s float64) (net, cell []int, radius []float64, err error) {
	o := &metric.NetOptions{Context: ctx}
	for k, eps := 0, s/4; k <= coreHalvings; k, eps = k+1, eps/2 {
		finer, err := metric.Net(g, eps, o)
		if err != nil {
			return nil, nil, nil, err
		}
		if len(finer) > corePoints {
			break
		}
		net = finer
	}
	if net == nil {
		return nil, nil, nil, nil
	}
	cell, dist, err := metric.AssignContext(ctx, g, net)
	if err != nil {
		return nil, nil, nil, err
	}
	radius = make([]float64, len(net))
	for i, c := range cell {
		radius[c] = max(radius[c], dist[i])
	}
	return net, cell, radius, nil
}

// core bounds the packing number through a net T finer than s. What is separated
// in T is separated. A separated set of g has at most one point in the cell of
// each t, and d(t,u) + r_t + r_u > s for the cells of any two of its points, r
// the radii: so it is no larger than a clique of the graph of these pairs. sets
// is nil where T would be too large.
func (p *packer) core(ctx context.Context, g metric.Finite, s float64, nodes int) (set []int, hi int, sets [][]int, err error) {
	net, cell, radius, err := coreOf(ctx, g, s)
	if err != nil || net == nil {
		return nil, 0, nil, err
	}
	set, _ = p.bounds(g, net, s, nodes)
	set = slices.Clone(set)

	reach := s * nearly
	p.rows = farGraph(p.rows, func(a, b int) float64 {
		return g.Distance(net[a], net[b]) + radius[a] + radius[b]
	}, allPoints(len(net)), reach)
	_, hi, class, k := p.graph(len(net), nodes)
	label := make([]int, len(cell))
	for i, c := range cell {
		label[i] = int(class[c])
	}
	return set, hi, group(label, k), nil
}

// exchangeTries is the number of points that exchange pairs with another, for
// each member of the set.
const exchangeTries = 8

// exchange improves a maximal separated set: where the points that only member v
// keeps out of it hold two that are separated, they replace v. One pass over the
// members, at a ball each.
func exchange(ctx context.Context, g metric.Finite, set []int, s float64) []int {
	ix := metric.NewIndex(g)
	covers := make([]int32, g.Len()) // members within s
	var ball []int
	change := func(v int, by int32) []int {
		ball = ix.Ball(v, s, ball[:0])
		for _, i := range ball {
			covers[i] += by
		}
		return ball
	}
	for _, v := range set {
		change(v, 1)
	}
	out := make([]int, 0, len(set))
	var free []int
	for at, v := range set {
		if at%64 == 0 && ctx.Err() != nil {
			return append(out, set[at:]...)
		}
		free = free[:0]
		for _, i := range change(v, -1) {
			if covers[i] == 0 {
				free = append(free, i)
			}
		}
		a, b, ok := apart(g, free, s)
		if !ok {
			change(v, 1)
			out = append(out, v)
			continue
		}
		change(a, 1)
		change(b, 1)
		out = append(out, a, b)
		for _, i := range free { // keep it maximal
			if covers[i] == 0 {
				change(i, 1)
				out = append(out, i)
			}
		}
	}
	return out
}

// apart looks for two points of free more than s apart, by walks to a farthest
// point.
func apart(g metric.Finite, free []int, s float64) (a, b int, ok bool) {
	if len(free) == 0 {
		return 0, 0, false
	}
	a = free[0]
	for range exchangeTries {
		far := 0.0
		for _, i := range free {
			if d := g.Distance(a, i); d > far {
				far, b = d, i
			}
		}
		if far > s {
			return a, b, true
		}
		if far == 0 {
			break
		}
		a = b
	}
	return 0, 0, false
}

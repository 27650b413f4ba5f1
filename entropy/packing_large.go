package entropy

import (
	"cmp"
	"context"
	"slices"

	"github.com/metricdp/metricdp/entropy/internal/slack"
	"github.com/metricdp/metricdp/metric"
)

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
	sets := sweepSets(ctx, g, s, order)
	if sets == nil {
		var err error
		if sets, err = clusterSets(ctx, g, s); err != nil {
			return Count{}, err
		}
	}
	take(nil, len(sets), sets)
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

// sweepWork is the number of distances that sweepSets may look at: a second.
const sweepWork = 1 << 26

// sweepSets partitions g into sets of diameter at most s: the first point in the
// given order that has no set yet opens one, and what lies within s of it joins
// it, in that order, where it lies within s of all its points. On a line that is a
// least partition. It is nil where sets have too many points to look at all pairs.
func sweepSets(ctx context.Context, g metric.Finite, s float64, order []int) [][]int {
	ix := metric.NewIndex(g)
	place := make([]int, len(order))
	for k, i := range order {
		place[i] = k
	}
	done := make([]bool, len(order))
	var sets [][]int
	var ball []int
	work := 0
	for _, first := range order {
		if done[first] {
			continue
		}
		ball = ix.Ball(first, s, ball[:0])
		slices.SortFunc(ball, func(a, b int) int { return cmp.Compare(place[a], place[b]) })
		var set []int
	next:
		for _, i := range ball {
			if done[i] {
				continue
			}
			for _, j := range set {
				if work++; g.Distance(i, j) > s {
					continue next
				}
			}
			set = append(set, i)
			done[i] = true
		}
		if work += len(ball); work > sweepWork || ctx.Err() != nil {
			return nil
		}
		sets = append(sets, set)
	}
	return sets
}

// clusterSets partitions g into the points nearest to each centre of an s/2-net.
func clusterSets(ctx context.Context, g metric.Finite, s float64) ([][]int, error) {
	centres, err := metric.Net(g, s/2*slack.Down, &metric.NetOptions{Context: ctx})
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
	p.far.Far(g.Distance, net, s)
	in, _, _, _ := p.cliques(nodes)
	for _, i := range in {
		set = append(set, net[i])
	}
	p.far.Far(func(a, b int) float64 {
		return g.Distance(net[a], net[b]) + radius[a] + radius[b]
	}, allPoints(len(net)), s*slack.Down)
	_, hi, class, k := p.cliques(nodes)
	label := make([]int, len(cell))
	for i, c := range cell {
		label[i] = int(class[c])
	}
	return set, hi, group(label, k), nil
}

package measure

import (
	"cmp"
	"context"
	"math"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/metric"
)

// netBuilder builds a net tree of bounded height; see [NewFinite].
type netBuilder struct {
	f      metric.Finite
	arity  int
	ctx    context.Context
	parent []int // by item
	leaf   []int // the point an item is, -1 for inner items
}

// medoidRounds is how often centres move to medoids. The second round changes
// little, the third next to nothing.
const medoidRounds = 2

func (b *netBuilder) build(op string) (parent, leaf []int, err error) {
	n := b.f.Len()
	capacity := 1 // of a child of the root
	for capacity*b.arity < n {
		capacity *= b.arity
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	b.parent, b.leaf = append(b.parent, -1), append(b.leaf, -1)
	if n == 1 {
		b.leaf[0] = 0
		return b.parent, b.leaf, nil
	}
	return b.parent, b.leaf, b.divide(op, 0, all, capacity)
}

// divide hangs the given points below item v, at most capacity of them below
// each child.
func (b *netBuilder) divide(op string, v int, points []int, capacity int) error {
	if err := b.ctx.Err(); err != nil {
		return err
	}
	if len(points) <= b.arity {
		for _, p := range points {
			b.parent, b.leaf = append(b.parent, v), append(b.leaf, p)
		}
		return nil
	}
	centres, err := b.farthestFirst(op, points)
	if err != nil {
		return err
	}
	groups, err := b.assign(points, centres, capacity)
	if err != nil {
		return err
	}
	for range medoidRounds {
		for g := range centres {
			if err := b.ctx.Err(); err != nil {
				return err
			}
			if len(groups[g]) > 0 {
				centres[g] = b.medoid(groups[g])
			}
		}
		if groups, err = b.assign(points, centres, capacity); err != nil {
			return err
		}
	}
	for _, group := range groups {
		switch len(group) {
		case 0:
			continue
		case 1:
			b.parent, b.leaf = append(b.parent, v), append(b.leaf, group[0])
			continue
		}
		b.parent, b.leaf = append(b.parent, v), append(b.leaf, -1)
		if err := b.divide(op, len(b.parent)-1, group, capacity/b.arity); err != nil {
			return err
		}
	}
	return nil
}

// farthestFirst chooses arity centres, the first being the first point.
func (b *netBuilder) farthestFirst(op string, points []int) ([]int, error) {
	dist := make([]float64, len(points))
	for i := range dist {
		dist[i] = math.Inf(1)
	}
	var centres []int
	for next := 0; len(centres) < b.arity; {
		if err := b.ctx.Err(); err != nil {
			return nil, err
		}
		c := points[next]
		centres = append(centres, c)
		next = 0
		for i, p := range points {
			d := b.f.Distance(c, p)
			if !(d >= 0) || math.IsInf(d, 1) {
				return nil, &fault.ValueError{Op: op, Arg: "distance to point", Index: p, Value: d, Want: "a finite number >= 0"}
			}
			dist[i] = min(dist[i], d)
			if dist[i] > dist[next] {
				next = i
			}
		}
		if dist[next] == 0 {
			break // the rest are duplicates
		}
	}
	return centres, nil
}

// pairSize is the memory of a point and a centre in assign, twice for the sort.
const pairSize = 32

// assign gives every point to the nearest centre that has room, the nearest
// pairs first. Where duplicates leave fewer centres than arity, groups without
// a centre take what is left over. The error is the context's.
func (b *netBuilder) assign(points, centres []int, capacity int) ([][]int, error) {
	type pair struct {
		d    float64
		i, g int32
	}
	pairs := make([]pair, 0, len(points)*len(centres))
	for i, p := range points {
		if err := b.ctx.Err(); err != nil {
			return nil, err
		}
		for g, c := range centres {
			pairs = append(pairs, pair{b.f.Distance(c, p), int32(i), int32(g)})
		}
	}
	err := parallel.Sort(b.ctx, pairs, func(x, y pair) int {
		return cmp.Or(cmp.Compare(x.d, y.d), cmp.Compare(x.i, y.i), cmp.Compare(x.g, y.g))
	})
	if err != nil {
		return nil, err
	}
	groups := make([][]int, max(b.arity, len(centres)))
	taken := make([]bool, len(points))
	for _, p := range pairs {
		if !taken[p.i] && len(groups[p.g]) < capacity {
			taken[p.i] = true
			groups[p.g] = append(groups[p.g], points[p.i])
		}
	}
	g := len(centres)
	for i, p := range points {
		if !taken[i] {
			for len(groups[g]) == capacity {
				g++
			}
			groups[g] = append(groups[g], p)
		}
	}
	return groups, nil
}

// medoidSample bounds the points that a medoid is chosen from, and among whom
// it is the best.
const medoidSample = 256

// medoid returns the point of a group with the least sum of distances to the
// others, by a sample at equal steps in large groups.
func (b *netBuilder) medoid(group []int) int {
	step := (len(group) + medoidSample - 1) / medoidSample
	best, at := math.Inf(1), group[0]
	for i := 0; i < len(group); i += step {
		sum := 0.0
		for j := 0; j < len(group) && sum < best; j += step {
			sum += b.f.Distance(group[i], group[j])
		}
		if sum < best {
			best, at = sum, group[i]
		}
	}
	return at
}

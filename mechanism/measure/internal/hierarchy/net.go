// Package hierarchy arranges the points of a finite metric as trees of ever smaller groups: net
// trees of bounded height, and hierarchies that are given, contracted. A tree is two slices by
// item: its parent, -1 for the root, and the point that it is, -1 for inner items.
package hierarchy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/metric"
)

type builder struct {
	op     string
	f      metric.Finite
	arity  int
	ctx    context.Context
	parent []int // by item
	leaf   []int // the point an item is, -1 for inner items
	size   []float64
}

// medoidRounds: a second changes little, a third next to nothing.
const medoidRounds = 2

// Net returns the net tree of f in which a node has at most arity children, as
// domain.NewFinite describes it, parents first. The size of an item is the mean
// distance of its points to their medoid, which is sampled where there are many.
func Net(ctx context.Context, op string, f metric.Finite, arity int) (parent, leaf []int, size []float64, err error) {
	n := f.Len()
	if n > arity {
		if err := fault.Memory(op, float64(n)*float64(arity), pairSize); err != nil {
			return nil, nil, nil, err
		}
	}
	if n == 1 {
		return []int{-1}, []int{0}, []float64{0}, nil
	}
	capacity := 1 // of a child of the root
	for capacity*arity < n {
		capacity *= arity
	}
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	b := builder{op, f, arity, ctx, []int{-1}, []int{-1}, []float64{0}}
	err = b.divide(0, all, capacity)
	return b.parent, b.leaf, b.size, err
}

func (b *builder) add(up, point int) int {
	b.parent, b.leaf, b.size = append(b.parent, up), append(b.leaf, point), append(b.size, 0)
	return len(b.parent) - 1
}

// divide puts points below item v, at most capacity of them below each child.
func (b *builder) divide(v int, points []int, capacity int) error {
	if err := b.ctx.Err(); err != nil {
		return err
	}
	medoid := b.medoid(points)
	for _, p := range points {
		b.size[v] += b.f.Distance(medoid, p) / float64(len(points))
	}
	if len(points) <= b.arity {
		for _, p := range points {
			b.add(v, p)
		}
		return nil
	}
	centers, err := b.farthestFirst(points)
	if err != nil {
		return err
	}
	var groups [][]int
	for round := range medoidRounds + 1 {
		for g := 0; round > 0 && g < len(centers); g++ {
			if err := b.ctx.Err(); err != nil {
				return err
			}
			if len(groups[g]) > 0 {
				centers[g] = b.medoid(groups[g])
			}
		}
		if groups, err = b.assign(points, centers, capacity); err != nil {
			return err
		}
	}
	for _, group := range groups {
		switch len(group) {
		case 0:
		case 1:
			b.add(v, group[0])
		default:
			if err := b.divide(b.add(v, -1), group, capacity/b.arity); err != nil {
				return err
			}
		}
	}
	return nil
}

// farthestFirst chooses arity centers, fewer where only duplicates remain.
func (b *builder) farthestFirst(points []int) ([]int, error) {
	sub, err := metric.Subset(b.f, points)
	if err != nil {
		return nil, err
	}
	order, radii, err := metric.FarthestFirst(b.ctx, sub, b.arity, 0)
	var v *metric.Violation
	if errors.As(err, &v) { // it speaks of places in points
		return nil, &fault.ValueError{Op: b.op, Arg: fmt.Sprintf("distance of point %d", points[v.I]), Index: points[v.J],
			Value: b.f.Distance(points[v.I], points[v.J]), Want: "a finite number >= 0"}
	}
	if err != nil {
		return nil, err
	}
	var centers []int
	for k, i := range order {
		if radii[k] > 0 {
			centers = append(centers, points[i])
		}
	}
	return centers, nil
}

// pairSize is the memory of a point and a center in assign, twice for the sort.
const pairSize = 32

// assign gives every point to the nearest center with room, nearest pairs first. Groups without a
// center, for lack of distinct points, take what is left over.
func (b *builder) assign(points, centers []int, capacity int) ([][]int, error) {
	type pair struct {
		d    float64
		i, g int32
	}
	pairs := make([]pair, 0, len(points)*len(centers))
	for i, p := range points {
		if err := b.ctx.Err(); err != nil {
			return nil, err
		}
		for g, c := range centers {
			pairs = append(pairs, pair{b.f.Distance(c, p), int32(i), int32(g)})
		}
	}
	err := parallel.Sort(b.ctx, pairs, func(x, y pair) int {
		return cmp.Or(cmp.Compare(x.d, y.d), cmp.Compare(x.i, y.i), cmp.Compare(x.g, y.g))
	})
	if err != nil {
		return nil, err
	}
	groups := make([][]int, max(b.arity, len(centers)))
	taken := make([]bool, len(points))
	for _, p := range pairs {
		if !taken[p.i] && len(groups[p.g]) < capacity {
			taken[p.i] = true
			groups[p.g] = append(groups[p.g], points[p.i])
		}
	}
	g := len(centers)
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

// medoidSample bounds medoid's candidates, and those they are compared with.
const medoidSample = 256

// medoid returns the point with the least sum of distances, sampled if many.
func (b *builder) medoid(group []int) int {
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

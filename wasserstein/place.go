package wasserstein

import (
	"context"
	"slices"

	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein/internal/prices"
	"github.com/metricdp/metricdp/wasserstein/internal/rows"
)

// places are the points of the sources and sinks of a Cost that is the distance
// of points of R^d: source i is point i of space, and sink j point first+j.
type places struct {
	space *prices.Space
	first int
}

// smallestPlaced is the geometric mean of the numbers of sources and sinks from which
// searches in space take less time than stored rows.
const smallestPlaced = 200

// placesOf returns the places of a cost, and nil where it has none or is so small
// that rows do as well.
func placesOf(c Cost) *places {
	if n, m := dims(c); float64(n)*float64(m) < smallestPlaced*smallestPlaced {
		return nil
	}
	return newPlaces(c)
}

// newPlaces is placesOf of any size.
func newPlaces(c Cost) *places {
	f, at, first := pointsOf(c)
	if f == nil {
		return nil
	}
	p := &places{prices.New(f, at), first}
	// Beyond, a cost is looked for that is out of its domain.
	if p.space == nil || !(p.space.Diameter() <= rows.Max) {
		return nil
	}
	return p
}

// pointsOf returns the metric of a cost that is one, and nil of others, with its points: source i
// is at[i], and sink j at[first+j].
func pointsOf(c Cost) (f metric.Finite, at []int, first int) {
	switch c := c.(type) {
	case metricCost:
		return c.Finite, identity(c.Len()), 0
	case *distances:
		return c.f, slices.Concat(c.a, c.b), len(c.a)
	}
	return nil, nil, 0
}

// among puts the masses of sources and sinks into an order in which neighbors are
// near each other, and returns the space of these points, sources first.
func (p *places) among(src, dst *masses) *prices.Space {
	id := make([]int32, 0, len(src.at)+len(dst.at))
	for side, m := range [2]*masses{src, dst} {
		m.sort(func(at int) int { return p.space.Place(int32(side*p.first + at)) })
		for _, at := range m.at {
			id = append(id, int32(side*p.first+at))
		}
	}
	return p.space.Subset(id)
}

// sources sets u to the potentials of all sources that go with v of all sinks, rounded down.
func (p *places) sources(ctx context.Context, u, v []float64, workers int) error {
	w := prices.None(p.space.Len())
	copy(w[p.first:], v)
	return p.space.NewPrices(w).Slacks(ctx, p.space, 0, u, workers)
}

// sinks sets v to the potentials of all sinks that go with those of the points id of space.
func (p *places) sinks(ctx context.Context, v []float64, id []int32, u func(k int) float64, workers int) error {
	w := prices.None(p.space.Len())
	for k, i := range id {
		w[i] = u(k)
	}
	return p.space.NewPrices(w).Slacks(ctx, p.space, p.first, v, workers)
}

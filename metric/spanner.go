package metric

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
)

// Spanner returns a graph of few edges whose shortest paths are at most t times as long as the
// distances of f, the greedy t-spanner for a finite t >= 1: it takes the pairs of points by
// ascending distance, then index, and makes a pair an edge where the edges so far leave it farther
// apart than t times its distance (Althöfer et al., 1993). Thus, for the metric g that is returned,
//
//	f <= g <= t*f
//
// on the right for the float64s that the Distance methods return, on the left up to the rounding
// with which f obeys the triangle inequality ([DefaultTolerance]). t = 1 drops the pairs that
// shorter ones imply; a large t leaves a minimum spanning tree. Of an f that breaks the triangle
// inequality, as distances rounded in a file do, t = 1 makes the metric of its shortest paths, the
// largest that is nowhere above f.
//
// The errors are [ErrEmpty], [*ValueError] for t and, with the position of the pair as in
// [NewDense], for a distance outside [0, 1e300], and [*MemoryError]. O(n^2 log n) time, and a
// search near a point for each pair that earlier ones have not decided; 12 n^2 bytes beside the
// result. Of a [Graph] only the edges are tried, and pairs that rounding then leaves too far apart.
func Spanner(ctx context.Context, f Finite, t float64) (*Graph, error) {
	const op = "metric: Spanner"
	if !(t >= 1 && t <= math.MaxFloat64) {
		return nil, fault.Value(op, "t", t, "a finite number >= 1")
	}
	n := fault.Len(f)
	if err := cmp.Or(fault.Empty(op, "f", n), fault.Memory(op, float64(n)*float64(n), 12)); err != nil {
		return nil, err
	}
	whole, isGraph := f.(*Graph)
	var pairs []span
	ahead := 1.0
	if isGraph {
		pairs = whole.spans()
	} else {
		var err error
		if pairs, err = sortedPairs(ctx, op, f, n); err != nil {
			return nil, err
		}
		ahead = searchAhead
	}
	// bound of (i, j), i < j, is the length of some path from i to j: what an
	// earlier search from i found. Only searches from the smaller index count, so
	// that lengths are summed in the order in which newGraph does it; sums then
	// compare as the final distances do, with no allowance for rounding.
	bound := Dense{n: n, upper: slices.Repeat([]float64{math.Inf(1)}, n*(n-1)/2)}
	links := make([][]link, n)
	paths := newDijkstra(links)
	var edges []Edge
	greedy := func(pairs []span) error {
		for k, e := range pairs {
			if k%1024 == 0 {
				if err := ctx.Err(); err != nil {
					return err
				}
			}
			i, j, limit := int(e.i), int(e.j), limit(t, e.d)
			at := bound.at(i, j)
			if bound.upper[at] <= limit {
				continue
			}
			paths.from(i, ahead*limit, func(j int, length float64) {
				if j > i {
					at := bound.at(i, j)
					bound.upper[at] = min(bound.upper[at], length)
				}
			})
			if bound.upper[at] <= limit {
				continue
			}
			edges = append(edges, Edge{i, j, e.d})
			join(links, edges[len(edges)-1])
			bound.upper[at] = e.d
		}
		return nil
	}
	for { // twice at most
		if err := greedy(pairs); err != nil {
			return nil, err
		}
		g, err := newGraph(ctx, op, n, slices.Clone(edges))
		if err != nil {
			return nil, err
		}
		if isGraph {
			if pairs = g.longer(whole, t); len(pairs) > 0 {
				continue
			}
		}
		g.dense.unit = UnitOf(f)
		return g, nil
	}
}

// limit is how long a path may be for a pair at distance d.
func limit(t, d float64) float64 { return min(t*d, math.MaxFloat64) }

// spans lists the pairs that edges join. Where a spanner has paths for these it has
// them, but for rounding, for all pairs.
func (g *Graph) spans() []span {
	pairs := make([]span, 0, len(g.edges))
	for _, e := range g.edges {
		pairs = append(pairs, span{g.Distance(e.I, e.J), int32(e.I), int32(e.J)})
	}
	slices.SortFunc(pairs, span.compare)
	return pairs
}

// longer lists the pairs at more than t times their distance in f.
func (g *Graph) longer(f *Graph, t float64) []span {
	var pairs []span
	at := 0
	for i := range g.Len() {
		for j := i + 1; j < g.Len(); j++ {
			if d := f.dense.upper[at]; g.dense.upper[at] > limit(t, d) {
				pairs = append(pairs, span{d, int32(i), int32(j)})
			}
			at++
		}
	}
	slices.SortFunc(pairs, span.compare)
	return pairs
}

type span struct {
	d    float64
	i, j int32
}

func (a span) compare(b span) int {
	return cmp.Or(cmp.Compare(a.d, b.d), cmp.Compare(a.i, b.i), cmp.Compare(a.j, b.j))
}

// sortedPairs lists all pairs of f by (d, i, j).
func sortedPairs(ctx context.Context, op string, f Finite, n int) ([]span, error) {
	pairs := make([]span, 0, n*(n-1)/2)
	var row []float64
	for i := range n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		row = finite.Row(f, i, row)
		for j := i + 1; j < n; j++ {
			if err := checkLength(op, "f", len(pairs), row[j]); err != nil {
				return nil, err
			}
			pairs = append(pairs, span{row[j], int32(i), int32(j)})
		}
	}
	slices.SortFunc(pairs, span.compare)
	return pairs, nil
}

// searchAhead is how much farther than asked a search goes: most of the pairs that
// come later are then decided without another.
const searchAhead = 2

package metric

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/kdtree"
	"github.com/metricdp/metricdp/internal/parallel"
)

// Net returns a maximal s-separated subset of f, the greedy one: it tries the points in the given
// order, a permutation of the indices (nil: ascending), and keeps each whose distance to every
// point kept before is > s. Thus every point has one of the net within s. s must be finite and >= 0
// ([*ValueError]); an order that is no permutation is a [*SizeError] or a [*ValueError], an empty f
// [ErrEmpty]. About n log n where [Index] has a kd-tree, otherwise at most Len() distances for each
// point kept.
func Net(ctx context.Context, f Finite, s float64, order []int) ([]int, error) {
	const op = "metric: Net"
	n := fault.Len(f)
	if err := cmp.Or(fault.Empty(op, "f", n), fault.NonNegative(op, "s", s)); err != nil {
		return nil, err
	}
	if order == nil {
		order = ascending(n)
	} else if err := fault.Permutation(op, "order", order, n); err != nil {
		return nil, err
	}
	if ix := NewIndex(f); ix.tree != nil {
		return netTree(ctx, ix, s, order)
	}
	return netScan(ctx, f, s, order)
}

// netScan is the definition: the candidates lose the ball of each kept point.
func netScan(ctx context.Context, f Finite, s float64, order []int) ([]int, error) {
	var net []int
	rest, apart := slices.Clone(order), make([]bool, len(order))
	for len(rest) > 0 {
		i := rest[0]
		net, rest = append(net, i), rest[1:]
		err := parallel.Chunks(ctx, len(rest), 256, 0, nil, func(_, lo, hi int) {
			for k := lo; k < hi; k++ {
				apart[k] = f.Distance(i, rest[k]) > s
			}
		})
		if err != nil {
			return nil, err
		}
		left := rest[:0]
		for k, j := range rest {
			if apart[k] {
				left = append(left, j)
			}
		}
		rest = left
	}
	return net, nil
}

func netTree(ctx context.Context, ix *Index, s float64, order []int) ([]int, error) {
	var net []int
	t := ix.tree
	c := cover{newQuery(t, ix.f), make([]int32, 2*t.Leaves), make([]bool, t.N)}
	c.Within(s)
	const pause = 1 << 12 // points between two looks at the context
	for k, i := range order {
		if k%pause == 0 {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
		at := int(ix.pos[i])
		if c.marked[at] {
			continue
		}
		net = append(net, i)
		c.i, c.x = i, t.At(at)
		c.mark(1, 0, t.N)
	}
	return net, nil
}

// cover marks balls in a tree.
type cover struct {
	*query
	count  []int32 // node by node: the points marked
	marked []bool  // in tree order
}

// mark marks the ball of the query's point and returns how many points of node
// it was the first to reach.
func (c *cover) mark(node, lo, hi int) (fresh int32) {
	t := c.tree
	if int(c.count[node]) == hi-lo || c.Far(t.BoxMin(node, c.x, c.gaps)) {
		return 0
	}
	if node < t.Leaves {
		mid := (lo + hi) / 2
		fresh = c.mark(2*node, lo, mid) + c.mark(2*node+1, mid, hi)
	} else {
		for k := lo; k < hi; k++ {
			if c.marked[k] || c.Far(t.Norm(k, c.x, c.gaps)) {
				continue
			}
			if !(c.f.Distance(c.i, int(t.ID[k])) > c.R) {
				c.marked[k] = true
				fresh++
			}
		}
	}
	c.count[node] += fresh
	return fresh
}

// FarthestFirst chooses k points of f, beginning with start, each the farthest from those before
// it, the lowest index of several. The first m are, for every m, a cover of f by m balls whose
// radius is at most twice the least possible (Gonzalez 1985).
//
// radii has length k+1, begins with +Inf and does not increase: radii[m] is the largest distance of
// a point of f to the nearest of the first m chosen, for 0 < m < k that of order[m].
//
// k must lie in [1, Len()] and start in [0, Len()) ([*ValueError]); a distance that is met and is
// negative or not finite is a [*Violation]. k*Len() distances.
func FarthestFirst(ctx context.Context, f Finite, k, start int) (order []int, radii []float64, err error) {
	const op = "metric: FarthestFirst"
	n := fault.Len(f)
	if err := fault.Empty(op, "f", n); err != nil {
		return nil, nil, err
	}
	if k < 1 || k > n {
		return nil, nil, fault.Value(op, "k", float64(k), fmt.Sprintf("an integer in [1, %d]", n))
	}
	if err := fault.Index(op, "start", start, n); err != nil {
		return nil, nil, err
	}
	const chunk, chosen = 2048, -1
	near := slices.Repeat([]float64{math.Inf(1)}, n) // distance to the nearest chosen; chosen
	tops := make([]entry, (n+chunk-1)/chunk)
	top := entry{math.Inf(1), start}
	order, radii = make([]int, 0, k), make([]float64, 0, k+1)
	for len(order) < k {
		order, radii = append(order, top.i), append(radii, top.d)
		near[top.i] = chosen
		err := firstViolation(ctx, op, n, chunk, func(c, lo, hi int) *Violation {
			best := entry{chosen, -1}
			for j := lo; j < hi; j++ {
				if near[j] == chosen {
					continue
				}
				d := f.Distance(top.i, j)
				if noDistance(d) {
					return &Violation{Axiom: FiniteValue, I: top.i, J: j, K: -1, Excess: math.Abs(d)}
				}
				near[j] = min(near[j], d)
				if near[j] > best.d {
					best = entry{near[j], j}
				}
			}
			tops[c] = best
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
		top = slices.MaxFunc(tops, func(a, b entry) int { return cmp.Compare(a.d, b.d) }) // the first of them
	}
	return order, append(radii, max(0, top.d)), nil
}

// Assign returns for every point i of f the nearest of the given centers, the point
// centers[nearest[i]], the one listed first of several, and its distance dist[i]. No centers are
// [ErrEmpty], one outside [0, Len()) is a [*ValueError]. It takes a kd-tree of the centers as in
// [Index], or Len()*len(centers) distances.
func Assign(ctx context.Context, f Finite, centers []int) (nearest []int, dist []float64, err error) {
	const op = "metric: Assign"
	n := fault.Len(f)
	if err := cmp.Or(fault.Empty(op, "f", n), fault.Empty(op, "centers", len(centers)), fault.Indices(op, "centers", centers, n)); err != nil {
		return nil, nil, err
	}
	var t *kdtree.Tree
	var e Embedding
	if len(centers) > 2*kdtree.LeafSize { // fewer are as fast to scan
		t, e = treeOver(f, centers)
	}
	nearest, dist = make([]int, n), make([]float64, n)
	err = parallel.Chunks(ctx, n, 1024, 0, nil, func(_, lo, hi int) {
		q := newQuery(t, toCenters{f, centers})
		var x []float64
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			q.i = i
			if t != nil {
				x = append(x[:0], e.Coords[i*e.Dim:(i+1)*e.Dim]...)
				t.Normalize(x)
				q.aim(x)
			}
			q.nearest(1, nobody, -1)
			nearest[i], dist[i] = q.best[0].i, q.best[0].d
		}
	})
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, nil, err
	}
	return nearest, dist, nil
}

// toCenters measures from point i of f to the j-th center.
type toCenters struct {
	f       Finite
	centers []int
}

func (c toCenters) Len() int                  { return len(c.centers) }
func (c toCenters) Distance(i, j int) float64 { return c.f.Distance(i, c.centers[j]) }

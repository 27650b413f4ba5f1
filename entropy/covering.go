package entropy

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/metricdp/metricdp/entropy/internal/clique"
	"github.com/metricdp/metricdp/entropy/internal/slack"
	"github.com/metricdp/metricdp/internal/bitset"
	"github.com/metricdp/metricdp/metric"
)

// Cover encloses a covering number: Lo <= N <= Hi.
type Cover struct {
	Lo, Hi int

	// Centers are Hi points of the space whose closed balls of radius s cover
	// the subset.
	Centers []int

	// Separated are points of the subset no two of which lie in one ball. They
	// are Lo many where Proof is [ByPacking], and fewer otherwise.
	Separated []int
	Proof     Proof // of Lo
}

// String is "[Lo, Hi]".
func (c Cover) String() string { return fmt.Sprintf("[%d, %d]", c.Lo, c.Hi) }

// Exact reports whether the number is known.
func (c Cover) Exact() bool { return c.Lo == c.Hi }

// coverPoints is the number of points up to which a least cover is searched
// for: what a ball covers is then one word of bits.
const coverPoints = 64

// Covering encloses the covering number of a subset S of f: the least number of
// closed balls of radius s that cover S. Their centers are any points of f; for
// centers in S alone pass [metric.Subset](f, subset) and nil. A nil subset is
// all of f, an index listed twice counts once, and s is finite and >= 0.
//
// With N the packing number of [Packing], N(S, 2s) <= covering number <= N(S,
// s), and both are N(S, s) for an ultrametric, where the result is exact.
//
// The number is NP-hard to find otherwise. The lower end is that of Packing at
// 2s, for which the triangle inequality is taken to hold up to
// [metric.DefaultTolerance], and the upper end a maximal s-separated set or, up
// to 4096 points, a greedy cover. For up to 64 points a branch and bound closes
// the gap ([SearchOptions].Nodes).
//
// A *metric.Ultrametric costs O(n), and others what Packing does.
func Covering(ctx context.Context, f metric.Finite, subset []int, s float64, o *SearchOptions) (Cover, error) {
	const op = "entropy: Covering"
	pts, err := checkSubset(op, f, subset, s)
	if err != nil {
		return Cover{}, err
	}
	nodes := budget(orDefault(o).Nodes)
	if u := hierarchyOf(ctx, f); u != nil {
		p := packClusters(u, pts, s)
		return Cover{p.Lo, p.Hi, p.Separated, p.Separated, ByPacking}, ctx.Err()
	}
	cover, err := coverBracket(ctx, f, pts, s, nodes)
	if err != nil {
		return Cover{}, err
	}
	if len(pts) <= coverPoints && cover.Lo < cover.Hi {
		cover.search(ctx, f, pts, s, nodes)
	}
	return cover, ctx.Err()
}

// coverBracket is Covering without a search: a maximal s-separated set is a
// cover, and points more than 2s apart lie in no common ball.
func coverBracket(ctx context.Context, f metric.Finite, pts []int, s float64, nodes int) (Cover, error) {
	var p packer
	far, err := p.pack(ctx, f, pts, min(2*s/slack.Down, math.MaxFloat64), nodes)
	if err != nil {
		return Cover{}, err
	}
	g, err := metric.Subset(f, pts)
	if err != nil {
		return Cover{}, err
	}
	cover := Cover{Lo: far.Lo, Separated: far.Separated, Proof: ByPacking}
	for _, order := range [][]int{nil, sweep(g)} {
		net, err := metric.Net(ctx, g, s, &metric.NetOptions{Order: order})
		if err != nil {
			return Cover{}, err
		}
		if cover.Centers == nil || len(net) < len(cover.Centers) {
			cover.Centers = net
		}
	}
	if cover.Lo < len(cover.Centers) && len(pts) <= matrixPoints {
		if err := p.far.Far(ctx, f.Distance, pts, s); err != nil {
			return Cover{}, err
		}
		if centers := greedyCover(ctx, &p.far); centers != nil && len(centers) < len(cover.Centers) {
			cover.Centers = centers
		}
	}
	for k, i := range cover.Centers {
		cover.Centers[k] = pts[i]
	}
	slices.Sort(cover.Centers)
	cover.Hi = len(cover.Centers)
	return cover, nil
}

// greedyCover takes the ball with the most points that are not covered, again
// and again; far has the pairs of points that are not in one another's ball.
// What a ball would add only falls, so that few are counted anew. It is nil
// where ctx is done.
func greedyCover(ctx context.Context, far *clique.Graph) (centers []int) {
	m := far.Len()
	open := make(bitset.Set, bitset.Words(m))
	open.Fill(m)
	most := slices.Repeat([]int{m}, m) // at most this many points would be added
	for open.Len() > 0 {
		if ctx.Err() != nil {
			return nil
		}
		best, gain := -1, 0
		for i := range most {
			if most[i] <= gain {
				continue
			}
			most[i] = 0
			for w, x := range far.Row(i) {
				most[i] += bits.OnesCount64(open[w] &^ x)
			}
			if most[i] > gain {
				best, gain = i, most[i]
			}
		}
		for w, x := range far.Row(best) {
			open[w] &= x
		}
		centers = append(centers, best)
	}
	return centers
}

// search looks for a smaller cover, and for a proof that there is none.
func (c *Cover) search(ctx context.Context, f metric.Finite, pts []int, s float64, nodes int) {
	l := leastCover{ctx: ctx, bar: c.Lo, size: c.Hi}
	number := make(map[uint64]bool)
	var centers []int
	for x := range f.Len() {
		if x%pause == 0 && ctx.Err() != nil {
			return
		}
		ball := uint64(0)
		for k, i := range pts {
			if f.Distance(x, i) <= s {
				ball |= 1 << k
			}
		}
		if !number[ball] {
			number[ball] = true
			l.balls, centers = append(l.balls, ball), append(centers, x)
		}
	}
	for k := range pts {
		for _, b := range l.balls {
			l.degree[k] += int(b >> k & 1)
		}
	}
	l.left = nodes / (1 + len(l.balls)/coverPoints)
	done := l.expand(^uint64(0) >> (coverPoints - len(pts)))
	if l.best != nil {
		c.Centers = c.Centers[:0]
		for _, k := range l.best {
			c.Centers = append(c.Centers, centers[k])
		}
		slices.Sort(c.Centers)
		c.Hi = len(c.Centers)
	}
	if done && c.Lo < c.Hi {
		c.Lo, c.Proof = c.Hi, BySearch
	}
}

// leastCover looks for a cover of up to 64 points by few of the given balls.
type leastCover struct {
	ctx       context.Context
	balls     []uint64
	degree    [coverPoints]int // the number of balls that a point lies in
	left      int              // nodes
	bar, size int              // sizes of what ends the search and of the best cover known
	chosen    []int
	best      []int // nil while none is smaller than that known at first
}

// expand searches below the chosen balls and reports whether it finished. It
// tries the balls that cover the open point that the fewest cover.
func (l *leastCover) expand(open uint64) bool {
	if open == 0 {
		l.best, l.size = slices.Clone(l.chosen), len(l.chosen)
		return true
	}
	point, gain := -1, func(k int) int { return bits.OnesCount64(l.balls[k] & open) }
	for x := open; x != 0; x &= x - 1 {
		if k := bits.TrailingZeros64(x); point < 0 || l.degree[k] < l.degree[point] {
			point = k
		}
	}
	var order []int
	most := 1
	for k, b := range l.balls {
		most = max(most, gain(k))
		if b>>point&1 != 0 {
			order = append(order, k)
		}
	}
	if len(l.chosen)+(bits.OnesCount64(open)+most-1)/most >= l.size {
		return true
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(gain(b), gain(a)) })
	for _, k := range order {
		if l.left--; l.left < 0 || l.ctx.Err() != nil {
			return false
		}
		l.chosen = append(l.chosen, k)
		done := l.expand(open &^ l.balls[k])
		l.chosen = l.chosen[:len(l.chosen)-1]
		if !done || l.size <= l.bar {
			return done
		}
	}
	return true
}

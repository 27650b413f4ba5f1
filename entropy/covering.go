package entropy

import (
	"context"
	"fmt"
	"slices"

	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/metric"
)

// Cover encloses a covering number: Lo <= N <= Hi.
type Cover struct {
	Lo, Hi int

	// Centres are Hi points of the space whose closed balls of radius s cover
	// the subset.
	Centres []int

	// Separated are points of the subset no two of which lie in one ball. They
	// are Lo many where Proof is [ByPacking], and fewer otherwise.
	Separated []int
	Proof     Proof // of Lo
}

// String is "[Lo, Hi]".
func (c Cover) String() string { return fmt.Sprintf("[%d, %d]", c.Lo, c.Hi) }

// Exact reports whether the number is known.
func (c Cover) Exact() bool { return c.Lo == c.Hi }

// coverBytes bounds the bit matrix of the balls of all centres, beside
// matrixPoints for the points to be covered.
const coverBytes = 1 << 26

// Covering encloses the covering number of a subset S of f: the least number of
// closed balls of radius s that cover S. Their centres are any points of f; for
// centres in S alone pass [metric.Subset](f, subset) and nil. A nil subset is all
// of f, an index listed twice counts once, and s is finite and >= 0.
//
// With N the packing number of [Packing], N(S, 2s) <= covering number <= N(S, s),
// and both are N(S, s) for an ultrametric, where the result is exact.
//
// The number is NP-hard to find otherwise. Up to 4096 points of S, the balls fit
// in a bit matrix of 64 MiB and the bounds are those of a greedy cover (within a
// factor 1 + ln|S| of the least), of points no two of which share a ball, and of
// a branch and bound, exact for some dozens of points. Beyond, they come from
// nets, and the lower one takes the triangle inequality to hold up to
// [metric.DefaultTolerance].
//
// A *metric.Ultrametric costs O(n), up to 4096 points O(n |S|) distances, on
// every core, and O(n |S|^2/64) words, more the cost of [Packing]. Errors are
// ErrEmpty, *ValueError and the context's.
func Covering(f metric.Finite, subset []int, s float64, o *Options) (Cover, error) {
	const op = "entropy: Covering"
	pts, err := checkSubset(op, f, subset, s)
	if err != nil {
		return Cover{}, err
	}
	o = o.orDefault()
	ctx := o.context()
	if u := hierarchyOf(ctx, f); u != nil {
		p := packClusters(u, pts, s)
		return Cover{p.Lo, p.Hi, p.Separated, p.Separated, ByPacking}, ctx.Err()
	}
	if m := len(pts); m <= matrixPoints && f.Len()*bitWords(m) <= coverBytes/8 {
		return coverMatrix(f, pts, s, o)
	}
	return coverLarge(ctx, f, pts, s, o.nodes())
}

// coverMatrix is Covering by the bit matrix of all balls.
func coverMatrix(f metric.Finite, pts []int, s float64, o *Options) (Cover, error) {
	ctx, nodes := o.context(), o.nodes()
	n, m := f.Len(), len(pts)
	c := newSetCover(m)
	c.fill(n)
	// A chunk of points is one word of every ball, so that chunks do not meet.
	err := parallel.Chunks(ctx, m, 64, o.Workers, o.Progress, func(word, lo, hi int) {
		var row []float64
		for k := lo; k < hi && ctx.Err() == nil; k++ {
			row = metric.Row(f, pts[k], row)
			for centre, d := range row {
				if d <= s {
					c.row(centre)[word] |= 1 << (k % 64)
				}
			}
		}
	})
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return Cover{}, err
	}
	c.greedy()
	p := packer{rows: c.strangers()}
	p.c.ctx = ctx
	set, _, _, _ := p.graph(m, nodes) // its upper bound says nothing about covers
	cover := Cover{Lo: len(set), Proof: ByPacking}
	for _, k := range set {
		cover.Separated = append(cover.Separated, pts[k])
	}
	if cover.Lo < len(c.best) && c.search(ctx, cover.Lo, searchNodes(max(m, n/64), nodes)) {
		cover.Lo, cover.Proof = len(c.best), BySearch
	}
	if len(set) == len(c.best) {
		cover.Proof = ByPacking
	}
	for _, k := range c.best {
		cover.Centres = append(cover.Centres, c.centres[k])
	}
	cover.Hi = len(cover.Centres)
	slices.Sort(cover.Centres)
	slices.Sort(cover.Separated)
	return cover, ctx.Err()
}

// coverLarge is Covering by nets: a maximal s-separated set is a cover, and
// points more than 2s apart lie in no common ball.
func coverLarge(ctx context.Context, f metric.Finite, pts []int, s float64, nodes int) (Cover, error) {
	g := f
	if len(pts) < f.Len() {
		var err error
		if g, err = metric.Subset(f, pts); err != nil {
			return Cover{}, err
		}
	}
	var p packer
	far, err := p.pack(ctx, g, allPoints(len(pts)), 2*s/nearly, nodes)
	if err != nil {
		return Cover{}, err
	}
	o := &metric.NetOptions{Context: ctx}
	best, err := metric.Net(g, s, o)
	if err != nil {
		return Cover{}, err
	}
	if best, err = coreCover(ctx, g, s, best); err != nil {
		return Cover{}, err
	}
	cover := Cover{Lo: far.Lo, Hi: len(best), Centres: best, Separated: far.Separated, Proof: ByPacking}
	for _, list := range [][]int{cover.Centres, cover.Separated} {
		for k, i := range list {
			list[k] = pts[i]
		}
		slices.Sort(list)
	}
	return cover, ctx.Err()
}

// coreCover returns the smaller of the cover best of g and a greedy one that
// covers whole cells of a net T with centres in T: the ball of c has the cell of
// t in it where d(c,t) + r_t <= s.
func coreCover(ctx context.Context, g metric.Finite, s float64, best []int) ([]int, error) {
	net, _, radius, err := coreOf(ctx, g, s)
	if err != nil || net == nil {
		return best, err
	}
	c := newSetCover(len(net))
	for a, i := range net {
		ball := c.add(i)
		for b, j := range net {
			if a == b && radius[b] <= s || g.Distance(i, j)+radius[b] <= s*nearly {
				ball[b/64] |= 1 << (b % 64)
			}
		}
	}
	c.greedy()
	if len(c.best) >= len(best) {
		return best, nil
	}
	best = best[:0]
	for _, k := range c.best {
		best = append(best, c.centres[k])
	}
	return best, nil
}

package metric

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/kdtree"
)

// Index finds balls, nearest and farthest points among the points of a [Finite]. Where the space is
// [Embedded] in at most 20 dimensions it searches a kd-tree: O(n log n) to build, and O(log n) a
// query for points spread over their dimensions, n in the worst case. Other spaces are scanned,
// with one row of distances a query. The answers are, to the bit, those of a scan. An Index is
// immutable and safe for concurrent use.
type Index struct {
	f    Finite
	tree *kdtree.Tree // nil: scan
	pos  []int32      // the place of each point in tree order
	pool sync.Pool    // of *query
}

// NewIndex returns an index over f.
func NewIndex(f Finite) *Index {
	ix := &Index{f: f}
	if fault.Len(f) > 0 {
		ix.tree, _ = treeOver(f, nil)
	}
	if t := ix.tree; t != nil {
		ix.pos = make([]int32, t.N)
		for k, i := range t.ID {
			ix.pos[i] = int32(k)
		}
	}
	ix.pool.New = func() any { return newQuery(ix.tree, f) }
	return ix
}

// treeOver returns a kd-tree over the points ids of f (nil: all), and f's embedding, or nil where a
// scan serves as well. Coordinates of too many dimensions are not even computed.
func treeOver(f Finite, ids []int) (*kdtree.Tree, Embedding) {
	if finite.Dim(f) > kdtree.MaxDim {
		return nil, Embedding{}
	}
	e, ok := finite.Embed[Embedding](f)
	if !ok || len(e.Coords) != f.Len()*e.Dim {
		return nil, Embedding{}
	}
	return kdtree.New(e.Coords, e.Dim, e.P, e.FromNorm, ids), e
}

// Len returns the number of points.
func (ix *Index) Len() int { return fault.Len(ix.f) }

// Ball appends to dst, in ascending order, the points at a distance <= r from point i, itself among
// them.
func (ix *Index) Ball(i int, r float64, dst []int) []int {
	q := ix.query(i)
	defer ix.pool.Put(q)
	return q.ball(r, dst)
}

// Neighbors appends to dst the k points nearest to point i, or all others, in ascending order of
// distance, and of index where distances tie.
func (ix *Index) Neighbors(i, k int, dst []int) []int {
	q := ix.query(i)
	defer ix.pool.Put(q)
	if k = min(k, ix.Len()-1); k <= 0 {
		return dst
	}
	q.skip = i
	q.nearest(k, nobody, -1)
	slices.SortFunc(q.best, entry.compare)
	for _, e := range q.best {
		dst = append(dst, e.i)
	}
	return dst
}

// Nearest returns the other point nearest to point i, the lowest of several, and its distance; -1
// and +Inf where there is none.
func (ix *Index) Nearest(i int) (j int, d float64) {
	e := ix.nearest(i, nobody, -1)
	return e.i, e.d
}

// nearest returns the least other entry at a distance > floor, or bound where
// nothing comes before that.
func (ix *Index) nearest(i int, bound entry, floor float64) entry {
	q := ix.query(i)
	defer ix.pool.Put(q)
	q.skip = i
	q.nearest(1, bound, floor)
	return q.best[0]
}

// Farthest returns the point farthest from point i, the lowest of several, and its distance.
func (ix *Index) Farthest(i int) (j int, d float64) {
	e := ix.farthest(i, entry{math.Inf(-1), -1}, math.Inf(1))
	return e.i, e.d
}

// farthest returns the farthest point from i, or bound where all are nearer than
// that, or any point at a distance >= stop.
func (ix *Index) farthest(i int, bound entry, stop float64) entry {
	q := ix.query(i)
	defer ix.pool.Put(q)
	return q.farthest(bound, stop)
}

// NearestNeighbors returns the k nearest neighbors of every point: those of point i are entries
// [i*k, (i+1)*k), as [Index.Neighbors] lists them. k must lie in [1, Len()-1] ([*ValueError]); NaN
// distances that leave a point too few neighbors are a [*Violation]. n queries.
func (ix *Index) NearestNeighbors(ctx context.Context, k int) ([]int, error) {
	return ix.nearestNeighbors(ctx, "metric: Index.NearestNeighbors", "k", k, 0)
}

// nearestNeighbors finds the count nearest, of which itself are the point.
func (ix *Index) nearestNeighbors(ctx context.Context, op, arg string, count, itself int) ([]int, error) {
	n := ix.Len()
	if err := fault.Empty(op, "f", n); err != nil {
		return nil, err
	}
	if most := n - 1 + itself; count < 1 || count > most {
		return nil, fault.Value(op, arg, float64(count), fmt.Sprintf("an integer in [1, %d]", most))
	}
	if err := fault.Memory(op, float64(n)*float64(count), 8); err != nil {
		return nil, err
	}
	k := count - itself
	out := make([]int, n*k)
	err := firstViolation(ctx, op, n, 256, func(_, lo, hi int) *Violation {
		for h := lo; h < hi && ctx.Err() == nil; h++ {
			i := ix.ordered(h)
			if slices.Contains(ix.Neighbors(i, k, out[i*k:i*k:(i+1)*k]), -1) { // nobody
				return unordered(ix.f, i)
			}
		}
		return nil
	})
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	return out, nil
}

// unordered finds the distance from i for which too few of the others were nearest.
func unordered(f Finite, i int) *Violation {
	for j := range f.Len() {
		if d := f.Distance(i, j); math.IsNaN(d) || math.IsInf(d, 0) {
			return &Violation{Axiom: FiniteValue, I: i, J: j, K: -1, Excess: math.Abs(d)}
		}
	}
	return &Violation{Axiom: FiniteValue, I: i, J: i, K: -1, Excess: math.NaN()}
}

// ReverseNeighbors returns for every point v, in ascending order, the points that count v among
// their r nearest, themselves included: I_NN,r(v) of IKWAT22, (5). r must lie in [1, Len()]
// ([*ValueError]). n queries; the result holds n*r indices.
func (ix *Index) ReverseNeighbors(ctx context.Context, r int) ([][]int, error) {
	near, err := ix.nearestNeighbors(ctx, "metric: Index.ReverseNeighbors", "r", r, 1)
	if err != nil {
		return nil, err
	}
	n, k := ix.Len(), r-1
	size := slices.Repeat([]int{1}, n)
	for _, v := range near {
		size[v]++
	}
	all, sets := make([]int, n*r), make([][]int, n)
	for v, s := range size {
		sets[v], all = all[:0:s], all[s:]
	}
	for u := range n {
		sets[u] = append(sets[u], u)
		for _, v := range near[u*k : (u+1)*k] {
			sets[v] = append(sets[v], u)
		}
	}
	return sets, nil
}

// query returns a query from point i, to be put back.
func (ix *Index) query(i int) *query {
	q, ok := ix.pool.Get().(*query)
	if !ok {
		panic("metric: an Index without points: NewIndex makes one")
	}
	q.i, q.skip = i, -1
	if ix.tree != nil {
		q.aim(ix.tree.At(int(ix.pos[i])))
	}
	return q
}

// ordered returns the k-th point in an order that is kind to the caches.
func (ix *Index) ordered(k int) int {
	if ix.tree == nil {
		return k
	}
	return int(ix.tree.ID[k])
}

type entry struct {
	d float64
	i int
}

// nobody comes after every entry.
var nobody = entry{math.Inf(1), -1}

// before orders by distance, then by index.
func (a entry) before(b entry) bool { return a.d < b.d || (a.d == b.d && uint(a.i) < uint(b.i)) }

func (a entry) compare(b entry) int {
	return cmp.Or(cmp.Compare(a.d, b.d), cmp.Compare(uint(a.i), uint(b.i)))
}

// query is the state of one search from one point, reused.
type query struct {
	f    Finite // Distance(i, j) is the distance to the j-th point of the tree
	i    int
	skip int // left out of nearest
	tree *kdtree.Tree
	x    []float64 // the coordinates of point i, normalized; nil: scan
	gaps []float64
	row  []float64
	kdtree.Reach
	best  []entry // the nearest so far, the last on top of a heap
	floor float64
	top   entry // the farthest so far
	stop  float64
}

func newQuery(t *kdtree.Tree, f Finite) *query {
	q := &query{f: f, skip: -1, tree: t}
	if t != nil {
		q.gaps = make([]float64, t.Dim)
		q.Reach = t.Reach()
	}
	return q
}

// aim sets the coordinates the search starts from; it keeps x.
func (q *query) aim(x []float64) {
	q.x = nil
	if q.Aim(x) {
		q.x = x
	}
}

func (q *query) ball(r float64, dst []int) []int {
	if q.x == nil {
		q.row = finite.Row(q.f, q.i, q.row)
		for j, d := range q.row {
			if d <= r {
				dst = append(dst, j)
			}
		}
		return dst
	}
	start := len(dst)
	q.Within(r)
	dst = q.ballIn(1, 0, q.tree.N, dst)
	slices.Sort(dst[start:])
	return dst
}

func (q *query) ballIn(node, lo, hi int, dst []int) []int {
	t := q.tree
	if q.Far(t.BoxMin(node, q.x, q.gaps)) {
		return dst
	}
	if node < t.Leaves {
		mid := (lo + hi) / 2
		return q.ballIn(2*node+1, mid, hi, q.ballIn(2*node, lo, mid, dst))
	}
	for k := lo; k < hi; k++ {
		if q.Far(t.Norm(k, q.x, q.gaps)) {
			continue
		}
		if j := int(t.ID[k]); q.f.Distance(q.i, j) <= q.R {
			dst = append(dst, j)
		}
	}
	return dst
}

// nearest leaves in q.best the k entries that come first, in no order, among
// those before bound and at a distance > floor; what is missing is bound.
func (q *query) nearest(k int, bound entry, floor float64) {
	q.best = slices.Grow(q.best[:0], k)[:k]
	for h := range q.best {
		q.best[h] = bound
	}
	q.floor = floor
	if q.x != nil {
		q.Within(bound.d)
		q.nearestIn(1, 0, q.tree.N, 0)
		return
	}
	q.row = finite.Row(q.f, q.i, q.row)
	for j, d := range q.row {
		q.offer(entry{d, j})
	}
}

// offer puts e among the best and reports whether it belongs there.
func (q *query) offer(e entry) bool {
	if !e.before(q.best[0]) || e.d <= q.floor || e.i == q.skip {
		return false
	}
	h := 0
	for {
		c := 2*h + 1
		if c >= len(q.best) {
			break
		}
		if c+1 < len(q.best) && q.best[c].before(q.best[c+1]) {
			c++
		}
		if !e.before(q.best[c]) {
			break
		}
		q.best[h] = q.best[c]
		h = c
	}
	q.best[h] = e
	return true
}

// nearestIn searches node, whose box lies at the norm v. Where the worst of the
// best is at distance 0 only a lower index improves on it.
func (q *query) nearestIn(node, lo, hi int, v float64) {
	t := q.tree
	if q.Far(v) || (q.best[0].d == 0 && uint(t.First[node]) > uint(q.best[0].i)) {
		return
	}
	if node >= t.Leaves {
		for k := lo; k < hi; k++ {
			if q.Far(t.Norm(k, q.x, q.gaps)) {
				continue
			}
			j := int(t.ID[k])
			if q.offer(entry{q.f.Distance(q.i, j), j}) && q.best[0].d < q.R {
				q.Nearer(q.best[0].d)
			}
		}
		return
	}
	a, b, mid := 2*node, 2*node+1, (lo+hi)/2
	va, vb := t.BoxMin(a, q.x, q.gaps), t.BoxMin(b, q.x, q.gaps)
	if va < vb || (va == vb && t.First[a] < t.First[b]) {
		q.nearestIn(a, lo, mid, va)
		q.nearestIn(b, mid, hi, vb)
	} else {
		q.nearestIn(b, mid, hi, vb)
		q.nearestIn(a, lo, mid, va)
	}
}

func (q *query) farthest(bound entry, stop float64) entry {
	q.top, q.stop = bound, stop
	if q.x != nil {
		q.Beyond(bound.d)
		q.farthestIn(1, 0, q.tree.N, math.Inf(1))
		return q.top
	}
	q.row = finite.Row(q.f, q.i, q.row)
	for j, d := range q.row {
		q.raise(entry{d, j})
	}
	return q.top
}

// raise makes e the farthest, if it is, and reports that.
func (q *query) raise(e entry) bool {
	if e.d > q.top.d || (e.d == q.top.d && uint(e.i) < uint(q.top.i)) {
		q.top = e
		return true
	}
	return false
}

// farthestIn searches node, whose box reaches to the norm v.
func (q *query) farthestIn(node, lo, hi int, v float64) {
	t := q.tree
	if q.top.d >= q.stop || q.Short(v) {
		return
	}
	if node >= t.Leaves {
		for k := lo; k < hi; k++ {
			if q.Short(t.Norm(k, q.x, q.gaps)) {
				continue
			}
			j := int(t.ID[k])
			if q.raise(entry{q.f.Distance(q.i, j), j}) && q.top.d > q.R {
				q.Farther(q.top.d)
			}
		}
		return
	}
	a, b, mid := 2*node, 2*node+1, (lo+hi)/2
	va, vb := t.BoxMax(a, q.x, q.gaps), t.BoxMax(b, q.x, q.gaps)
	if va > vb {
		q.farthestIn(a, lo, mid, va)
		q.farthestIn(b, mid, hi, vb)
	} else {
		q.farthestIn(b, mid, hi, vb)
		q.farthestIn(a, lo, mid, va)
	}
}

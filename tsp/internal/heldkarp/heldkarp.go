// Package heldkarp searches for the Lagrange multipliers with which a 1-tree proves that no tour is
// shorter, the bound of Held and Karp (1970, 1971), and proves what multipliers state with rounding
// downward. tsp.Bound has the formula; tsp.BoundHeldKarp says what the search does. Metrics have a
// point or more; errors lack the call.
package heldkarp

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/spanning"
	"github.com/metricdp/metricdp/metric"
)

// Bound is a proof that no tour of a finite metric is shorter than Value.
type Bound struct {
	// Value is at most the exact sum of the float64 distances along any tour:
	// every rounding on the way to it is downward. It is >= 0.
	Value float64
	// Multipliers prove it, one a point.
	Multipliers []float64
	// Iterations is the number of steps that the search made.
	Iterations int
}

const (
	// neighbors is the number of nearest neighbors of each point that the graph begins with.
	neighbors = 7

	// tight is the relative gap that counts as none: the length of a tour and a
	// bound each err by some 2^-53 times the number of points at worst.
	tight = 1e-12
)

// iterations is the number of steps of the search on n points, each with a spanning tree of a sparse
// graph.
func iterations(n int) int {
	const most, least, work = 600, 60, 6e6 // work: points times iterations
	return int(max(least, min(most, work/float64(n))))
}

// HasTree reports whether a kd-tree serves f, in about O(n log n).
func HasTree(f metric.Finite) bool { return newBoruvka(f) != nil }

// SpanningTree returns a minimum spanning tree, always the same one.
func SpanningTree(ctx context.Context, f metric.Finite) ([]spanning.Edge, error) {
	h := newSearch(f, false, 0)
	return h.tree(ctx, h.best.Multipliers, nil)
}

// OneTree returns the bound that the multipliers pi prove. They are one a point
// and at most 1e300 in magnitude; nil are zeros.
func OneTree(ctx context.Context, f metric.Finite, pi []float64, path bool) (Bound, error) {
	h := newSearch(f, path, 0)
	p := make([]float64, h.n)
	copy(p, pi)
	_, err := h.prove(ctx, p, nil)
	return h.best, err
}

// Ascend returns the best bound that the search found, of paths or of closed tours.
// upper, where positive, is the length of a known one: the search ends once it has proved that one
// optimal, up to rounding.
func Ascend(ctx context.Context, f metric.Finite, path bool, upper float64) (Bound, error) {
	h := newSearch(f, path, upper)
	err := h.run(ctx)
	return h.best, err
}

// search is the state of one call.
type search struct {
	f     metric.Finite
	n     int
	path  bool
	upper float64
	kd    *boruvka // nil: Prim's algorithm on all pairs
	best  Bound
}

func newSearch(f metric.Finite, path bool, upper float64) *search {
	n := f.Len()
	return &search{f, n, path, upper, newBoruvka(f), Bound{Multipliers: make([]float64, n)}}
}

// tree returns the spanning tree under pi of all pairs of points.
func (h *search) tree(ctx context.Context, pi []float64, hints []spanning.Edge) ([]spanning.Edge, error) {
	if h.kd != nil {
		return h.kd.spanning(ctx, pi, hints)
	}
	return prim(ctx, h.f, pi)
}

// prove makes the bound of pi, which it keeps, the best if it is, and returns the tree.
func (h *search) prove(ctx context.Context, pi []float64, hints []spanning.Edge) ([]spanning.Edge, error) {
	tree, err := h.tree(ctx, pi, hints)
	if err != nil {
		return nil, err
	}
	if v := certify(ctx, h.f, tree, pi, h.path); v > h.best.Value {
		h.best.Value, h.best.Multipliers = v, pi
	}
	return tree, ctx.Err()
}

// The schedule of the rounds, each an ascent on the graph and then a proof, by
// experiment; no number is critical.
const (
	// The first round takes one in rounds of the iterations, and none fewer than shortest.
	rounds   = 20
	shortest = 20

	// firstStep is the first step, as a fraction of the scale of each direction.
	firstStep = 0.15

	// After a round whose value on the graph was proved but for loss, the next is longer and begins
	// with shorter steps; or with longer ones, if this was the second such round on end, still
	// gained gain, and no round before gained nothing. After any other round edges were missing,
	// and the same is tried again with them.
	loss   = 0.002
	longer = 1.5
	finer  = 0.5
	gain   = 0.01
	bolder = 2
)

// run is the whole search.
func (h *search) run(ctx context.Context) error {
	tree, err := h.prove(ctx, make([]float64, h.n), nil)
	goal := math.Inf(1)
	if h.upper > 0 {
		goal = h.upper * (1 - tight)
	}
	// Up to three points the tree gives the shortest tour.
	if err != nil || h.n <= 3 || h.best.Value == 0 || h.best.Value >= goal {
		return err
	}
	k := min(neighbors, h.n-1)
	near, err := metric.NewIndex(h.f).NearestNeighbors(ctx, k)
	if err != nil {
		return err
	}
	g, edges := newGraph(h.f, slices.Clone(tree))
	// The tour keeps the multipliers from growing without bound, as they would
	// on a graph without any.
	order := g.preorder()
	for k, i := range order {
		edges = append(edges, spanning.Edge{I: int32(i), J: int32(order[(k+1)%h.n])})
	}
	for e, j := range near {
		edges = append(edges, spanning.Edge{I: int32(e / k), J: int32(j)})
	}
	g, edges = newGraph(h.f, edges)
	if err := ctx.Err(); err != nil { // 0.1 s of 100,000 points on either side
		return err
	}
	scales := newScales(h.f, tree, g.around(k, h.best.Value/float64(h.n)))

	first := firstStep
	pi := make([]float64, h.n)
	proved, bold := false, true // the round before; all rounds have gained
	all := iterations(h.n)
	for steps := max(shortest, all/rounds); h.best.Iterations < all; {
		some := steps
		// The last rounds are shorter and shorter, so that one whose graph
		// lacked edges is not the last.
		if left := all - h.best.Iterations; left < 2*steps {
			some = max(left/2, min(left, 2*shortest))
		}
		h.aim(ctx, g, pi)
		before := h.best.Value
		w, still := h.climb(ctx, g, pi, scales, some, first, goal)
		if err := ctx.Err(); err != nil {
			return err
		}
		if tree, err = h.prove(ctx, slices.Clone(pi), g.tree(pi)); err != nil {
			return err
		}
		if h.best.Value >= goal || still && h.best.Value >= w*(1-tight) {
			break
		}
		switch {
		case h.best.Value < w*(1-loss):
			first, proved = min(first, firstStep), false
		case bold && proved && h.best.Value > before*(1+gain):
			first *= bolder
		default:
			steps = int(float64(steps) * longer)
			first *= finer
			proved, bold = true, bold && h.best.Value > before
		}
		g, edges = newGraph(h.f, append(edges, tree...))
	}
	return nil
}

// aim sets pi to the best place, on g, between the best multipliers and those where the last round
// ended, which may have been led astray by a graph that lacked edges.
func (h *search) aim(ctx context.Context, g *graph, pi []float64) {
	const parts = 4
	mid := make([]float64, h.n)
	mix := func(k int) {
		t := float64(float64(k) / parts)
		for i, p := range h.best.Multipliers {
			mid[i] = float64((1-t)*p) + float64(t*pi[i])
		}
	}
	best, at := math.Inf(-1), 0
	for k := range parts + 1 {
		if ctx.Err() != nil {
			return
		}
		mix(k)
		if w := g.oneTree(mid, h.path); w > best {
			best, at = w, k
		}
	}
	mix(at)
	copy(pi, mid)
}

// scales shapes the steps of the ascent. A multiplier moves on the scale of the distances around
// its point; those of a cluster that lies apart also move together, on the scale of the gap around
// it. So there is a direction for each point and each cluster: points first, and every cluster
// before the one around it, which is up, or -1.
type scales struct {
	up    []int32
	scale []float64
	sum   []float64 // scratch
}

// newScales finds the clusters by single linkage, from the minimum spanning tree: those within
// which the longest gap is of a lower octave than the gap around them, so that clusters inside each
// other have scales that differ. around is the scale of each point. O(n log n).
func newScales(f metric.Finite, tree []spanning.Edge, around []float64) *scales {
	n := len(around)
	type gap struct {
		spanning.Edge
		d float64
	}
	gaps := make([]gap, len(tree))
	for k, e := range tree {
		gaps[k] = gap{e, f.Distance(int(e.I), int(e.J))}
	}
	slices.SortStableFunc(gaps, func(a, b gap) int { return cmp.Compare(a.d, b.d) })

	s := &scales{up: make([]int32, n, n+n/4), scale: slices.Clone(around)}
	clusters := spanning.NewForest(n)
	inside := make([]float64, n) // by root: the longest gap
	parts := make([][]int32, n)  // by root: the outermost directions
	for i := range parts {
		parts[i], s.up[i] = []int32{int32(i)}, -1
	}
	for _, l := range gaps {
		a, b := clusters.Root(int(l.I)), clusters.Root(int(l.J))
		for _, r := range [2]int{a, b} {
			if len(parts[r]) == 1 || octave(l.d) <= octave(inside[r]) {
				continue
			}
			c := int32(len(s.up))
			s.up, s.scale = append(s.up, -1), append(s.scale, l.d)
			for _, p := range parts[r] {
				s.up[p] = c
			}
			parts[r] = append(parts[r][:0], c)
		}
		if clusters.Join(a, b); clusters.Root(a) != a {
			a, b = b, a
		}
		parts[a], parts[b] = append(parts[a], parts[b]...), nil
		inside[a] = l.d
	}
	s.sum = make([]float64, len(s.up))
	return s
}

// octave numbers the powers of 4 that a distance lies between.
func octave(d float64) int {
	if d == 0 {
		return math.MinInt
	}
	_, e := math.Frexp(d)
	return e >> 1
}

// step adds to pi the step of length t along all directions. slope is by point.
func (s *scales) step(pi []float64, t float64, slope []float64) {
	n := len(pi)
	copy(s.sum, slope)
	clear(s.sum[n:])
	for v, u := range s.up {
		if u >= 0 {
			s.sum[u] += s.sum[v]
		}
	}
	for v := len(s.up) - 1; v >= 0; v-- {
		x := float64(t * s.scale[v] * s.sum[v])
		if u := s.up[v]; u >= 0 {
			x += s.sum[u]
		}
		s.sum[v] = x
	}
	for i, x := range s.sum[:n] {
		pi[i] += x
	}
}

// climb is a run of subgradient ascent on a graph from pi, where it leaves the best multipliers it
// met. It returns their value on the graph, which is at least what they prove, and whether it ended
// at a tour among the 1-trees, the best value there is. The first step, on the scale 1, has the
// length first; no value beyond goal is needed.
//
// The slope is that of Volgenant and Jonker (1982): 0.6 times the degrees less
// 2, and 0.4 times those before.
func (h *search) climb(ctx context.Context, g *graph, pi []float64, scales *scales, steps int, first, goal float64) (best float64, still bool) {
	best = math.Inf(-1)
	cur, last, slope := slices.Clone(pi), make([]float64, g.n), make([]float64, g.n)
	for s := 0; s < steps && ctx.Err() == nil; s++ {
		h.best.Iterations++
		w := g.oneTree(cur, h.path)
		if w > best {
			best = w
			copy(pi, cur)
		}
		still = true
		for i, d := range g.deg {
			d -= 2
			still = still && d == 0
			slope[i] = float64(0.6*d) + float64(0.4*last[i])
			last[i] = d
		}
		if still || w >= goal {
			break
		}
		x := 1 - float64(s)/float64(steps)
		scales.step(cur, first*(x*x), slope)
	}
	return best, still
}

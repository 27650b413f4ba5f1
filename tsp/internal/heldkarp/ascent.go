package heldkarp

import (
	"cmp"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/spanning"
	"github.com/metricdp/metricdp/metric"
)

// scales shapes the steps of the ascent. A multiplier moves on the scale of the
// distances around its point; those of a cluster that lies apart also move
// together, on the scale of the gap around it. So there is a direction for each
// point and each cluster: points first, and every cluster before the one around
// it, which is up, or -1.
type scales struct {
	up    []int32
	scale []float64
	sum   []float64 // scratch
}

// newScales finds the clusters by single linkage, from the minimum spanning
// tree: those within which the longest gap is of a lower octave than the gap
// around them, so that clusters inside each other have scales that differ.
// around is the scale of each point. O(n log n).
func newScales(f metric.Finite, tree []spanning.Edge, around []float64) *scales {
	n := len(around)
	type link struct {
		spanning.Edge
		d float64
	}
	links := make([]link, len(tree))
	for k, e := range tree {
		links[k] = link{e, f.Distance(int(e.I), int(e.J))}
	}
	slices.SortStableFunc(links, func(a, b link) int { return cmp.Compare(a.d, b.d) })

	s := &scales{up: make([]int32, n, n+n/4), scale: slices.Clone(around)}
	clusters := spanning.NewForest(n)
	inside := make([]float64, n) // by root: the longest gap
	parts := make([][]int32, n)  // by root: the outermost directions
	for i := range parts {
		parts[i], s.up[i] = []int32{int32(i)}, -1
	}
	for _, l := range links {
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

// ascent is a run of subgradient ascent on a graph.
type ascent struct {
	path   bool
	scales *scales
	steps  int
	first  float64 // the first step, on the scale 1
	goal   float64 // no need to go beyond this value
}

// run climbs from pi and leaves there the best multipliers it met. It returns
// their value on the graph, which is at least what they prove, and whether it
// ended at a tour among the 1-trees, the best value there is. It ends early
// where tick returns false.
//
// The slope is that of Volgenant and Jonker (1982): 0.6 times the degrees less
// 2, and 0.4 times those before.
func (a *ascent) run(g *graph, pi []float64, tick func() bool) (best float64, still bool) {
	best = math.Inf(-1)
	cur, last, slope := slices.Clone(pi), make([]float64, g.n), make([]float64, g.n)
	for s := 0; s < a.steps && tick(); s++ {
		w := g.oneTree(cur, a.path)
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
		if still || w >= a.goal {
			break
		}
		x := 1 - float64(s)/float64(a.steps)
		a.scales.step(cur, a.first*(x*x), slope)
	}
	return best, still
}

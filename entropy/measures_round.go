package entropy

import (
	"cmp"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// CoveringRadius returns a number r such that every probability measure on the
// n points has W1 at most r from a measure of the net, by the rounding of
// [Measures.Round]: the smaller of
//
//	MST/(2m)  and  diameter*floor(n^2/4)/(n*m),
//
// MST the length of a minimum spanning tree of f. Rounded up.
//
// The first. Let T be the tree, in preorder, F the cumulative weights times m
// in that order and G_U = floor(F + U), U uniform on [0, 1). A subtree is a
// run of the order, so it has mass b = F(j) - F(i) and gets G_U(j) - G_U(i), which
// is floor(b) or ceil(b) with mean b; the error has mean 2r(1-r) <= 1/2, r the
// fraction of b. Moving mass along the tree costs the sum over its edges of
// length times error below the edge: at most MST/(2m) on average over U, so
// for some U.
//
// The second. Round the R largest fractions of m*p up and the others down, R
// their sum. Their mean is R/n, so those rounded up miss at most R(1-R/n) <=
// floor(n^2/4)/n in all: that over m is the mass that moves, by at most the
// diameter.
func (s *Measures) CoveringRadius() float64 {
	n, m := float64(s.points()), float64(s.m)
	diameter, _, _ := metric.Diameter(s.f)
	return min(directed.DivUp(s.tree.length, 2*m),
		directed.DivUp(directed.MulUp(diameter, math.Floor(n*n/4)), n*m))
}

// Round returns a measure of the net near p, a distribution on the points of f,
// and its distance from p under W1 (from p over its sum, where that is not
// quite 1). It is the better of the two roundings that prove
// [Measures.CoveringRadius], not always the nearest measure. O(n^2) and two W1
// distances.
func (s *Measures) Round(p []float64) (i int, w1 float64, err error) {
	const op = "entropy: Measures.Round"
	if err := fault.Distribution(op, "p", p, s.points(), distributionTol); err != nil {
		return 0, 0, err
	}
	total := 0.0
	for _, v := range p {
		total += v
	}
	p = slices.Clone(p)
	for k := range p {
		p[k] /= total
	}
	w1 = math.Inf(1)
	for _, c := range [][]int{s.tree.round(p, s.m), largestRemainders(p, s.m)} {
		k := s.index(c)
		d, err := s.w1(p, s.Measure(k, nil))
		if err != nil {
			return 0, 0, err
		}
		if d < w1 {
			i, w1 = k, d
		}
	}
	return i, w1, nil
}

// largestRemainders returns integers near m*p of sum m.
func largestRemainders(p []float64, m int) []int {
	c, order := make([]int, len(p)), make([]int, len(p))
	frac := make([]float64, len(p))
	rest := m
	for i, v := range p {
		v = float64(v * float64(m))
		c[i] = min(int(v), rest) // rounding of p's sum must not pass m
		rest -= c[i]
		order[i], frac[i] = i, v-float64(c[i])
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(frac[j], frac[i]) })
	for k := 0; rest > 0; k, rest = k+1, rest-1 {
		c[order[k%len(order)]]++
	}
	return c
}

// spanningTree is a tree in preorder: the subtree at position a is [a, end[a]).
type spanningTree struct {
	order  []int // position -> point
	end    []int
	up     []float64 // length of the edge above a position; 0 at the root
	length float64   // of all edges, rounded up
}

// minimumTree returns a minimum spanning tree of f, by Prim's algorithm.
func minimumTree(f *metric.Dense) (spanningTree, error) {
	n := f.Len()
	parent, dist := make([]int, n), make([]float64, n) // to the tree so far
	done := make([]bool, n)
	for i := range n {
		parent[i], dist[i] = -1, math.Inf(1)
	}
	dist[0] = 0
	var row []float64
	for range n {
		at := -1
		for i, d := range dist {
			if !done[i] && (at < 0 || d < dist[at]) {
				at = i
			}
		}
		done[at] = true
		row = f.DistancesFrom(at, row)
		for i, d := range row {
			if !done[i] && d < dist[i] {
				parent[i], dist[i] = at, d
			}
		}
	}
	tree, err := metric.NewTree(parent, dist)
	if err != nil {
		return spanningTree{}, err
	}
	t := spanningTree{order: tree.Preorder(), end: make([]int, n), up: make([]float64, n)}
	pos := make([]int, n)
	for a, v := range t.order {
		pos[v] = a
	}
	for a := n - 1; a >= 0; a-- {
		v := t.order[a]
		t.end[a] = max(t.end[a], a+1)
		t.up[a] = dist[v]
		t.length = directed.AddUp(t.length, dist[v])
		if a > 0 {
			above := pos[parent[v]]
			t.end[above] = max(t.end[above], t.end[a])
		}
	}
	return t, nil
}

// round returns integers near m*p of sum m: G_U of CoveringRadius for the best
// U. floor(F + U) is floor(F), and one more where the fraction of F is at least
// 1-U, so only the fractions themselves are tried as 1-U.
func (t *spanningTree) round(p []float64, m int) []int {
	n := len(p)
	f, frac := make([]float64, n+1), make([]float64, n+1)
	sum := 0.0
	for a, v := range t.order {
		sum += p[v]
		f[a+1] = min(sum, 1) * float64(m)
	}
	f[n] = float64(m)
	for a, v := range f {
		frac[a] = v - math.Floor(v)
	}
	thresholds := slices.Clone(frac)
	thresholds[0] = 1 // nothing rounded up; the fraction 0 itself rounds nothing
	g, best := make([]float64, n+1), make([]float64, n+1)
	least := math.Inf(1)
	for _, theta := range thresholds {
		if theta == 0 {
			continue
		}
		for a, v := range f {
			g[a] = math.Floor(v)
			if frac[a] >= theta {
				g[a]++
			}
		}
		cost := 0.0
		for a, end := range t.end {
			cost += float64(t.up[a] * math.Abs((g[end]-g[a])-(f[end]-f[a])))
		}
		if cost < least {
			least = cost
			copy(best, g)
		}
	}
	c := make([]int, n)
	for a, v := range t.order {
		c[v] = int(best[a+1] - best[a])
	}
	return c
}

// Package prices finds, among points that sit in R^d, those of least distance less price, by a
// kd-tree whose nodes know the highest price below them. A search passes over what no distance
// within the rounding of the metric could bring in, and asks the metric about the others, so that
// its answers are those of a scan of all points.
package prices

import (
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/kdtree"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/metric"
)

// maxDim is the largest dimension in which a search passes over most points.
const maxDim = 6

// Chunk is the number of searches a worker takes at a time.
const Chunk = 256

// Space is a list of points of a metric, numbered from 0, in a kd-tree.
type Space struct {
	f     metric.Finite
	e     metric.Embedding // of f
	point []int            // of f, by number
	tree  *kdtree.Tree
	place []int32 // in the tree, by number
	above float64 // times the tree's norm is above that of the distance
	unit  float64 // of distance to one of the tree's norm, 0 where it varies
}

// New returns the space of the given points of f, which may repeat, or nil where
// f has no coordinates or too many for a tree to help. O(n log n).
func New(f metric.Finite, point []int) *Space {
	if d := finite.Dim(f); d > maxDim || len(point) > math.MaxInt32/2 {
		return nil
	}
	e, ok := finite.Embed[metric.Embedding](f)
	if !ok || e.Dim > maxDim || len(e.Coords) != f.Len()*e.Dim || !(e.P >= 1) {
		return nil
	}
	above := 1.0
	if e.P != 1 && e.P != 2 {
		// A norm without powers that is below it, and above it times dim.
		e.P, above = math.Inf(1), float64(e.Dim)
	}
	return build(f, e, above, point)
}

func build(f metric.Finite, e metric.Embedding, above float64, point []int) *Space {
	tree := kdtree.New(e.Coords, e.Dim, e.P, e.FromNorm, point)
	if tree == nil {
		return nil
	}
	s := &Space{f: f, e: e, point: point, tree: tree, place: make([]int32, len(point)), above: above}
	if e.Linear && e.P == 2 {
		s.unit = e.FromNorm(tree.Scale())
	}
	for k, id := range tree.ID {
		s.place[id] = int32(k)
	}
	return s
}

// Len returns the number of points.
func (s *Space) Len() int { return len(s.point) }

// Distance returns the distance from point a to point b.
func (s *Space) Distance(a, b int32) float64 { return s.f.Distance(s.point[a], s.point[b]) }

// Diameter returns a bound of all distances.
func (s *Space) Diameter() float64 {
	least, most := s.tree.Box(1)
	return s.tree.Above(s.above * s.tree.BoxMax(1, least, make([]float64, len(most))))
}

// Margin returns a bound of what the triangle inequality may lack for rounding:
//
//	Distance(x, z) <= Distance(x, y) + Distance(y, z) + Margin.
//
// It is +Inf where distances are no multiples of the Euclidean norm. A distance is
// one up to 2 Dim SlackDim relatively and Dim SlackDim absolutely, in the norm of the
// tree (see package kdtree), and three of them come together.
func (s *Space) Margin() float64 {
	if !(s.unit > 0) {
		return math.Inf(1)
	}
	slack := float64(s.tree.Dim) * kdtree.SlackDim
	return 16 * slack * (s.unit + s.Diameter())
}

// Place returns the place of a point in an order in which those near each other
// in the order are near in space.
func (s *Space) Place(id int32) int { return int(s.place[id]) }

// Prices are prices of some of the points; of the others there are none.
type Prices struct {
	space *Space
	price []float64 // by place, -Inf: none
	top   []float64 // by node of the tree
	plane planes    // bounds of the prices that there were
}

// None returns n numbers that stand for no price.
func None(n int) []float64 {
	w := make([]float64, n)
	for k := range w {
		w[k] = math.Inf(-1)
	}
	return w
}

// NewPrices returns the prices that are not -Inf in price, by number. O(n).
func (s *Space) NewPrices(price []float64) *Prices {
	p := &Prices{space: s, price: make([]float64, s.Len()), top: make([]float64, 2*s.tree.Leaves)}
	p.Reset(price)
	return p
}

// Reset sets all prices anew. O(n).
func (p *Prices) Reset(price []float64) {
	for k, id := range p.space.tree.ID {
		p.price[k] = price[id]
	}
	p.fill(1, 0, p.space.Len())
	if p.space.unit > 0 {
		p.plane.fit(p)
	}
}

func (p *Prices) fill(node, lo, hi int) float64 {
	if node >= p.space.tree.Leaves {
		p.top[node] = slices.Max(p.price[lo:hi])
	} else {
		mid := (lo + hi) / 2
		p.top[node] = max(p.fill(2*node, lo, mid), p.fill(2*node+1, mid, hi))
	}
	return p.top[node]
}

// Remove takes the price of a point away. O(log n).
func (p *Prices) Remove(id int32) {
	k := int(p.space.place[id])
	p.price[k] = math.Inf(-1)
	p.remove(1, 0, p.space.Len(), k)
}

func (p *Prices) remove(node, lo, hi, k int) {
	switch mid := (lo + hi) / 2; {
	case node >= p.space.tree.Leaves:
		p.top[node] = slices.Max(p.price[lo:hi])
		return
	case k < mid:
		p.remove(2*node, lo, mid, k)
	default:
		p.remove(2*node+1, mid, hi, k)
	}
	p.top[node] = max(p.top[2*node], p.top[2*node+1])
}

// Hit is a point that a search found.
type Hit struct {
	R, C float64 // distance less price, and the distance
	ID   int32
}

// Search is one search after the other, by one goroutine.
type Search struct {
	*Prices
	from  int       // point of the metric
	x     []float64 // its coordinates
	size  float64   // by how much these pass those of the points
	own   []float64 // room for x
	gaps  []float64
	limit float64
	found []Hit // by Least
	one   bool  // the search is a Slack:
	slack float64
	best  int32 // the point that slack is of
}

// NewSearch returns a Search among p, whose prices may change between searches.
func (p *Prices) NewSearch() *Search {
	d := p.space.tree.Dim
	return &Search{Prices: p, own: make([]float64, d), gaps: make([]float64, d), best: -1}
}

// start aims the search at a point of a space over the same metric.
func (s *Search) start(of *Space, id int32) {
	s.from, s.x, s.size = of.point[id], of.tree.At(int(of.place[id])), 1
	if of == s.space {
		return
	}
	scale := of.tree.Scale() / s.space.tree.Scale() // a power of two
	for k, v := range s.x {
		s.own[k] = v * scale
		s.size = max(s.size, math.Abs(s.own[k]))
	}
	s.x = s.own
}

// below returns a lower bound of the distance of points at the norm v or more.
func (s *Search) below(v float64) float64 { return s.space.tree.BelowFrom(v, s.size) }

func (s *Search) distance(id int32) float64 { return s.space.f.Distance(s.from, s.space.point[id]) }

// Least returns the points of least distance from the given one less price,
// ascending, as many as fit into found (cap(found)), of those below limit.
func (s *Search) Least(from int32, limit float64, found []Hit) []Hit {
	s.start(s.space, from)
	s.limit, s.found, s.one = limit, found[:0], false
	s.visit(1, 0, s.space.Len(), math.Inf(-1))
	return s.found
}

// keep puts a point at distance c and of price w among those found.
func (s *Search) keep(id int32, c, w float64) {
	r := c - w
	if !(r < s.limit) {
		return
	}
	p := min(len(s.found), cap(s.found)-1)
	s.found = s.found[:p+1]
	for ; p > 0 && s.found[p-1].R > r; p-- {
		s.found[p] = s.found[p-1]
	}
	s.found[p] = Hit{r, c, id}
	if len(s.found) == cap(s.found) {
		s.limit = s.found[len(s.found)-1].R
	}
}

// Slack returns the largest float64 that is at most the distance from a point of
// a space over the same metric to any point less its price, as real numbers.
func (s *Search) Slack(of *Space, from int32) float64 {
	s.start(of, from)
	s.limit, s.slack, s.one = math.Inf(1), math.Inf(1), true
	if s.best >= 0 { // a good guess where searches follow each other in space
		if w := s.price[s.space.place[s.best]]; w > math.Inf(-1) {
			s.lower(s.best, s.distance(s.best), w)
		}
	}
	s.visit(1, 0, s.space.Len(), math.Inf(-1))
	return s.slack
}

// lower lowers the slack to that of a point at distance c and of price w. What is
// above it, rounded to nearest, is above it unrounded. What is no number stays.
func (s *Search) lower(id int32, c, w float64) {
	if d := directed.SubDown(c, w); d < s.slack || math.IsNaN(d) {
		s.slack, s.best, s.limit = d, id, directed.Next(d)
	}
}

// visit looks at the points of a node, the places from lo to hi, whose distance less
// price may be below the limit; low is a lower bound of theirs.
func (s *Search) visit(node, lo, hi int, low float64) {
	if low >= s.limit {
		return
	}
	tree := s.space.tree
	if node < tree.Leaves {
		l, r, mid := 2*node, 2*node+1, (lo+hi)/2
		bl, br := s.bound(l), s.bound(r)
		if bl <= br {
			s.visit(l, lo, mid, bl)
			s.visit(r, mid, hi, br)
		} else {
			s.visit(r, mid, hi, br)
			s.visit(l, lo, mid, bl)
		}
		return
	}
	for k := lo; k < hi; k++ {
		// Subtraction rounds monotonically: what the bound rules out the
		// distance would have ruled out.
		if w := s.price[k]; w > math.Inf(-1) && !(s.least(k)-w >= s.limit) {
			id := tree.ID[k]
			if c := s.distance(id); s.one {
				s.lower(id, c, w)
			} else {
				s.keep(id, c, w)
			}
		}
	}
}

// bound returns a lower bound of distance less price in a node.
func (s *Search) bound(node int) float64 {
	if s.top[node] == math.Inf(-1) {
		return math.Inf(1)
	}
	if s.space.unit > 0 {
		return s.plane.bound(s, node)
	}
	return s.below(s.space.tree.BoxMin(node, s.x, s.gaps)) - s.top[node]
}

// least returns a lower bound of the distance to the point at place k.
func (s *Search) least(k int) float64 {
	if s.space.unit > 0 { // as below, without calls
		norm := 0.0
		for a, v := range s.space.tree.At(k) {
			norm += float64((v - s.x[a]) * (v - s.x[a]))
		}
		return (float64(math.Sqrt(norm)*(1-roundoff)) - float64(s.size*roundoff)) * s.space.unit
	}
	return s.below(s.space.tree.Norm(k, s.x, s.gaps))
}

// Slacks sets u to the Slack of the points of a space over the same metric from
// first on, on every core.
func (p *Prices) Slacks(ctx context.Context, of *Space, first int, u []float64, workers int) error {
	return parallel.Chunks(ctx, of.Len(), Chunk, workers, nil, func(_, lo, hi int) {
		s := p.NewSearch()
		for _, id := range of.tree.ID[lo:hi] {
			if k := int(id) - first; k >= 0 && k < len(u) {
				u[k] = s.Slack(of, id)
			}
		}
	})
}

// Subset returns the space of some of the points, numbered anew in their order.
func (s *Space) Subset(id []int32) *Space {
	point := make([]int, len(id))
	for k, i := range id {
		point[k] = s.point[i]
	}
	return build(s.f, s.e, s.above, point)
}

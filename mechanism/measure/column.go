package measure

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/healpix"
	"github.com/metricdp/metricdp/metric"
)

// A factor is a column of a box as a tree of its own: cuts divide it again and
// again, all parts alike. Where what is there has another shape, some of the parts
// are impossible: no record lies in them.
type factor interface {
	// entries is how many numbers of a record are this column's.
	entries() int
	// arity is into how many parts cut l divides each part, 0 where that is free,
	// and 1 behind the last cut.
	arity(l int) int
	// must is how many cuts there have to be.
	must() int
	// finest is the most parts where the number is free.
	finest() int
	// length is the size of one of n parts made by l cuts, by which columns take
	// turns; side bounds the distance of two records in it, and radius that of one
	// to its point.
	length(l, n int) float64
	side(l, n int) float64
	radius(l, n int) float64
	// across bounds the distance between the points of two of n parts.
	across(n int) float64
	// locate returns the part of a record among n.
	locate(x []float64, n int) (int, error)
	// point writes the point of a part, with an rng a uniform one. It is possible
	// where the part is.
	point(x []float64, p part, rng *rand.Rand)
	// bounds writes the least and the largest entries of a part; ok is false where
	// a missing value is in it too.
	bounds(lo, hi []float64, p part) (ok bool)
	// full tells whether all of n parts are possible, and possible whether one is.
	full(n int) bool
	possible(p part) bool
	distance(x, y []float64) float64
}

// settler is a factor that is told into how many parts it is cut in the end.
type settler interface{ settle(n int) }

// part is part q of the n that l cuts make.
type part struct{ l, n, q int }

// maxParts is of a number: 2^-50 of its range, or what an int holds.
const maxParts = min(1<<50, maxCells)

// factor returns what a column describes, with the default Weight filled in.
func (c *Column) factor(op string, i int, out Outside) (factor, error) {
	bad := func(field string, v float64, want string) (factor, error) {
		return nil, &fault.ValueError{Op: op, Arg: "columns." + field, Index: i, Value: v, Want: want}
	}
	if c.Weight == 0 {
		c.Weight = 1
	}
	kinds := 0
	for _, is := range []bool{c.Whole, c.Categories != 0, c.Taxonomy != nil, c.Radius != 0} {
		if is {
			kinds++
		}
	}
	within := func(x float64) bool { return x >= 1e-100 && x <= 1e100 }
	var f factor
	switch {
	case kinds > 1:
		return bad("kinds", float64(kinds), "at most one of Whole, Categories, Taxonomy and Radius")
	case !within(c.Weight):
		return bad("Weight", c.Weight, "0 or a number in [1e-100, 1e100]")
	case c.Categories < 0 || c.Categories > maxCategories:
		return bad("Categories", float64(c.Categories), fmt.Sprintf("an integer in [0, %d]", maxCategories))
	case c.Categories > 0:
		return &category{c.Categories, c.Missing, c.Weight}, nil
	case c.Radius != 0:
		if !(c.Radius > 0) || !within(c.Radius*c.Weight) {
			return bad("Radius", c.Radius, "a number in [1e-100, 1e100], times Weight too")
		}
		f = &globe{c.Radius * c.Weight}
	case c.Taxonomy != nil:
		if c.Taxonomy.Len() == 0 {
			return bad("Taxonomy", 0, "a tree with a node")
		}
		t := newTaxa(c.Taxonomy, c.Weight)
		if !(t.diameters[0] <= 1e100) {
			return bad("Taxonomy", t.diameters[0], "a diameter of at most 1e100, times Weight")
		}
		f = t
	case !(c.Lo >= -1e100 && c.Lo <= 1e100):
		return bad("Lo", c.Lo, "a number in [-1e100, 1e100]")
	case c.Whole && (c.Lo != math.Trunc(c.Lo) || !(math.Abs(c.Lo) <= maxWhole)):
		return bad("Lo", c.Lo, "a whole number in [-2^52, 2^52]")
	case c.Whole && (c.Hi != math.Trunc(c.Hi) || !(c.Hi >= c.Lo && c.Hi <= maxWhole)):
		return bad("Hi", c.Hi, "a whole number in [Lo, 2^52]")
	case c.Whole && !(c.Hi-c.Lo < maxParts):
		return bad("Hi", c.Hi, fmt.Sprintf("below Lo+%d", maxParts))
	case c.Whole && !within((c.Hi-c.Lo+1)*c.Weight):
		return bad("(Hi-Lo+1)*Weight", (c.Hi-c.Lo+1)*c.Weight, "a number in [1e-100, 1e100]")
	case c.Whole:
		f = &whole{lo: c.Lo, count: int(c.Hi-c.Lo) + 1, weight: c.Weight, out: out}
	case !(c.Hi > c.Lo && c.Hi <= 1e100):
		return bad("Hi", c.Hi, "a number in (Lo, 1e100]")
	case !within((c.Hi - c.Lo) * c.Weight):
		return bad("(Hi-Lo)*Weight", (c.Hi-c.Lo)*c.Weight, "a number in [1e-100, 1e100]")
	default:
		// A part is at least 4 ulps of the larger bound, so that its center is in it.
		size := math.Log2((c.Hi - c.Lo) / max(math.Abs(c.Lo), math.Abs(c.Hi)))
		n := 1 << int(max(0, min(size+50.5, math.Log2(maxParts))))
		f = &number{c.Lo, c.Hi, c.Weight, n, out}
	}
	if c.Missing {
		away := f.side(0, 1)
		if away == 0 {
			away = c.Weight
		}
		f = &missing{f, away}
	}
	return f, nil
}

const (
	maxCategories = 1 << 22
	maxWhole      = 1 << 52
)

// notIn is the error of a record's entry.
func notIn(v float64, want string) error {
	return &fault.ValueError{Op: "measure: Domain.Cell", Arg: "record", Index: -1, Value: v, Want: want}
}

// number is an interval.
type number struct {
	lo, hi, weight float64
	most           int // parts
	out            Outside
}

func (c *number) entries() int                    { return 1 }
func (c *number) arity(int) int                   { return 0 }
func (c *number) must() int                       { return 0 }
func (c *number) finest() int                     { return c.most }
func (c *number) length(_, n int) float64         { return (c.hi - c.lo) * c.weight / float64(n) }
func (c *number) side(l, n int) float64           { return c.length(l, n) }
func (c *number) radius(l, n int) float64         { return c.length(l, n) / 2 }
func (c *number) across(n int) float64            { return c.length(0, 1) - c.length(0, n) }
func (c *number) full(int) bool                   { return true }
func (c *number) possible(part) bool              { return true }
func (c *number) distance(x, y []float64) float64 { return math.Abs(x[0]-y[0]) * c.weight }

func (c *number) locate(x []float64, n int) (int, error) {
	v := x[0]
	if c.out == Clip {
		v = min(max(v, c.lo), c.hi)
	}
	if v >= c.lo && v <= c.hi {
		return c.part(v, n), nil
	}
	return 0, notIn(v, fmt.Sprintf("a number in [%v, %v]", c.lo, c.hi))
}

func (c *number) part(v float64, n int) int {
	return min(int((v-c.lo)/(c.hi-c.lo)*float64(n)), n-1)
}

func (c *number) value(p part, u float64) float64 {
	return min(c.hi, c.lo+float64((float64(p.q)+u)/float64(p.n)*(c.hi-c.lo)))
}

func (c *number) point(x []float64, p part, rng *rand.Rand) {
	x[0] = c.value(p, 0.5)
	if rng != nil {
		if v := c.value(p, rng.Float64()); c.part(v, p.n) == p.q { // not rounded out of it
			x[0] = v
		}
	}
}

func (c *number) bounds(lo, hi []float64, p part) bool {
	lo[0], hi[0] = c.value(p, 0), c.value(p, 1)
	return true
}

// whole are the whole numbers lo, lo+1, ...: count of them, wide to a part of the
// finest, of which there are total; those behind the last are impossible.
type whole struct {
	lo, weight         float64
	count, wide, total int
	out                Outside
}

// settle takes the number of parts in the end.
func (c *whole) settle(n int) { c.total, c.wide = n, (c.count-1)/n+1 }

func (c *whole) entries() int            { return 1 }
func (c *whole) arity(int) int           { return 0 }
func (c *whole) must() int               { return 0 }
func (c *whole) finest() int             { return 1 << bits.Len(uint(c.count-1)) }
func (c *whole) length(_, n int) float64 { return float64(c.finest()) / float64(n) * c.weight }

// width is how many whole numbers one of n parts has.
func (c *whole) width(n int) int {
	if c.total == 0 { // not yet planned
		return max(1, c.finest()/n)
	}
	return c.total / n * c.wide
}

func (c *whole) side(_, n int) float64           { return float64(min(c.width(n), c.count)-1) * c.weight }
func (c *whole) radius(_, n int) float64         { return float64(c.width(n)/2) * c.weight }
func (c *whole) across(int) float64              { return float64(c.count-1) * c.weight }
func (c *whole) full(n int) bool                 { return (c.count-1)/c.width(n) == n-1 }
func (c *whole) possible(p part) bool            { return p.q <= (c.count-1)/c.width(p.n) }
func (c *whole) distance(x, y []float64) float64 { return math.Abs(x[0]-y[0]) * c.weight }

func (c *whole) locate(x []float64, n int) (int, error) {
	v, hi := x[0], c.lo+float64(c.count-1)
	if c.out == Clip && v == math.Trunc(v) {
		v = min(max(v, c.lo), hi)
	}
	if !(v >= c.lo && v <= hi) || v != math.Trunc(v) {
		return 0, notIn(v, fmt.Sprintf("a whole number in [%v, %v]", c.lo, hi))
	}
	return int(v-c.lo) / c.width(n), nil
}

// in returns the first whole number of a part and how many it has, at least 1.
func (c *whole) in(p part) (first, n int) {
	w := c.width(p.n)
	first = min(p.q, (c.count-1)/w) * w
	return first, min(w, c.count-first)
}

func (c *whole) point(x []float64, p part, rng *rand.Rand) {
	i, n := c.in(p)
	if rng != nil {
		i += rng.IntN(n)
	} else {
		i += (n - 1) / 2
	}
	x[0] = c.lo + float64(i)
}

func (c *whole) bounds(lo, hi []float64, p part) bool {
	i, n := c.in(p)
	lo[0], hi[0] = c.lo+float64(i), c.lo+float64(i+n-1)
	return true
}

// category is one of n values, and a missing one behind them, all at one distance.
type category struct {
	n       int
	missing bool
	weight  float64
}

func (c *category) count() int {
	if c.missing {
		return c.n + 1
	}
	return c.n
}

func (c *category) arity(l int) int {
	if l > 0 {
		return 1
	}
	return c.count()
}

func (c *category) entries() int            { return 1 }
func (c *category) must() int               { return min(1, c.count()-1) }
func (c *category) finest() int             { return 0 }
func (c *category) length(l, _ int) float64 { return c.side(l, 0) }
func (c *category) radius(l, _ int) float64 { return c.side(l, 0) }
func (c *category) across(int) float64      { return c.side(0, 1) }
func (c *category) full(int) bool           { return true }
func (c *category) possible(part) bool      { return true }

func (c *category) side(l, _ int) float64 {
	if l >= c.must() {
		return 0
	}
	return c.weight
}

func (c *category) locate(x []float64, n int) (int, error) {
	v := x[0]
	if c.missing && v != v {
		return min(c.n, n-1), nil
	}
	if !(v >= 0 && v < float64(c.n)) || v != math.Trunc(v) {
		return 0, notIn(v, fmt.Sprintf("a category, an integer in [0, %d)", c.n))
	}
	return min(int(v), n-1), nil
}

func (c *category) point(x []float64, p part, rng *rand.Rand) {
	q := p.q
	if p.n == 1 && rng != nil {
		q = rng.IntN(c.count())
	}
	if x[0] = float64(q); q == c.n {
		x[0] = math.NaN()
	}
}

func (c *category) bounds(lo, hi []float64, p part) bool {
	c.point(lo, p, nil)
	if hi[0] = lo[0]; p.n == 1 {
		hi[0] = float64(c.n - 1)
		return !c.missing
	}
	return true
}

func (c *category) distance(x, y []float64) float64 {
	if x[0] == y[0] || x[0] != x[0] && y[0] != y[0] {
		return 0
	}
	return c.weight
}

// missing is a column whose first cut parts what is there, of which the other cuts
// are, from what is missing, of which only the first part of each is possible.
type missing struct {
	factor
	away float64
}

func (c *missing) arity(l int) int {
	if l == 0 {
		return 2
	}
	return c.factor.arity(l - 1)
}

func (c *missing) must() int   { return 1 + c.factor.must() }
func (c *missing) finest() int { return 2 * min(c.factor.finest(), maxCells/2) }

// inner applies f to the cuts of what is there.
func inner(f func(l, n int) float64, l, n int) float64 { return f(max(l-1, 0), max(n/2, 1)) }

func (c *missing) length(l, n int) float64 {
	if l == 0 {
		return max(c.away, c.factor.length(0, 1))
	}
	return inner(c.factor.length, l, n)
}

func (c *missing) side(l, n int) float64 {
	if l == 0 {
		return c.away
	}
	return inner(c.factor.side, l, n)
}

func (c *missing) radius(l, n int) float64 {
	if l == 0 {
		return c.away
	}
	return inner(c.factor.radius, l, n)
}

func (c *missing) across(int) float64 { return c.away }
func (c *missing) full(n int) bool    { return n <= 2 && c.factor.full(1) }

func absent(x []float64) bool { return x[0] != x[0] && x[len(x)-1] != x[len(x)-1] }

func (c *missing) locate(x []float64, n int) (int, error) {
	if absent(x) {
		return n / 2, nil
	}
	return c.factor.locate(x, n/2)
}

func (c *missing) settle(n int) {
	if s, ok := c.factor.(settler); ok {
		s.settle(n / 2)
	}
}

// there tells whether a part is not missing, and returns it of what is there.
func (c *missing) there(p part) (part, bool) {
	if p.l == 0 {
		return part{n: 1}, true
	}
	half := p.n / 2
	return part{p.l - 1, half, p.q}, p.q < half
}

func (c *missing) point(x []float64, p part, rng *rand.Rand) {
	in, ok := c.there(p)
	if !ok || p.l == 0 && rng != nil && rng.IntN(2) == 0 {
		for i := range x {
			x[i] = math.NaN()
		}
		return
	}
	c.factor.point(x, in, rng)
}

func (c *missing) bounds(lo, hi []float64, p part) bool {
	if in, ok := c.there(p); ok {
		return c.factor.bounds(lo, hi, in) && p.l > 0
	}
	for i := range lo {
		lo[i], hi[i] = math.NaN(), math.NaN()
	}
	return true
}

func (c *missing) possible(p part) bool {
	if in, ok := c.there(p); ok {
		return c.factor.possible(in)
	}
	return p.q == p.n/2
}

func (c *missing) distance(x, y []float64) float64 {
	switch a, b := absent(x), absent(y); {
	case a && b:
		return 0
	case a || b:
		return c.away
	}
	return c.factor.distance(x, y)
}

// globe is a sphere: the first cut makes the 12 faces of package healpix, and each
// further one quarters.
type globe struct{ size float64 } // its radius

const maxGlobe = 24 // quarterings: healpix computes in float64

func (c *globe) entries() int { return 2 }

func (c *globe) arity(l int) int {
	switch {
	case l == 0:
		return 12
	case l <= maxGlobe:
		return 4
	}
	return 1
}

func (c *globe) must() int   { return 0 }
func (c *globe) finest() int { return 0 }

// row is how many parts the side of a face has, of n on all faces.
func row(n int) int { return 1 << (bits.Len(uint(n/12)) / 2) }

func (c *globe) length(_, n int) float64 {
	return c.size * math.Sqrt(4*math.Pi/float64(n))
}

func (c *globe) side(l, n int) float64 { return min(c.size*math.Pi, 2*c.radius(l, n)) }

func (c *globe) radius(l, n int) float64 {
	if l == 0 {
		return c.size * math.Pi
	}
	return c.size * healpix.Radius(row(n))
}

func (c *globe) across(int) float64 { return c.size * math.Pi }
func (c *globe) full(int) bool      { return true }
func (c *globe) possible(part) bool { return true }

func (c *globe) locate(x []float64, n int) (int, error) {
	return c.place(metric.LatLon{Lat: x[0], Lon: x[1]}, n)
}

func (c *globe) place(p metric.LatLon, n int) (int, error) {
	if !(math.Abs(p.Lat) <= 90) || math.IsInf(p.Lon, 0) || math.IsNaN(p.Lon) {
		return 0, fmt.Errorf("measure: Domain.Cell: %w", metric.GreatCircle{}.Check(p, p))
	}
	if n == 1 {
		return 0, nil
	}
	face, x, y := healpix.Face(p)
	k := row(n)
	i, j := min(k-1, int(x*float64(k))), min(k-1, int(y*float64(k)))
	return face*k*k + interleave(i)<<1 + interleave(j), nil
}

// interleave puts a 0 before each of 32 bits, and gather takes every second.
func interleave(i int) int {
	v := uint64(i)
	v = (v | v<<16) & 0x0000ffff0000ffff
	v = (v | v<<8) & 0x00ff00ff00ff00ff
	v = (v | v<<4) & 0x0f0f0f0f0f0f0f0f
	v = (v | v<<2) & 0x3333333333333333
	return int((v | v<<1) & 0x5555555555555555)
}

func gather(i int) int {
	v := uint64(i) & 0x5555555555555555
	v = (v | v>>1) & 0x3333333333333333
	v = (v | v>>2) & 0x0f0f0f0f0f0f0f0f
	v = (v | v>>4) & 0x00ff00ff00ff00ff
	v = (v | v>>8) & 0x0000ffff0000ffff
	return int((v | v>>16) & 0x00000000ffffffff)
}

// on returns the place at u, v in [0, 1] of a part.
func (c *globe) on(p part, u, v float64) metric.LatLon {
	k := row(p.n)
	face, q := p.q/(k*k), p.q%(k*k)
	return healpix.Point(face, (float64(gather(q>>1))+u)/float64(k), (float64(gather(q))+v)/float64(k))
}

func (c *globe) at(p part, rng *rand.Rand) metric.LatLon {
	if rng == nil {
		return c.on(p, 0.5, 0.5)
	}
	if p.n == 1 {
		p = part{1, 12, rng.IntN(12)}
	}
	x := c.on(p, rng.Float64(), rng.Float64())
	if q, err := c.place(x, p.n); err != nil || q != p.q { // rounded out of it
		return c.on(p, 0.5, 0.5)
	}
	return x
}

func (c *globe) point(x []float64, p part, rng *rand.Rand) {
	at := c.at(p, rng)
	x[0], x[1] = at.Lat, at.Lon
}

// bounds: the latitude falls along x + y and the longitude rises along x - y, so
// the corners have the extremes.
func (c *globe) bounds(lo, hi []float64, p part) bool {
	lo[0], lo[1], hi[0], hi[1] = -90, -180, 90, 180
	if p.n == 1 {
		return true
	}
	lo[0], hi[0] = c.on(p, 0, 0).Lat, c.on(p, 1, 1).Lat
	if west, east := c.on(p, 0, 1).Lon, c.on(p, 1, 0).Lon; west < east {
		lo[1], hi[1] = west, east
	}
	return true
}

// spread is as for a box: the faces part first, and then quarters. What is spread
// evenly over a cell is at most 2/3 of healpix.Radius away from its center on
// average; the faces send through a pole, from which even mass is pi/2 away.
func (c *globe) spread(l, n int) float64 {
	if l == 0 {
		return c.size * 12 * math.Pi / 2 * math.Sqrt(1-1.0/12)
	}
	return c.size * 4 * (2.0 / 3) * healpix.Radius(row(n)) * math.Sqrt(1-1.0/4)
}

func (c *globe) distance(x, y []float64) float64 {
	return metric.GreatCircle{Radius: c.size}.Distance(metric.LatLon{Lat: x[0], Lon: x[1]}, metric.LatLon{Lat: y[0], Lon: y[1]})
}

// taxa are the leaves of a tree. Cut l has as many parts as the most children of
// a node l below the root; those that are no child are impossible, and of a leaf
// all parts but the first.
type taxa struct {
	paths     metric.Finite
	weight    float64
	arities   []int
	diameters []float64 // by depth
	children  [][]int   // by node, which lie behind it
	leaf      []int     // by node; -1 for inner ones
	first     []int     // the leaves below a node are order[first:end]
	end       []int
	order     []int
	place     [][2]int // of leaves: depth and number among the parts there
}

func newTaxa(t *metric.Tree, weight float64) *taxa {
	parent, leaf, _ := contracted(t, 0.5)
	c := &taxa{paths: t.PathMetric(), weight: weight, leaf: leaf}
	n := len(parent)
	c.children, c.first, c.end = make([][]int, n), make([]int, n), make([]int, n)
	c.place = make([][2]int, c.paths.Len())
	depth, height := make([]int, n), 0
	for v, p := range parent {
		if p >= 0 {
			c.children[p] = append(c.children[p], v)
			depth[v] = depth[p] + 1
			height = max(height, depth[v])
		}
	}
	c.arities, c.diameters = make([]int, height), make([]float64, height+1)
	for v, l := range depth {
		if l < height {
			c.arities[l] = max(c.arities[l], len(c.children[v]))
		}
	}
	var visit func(v, l, q int)
	visit = func(v, l, q int) {
		c.first[v] = len(c.order)
		if c.leaf[v] >= 0 {
			c.place[c.leaf[v]] = [2]int{l, q}
			c.order = append(c.order, c.leaf[v])
		}
		for i, w := range c.children[v] {
			visit(w, l+1, q*c.arities[l]+i)
		}
		c.end[v] = len(c.order)
		// Of a tree, the farthest from any leaf is an end of the longest path.
		leaves := c.order[c.first[v]:]
		far := c.farthest(leaves[0], leaves)
		c.diameters[l] = max(c.diameters[l], c.paths.Distance(far, c.farthest(far, leaves))*weight*roundUp)
	}
	visit(0, 0, 0)
	return c
}

func (c *taxa) farthest(from int, leaves []int) (far int) {
	most := -1.0
	for _, i := range leaves {
		if d := c.paths.Distance(from, i); d > most {
			far, most = i, d
		}
	}
	return far
}

func (c *taxa) arity(l int) int {
	if l < len(c.arities) {
		return c.arities[l]
	}
	return 1
}

func (c *taxa) entries() int            { return 1 }
func (c *taxa) must() int               { return len(c.arities) }
func (c *taxa) finest() int             { return 0 }
func (c *taxa) length(l, n int) float64 { return c.side(l, n) }
func (c *taxa) side(l, _ int) float64   { return c.diameters[min(l, len(c.arities))] }
func (c *taxa) radius(l, n int) float64 { return c.side(l, n) }
func (c *taxa) across(int) float64      { return c.side(0, 1) }

// down returns the node of a part and whether there is one; else a node near it.
func (c *taxa) down(p part) (v int, ok bool) {
	n, ok := p.n, true
	for l := range p.l {
		n /= c.arities[l]
		d := p.q / n % c.arities[l]
		if last := max(0, len(c.children[v])-1); d > last {
			d, ok = last, false
		}
		if len(c.children[v]) > 0 {
			v = c.children[v][d]
		}
	}
	return v, ok
}

func (c *taxa) full(n int) bool {
	l := 0
	for m := 1; m < n; l++ {
		m *= c.arities[l]
	}
	for q := range min(n, len(c.leaf)+1) {
		if !c.possible(part{l, n, q}) {
			return false
		}
	}
	return n <= len(c.leaf)
}

func (c *taxa) possible(p part) bool {
	_, ok := c.down(p)
	return ok
}

func (c *taxa) locate(x []float64, n int) (int, error) {
	v := x[0]
	if !(v >= 0 && v < float64(len(c.place))) || v != math.Trunc(v) {
		return 0, notIn(v, fmt.Sprintf("a leaf, an integer in [0, %d)", len(c.place)))
	}
	at := c.place[int(v)]
	q := at[1]
	for _, k := range c.arities[at[0]:] {
		q *= k
	}
	return q, nil
}

func (c *taxa) point(x []float64, p part, rng *rand.Rand) {
	v, _ := c.down(p)
	i := (c.first[v] + c.end[v]) / 2
	if rng != nil {
		i = c.first[v] + rng.IntN(c.end[v]-c.first[v])
	}
	x[0] = float64(c.order[i])
}

func (c *taxa) bounds(lo, hi []float64, p part) bool {
	lo[0], hi[0] = 0, float64(len(c.place)-1)
	if v, _ := c.down(p); c.end[v]-c.first[v] == 1 {
		c.point(lo, p, nil)
		hi[0] = lo[0]
	}
	return true
}

func (c *taxa) distance(x, y []float64) float64 {
	return c.paths.Distance(int(x[0]), int(y[0])) * c.weight
}

package cells

import (
	"context"
	"math"
)

// plane is the law of planar Laplace noise.
type plane struct {
	inputs []float64 // two coordinates each
	cells  []flatCell
}

// flatCell is a Voronoi cell of the plane, in coordinates about its site.
type flatCell struct {
	at    [2]float64
	sides []segment
	open  float64 // the angle under which it goes on forever
}

// segment is the part [from, to] of the line normal*z = offset, the ends by their
// distance from the point nearest to the origin, counterclockwise.
type segment struct {
	normal   [2]float64 // outward, of length 1
	offset   float64    // > 0
	from, to float64
}

// Plane is the law of noise of density prop. to exp(-rate*||z||) for inputs in the
// plane, two coordinates each, at most about 1 in size. O(k^2 log k) time for k sites, and
// memory for the sides of all cells, at most 6k.
func Plane(ctx context.Context, inputs, sites []float64, workers int) (Law, error) {
	k := len(sites) / 2
	p := &plane{inputs, make([]flatCell, k)}
	err := forSites(ctx, k, workers, func(y int, s *scratch) {
		at := [2]float64(sites[2*y:])
		for j := range k {
			s.far[j] = math.Hypot(sites[2*j]-at[0], sites[2*j+1]-at[1])
		}
		s.poly = half(vec{0, 0, 1})
		s.around(y, func(j int, d float64) {
			s.cut(vec{(at[0] - sites[2*j]) / d, (at[1] - sites[2*j+1]) / d, d / 2})
		}, func(c vec) float64 { return math.Hypot(c[0], c[1]) / c[2] })
		p.cells[y] = newFlatCell(at, s.poly)
	})
	return p, err
}

func newFlatCell(at [2]float64, poly []side) flatCell {
	c := flatCell{at: at}
	for i, s := range poly {
		end := poly[(i+1)%len(poly)].corner
		if s.normal[0] == 0 && s.normal[1] == 0 { // at infinity
			c.open += math.Atan2(s.corner[0]*end[1]-s.corner[1]*end[0], s.corner[0]*end[0]+s.corner[1]*end[1])
			continue
		}
		g := segment{normal: [2]float64{-s.normal[0], -s.normal[1]}, offset: s.normal[2]}
		// The third coordinate is 0 at infinity.
		g.from, g.to = g.along(s.corner)/max(0, s.corner[2]), g.along(end)/max(0, end[2])
		if g.from < g.to {
			c.sides = append(c.sides, g)
		}
	}
	return c
}

// along is the component of z along the line.
func (g *segment) along(z vec) float64 { return g.normal[0]*z[1] - g.normal[1]*z[0] }

// flatEdge is a segment as an input at distance d from the output sees it.
type flatEdge struct {
	*flatView
	*segment
	height float64 // of the input over the line, > 0 inside
	below  float64 // where on the line the input stands
}

// flatView is how an input sees a cell.
type flatView struct {
	rate  float64
	site  float64 // the distance of the cell's site
	near  float64 // R, the distance of the cell; masses are in units of e^(-rate*near)
	shift float64 // near - site, where the cell does not contain the input
	edges []flatEdge
}

// reach is beyond what distance from the cell, in units of 1/rate, noise does not count.
const reach = 50

// LogMasses implements [Law]. O(k), with some 60 exponentials for each.
func (p *plane) LogMasses(x int, rate float64, dst []float64) {
	v := &flatView{rate: rate}
	for y := range p.cells {
		dst[y] = p.cells[y].logMass([2]float64(p.inputs[2*x:]), v)
	}
}

func (c *flatCell) logMass(x [2]float64, v *flatView) float64 {
	if len(c.sides) == 0 {
		return 0
	}
	at, rate := vec{x[0] - c.at[0], x[1] - c.at[1]}, v.rate
	v.site, v.near, v.edges = math.Hypot(at[0], at[1]), 0, v.edges[:0]
	inside, near := true, math.Inf(1)
	for i := range c.sides {
		s := &c.sides[i]
		e := flatEdge{v, s, s.offset - (s.normal[0]*at[0] + s.normal[1]*at[1]), s.along(at)}
		v.edges = append(v.edges, e)
		if e.height >= 0 {
			continue
		}
		inside = false
		nu := min(max(e.below, s.from), s.to)
		if r := math.Hypot(e.height, nu-e.below); r < near {
			near, v.shift = r, e.less(nu, r)
		}
	}
	if !inside {
		v.near = near
	}
	beyond := 1 + rate*v.near // T(R)
	mass := beyond * c.open
	for i := range v.edges {
		e := &v.edges[i]
		// Only [a, b] lies within reach; from farther away T(r) is nothing.
		a := min(max(e.below, e.from), e.to)
		b := a
		if limit := v.near + reach/rate; math.Abs(e.height) < limit {
			w := math.Sqrt((limit - e.height) * (limit + e.height))
			a, b = min(max(e.below-w, e.from), e.to), min(max(e.below+w, e.from), e.to)
		}
		mass += integrate(e, rate, a, b) + beyond*(e.turn(e.from, a)+e.turn(b, e.to))
	}
	return math.Log(mass/(2*math.Pi)) - rate*v.near
}

// less is r - site for the point nu, at distance r, without what cancels in r^2 - site^2 = |z|^2 - 2 z*x.
func (e *flatEdge) less(nu, r float64) float64 {
	return (e.offset*e.offset + nu*nu - 2*(e.offset*(e.offset-e.height)+nu*e.below)) / (r + e.site)
}

// turn is the angle under which the input sees [a, b].
func (e *flatEdge) turn(a, b float64) float64 {
	if !(a < b) {
		return 0
	}
	a, b = a-e.below, b-e.below
	if math.IsInf(a, 0) || math.IsInf(b, 0) {
		h := math.Abs(e.height)
		return math.Copysign(math.Atan2(b, h)-math.Atan2(a, h), e.height)
	}
	return math.Atan2(e.height*(b-a), e.height*e.height+a*b)
}

func (e *flatEdge) view(nu float64) (reach, slope float64) {
	u := nu - e.below
	r := math.Sqrt(e.height*e.height + u*u)
	return r, math.Abs(u) / r
}

func (e *flatEdge) foot(a, b float64) (nu, reach float64, within bool) {
	return e.below, math.Abs(e.height), a < e.below && e.below < b
}

func (e *flatEdge) gauss(a, b float64, r *rule) float64 {
	center, scale, sum := a+(b-a)/2, (b-a)/2, 0.0
	for _, n := range r.nodes {
		sum += n.weight * (e.value(center-scale*n.at) + e.value(center+scale*n.at))
	}
	return scale * sum
}

// value is the integrand, per length.
func (e *flatEdge) value(nu float64) float64 {
	u := nu - e.below
	r2 := e.height*e.height + u*u
	return e.height / r2 * e.difference(nu, math.Sqrt(r2))
}

func (e *flatEdge) around(a, b, nu float64) float64 {
	return e.turn(a, b) * e.difference(nu, math.Hypot(e.height, nu-e.below))
}

// difference is T(R) - T(r) for the point nu at distance r, T(r) = (1 + rate*r) e^(-rate*r).
func (e *flatEdge) difference(nu, r float64) float64 {
	if e.near > 0 {
		r = e.less(nu, r) - e.shift
	}
	first, second, _ := moments(e.rate * r)
	return e.rate*e.near*first + second
}

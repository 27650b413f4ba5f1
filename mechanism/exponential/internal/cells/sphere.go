package cells

import (
	"context"
	"math"
)

// sphere is the law of noise on the unit sphere.
type sphere struct {
	inputs []vec
	cells  []roundCell
}

// roundCell is a Voronoi cell of the sphere, in a frame in which its site is (0, 0, 1).
type roundCell struct {
	frame [3]vec
	sides []arc
}

// arc is a great-circle arc middle*cos(nu) + along*sin(nu), |nu| <= half.
type arc struct {
	normal, middle, along vec // normal inward
	half                  float64
	below                 float64 // 1 - middle[2]
}

// Sphere is the law of noise of density prop. to exp(-rate*angle) for inputs on the
// sphere, three coordinates each, of any norm. Cost as [Plane]. Masses are wrong where
// a cell has both an input and the point opposite to it on its boundary.
func Sphere(ctx context.Context, inputs, sites []float64, workers int) (Law, error) {
	p, on := &sphere{directions(inputs), make([]roundCell, len(sites)/3)}, directions(sites)
	err := forSites(ctx, len(on), workers, func(y int, s *scratch) {
		at := on[y]
		for j, z := range on {
			d := minus(at, z)
			s.far[j] = math.Sqrt(dot(d, d))
		}
		c := &p.cells[y]
		c.frame = frame(at)
		s.poly = s.poly[:0]
		s.around(y, func(j int, d float64) {
			normal := c.local(minus(at, on[j]))
			if normal = (vec{normal[0] / d, normal[1] / d, d / 2}); len(s.poly) == 0 {
				s.poly = half(normal)
			} else {
				s.cut(normal)
			}
		}, func(c vec) float64 { return math.Hypot(c[0], c[1]) }) // the sine of the angle
		for i, s1 := range s.poly {
			c.sides = append(c.sides, newArc(s1, s.poly[(i+1)%len(s.poly)].corner))
		}
	})
	return p, err
}

// directions are the points of the unit sphere of the given coordinates.
func directions(coords []float64) []vec {
	out := make([]vec, len(coords)/3)
	for i := range out {
		out[i] = unit(vec(coords[3*i:]))
	}
	return out
}

func minus(a, b vec) vec { return vec{a[0] - b[0], a[1] - b[1], a[2] - b[2]} }

// frame is an orthonormal one whose third vector is z.
func frame(z vec) [3]vec {
	e := vec{1, 0, 0}
	if math.Abs(z[0]) > 0.6 {
		e = vec{0, 1, 0}
	}
	a := unit(cross(z, e))
	return [3]vec{a, cross(z, a), z}
}

// local are the coordinates of z in the cell's frame.
func (c *roundCell) local(z vec) vec {
	return vec{dot(c.frame[0], z), dot(c.frame[1], z), dot(c.frame[2], z)}
}

func newArc(s side, end vec) arc {
	normal := unit(s.normal)
	sum := vec{s.corner[0] + end[0], s.corner[1] + end[1], s.corner[2] + end[2]}
	chord := minus(end, s.corner)
	g := arc{normal: normal}
	g.half = math.Atan2(math.Sqrt(dot(chord, chord)), math.Sqrt(dot(sum, sum)))
	if dot(sum, sum) > 1 {
		g.middle = unit(sum)
		g.along = cross(normal, g.middle)
	} else { // nearly half a circle, whose ends do not tell the middle
		g.along = unit(chord)
		g.middle = cross(g.along, normal)
	}
	g.below = 1 - g.middle[2]
	if m := g.middle; m[2] > 0.5 {
		g.below = (m[0]*m[0] + m[1]*m[1]) / (1 + m[2])
	}
	return g
}

// roundView is how an input sees a cell: as a flatView, distances being angles.
type roundView struct {
	rate, site, near, shift float64
	sin, cos                float64 // of near
	siteSin                 float64
	// opposite tells that R is pi and not near: the cell contains the point opposite to
	// the input, or nearly, and directions change fast there.
	opposite bool
	at       vec // the input in the cell's frame
	edges    []roundEdge
}

// roundEdge is an arc as an input sees it.
type roundEdge struct {
	*roundView
	*arc
	height        float64 // sine of the angle of the input over the circle, > 0 inside
	toMid, toSide float64 // the input's components towards middle and along
}

// LogMasses implements [Law]. Cost as in the plane, some times that for an arc.
func (p *sphere) LogMasses(x int, rate float64, dst []float64) {
	v := &roundView{rate: rate}
	for y := range p.cells {
		dst[y] = p.cells[y].logMass(p.inputs[x], v)
	}
}

func (c *roundCell) logMass(x vec, v *roundView) float64 {
	if len(c.sides) == 0 {
		return 0
	}
	v.at = c.local(minus(x, c.frame[2])) // keeps the digits of what is near
	square := dot(v.at, v.at)
	v.at[2] = 1 - square/2
	v.site = 2 * math.Atan2(math.Sqrt(square), math.Sqrt(max(0, 4-square)))
	v.siteSin = math.Sin(v.site)
	v.near, v.edges = 0, v.edges[:0]
	inside, opposite, near, far := true, true, math.Inf(1), 0.0
	for i := range c.sides {
		s := &c.sides[i]
		e := roundEdge{v, s, dot(s.normal, v.at), dot(s.middle, v.at), dot(s.along, v.at)}
		v.edges = append(v.edges, e)
		if e.toMid < 1e-3 { // otherwise the arc, within a quarter of its middle, ends before
			foot := math.Atan2(e.toSide, e.toMid)
			far = max(far, e.angle(e.clamp(foot-math.Copysign(math.Pi, foot))))
		}
		if e.height > 0 {
			opposite = false
		}
		if e.height >= 0 {
			continue
		}
		inside = false
		nu := e.clamp(math.Atan2(e.toSide, e.toMid))
		if r := e.angle(nu); r < near {
			s, c := math.Sincos(nu)
			near, v.shift = r, e.less(s, c, math.Sin(r))
		}
	}
	if !inside {
		v.near = near
	}
	v.sin, v.cos = math.Sincos(v.near)
	v.opposite = opposite || far > math.Pi-1e-6
	beyond, mass := v.cos+v.rate*v.sin, 0.0 // T(R) and its part around the input
	if v.opposite {
		beyond = -math.Exp(-v.rate * (math.Pi - v.near))
		if inside {
			first, _ := v.moments(math.Pi)
			mass = 2 * math.Pi * first
		}
	}
	for i := range v.edges {
		e := &v.edges[i]
		in, out := e.within(v.near + reach/v.rate)
		mass += integrate(e, v.rate, in[0][0], in[0][1]) + integrate(e, v.rate, in[1][0], in[1][1])
		mass += beyond * (e.turn(out[0][0], out[0][1]) + e.turn(out[1][0], out[1][1]))
	}
	return math.Log(mass/(2*math.Pi*(1+math.Exp(-v.rate*math.Pi)))) - v.rate*v.near
}

// clamp is the point of the arc nearest to nu, |nu| <= pi.
func (e *roundEdge) clamp(nu float64) float64 {
	return min(max(nu, -e.half), e.half)
}

// angle is that between the input and the point nu.
func (e *roundEdge) angle(nu float64) float64 {
	s, c := math.Sincos(nu)
	return math.Atan2(math.Hypot(e.height, e.toSide*c-e.toMid*s), e.toMid*c+e.toSide*s)
}

// within returns the parts of the arc at angles of at most limit, and the others.
func (e *roundEdge) within(limit float64) (in, out [2][2]float64) {
	lo, hi, far := -e.half, e.half, math.Cos(min(limit, math.Pi))/math.Hypot(e.toSide, e.toMid)
	if far >= 1 {
		out[0] = [2]float64{lo, hi}
		return in, out
	}
	if far <= -1 || limit >= math.Pi {
		in[0] = [2]float64{lo, hi}
		return in, out
	}
	// Of the circle, what is around the foot is within, and around the point opposite to it
	// without: the arc meets the shorter of the two once.
	foot, w := math.Atan2(e.toSide, e.toMid), math.Acos(far)
	if w <= math.Pi/2 {
		a, b := e.clamp(foot-w), e.clamp(foot+w)
		in[0], out[0], out[1] = [2]float64{a, b}, [2]float64{lo, a}, [2]float64{b, hi}
		return in, out
	}
	foot -= math.Copysign(math.Pi, foot)
	a, b := e.clamp(foot-(math.Pi-w)), e.clamp(foot+(math.Pi-w))
	out[0], in[0], in[1] = [2]float64{a, b}, [2]float64{lo, a}, [2]float64{b, hi}
	return in, out
}

// turn is the angle under which the input sees [a, b].
func (e *roundEdge) turn(a, b float64) float64 {
	if !(a < b) {
		return 0
	}
	sa, ca := math.Sincos(a)
	sb, cb := math.Sincos(b)
	// The components of the two points along the circle from the input's foot, times
	// the cosine of its height.
	ua, va := e.toMid*ca+e.toSide*sa, e.toMid*sa-e.toSide*ca
	ub, vb := e.toMid*cb+e.toSide*sb, e.toMid*sb-e.toSide*cb
	length := e.toMid*e.toMid + e.toSide*e.toSide
	return math.Atan2(e.height*length*math.Sin(b-a), e.height*e.height*ua*ub+va*vb)
}

func (e *roundEdge) view(nu float64) (reach, slope float64) {
	s, c := math.Sincos(nu)
	u := e.toMid*s - e.toSide*c
	sin := math.Sqrt(e.height*e.height + u*u)
	return sin, math.Abs(u) / sin
}

// foot returns the nearest point, or the farthest: near the point opposite to the input
// directions change as fast.
func (e *roundEdge) foot(a, b float64) (nu, reach float64, within bool) {
	nu = math.Atan2(e.toSide, e.toMid)
	if !(a < nu && nu < b) {
		nu -= math.Copysign(math.Pi, nu)
	}
	return nu, math.Abs(e.height), a < nu && nu < b
}

func (e *roundEdge) gauss(a, b float64, r *rule) float64 {
	center, scale, sum := a+(b-a)/2, (b-a)/2, 0.0
	s, c := math.Sincos(center)
	for _, n := range r.nodes {
		sin, below, _ := trigonometry(scale * n.at)
		sum += n.weight * (e.value(s-(s*below+c*sin), c-(c*below-s*sin)) + e.value(s-(s*below-c*sin), c-(c*below+s*sin)))
	}
	return scale * sum
}

// value is the integrand, per length, at sine s and cosine c along the arc.
func (e *roundEdge) value(s, c float64) float64 {
	u := e.toMid*s - e.toSide*c
	sin2 := e.height*e.height + u*u
	return e.height / sin2 * e.difference(s, c, math.Sqrt(sin2))
}

func (e *roundEdge) around(a, b, nu float64) float64 {
	s, c := math.Sincos(nu)
	return e.turn(a, b) * e.difference(s, c, math.Hypot(e.height, e.toMid*s-e.toSide*c))
}

// less is theta - site for the point of sine s and cosine c along the arc, at angle theta:
// the tangent of half of it is cos(site) - cos(theta), x*(y - z), over sin(site) +
// sin(theta). 1 - z_2 is taken without what cancels.
func (e *roundEdge) less(s, c, sin float64) float64 {
	below := e.below + e.middle[2]*(s*s/(1+c)) - e.along[2]*s
	z0, z1 := e.middle[0]*c+e.along[0]*s, e.middle[1]*c+e.along[1]*s
	return 2 * atan((e.roundView.at[2]*below-e.roundView.at[0]*z0-e.roundView.at[1]*z1)/(sin+e.siteSin))
}

// difference is T(R) - T(theta) for the point of sine s and cosine c along the arc, at
// an angle theta of the given sine; T(theta) = e^(-rate*theta) (cos(theta) + rate*sin(theta)).
func (e *roundEdge) difference(s, c, sin float64) float64 {
	if e.opposite {
		theta := math.Atan2(sin, e.toMid*c+e.toSide*s)
		first, second := e.moments(math.Pi - theta)
		return -math.Exp(-e.rate*(theta-e.near)) * (math.Cos(theta)*first + sin*second)
	}
	var beyond float64 // theta - near
	if e.near == 0 {
		beyond = math.Atan2(sin, e.toMid*c+e.toSide*s)
	} else {
		beyond = e.less(s, c, sin) - e.shift
	}
	first, second := e.moments(beyond)
	return e.cos*first + e.sin*second
}

// moments returns A and B of T(r) - T(r+s) = e^(-rate*r) (cos(r) A + sin(r) B), relative to themselves:
//
//	A = 1 - e^(-rate*s) (cos(s) + rate*sin(s)), B = rate - e^(-rate*s) (rate*cos(s) - sin(s)).
func (v *roundView) moments(s float64) (a, b float64) {
	first, second, exp := moments(v.rate * s)
	sin, below, rest := trigonometry(s)
	return second + exp*(below+v.rate*rest), v.rate*(first+exp*below) + exp*sin
}

// trigonometry returns sin(s), 1 - cos(s) and s - sin(s), relative to themselves.
func trigonometry(s float64) (sin, below, rest float64) {
	u := s * s
	if u > 0.25 {
		sin, cos := math.Sincos(s)
		return sin, 1 - cos, s - sin
	}
	// The tails of the series are below 2^-54 from s^13/13! on.
	rest = s * u * (1./6 - u*(1./120-u*(1./5040-u*(1./362880-u*(1./39916800-u/6227020800)))))
	below = u * (1./2 - u*(1./24-u*(1./720-u*(1./40320-u*(1./3628800-u*(1./479001600-u/87178291200))))))
	return s - rest, below, rest
}

// atan is the arc tangent, sooner where it is small.
func atan(t float64) float64 {
	if math.Abs(t) > 1./16 {
		return math.Atan(t)
	}
	u := t * t
	return t - t*u*(1./3-u*(1./5-u*(1./7-u*(1./9-u*(1./11-u*(1./13))))))
}

// Package cells computes the law of noise that is snapped to the nearest of some
// sites: with density prop. to exp(-rate*distance) around an input, the mass of
// every site's Voronoi cell, on the line, in the plane and on the sphere.
//
// A mass is right relative to itself, however far from the input its cell lies: to about 1e-13 where a cell
// is no thinner than 1e-3 of its length within reach of the noise, and less by the same factor where it is.
// Nothing rests on that but accuracy: a mechanism of these masses is audited.
package cells

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/parallel"
)

// Law is the law of the nearest site for every input.
type Law interface {
	// LogMasses writes the natural logarithm of the mass of every site's cell to dst,
	// for noise of the given rate around input x: -Inf, or NaN, where a cell is too
	// thin for float64. It is safe for concurrent use.
	LogMasses(x int, rate float64, dst []float64)
}

// vec is a point in homogeneous coordinates (u1, u2, 1) or on the unit sphere, in a frame in which the site
// of a cell is (0, 0, 1); or the normal of a plane through the origin.
type vec [3]float64

func dot(a, b vec) float64 { return float64(a[0]*b[0]) + float64(a[1]*b[1]) + float64(a[2]*b[2]) }

func cross(a, b vec) vec {
	return vec{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

func unit(a vec) vec {
	r := math.Sqrt(dot(a, a))
	return vec{a[0] / r, a[1] / r, a[2] / r}
}

// side is one of a convex polygon, a cone in R^3: the plane that bounds it, by its inward normal, and its
// first corner, counterclockwise. The corner at its end is that of the next side.
type side struct{ normal, corner vec }

// half is the half-space of a normal, with three sides in its boundary: each shorter than half a circle.
func half(normal vec) []side {
	e := vec{1, 0, 0}
	if math.Abs(normal[0]) > 0.6*math.Sqrt(dot(normal, normal)) {
		e = vec{0, 1, 0}
	}
	a := unit(cross(normal, e))
	b := unit(cross(normal, a))
	var poly []side
	for k := range 3 {
		s, c := math.Sincos(2 * math.Pi / 3 * float64(k))
		poly = append(poly, side{normal, vec{c*a[0] + s*b[0], c*a[1] + s*b[1], c*a[2] + s*b[2]}})
	}
	return poly
}

// clip appends to dst the part of a polygon with normal*z >= 0: without the corners
// around the one farthest outside. Others that rounding sees outside, where many sides meet,
// stay: the polygon would fall in two. O(len(poly)).
func clip(dst, poly []side, normal vec) []side {
	n, worst, at := len(poly), 0.0, 0
	for i, s := range poly {
		if d := dot(normal, s.corner); d < worst {
			worst, at = d, i
		}
	}
	if worst == 0 {
		return append(dst, poly...)
	}
	first, last := at, at // of the corners to go, modulo n
	for last < at+n && dot(normal, poly[(last+1)%n].corner) < 0 {
		last++
	}
	for first > last-n && dot(normal, poly[(first-1+n)%n].corner) < 0 {
		first--
	}
	if last-first >= n-1 {
		return dst
	}
	s := poly[last%n]
	dst = append(dst, side{s.normal, meet(normal, s.normal, s.corner, poly[(last+1)%n].corner)})
	for i := last + 1; i < first+n; i++ {
		dst = append(dst, poly[i%n])
	}
	s = poly[(first-1+n)%n]
	return append(dst, side{normal, meet(s.normal, normal, poly[(first+n)%n].corner, s.corner)})
}

// meet is the corner where the side of normal a ends and that of b begins, between two corners of one of
// them: the first, which is outside of the other, where rounding puts it elsewhere.
func meet(a, b, outside, inside vec) vec {
	c := unit(cross(a, b))
	if dot(c, outside)+dot(c, inside) > 0 {
		return c
	}
	return outside
}

// scratch is what the work for one cell needs.
type scratch struct {
	far        []float64 // the distances of all sites
	order      []int
	poly, next []side
}

// forSites runs f for every site, with scratch space of its goroutine.
func forSites(ctx context.Context, k, workers int, f func(y int, s *scratch)) error {
	return parallel.Chunks(ctx, k, 8, workers, nil, func(_, lo, hi int) {
		s := &scratch{far: make([]float64, k)}
		for y := lo; y < hi && ctx.Err() == nil; y++ {
			f(y, s)
		}
	})
}

// around bounds the polygon of site y by its neighbors, the nearest first: bisect takes one and its distance.
// It ends where none is nearer than twice the farthest corner, whose distance reach tells.
func (s *scratch) around(y int, bisect func(j int, d float64), reach func(corner vec) float64) {
	s.order = s.order[:0]
	for j := range s.far {
		if j != y {
			s.order = append(s.order, j)
		}
	}
	slices.SortFunc(s.order, func(a, b int) int { return cmp.Or(cmp.Compare(s.far[a], s.far[b]), a-b) })
	far := math.Inf(1)
	for _, j := range s.order {
		d := s.far[j]
		if d/2 > far {
			break
		}
		if d == 0 {
			continue
		}
		bisect(j, d)
		far = 0
		for _, v := range s.poly {
			if v.corner[2] > 0 {
				far = max(far, reach(v.corner))
			} else {
				far = math.Inf(1)
			}
		}
	}
}

// cut clips the polygon. Sides of half a circle get a corner in the middle, which tells on
// which side of a plane through both ends they lie.
func (s *scratch) cut(normal vec) {
	s.next = clip(s.next[:0], s.poly, normal)
	s.poly = s.poly[:0]
	for i, p := range s.next {
		s.poly = append(s.poly, p)
		if dot(p.corner, s.next[(i+1)%len(s.next)].corner) < -0.9 {
			s.poly = append(s.poly, side{p.normal, unit(cross(p.normal, p.corner))})
		}
	}
}

package anywhere

import (
	"context"
	"math"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/parallel"
)

// law is noise of density prop. to e^-||z||, by the masses of boxes whose corners lie at multiples
// of step around its center.
type law struct {
	step  float64
	flat  bool      // the Euclidean norm of the plane; otherwise the l1 norm, in any dimension
	reach int       // what lies as many steps away is taken to have no mass
	tail  []float64 // the mass of z1 >= i*step
	quad  []float64 // that of z1 >= i*step, z2 >= j*step, at i*len(tail) + j
}

const (
	// reachWidths is beyond what distance noise does not count: its mass there is below
	// (1+26) e^-26 < 1.4e-10.
	reachWidths = 26
	// lawErr bounds the error of an entry of a law, lawErr*4 that of a mass of a box in the plane,
	// a sum of four, and of a product of at most 8 masses of intervals. Beside what reachWidths
	// leaves out, integrals err by less than 1e-11: see sector.
	lawErr = 2e-10
)

// newLaw holds masses of the plane up to far steps, which quadrant finds anew beyond.
func newLaw(ctx context.Context, step float64, flat bool, far, workers int) (*law, error) {
	l := &law{step: step, flat: flat, reach: int(math.Ceil(reachWidths / step))}
	n := l.reach + 1
	if flat {
		n = min(n, far+1)
	}
	l.tail = make([]float64, n)
	if !flat {
		for i := range l.tail {
			l.tail[i] = exact.Exp(-float64(float64(i)*step)) / 2
		}
		return l, nil
	}
	l.quad = make([]float64, n*n)
	err := parallel.Chunks(ctx, n, 8, workers, nil, func(_, lo, hi int) {
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			// The side at distance i steps as it is seen from its far end up to j steps.
			sum, from := 0.0, 0.0
			for j := n - 1; j >= 0; j-- {
				to := math.Atan2(float64(i), float64(j))
				sum += sector(float64(float64(i)*step), from, to)
				l.quad[i*n+j], from = sum, to
			}
			l.tail[i] = sum / math.Pi
		}
	})
	// The quadrant's first side is seen up to its corner, the second beyond.
	for i := range n {
		for j := range i + 1 {
			v := (l.quad[i*n+j] + l.quad[j*n+i]) / (2 * math.Pi)
			l.quad[i*n+j], l.quad[j*n+i] = v, v
		}
	}
	l.tail[0], l.quad[0] = 0.5, 0.25
	return l, err
}

// nodes of a Gauss-Legendre rule on [-1, 1].
var nodes, weights = func() (x, w [8]float64) {
	quad.Legendre{}.FixedLocations(x[:], w[:], -1, 1)
	return x, w
}()

// sector is the integral of T(h/sin e) over the angles e in [from, to], to at most pi/2: of planar
// noise beyond a line at distance h > 0, e being the angle from the line's direction. T(r) =
// (1+r) e^-r is the mass of the noise beyond r, per angle over 2 pi.
//
// Pieces end at e and begin at 3e/4 or above, up to where r = h/sin e is 40. On Bernstein's ellipse
// of radius 11.9 about a piece, whose half-axes are 6 and 5.92 of its half-length, at most e/8, the
// real part of e is between e/8 and 13e/8, so that of r positive and |T| <= 1 + |r| < 324: eight
// nodes err by at most 64/15 * 324 * 11.9^-14/(1 - 11.9^-2) < 2e-12 of the half-length (Trefethen
// 2013, Theorem 19.3), in all by less than 2e-12. The end that is left out adds below 1e-15,
// rounding, of nodes and of sums of hundreds of pieces too, below 1e-12.
func sector(h, from, to float64) float64 {
	sum := 0.0
	for to > from && h < 40*math.Sin(to) {
		low := max(from, 0.75*to)
		mid, half := float64((low+to)/2), float64((to-low)/2)
		for i, x := range nodes {
			r := h / math.Sin(mid+float64(half*x))
			sum += float64(float64(weights[i]*half) * float64((1+r)*exact.Exp(-r)))
		}
		to = low
	}
	return sum
}

// beyond is the mass of z1 >= i steps.
func (l *law) beyond(i int) float64 {
	switch {
	case i < 0:
		return 1 - l.beyond(-i)
	case i > l.reach:
		return 0
	case i >= len(l.tail):
		return 2 * l.quadrant(i, 0)
	}
	return l.tail[i]
}

// quadrant is the mass of z1 >= i and z2 >= j steps.
func (l *law) quadrant(i, j int) float64 {
	switch {
	case i < 0 && j < 0:
		return 1 - l.beyond(-i) - l.beyond(-j) + l.quadrant(-i, -j)
	case i < 0:
		return l.beyond(j) - l.quadrant(-i, j)
	case j < 0:
		return l.beyond(i) - l.quadrant(i, -j)
	case i > l.reach || j > l.reach:
		return 0
	}
	if n := len(l.tail); i < n && j < n {
		return l.quad[i*n+j]
	}
	x, y := float64(float64(i)*l.step), float64(float64(j)*l.step)
	return (sector(x, 0, math.Atan2(x, y)) + sector(y, 0, math.Atan2(y, x))) / (2 * math.Pi)
}

// masses appends to dst those of the cells, in their order, of noise around a point of the
// lattice. buf is scratch space that it returns.
func (l *law) masses(c *cells, at []int, dst, buf []float64) ([]float64, []float64) {
	if l.flat {
		columns := c.count[1] + 1
		above, below := append(buf[:0], make([]float64, columns)...), make([]float64, columns)
		for i := range c.count[0] + 1 {
			above, below = below, above
			for j := range columns {
				below[j] = l.quadrant(c.cut(0, i)-at[0], c.cut(1, j)-at[1])
			}
			for j := 0; i > 0 && j+1 < columns; j++ {
				dst = append(dst, max(0, above[j]-above[j+1]-below[j]+below[j+1]))
			}
		}
		return dst, above
	}
	from := len(dst)
	dst = append(dst, 1)
	for k, n := range c.count {
		buf = append(buf[:0], dst[from:]...)
		dst = dst[:from]
		for _, v := range buf {
			for i := range n {
				// Of two tails that are nearly 1 the others are subtracted.
				lo, hi := c.cut(k, i)-at[k], c.cut(k, i+1)-at[k]
				m := l.beyond(lo) - l.beyond(hi)
				if hi <= 0 {
					m = l.beyond(-hi) - l.beyond(-lo)
				}
				dst = append(dst, float64(v*m))
			}
		}
	}
	return dst, buf
}

// cells are boxes of equal sides, and around them the parts of space beyond, all cut at points of a
// lattice of places for inputs, which lies between the points of the finer one of outputs.
type cells struct {
	base  []float64 // a point of the fine lattice; that of inputs begins half a step beyond
	pitch float64   // of the fine lattice
	unit  int64     // fine steps to one of the lattice of inputs
	side  int       // of a box, in those
	first []int     // the first cut of every axis
	count []int     // of the cells of every axis, at least 2
}

// everywhere is beyond all that a lattice of inputs has.
const everywhere = 1 << 30

// cut is the i-th cut of an axis, the lower end of its i-th cell: -everywhere for 0.
func (c *cells) cut(axis, i int) int {
	switch i {
	case 0:
		return -everywhere
	case c.count[axis]:
		return everywhere
	}
	return c.first[axis] + (i-1)*c.side
}

func (c *cells) len() int {
	n := 1
	for _, k := range c.count {
		n *= k
	}
	return n
}

// step is that of the lattice of inputs.
func (c *cells) step() float64 { return float64(float64(c.unit) * c.pitch) }

// position is the coordinate of a point of the lattice of inputs, exactly: a sum of multiples of
// half the pitch, far below 2^52 of them.
func (c *cells) position(axis, i int) float64 {
	return c.base[axis] + c.pitch/2 + float64(float64(int64(i)*c.unit)*c.pitch)
}

// floor is the last point of the lattice of inputs at or below a coordinate, up to rounding, and
// the share of a step that is left.
func (c *cells) floor(axis int, x float64) (int, float64) {
	t := (x - c.base[axis] - c.pitch/2) / c.step()
	i := math.Floor(t)
	return int(max(-everywhere/4, min(i, everywhere/4))), t - i
}

// find returns the cell of an output of the noise, a point of the fine lattice: none is on a cut.
func (c *cells) find(y []float64) int {
	at := 0
	for k, v := range y {
		// Both are multiples of the pitch of at most 2^54 steps.
		fine := int64((v-c.base[k])/c.pitch) - 1
		i := fine / c.unit
		if fine%c.unit < 0 {
			i--
		}
		i -= int64(c.first[k])
		switch last := int64(c.count[k]-2) * int64(c.side); {
		case i < 0:
			i = 0
		case i >= last:
			i = int64(c.count[k]) - 1
		default:
			i = i/int64(c.side) + 1
		}
		at = at*c.count[k] + int(i)
	}
	return at
}

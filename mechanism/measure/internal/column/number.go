package column

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Number is an interval.
type Number struct {
	Lo, Hi, Weight float64
	Most           int  // parts
	Clip           bool // what is outside, or else refuse it
}

func (c *Number) Plan() Plan { return Plan{Entries: 1, Most: c.Most, Numeric: true} }

func (c *Number) Size(_, n int) Size {
	all := float64((c.Hi - c.Lo) * c.Weight)
	part := all / float64(n)
	return Size{Length: part, Diameter: part, Radius: part / 2, Across: all - part}
}

func (c *Number) Full(int) bool                   { return true }
func (c *Number) Possible(Part) bool              { return true }
func (c *Number) Distance(x, y []float64) float64 { return math.Abs(x[0]-y[0]) * c.Weight }

func (c *Number) Locate(x []float64, n int) (int, error) {
	v := x[0]
	if c.Clip {
		v = min(max(v, c.Lo), c.Hi)
	}
	if v >= c.Lo && v <= c.Hi {
		return c.part(v, n), nil
	}
	return 0, notIn(v, fmt.Sprintf("a number in [%v, %v]", c.Lo, c.Hi))
}

func (c *Number) part(v float64, n int) int {
	return min(int((v-c.Lo)/(c.Hi-c.Lo)*float64(n)), n-1)
}

func (c *Number) value(p Part, u float64) float64 {
	return min(c.Hi, c.Lo+float64((float64(p.Place)+u)/float64(p.Of)*(c.Hi-c.Lo)))
}

func (c *Number) Point(x []float64, p Part, rng *rand.Rand) {
	x[0] = c.value(p, 0.5)
	if rng != nil {
		if v := c.value(p, float64(rng.Float64())); c.part(v, p.Of) == p.Place { // not rounded out of it
			x[0] = v
		}
	}
}

func (c *Number) Bounds(lo, hi []float64, p Part) bool {
	lo[0], hi[0] = c.value(p, 0), c.value(p, 1)
	return true
}

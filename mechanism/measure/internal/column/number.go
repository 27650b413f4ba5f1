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

func (c *Number) Entries() int                    { return 1 }
func (c *Number) Arity(int) int                   { return 0 }
func (c *Number) Must() int                       { return 0 }
func (c *Number) Finest() int                     { return c.Most }
func (c *Number) Length(_, n int) float64         { return float64((c.Hi-c.Lo)*c.Weight) / float64(n) }
func (c *Number) Side(l, n int) float64           { return c.Length(l, n) }
func (c *Number) Radius(l, n int) float64         { return c.Length(l, n) / 2 }
func (c *Number) Across(n int) float64            { return c.Length(0, 1) - c.Length(0, n) }
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

package column

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
)

// Whole are the whole numbers Lo, Lo+1, ...: Count of them, wide to a part of the
// finest, of which there are total; those behind the last are impossible.
type Whole struct {
	Lo, Weight  float64
	Count       int
	Clip        bool
	wide, total int
}

// Settle takes the number of parts in the end.
func (c *Whole) Settle(n int) { c.total, c.wide = n, (c.Count-1)/n+1 }

func (c *Whole) Plan() Plan { return Plan{Entries: 1, Most: c.finest(), Numeric: true} }

func (c *Whole) finest() int { return 1 << bits.Len(uint(c.Count-1)) }

// width is how many whole numbers one of n parts has.
func (c *Whole) width(n int) int {
	if c.total == 0 { // not yet planned
		return max(1, c.finest()/n)
	}
	return c.total / n * c.wide
}

func (c *Whole) Size(_, n int) Size {
	w := c.width(n)
	return Size{
		Length:   float64(c.finest()) / float64(n) * c.Weight,
		Diameter: float64(min(w, c.Count)-1) * c.Weight,
		Radius:   float64(w/2) * c.Weight,
		Across:   float64(c.Count-1) * c.Weight,
	}
}

func (c *Whole) Full(n int) bool                 { return (c.Count-1)/c.width(n) == n-1 }
func (c *Whole) Possible(p Part) bool            { return p.Place <= (c.Count-1)/c.width(p.Of) }
func (c *Whole) Distance(x, y []float64) float64 { return math.Abs(x[0]-y[0]) * c.Weight }

func (c *Whole) Locate(x []float64, n int) (int, error) {
	v, hi := x[0], c.Lo+float64(c.Count-1)
	if c.Clip && v == math.Trunc(v) {
		v = min(max(v, c.Lo), hi)
	}
	if !(v >= c.Lo && v <= hi) || v != math.Trunc(v) {
		return 0, notIn(v, fmt.Sprintf("a whole number in [%v, %v]", c.Lo, hi))
	}
	return int(v-c.Lo) / c.width(n), nil
}

// in returns the first whole number of a part and how many it has, at least 1.
func (c *Whole) in(p Part) (first, n int) {
	w := c.width(p.Of)
	first = min(p.Place, (c.Count-1)/w) * w
	return first, min(w, c.Count-first)
}

func (c *Whole) Point(x []float64, p Part, rng *rand.Rand) {
	i, n := c.in(p)
	if rng != nil {
		i += rng.IntN(n)
	} else {
		i += (n - 1) / 2
	}
	x[0] = c.Lo + float64(i)
}

func (c *Whole) Bounds(lo, hi []float64, p Part) bool {
	i, n := c.in(p)
	lo[0], hi[0] = c.Lo+float64(i), c.Lo+float64(i+n-1)
	return true
}

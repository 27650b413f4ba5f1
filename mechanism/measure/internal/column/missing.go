package column

import (
	"math"
	"math/rand/v2"
)

// Missing is a column whose first cut parts what is there, of which the other cuts
// are, from what is missing, of which only the first part of each is possible.
type Missing struct {
	Column
	Away float64
}

func (c *Missing) Arity(l int) int {
	if l == 0 {
		return 2
	}
	return c.Column.Arity(l - 1)
}

func (c *Missing) Must() int   { return 1 + c.Column.Must() }
func (c *Missing) Finest() int { return 2 * min(c.Column.Finest(), most/2) }

// inner applies f to the cuts of what is there.
func inner(f func(l, n int) float64, l, n int) float64 { return f(max(l-1, 0), max(n/2, 1)) }

func (c *Missing) Length(l, n int) float64 {
	if l == 0 {
		return max(c.Away, c.Column.Length(0, 1))
	}
	return inner(c.Column.Length, l, n)
}

func (c *Missing) Side(l, n int) float64 {
	if l == 0 {
		return c.Away
	}
	return inner(c.Column.Side, l, n)
}

func (c *Missing) Radius(l, n int) float64 {
	if l == 0 {
		return c.Away
	}
	return inner(c.Column.Radius, l, n)
}

func (c *Missing) Across(int) float64 { return c.Away }
func (c *Missing) Full(n int) bool    { return n <= 2 && c.Column.Full(1) }

func absent(x []float64) bool { return x[0] != x[0] && x[len(x)-1] != x[len(x)-1] }

func (c *Missing) Locate(x []float64, n int) (int, error) {
	if absent(x) {
		return n / 2, nil
	}
	return c.Column.Locate(x, n/2)
}

func (c *Missing) Settle(n int) {
	if s, ok := c.Column.(Settler); ok {
		s.Settle(n / 2)
	}
}

// there tells whether a part is not missing, and returns it of what is there.
func (c *Missing) there(p Part) (Part, bool) {
	if p.Cuts == 0 {
		return Part{Of: 1}, true
	}
	half := p.Of / 2
	return Part{p.Cuts - 1, half, p.Place}, p.Place < half
}

func (c *Missing) Point(x []float64, p Part, rng *rand.Rand) {
	in, ok := c.there(p)
	if !ok || p.Cuts == 0 && rng != nil && rng.IntN(2) == 0 {
		for i := range x {
			x[i] = math.NaN()
		}
		return
	}
	c.Column.Point(x, in, rng)
}

func (c *Missing) Bounds(lo, hi []float64, p Part) bool {
	if in, ok := c.there(p); ok {
		return c.Column.Bounds(lo, hi, in) && p.Cuts > 0
	}
	for i := range lo {
		lo[i], hi[i] = math.NaN(), math.NaN()
	}
	return true
}

func (c *Missing) Possible(p Part) bool {
	if in, ok := c.there(p); ok {
		return c.Column.Possible(in)
	}
	return p.Place == p.Of/2
}

func (c *Missing) Distance(x, y []float64) float64 {
	switch a, b := absent(x), absent(y); {
	case a && b:
		return 0
	case a || b:
		return c.Away
	}
	return c.Column.Distance(x, y)
}

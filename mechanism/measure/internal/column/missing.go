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

func (c *Missing) Plan() Plan {
	p := c.Column.Plan()
	p.Arities, p.Must, p.Most = append([]int{2}, p.Arities...), 1+p.Must, 2*min(p.Most, most/2)
	return p
}

func (c *Missing) Size(l, n int) Size {
	s := c.Column.Size(max(l-1, 0), max(n/2, 1))
	if s.Across = c.Away; l == 0 {
		s.Length, s.Diameter, s.Radius = max(c.Away, c.Column.Size(0, 1).Length), c.Away, c.Away
	}
	return s
}

func (c *Missing) Full(n int) bool { return n <= 2 && c.Column.Full(1) }

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

// there reports whether a part is not missing, and returns it of what is there.
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

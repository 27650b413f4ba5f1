package column

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// Category is one of N values, and a missing one behind them, all at one distance.
type Category struct {
	N       int
	Missing bool
	Weight  float64
}

func (c *Category) Count() int {
	if c.Missing {
		return c.N + 1
	}
	return c.N
}

func (c *Category) Plan() Plan {
	return Plan{Entries: 1, Arities: []int{c.Count()}, Must: min(1, c.Count()-1)}
}

func (c *Category) Size(l, _ int) Size {
	all := Size{}
	if c.Count() > 1 {
		all.Across = c.Weight
	}
	if l == 0 {
		all.Length, all.Diameter, all.Radius = all.Across, all.Across, all.Across
	}
	return all
}

func (c *Category) Full(int) bool      { return true }
func (c *Category) Possible(Part) bool { return true }

func (c *Category) Locate(x []float64, n int) (int, error) {
	v := x[0]
	if c.Missing && v != v {
		return min(c.N, n-1), nil
	}
	if !(v >= 0 && v < float64(c.N)) || v != math.Trunc(v) {
		return 0, notIn(v, fmt.Sprintf("a category, an integer in [0, %d)", c.N))
	}
	return min(int(v), n-1), nil
}

func (c *Category) Point(x []float64, p Part, rng *rand.Rand) {
	q := p.Place
	if p.Of == 1 && rng != nil {
		q = rng.IntN(c.Count())
	}
	if x[0] = float64(q); q == c.N {
		x[0] = math.NaN()
	}
}

func (c *Category) Bounds(lo, hi []float64, p Part) bool {
	c.Point(lo, p, nil)
	if hi[0] = lo[0]; p.Of == 1 {
		hi[0] = float64(c.N - 1)
		return !c.Missing
	}
	return true
}

func (c *Category) Distance(x, y []float64) float64 {
	if x[0] == y[0] || x[0] != x[0] && y[0] != y[0] {
		return 0
	}
	return c.Weight
}

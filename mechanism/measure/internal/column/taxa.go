package column

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/metric"
)

// Taxa are the leaves of a tree. Cut l has as many parts as the most children of a node l below the
// root; those that are no child are impossible, and of a leaf all parts but the first.
type Taxa struct {
	paths     metric.Finite
	weight    float64
	arities   []int
	diameters []float64 // by depth
	children  [][]int   // by node, which lie behind it
	leaf      []int     // by node; -1 for inner ones
	first     []int     // the leaves below a node are order[first:end]
	end       []int
	order     []int
	place     [][2]int // of leaves: depth and number among the parts there
}

// NewTaxa takes distances of the leaves, and a tree over them: parents, which lie
// before their children, and what leaves nodes are, -1 for inner ones.
func NewTaxa(paths metric.Finite, parent, leaf []int, weight float64) *Taxa {
	c := &Taxa{paths: paths, weight: weight, leaf: leaf}
	n := len(parent)
	c.children, c.first, c.end = make([][]int, n), make([]int, n), make([]int, n)
	c.place = make([][2]int, c.paths.Len())
	depth, height := make([]int, n), 0
	for v, p := range parent {
		if p >= 0 {
			c.children[p] = append(c.children[p], v)
			depth[v] = depth[p] + 1
			height = max(height, depth[v])
		}
	}
	c.arities, c.diameters = make([]int, height), make([]float64, height+1)
	for v, l := range depth {
		if l < height {
			c.arities[l] = max(c.arities[l], len(c.children[v]))
		}
	}
	var visit func(v, l, q int)
	visit = func(v, l, q int) {
		c.first[v] = len(c.order)
		if c.leaf[v] >= 0 {
			c.place[c.leaf[v]] = [2]int{l, q}
			c.order = append(c.order, c.leaf[v])
		}
		for i, w := range c.children[v] {
			visit(w, l+1, q*c.arities[l]+i)
		}
		c.end[v] = len(c.order)
		// Of a tree, the farthest from any leaf is an end of the longest path.
		leaves := c.order[c.first[v]:]
		far := c.farthest(leaves[0], leaves)
		c.diameters[l] = max(c.diameters[l], c.paths.Distance(far, c.farthest(far, leaves))*weight*(1+0x1p-40)) // more than rounding takes off
	}
	visit(0, 0, 0)
	return c
}

func (c *Taxa) farthest(from int, leaves []int) (far int) {
	most := -1.0
	for _, i := range leaves {
		if d := c.paths.Distance(from, i); d > most {
			far, most = i, d
		}
	}
	return far
}

func (c *Taxa) Plan() Plan { return Plan{Entries: 1, Arities: c.arities, Must: len(c.arities)} }

func (c *Taxa) Size(l, _ int) Size {
	d := c.diameters[min(l, len(c.arities))]
	return Size{Length: d, Diameter: d, Radius: d, Across: c.diameters[0]}
}

// down returns the node of a part and whether there is one; else a node near it.
func (c *Taxa) down(p Part) (v int, ok bool) {
	n, ok := p.Of, true
	for l := range p.Cuts {
		n /= c.arities[l]
		d := p.Place / n % c.arities[l]
		if last := max(0, len(c.children[v])-1); d > last {
			d, ok = last, false
		}
		if len(c.children[v]) > 0 {
			v = c.children[v][d]
		}
	}
	return v, ok
}

func (c *Taxa) Full(n int) bool {
	l := 0
	for m := 1; m < n; l++ {
		m *= c.arities[l]
	}
	for q := range min(n, len(c.leaf)+1) {
		if !c.Possible(Part{l, n, q}) {
			return false
		}
	}
	return n <= len(c.leaf)
}

func (c *Taxa) Possible(p Part) bool {
	_, ok := c.down(p)
	return ok
}

func (c *Taxa) Locate(x []float64, n int) (int, error) {
	v := x[0]
	if !(v >= 0 && v < float64(len(c.place))) || v != math.Trunc(v) {
		return 0, notIn(v, fmt.Sprintf("a leaf, an integer in [0, %d)", len(c.place)))
	}
	at := c.place[int(v)]
	q := at[1]
	for _, k := range c.arities[at[0]:] {
		q *= k
	}
	return q, nil
}

func (c *Taxa) Point(x []float64, p Part, rng *rand.Rand) {
	v, _ := c.down(p)
	i := (c.first[v] + c.end[v]) / 2
	if rng != nil {
		i = c.first[v] + rng.IntN(c.end[v]-c.first[v])
	}
	x[0] = float64(c.order[i])
}

func (c *Taxa) Bounds(lo, hi []float64, p Part) bool {
	lo[0], hi[0] = 0, float64(len(c.place)-1)
	if v, _ := c.down(p); c.end[v]-c.first[v] == 1 {
		c.Point(lo, p, nil)
		hi[0] = lo[0]
	}
	return true
}

func (c *Taxa) Distance(x, y []float64) float64 {
	return c.paths.Distance(int(x[0]), int(y[0])) * c.weight
}

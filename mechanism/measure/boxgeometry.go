package measure

import (
	"math"

	"github.com/metricdp/metricdp/metric"
)

// norm accumulates the p-norm of a vector with entries >= 0, as a multiple of
// the largest so that no power overflows.
type norm struct{ p, top, sum float64 }

func (n *norm) add(x float64) {
	switch {
	case math.IsInf(n.p, 1):
		n.top = max(n.top, x)
	case n.p == 1:
		n.top += x
	case n.p == 2:
		n.top = math.Hypot(n.top, x)
	case x > n.top:
		n.sum = float64(n.sum*math.Pow(n.top/x, n.p)) + 1
		n.top = x
	case x > 0:
		n.sum += math.Pow(x/n.top, n.p)
	}
}

func (n *norm) value() float64 {
	if n.sum == 0 {
		return n.top
	}
	return n.top * math.Pow(n.sum, 1/n.p)
}

// boxGeometry measures the cells of a product of columns.
type boxGeometry struct {
	*grid
	ext []extent
	p   float64
}

func newBoxGeometry(g *grid, ext []extent, p float64) *boxGeometry {
	return &boxGeometry{g, ext, p}
}

// sides returns the extents of a node of depth l. A category that is told apart
// has length 0.
func (g *boxGeometry) sides(l int) []extent {
	s := append([]extent(nil), g.ext...)
	for a := range s {
		switch n := g.parts[l][a]; {
		case s[a].categories == 0:
			s[a].length /= float64(n)
		case n > 1 || s[a].categories == 1:
			s[a] = extent{0, 1}
		}
	}
	return s
}

func (g *boxGeometry) diameter(l int) float64 {
	d := norm{p: g.p}
	for _, e := range g.sides(l) {
		d.add(e.length)
	}
	return d.value()
}

// halfCell is the largest distance of a record to the point of its cell.
func (g *boxGeometry) halfCell() float64 {
	d := norm{p: g.p}
	for _, e := range g.sides(len(g.splits)) {
		if e.categories == 0 {
			e.length /= 2
		}
		d.add(e.length)
	}
	return d.value()
}

// acrossPoints is the largest distance between points of cells, with a margin for
// its rounding and theirs.
func (g *boxGeometry) acrossPoints() float64 {
	d, cell := norm{p: g.p}, g.sides(len(g.splits))
	for a, e := range g.sides(0) {
		d.add(e.length - cell[a].length)
	}
	return d.value() * (1 + 0x1p-45)
}

func (g *boxGeometry) shapes() []nodeShape {
	shape := make([]nodeShape, len(g.splits))
	nodes := 1
	for l, k := range g.arities {
		shape[l] = nodeShape{nodes: nodes, arity: k, depth: l, diameter: g.diameter(l), spread: g.spread(l)}
		nodes *= k
	}
	return shape
}

// spread bounds what noise in a node of depth l costs; see nodeShape.
//
// Its children are alike, so mass spread evenly over one becomes mass spread
// evenly over another by a translation, which costs the distance of their
// centres. If the node is cut along one numeric column, W1 is the sum over the
// k-1 gaps of the gap times |S_j|, S_j the sum of the first j shares, of
// variance s j(1-j/k). Otherwise the cuts are made one prime factor of every
// column at a time: of K children that are left together, groups of m each part
// from one another. Group g sends its surplus T_g over its fair share through
// the common centre; Var T_g = s m(1-m/K), and the cost is |T_g| times the
// distance to the centre, half the distance between categories for theirs. Both use
// E|T| <= sqrt(Var T), about 1.25 E|T| for a normal T.
func (g *boxGeometry) spread(l int) float64 {
	cuts := append([]int(nil), g.splits[l]...)
	side := g.sides(l)
	cut, only := 0, -1
	for a, n := range cuts {
		if n > 1 {
			cut++
			only = a
		}
	}
	k := float64(g.arities[l])
	if cut == 1 && side[only].categories == 0 {
		sum := 0.0
		for j := 1.0; j < k; j++ {
			sum += math.Sqrt(j * (1 - j/k))
		}
		return sum * side[only].length / k
	}
	total, nodes := 0.0, 1.0
	for k > 1 {
		groups := 1.0
		step := make([]int, len(cuts))
		for a := range cuts {
			step[a] = smallestFactor(cuts[a])
			if side[a].categories > 0 {
				step[a] = cuts[a]
			}
			groups *= float64(step[a])
		}
		m := k / groups
		total += float64(nodes * meanOffset(side, step, g.p) * math.Sqrt(m*(1-m/k)) * groups)
		for a := range cuts {
			cuts[a] /= step[a]
			side[a].length /= float64(step[a])
			if step[a] > 1 && side[a].categories > 0 {
				side[a] = extent{0, 1}
			}
		}
		nodes *= groups
		k = m
	}
	return total
}

// meanOffset returns the mean distance of the centres of the parts to that of
// the whole, when step[a] equal parts are made of column a.
func meanOffset(side []extent, step []int, p float64) float64 {
	at := make([]int, len(step))
	sum, count := 0.0, 0.0
	for {
		d := norm{p: p}
		for a, n := range step {
			switch {
			case n == 1:
			case side[a].categories > 0:
				d.add(side[a].length / 2)
			default:
				d.add(side[a].length * math.Abs((float64(at[a])+0.5)/float64(n)-0.5))
			}
		}
		sum += d.value()
		count++
		a := 0
		for ; a < len(at); a++ {
			if at[a]++; at[a] < step[a] {
				break
			}
			at[a] = 0
		}
		if a == len(at) {
			return sum / count
		}
	}
}

func smallestFactor(n int) int {
	for f := 2; f*f <= n; f++ {
		if n%f == 0 {
			return f
		}
	}
	return n
}

// children returns the centres of the children of a node of depth l.
func (g *boxGeometry) children(l int) metric.Finite {
	return &offsets{g, l}
}

// offsets is the metric between the children of a node.
type offsets struct {
	g *boxGeometry
	l int
}

func (o *offsets) Len() int { return o.g.arities[o.l] }

func (o *offsets) Distance(i, j int) float64 {
	side := o.g.sides(o.l + 1)
	before := o.g.sides(o.l)
	d := norm{p: o.g.p}
	for a := len(side) - 1; a >= 0; a-- {
		n := o.g.splits[o.l][a]
		steps := math.Abs(float64(i%n - j%n))
		i, j = i/n, j/n
		switch {
		case o.g.ext[a].categories == 0:
			d.add(steps * side[a].length)
		case steps > 0:
			d.add(before[a].length)
		default:
			d.add(0)
		}
	}
	return d.value()
}

package prices

import "math"

// planes bound the prices of every node of the tree from above by a linear function, in Euclidean
// space. Prices of an optimal plan fall along its flows at the rate at which distances grow, so
// that far less of space looks near a point than by the highest price of each node alone.
//
// With y the coordinates of a point of the node, c the center of its box, h half
// its sides, g and a the slope and the level of the node, all in the norm of the
// tree, price(y) <= g.(y-c) + a. For every u of norm <= 1
//
//	|y-x| - price(y) >= u.(y-x) - g.(y-c) - a
//	                  = u.(c-x) - a + (u-g).(y-c)
//	                 >= u.(c-x) - a - sum |u_k-g_k| h_k,
//
// and u is the direction from x to c.
type planes struct {
	dim int
	at  []float64 // node by node: a, then c, h and g
}

// of returns what belongs to a node.
func (l *planes) of(node int) (level *float64, center, half, slope []float64) {
	d := l.dim
	at := l.at[node*(3*d+1) : (node+1)*(3*d+1)]
	return &at[0], at[1 : 1+d], at[1+d : 1+2*d], at[1+2*d:]
}

// fit sets all planes. O(n log n).
func (l *planes) fit(p *Prices) {
	tree := p.space.tree
	l.dim = tree.Dim
	if l.at == nil {
		n := 2 * tree.Leaves
		l.at = make([]float64, n*(3*l.dim+1))
		for node := 1; node < n; node++ {
			least, most := tree.Box(node)
			_, center, half, _ := l.of(node)
			for k := range least {
				center[k] = least[k] + (most[k]-least[k])/2
				half[k] = (most[k] - least[k]) * (0.5 + 0x1p-40)
			}
		}
	}
	w := newFit(l.dim)
	l.visit(p, w, 1, 0, p.space.Len())
}

func (l *planes) visit(p *Prices, w *fit, node, lo, hi int) {
	tree := p.space.tree
	level, c, _, g := l.of(node)
	*level = math.Inf(-1)
	if p.top[node] == *level {
		return
	}
	w.reset()
	for k := lo; k < hi; k++ {
		if v := p.price[k]; v > math.Inf(-1) {
			w.add(tree.At(k), c, v/p.space.unit)
		}
	}
	w.solve(g)
	for k := lo; k < hi; k++ {
		v := p.price[k]
		if v == math.Inf(-1) {
			continue
		}
		v /= p.space.unit
		for a, x := range tree.At(k) {
			v -= float64(g[a] * (x - c[a]))
		}
		*level = max(*level, v)
	}
	if node < tree.Leaves {
		mid := (lo + hi) / 2
		l.visit(p, w, 2*node, lo, mid)
		l.visit(p, w, 2*node+1, mid, hi)
	}
}

// roundoff, times the sum of the sizes of what is added, covers the rounding of
// the bound and of the distances.
const roundoff = 0x1p-40

// bound returns a lower bound of distance less price in a node.
func (l *planes) bound(s *Search, node int) float64 {
	level, c, h, g := l.of(node)
	norm := 0.0
	for k, x := range s.x {
		s.gaps[k] = c[k] - x
		norm += float64(s.gaps[k] * s.gaps[k])
	}
	norm = math.Sqrt(norm)
	if norm == 0 {
		return math.Inf(-1)
	}
	b, size := norm-*level, 4+norm+math.Abs(*level)
	for k, d := range s.gaps {
		e := float64(math.Abs(d/norm-g[k]) * h[k])
		b -= e
		size += e + math.Abs(g[k])
	}
	return (b - float64(size*roundoff)) * s.space.unit
}

// fit is a least squares fit of a linear function.
type fit struct {
	dim   int
	n, w  float64   // sums of 1 and of the prices
	x, xw []float64 // of coordinates, and of their products with prices
	xx    []float64
}

func newFit(dim int) *fit {
	return &fit{dim: dim, x: make([]float64, dim), xw: make([]float64, dim), xx: make([]float64, dim*dim)}
}

func (f *fit) reset() {
	f.n, f.w = 0, 0
	clear(f.x)
	clear(f.xw)
	clear(f.xx)
}

// add counts a point x of the price v.
func (f *fit) add(x, c []float64, v float64) {
	f.n++
	f.w += v
	for a := range x {
		d := x[a] - c[a]
		f.x[a] += d
		f.xw[a] += float64(d * v)
		for b := 0; b <= a; b++ {
			f.xx[a*f.dim+b] += float64(d * (x[b] - c[b]))
		}
	}
}

// ridge, relative to the spread of the points, keeps the slope small in
// directions in which they do not differ.
const ridge = 1e-6

// solve sets g to the slope. Any would do for a bound.
func (f *fit) solve(g []float64) {
	// Cholesky on the centered sums.
	d, m := f.dim, f.xx
	trace := 0.0
	for a := range d {
		g[a] = f.xw[a] - float64(f.x[a]*f.w)/f.n
		for b := 0; b <= a; b++ {
			m[a*d+b] -= float64(f.x[a]*f.x[b]) / f.n
		}
		trace += m[a*d+a]
	}
	if !(trace > 0) {
		clear(g)
		return
	}
	for a := range d {
		m[a*d+a] += float64(ridge * trace)
		for b := 0; b <= a; b++ {
			s := m[a*d+b]
			for k := range b {
				s -= float64(m[a*d+k] * m[b*d+k])
			}
			if a == b {
				m[a*d+a] = math.Sqrt(s)
			} else {
				m[a*d+b] = s / m[b*d+b]
			}
		}
	}
	for a := range d {
		for k := range a {
			g[a] -= float64(m[a*d+k] * g[k])
		}
		g[a] /= m[a*d+a]
	}
	for a := d - 1; a >= 0; a-- {
		for k := a + 1; k < d; k++ {
			g[a] -= float64(m[k*d+a] * g[k])
		}
		g[a] /= m[a*d+a]
	}
	for _, x := range g {
		if !(math.Abs(x) < 1e6) {
			clear(g)
			return
		}
	}
}

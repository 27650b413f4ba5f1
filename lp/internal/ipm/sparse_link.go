package ipm

import (
	"cmp"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/metricdp/metricdp/internal/parallel"
)

// The linking system from sparse factors with one pattern. The lower triangles
// of the inverses are computed by groups of inputs: one group for all columns,
// then the next. The sums of a group stay in the cache, and every entry has one
// writer, which adds the columns in order: the result does not depend on the
// workers.

// groupInputs is the number of inputs in a group: shorter calls cost more than
// sums, and at n = 1000 a group just fits the cache of a core.
const groupInputs = 64

// group is what columns lo..hi-1 of the inverses take, in elimination order.
type group struct {
	lo, hi int
	reach  []int     // rows where L^-1 has entries in these columns, ascending
	losses []int     // the loss rows of the inputs of columns lo..hi-1
	home   []int     // their columns, less lo
	loss   []float64 // their losses in one column
	// x is a column, and members the loss rows of the inputs, in elimination order.
	x       []float64
	members [][]int
	z       []float64 // n rows: columns lo..hi-1 of H_w^-1 diag(x)
	row     []float64 // a row of z, and times the losses
	// sum of x_v row_v, and per loss row of v times its loss.
	inputs, lossRows []float64
}

// linkSparse writes the linking system but for its diagonal part t/z.
func (s *solver) linkSparse() error {
	ctx := s.ctx
	err := parallel.Chunks(ctx, s.n, groupInputs, s.o.Workers, nil, func(_, lo, hi int) {
		g := newGroup(s, lo, hi)
		for w := 0; w < s.m && ctx.Err() == nil; w++ {
			g.forward(s, w)
			g.backward(s, w)
		}
		g.write(s)
	})
	return cmp.Or(err, ctx.Err())
}

func newGroup(s *solver, lo, hi int) *group {
	f, g := s.sparse, &group{lo: lo, hi: hi, z: make([]float64, s.n*(hi-lo))}
	g.x, g.members = make([]float64, s.n), make([][]int, s.n)
	for k, u := range f.order {
		g.members[k] = s.members[u]
	}
	reached := make([]bool, s.n)
	for u := lo; u < s.n; u++ {
		if reached[u] = reached[u] || u < hi; reached[u] {
			g.reach = append(g.reach, u)
			for _, v := range f.row[f.start[u]:f.start[u+1]] {
				reached[v] = true
			}
		}
	}
	for u := lo; u < hi; u++ {
		for _, r := range g.members[u] {
			g.losses, g.home = append(g.losses, r), append(g.home, u-lo)
		}
	}
	g.loss = make([]float64, len(g.losses))
	g.row = make([]float64, hi-lo+len(g.losses))
	g.inputs, g.lossRows = make([]float64, s.n*len(g.row)), make([]float64, s.nz*len(g.row))
	return g
}

// forward solves L z = diag(x) in the columns of g, at the rows it reaches.
func (g *group) forward(s *solver, w int) {
	f, l, x, bl := s.sparse, s.factorOf(w), s.column(s.x, w), blas64.Implementation()
	k := g.hi - g.lo
	for i, u := range f.order {
		g.x[i] = x[u]
	}
	for _, u := range g.reach {
		clear(g.z[u*k : (u+1)*k])
	}
	for u := g.lo; u < g.hi; u++ {
		g.z[u*k+u-g.lo] = g.x[u]
	}
	for _, u := range g.reach {
		at, end := f.start[u], f.start[u+1]
		z := g.z[u*k : (u+1)*k]
		c := 1 / l[at]
		for i := range z {
			z[i] *= c
		}
		for i := at + 1; i < end; i++ {
			bl.Daxpy(k, -l[i], z, 1, g.z[int(f.row[i])*k:], 1)
		}
	}
}

// backward solves L'z = z down to row lo, the others following by symmetry, and
// adds the rows to the sums.
func (g *group) backward(s *solver, w int) {
	f, l, bl := s.sparse, s.factorOf(w), blas64.Implementation()
	k, n := g.hi-g.lo, len(g.row)
	loss := s.lossOf(w)
	for i, r := range g.losses {
		g.loss[i] = loss[r]
	}
	row, lossy := g.row[:k], g.row[k:]
	home := g.home[:len(lossy)]
	next := len(g.reach) - 1
	for u := s.n - 1; u >= g.lo; u-- {
		at, end := f.start[u], f.start[u+1]
		z := g.z[u*k : (u+1)*k]
		if next >= 0 && g.reach[next] == u {
			next--
		} else {
			clear(z)
		}
		for i := at + 1; i < end; i++ {
			bl.Daxpy(k, -l[i], g.z[int(f.row[i])*k:], 1, z, 1)
		}
		c := 1 / l[at]
		for i := range z {
			z[i] *= c
		}
		copy(row, z)
		for i, l := range g.loss[:len(lossy)] {
			lossy[i] = l * z[home[i]]
		}
		bl.Daxpy(n, g.x[u], g.row, 1, g.inputs[u*n:], 1)
		for _, r := range g.members[u] {
			bl.Daxpy(n, g.x[u]*loss[r], g.row, 1, g.lossRows[r*n:], 1)
		}
	}
}

// write stores the sums in the upper triangle of the linking matrix.
func (g *group) write(s *solver) {
	k, n, q, size := g.hi-g.lo, len(g.row), s.link.Q.Data, s.link.Q.Stride
	inputs := s.sparse.order[g.lo:g.hi]
	for at, u := range s.sparse.order[g.lo:] {
		sum := g.inputs[(g.lo+at)*n:][:n]
		for c, v := range inputs[:min(k, at+1)] {
			q[min(u, v)*size+max(u, v)] = sum[c]
		}
		for i, r := range g.losses {
			q[u*size+s.n+r] = -sum[k+i]
		}
		for _, r := range s.members[u] {
			sum := g.lossRows[r*n : (r+1)*n]
			for c, v := range inputs {
				q[v*size+s.n+r] = -sum[c]
			}
			for i, j := range g.losses {
				q[(s.n+min(r, j))*size+s.n+max(r, j)] = sum[k+i]
			}
		}
	}
}

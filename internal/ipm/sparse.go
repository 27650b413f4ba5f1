package ipm

import (
	"cmp"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/metricdp/metricdp/internal/parallel"
)

// sharedPattern is the structure of problems whose blocks have sparse factors of one
// pattern.
type sharedPattern struct{ f *pattern }

func (l sharedPattern) open(p *point) engine {
	e := &sparseEngine{f: l.f, chol: make([]float64, p.m*len(l.f.row)), next: make([][]int32, len(p.tasks))}
	for i := range e.next {
		e.next[i] = make([]int32, p.n)
	}
	e.byColumn = newByColumn(p, e)
	return e
}

func (l sharedPattern) bytes(p *Problem, r *pairs) float64 {
	m, pairs := float64(p.Outputs), float64(r.len())
	return bytes(float64(p.Inputs), m, float64(p.losses()), m*pairs, m*float64(len(l.f.row)), 2*pairs) + float64(sparseInput*p.Inputs)
}

// sparseEngine eliminates columns with sparse factors of one pattern.
type sparseEngine struct {
	byColumn
	allRows
	f    *pattern
	chol []float64 // per column, the factor
	next [][]int32 // by task, see cholesky
}

func (e *sparseEngine) factorOf(w int) []float64 {
	k := len(e.f.row)
	return e.chol[w*k : (w+1)*k]
}

func (e *sparseEngine) factor() error {
	err := e.factorBlocks(func(t *task, w int, ridge float64) bool {
		return e.f.factor(e.rows(w), e.column(e.x, w), e.factorOf(w), ridge, t.plus, e.next[t.id])
	})
	if err == nil {
		err = e.formLink()
	}
	if err != nil {
		return err
	}
	return e.factorLink()
}

func (e *sparseEngine) solveBlock(t *task, w int, v []float64) { e.f.solve(e.factorOf(w), v, t.plus) }

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

// formLink writes the linking system but for its diagonal part t/z.
func (e *sparseEngine) formLink() error {
	ctx := e.ctx
	err := parallel.Chunks(ctx, e.n, groupInputs, e.o.Workers, nil, func(_, lo, hi int) {
		g := newGroup(e, lo, hi)
		for w := 0; w < e.m && ctx.Err() == nil; w++ {
			g.forward(e, w)
			g.backward(e, w)
		}
		g.write(e)
	})
	return cmp.Or(err, ctx.Err())
}

func newGroup(e *sparseEngine, lo, hi int) *group {
	f, g := e.f, &group{lo: lo, hi: hi, z: make([]float64, e.n*(hi-lo))}
	g.x, g.members = make([]float64, e.n), make([][]int, e.n)
	for k, u := range f.order {
		g.members[k] = e.members[u]
	}
	// A column of L^-1 reaches the rows on its way to the root.
	reached := make([]bool, e.n)
	for u := lo; u < e.n; u++ {
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
	g.inputs, g.lossRows = make([]float64, e.n*len(g.row)), make([]float64, e.nz*len(g.row))
	return g
}

// forward solves L z = diag(x) in the columns of g, at the rows it reaches.
func (g *group) forward(e *sparseEngine, w int) {
	f, l, x, bl := e.f, e.factorOf(w), e.column(e.x, w), blas64.Implementation()
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
func (g *group) backward(e *sparseEngine, w int) {
	f, l, bl := e.f, e.factorOf(w), blas64.Implementation()
	k, n := g.hi-g.lo, len(g.row)
	loss := e.lossOf(w)
	for i, r := range g.losses {
		g.loss[i] = loss[r]
	}
	row, lossy := g.row[:k], g.row[k:]
	home := g.home[:len(lossy)]
	next := len(g.reach) - 1
	for u := e.n - 1; u >= g.lo; u-- {
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
		// A row of the inverse, and the same times losses, is added with the weights of
		// its own input and of that one's loss rows.
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
func (g *group) write(e *sparseEngine) {
	k, n, q, size := g.hi-g.lo, len(g.row), e.link.Q.Data, e.link.Q.Stride
	inputs := e.f.order[g.lo:g.hi]
	for at, u := range e.f.order[g.lo:] {
		sum := g.inputs[(g.lo+at)*n:][:n]
		for c, v := range inputs[:min(k, at+1)] {
			q[min(u, v)*size+max(u, v)] = sum[c]
		}
		for i, r := range g.losses {
			q[u*size+e.n+r] = -sum[k+i]
		}
		for _, r := range e.members[u] {
			sum := g.lossRows[r*n : (r+1)*n]
			for c, v := range inputs {
				q[v*size+e.n+r] = -sum[c]
			}
			for i, j := range g.losses {
				q[(e.n+min(r, j))*size+e.n+max(r, j)] = sum[k+i]
			}
		}
	}
}

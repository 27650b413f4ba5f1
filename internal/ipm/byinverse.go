package ipm

import (
	"cmp"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/metricdp/metricdp/internal/parallel"
)

// byInverse forms the linking system from the whole inverses of the blocks. Every task
// adds up those of its columns, so that the sums do not depend on the workers.
type byInverse struct {
	byColumn
	sums []inverseSums // by task
}

// inverseSums are the sums of P, P D and D P D over the columns of a task, see package kkt.
type inverseSums struct {
	p, pd, dpd []float64
	inverse    []float64 // of one block
	// a row of it times losses, and those times the entries of the column
	lossy, weight []float64
}

// inverseSize counts the numbers in an inverseSums.
func inverseSize(n, nz float64) float64 { return 2*n*n + n*nz + nz*nz }

func newByInverse(p *point, b blocks) byInverse {
	e, n, nz := byInverse{byColumn: newByColumn(p, b), sums: make([]inverseSums, len(p.tasks))}, p.n, p.nz
	most := 0 // entries of a column
	for _, c := range p.places {
		most = max(most, len(c.inputs))
	}
	for i, t := range p.tasks {
		inverse := make([]float64, max(most*most, 2*p.all.len()))
		e.sums[i] = inverseSums{make([]float64, n*n), make([]float64, n*nz), make([]float64, nz*nz), inverse, make([]float64, nz), make([]float64, nz)}
		t.prices = inverse[:2*p.all.len()] // a proof begins when the inverses are done
	}
	return e
}

// factorInverses factors the system. block overwrites the inverse with that of the
// block of column w, in both triangles, with its diagonal grown by the ridge.
func (e *byInverse) factorInverses(block func(t *task, w int, ridge float64, inverse []float64) bool) error {
	for _, sum := range e.sums {
		if err := e.ctx.Err(); err != nil {
			return err
		}
		clear(sum.p)
		clear(sum.pd)
		clear(sum.dpd)
	}
	err := e.factorBlocks(func(t *task, w int, ridge float64) bool {
		sum := &e.sums[t.id]
		ok := block(t, w, ridge, sum.inverse)
		if ok {
			e.add(sum, t.plus, w)
		}
		return ok
	})
	if err != nil {
		return err
	}
	// The sums of all tasks, in order.
	n, nz, k, at := e.n, e.nz, e.n+e.nz, e.link.At
	q := e.link.Q.Data
	err = parallel.Chunks(e.ctx, k, groupInputs, e.o.Workers, nil, func(_, lo, hi int) { clear(q[lo*k : hi*k]) })
	if err != nil {
		return err
	}
	// Every entry has one writer.
	add := func(i int, js []int, c float64, from []float64) {
		for to, v := range from {
			if j := js[to]; v != 0 {
				q[min(i, j)*k+max(i, j)] += c * v
			}
		}
	}
	err = parallel.Chunks(e.ctx, n, groupInputs, e.o.Workers, nil, func(_, lo, hi int) {
		for u := lo; u < hi && e.ctx.Err() == nil; u++ {
			for _, sum := range e.sums {
				add(at[u], at[u:n], 1, sum.p[u*n+u:(u+1)*n])
				add(at[u], at[n:], -1, sum.pd[u*nz:(u+1)*nz])
				for _, r := range e.members[u] {
					add(at[n+r], at[n+r:], 1, sum.dpd[r*nz+r:(r+1)*nz])
				}
			}
		}
	})
	if err = cmp.Or(err, e.ctx.Err()); err != nil {
		return err
	}
	return e.factorLink()
}

// add adds P = diag(x) Z diag(x), P D and D P D, Z being the inverse for column w, whose inputs and
// loss rows are ascending. scaled is scratch.
func (e *byInverse) add(sum *inverseSums, scaled []float64, w int) {
	n, nz, x, c, loss := e.n, e.nz, e.column(e.x, w), &e.places[w], e.lossOf(w)
	k, inputs, rows := len(c.inputs), c.inputs, c.firstRows(nz)
	lossy, weight := sum.lossy[:len(rows)], sum.weight[:len(rows)]
	for j, r := range rows {
		weight[j] = loss[r] * x[c.home[j]]
	}
	if e.prob.Support == nil {
		inputs, rows = nil, nil // all
	}
	for i, u := range c.inputs {
		z, xu := sum.inverse[i*k:(i+1)*k], x[i]
		for j := i; j < k; j++ {
			scaled[j] = z[j] * x[j]
		}
		scatter(sum.p[int(u)*n:(int(u)+1)*n], inputs, i, xu, scaled[:k])
		if nz == 0 {
			continue
		}
		for j, f := range weight {
			lossy[j] = z[c.home[j]] * f
		}
		scatter(sum.pd[int(u)*nz:(int(u)+1)*nz], rows, 0, xu, lossy)
		for _, r := range e.members[u] {
			at := r
			if rows != nil {
				at, _ = slices.BinarySearch(rows, int32(r))
			}
			scatter(sum.dpd[r*nz:(r+1)*nz], rows, at, loss[r]*xu, lossy)
		}
	}
}

// scatter adds c times from, from the entry first on, to the entries of to that at names: the same
// ones where it is nil.
func scatter(to []float64, at []int32, first int, c float64, from []float64) {
	if at == nil {
		blas64.Implementation().Daxpy(len(from)-first, c, from[first:], 1, to[first:], 1)
		return
	}
	for j := first; j < len(at); j++ {
		to[at[j]] += c * from[j]
	}
}

package ipm

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/metricdp/metricdp/internal/dense"
)

// block writes the upper triangle of H_w, the block of column w in units of x.
// With f = b x[v]/s and g = a x[u]/s a forward row moves by ds/s = f xi[v] - g
// xi[u], xi = dx/x, and adds lambda s (f, -g)(f, -g)' to H_w: ratios only.
func (s *solver) block(t *task, w int) {
	n, c, x := s.n, s.view(w), s.column(s.x, w)
	h, diag := s.factorOf(w), t.plus
	clear(diag)
	for u := range n {
		row := h[u*n : (u+1)*n]
		clear(row[u:])
		xu, du := x[u], diag[u]
		for i := c.start[u]; i < c.start[u+1]; i++ {
			v := c.v[i]
			a, b, xv := c.a[i], c.b[i], x[v]
			f, g, m := b*xv*c.rf[i], a*xu*c.rf[i], c.lf[i]*c.sf[i]
			f2, g2, m2 := b*xu*c.rk[i], a*xv*c.rk[i], c.lk[i]*c.sk[i]
			mf, mg := m*f, m2*g2
			diag[v] += mf*f + mg*g2
			du += m*g*g + m2*f2*f2
			row[v] = -mf*g - mg*f2
		}
		row[u] = du
	}
}

// ridge is the first relative growth of the diagonal of an indefinite block.
const ridge = 0x1p-48

// factor overwrites the block of column w with its Cholesky factor, and adds
// its part of the linking system to t unless linkSparse will. It reports
// numbers not finite.
func (s *solver) factor(t *task, w int) bool {
	n, l := s.n, s.factorOf(w)
	for eps := 0.0; ; eps = max(100*eps, ridge) {
		ok := false
		if f := s.parts[w].f; f != nil {
			s.assembleSparse(l, w, f.diag, f.at)
			for u := range n {
				l[f.start[u]] *= 1 + eps
			}
			clear(t.plus)
			ok = f.cholesky(l, t.plus, t.next)
		} else {
			s.block(t, w)
			for u := range n {
				l[u*n+u] *= 1 + eps
			}
			_, ok = lapack64.Potrf(blas64.Symmetric{N: n, Stride: n, Uplo: blas.Upper, Data: l})
		}
		if ok {
			break
		}
		if !(eps < 1) {
			return false
		}
	}
	if s.sparse != nil {
		return true
	}
	if f := s.parts[w].f; f != nil {
		f.invert(t.inverse, t.work, l)
	} else {
		copy(t.inverse, l)
		lapack64.Potri(blas64.Triangular{N: n, Stride: n, Uplo: blas.Upper, Diag: blas.NonUnit, Data: t.inverse})
		mirror(n, t.inverse)
	}
	s.addInverse(t, w)
	return true
}

// addInverse adds P = diag(x) Z diag(x), P D and D P D to the sums of t, Z being
// the symmetric matrix in t.inverse. Rows are scaled once and added by BLAS.
func (s *solver) addInverse(t *task, w int) {
	n, nz, x, bl := s.n, s.nz, s.column(s.x, w), blas64.Implementation()
	loss, class := s.lossOf(w)[:nz], s.p.Class[:nz]
	scaled, lossy := t.plus, t.lossy // a row of Z times x, and times D x
	for u := range n {
		z := t.inverse[u*n : (u+1)*n]
		for v := u; v < n; v++ {
			scaled[v] = z[v] * x[v]
		}
		bl.Daxpy(n-u, x[u], scaled[u:], 1, t.p[u*n+u:], 1)
		if nz == 0 {
			continue
		}
		for i, l := range loss {
			c := class[i]
			lossy[i] = z[c] * (l * x[c])
		}
		bl.Daxpy(nz, x[u], lossy, 1, t.pd[u*nz:], 1)
		for _, i := range s.members[u] {
			bl.Daxpy(nz-i, loss[i]*x[u], lossy[i:], 1, t.dpd[i*nz+i:], 1)
		}
	}
}

// mirror copies the upper triangle to the lower one, by tiles that stay in the
// cache.
func mirror(n int, a []float64) {
	const tile = 16
	for lo := 0; lo < n; lo += tile {
		for to := lo; to < n; to += tile {
			for u := lo; u < min(n, lo+tile); u++ {
				for v := max(to, u+1); v < min(n, to+tile); v++ {
					a[v*n+u] = a[u*n+v]
				}
			}
		}
	}
}

// assemble factors every block and the linking system.
func (s *solver) assemble() (ok bool, err error) {
	if s.input != nil {
		return s.assembleInput()
	}
	for _, t := range s.tasks {
		if err := s.ctx.Err(); err != nil {
			return false, err
		}
		clear(t.p)
		clear(t.pd)
		clear(t.dpd)
		t.stats.failed = false
	}
	err = s.columns(func(t *task, w int) {
		if !t.stats.failed && !s.factor(t, w) {
			t.stats.failed = true
		}
	})
	for _, t := range s.tasks {
		if err != nil || t.stats.failed {
			return false, err
		}
	}
	if s.sparse == nil {
		err = s.linkTasks()
	} else {
		err = s.linkSparse()
	}
	if err != nil {
		return false, err
	}
	n, k := s.n, s.n+s.nz
	for i, t := range s.t {
		s.link.Q.Data[(n+i)*k+n+i] += t / s.z[i]
	}
	return s.link.Factor(s.ctx)
}

// linkTasks writes the sums of the tasks, all but the diagonal part t/z.
func (s *solver) linkTasks() error {
	n, nz, k := s.n, s.nz, s.n+s.nz
	q := s.link.Q.Data
	clear(q)
	for _, t := range s.tasks {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		for u := range n {
			row := q[u*k : (u+1)*k]
			for v := u; v < n; v++ {
				row[v] += t.p[u*n+v]
			}
			for i, v := range t.pd[u*nz : (u+1)*nz] {
				row[n+i] -= v
			}
		}
		for i := range nz {
			row := q[(n+i)*k+n : (n+i+1)*k]
			for j := i; j < nz; j++ {
				row[j] += t.dpd[i*nz+j]
			}
		}
	}
	return nil
}

// solveBlock returns P_w v in dst; v and dst may be the same.
func (s *solver) solveBlock(t *task, w int, dst, v []float64) {
	n := s.n
	x := s.column(s.x, w)
	for u := range dst {
		dst[u] = x[u] * v[u]
	}
	if f := s.parts[w].f; f != nil {
		f.solve(s.factorOf(w), dst, t.plus)
	} else {
		dense.Forward(n, n, s.factorOf(w), dst)
		dense.Backward(n, n, s.factorOf(w), dst)
	}
	for u := range dst {
		dst[u] *= x[u]
	}
}

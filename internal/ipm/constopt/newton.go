package constopt

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/lapack/lapack64"

	"github.com/metricdp/metricdp/internal/dense"
	"github.com/metricdp/metricdp/internal/ipm/kkt"
)

// factorBlock factors the block of output w in units of x, H = R'R, Y last, and
// leaves what it adds to the linking system: the inverse of the part of I(w) in
// units of the columns, and, in row w of F', the vector whose square is the rest.
// With R = (R_I r; 0 rho) the inverse of H is
//
//	(H_I^-1 0; 0 0) + v v',  v = (-R_I^-1 r; 1) / rho.
func (s *solver) factorBlock(w int) bool {
	b := &s.blocks[w]
	k, free := b.size(), len(b.in)
	x, h := of(s.x, b), s.chol[b.chol:][:k*k]
	ok, err := false, error(nil)
	for ridge := 0.0; !ok && ridge < 1; ridge = max(100*ridge, kkt.FirstRidge) {
		s.block(b, h)
		for a := range k {
			h[a*k+a] *= 1 + ridge
		}
		if ok, err = dense.Cholesky(s.ctx, k, h, nil); err != nil {
			return false // as outputs will
		}
	}
	if !ok {
		return false
	}
	// The vector v, in units of the columns.
	kappa, f := s.kappaOf(w), s.f[w*(s.n+s.losses):][:s.n]
	clear(f)
	if b.outside {
		rho := h[free*k+free]
		y := x[free] / rho
		for u, c := range kappa {
			f[u] = c * y
		}
		v := make([]float64, free)
		for a := range v {
			v[a] = -h[a*k+free] / rho
		}
		if free > 0 {
			blas64.Trsv(blas.NoTrans, s.triangle(b, free), vector(v))
		}
		for a, u := range b.in {
			f[u] = kappa[u] * x[a] * v[a]
		}
	}
	if free == 0 {
		return true
	}
	// The inverse of the part of I(w): T T' with T = (kappa x) R_I^-1.
	inv := s.inverse[b.inverse : b.inverse+free*free]
	t := blas64.Triangular{N: free, Stride: free, Uplo: blas.Upper, Diag: blas.NonUnit, Data: make([]float64, free*free)}
	for a := range free {
		copy(t.Data[a*free+a:(a+1)*free], h[a*k+a:])
	}
	lapack64.Trtri(t)
	for a, u := range b.in {
		c := kappa[u] * x[a]
		for i := a; i < free; i++ {
			t.Data[a*free+i] *= c
		}
	}
	for a := 0; a < free && s.ctx.Err() == nil; a++ { // outputs returns the context's error
		for c := a; c < free; c++ {
			inv[a*free+c] = floats.Dot(t.Data[a*free+c:(a+1)*free], t.Data[c*free+c:(c+1)*free])
		}
	}
	return true
}

// block writes the upper triangle of H to h.
func (s *solver) block(b *block, h []float64) {
	k, x := b.size(), of(s.x, b)
	clear(h)
	for r := b.row; r < b.end; r++ {
		g := &s.rows[r]
		p, q := int(g.from), int(g.to)
		theta := s.lambda[r] / s.s[r]
		up, down := g.beta*x[q], g.alpha*x[p]
		h[q*k+q] += theta * up * up
		h[p*k+p] += theta * down * down
		if p != q {
			h[min(p, q)*k+max(p, q)] -= theta * up * down
		}
	}
}

func vector(v []float64) blas64.Vector { return blas64.Vector{N: len(v), Inc: 1, Data: v} }

// triangle is the leading part of the factor of b.
func (s *solver) triangle(b *block, n int) blas64.Triangular {
	k := b.size()
	return blas64.Triangular{N: n, Stride: k, Uplo: blas.Upper, Diag: blas.NonUnit, Data: s.chol[b.chol : b.chol+k*k]}
}

// solveBlock overwrites v, by unknown of b, with the inverse of its block
// times v.
func (s *solver) solveBlock(b *block, v []float64) {
	x, r := of(s.x, b), s.triangle(b, b.size())
	floats.Mul(v, x)
	blas64.Trsv(blas.Trans, r, vector(v))
	blas64.Trsv(blas.NoTrans, r, vector(v))
	floats.Mul(v, x)
}

// productRows is how many rows of the linking system one product computes.
const productRows = 256

// factor factors all blocks and the linking system. The error is [kkt.ErrStalled] or
// the context's.
func (s *solver) factor() error {
	failed := make([]bool, s.m)
	size, n := s.n+s.losses, s.n
	// The blocks, and the loss rows of F'.
	err := s.outputs(func(t *task, w int) {
		failed[w] = !s.factorBlock(w)
		f := s.f[w*size:][:size]
		for i, l := range s.lossOf(w) {
			f[n+i] = -(l + s.p.Lambda) * f[s.p.Class[i]]
		}
	})
	if err == nil && slices.Contains(failed, true) {
		err = kkt.ErrStalled
	}
	if err != nil {
		return err
	}
	// F F', some rows at a time, as the upper triangle needs no more.
	q := s.link.Q.Data
	for lo := 0; lo < size; lo += productRows {
		hi := min(size, lo+productRows)
		a := blas64.General{Rows: s.m, Cols: hi - lo, Stride: size, Data: s.f[lo:]}
		b := blas64.General{Rows: s.m, Cols: size - lo, Stride: size, Data: s.f[lo:]}
		c := blas64.General{Rows: hi - lo, Cols: size - lo, Stride: size, Data: q[lo*size+lo:]}
		if err := dense.Gemm(s.ctx, blas.Trans, 1, a, b, 0, c); err != nil {
			return err
		}
	}
	// What the blocks of I(w) add, and the diagonal.
	for w := range s.blocks {
		if err := s.ctx.Err(); err != nil {
			return err
		}
		s.addInverse(w)
	}
	for u, y := range s.y {
		q[u*size+u] += s.q[u] / y
	}
	for i, z := range s.z {
		q[(n+i)*size+n+i] += s.t[i] / z
	}
	return s.link.Factor(s.ctx)
}

// addInverse adds the inverse of the part of I(w), for every pair of its inputs, to
// their row sums and loss rows.
func (s *solver) addInverse(w int) {
	b, size, q := &s.blocks[w], s.n+s.losses, s.link.Q.Data
	loss := s.lossOf(w)
	free := len(b.in)
	for a, u := range b.in {
		for c, v := range b.in[a:] {
			e := s.inverse[b.inverse+a*free+a+c]
			q[int(u)*size+int(v)] += e // u <= v, I(w) being ascending
			for _, i := range s.members[v] {
				q[int(u)*size+s.n+int(i)] -= e * (loss[i] + s.p.Lambda)
			}
			for _, i := range s.members[u] {
				li := loss[i] + s.p.Lambda
				if u != v {
					q[int(v)*size+s.n+int(i)] -= e * li
				}
				for _, j := range s.members[v] {
					if u == v && j < i {
						continue
					}
					q[(s.n+int(min(i, j)))*size+s.n+int(max(i, j))] += e * li * (loss[j] + s.p.Lambda)
				}
			}
		}
	}
}

// newton solves for the direction d towards lambda s = target as pull has it
// (pulled false: 0), y q and z t = target - cross (nil: 0). As in package ipm,
// a full step restores dual feasibility.
func (s *solver) newton(d *direction, pulled bool, target float64, cross []float64) error {
	// The blocks as if dy and dz were 0.
	err := s.outputs(func(t *task, w int) {
		b := &s.blocks[w]
		h, dx := of(s.h, b), of(d.x, b)
		s.worth(t, h, w, s.y, s.z)
		if pulled {
			s.transpose(b, s.pull, h)
		}
		copy(dx, h)
		s.solveBlock(b, dx)
	})
	if err != nil {
		return err
	}
	product := func(i int) float64 {
		if cross == nil {
			return target
		}
		return target - cross[i]
	}
	for u, y := range s.y { // q + dq and t + dt where dy and dz are 0
		d.q[u] = product(u) / y
	}
	for i, z := range s.z {
		d.t[i] = product(s.n+i) / z
	}
	clear(d.y)
	clear(d.z)
	d.k = 0
	// The multipliers that close the linking equations, and the blocks with them: from
	// the whole right-hand side, which is more exact than a sum of two.
	if _, err = s.solveLink(d, false); err != nil {
		return err
	}
	err = s.outputs(func(t *task, w int) {
		b := &s.blocks[w]
		h, dx := of(s.h, b), of(d.x, b)
		s.worth(t, dx, w, d.y, d.z)
		floats.Add(dx, h)
		s.solveBlock(b, dx)
	})
	if err != nil {
		return err
	}
	// What rounding left of them is solved for once more.
	some, err := s.solveLink(d, true)
	if err == nil && some {
		err = s.outputs(func(t *task, w int) {
			b := &s.blocks[w]
			h, dx := of(s.h, b), of(d.x, b)
			s.worth(t, h, w, s.link.Sol[:s.n], s.link.Sol[s.n:])
			s.solveBlock(b, h)
			floats.Add(dx, h)
		})
	}
	for u, y := range s.y {
		d.q[u] -= s.q[u] + s.q[u]/y*d.y[u]
	}
	for i, z := range s.z {
		d.t[i] -= s.t[i] + s.t[i]/z*d.z[i]
	}
	return err
}

// solveLink adds to dy, dz and dk what the linking equations lack, given d.x. In
// a second round it does nothing, and reports false, where little is left.
func (s *solver) solveLink(d *direction, again bool) (bool, error) {
	n, l := s.n, s.link
	if err := s.sums(d.x, l.RHS[:n], l.RHS[n:]); err != nil {
		return false, err
	}
	worst, rk := 0.0, 1.0
	for u := range n {
		l.RHS[u] = 1 - s.sum[u] - l.RHS[u] + d.q[u] - s.q[u]/s.y[u]*d.y[u]
		worst = max(worst, math.Abs(l.RHS[u]))
	}
	for i, z := range s.z {
		l.RHS[n+i] += d.t[i] - s.k + s.loss[i] - d.k - s.t[i]/z*d.z[i]
		worst = max(worst, math.Abs(l.RHS[n+i])/s.k)
		rk -= z + d.z[i]
	}
	if again && worst < kkt.SmallResidual {
		return false, nil
	}
	d.k += l.Solve(rk)
	floats.Add(d.y, l.Sol[:n])
	floats.Add(d.z, l.Sol[n:])
	return true, nil
}

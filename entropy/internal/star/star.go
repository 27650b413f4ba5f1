// Package star solves the linear program behind the lower bound by a star of
// points. Nothing trusts the solution: what it proves is computed afresh.
package star

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"
)

// program is, on some points y and some outputs z,
//
//	minimize v over q_z >= 0, p_yz with
//	sum_z q_z = 1, sum_z p_yz = 1,
//	w_y q_z <= p_yz <= q_z/w_y,
//	sum_z d_yz p_yz <= v
//
// where q is the distribution of the output of x, p_y that of y, w_y =
// e^(-alpha*rho1(x,y)). Points with w_y = 1, x among them, have p_y = q.
//
// A primal-dual interior point method solves it, from strictly feasible points.
// The outputs z meet only in the equations of the points y: eliminating them
// leaves a positive definite system in the multipliers g and c.
type program struct {
	w    []float64   // one for each point, the tied ones (w = 1) last
	free int         // points with w < 1
	d    [][]float64 // d[y][z]

	q, r    []float64   // q_z and its multiplier
	p, a, b [][]float64 // p_yz and the multipliers of its two bounds
	t, c    []float64   // slack and multiplier of the loss of y
	g       []float64   // multipliers of the sums: of p_y, and of q at the end
	v       float64
}

const (
	steps  = 40
	enough = 1e-4 // relative gap where the steps end
	shrink = 0.15 // of the target for the complementarity a step
	inside = 0.95 // of the way to the boundary
	stall  = 1e-8 // a shorter step is none
)

// Solve returns the multipliers c of the losses of the points y, and g of the
// sums of the first free ones: w[y] is e^(-alpha*rho1(x,y)), below 1 for the
// free points and 1 for the others, and d[y][z] = rho2(y,z). ok is false where
// all of d is 0, or ctx done.
func Solve(ctx context.Context, w []float64, free int, d [][]float64) (c, g []float64, ok bool) {
	s := program{w: w, free: free, d: d}
	s.start()
	for range steps {
		if ctx.Err() != nil {
			return nil, nil, false
		}
		gap, count := s.gap()
		dual := 0.0
		for _, g := range s.g {
			dual += g
		}
		if !(gap > enough*math.Abs(dual)) || !s.step(shrink*gap/float64(count)) {
			break
		}
	}
	return s.c, s.g[:s.free], s.v > 0
}

// start sets a strictly feasible point: all distributions uniform, and
// multipliers that balance with margins of the size of the distances.
func (s *program) start() {
	m, n := len(s.w), len(s.d[0])
	flat := func() [][]float64 {
		out := make([][]float64, s.free)
		for y := range out {
			out[y] = make([]float64, n)
		}
		return out
	}
	s.p, s.a, s.b = flat(), flat(), flat()
	s.q, s.r = make([]float64, n), make([]float64, n)
	s.t, s.c, s.g = make([]float64, m), make([]float64, m), make([]float64, s.free+1)
	for z := range s.q {
		s.q[z] = 1 / float64(n)
	}
	size := 0.0
	for y, row := range s.d {
		mean := 0.0
		for _, d := range row {
			mean += d / float64(n)
		}
		size = max(size, mean)
		s.t[y] = -mean
		s.c[y] = 1 / float64(m)
		if y < s.free {
			copy(s.p[y], s.q)
			s.g[y] = s.c[y] * mean
		}
	}
	s.v = 1.5 * size
	for y := range s.t {
		s.t[y] += s.v
	}
	for y, w := range s.w {
		for z, d := range s.d[y] {
			if y >= s.free {
				s.r[z] += s.c[y] * d
				continue
			}
			h := s.c[y]*d - s.g[y]
			beta := w * size / float64(m)
			s.a[y][z], s.b[y][z] = max(h, 0)+beta, max(-h, 0)+beta
			s.r[z] += w*s.a[y][z] - s.b[y][z]/w
		}
	}
	least := math.Inf(1)
	for _, r := range s.r {
		least = min(least, r)
	}
	g := &s.g[s.free]
	*g = least - size
	for z := range s.r {
		s.r[z] -= *g
	}
}

// gap returns the sum of the complementarity products and their number.
func (s *program) gap() (sum float64, count int) {
	for z, q := range s.q {
		sum += q * s.r[z]
		for y := range s.free {
			p, w := s.p[y][z], s.w[y]
			sum += s.a[y][z]*(p-w*q) + s.b[y][z]*(q/w-p)
		}
	}
	for y, t := range s.t {
		sum += t * s.c[y]
	}
	return sum, len(s.q)*(1+2*s.free) + len(s.t)
}

// step makes a Newton step towards the point where all complementarity products
// are mu. It is false where arithmetic breaks down.
func (s *program) step(mu float64) bool {
	sys := s.assemble(mu)
	theta, dv, ok := sys.solve(s.free + 1)
	return ok && s.move(mu, sys, theta, dv)
}

// system is the Newton system of a program. With the slacks l = p - wq,
// h = q/w - p and A = a/l, B = b/h, F = A+B the linearized conditions give, for
// every y and z,
//
//	dp = e dq + (dg - d dc + ma - mb)/F,  e = (wA + B/w)/F, ma = mu/l - a, mb = mu/h - b,
//
// and for every z
//
//	H dq = dg_q + sum_free e (dg - d dc) - sum_tied d dc + h0,
//	H = r/q + sum_free (1/w-w)^2 AB/F,  h0 = mu/q - r + sum_free (1/w-w)(B ma + A mb)/F.
//
// The unknowns left are theta = (dg, dg_q, dc) and dv. With u_z the
// coefficients of theta in the right side, the matrix is the sum over z of u_z
// u_z'/H, plus a 2x2 block sum_z [1, -d; -d, d^2]/F for each free y, plus t/c
// for dc, and it is bordered by dv, whose column is 1 for dc.
type system struct {
	u       *mat.Dense // rows u_z
	h, h0   []float64
	cells   [][]cell // [y][z]
	k       *mat.SymDense
	rhs     []float64
	sumRest float64 // 1 - sum c
}

type cell struct{ e, f, m float64 } // e, 1/F and (ma-mb)/F

func (s *program) assemble(mu float64) *system {
	m, n, free := len(s.w), len(s.q), s.free
	ci := free + 1 // where dc starts
	size := ci + m
	sys := &system{
		u: mat.NewDense(n, size, nil), h: make([]float64, n), h0: make([]float64, n),
		cells: make([][]cell, free), k: mat.NewSymDense(size, nil), rhs: make([]float64, size), sumRest: 1,
	}
	for z, q := range s.q {
		sys.h[z], sys.h0[z] = s.r[z]/q, mu/q-s.r[z]
		sys.u.Set(z, free, 1)
	}
	for y, w := range s.w {
		if y >= free {
			for z, d := range s.d[y] {
				sys.u.Set(z, ci+y, -d)
			}
			continue
		}
		sys.cells[y] = make([]cell, n)
		for z, d := range s.d[y] {
			l, h := s.p[y][z]-w*s.q[z], s.q[z]/w-s.p[y][z]
			a, b := s.a[y][z]/l, s.b[y][z]/h
			ma, mb := mu/l-s.a[y][z], mu/h-s.b[y][z]
			x := cell{e: (w*a + b/w) / (a + b), f: 1 / (a + b), m: (ma - mb) / (a + b)}
			sys.h[z] += (1/w - w) * (1/w - w) * a * b * x.f
			sys.h0[z] += (1/w - w) * (b*ma + a*mb) * x.f
			sys.u.Set(z, y, x.e)
			sys.u.Set(z, ci+y, -x.e*d)
			sys.cells[y][z] = x
		}
	}
	scaled := mat.NewDense(size, n, nil)
	sumQ := 0.0
	for z, h := range sys.h {
		root := 1 / math.Sqrt(h)
		for i, v := range sys.u.RawRowView(z) {
			scaled.Set(i, z, v*root)
			sys.rhs[i] -= v * sys.h0[z] / h
		}
		sumQ += s.q[z]
	}
	sys.k.SymOuterK(1, scaled)
	sys.rhs[free] += 1 - sumQ
	add := func(i, j int, v float64) { sys.k.SetSym(i, j, sys.k.At(i, j)+v) }
	for y, c := range s.c {
		dist := s.q
		if y < free {
			dist = s.p[y]
			var f0, f1, f2, sumP float64
			for z, d := range s.d[y] {
				x := sys.cells[y][z]
				f0, f1, f2 = f0+x.f, f1+d*x.f, f2+d*d*x.f
				sys.rhs[y] -= x.m
				sys.rhs[ci+y] += d * x.m
				sumP += dist[z]
			}
			add(y, y, f0)
			add(y, ci+y, -f1)
			add(ci+y, ci+y, f2)
			sys.rhs[y] += 1 - sumP
		}
		loss := 0.0
		for z, d := range s.d[y] {
			loss += d * dist[z]
		}
		add(ci+y, ci+y, s.t[y]/c)
		sys.rhs[ci+y] += mu/c - (s.v - loss)
		sys.sumRest -= c
	}
	return sys
}

// solve returns theta and dv; dc starts at ci. The unit diagonal is all the
// conditioning the matrix gets: a poor direction costs steps.
func (sys *system) solve(ci int) (theta []float64, dv float64, ok bool) {
	size := len(sys.rhs)
	scale := make([]float64, size)
	for i := range scale {
		scale[i] = 1 / math.Sqrt(sys.k.At(i, i))
	}
	border := mat.NewVecDense(size, nil)
	for i := range size {
		for j := i; j < size; j++ {
			sys.k.SetSym(i, j, sys.k.At(i, j)*scale[i]*scale[j])
		}
		sys.k.SetSym(i, i, 1+0x1p-46) // against rounding to a singular matrix
		sys.rhs[i] *= scale[i]
		if i >= ci {
			border.SetVec(i, scale[i])
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(sys.k) {
		return nil, 0, false
	}
	var xr, xb mat.VecDense
	// The errors only say that the matrix is ill-conditioned.
	_ = chol.SolveVecTo(&xr, mat.NewVecDense(size, sys.rhs))
	_ = chol.SolveVecTo(&xb, border)
	dv = (mat.Dot(border, &xr) - sys.sumRest) / mat.Dot(border, &xb)
	theta = make([]float64, size)
	for i := range theta {
		theta[i] = (xr.AtVec(i) - dv*xb.AtVec(i)) * scale[i]
	}
	return theta, dv, true
}

// move goes along the Newton direction, most of the way to where a slack or a
// multiplier would be 0.
func (s *program) move(mu float64, sys *system, theta []float64, dv float64) bool {
	m, n, free := len(s.w), len(s.q), s.free
	dc := theta[free+1:]
	primal, dual := 1.0, 1.0
	limit := func(step *float64, v, dv float64) {
		if dv < 0 {
			*step = min(*step, -inside*v/dv)
		}
	}
	dq, dr, dt := make([]float64, n), make([]float64, n), make([]float64, m)
	for z, q := range s.q {
		sum := sys.h0[z]
		for i, v := range sys.u.RawRowView(z) {
			sum += v * theta[i]
		}
		dq[z] = sum / sys.h[z]
		dr[z] = mu/q - s.r[z] - s.r[z]/q*dq[z]
		limit(&primal, q, dq[z])
		limit(&dual, s.r[z], dr[z])
	}
	dp, da, db := make([]float64, free*n), make([]float64, free*n), make([]float64, free*n)
	for y := range free {
		w := s.w[y]
		for z, x := range sys.cells[y] {
			i := y*n + z
			dp[i] = x.e*dq[z] + x.f*(theta[y]-s.d[y][z]*dc[y]) + x.m
			l, h := s.p[y][z]-w*s.q[z], s.q[z]/w-s.p[y][z]
			dl, dh := dp[i]-w*dq[z], dq[z]/w-dp[i]
			da[i] = mu/l - s.a[y][z] - s.a[y][z]/l*dl
			db[i] = mu/h - s.b[y][z] - s.b[y][z]/h*dh
			limit(&primal, l, dl)
			limit(&primal, h, dh)
			limit(&dual, s.a[y][z], da[i])
			limit(&dual, s.b[y][z], db[i])
		}
	}
	for y, c := range s.c {
		dt[y] = mu/c - s.t[y] - s.t[y]/c*dc[y]
		limit(&primal, s.t[y], dt[y])
		limit(&dual, c, dc[y])
	}
	if !(primal > stall && dual > stall) || math.IsNaN(dv) {
		return false
	}
	for z := range n {
		s.q[z] += primal * dq[z]
		s.r[z] += dual * dr[z]
	}
	for y := range free {
		for z := range n {
			i := y*n + z
			s.p[y][z] += primal * dp[i]
			s.a[y][z] += dual * da[i]
			s.b[y][z] += dual * db[i]
		}
	}
	for y := range m {
		s.t[y] += primal * dt[y]
		s.c[y] += dual * dc[y]
	}
	for i := range s.g {
		s.g[i] += dual * theta[i]
	}
	s.v += primal * dv
	return true
}

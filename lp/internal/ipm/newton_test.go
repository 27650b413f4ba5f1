package ipm

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// The block elimination against the whole Newton system, all unknowns at once.
func TestNewton_AgainstDenseSystem(t *testing.T) {
	for _, prior := range [][]float64{nil, {.2, .5, .3}} {
		p := square(3, 2)
		p.Outputs = 2 // one column fewer
		p.Loss = p.Loss[:6]
		p.Prior = prior
		s := started(t, p, 2)
		if ok, err := s.assemble(); !ok || err != nil {
			t.Fatal(ok, err)
		}
		const target = 1e-3
		for w := range s.m {
			c := s.view(w)
			for i := range c.len() {
				c.pf[i], c.pk[i] = target*c.omega[i]*c.rf[i], 2*target*c.omega[i]*c.rk[i]
			}
		}
		d := s.dir
		if err := s.newton(&d, true, target, nil); err != nil {
			t.Fatal(err)
		}

		// Unknowns dx, dlambda, dy, then dz, dk, where there is no prior.
		n, m, nz, rows := s.n, s.m, s.nz, 2*s.r.len()
		x0, l0 := 0, m*n
		y0 := l0 + m*rows
		z0 := y0 + n
		size := z0
		if nz > 0 {
			size += nz + 1
		}
		a, rhs := mat.NewDense(size, size, nil), mat.NewVecDense(size, nil)
		for w := range m {
			c, loss := s.view(w), s.lossOf(w)
			// G, row by row: forward then backward.
			g := mat.NewDense(rows, n, nil)
			for u := range n {
				for i := int(c.start[u]); i < int(c.start[u+1]); i++ {
					v := int(c.v[i])
					g.Set(i, v, c.b[i])
					g.Set(i, u, -c.a[i])
					g.Set(c.len()+i, u, c.b[i])
					g.Set(c.len()+i, v, -c.a[i])
				}
			}
			lambda, sl, pull := s.rows(s.lambda, w), s.rows(s.s, w), s.rows(s.pull, w)
			for u := range n {
				// y + dy + G'(lambda + dlambda) = D (z + dz)
				e, r := x0+w*n+u, loss[u]*s.z[u]-s.y[u]
				a.Set(e, y0+u, 1)
				for i := range rows {
					a.Set(e, l0+w*rows+i, g.At(i, u))
					r -= g.At(i, u) * lambda[i]
				}
				if nz > 0 {
					a.Set(e, z0+u, -loss[u])
				}
				rhs.SetVec(e, r)
				a.Set(y0+u, x0+w*n+u, 1) // sum of dx
				if nz > 0 {
					// z dt + t dz = target - z t, dt = dk - sum D dx + (k - loss - t)
					a.Set(z0+u, x0+w*n+u, -s.z[u]*loss[u])
				}
			}
			for i := range rows {
				// s dlambda + lambda ds = s pull - lambda s
				e := l0 + w*rows + i
				a.Set(e, e, sl[i])
				for u := range n {
					a.Set(e, x0+w*n+u, lambda[i]*g.At(i, u))
				}
				rhs.SetVec(e, sl[i]*(pull[i]-lambda[i]))
			}
		}
		for u := range n {
			rhs.SetVec(y0+u, 1-s.sum[u])
			if nz > 0 {
				a.Set(z0+u, z0+nz, s.z[u])
				a.Set(z0+u, z0+u, s.t[u])
				rhs.SetVec(z0+u, target-s.z[u]*s.t[u]-s.z[u]*(s.k-s.loss[u]-s.t[u]))
				a.Set(z0+nz, z0+u, 1)
				rhs.SetVec(z0+nz, rhs.AtVec(z0+nz)-s.z[u])
			}
		}
		if nz > 0 {
			rhs.SetVec(z0+nz, rhs.AtVec(z0+nz)+1)
		}
		var want mat.VecDense
		if err := want.SolveVec(a, rhs); err != nil {
			t.Fatal(err)
		}
		same := func(name string, got []float64, at int) {
			for i, v := range got {
				if w := want.AtVec(at + i); math.Abs(v-w) > 1e-9*(1+math.Abs(w)) {
					t.Errorf("prior %v: %s[%d] = %v, want %v", prior, name, i, v, w)
				}
			}
		}
		same("dx", d.x, x0)
		same("dy", d.y, y0)
		if nz > 0 {
			same("dz", d.z, z0)
			same("dk", []float64{d.k}, z0+nz)
		}
	}
}

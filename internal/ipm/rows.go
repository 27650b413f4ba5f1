package ipm

import "github.com/metricdp/metricdp/internal/ipm/kkt"

// The loops over the privacy rows, one column each. A pair has a forward row f
// and a backward row k. Slack steps are relative to the slack, rho = ds/s; inv
// holds 1/s.

// rows is a column's part of an array over all rows.
func (s *solver) rows(v []float64, w int) []float64 {
	c := &s.parts[w]
	return v[c.rows : c.rows+2*c.len()]
}

// columnRows views one column: l lambda, s, r = 1/s and p pull, in halves f and
// k.
type columnRows struct {
	*pairs
	lf, lk, sf, sk, rf, rk, pf, pk []float64
}

func (s *solver) view(w int) columnRows {
	r := s.parts[w].pairs
	np := r.len()
	half := func(v []float64) (f, k []float64) {
		v = s.rows(v, w)
		return v[:np], v[np:][:np]
	}
	c := columnRows{pairs: r}
	c.lf, c.lk = half(s.lambda)
	c.sf, c.sk = half(s.s)
	c.rf, c.rk = half(s.inv)
	c.pf, c.pk = half(s.pull)
	return c
}

// stats is what a task learns about a direction.
type stats struct {
	failed      bool    // a block had no factor
	least, most float64 // of rho
	dual        float64 // least dlambda/lambda
	k0, k1, k2  float64 // sums of lambda s times 1, rho, rho^2
}

// survey runs f on every column and folds what the tasks found.
func (s *solver) survey(f func(s *solver, t *task, w int)) (stats, error) {
	for _, t := range s.tasks {
		t.stats = stats{}
	}
	err := s.columns(func(t *task, w int) { f(s, t, w) })
	all := s.tasks[0].stats
	for _, t := range s.tasks[1:] {
		st := t.stats
		all.least, all.most, all.dual = min(all.least, st.least), max(all.most, st.most), min(all.dual, st.dual)
		all.k0 += st.k0
		all.k1 += st.k1
		all.k2 += st.k2
	}
	return all, err
}

// affineStats finds how far the predictor can go, for which dlambda/lambda =
// -(1 + rho), and the sums that give lambda s after any step.
func (s *solver) affineStats(t *task, w int) {
	c, dx, st := s.view(w), s.column(s.aff.x, w), t.stats
	for u := range c.n {
		du := dx[u]
		for i := c.start[u]; i < c.start[u+1]; i++ {
			a, b, dv := c.a[i], c.b[i], dx[c.v[i]]
			p, q := (b*dv-a*du)*c.rf[i], (b*du-a*dv)*c.rk[i]
			f, k := c.lf[i]*c.sf[i], c.lk[i]*c.sk[i]
			lo, hi := p, q
			if q < p {
				lo, hi = q, p
			}
			if lo < st.least {
				st.least = lo
			}
			if hi > st.most {
				st.most = hi
			}
			st.k0 += f + k
			st.k1 += f*p + k*q
			st.k2 += f*p*p + k*q*q
		}
	}
	t.stats = st
}

// correct sets pull to the target less the predictor's second order term ds
// dlambda = -lambda s rho (1 + rho), over s.
func (s *solver) correct(w int, target float64) {
	c, dx := s.view(w), s.column(s.aff.x, w)
	for u := range c.n {
		du := dx[u]
		for i := c.start[u]; i < c.start[u+1]; i++ {
			a, b, dv := c.a[i], c.b[i], dx[c.v[i]]
			p, q := (b*dv-a*du)*c.rf[i], (b*du-a*dv)*c.rk[i]
			e := target * c.omega[i]
			c.pf[i] = e*c.rf[i] + c.lf[i]*p*(1+p)
			c.pk[i] = e*c.rk[i] + c.lk[i]*q*(1+q)
		}
	}
}

// stepStats finds how far s.dir can go.
func (s *solver) stepStats(t *task, w int) {
	c, dx := s.view(w), s.column(s.dir.x, w)
	least, dual := t.stats.least, t.stats.dual
	for u := range c.n {
		du := dx[u]
		for i := c.start[u]; i < c.start[u+1]; i++ {
			a, b, dv := c.a[i], c.b[i], dx[c.v[i]]
			p, q := (b*dv-a*du)*c.rf[i], (b*du-a*dv)*c.rk[i]
			if p < least {
				least = p
			}
			if q < least {
				least = q
			}
			// The quotient is formed only where it is a new least.
			if d := c.pf[i] - c.lf[i]*(1+p); d < dual*c.lf[i] {
				dual = d / c.lf[i]
			}
			if d := c.pk[i] - c.lk[i]*(1+q); d < dual*c.lk[i] {
				dual = d / c.lk[i]
			}
		}
	}
	t.stats.least, t.stats.dual = least, dual
}

// center adds a Gondzio corrector to pull: the products lambda s that steps of
// the given lengths would bring below lift times their target are aimed at
// that. Products above their target are left alone.
func (s *solver) center(w int, target, primal, dual float64) {
	c, dx := s.view(w), s.column(s.dir.x, w)
	target *= kkt.Lift
	for u := range c.n {
		du := dx[u]
		for i := c.start[u]; i < c.start[u+1]; i++ {
			a, b, dv := c.a[i], c.b[i], dx[c.v[i]]
			p, q := (b*dv-a*du)*c.rf[i], (b*du-a*dv)*c.rk[i]
			f := c.sf[i] * (1 + primal*p) * (c.lf[i] + dual*(c.pf[i]-c.lf[i]*(1+p)))
			k := c.sk[i] * (1 + primal*q) * (c.lk[i] + dual*(c.pk[i]-c.lk[i]*(1+q)))
			e := target * c.omega[i]
			if f < e {
				c.pf[i] += (e - f) * c.rf[i]
			}
			if k < e {
				c.pk[i] += (e - k) * c.rk[i]
			}
		}
	}
}

// moveColumn takes the step in one column.
func (s *solver) moveColumn(w int, primal, dual float64) {
	c, x, dx := s.view(w), s.column(s.x, w), s.column(s.dir.x, w)
	for u, v := range dx {
		x[u] += primal * v
	}
	for u := range c.n {
		xu, du := x[u], dx[u]
		for i := c.start[u]; i < c.start[u+1]; i++ {
			a, b, xv, dv := c.a[i], c.b[i], x[c.v[i]], dx[c.v[i]]
			p, q := b*dv-a*du, b*du-a*dv
			c.lf[i] += dual * (c.pf[i] - c.lf[i]*(1+p*c.rf[i]))
			c.lk[i] += dual * (c.pk[i] - c.lk[i]*(1+q*c.rk[i]))
			c.sf[i] = kkt.Renew(b*xv-a*xu, b*xv, c.sf[i]+primal*p)
			c.sk[i] = kkt.Renew(b*xu-a*xv, b*xu, c.sk[i]+primal*q)
			c.rf[i], c.rk[i] = 1/c.sf[i], 1/c.sk[i]
		}
	}
}

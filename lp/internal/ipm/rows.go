package ipm

import "github.com/metricdp/metricdp/lp/internal/ipm/kkt"

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
		k, vs := c.of(u)
		as, bs := k.cut(c.a), k.cut(c.b)
		lf, lk := k.cut(c.lf), k.cut(c.lk)
		sf, sk := k.cut(c.sf), k.cut(c.sk)
		rf, rk := k.cut(c.rf), k.cut(c.rk)
		for i, v := range vs {
			a, b, dv := as[i], bs[i], dx[v]
			p, q := (b*dv-a*du)*rf[i], (b*du-a*dv)*rk[i]
			f, k := lf[i]*sf[i], lk[i]*sk[i]
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

// correct sets pull to the target less curvature times the predictor's second order
// term ds dlambda = -lambda s rho (1 + rho), over s.
func (s *solver) correct(w int, target float64) {
	c, dx := s.view(w), s.column(s.aff.x, w)
	for u := range c.n {
		du := dx[u]
		k, vs := c.of(u)
		as, bs, omega := k.cut(c.a), k.cut(c.b), k.cut(c.omega)
		lf, lk := k.cut(c.lf), k.cut(c.lk)
		rf, rk := k.cut(c.rf), k.cut(c.rk)
		pf, pk := k.cut(c.pf), k.cut(c.pk)
		for i, v := range vs {
			a, b, dv := as[i], bs[i], dx[v]
			p, q := (b*dv-a*du)*rf[i], (b*du-a*dv)*rk[i]
			e := target * omega[i]
			pf[i] = e*rf[i] + curvature*lf[i]*p*(1+p)
			pk[i] = e*rk[i] + curvature*lk[i]*q*(1+q)
		}
	}
}

// stepStats finds how far s.dir can go, and how far in every column.
func (s *solver) stepStats(t *task, w int) {
	c, dx := s.view(w), s.column(s.dir.x, w)
	least, dual := 0.0, t.stats.dual
	for u := range c.n {
		du := dx[u]
		k, vs := c.of(u)
		as, bs := k.cut(c.a), k.cut(c.b)
		lf, lk := k.cut(c.lf), k.cut(c.lk)
		rf, rk := k.cut(c.rf), k.cut(c.rk)
		pf, pk := k.cut(c.pf), k.cut(c.pk)
		for i, v := range vs {
			a, b, dv := as[i], bs[i], dx[v]
			p, q := (b*dv-a*du)*rf[i], (b*du-a*dv)*rk[i]
			if p < least {
				least = p
			}
			if q < least {
				least = q
			}
			// The quotient is formed only where it is a new least.
			if d := pf[i] - lf[i]*(1+p); d < dual*lf[i] {
				dual = d / lf[i]
			}
			if d := pk[i] - lk[i]*(1+q); d < dual*lk[i] {
				dual = d / lk[i]
			}
		}
	}
	s.parts[w].reach = kkt.Reach(least, nil, nil)
	t.stats.least, t.stats.dual = min(t.stats.least, least), dual
}

// center adds a Gondzio corrector to pull: the products lambda s that steps of
// the given lengths would bring below lift times their target are aimed at
// that. Products above their target are left alone.
//
// A column that ends a step well before that length moves by less: slow of its ds, with
// the same dlambda.
func (s *solver) center(w int, target, primal, dual float64) {
	c, dx := s.view(w), s.column(s.dir.x, w)
	target *= kkt.Lift
	slow := min(1, s.parts[w].reach/(damped*primal))
	for u := range c.n {
		du := dx[u]
		k, vs := c.of(u)
		as, bs, omega := k.cut(c.a), k.cut(c.b), k.cut(c.omega)
		lf, lk := k.cut(c.lf), k.cut(c.lk)
		sf, sk := k.cut(c.sf), k.cut(c.sk)
		rf, rk := k.cut(c.rf), k.cut(c.rk)
		pf, pk := k.cut(c.pf), k.cut(c.pk)
		for i, v := range vs {
			a, b, dv := as[i], bs[i], dx[v]
			p, q := (b*dv-a*du)*rf[i], (b*du-a*dv)*rk[i]
			if slow < 1 {
				pf[i] -= (1 - slow) * lf[i] * p
				pk[i] -= (1 - slow) * lk[i] * q
				p, q = slow*p, slow*q
			}
			f := sf[i] * (1 + primal*p) * (lf[i] + dual*(pf[i]-lf[i]*(1+p)))
			k := sk[i] * (1 + primal*q) * (lk[i] + dual*(pk[i]-lk[i]*(1+q)))
			e := target * omega[i]
			if f < e {
				pf[i] += (e - f) * rf[i]
			}
			if k < e {
				pk[i] += (e - k) * rk[i]
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
		k, vs := c.of(u)
		as, bs := k.cut(c.a), k.cut(c.b)
		lf, lk := k.cut(c.lf), k.cut(c.lk)
		sf, sk := k.cut(c.sf), k.cut(c.sk)
		rf, rk := k.cut(c.rf), k.cut(c.rk)
		pf, pk := k.cut(c.pf), k.cut(c.pk)
		for i, v := range vs {
			a, b, xv, dv := as[i], bs[i], x[v], dx[v]
			p, q := b*dv-a*du, b*du-a*dv
			lf[i] += dual * (pf[i] - lf[i]*(1+p*rf[i]))
			lk[i] += dual * (pk[i] - lk[i]*(1+q*rk[i]))
			sf[i] = kkt.Renew(b*xv-a*xu, b*xv, sf[i]+primal*p)
			sk[i] = kkt.Renew(b*xu-a*xv, b*xu, sk[i]+primal*q)
			rf[i], rk[i] = 1/sf[i], 1/sk[i]
		}
	}
}

package ipm

import (
	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/ipm/kkt"
)

// rows are the privacy rows of one column: l is lambda, s the slack, r = 1/s and p pull,
// for the forward row f and the backward row k of every pair. Slack steps are relative
// to the slack, rho = ds/s.
type rows struct {
	*pairs
	lf, lk, sf, sk, rf, rk, pf, pk []float64
}

// rows are those of column w.
func (p *point) rows(w int) rows {
	c := &p.parts[w]
	n := c.len()
	half := func(v []float64) (f, k []float64) { return v[c.first:][:n], v[c.first+n:][:n] }
	r := rows{pairs: c.pairs}
	r.lf, r.lk = half(p.lambda)
	r.sf, r.sk = half(p.s)
	r.rf, r.rk = half(p.inv)
	r.pf, r.pk = half(p.pull)
	return r
}

// block writes one triangle of H_w, the block of the column x in units of x, to l: the
// diagonal where diag has it, and the others at the positions of their pairs. With
// p = b x[v]/s and q = a x[u]/s a forward row moves by ds/s = p xi[v] - q xi[u], xi = dx/x,
// and adds lambda s (p, -q)(p, -q)' to H_w: ratios only.
func (c rows) block(x, l []float64, diag, at []int32) {
	for u := range c.n {
		l[diag[u]] = 0
	}
	for u := range c.n {
		xu, du := x[u], 0.0
		for i := c.start[u]; i < c.start[u+1]; i++ {
			a, b, xv := c.a[i], c.b[i], x[c.v[i]]
			p, q, m := b*xv*c.rf[i], a*xu*c.rf[i], c.lf[i]*c.sf[i]
			p2, q2, m2 := b*xu*c.rk[i], a*xv*c.rk[i], c.lk[i]*c.sk[i]
			l[diag[c.v[i]]] += m*p*p + m2*q2*q2
			du += m*q*q + m2*p2*p2
			l[at[i]] = -m*p*q - m2*p2*q2
		}
		l[diag[u]] += du
	}
}

// stats is what a task learns about a direction.
type stats struct {
	least, most float64 // of rho
	dual        float64 // least dlambda/lambda
	k0, k1, k2  float64 // sums of lambda s times 1, rho, rho^2
}

// predicted finds how far the predictor dx can go, for which dlambda/lambda =
// -(1 + rho), and the sums that give lambda s after any step.
func (c rows) predicted(dx []float64, found *stats) {
	st := *found
	for u := range c.n {
		du := dx[u]
		k, vs := c.of(u)
		as, bs, lf, lk := k.cut(c.a), k.cut(c.b), k.cut(c.lf), k.cut(c.lk)
		sf, sk, rf, rk := k.cut(c.sf), k.cut(c.sk), k.cut(c.rf), k.cut(c.rk)
		for i, v := range vs {
			a, b, dv := as[i], bs[i], dx[v]
			p, q := (b*dv-a*du)*rf[i], (b*du-a*dv)*rk[i] // rho
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
	*found = st
}

// correct sets pull to the target less curvature times the second order term of the
// predictor dx, ds dlambda = -lambda s rho (1 + rho), over s.
func (c rows) correct(dx []float64, target float64) {
	for u := range c.n {
		du := dx[u]
		k, vs := c.of(u)
		as, bs, omega := k.cut(c.a), k.cut(c.b), k.cut(c.omega)
		lf, lk, rf, rk := k.cut(c.lf), k.cut(c.lk), k.cut(c.rf), k.cut(c.rk)
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

// steps finds how far dx can go, in this column and in all.
func (c rows) steps(dx []float64, found *stats) (reach float64) {
	least, dual := 0.0, found.dual
	for u := range c.n {
		du := dx[u]
		k, vs := c.of(u)
		as, bs, lf, lk := k.cut(c.a), k.cut(c.b), k.cut(c.lf), k.cut(c.lk)
		rf, rk, pf, pk := k.cut(c.rf), k.cut(c.rk), k.cut(c.pf), k.cut(c.pk)
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
	found.least, found.dual = min(found.least, least), dual
	return kkt.Reach(least, nil, nil)
}

// center adds a Gondzio corrector to pull: the products lambda s that steps of
// the given lengths along dx would bring below the target are aimed at that.
// Products above their target are left alone. The column moves by slow of its ds, with
// the same dlambda.
func (c rows) center(dx []float64, target, primal, dual, slow float64) {
	for u := range c.n {
		du := dx[u]
		k, vs := c.of(u)
		as, bs, omega := k.cut(c.a), k.cut(c.b), k.cut(c.omega)
		lf, lk, sf, sk := k.cut(c.lf), k.cut(c.lk), k.cut(c.sf), k.cut(c.sk)
		rf, rk, pf, pk := k.cut(c.rf), k.cut(c.rk), k.cut(c.pf), k.cut(c.pk)
		for i, v := range vs {
			a, b, dv := as[i], bs[i], dx[v]
			p, q := (b*dv-a*du)*rf[i], (b*du-a*dv)*rk[i]
			if slow < 1 {
				pf[i] -= (1 - slow) * lf[i] * p
				pk[i] -= (1 - slow) * lk[i] * q
				p, q = slow*p, slow*q
			}
			// The products after both steps.
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

// move takes the steps along dx, in x too.
func (c rows) move(x, dx []float64, primal, dual float64) {
	floats.AddScaled(x, primal, dx)
	for u := range c.n {
		xu, du := x[u], dx[u]
		k, vs := c.of(u)
		as, bs, lf, lk := k.cut(c.a), k.cut(c.b), k.cut(c.lf), k.cut(c.lk)
		sf, sk, rf, rk := k.cut(c.sf), k.cut(c.sk), k.cut(c.rf), k.cut(c.rk)
		pf, pk := k.cut(c.pf), k.cut(c.pk)
		for i, v := range vs {
			a, b, xv, dv := as[i], bs[i], x[v], dx[v]
			p, q := b*dv-a*du, b*du-a*dv // ds
			lf[i] += dual * (pf[i] - lf[i]*(1+p*rf[i]))
			lk[i] += dual * (pk[i] - lk[i]*(1+q*rk[i]))
			sf[i] = kkt.Renew(b*xv-a*xu, b*xv, sf[i]+primal*p)
			sk[i] = kkt.Renew(b*xu-a*xv, b*xu, sk[i]+primal*q)
			rf[i], rk[i] = 1/sf[i], 1/sk[i]
		}
	}
}

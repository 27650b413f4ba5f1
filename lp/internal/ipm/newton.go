package ipm

import (
	"math"

	"github.com/metricdp/metricdp/lp/internal/ipm/kkt"
)

// newton solves for the direction d towards z t = target - cross and towards
// lambda s = target as pull has it: pull holds what the targets of lambda s
// are, over s, corrector terms included (pulled false: 0 throughout). With
//
//	h_w = y - D_w z + G'pull_w
//
// the dual residual needs no term of its own: dual feasibility is restored by a
// full step. cross may be nil.
func (s *solver) newton(d *direction, pulled bool, target float64, cross []float64) error {
	if s.input != nil {
		return s.newtonInput(d, pulled, target, cross)
	}
	s.clearSums()
	err := s.columns(func(t *task, w int) {
		h := s.column(s.h, w)
		s.pullOf(h, w, pulled)
		dx := s.column(d.x, w)
		s.solveBlock(t, w, dx, h)
		s.addSums(t, w, dx)
	})
	if err != nil {
		return err
	}
	for i, z := range s.z[:s.nz] {
		c := target
		if cross != nil {
			c -= cross[i]
		}
		d.t[i] = c / z // t + dt where dz is 0
	}
	clear(d.y)
	clear(d.z)
	d.k = 0
	s.solveLink(d, false)
	err = s.columns(func(t *task, w int) {
		h, dx := s.column(s.h, w), s.column(d.x, w)
		for u, dy := range d.y {
			h[u] += dy
		}
		s.weigh(h, w, d.z, -1)
		s.solveBlock(t, w, dx, h)
	})
	// What rounding left of the linking equations is solved for once more.
	if err == nil {
		s.clearSums()
		err = s.columns(func(t *task, w int) { s.addSums(t, w, s.column(d.x, w)) })
	}
	if err == nil && s.solveLink(d, true) {
		err = s.columns(func(t *task, w int) {
			h, dx := s.column(s.h, w), s.column(d.x, w)
			copy(h, s.link.Sol[:s.n])
			s.weigh(h, w, s.link.Sol[s.n:], -1)
			s.solveBlock(t, w, h, h)
			for u, c := range h {
				dx[u] += c
			}
		})
	}
	for i, z := range s.z[:s.nz] {
		d.t[i] -= s.t[i] + s.t[i]/z*d.z[i]
	}
	return err
}

// pullOf writes h_w.
func (s *solver) pullOf(h []float64, w int, pulled bool) {
	copy(h, s.y)
	s.weigh(h, w, s.z, -1)
	if pulled {
		s.parts[w].transpose(s.rows(s.pull, w), h)
	}
}

// solveLink adds to dy, dz and dk what the linking equations lack, given the
// sums of the columns: of P_w h_w at first, of dx_w once dy and dz are in them
// (columns true). It then does nothing and reports false where little is left.
func (s *solver) solveLink(d *direction, columns bool) bool {
	n, l := s.n, s.link
	s.total(l.RHS[:n], func(t *task) []float64 { return t.sum })
	worst, rk := 0.0, 0.0
	for u := range n {
		l.RHS[u] = 1 - s.sum[u] - l.RHS[u]
		worst = max(worst, math.Abs(l.RHS[u]))
	}
	if s.nz > 0 {
		s.total(l.RHS[n:], func(t *task) []float64 { return t.loss })
		rk = 1
		for i, z := range s.z {
			l.RHS[n+i] += d.t[i] - s.k + s.loss[i] - d.k - s.t[i]/z*d.z[i]
			worst = max(worst, math.Abs(l.RHS[n+i])/s.k)
			rk -= z + d.z[i]
		}
	}
	if columns && worst < kkt.SmallResidual {
		return false
	}
	d.k += l.Solve(rk)
	for u := range d.y {
		d.y[u] += l.Sol[u]
	}
	for i := range d.z {
		d.z[i] += l.Sol[n+i]
	}
	return true
}

// The parameters of a step beside those of package kkt, by experiment on 100 to 300
// points of the plane. Steps end at a few rows in a million. Those that the predictor
// moves farthest are among them: the second-order terms, which lift their products,
// count for more than they are. Correctors repair the others. They are in few columns,
// which need not move as far as all.
const (
	curvature  = 1.5
	backOff    = 0.85 // of the way to the boundary
	correctors = 12   // at most
	tries      = 2    // in a row without a better step
	damped     = 0.7  // of the step asked for: columns that go less far are damped
)

// centering is the share of the gap that a step aims at, where the predictor would
// leave the share r of it: the power 5, about Mehrotra's, which keeps clear of rows that
// are not imposed. Where all are it is 8, for a quarter fewer iterations.
func (s *solver) centering(r float64) float64 {
	if s.lazy {
		return math.Pow(max(0, r), 5)
	}
	return math.Pow(max(0, r), 8)
}

// step computes a predictor and correctors (Mehrotra 1992, Gondzio 1996) and
// moves. It reports failure where numbers stop being finite.
func (s *solver) step() (ok bool, err error) {
	if err := s.newton(&s.aff, false, 0, nil); err != nil {
		return false, err
	}
	st, err := s.survey((*solver).affineStats)
	if err != nil {
		return false, err
	}
	primal := kkt.Reach(st.least, s.t, s.aff.t)
	dual := kkt.Reach(-1-st.most, s.z[:s.nz], s.aff.z)
	gap, after := st.k0, st.k0+primal*st.k1-dual*(st.k0+st.k1)-primal*dual*(st.k1+st.k2)
	for i, t := range s.t {
		gap += t * s.z[i]
		after += (t + primal*s.aff.t[i]) * (s.z[i] + dual*s.aff.z[i])
		s.cross[i] = curvature * s.aff.t[i] * s.aff.z[i]
	}
	s.mu = gap / s.weight
	target := s.mu * s.centering(after/gap)
	if !(target < math.Inf(1)) {
		return false, nil
	}
	if err := s.columns(func(_ *task, w int) { s.correct(w, target) }); err != nil {
		return false, err
	}
	if primal, dual, err = s.aimed(target); err != nil {
		return false, err
	}
	if !(primal > 0 && dual > 0) {
		return false, nil
	}
	if s.lazy {
		if primal, err = s.reach(primal); err != nil {
			return false, err
		}
	}
	return true, s.move(backOff*primal, backOff*dual)
}

// aimed finds the direction to the targets in pull and cross, and then to those of
// correctors. It leaves the best of them in s.dir, and returns its steps.
func (s *solver) aimed(target float64) (primal, dual float64, err error) {
	if primal, dual, err = s.aim(target); err != nil {
		return 0, 0, err
	}
	s.kept.copy(&s.dir, s.pull)
	last, p, d := true, primal, dual
	for i, failed := 0, 0; i < correctors && failed <= tries; i++ {
		if p, d, err = s.corrected(target, min(1, p+kkt.Ambition), min(1, d+kkt.Ambition)); err != nil {
			return 0, 0, err
		}
		if failed++; p*d >= (1+kkt.Gain)*primal*dual {
			failed = 0
		}
		if last = p*d > primal*dual; last {
			primal, dual = p, d
			s.kept.copy(&s.dir, s.pull)
		}
	}
	if !last {
		s.dir.copy(&s.kept.direction)
		copy(s.pull, s.kept.pull)
	}
	return primal, dual, nil
}

// corrected adds a corrector for steps of the given lengths to the targets.
func (s *solver) corrected(target, primal, dual float64) (p, d float64, err error) {
	if err := s.columns(func(_ *task, w int) { s.center(w, target, primal, dual) }); err != nil {
		return 0, 0, err
	}
	for i, t := range s.t {
		v := (t + primal*s.dir.t[i]) * (s.z[i] + dual*s.dir.z[i])
		s.cross[i] -= max(0, kkt.Lift*target-v)
	}
	return s.aim(target)
}

func (s *solver) aim(target float64) (primal, dual float64, err error) {
	if err := s.newton(&s.dir, true, target, s.cross); err != nil {
		return 0, 0, err
	}
	st, err := s.survey((*solver).stepStats)
	return kkt.Reach(st.least, s.t, s.dir.t), kkt.Reach(st.dual, s.z[:s.nz], s.dir.z), err
}

func (s *solver) move(primal, dual float64) error {
	d := &s.dir
	for u, v := range d.y {
		s.y[u] += dual * v
	}
	for i, v := range d.z {
		s.z[i] += dual * v
	}
	s.k += primal * d.k
	s.clearPrices()
	err := s.columns(func(t *task, w int) {
		s.moveColumn(w, primal, dual)
		s.price(t, w)
	})
	if err == nil {
		err = s.measure()
	}
	for i := range s.t {
		s.t[i] = kkt.Renew(s.k-s.loss[i], s.k, s.t[i]+primal*d.t[i])
	}
	return err
}

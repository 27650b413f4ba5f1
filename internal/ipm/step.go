package ipm

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/ipm/kkt"
)

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

// step computes a predictor and correctors (Mehrotra 1992, Gondzio 1996) and
// moves. The error is kkt.ErrStalled where numbers stop being finite.
func (s *solver) step() error {
	target, err := s.predict()
	if err != nil {
		return err
	}
	primal, dual, err := s.aimed(target)
	if err != nil {
		return err
	}
	if !(primal > 0 && dual > 0) {
		return kkt.ErrStalled
	}
	if primal, err = s.engine.reach(&s.dir, primal); err != nil {
		return err
	}
	return s.move(backOff*primal, backOff*dual)
}

// predict solves for the predictor, the direction to a gap of 0, and returns the
// products to aim at: less of the present ones the further the predictor goes. It sets
// pull and cross to that less the predictor's second order terms.
func (s *solver) predict() (target float64, err error) {
	d := &s.predictor
	if err := s.engine.newton(d, false, 0, nil); err != nil {
		return 0, err
	}
	st, err := s.survey(func(t *task, w int) { s.rows(w).predicted(s.column(d.x, w), &t.stats) })
	if err != nil {
		return 0, err
	}
	primal := kkt.Reach(st.least, s.t, d.t)
	dual := kkt.Reach(-1-st.most, s.z[:s.nz], d.z)
	// The gap, and what the longest steps along d leave of it.
	gap, after := st.k0, st.k0+primal*st.k1-dual*(st.k0+st.k1)-primal*dual*(st.k1+st.k2)
	for i, t := range s.t {
		gap += t * s.z[i]
		after += (t + primal*d.t[i]) * (s.z[i] + dual*d.z[i])
		s.cross[i] = curvature * d.t[i] * d.z[i]
	}
	s.mu = gap / s.weight
	target = s.mu * math.Pow(max(0, after/gap), s.engine.centering())
	if !(target < math.Inf(1)) {
		return 0, kkt.ErrStalled
	}
	return target, s.columns(func(_ *task, w int) { s.rows(w).correct(s.column(d.x, w), target) })
}

// aimed finds the direction to the targets in pull and cross, and then to those of
// correctors. It leaves the best of them in s.dir, and returns its steps.
func (s *solver) aimed(target float64) (primal, dual float64, err error) {
	if primal, dual, err = s.aim(target); err != nil {
		return 0, 0, err
	}
	s.keep()
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
			s.keep()
		}
	}
	if !last {
		s.dir.copy(&s.kept)
		copy(s.pull, s.keptPull)
	}
	return primal, dual, nil
}

// keep keeps the direction and the pull that it is for.
func (s *solver) keep() {
	s.kept.copy(&s.dir)
	copy(s.keptPull, s.pull)
}

// corrected adds a corrector for steps of the given lengths to the targets.
func (s *solver) corrected(target, primal, dual float64) (p, d float64, err error) {
	err = s.columns(func(_ *task, w int) {
		// A column that ends a step well before that length moves by less.
		slow := min(1, s.parts[w].reach/(damped*primal))
		s.rows(w).center(s.column(s.dir.x, w), target*kkt.Lift, primal, dual, slow)
	})
	if err != nil {
		return 0, 0, err
	}
	for i, t := range s.t {
		v := (t + primal*s.dir.t[i]) * (s.z[i] + dual*s.dir.z[i])
		s.cross[i] -= max(0, kkt.Lift*target-v)
	}
	return s.aim(target)
}

// aim solves for s.dir, and returns the longest steps along it.
func (s *solver) aim(target float64) (primal, dual float64, err error) {
	if err := s.engine.newton(&s.dir, true, target, s.cross); err != nil {
		return 0, 0, err
	}
	st, err := s.survey(func(t *task, w int) { s.parts[w].reach = s.rows(w).steps(s.column(s.dir.x, w), &t.stats) })
	return kkt.Reach(st.least, s.t, s.dir.t), kkt.Reach(st.dual, s.z[:s.nz], s.dir.z), err
}

// move takes the steps along s.dir, and prices the columns where they are then.
func (s *solver) move(primal, dual float64) error {
	d := &s.dir
	floats.AddScaled(s.y, dual, d.y)
	floats.AddScaled(s.z[:s.nz], dual, d.z)
	s.k += primal * d.k
	s.clearPrices()
	err := s.columns(func(t *task, w int) {
		s.rows(w).move(s.column(s.x, w), s.column(d.x, w), primal, dual)
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

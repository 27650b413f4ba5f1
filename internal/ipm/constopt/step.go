package constopt

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/ipm/kkt"
)

// stats is what a task learns about a direction: the least ds/s and
// dlambda/lambda, and a sum.
type stats struct{ primal, dual, sum float64 }

// survey runs f on every row with its ds, and folds what the tasks found.
func (s *solver) survey(d *direction, f func(st *stats, r int, ds float64)) (stats, error) {
	for i := range s.tasks {
		s.tasks[i].stats = stats{}
	}
	err := s.outputs(func(t *task, w int) {
		b := &s.blocks[w]
		dx := of(d.x, b)
		for r := b.row; r < b.end; r++ {
			f(&t.stats, r, s.rows[r].slack(dx))
		}
	})
	var all stats
	for i := range s.tasks {
		st := s.tasks[i].stats
		all.primal, all.dual, all.sum = min(all.primal, st.primal), min(all.dual, st.dual), all.sum+st.sum
	}
	return all, err
}

// rise is dlambda of a row: pull - lambda (1 + ds/s).
func (s *solver) rise(r int, pull, ds float64) float64 {
	return pull - s.lambda[r]*(1+ds/s.s[r])
}

// reaches returns the largest steps along d. A NaN anywhere makes one NaN.
func (s *solver) reaches(d *direction, pulled bool) (primal, dual float64, err error) {
	st, err := s.survey(d, func(st *stats, r int, ds float64) {
		pull := 0.0
		if pulled {
			pull = s.pull[r]
		}
		st.primal = min(st.primal, ds/s.s[r])
		st.dual = min(st.dual, s.rise(r, pull, ds)/s.lambda[r])
	})
	primal = min(kkt.Reach(st.primal, s.q, d.q), kkt.Reach(0, s.t, d.t))
	dual = min(kkt.Reach(st.dual, s.y, d.y), kkt.Reach(0, s.z, d.z))
	return primal, dual, err
}

// The parameters of a step beside those of package kkt.
const (
	backOff    = 0.9 // of the way to the boundary
	correctors = 4   // at most
	spoilt     = 0.5 // a corrector that leaves less of the product of the steps is undone
)

// step computes a predictor and correctors (Mehrotra 1992, Gondzio 1996) and
// moves. The error is [kkt.ErrStalled] where numbers stop being finite, or the context's.
func (s *solver) step() error {
	if err := s.newton(&s.predictor, false, 0, nil); err != nil {
		return err
	}
	primal, dual, err := s.reaches(&s.predictor, false)
	if err != nil {
		return err
	}
	gap, err := s.products(0, 0)
	if err != nil {
		return err
	}
	after, err := s.products(primal, dual)
	if err != nil {
		return err
	}
	r := after / gap
	// Less of the gap is aimed at the further the predictor goes.
	target := max(0, gap/float64(len(s.s)+s.n+s.losses)*r*r*r)
	if !(target < math.Inf(1)) {
		return kkt.ErrStalled
	}
	if primal, dual, err = s.mehrotra(target); err != nil {
		return err
	}
	// Correctors for longer steps, as long as they help.
	for range correctors {
		p, d := min(1, primal+kkt.Ambition), min(1, dual+kkt.Ambition)
		if err := s.raise(kkt.Lift*target, p, d); err != nil {
			return err
		}
		if p, d, err = s.aim(target); err != nil {
			return err
		}
		if !(p*d >= spoilt*primal*dual) {
			if primal, dual, err = s.mehrotra(target); err != nil {
				return err
			}
			break
		}
		better := p*d >= (1+kkt.Gain)*primal*dual
		primal, dual = p, d
		if !better {
			break
		}
	}
	if !(primal > 0 && dual > 0) {
		return kkt.ErrStalled
	}
	return s.move(backOff*primal, backOff*dual)
}

// products is the sum of all products lambda s, y q and z t after steps of the
// given lengths along the predictor.
func (s *solver) products(primal, dual float64) (float64, error) {
	d := &s.predictor
	st, err := s.survey(d, func(st *stats, r int, ds float64) {
		st.sum += (s.s[r] + primal*ds) * (s.lambda[r] + dual*s.rise(r, 0, ds))
	})
	sum := st.sum
	for u, q := range s.q {
		sum += (q + primal*d.q[u]) * (s.y[u] + dual*d.y[u])
	}
	for i, t := range s.t {
		sum += (t + primal*d.t[i]) * (s.z[i] + dual*d.z[i])
	}
	return sum, err
}

// mehrotra solves for s.dir towards the target, less the predictor's second-order
// terms.
func (s *solver) mehrotra(target float64) (primal, dual float64, err error) {
	d := &s.predictor
	_, err = s.survey(d, func(_ *stats, r int, ds float64) {
		s.pull[r] = (target - ds*s.rise(r, 0, ds)) / s.s[r]
	})
	if err != nil {
		return 0, 0, err
	}
	for u := range s.q {
		s.cross[u] = d.q[u] * d.y[u]
	}
	for i := range s.t {
		s.cross[s.n+i] = d.t[i] * d.z[i]
	}
	return s.aim(target)
}

// raise aims the products that steps of the given lengths along s.dir would bring
// below the floor at that (Gondzio).
func (s *solver) raise(floor, primal, dual float64) error {
	d := &s.dir
	_, err := s.survey(d, func(_ *stats, r int, ds float64) {
		v := (s.s[r] + primal*ds) * (s.lambda[r] + dual*s.rise(r, s.pull[r], ds))
		s.pull[r] += max(0, floor-v) / s.s[r]
	})
	for u, q := range s.q {
		s.cross[u] -= max(0, floor-(q+primal*d.q[u])*(s.y[u]+dual*d.y[u]))
	}
	for i, t := range s.t {
		s.cross[s.n+i] -= max(0, floor-(t+primal*d.t[i])*(s.z[i]+dual*d.z[i]))
	}
	return err
}

func (s *solver) aim(target float64) (primal, dual float64, err error) {
	if err := s.newton(&s.dir, true, target, s.cross); err != nil {
		return 0, 0, err
	}
	return s.reaches(&s.dir, true)
}

func (s *solver) move(primal, dual float64) error {
	d := &s.dir
	floats.AddScaled(s.y, dual, d.y)
	floats.AddScaled(s.z, dual, d.z)
	s.k += primal * d.k
	err := s.outputs(func(t *task, w int) {
		b := &s.blocks[w]
		x, dx := of(s.x, b), of(d.x, b)
		floats.AddScaled(x, primal, dx)
		for r := b.row; r < b.end; r++ {
			g := &s.rows[r]
			ds := g.slack(dx)
			s.lambda[r] += dual * s.rise(r, s.pull[r], ds)
			s.s[r] = kkt.Renew(g.slack(x), g.beta*x[g.to], s.s[r]+primal*ds)
		}
	})
	if err != nil {
		return err
	}
	err = s.sums(s.x, s.sum, s.loss)
	for u, v := range s.sum {
		s.q[u] = kkt.Renew(v-1, v, s.q[u]+primal*d.q[u])
	}
	for i, l := range s.loss {
		s.t[i] = kkt.Renew(s.k-l, s.k, s.t[i]+primal*d.t[i])
	}
	return err
}

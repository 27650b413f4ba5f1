package wasserstein

import (
	"math"

	"github.com/metricdp/metricdp/internal/directed"
)

// bracket improves the bounds of r by those of today's potentials, and returns
// the gap between today's and how much of it is the repair of the plan (scaled).
func (s *sinkSolver) bracket(r *Entropic) (gap, repair float64, err error) {
	upper, repair, err := s.upper()
	if err != nil {
		return 0, 0, err
	}
	lower, err := s.lower(r)
	r.Upper = min(r.Upper, directed.DivUp(directed.DivUp(upper, s.cost), s.mass))
	return upper - lower, repair, err
}

const (
	// sinkShrink*e is taken off the plan, e bounding the relative error of its
	// sums, so that what is missing has a known size: see sinkSolver.upper.
	sinkShrink = 8
	// sinkUnderflow bounds what terms below the least normal number lose, each
	// at most 2^-1074, in sums of up to 2^62 terms that count with weights up
	// to 2^12, be it of cost or of mass.
	sinkUnderflow = 0x1p-1000
)

// upper returns a bound on the cost of a plan with the marginals asked for.
//
// Let P be the float64 numbers that plan computes, the same ones in every pass,
// and u = 2^-53. A sum of N of them, or of products with distances, has a
// relative error of at most e = (N+8)u, first-order terms with room for the
// others as long as N < 2^40. The factors keep bring rows and then columns to at
// most 1-8e of their mass as computed, at most (1-8e)(1+2e) of it in truth, which
// is below the mass. So the plan is feasible, and what it leaves, a = mu - P1 and
// b = nu - P'1, is not negative and adds up to 4e of the mass at least, as
// missing computes it. The product plan a b'/max(|a|,|b|) moves the smaller of
// the two.
func (s *sinkSolver) upper() (cost, repair float64, err error) {
	x, y := &s.side[0], &s.side[1]
	e := float64(len(x.at)+len(y.at)+8) * 0x1p-53
	for _, d := range [2]*sinkSide{x, y} {
		for k := range d.keep {
			d.keep[k] = 1
		}
	}
	for side := range s.side {
		d := &s.side[side]
		if err := s.marginal(side); err != nil {
			return 0, 0, err
		}
		for k, sum := range d.sum {
			if limit := (1 - float64(sinkShrink*e)) * d.mass[k]; sum > limit {
				d.keep[k] = limit / sum
			}
		}
	}
	if err := s.marginal(1); err != nil {
		return 0, 0, err
	}
	b := make([]float64, len(y.at))
	bLow := s.missing(y, b, e)
	moved := make([]float64, len(x.at))
	err = s.pass(0, func(k int, c []float64) {
		sum, cost := 0.0, 0.0
		for j, d := range c {
			p := s.plan(0, k, j, d)
			sum += p
			cost += float64(p * d)
		}
		x.sum[k], moved[k] = sum, cost
	})
	if err != nil {
		return 0, 0, err
	}
	a := make([]float64, len(x.at))
	most := max(s.missing(x, a, e), bLow)
	product := x.sum
	err = s.pass(0, func(k int, c []float64) {
		sum := 0.0
		for j, d := range c {
			sum += float64(b[j] * d)
		}
		product[k] = a[k] / most * sum
	})
	if err != nil {
		return 0, 0, err
	}
	for k := range moved {
		cost += moved[k]
		repair += product[k]
	}
	cost = directed.MulUp(cost+repair, 1+4*e)
	return directed.AddUp(cost, sinkUnderflow), repair, nil
}

// plan returns entry (k, j) of the rounded plan, seen from a side, where the
// points are at scaled distance d.
func (s *sinkSolver) plan(side, k, j int, d float64) float64 {
	if side == 1 {
		k, j = j, k
	}
	x, y := &s.side[0], &s.side[1]
	t := (x.pot[k] + y.pot[j] - d) / s.eps
	if t < -sinkReach { // most entries; a plan without them is as good
		return 0
	}
	return math.Exp(t) * x.keep[k] * y.keep[j]
}

// marginal sums the plan over the other side.
func (s *sinkSolver) marginal(side int) error {
	me := &s.side[side]
	return s.pass(side, func(k int, c []float64) {
		sum := 0.0
		for j, d := range c {
			sum += s.plan(side, k, j, d)
		}
		me.sum[k] = sum
	})
}

// missing writes upper bounds of mass - sum to dst and returns a lower bound of
// their total, the sums having relative error e.
func (s *sinkSolver) missing(d *sinkSide, dst []float64, e float64) float64 {
	low := 0.0
	for k, m := range d.mass {
		dst[k] = directed.SubUp(m, directed.MulDown(d.sum[k], 1-2*e))
		low = directed.AddDown(low, max(0, directed.SubDown(m, directed.MulUp(d.sum[k], 1+2*e))))
	}
	return low
}

// lower returns the scaled value of the feasible potentials that today's V
// makes, and keeps them in r where they are better.
func (s *sinkSolver) lower(r *Entropic) (float64, error) {
	x, y := &s.side[0], &s.side[1]
	u, v := make([]float64, len(x.at)), make([]float64, len(y.at))
	if err := s.pass(0, func(k int, c []float64) { u[k] = assignSlack(c, y.pot) }); err != nil {
		return 0, err
	}
	if err := s.pass(1, func(k int, c []float64) { v[k] = assignSlack(c, u) }); err != nil {
		return 0, err
	}
	var value, mu, nu assignSum
	largest := 0.0
	for _, d := range [2]struct {
		*sinkSide
		pot []float64
		sum *assignSum
	}{{x, u, &mu}, {y, v, &nu}} {
		for k, p := range d.pot {
			value.add(directed.MulDown(d.mass[k], p))
			d.sum.add(d.mass[k])
			largest = max(largest, math.Abs(p))
		}
	}
	low, _, _ := value.bounds()
	// The heavier measure keeps the difference of the masses, and any of its
	// potentials may be the one that does not count.
	muLow, _, muUp := mu.bounds()
	nuLow, _, nuUp := nu.bounds()
	spare := max(directed.SubUp(muUp, nuLow), directed.SubUp(nuUp, muLow))
	low = directed.SubDown(low, directed.AddUp(directed.MulUp(spare, largest), sinkUnderflow))
	unscaled := directed.DivDown(directed.DivDown(low, s.cost), s.mass)
	if unscaled <= r.Lower {
		return low, nil
	}
	r.Lower = unscaled
	for k, i := range x.at {
		r.U[i] = u[k] / s.cost
	}
	for k, j := range y.at {
		r.V[j] = v[k] / s.cost
	}
	return low, nil
}

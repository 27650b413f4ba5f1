package additive

import (
	"cmp"
	"context"
	"math"

	"gonum.org/v1/gonum/mathext"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/search"
	"github.com/metricdp/metricdp/metric"
)

// LevelAt returns a level at which the mechanism is (level, delta)-private for inputs up to
// reach apart: at most alpha, and in many dimensions far less. It is the least such level on
// the line, about 1 percent above it for p = 2 where it is not small, and alpha for other
// norms. It is rounded up, and assumes that gonum's distribution functions are right to a
// relative 1e-9. delta is in (0, 1), reach a number >= 0.
func (k *KNorm) LevelAt(delta, reach float64) (float64, error) {
	return k.levelAt("additive: KNorm.LevelAt", delta, reach)
}

func (k *KNorm) levelAt(op string, delta, reach float64) (float64, error) {
	if err := k.check(op); err != nil {
		return 0, err
	}
	if err := cmp.Or(fault.Fraction(op, "delta", delta), fault.NonNegative(op, "reach", reach)); err != nil {
		return 0, err
	}
	a := directed.MulUp(k.alpha, reach)
	switch {
	case reach == 0:
		return 0, nil
	case k.norm.Dim == 1:
		s := directed.AddUp(a, 2*directed.Log1pUp(-delta))
		return min(k.alpha, directed.DivUp(max(0, s), reach)), nil
	case k.norm.P != 2 || a > 1e9:
		return k.alpha, nil
	}
	loss := newPrivacyLoss(float64(k.norm.Dim), a, delta)
	private := func(s float64) bool { return loss.delta(s) <= delta }
	if private(0) {
		return 0, nil
	}
	_, s := search.Change(0, a, 1e-5, private)
	return min(k.alpha, directed.DivUp(s*(1+levelErr), reach)), nil
}

// privacyLoss is a distribution above that of the privacy loss l = alpha*(|z+r*e| - |z|)
// between two inputs r apart, z the noise of Euclidean balls and e a unit vector: for it
// delta bounds E max(0, 1 - e^(s-l)), the least delta at the level s/r.
//
// As l/r grows with r for every z (norms are convex) so does the expectation: the largest
// distance decides. On the line it is 1 - e^((a-alpha)*r/2). In more dimensions only the
// norm of z, Gamma(d) over alpha, and the cosine c of its angle to e matter, independent,
// with (1+c)/2 of the distribution Beta((d-1)/2, (d-1)/2): l falls in the norm and grows in
// c, so that the sum over the cells of a grid, each at its least norm and largest c, is an
// upper bound.
type privacyLoss struct {
	cells []lossCell // where the loss is positive
	rest  float64    // the probability of cells of hardly any, at the largest loss
}

type lossCell struct{ loss, prob float64 }

const (
	levelRadii, levelCosines = 64, 1024 // cells of the grid
	levelErr                 = 1e-9     // relative, of the distributions that gonum computes
)

// newPrivacyLoss is that of noise in d >= 2 dimensions for inputs at distance a = alpha*r.
// Cells are left out where delta does not see them.
func newPrivacyLoss(d, a, delta float64) *privacyLoss {
	l := &privacyLoss{}
	wide := min(1, 10/math.Sqrt(d))
	cosine := func(j int) float64 { // the upper end of cell j, 1 the last
		if j == levelCosines {
			return 1
		}
		return wide * (2*float64(j)/(levelCosines-1) - 1)
	}
	inCosine := make([]float64, levelCosines+1)
	before := 0.0
	for j := range inCosine {
		upTo := 1.0
		if c := cosine(j); c < 1 {
			upTo = mathext.RegIncBeta((d-1)/2, (d-1)/2, (1+c)/2)
		}
		inCosine[j], before = max(0, upTo-before), upTo
	}
	from, to := max(0, d-8*math.Sqrt(d)), d+8*math.Sqrt(d)
	low, before := 0.0, 0.0
	for i := range levelRadii + 1 {
		high, upTo := math.Inf(1), 1.0
		if i < levelRadii {
			high = from + (to-from)*float64(i)/(levelRadii-1)
			upTo = gammaProb(d, high)
		}
		p := max(0, upTo-before)
		for j, q := range inCosine {
			loss := a // at norm 0
			if c := cosine(j); low > 0 {
				loss = a * (float64(2*low*c) + a) / (math.Sqrt(float64(low*low)+float64(2*low*a*c)+float64(a*a)) + low)
			}
			if w := float64(p * q); w < 1e-12*delta {
				l.rest += w
			} else if loss > 0 {
				l.cells = append(l.cells, lossCell{min(a, loss), w})
			}
		}
		low, before = high, upTo
	}
	return l
}

// delta is at least E max(0, 1 - e^(s-l)).
func (l *privacyLoss) delta(s float64) float64 {
	sum := l.rest
	for _, c := range l.cells {
		if c.loss > s {
			sum -= float64(c.prob * math.Expm1(s-c.loss))
		}
	}
	return sum * (1 + levelErr)
}

// AlphaForLevel returns the largest alpha, to some 1e-4, at which [KNorm.LevelAt] is at most
// level: noise for those who state a level at delta. For p = 2 in many dimensions it is
// several times level, on the line a little more than level, and level for other norms.
// level and reach are numbers > 0, reach at least the largest distance of two inputs;
// delta is in (0, 1). Some 20 evaluations of LevelAt, a second in all.
func (n Norm) AlphaForLevel(level, delta, reach float64) (float64, error) {
	const op = "additive: Norm.AlphaForLevel"
	for _, err := range []error{n.check(op), checkScale(op, "level", level), checkScale(op, "reach", reach)} {
		if err != nil {
			return 0, err
		}
	}
	above := func(alpha float64) (bool, error) {
		k, err := newKNorm(op, n, alpha, nil)
		if err != nil {
			return true, err
		}
		v, err := k.levelAt(op, delta, reach)
		return v > level, err
	}
	// At alpha = level the level is no more than that.
	lo, hi := level, 2*level
	for hi < maxScale {
		up, err := above(hi)
		if err != nil {
			return 0, err
		}
		if up {
			break
		}
		lo, hi = hi, 2*hi
	}
	alpha, _, err := search.Bisect(lo, min(hi, maxScale), 1e-4, above)
	return alpha, err
}

// LevelAt returns a level at which the mechanism is (level, delta)-private: that of its noise
// ([KNorm.LevelAt]) at the largest distance of two words. The least such level may be lower;
// mechanismtest.LevelAtLeast bounds it from below, with confidence.
func (m *Madlib) LevelAt(ctx context.Context, delta float64) (float64, error) {
	const op = "additive: Madlib.LevelAt"
	if err := m.check(op); err != nil {
		return 0, err
	}
	reach, _, _, err := metric.Diameter(ctx, m.words)
	if err != nil {
		return 0, fault.Within(op, err)
	}
	return m.k.levelAt(op, delta, reach)
}

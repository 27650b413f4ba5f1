package additive

import (
	"cmp"
	"context"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/search"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// LevelAt returns a level at which the mechanism is (level, delta)-private for inputs up to reach >= 0
// apart, delta in (0, 1): at most alpha, and for p = 2 in many dimensions far less. It is the least such
// level to 1e-3 for p = 1, 2 and +Inf, rounded up, where delta is at least 1e-50; for p = 1, +Inf and
// norms between it is that on the line, nearly alpha. Some milliseconds.
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
	switch {
	case reach == 0:
		return 0, nil
	case delta < 1e-50:
		return k.alpha, nil
	}
	once, err := mechanism.NewComposition(mechanism.Repeated{Mechanism: k, Times: 1})
	if err != nil {
		return 0, fault.Within(op, err)
	}
	a, err := once.AuditAt(context.Background(), reach, delta)
	return min(k.alpha, a.Hi), err
}

// AlphaForLevel returns the largest alpha, to some 1e-4, at which [KNorm.LevelAt] is at most level: for p
// = 2 in many dimensions several times level. level and reach are numbers > 0, reach at least the largest
// distance of two inputs; delta is in (0, 1). Some 20 evaluations of LevelAt, a second in all.
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

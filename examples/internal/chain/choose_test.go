package chain

import (
	"testing"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/mechanism/exponential/kl10"
	"github.com/metricdp/metricdp/metric"
)

// TestChain_Choose: what lp.Choose takes is no worse than the mechanisms that it says it
// passed over, and its bracket holds the optimum. What is attained at a level
// entropy.LevelFor does not forbid there.
func TestChain_Choose(t *testing.T) {
	for _, s := range corpus(t, testkit.Sweep(3, 7)) {
		alpha := 5 / s.diameter()
		ch := testkit.Must(lp.Choose(t.Context(), s.Bimetric, alpha, nil))
		opt := testkit.Must(lp.Optimal(t.Context(), s.Bimetric, alpha, nil))
		loss, _ := testkit.Must(ch.Channel.Loss(t.Context(), s.Utility)).Worst()
		audit := testkit.Must(ch.Audit(t.Context(), s.Privacy, nil))
		if g := ch.Channel.Guarantee(); !(ch.LowerBound <= opt.Objective && max(opt.DualBound, ch.LowerBound, loss*(1-lossTol)) <= ch.Objective) || !(audit.Hi <= g.Alpha() && g.Alpha() <= alpha) {
			t.Errorf("%s: in [%v, %v], loss %v, Optimal in [%v, %v]; audited %v, stated %v of %v", s.name, ch.LowerBound, ch.Objective, loss, opt.DualBound, opt.Objective, audit, g, alpha)
		}
		if ch.Objective > 0 {
			if level, proof, err := entropy.LevelFor(t.Context(), s.Bimetric, ch.Objective, nil); !(level < alpha) || err != nil {
				t.Errorf("%s: a loss of %v, attained at %v, needs more than %v by %v (%v)", s.name, ch.Objective, alpha, level, proof, err)
			}
		}
		for _, c := range ch.Candidates {
			if c.Err == nil && !(ch.Objective <= c.Loss && c.Level <= alpha && opt.DualBound <= c.Loss) {
				t.Errorf("%s: took %s of loss %v, passed over %+v", s.name, ch.Method, ch.Objective, c)
			}
		}
	}
}

// TestChain_MostPrivate: the mechanism of KL10 is the other way round, a small level for a
// utility. Its level is no more than the formula's, and at that level it cannot beat the
// optimum.
func TestChain_MostPrivate(t *testing.T) {
	for _, s := range corpus(t, testkit.Sweep(10, 30)) {
		diameter, _, _, _ := metric.Diameter(t.Context(), s.Utility)
		if least, _, _, _ := metric.NewIndex(s.Privacy).MinDistance(t.Context()); least == 0 && !s.OneMetric() || diameter == 0 {
			continue // no finite level, or no loss
		}
		for _, gamma := range []float64{0.1, 0.4} {
			target := kl10.Target{Gamma: gamma * diameter, Delta: 0.05}
			m := testkit.Must(kl10.MostPrivate(t.Context(), s.Bimetric, nil, target, nil))
			level := m.Guarantee().Alpha()
			misses, _, err := kl10.Misses(t.Context(), m.Channel, s.Utility, target.Gamma)
			if err != nil || !(m.Audited.Hi <= level && level <= m.FormulaLevel && misses <= m.Miss && m.Miss <= target.Delta) {
				t.Errorf("%s, %+v: level %v, audited %v, formula %v; misses %v, stated %v (%v)", s.name, target, level, m.Audited, m.FormulaLevel, misses, m.Miss, err)
			}
			if level == 0 {
				continue
			}
			loss, _ := testkit.Must(m.Loss(t.Context(), s.Utility)).Worst()
			opt := testkit.Must(lp.Optimal(t.Context(), s.Bimetric, level, nil))
			if most := target.Gamma + m.Miss*diameter; !(loss >= opt.DualBound*(1-lossTol) && loss*(1-lossTol) <= most) {
				t.Errorf("%s, %+v: loses %v at level %v, where the least is %v, and misses so seldom that it is at most %v", s.name, target, loss, level, opt.DualBound, most)
			}
		}
	}
}

package accountant

import (
	"math"
	"math/big"
	"testing"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// shuffleNear reports got outside want*[1-1e-6, 1+1e-6].
func shuffleNear(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got/want-1) > 1e-6 || math.IsNaN(got) {
		t.Errorf("%s = %.12g, want %.12g", what, got, want)
	}
}

func TestMovedDelta_KnownAnswers(t *testing.T) {
	for _, c := range []struct {
		records                       int64
		alpha0, d, eps, dominated, mr float64
	}{
		{1000, 1, 0.1, 0.01, 5.49836513e-5, 4.73624726e-5},
		{1e6, 4, 0.01, 5e-4, 5.51332313e-06, 5.23958767e-06},
	} {
		for clones, want := range map[Clones]float64{Dominated: c.dominated, MetricRandomizer: c.mr} {
			// A diameter of 4 changes nothing but the unit.
			for _, unit := range []float64{1, 4} {
				got := testkit.Must(ask{Records: c.records, Alpha0: c.alpha0 / unit, Diameter: unit, Clones: clones}.item(c.d*unit, c.eps))
				shuffleNear(t, clones.String(), got, want)
			}
		}
	}
}

// Against the formula in 300 bits, up to next to pure composition, where tau is
// next to 1 and what is left of its rounding is 1-tau's.
func TestMovedDelta_IsNotBelowTheFormula(t *testing.T) {
	testkit.Rounding(t)
	r := random.Seeded(41)
	f := wide
	exp := func(x *big.Float) *big.Float { v, _ := exact.ExpBounds(x, 300); return v }
	tanhHalf := func(e *big.Float) *big.Float { return f(0).Quo(f(0).Sub(e, f(1)), f(0).Add(e, f(1))) }
	for range 300 {
		s := ask{Records: 1 + r.Int64N(6), Alpha0: math.Exp(3*r.Float64() - 2), Diameter: 1}
		d := 1.0
		if r.IntN(2) == 0 {
			d = r.Float64()
		}
		eps := s.Alpha0 * d * (1 - math.Pow(10, -8*r.Float64()))
		if eps < minUnit {
			continue
		}
		e, ed := exp(f(eps)), exp(f(0).Mul(f(s.Alpha0), f(d)))
		th := tanhHalf(ed)
		want := bigPsi(cloneCount{s.Records - 1, Dominated.probability(s.Alpha0, d)}, f(0).Quo(tanhHalf(e), th))
		want.Mul(want, th).Mul(want, e.Add(e, f(1)))
		got, err := s.item(d, eps)
		if err != nil || f(got).Cmp(want) < 0 {
			t.Errorf("%+v by %v at eps = %v: %v is below %v, %v", s, d, eps, got, want, err)
		}
		if d < 1 {
			continue
		}
		s.Items, s.Alpha = 1, eps
		if all, err := s.delta(); err != nil || f(all.Value).Cmp(want) < 0 {
			t.Errorf("%+v: %v is below %v, %v", s, all, want, err)
		}
	}
}

// The supremum is above f on a fine grid, and no higher than its tolerance
// allows; so is the bound of every cell, however wide.
func TestJoint_SupremumBoundsTheGrid(t *testing.T) {
	for _, c := range []struct {
		b     joint
		alpha float64
	}{
		{joint{alpha0: 0.1, items: 1000, others: 999}, 30},
		{joint{alpha0: 2, items: 100, others: 1e6}, 2.6},
		{joint{alpha0: 3, items: 1000, others: 1e7}, 40},
		{joint{alpha0: 4, items: 1, others: 1e5}, 0.3},
		{joint{alpha0: 4, items: 1, others: 1e5, clones: MetricRandomizer}, 0.3},
		{joint{alpha0: 4, items: 7, others: 1e5, clones: MetricRandomizer, near: 0.5}, 1},
		{joint{alpha0: 6, items: 5, others: 1e4}, 25},
		// Next to pure composition Chernoff's bound is tight, and the clones of
		// a longer change hide it better than its length shows.
		{joint{alpha0: 2, items: 1, others: 1000, clones: MetricRandomizer}, 1.999},
		{joint{alpha0: 2, items: 1, others: 100, clones: MetricRandomizer}, 1.99},
	} {
		top := testkit.Must(c.b.sup(bg, c.alpha, nil, func(best, bound float64) bool { return false }))
		s := &supremum{joint: c.b, alpha: c.alpha, best: math.Inf(-1)}
		const n = 400
		var pts []*point
		for i := range n + 1 {
			if w := float64(i) / n; w >= c.b.leastMean() {
				p := s.at(w)
				s.know(p)
				pts = append(pts, p)
			}
		}
		at := pts[0].w // near the highest, closer
		for _, p := range pts {
			if p.gain+p.psi >= s.best {
				at = p.w
			}
		}
		for i := range 401 {
			if w := at + float64(i-200)/200/n; w >= c.b.leastMean() && w > 0 && w <= 1 {
				s.know(s.at(w))
			}
		}
		if !(top >= s.best) || top > s.best+0.01 {
			t.Errorf("%+v: supremum %g, on the grid %g", c.b, top, s.best)
		}
		for i := range pts {
			for j := i + 1; j < len(pts); j += 1 + len(pts)/7 {
				inside := math.Inf(-1)
				for k := i; k <= j; k++ {
					inside = max(inside, pts[k].gain+pts[k].psi)
				}
				s.cells = nil
				s.push(pts[i], pts[j], math.Inf(1))
				coarse := s.cells[0].bound
				s.refine(&s.cells[0])
				if coarse < inside || s.cells[0].bound < inside {
					t.Fatalf("%+v on [%g, %g]: bounds %g and %g, f reaches %g", c.b, pts[i].w, pts[j].w, coarse, s.cells[0].bound, inside)
				}
			}
		}
	}
}

func TestShuffleLevel_KnownAnswers(t *testing.T) {
	for _, c := range []struct {
		records, items       int64
		alpha0, delta, alpha float64
	}{
		{1000, 1000, 0.1, 1e-6, 27.105633},
		{1e4, 10, 1, 1e-6, 0.634122493},
		{1e6, 100, 4, 1e-8, 15.5543478},
	} {
		s := ask{Records: c.records, Items: c.items, Alpha0: c.alpha0, Delta: c.delta, Diameter: 1}
		got := testkit.Must(s.level())
		shuffleNear(t, "alpha", got.Value, c.alpha)
		if got.Theorem != Joint {
			t.Errorf("by the %v", got.Theorem)
		}
		// In units of half the diameter twice the number.
		s.Diameter, s.Alpha0 = 0.5, 2*s.Alpha0
		shuffleNear(t, "alpha at half the diameter", testkit.Must(s.level()).Value, 2*c.alpha)
	}
}

func TestShuffleBudget_KnownAnswers(t *testing.T) {
	for _, c := range []struct {
		records int64
		alpha0  float64
	}{
		{1000, 0.0807165720},
		{1e8, 4.29937},
	} {
		s := ask{Records: c.records, Items: 1000, Alpha: 25, Delta: 1e-12, Diameter: 1}
		got := testkit.Must(s.budget())
		shuffleNear(t, "alpha0", got.Value, c.alpha0)
		s.Delta = 0
		if got, err := s.budget(); err != nil || got.Theorem != PureComposition || got.Value > 0.025 || got.Value < 0.025*(1-1e-15) {
			t.Errorf("delta 0: %v, %v", got, err)
		}
	}
}

package accountant

import (
	"math"
	"math/big"
	"testing"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// What the bounds are computed for is no more private than what was asked:
// levels of the channel up, all else down.
func TestShuffle_UnitIsRoundedOutward(t *testing.T) {
	testkit.Rounding(t)
	r := random.Seeded(21)
	for range 500 {
		s := ask{
			Records: 100 + r.Int64N(1e6), Items: 1 + r.Int64N(50), Alpha0: 1 + r.Float64(), Alpha: 1 + r.Float64(),
			Diameter: 0.1 + 10*r.Float64(), Clones: MetricRandomizer,
		}
		s.MinDistance = s.Diameter * r.Float64()
		b := s.joint(t)
		alpha := testkit.Must(b.alpha("", "", s.Alpha))
		d, least := testkit.Ratio(s.Diameter), testkit.Ratio(s.MinDistance)
		over := new(big.Rat).Quo(least, d)
		items := new(big.Rat).SetInt64(s.Items)
		for _, c := range []struct {
			what string
			got  float64
			side int
			want *big.Rat
		}{
			{"Alpha0", b.alpha0, 1, new(big.Rat).Mul(testkit.Ratio(s.Alpha0), d)},
			{"Alpha", alpha, -1, new(big.Rat).Mul(testkit.Ratio(s.Alpha), d)},
			{"the nearest item", b.near, -1, over},
			{"the least w", b.leastMean(), -1, new(big.Rat).Quo(over, items)},
			{"pure composition", s.shuffle().pure(), 1, new(big.Rat).Mul(items, testkit.Ratio(s.Alpha0))},
		} {
			if testkit.Ratio(c.got).Cmp(c.want) == -c.side {
				t.Fatalf("%+v: %s = %v is on the wrong side of %v", s, c.what, c.got, c.want)
			}
		}
		moved := b.near // some of several items may move no farther
		if s.Items == 1 {
			moved = 1
		}
		if b.coverAt(1).p != s.Clones.probability(b.alpha0, moved) {
			t.Fatalf("%+v: the clones are those of another distance", s)
		}
	}
}

// So is the level, which is divided by the diameter again. (The budget has
// rootTol to spare.)
func TestShuffleLevel_IsRoundedUp(t *testing.T) {
	testkit.Rounding(t)
	r := random.Seeded(22)
	for range 20 {
		s := ask{Records: 300, Items: 3, Alpha0: 0.3 + 0.1*r.Float64(), Delta: 1e-4, Diameter: 1 + r.Float64()}
		d := testkit.Ratio(s.Diameter)
		u := s.joint(t)
		a, err := s.level()
		if err != nil || a.Theorem != Joint {
			t.Fatal(a, err)
		}
		unit := testkit.Ratio(testkit.Must(u.level(bg, directed.LogDown(s.Delta), u.pure())))
		if v := testkit.Ratio(a.Value); v.Mul(v, d).Cmp(unit) < 0 {
			t.Errorf("%+v: level %v is below that of diameter 1", s, a)
		}
	}
}

// The three answers of pure composition, to the last bit.
func TestShuffle_PureCompositionAgrees(t *testing.T) {
	r := random.Seeded(23)
	for range 2000 {
		m := 1 + r.Int64N(60)
		s := ask{Records: m, Items: m, Alpha: 3 * r.Float64(), Diameter: 0.1 + 5*r.Float64()}
		b, err := s.budget()
		if err != nil || b.Theorem != PureComposition {
			t.Fatal(b, err)
		}
		q := s
		q.Alpha, q.Alpha0 = 0, b.Value
		a, err := q.level()
		if err != nil || a.Theorem != PureComposition || a.Value > s.Alpha {
			t.Errorf("%+v: budget %v has the level %v, %v", s, b, a, err)
		}
		q.Alpha = a.Value
		if d, err := q.delta(); err != nil || d != (Bound{0, PureComposition}) {
			t.Errorf("%+v: level %v has the delta %v, %v", s, a, d, err)
		}
	}
}

func TestClones_ProbabilityIsRoundedDown(t *testing.T) {
	testkit.Rounding(t)
	r := random.Seeded(24)
	exp := func(x *big.Float) (lo, hi *big.Float) { return exact.ExpBounds(x, 200) }
	for range 2000 {
		a, d := math.Exp(8*r.Float64()-2), r.Float64()
		lo, _ := exp(big.NewFloat(-a))
		if p := big.NewFloat(Dominated.probability(a, d)); p.Cmp(lo) > 0 {
			t.Errorf("alpha0=%v: p = %v is above e^-alpha0", a, p)
		}
		_, hi := exp(wide(0).Mul(wide(-a), wide(d)))
		if p := wide(MetricRandomizer.probability(a, d)); p.Mul(p, hi.Add(hi, big.NewFloat(1))).Cmp(lo.Add(lo, lo)) > 0 {
			t.Errorf("alpha0=%v d=%v: p(d) is above 2e^-alpha0/(1+e^(-alpha0 d))", a, d)
		}
	}
}

// Distances that are nothing beside the diameter, down to where their products with the levels are
// subnormal.
func TestShuffle_TinyDistances(t *testing.T) {
	for _, tiny := range []float64{1e-120, 1e-310, 5e-324} {
		for _, alpha0 := range []float64{1e-100, 1, 300} {
			s := ask{Records: 5, Alpha0: alpha0, Diameter: 1}
			if d, bound := testkit.Must(s.item(tiny, 0)), testkit.Must(s.item(minUnit, 0)); !(d > 0 && d <= bound) {
				t.Errorf("alpha0=%g, one item by %g: %g; by %g %g", alpha0, tiny, d, minUnit, bound)
			}
			for _, s := range []ask{{Items: 10}, {Items: 1}, {Items: 1, Clones: MetricRandomizer}} {
				s.Records, s.Alpha0, s.Diameter, s.Alpha = 100, alpha0, 1, max(1e-100, alpha0*float64(s.Items)/3)
				none := testkit.Must(s.delta())
				s.MinDistance = tiny
				if d := testkit.Must(s.delta()); d != none {
					t.Errorf("%+v: %v, with no least distance %v", s, d, none)
				}
			}
		}
	}
}

// Pure composition of a change is rounded up, here where the rounded product is below.
func TestMovedLevel_PureCompositionIsRoundedUp(t *testing.T) {
	for i := range 50 {
		s, v := Shuffle{Records: 100, Items: 1, Alpha0: 1 / float64(i+3), Diameter: 1}, Moved{10, 1 / float64(i+1)}
		exact := testkit.Ratio(s.Alpha0)
		if got := testkit.Must(s.MovedLevel(bg, v, 0)).Value; testkit.Ratio(got).Cmp(exact.Mul(exact, testkit.Ratio(v.Distance))) < 0 {
			t.Errorf("%+v, %+v: %v is below the product", s, v, got)
		}
	}
}

// A chord is above its values where their sum rounds down, and where the share, rounded up, is near 1.
func TestChord_RoundsUp(t *testing.T) {
	x, none := .6*0x1p-43, math.Inf(-1) // 0.6 units in the last place of 700
	if got := chord(-700, none, x) + 700; got < -x {
		t.Errorf("%g, want %g at least", got, -x)
	}
	if got := chord(0, none, 1-0x1p-46+0x1p-50); got < -46*math.Ln2 {
		t.Errorf("%g, want ln 2^-46 at least", got)
	}
}

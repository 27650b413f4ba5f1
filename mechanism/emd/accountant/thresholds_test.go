package accountant

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// beyond are releases whose f grows again with alpha: the channel's level is
// high.
var beyond = []ask{
	{Records: 4e5, Items: 20, Alpha0: 7.53, Diameter: 1},
	{Records: 4e5, Items: 20, Alpha0: 7.7, Diameter: 1},
	{Records: 1000, Items: 5, Alpha0: 3, Diameter: 1},
	{Records: 1258, Items: 2, Alpha0: 4.66, Diameter: 1},
	{Records: 24107, Items: 4, Alpha0: 6.2, Diameter: 1},
	{Records: 8275, Items: 10, Alpha0: 4.43, Clones: MetricRandomizer, MinDistance: 0.25, Diameter: 1},
	{Records: 119797, Items: 13, Alpha0: 5.76, Diameter: 1},
	{Records: 121, Items: 2, Alpha0: 3.71, Diameter: 2},
	{Records: 10, Items: 2, Alpha0: 2, Diameter: 1}, // rises first
	{Records: 9, Items: 2, Alpha0: 1.88, Diameter: 1},
}

// drawShuffle draws a release of up to e^logN records.
func drawShuffle(r *rand.Rand, logN float64) ask {
	n := math.Floor(math.Exp(r.Float64()*logN)) + 2
	m := max(2, math.Floor(math.Pow(n, r.Float64())))
	return ask{Records: int64(n), Items: int64(m), Alpha0: math.Exp(r.Float64()*3 - 1), Diameter: 1}
}

func TestShuffleDelta_NeverGrowsWithAlpha(t *testing.T) {
	r := random.Seeded(11)
	cases := append([]ask{}, beyond...)
	for range testkit.Sweep(8, 60) {
		cases = append(cases, drawShuffle(r, 5+float64(r.IntN(2))*6))
	}
	for i, s := range cases {
		const steps = 60
		last, before := 1.0, 0.0
		for k := 1; k <= steps; k++ {
			s.Alpha = float64(s.Items) * s.Alpha0 * float64(k) / (steps + 1)
			d := testkit.Must(s.delta())
			// 1e-6 is what the doc grants each of the two.
			if d.Value > last*(1+2e-6) {
				t.Errorf("%d: %+v: delta is %g, at alpha %g it was %g", i, s, d.Value, before, last)
			}
			if last, before = d.Value, s.Alpha; last < 1e-250 {
				break
			}
		}
	}
}

// The level of a delta has that delta and a little less has not; the budget of
// a level has that level and a little more has not.
func TestShuffle_AnswersAgree(t *testing.T) {
	r := random.Seeded(12)
	cases := append([]ask{
		{Records: 1e6, Items: 1, Alpha0: 2, Diameter: 1},
		{Records: 1e5, Items: 1, Alpha0: 3, Clones: MetricRandomizer, Diameter: 1},
	}, beyond...)
	for range 40 {
		cases = append(cases, drawShuffle(r, 12))
	}
	for _, s := range cases[:testkit.Sweep(len(cases)/8, len(cases))] {
		s.Delta = math.Pow(10, -1-12*r.Float64())
		off, tol := 1e-7, 1e-6
		if s.joint(t).varies() {
			off, tol = 3e-4, 1e-3
		}
		level := func(alpha0 float64) float64 {
			q := s
			q.Alpha0 = alpha0
			return testkit.Must(q.level()).Value
		}
		delta := func(alpha float64) float64 {
			q := s
			q.Alpha, q.Delta = alpha, 0
			return testkit.Must(q.delta()).Value
		}
		a := level(s.Alpha0)
		if at, below := delta(a), delta(a*(1-off)); at > s.Delta*(1+tol) || below < s.Delta {
			t.Errorf("%+v: level %g has delta %g, below it %g", s, a, at, below)
		}
		q := s
		q.Alpha, q.Alpha0 = float64(s.Items)*s.Alpha0*r.Float64(), 0
		b := testkit.Must(q.budget())
		if at, above := level(b.Value), level(b.Value*(1+off)); at > q.Alpha || above < q.Alpha {
			t.Errorf("%+v: budget %v has level %g, above it %g", q, b, at, above)
		}
	}
}

// No level of a budget is above what was asked for, though each ends above the least.
func TestShuffle_LevelOfABudgetIsNoMore(t *testing.T) {
	for k := range 12 {
		s := ask{Records: 1000, Items: 5, Delta: 1e-5, Alpha: 5 + 1/float64(k+3), Diameter: 1}
		b := testkit.Must(s.budget())
		s.Alpha0 = b.Value
		if a := testkit.Must(s.level()).Value; a > s.Alpha {
			t.Errorf("budget %v has level %v, above %v", b, a, s.Alpha)
		}
	}
}

// A user found these: f alone gives deltas of 9e-7 and 1 at levels 98.43 and
// 120, where 80 has less than 1e-12, the level 154 and the budget 7.531.
func TestShuffle_BeyondTheLeastF(t *testing.T) {
	s := ask{Records: 4e5, Items: 20, Alpha0: 7.53, Diameter: 1}
	for _, s.Alpha = range []float64{80, 98.43, 120, 150} {
		if d, err := s.delta(); err != nil || d.Value > 4e-13 || d.Value < 1e-15 {
			t.Errorf("delta(%g) = %v, %v", s.Alpha, d, err)
		}
	}
	s = ask{Records: 4e5, Items: 20, Alpha0: 7.7, Delta: 1e-6, Diameter: 1}
	if a, err := s.level(); err != nil || a.Theorem != Joint || math.Abs(a.Value-64.0354721) > 1e-5 {
		t.Errorf("level %v, %v", a, err)
	}
	// From some level on the budget stays: the least G is 1e-6 there.
	s.Alpha0 = 0
	for _, s.Alpha = range []float64{98.43, 140} {
		if b, err := s.budget(); err != nil || b.Theorem != Joint || math.Abs(b.Value-7.81836986) > 1e-7 {
			t.Errorf("budget(%g) = %v, %v", s.Alpha, b, err)
		}
	}
}

// The level of a change is no less for more items or a longer way, and divided by the earth mover's
// distance no more than that of all changes, which some change nearly reaches.
func TestMovedLevel_Ordered(t *testing.T) {
	r := random.Seeded(15)
	for i, s := range []ask{
		{Records: 1e6, Items: 10, Alpha0: 1, Diameter: 1}, {Records: 1e6, Items: 100, Alpha0: 2, Diameter: 1},
		{Records: 1e5, Items: 30, Alpha0: 0.3, Diameter: 1}, {Records: 24107, Items: 4, Alpha0: 6.2, Diameter: 1},
		{Records: 8275, Items: 10, Alpha0: 4.43, Clones: MetricRandomizer, MinDistance: 0.25, Diameter: 1}, {Records: 1000, Items: 5, Alpha0: 3, Diameter: 1},
	} {
		delta := math.Pow(10, -3-9*r.Float64())
		if i < 3 && testkit.Sweep(0, 1) == 0 { // what others do counts: half a second a question
			continue
		}
		level := func(k int64, d float64) float64 {
			return testkit.Must(s.shuffle().MovedLevel(bg, Moved{k, d}, delta)).Value
		}
		s.Delta = delta
		all, most := testkit.Must(s.level()).Value, 0.0
		for _, w := range []float64{1, 0.01, 0.3, 0.13} {
			k, half := s.Items, (s.Items+1)/2
			e, few := level(k, w*float64(k)), level(half, w*float64(half))
			most = max(most, e/w)
			near, more := level(k, 0.7*w*float64(k)), level(k, w*float64(half))
			if few > e*(1+1e-6) || near > e*(1+1e-6) || more < few*(1-1e-6) {
				t.Errorf("%+v, w=%g: %g; half of the items %g, a shorter way %g, as far by more items %g", s, w, e, few, near, more)
			}
		}
		if most > all*(1+1e-6) || most < all*(1-1e-2) {
			t.Errorf("%+v: the level of all changes is %g, of these %g", s, all, most)
		}
	}
}

// From the probabilities no change shows more than from their level alone, and none more per
// unit of d_EM than the level of all changes, which the largest nearly reaches.
func TestRandomizerMoved_Ordered(t *testing.T) {
	const n, m, delta = 500, 4, 1e-6
	for name, s := range map[string]Shuffle{
		"one distance": clustered(t, 3, 1, 1, 1, users{n, m}), "two distances": clustered(t, 2, 2, 0.3, 2, users{n, m}),
	} {
		all, most := testkit.Must(s.Level(bg, delta)).Value, 0.0
		for _, v := range []Moved{{m, m}, {m, 3.3}, {m, 1.2}, {m, 1}, {2, 1.3}, {1, 1}, {1, 0.3}, {3, 0.2}} {
			e, loose := testkit.Must(s.MovedLevel(bg, v, delta)).Value, testkit.Must(s.byRows().alone.MovedLevel(bg, v, delta)).Value
			if most = max(most, e/v.Distance*m); e > loose {
				t.Errorf("%s, %+v: %g, by the level %g", name, v, e, loose)
			}
			d := testkit.Must(s.MovedDelta(bg, v, e)).Value
			if !(d <= delta*(1+1e-3)) || v.Distance >= 1 && d < delta*0.9 {
				t.Errorf("%s, %+v: level %g has delta %g", name, v, e, d)
			}
		}
		if most > all*1.02 || most < all*0.95 {
			t.Errorf("%s: the level of all changes is %g, of these %g", name, all, most)
		}
	}
}

func TestJoint_GainIsThatOfTauW(t *testing.T) {
	r := random.Seeded(13)
	for range 1000 {
		b := joint{alpha0: math.Exp(r.Float64()*6 - 4), items: 1 + float64(r.IntN(50))}
		w, alpha := r.Float64(), r.Float64()*b.items*min(b.alpha0, 20)
		tau := math.Tanh(alpha*w/2/b.items) / math.Tanh(b.alpha0*w/2)
		// tau is rounded, and dE/dtau is up to 2m/(1-tau t).
		e := alpha * w
		slack := 2 * b.items * 0x1p-50 * (1 + math.Exp(e/b.items))
		got := b.gain(tau, w)
		if lo, hi := logExpm1(max(0, e-slack)), logExpm1((e+slack)*(1+0x1p-40))+1e-11*(1+e); !(got >= lo && got <= hi) {
			t.Errorf("%+v w=%g alpha=%g: %.17g, not in [%.17g, %.17g]", b, w, alpha, got, lo, hi)
		}
		// Its limit at 0, and growth with w.
		if d := b.gain(0x1p-60, w) + 60*math.Ln2 - b.gain(0, w); math.Abs(d) > 1e-9 {
			t.Errorf("%+v w=%g: the limit is off by %g", b, w, d)
		}
		if v := b.gain(tau, w/2); v > got {
			t.Errorf("%+v: %g at w=%g, %g at its half", b, got, w, v)
		}
	}
}

func TestChernoff_LosesLittle(t *testing.T) {
	r := random.Seeded(14)
	for range 5000 {
		law := cloneCount{int64(math.Exp(14 * r.Float64())), math.Exp(-8 * r.Float64())}
		tau := math.Tanh(math.Exp(8*r.Float64() - 6))
		s, x := law.chernoff(tau)
		n := 1 + float64(law.others)*law.p*math.Exp(-s)
		if loss := x - law.logPsi(tau) - math.Log(n)/2 - math.Log1p(n*tau*tau); loss > 2 {
			t.Errorf("%+v tau=%g: %g", law, tau, loss)
		}
	}
}

// Where the least f is at a level below, the laws of many binary
// randomized response keep the promise made from there.
func TestShuffle_PrivateBeyondTheLeastF(t *testing.T) {
	inside, closest := 0, 0.0
	for _, c := range []struct {
		n, m   int
		alpha0 float64
	}{{9, 2, 1.88}, {10, 2, 2}, {121, 2, 3.71}, {8, 2, 1.2}, {400, 2, 5}, {700, 2, 4.66}, {700, 5, 3}, {700, 5, 3.3}} {
		s := ask{Records: int64(c.n), Items: int64(c.m), Alpha0: c.alpha0, Diameter: 1}
		b := s.joint(t)
		const steps = 40
		var promised [steps]float64
		for k := range promised {
			alpha := b.pure() * float64(k+1) / (steps + 1)
			promised[k] = min(0, testkit.Must(b.value(bg, alpha)))
			f := testkit.Must(b.sup(bg, alpha, nil, func(best, bound float64) bool { return best > 0 }))
			if promised[k] < min(0, f)-1e-3 {
				inside++
			}
		}
		for _, ones := range []int{0, 1, (c.n - c.m) / 2, c.n - c.m} {
			for moved := 1; moved <= c.m; moved++ {
				p, q := binaryLaw(c.n, ones, c.alpha0), binaryLaw(c.n, ones+moved, c.alpha0)
				for k, log := range promised {
					eps := b.pure() * float64(k+1) / (steps + 1) * float64(moved) / float64(c.m)
					exact := max(divergence(p, q, eps), divergence(q, p, eps))
					if exact > math.Exp(log)*(1+1e-9)+1e-16 {
						t.Errorf("%+v, %d ones, %d moved: delta(%g) is %g, the promise %g", c, ones, moved, eps, exact, math.Exp(log))
					}
					closest = max(closest, exact/math.Exp(log))
				}
			}
		}
	}
	if inside < 60 || closest < 0.3 {
		t.Errorf("%d promises below f's, the nearest met to %g", inside, closest)
	}
}

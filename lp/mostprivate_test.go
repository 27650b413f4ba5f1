package lp

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism/exponential/kl10"
	"github.com/metricdp/metricdp/metric"
)

// reaches checks what every result promises.
func reaches(t *testing.T, b metric.Bimetric, target kl10.Target, s *MostPrivateSolution) {
	t.Helper()
	miss, _, err := kl10.Misses(t.Context(), s.Channel, b.Utility, target.Gamma)
	if err != nil || miss > target.Delta*(1+1e-11) || s.Miss > target.Delta || math.Abs(miss-s.Miss) > 1e-9*miss {
		t.Errorf("%v: misses with %v, stated %v (%v)", target, miss, s.Miss, err)
	}
	audit, err := s.Audit(t.Context(), b.Privacy, nil)
	if err != nil || audit != s.Audited || audit.Hi != s.Level.Hi || s.Guarantee().Alpha() != audit.Hi || !(s.Level.Lo <= s.Level.Hi) {
		t.Errorf("%v: audited %v, stated %v, level %v, guarantee %v (%v)", target, audit, s.Audited, s.Level, s.Guarantee(), err)
	}
}

// On k points pairwise 1 apart a mechanism of level eps gives an input at most the
// probability of randomized response, 1/(1+(k-1)e^-eps): eps* is
// ln((k-1)(1-Delta)/Delta), or 0. Distances r divide it by r.
func TestMostPrivate_ClosedForms(t *testing.T) {
	for _, k := range []int{2, 3, 5, 9} {
		for _, delta := range []float64{1e-6, .05, .3, .49, .9} {
			for _, unit := range []float64{1e-200, 1, 1e200} {
				target := kl10.Target{Gamma: .5 * unit, Delta: delta}
				b := metric.Same(space.Simplex(k, unit))
				want := max(0, math.Log(float64(k-1)*(1-delta)/delta)) / unit
				s := testkit.Must(MostPrivate(t.Context(), b, target, nil))
				reaches(t, b, target, s)
				if s.Status != StatusOptimal || !(s.Level.Lo <= want*(1+1e-12) && s.Level.Hi >= want*(1-1e-12)) || s.Level.Width() > 1.01e-4*want+1.01e-6/unit {
					t.Errorf("%d points %v apart, %v: %v, want %v", k, unit, delta, s, want)
				}
				if bound := testkit.Must(LevelLowerBound(t.Context(), b, target)); !(math.Abs(bound.Level-want) <= 1e-9*want) || bound.Level > want*(1+1e-14) {
					t.Errorf("%d points %v apart, %v: packing %v, want %v", k, unit, delta, bound, want)
				}
			}
		}
	}
	// Everything is near the middle of the path: a constant.
	s := testkit.Must(MostPrivate(t.Context(), metric.Same(space.Path(5, 1)), kl10.Target{Gamma: 2, Delta: .01}, nil))
	if s.Level != (scale.Interval{}) || s.Miss > 0 && s.Miss > .01 {
		t.Errorf("%v, want level 0", s)
	}
	// One point alone.
	if s := testkit.Must(MostPrivate(t.Context(), metric.Same(space.Path(1, 1)), kl10.Target{Gamma: 0, Delta: .01}, nil)); s.Level.Hi != 0 {
		t.Errorf("%v, want level 0", s)
	}
}

// On a path with unit gaps and Gamma 0, eps* is at most what the geometric mechanism
// needs, truncated at the ends: inside it hits with tanh(eps/2), at the ends with
// 1/(1+e^-eps). The optimum meets it up to the ends' help, which fades with n.
func TestMostPrivate_Path(t *testing.T) {
	const delta = .1
	geometric := 2 * math.Atanh(1-delta)
	before := 0.0
	for _, n := range []int{3, 5, 12, 25} {
		s := testkit.Must(MostPrivate(t.Context(), metric.Same(space.Path(n, 1)), kl10.Target{Gamma: 0, Delta: delta}, nil))
		if s.Level.Lo > geometric || s.Level.Hi < before || s.Status != StatusOptimal {
			t.Errorf("%d points: %v, geometric %v, fewer points %v", n, s, geometric, before)
		}
		before = s.Level.Lo
	}
	if before < .999*geometric {
		t.Errorf("25 points: %v, geometric %v", before, geometric)
	}
}

// randomTarget is one for a space of that diameter.
func randomTarget(r *rand.Rand, diameter float64) kl10.Target {
	return kl10.Target{Gamma: .6 * diameter * r.Float64(), Delta: math.Pow(10, -2.5*r.Float64()-.05)}
}

// 50 random spaces, 200 with METRICDP_LONG: the interval holds the level at which the simplex method's
// optimum, enclosed in rational arithmetic, passes Delta; the packing is below and
// kl10.MostPrivate above; and the level falls with Gamma and Delta.
func TestMostPrivate_AgainstSimplex(t *testing.T) {
	r := random.Seeded(3)
	ratios, zero, packed, spaces := []float64{}, 0, []float64{}, testkit.Sweep(50, 200)
	for i := range spaces {
		n := 2 + i%5
		b := metric.Bimetric{Privacy: randomMetric(t, r, n), Utility: randomMetric(t, r, n)}
		if i%3 == 0 {
			b = metric.Same(b.Privacy)
		}
		d, _, _, _ := metric.Diameter(t.Context(), b.Utility)
		target := randomTarget(r, d)
		s := testkit.Must(MostPrivate(t.Context(), b, target, nil))
		reaches(t, b, target, s)
		if s.Status != StatusOptimal {
			t.Errorf("space %d: %v", i, s)
		}
		all := make([]int, n)
		for y := range all {
			all[y] = y
		}
		search := levelSearch{b: b, t: target}
		far := metric.Bimetric{Privacy: b.Privacy, Utility: space.Formula(n, search.missed)}
		if s.Level.Lo > 0 {
			if _, hi := simplexOptimum(t, far, s.Level.Lo, all, nil); hi < target.Delta {
				t.Errorf("space %d: at the lower end of %v %v is attained, %v", i, s.Level, hi, target)
			}
		}
		if s.Level.Hi > 0 {
			if lo, _ := simplexOptimum(t, far, s.Level.Hi, all, nil); lo > target.Delta {
				t.Errorf("space %d: at the upper end of %v no less than %v, %v", i, s.Level, lo, target)
			}
		}
		bound := testkit.Must(LevelLowerBound(t.Context(), b, target))
		m := testkit.Must(kl10.MostPrivate(t.Context(), b, nil, target, nil))
		if bound.Level > s.Level.Hi || bound.Level > s.Level.Lo || m.Guarantee().Alpha() < s.Level.Lo {
			t.Errorf("space %d: packing %v, interval %v, exponential %v", i, bound.Level, s.Level, m.Guarantee())
		}
		proves(t, b, target, bound)
		if i%4 == 0 {
			looser := kl10.Target{Gamma: 1.3 * target.Gamma, Delta: min(.95, 1.5*target.Delta)}
			if l := testkit.Must(MostPrivate(t.Context(), b, looser, nil)); l.Level.Lo > s.Level.Hi {
				t.Errorf("space %d: %v at %v, %v at %v", i, s.Level, target, l.Level, looser)
			}
		}
		switch {
		case s.Level.Hi > 0:
			ratios, packed = append(ratios, m.Guarantee().Alpha()/s.Level.Hi), append(packed, bound.Level/s.Level.Hi)
		case m.Guarantee().Alpha() > 0:
			zero++
		}
	}
	slices.Sort(ratios)
	slices.Sort(packed)
	t.Logf("kl10.MostPrivate over eps*: median %.3g, largest %.3g of %d, and %d where eps* is 0; packing over eps*: median %.3g", ratios[len(ratios)/2], ratios[len(ratios)-1], len(ratios), zero, packed[len(packed)/2])
}

// proves checks a packing by its definition, in plain float64.
func proves(t *testing.T, b metric.Bimetric, target kl10.Target, bound LevelBound) {
	t.Helper()
	if bound.Level == 0 {
		return
	}
	sum := 0.0
	for i, y := range bound.Packing {
		sum += math.Exp(-bound.Level * b.Privacy.Distance(bound.X, y))
		for _, z := range bound.Packing[:i] {
			for w := range b.Len() {
				if b.Utility.Distance(y, w) <= target.Gamma && b.Utility.Distance(z, w) <= target.Gamma {
					t.Errorf("%v: %d is near %d and %d", bound, w, y, z)
				}
			}
		}
	}
	if !(math.Abs((1-target.Delta)*sum-1) <= 1e-9) {
		t.Errorf("%v, %v: the sum is %v", target, bound, (1-target.Delta)*sum)
	}
}

// What privacy does not tell apart has one row: a level exists exactly where that
// is good enough, and kl10.MostPrivate, whose rows differ, has none.
func TestMostPrivate_PrivacyDistanceZero(t *testing.T) {
	ctx := t.Context()
	pairs := space.Formula(8, func(i, j int) float64 { return math.Abs(float64(i/2 - j/2)) })
	b := metric.Bimetric{Privacy: pairs, Utility: space.Path(8, 1)}
	target := kl10.Target{Gamma: 1, Delta: .1}
	if _, err := kl10.MostPrivate(ctx, b, nil, target, nil); err == nil {
		t.Fatal("the test is for spaces where the exponential mechanism has no level")
	}
	s := testkit.Must(MostPrivate(ctx, b, target, nil))
	reaches(t, b, target, s)
	if s.Status != StatusOptimal || !(s.Level.Lo > 1) || s.Level.Width() > 1.1e-4*s.Level.Hi {
		t.Errorf("%v", s)
	}
	for _, delta := range []float64{.1, .4999} {
		target := kl10.Target{Gamma: .5, Delta: delta} // two points that miss half the time
		if s, err := MostPrivate(ctx, b, target, nil); s != nil || err == nil || !strings.Contains(err.Error(), "no level is enough") {
			t.Errorf("%v: %v, %v", target, s, err)
		}
		if bound := testkit.Must(LevelLowerBound(ctx, b, target)); !math.IsInf(bound.Level, 1) {
			t.Errorf("%v: packing %v", target, bound)
		}
	}
	// The game of three points misses with 1/3 only where they are pairwise near: of
	// a cycle of 6, no two balls of which are disjoint within the class.
	cycle := space.Formula(6, func(i, j int) float64 { k := max(i-j, j-i); return float64(min(k, 6-k)) })
	same := metric.Bimetric{Privacy: space.Formula(6, func(i, j int) float64 { return 0 }), Utility: cycle}
	if s, err := MostPrivate(ctx, same, kl10.Target{Gamma: 1, Delta: .49}, nil); s != nil || err == nil {
		t.Errorf("half of a cycle is always far: %v", s)
	}
	if s := testkit.Must(MostPrivate(ctx, same, kl10.Target{Gamma: 1, Delta: .51}, nil)); s.Level.Hi != 0 {
		t.Errorf("half of a cycle is near: %v", s)
	}
	// At the value of the game itself only a level without bound would do.
	b.Privacy = space.Formula(3, func(i, j int) float64 { return math.Abs(float64(i/2 - j/2)) })
	b.Utility = space.Simplex(3, 1)
	if s, err := MostPrivate(ctx, b, kl10.Target{Gamma: 0, Delta: .5}, nil); s != nil || err == nil || !strings.Contains(err.Error(), "no level was found") {
		t.Errorf("%v, %v", s, err)
	}
}

// A point far from none, whose ball meets those of all others, sees the packing that
// it is not in: ten points at 1 from it, 2 from each other, and between each and it
// one that both are near to.
func TestLevelLowerBound_WithoutThePoint(t *testing.T) {
	const k = 10
	b := metric.Bimetric{
		Privacy: space.Func(1+2*k, func(i, _ int) float64 { return 2 - float64(1/(1+i)) }),
		Utility: space.Func(1+2*k, func(i, j int) float64 {
			if i == 0 && j > k || j == i+k {
				return 1
			}
			return 2
		}),
	}
	v := testkit.Must(LevelLowerBound(t.Context(), b, kl10.Target{Gamma: 1, Delta: 0.5}))
	if want := math.Log(k * 0.5); math.Abs(v.Level/want-1) > 1e-9 || v.X != 0 || len(v.Packing) != k {
		t.Errorf("%+v, want %v from point 0", v, want)
	}
}

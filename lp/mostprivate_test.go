package lp

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/internal/bitset"
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

// upTo has the numbers below n.
func upTo(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// randomTarget is one for a space of that diameter.
func randomTarget(r *rand.Rand, diameter float64) kl10.Target {
	return kl10.Target{Gamma: .6 * diameter * r.Float64(), Delta: math.Pow(10, -2.5*r.Float64()-.05)}
}

// 50 random spaces and functions between them, 200 with METRICDP_LONG: the interval holds the level at which the simplex method's
// optimum, enclosed in rational arithmetic, passes Delta; the packing is below and
// kl10.MostPrivate above; and the level falls with Gamma and Delta.
func TestMostPrivate_AgainstSimplex(t *testing.T) {
	r := random.Seeded(3)
	ratios, zero, packed, stalled, spaces := []float64{}, 0, []float64{}, 0, testkit.Sweep(50, 200)
	for i := range spaces {
		n := 2 + i%5
		b := metric.Bimetric{Privacy: randomMetric(t, r, n), Utility: randomMetric(t, r, n)}
		switch i % 3 {
		case 0:
			b = metric.Same(b.Privacy)
		case 1: // more outputs, and perhaps an image twice
			images := upTo(n + r.IntN(5))
			images[r.IntN(n)] = r.IntN(n)
			b.Utility = testkit.Must(metric.Subset(randomMetric(t, r, n+4), images))
		}
		d, _, _, _ := metric.Diameter(t.Context(), b.Utility)
		target := randomTarget(r, d)
		s := testkit.Must(MostPrivate(t.Context(), b, target, nil))
		reaches(t, b, target, s)
		if s.Status != StatusOptimal { // a few end a little above the tolerance, and say so
			if stalled++; s.Status != StatusStalled || s.Level.Hi > 1.01*s.Level.Lo || stalled > spaces/50 {
				t.Errorf("space %d: %v", i, s)
			}
		}
		m := b.Utility.Len()
		search := levelSearch{b: b, t: target}
		far := metric.Bimetric{Privacy: b.Privacy, Utility: space.Formula(m, search.missed)}
		if s.Level.Lo > 0 {
			if _, hi := simplexOptimum(t, far, s.Level.Lo, upTo(m), nil); hi < target.Delta {
				t.Errorf("space %d: at the lower end of %v %v is attained, %v", i, s.Level, hi, target)
			}
		}
		if s.Level.Hi > 0 {
			if lo, _ := simplexOptimum(t, far, s.Level.Hi, upTo(m), nil); lo > target.Delta {
				t.Errorf("space %d: at the upper end of %v no less than %v, %v", i, s.Level, lo, target)
			}
		}
		bound := testkit.Must(LevelLowerBound(t.Context(), b, target))
		base := testkit.Must(kl10.MostPrivate(t.Context(), b, nil, target, nil))
		if bound.Level > s.Level.Hi || bound.Level > s.Level.Lo || base.Guarantee().Alpha() < s.Level.Lo {
			t.Errorf("space %d: packing %v, interval %v, exponential %v", i, bound.Level, s.Level, base.Guarantee())
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
			ratios, packed = append(ratios, base.Guarantee().Alpha()/s.Level.Hi), append(packed, bound.Level/s.Level.Hi)
		case base.Guarantee().Alpha() > 0:
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
			for w := range b.Utility.Len() {
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

// apart is a space of n inputs at distance 1 whose outputs are near, at distance .5, to the
// inputs listed, and far, at 1, from all others. The first n are near to their input alone.
func apart(n int, near ...[]int) metric.Bimetric {
	return metric.Bimetric{Privacy: space.Simplex(n, 1), Utility: space.Formula(n+len(near), func(x, y int) float64 {
		if x > y {
			x, y = y, x
		}
		switch {
		case x == y:
			return 0
		case x < n && y >= n && slices.Contains(near[y-n], x):
			return .5
		}
		return 1
	})}
}

// Where the outputs are other points than the inputs: a middle serves both ends of a line,
// at level 0; outputs that are near to all inputs but one are missed with q, q(1+(k-1)e^eps)
// = 1; and a constant function asks for nothing, whatever the inputs are.
func TestMostPrivate_OtherOutputs(t *testing.T) {
	ctx, ends := t.Context(), space.Path(2, 1)
	grid := metric.Bimetric{Privacy: ends, Utility: testkit.Must(metric.NewPoints([]float64{0, 1, .25, .5, .75}, metric.Numbers[float64]{}))}
	for _, c := range []struct {
		b      metric.Bimetric
		target kl10.Target
		want   float64
	}{
		{metric.Same(ends), kl10.Target{Gamma: .5, Delta: .05}, math.Log(19)},
		{grid, kl10.Target{Gamma: .5, Delta: .05}, 0},
		{grid, kl10.Target{Gamma: .49, Delta: .05}, math.Log(19)},
		{apart(3, []int{0, 1}, []int{1, 2}, []int{0, 2}), kl10.Target{Gamma: .5, Delta: .05}, math.Log(19. / 2)},
		{apart(4, []int{0, 1, 2}, []int{1, 2, 3}, []int{0, 2, 3}, []int{0, 1, 3}), kl10.Target{Gamma: .5, Delta: .1}, math.Log(3)},
		{apart(3, []int{0, 1}, []int{1, 2}, []int{0, 2}), kl10.Target{Gamma: .5, Delta: .34}, 0},
		{metric.Bimetric{Privacy: space.Path(4, 1), Utility: testkit.Must(metric.Subset(ends, []int{0, 0, 0, 0, 1}))}, kl10.Target{Gamma: 0, Delta: .01}, 0},
		// f(x) = x mod 2 on a path: two neighbors decide.
		{metric.Bimetric{Privacy: space.Path(4, 1), Utility: testkit.Must(metric.Subset(ends, []int{0, 1, 0, 1}))}, kl10.Target{Gamma: 0, Delta: .01}, math.Log(99)},
	} {
		s := testkit.Must(MostPrivate(ctx, c.b, c.target, nil))
		reaches(t, c.b, c.target, s)
		if s.Status != StatusOptimal || s.Level.Lo > c.want*(1+1e-12) || s.Level.Hi < c.want*(1-1e-12) || s.Level.Width() > 1.01e-4*c.want+1.01e-6 || c.want == 0 && s.Level.Hi != 0 {
			t.Errorf("%d inputs, %d outputs, %v: %v, want %v", c.b.Privacy.Len(), c.b.Utility.Len(), c.target, s, c.want)
		}
		bound := testkit.Must(LevelLowerBound(ctx, c.b, c.target))
		if proves(t, c.b, c.target, bound); bound.Level > c.want*(1+1e-12) {
			t.Errorf("%v: packing %v, want at most %v", c.target, bound, c.want)
		}
	}
	// Inputs that privacy does not tell apart, with an output between their images, and
	// without: only one of the others may then have a level.
	pairs := metric.Bimetric{Privacy: space.Formula(4, func(i, j int) float64 { return math.Abs(float64(i/2 - j/2)) }),
		Utility: testkit.Must(metric.NewPoints([]float64{0, 1, 3, 4, .5, 3.5}, metric.Numbers[float64]{}))}
	target := kl10.Target{Gamma: .5, Delta: .1}
	s := testkit.Must(MostPrivate(ctx, pairs, target, nil))
	if reaches(t, pairs, target, s); math.Abs(s.Level.Hi-math.Log(9)) > 1e-3 || s.Level.Lo > math.Log(9) {
		t.Errorf("%v, want ln 9", s)
	}
	pairs.Utility = testkit.Must(metric.Subset(pairs.Utility, []int{0, 1, 2, 3, 4}))
	if s, err := MostPrivate(ctx, pairs, target, nil); s != nil || err == nil || !strings.Contains(err.Error(), "no level is enough") {
		t.Errorf("%v, %v", s, err)
	}
}

// Outputs 0 and 3 are near to no more inputs than 1 and 2, and 4 to those of 2.
func TestWidest_KeepsNoneThatIsSuperfluous(t *testing.T) {
	balls := bitset.Rows(70, 5)
	for y, inputs := range [][]int{{0}, {0, 1}, {1, 69}, {69}, {1, 69}} {
		for _, x := range inputs {
			balls[x].Add(y)
		}
	}
	if got := testkit.Must(widest(t.Context(), balls, 5)); !slices.Equal(got, []int{1, 2}) {
		t.Error(got)
	}
}

// N is the first number of records at which the level is low enough, by both ends; KL10's
// N is eps*/eps where the sensitivity is 1/N.
func TestRecordsFor(t *testing.T) {
	s := testkit.Must(MostPrivate(t.Context(), metric.Same(space.Path(2, 1)), kl10.Target{Gamma: .5, Delta: .05}, nil))
	if _, _, err := s.RecordsFor(1, func(int) float64 { return 1 }); err == nil || !strings.Contains(err.Error(), "records are not enough") {
		t.Error(err)
	}
	// In rational numbers, next to where a number of records is just enough.
	s.Level = scale.Interval{Lo: 3, Hi: 3}
	for _, n := range append(upTo(40), 1<<29) {
		eps := 3 / float64(n+1)
		for i, f := range []func(n int) float64{nil, func(n int) float64 { return 1 / float64(n) }, func(n int) float64 { return 1 / float64(3*n) }} {
			least, enough, err := s.RecordsFor(eps, f)
			allows := func(n int) bool {
				level := big.NewRat(3, int64(n))
				if f != nil {
					level.Mul(big.NewRat(3, 1), new(big.Rat).SetFloat64(f(n)))
				}
				return level.Cmp(new(big.Rat).SetFloat64(eps)) <= 0
			}
			if err != nil || !allows(enough) || least > 1 && allows(least-1) || enough-least > 1 {
				t.Errorf("%d, eps = %v: %d, %d, %v", i, eps, least, enough, err)
			}
		}
	}
	// At a level of 0 there is nothing to share.
	s.Level = scale.Interval{}
	if least, enough, err := s.RecordsFor(1e-300, nil); least != 1 || enough != 1 || err != nil {
		t.Error(least, enough, err)
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

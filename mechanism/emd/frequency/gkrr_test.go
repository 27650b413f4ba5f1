package frequency

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/emd/accountant"
	"github.com/metricdp/metricdp/metric"
)

func mustGKRR(t testing.TB, c *metric.Clustered, alpha0 float64) *GKRR {
	return testkit.Must(NewGKRR(c, alpha0))
}

// Known answers, to their last digit.
func TestGKRR_KnownAnswers(t *testing.T) {
	for _, c := range []struct {
		s, t       int
		r, alpha0  float64
		a, b, c, z float64
	}{
		{2, 3, .2, 1, 20.638359, -6.0664302, -.23984475, 10.169364},
		{4, 5, .1, 2, 34.78225, -6.6060042, -.037611453, math.NaN()},
	} {
		g := mustGKRR(t, testkit.Must(metric.NewClustered(c.s, c.t, c.r)), c.alpha0)
		for _, v := range [][2]float64{{g.a, c.a}, {g.b, c.b}, {g.c, c.c}} {
			if math.Abs(v[0]/v[1]-1) > 5e-8 {
				t.Errorf("%+v: %v, want %v", c, v[0], v[1])
			}
		}
		if one := g.a + float64(c.t)*g.b + float64(c.s*c.t)*g.c; math.Abs(one-1) > 1e-13 {
			t.Errorf("%+v: row sum of the inverse %v", c, one)
		}
		ch := testkit.Must(g.Channel(t.Context()))
		if z := math.Exp(c.alpha0) / ch.Prob(0, 0); !math.IsNaN(c.z) && math.Abs(z/c.z-1) > 5e-8 {
			t.Errorf("%+v: Z = %v, want %v", c, z, c.z)
		}
	}
}

var gkrrSettings = []struct {
	c      *metric.Clustered
	alpha0 float64
}{
	{testkit.Must(metric.NewClustered(2, 3, .2)), 1},
	{testkit.Must(metric.NewClustered(4, 5, .1)), 2},
	{testkit.Must(metric.NewClustered(1, 7, .5)), .7},
	{testkit.Must(metric.NewClustered(6, 1, 1)), 3},
	{testkit.Must(metric.NewClustered(1, 1, 1)), 3},
	{testkit.Must(testkit.Must(metric.NewClustered(3, 4, 1)).Scaled(12.5, "km")), .3},
	{testkit.Must(testkit.Must(metric.NewClustered(3, 4, .01)).Scaled(1e-3, "")), .07},
	{testkit.Must(testkit.Must(metric.NewClustered(3, 4, .37)).Scaled(3, "")), 400},
	{testkit.Must(metric.NewClustered(2, 2, 1e-4)), 1e-5},
}

// The audit, which knows nothing of how the channel was made, stays at or below
// the level asked for and encloses the level promised.
func TestGKRR_AuditStaysBelowTheLevel(t *testing.T) {
	for _, c := range gkrrSettings {
		g := mustGKRR(t, c.c, c.alpha0)
		ch := testkit.Must(g.Channel(t.Context()))
		a := testkit.Must(ch.Audit(t.Context(), c.c, nil))
		level := g.Guarantee().Alpha()
		if a.Hi > c.alpha0 || level > c.alpha0 {
			t.Errorf("%+v: audit %v, level %v above alpha0", c, a, level)
		}
		if c.c.Len() > 1 && (a.Lo > level || level < c.alpha0*(1-0x1p-34)) {
			t.Errorf("%+v: audit %v, level %v", c, a, level)
		}
		if ch.Guarantee() != g.Guarantee() || g.Guarantee().Unit() != c.c.Unit() {
			t.Errorf("%+v: channel promises %v, GKRR %v", c, ch.Guarantee(), g.Guarantee())
		}
	}
}

// The law of item x is that of item 0 moved: distances stay and the moves are
// bijections, so draws have exactly the channel's law.
func TestGKRR_MovesAreSymmetries(t *testing.T) {
	for _, c := range gkrrSettings {
		g := mustGKRR(t, c.c, c.alpha0)
		for x := range c.c.Len() {
			seen := make([]bool, c.c.Len())
			for y := range seen {
				z := g.move(x, y)
				if seen[z] || c.c.Distance(x, z) != c.c.Distance(0, y) {
					t.Fatalf("%+v: item %d, draw %d goes to %d", c, x, y, z)
				}
				seen[z] = true
			}
		}
	}
}

// To the last bit: what two rows differ by is no more than the level times the
// distance.
func TestGKRR_LevelIsRoundedUp(t *testing.T) {
	testkit.Rounding(t)
	r := random.Seeded(2)
	for range 500 {
		c := testkit.Must(testkit.Must(metric.NewClustered(2, 1+r.IntN(2), .1+.9*r.Float64())).Scaled(.1+10*r.Float64(), ""))
		g := mustGKRR(t, c, 1+r.Float64())
		for _, v := range []struct {
			log float64
			x   int
		}{{g.in, 1}, {g.out, c.Len() - 1}} {
			level := testkit.Ratio(g.Guarantee().Alpha())
			if v.x > 0 && level.Mul(level, testkit.Ratio(c.Distance(0, v.x))).Cmp(testkit.Ratio(v.log)) < 0 {
				t.Errorf("%+v: level %v, items 0 and %d differ by %v", c, g.Guarantee(), v.x, v.log)
			}
		}
	}
}

// The sums of variances in the bound's proof are those of the law, and not a
// constant of them can go: summed over the matrix.
func TestGKRR_ErrorBoundIsTheSumOfVariances(t *testing.T) {
	for _, s := range gkrrSettings {
		g := mustGKRR(t, s.c, s.alpha0)
		ch, _ := g.Channel(t.Context())
		k, size := s.c.Len(), s.c.Size()
		a, b, c := g.a, g.b, g.c
		entry := func(x, y int) float64 {
			v := c
			if x/size == y/size {
				v += b
			}
			if x == y {
				v += a
			}
			return v
		}
		items, clusters := -1.0, -1.0
		for y := range k {
			p := ch.Prob(0, y)
			for j := range k {
				items += p * entry(y, j) * entry(y, j)
			}
			for j := range s.c.Clusters() {
				sum := 0.0
				for i := range size {
					sum += entry(y, j*size+i)
				}
				clusters += p * sum * sum
			}
		}
		r := s.c.Intra() / s.c.Inter()
		want := s.c.Inter() / 2 * (r*math.Sqrt(float64(k)*max(0, items)) + (1-r)*math.Sqrt(float64(s.c.Clusters())*max(0, clusters)))
		if got := g.errorBound(1); math.Abs(got-want) > 1e-8*want+1e-7*s.c.Inter() {
			t.Errorf("%+v: bound %v, summed %v", s, got, want)
		}
		if got := g.errorBound(100); math.Abs(got-g.errorBound(1)/10) > 1e-14*got {
			t.Errorf("%+v: not 1/sqrt(N)", s)
		}
	}
}

// Three items stand for all: the level by their probabilities is that by those of all, for
// any clusters.
func TestGKRR_ThreeItemsHaveAllKinds(t *testing.T) {
	for _, shape := range [][2]int{{1, 2}, {2, 1}, {1, 3}, {2, 2}, {3, 1}, {1, 7}, {2, 5}, {4, 3}}[:testkit.Sweep(5, 8)] {
		space := testkit.Must(metric.NewClustered(shape[0], shape[1], .3))
		g := mustGKRR(t, space, 1.5)
		few, all := testkit.Must(g.kinds(t.Context())), testkit.Must(g.Channel(t.Context()))
		for _, s := range []accountant.Shuffle{{Records: 500, Items: 1}, {Records: 500, Items: 4}} {
			s.Randomizer = testkit.Must(accountant.NewRandomizer(t.Context(), few.c, few.space))
			got := testkit.Must(s.Level(t.Context(), 1e-6))
			s.Randomizer = testkit.Must(accountant.NewRandomizer(t.Context(), all, space))
			if want := testkit.Must(s.Level(t.Context(), 1e-6)); got.Theorem != want.Theorem || math.Abs(got.Value-want.Value) > 1e-6*want.Value {
				t.Errorf("%v, %d items: %v by three, %v by all", shape, s.Items, got, want)
			}
		}
	}
}

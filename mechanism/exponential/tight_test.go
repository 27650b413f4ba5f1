package exponential

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// On a line the mechanism is the truncated geometric one; on the discrete metric the exponential one with the
// budget doubled, on a cycle with the full rate, as all weights are the same.
func TestTight_ClosedForms(t *testing.T) {
	testkit.Rounding(t)
	const n = 12
	for name, c := range map[string]struct {
		f     metric.Finite
		alpha float64
		mass  func(x, y int, d float64) float64 // prop. to the probability
	}{
		"line": {space.Path(n, 1), .7, func(x, y int, d float64) float64 {
			if y == 0 || y == n-1 { // clamped two-sided geometric noise
				return math.Exp(-.7*d) / (1 + math.Exp(-.7))
			}
			return math.Exp(-.7*d) * math.Tanh(.35)
		}},
		"discrete": {space.Simplex(n, 1), 1, func(x, y int, d float64) float64 { return math.Exp(-d) }},
		"cycle":    {cycle(n), 1, func(x, y int, d float64) float64 { return math.Exp(-d) }},
	} {
		m := testkit.Must(Tight(t.Context(), c.f, c.alpha, nil))
		if m.Audited.Hi > c.alpha || m.Audited.Hi < c.alpha*(1-1e-12) {
			t.Errorf("%s: %v", name, m.Audited)
		}
		for x := range n {
			sum := 0.0
			for y := range n {
				sum += c.mass(x, y, c.f.Distance(x, y))
			}
			for y := range n {
				if got, want := m.Prob(x, y), c.mass(x, y, c.f.Distance(x, y))/sum; !near(got, want, 1e-10) {
					t.Fatalf("%s: P(%d|%d) = %v, want %v", name, y, x, got, want)
				}
			}
		}
	}
}

// At rate alpha/2 a level above alpha by a relative 2^-20 is put down to rounding, and the rate lowered until the
// audit agrees; more is an error. Above alpha/2 the rate is lowered by what it takes. The weights make the factor
// 1/2 tight, so that the level is how much the triangle inequality fails by.
func TestCertify_PutsSomeDownToRounding(t *testing.T) {
	testkit.Rounding(t)
	beyond := func(excess float64) metric.Finite {
		return space.Func(3, func(i, j int) float64 {
			if j-i == 2 {
				return 2 + excess
			}
			return 1
		})
	}
	for _, c := range []struct {
		excess   float64
		accepted bool
	}{{0.95 * 0x1p-20, true}, {1.05 * 0x1p-20, false}} {
		m, err := Weighted(t.Context(), beyond(2*c.excess), 1, []float64{1, 1, 1e100}, nil)
		if !c.accepted {
			var level *LevelError
			if !errors.As(err, &level) || !near(level.Audited.Hi-1, c.excess, 1e-6) {
				t.Errorf("excess %v: %v", c.excess, err)
			}
			continue
		}
		if err != nil || m.Audited.Hi > 1 || m.Guarantee().Alpha() > 1 || !(m.Beta < (1-c.excess/2)/2) || m.Beta < (1-4*c.excess)/2 {
			t.Errorf("excess %v: %v, %v", c.excess, m, err)
		}
	}
	for _, excess := range []float64{0x1p-40, 0x1p-10, 0x1p-3} {
		if m, err := Tight(t.Context(), beyond(excess), 1, nil); err != nil || m.Audited.Hi > 1 || !(m.Beta < 1-excess/2) || m.Beta < 1-4*excess {
			t.Errorf("excess %v: %v, %v", excess, m, err)
		}
	}
}

// Weights are known to six digits where their matrix is nearly singular. The rows' sums
// differ by that, and between points near each other the level is above alpha until the
// rate is lowered and the weights are those of the new rate.
func TestTight_LowersItsRateForRounding(t *testing.T) {
	r, lowered := rand.New(rand.NewPCG(472, 3)), 0
	for range testkit.Sweep(40, 2000) {
		points := make([]float64, 10+r.IntN(31))
		for i := range points {
			points[i] = r.Float64()
		}
		alpha := 5 + 95*r.Float64()
		m, err := Tight(t.Context(), testkit.Must(metric.NewPoints(points, metric.Numbers[float64]{})), alpha, nil)
		if err != nil || m.Audited.Hi > alpha || m.Beta < alpha*(1-1e-6) {
			t.Fatalf("alpha %v, points %v: %v, %v", alpha, points, m, err)
		}
		if m.Beta < alpha {
			lowered++
		}
	}
	if lowered == 0 {
		t.Error("no rate was lowered")
	}
}

// Of a star with three rays the weight of the center is -t/(1.5+t/2) at alpha = ln(2/(1+t)),
// where those of the rays are near 2/3. Down to 1e-9 of these it counts as 0.
func TestTight_NegativeByRoundingIsZero(t *testing.T) {
	star := space.Func(4, func(i, j int) float64 {
		if i == 0 {
			return 1
		}
		return 2
	})
	for _, c := range []struct {
		t        float64
		accepted bool
	}{{-1e-3, true}, {0.4e-9, true}, {1.1e-9, false}, {1e-3, false}} {
		alpha := math.Ln2 - math.Log1p(c.t)
		m, err := Tight(t.Context(), star, alpha, nil)
		if negative := new(NegativeWeightError); c.accepted != (err == nil) || !c.accepted && (!errors.As(err, &negative) || negative.Index != 0) {
			t.Errorf("t = %v: %v (%v)", c.t, m, err)
		}
		if c.accepted && (c.t < 0) != (m.Prob(0, 0) > 0) {
			t.Errorf("t = %v: the center is released with probability %v", c.t, m.Prob(0, 0))
		}
	}
}

// words are n vectors of float32 in R^d, multiples of 2^-12, with some copies.
func words(n, d int) [][]float32 {
	r := random.Seeded(11)
	v, x := make([][]float32, n), make([]float64, d)
	for i := range v {
		random.FillNormal(r, x)
		v[i] = make([]float32, d)
		for j := range x {
			v[i][j] = float32(math.RoundToEven(x[j]*0x1p11) * 0x1p-12)
		}
		if i%10 == 9 {
			copy(v[i], v[i-1])
		}
	}
	return v
}

// The distribution is that of the paper: a word within reach has the weight exp(-alpha*d/2), and one symbol
// for the others, drawn among them uniformly, their number times exp(-alpha*reach/2).
func TestTruncated_IsTEM(t *testing.T) {
	const alpha = 1.5
	f := points[[]float32](t, words(40, 30), metric.Float32[metric.Euclidean]{})
	for _, reach := range []float64{1e-3, 2.5, 3.8, 100} {
		m := testkit.Must(Truncated(t.Context(), f, alpha, reach, nil))
		var row []float64
		for x := range f.Len() {
			inside, rest := 0.0, 0
			for y := range f.Len() {
				if d := f.Distance(x, y); d <= reach {
					inside += math.Exp(-alpha * d / 2)
				} else {
					rest++
				}
			}
			symbol := float64(rest) * math.Exp(-alpha*reach/2)
			row = m.Row(x, row)
			for y, got := range row {
				want := math.Exp(-alpha*f.Distance(x, y)/2) / (inside + symbol)
				if f.Distance(x, y) > reach {
					want = symbol / (inside + symbol) / float64(rest)
				}
				if !near(got, want, 1e-6) {
					t.Fatalf("reach %v: P{%d|%d} = %v, want %v", reach, y, x, got, want)
				}
			}
		}
	}
}

// The level is alpha per unit of the distance and of the cut distance, by the exact matrix:
// of word vectors, and of spaces at which the factor 1/2 is nearly used up, where words
// crowd within reach of one and out of reach of another.
func TestTruncated_Audit(t *testing.T) {
	const copies = 100
	crowd := func(d int) metric.Finite { // copies of a word, one at distance 1, one at 3
		v := make([][]float32, copies+2)
		for i := range v {
			v[i] = make([]float32, d)
		}
		v[copies][d/2], v[copies+1][d-1] = 1, 3
		return points[[]float32](t, v, metric.Float32[metric.Euclidean]{})
	}
	for name, c := range map[string]struct {
		f            metric.Finite
		alpha, reach float64
		tight        bool
	}{
		"words":        {points[[]float32](t, words(60, 25), metric.Float32[metric.Euclidean]{}), 3, 3, false},
		"words, near":  {points[[]float32](t, words(60, 25), metric.Float32[metric.Euclidean]{}), 3, .1, false},
		"crowd":        {crowd(50), .5, 2, true},
		"crowd, plane": {crowd(2), .5, 2, true},
		"crowd, at 1":  {crowd(50), .5, 1, true},
		"line":         {euclidean(t, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11), 1, 4.5, false},
	} {
		m := testkit.Must(Truncated(t.Context(), c.f, c.alpha, c.reach, nil))
		a := testkit.Must(m.Audit(t.Context(), c.f, nil))
		cut := testkit.Must(metric.NewPoints(indices(c.f.Len()), metric.Func[int](func(i, j int) float64 { return min(c.reach, c.f.Distance(i, j)) })))
		b := testkit.Must(m.Audit(t.Context(), cut, nil))
		if a.Hi > c.alpha || b.Hi > c.alpha {
			t.Errorf("%s: audited levels %v and %v, want at most %v", name, a.Hi, b.Hi, c.alpha)
		}
		if c.tight && b.Hi < .95*c.alpha {
			t.Errorf("%s: audited level %v: the test shows nothing", name, b.Hi)
		}
		if m.Method != MethodTruncated || m.Guarantee() != testkit.Must(mechanism.NewGuarantee(c.alpha, 0, "")) {
			t.Errorf("%s: %v", name, m)
		}
	}
}

// Words in many dimensions need no search for the nearest two: the points know how far they
// lie apart at least, and which are the same. Without a common step there is one.
func TestLazy_Latticed(t *testing.T) {
	v := words(300, 40)
	built := func(v [][]float32) *Mechanism {
		return testkit.Must(Lazy(t.Context(), points[[]float32](t, v, metric.Float32[metric.Euclidean]{}), 2, nil))
	}
	quick := built(v)
	copy(v[31], v[32])
	v[31][3] += 0x1p-12
	m := testkit.Must(newFamily("", "", points[[]float32](t, v, metric.Float32[metric.Euclidean]{}), 1, nil))
	e, _ := m.f.(metric.Embedded).Embed()
	if least := m.latticeGap(e); !(least <= 0x1p-12 && least > .9*0x1p-12) || m.first[19] != 18 || m.first[32] != 32 {
		t.Errorf("two words 2^-12 apart are found to be %v apart", least)
	}
	e.Coords = append([]float64{0x1p24}, e.Coords[1:]...)
	if least := m.latticeGap(e); least != 0 {
		t.Errorf("%v is known of distances that round with coordinates of 2^24", least)
	}
	copy(v[31], v[33])
	v[5][7] = 0x1p-36 // a step that is too small to be of use
	slow := built(v)
	if !near(quick.Beta, 1, 1e-6) || quick.Beta >= slow.Beta || !near(slow.Beta, 1, 1e-6) {
		t.Errorf("rates %v and %v: want the first lower, both hardly below 1", quick.Beta, slow.Beta)
	}
	for x := 9; x < 300; x += 10 {
		a, b := quick.Row(x, nil), quick.Row(x-1, nil)
		for y := range a {
			if a[y] != b[y] {
				t.Fatalf("%d and %d have one vector and two distributions", x-1, x)
			}
		}
	}
}

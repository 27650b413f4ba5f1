package families_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/metricdp/metricdp/entropy/families"
	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/metric"
)

type family struct {
	name string
	f    func(dim int, alpha float64) (scale.Interval, error)
}

var brackets = []family{
	{"ball", families.BallAccuracy}, {"measures", families.MeasuresAccuracy}, {"Lipschitz", families.LipschitzAccuracy},
}

// TestFamilies_BracketTheRate: the ends fall with alpha, and stay within a constant of
// each other, which is that of the docs, up to any level.
func TestFamilies_BracketTheRate(t *testing.T) {
	for _, c := range []struct {
		family
		dim  int
		most float64 // Hi/Lo
	}{
		{brackets[0], 1, 8}, {brackets[0], 2, 16}, {brackets[0], 10, 20}, {brackets[0], 100, 17},
		{brackets[1], 1, 5.7}, {brackets[1], 2, 7.6}, {brackets[1], 3, 5.8}, {brackets[1], 6, 3.6}, {brackets[1], 100, 2.12},
		{brackets[2], 1, 9}, {brackets[2], 2, 9}, {brackets[2], 5, 10},
	} {
		last := scale.Interval{Lo: 1, Hi: 1}
		most := 0.0
		for alpha := 1e-6; alpha < 1e40; alpha *= 3 {
			i := testkit.Must(c.f(c.dim, alpha))
			if !(0 < i.Lo && i.Lo <= i.Hi && i.Hi <= 1 && i.Hi <= last.Hi && i.Lo <= last.Lo*1.02) {
				t.Errorf("%s, dim %d, alpha %v: %v after %v", c.name, c.dim, alpha, i, last)
			}
			last, most = i, max(most, i.Hi/i.Lo)
		}
		if most > c.most {
			t.Errorf("%s, dim %d: ends %v apart, want at most %v", c.name, c.dim, most, c.most)
		}
	}
}

// TestMeasuresAccuracy_HasAWitness: its lower end in the plane is the best that pairs of
// neighbors in grids prove, or blocks of four.
func TestMeasuresAccuracy_HasAWitness(t *testing.T) {
	for _, alpha := range []float64{0.5, 2, 8} {
		best := 0.0
		for k := 1; k <= 16; k++ {
			n := k + 1
			at := func(i int) (x, y int) { // along a snake, so that i and i+1 are neighbors
				if y, x = i/n, i%n; y%2 == 1 {
					x = k - x
				}
				return x, y
			}
			f := space.Func(n*n, func(i, j int) float64 {
				x, y := at(i)
				z, w := at(j)
				return math.Max(math.Abs(float64(x-z)), math.Abs(float64(y-w))) / float64(k)
			})
			w := families.MeasureBound{Transport: true}
			for i := 0; i+1 < n*n; i += 2 {
				w.Pairs = append(w.Pairs, [2]int{i, i + 1})
			}
			blocks := math.Pow(float64(n/2), 2)
			best = max(best, testkit.Must(w.Prove(t.Context(), f, alpha)), min(1, 3*math.Exp(-alpha/(float64(k)*blocks)))/float64(2*k))
		}
		if i := testkit.Must(families.MeasuresAccuracy(2, alpha)); math.Abs(i.Lo/best-1) > 1e-9 {
			t.Errorf("level %v: lower end %v, witnesses prove %v", alpha, i.Lo, best)
		}
	}
}

// TestMeasuresAccuracy_NetIsThere: the net of the proof has no more measures and no larger a
// radius than the proof counts, and the rates of the docs come out.
func TestMeasuresAccuracy_NetIsThere(t *testing.T) {
	for _, c := range [][2]int{{2, 4}, {2, 12}, {3, 9}} {
		n, m := c[0], c[1]
		f := space.Func(n*n, func(i, j int) float64 {
			return math.Max(math.Abs(float64(i/n-j/n)), math.Abs(float64(i%n-j%n))) / float64(n)
		})
		net := testkit.Must(families.MeasureNet(t.Context(), f, m))
		more := float64(n*n - 1)
		size := float64(m)*math.Log1p(more/float64(m)) + more*math.Log1p(float64(m)/more)
		if radius := more / float64(2*n*m); net.CoveringRadius() > radius*(1+1e-12) || math.Log(float64(net.Len())) > size {
			t.Errorf("n = %d, m = %d: radius %v, want %v; %d measures, want e^%v", n, m, net.CoveringRadius(), radius, net.Len(), size)
		}
	}
	for alpha := 1e12; alpha < 1e60; alpha *= 1e6 {
		i := testkit.Must(families.MeasuresAccuracy(2, alpha))
		if lo, hi := i.Lo*math.Cbrt(alpha), i.Hi*math.Cbrt(alpha); lo < .314 || hi > 2.37 {
			t.Errorf("level %v: [%v, %v] alpha^(-1/3)", alpha, lo, hi)
		}
	}
}

// TestMeasuresAccuracy_BlockOfFour: at a level up to ln 3 the corners of the square, one
// block, have A = 1/2, which the point between attains, as a linear program has it.
func TestMeasuresAccuracy_BlockOfFour(t *testing.T) {
	f := space.Func(5, func(i, j int) float64 {
		if i == 4 || j == 4 {
			return .5
		}
		return 1
	})
	for _, alpha := range []float64{.1, 1.09, 1.2, 2} {
		best := testkit.Must(lp.Optimal(t.Context(), metric.Same(f), alpha, nil))
		one := min(1, 3*math.Exp(-alpha)) / 2
		i := testkit.Must(families.MeasuresAccuracy(2, alpha))
		if one > best.Objective || alpha < 1.09 && (i.Lo < .5*(1-1e-9) || i.Hi > .5) || alpha > 1.1 && best.Objective > .5-1e-3 {
			t.Errorf("alpha %v: %v, one block proves %v of %v", alpha, i, one, best.Objective)
		}
	}
}

// TestLipschitzAccuracy_OfThePaper: functions with f(0) = 0 are as far as 2 apart, so that
// A >= 2/(1+e^(2 alpha)), by the two of them, and 1 in the limit.
func TestLipschitzAccuracy_OfThePaper(t *testing.T) {
	for _, dim := range []int{1, 2, 5} {
		for _, alpha := range []float64{1e-9, .01, .1, .5} {
			i := testkit.Must(families.LipschitzAccuracy(dim, alpha))
			if two := 2 / (1 + math.Exp(2*alpha)); i.Lo < two*(1-1e-9) || i.Hi > 1 {
				t.Errorf("dim %d, alpha %v: %v, two functions prove %v", dim, alpha, i, two)
			}
		}
	}
	if i := testkit.Must(families.LipschitzAccuracy(1, .01)); i.Lo <= .99 {
		t.Errorf("%v, want more than .99", i)
	}
	// Slopes +-1 on k parts of [0,1], which are some of the functions, have at most twice
	// the accuracy, and no less than what the pyramids among them prove.
	for _, alpha := range []float64{.5, 4, 16} {
		const k = 6
		var all [][]float64
		for bits := range 1 << k {
			f := make([]float64, k+1)
			for i := range k {
				f[i+1] = f[i] + float64(1-2*(bits>>i&1))/k
			}
			all = append(all, f)
		}
		some := testkit.Must(metric.NewPoints(all, metric.Chebyshev{}))
		best := testkit.Must(lp.Optimal(t.Context(), metric.Same(some), alpha, &lp.Options{Tolerance: 1e-3}))
		if i := testkit.Must(families.LipschitzAccuracy(1, alpha)); best.DualBound > 2*i.Hi {
			t.Errorf("alpha %v: %v, of %d functions %v", alpha, i, some.Len(), best.Objective)
		}
	}
}

// TestFamilies_OnTheLine: the ball of R is an interval of length 2, where Laplace noise
// cut off at the ends, which is alpha-private, loses (1-e^(-alpha))/alpha at most: the
// mean of the smaller of |noise| and the way to the end. So does a number in [0,1],
// twice as close, as a measure on two points at distance 1.
func TestFamilies_OnTheLine(t *testing.T) {
	two := space.Path(2, 1)
	for alpha := 1e-3; alpha < 1e6; alpha *= 1.7 {
		most := -math.Expm1(-alpha) / alpha
		if i := testkit.Must(families.BallAccuracy(1, alpha)); i.Lo > most || i.Hi < most/2 {
			t.Errorf("ball, alpha %v: %v, where %v is reached", alpha, i, most)
		}
		w := testkit.Must(families.PrivateTransportBound(t.Context(), two, 2*alpha))
		if w.Value > most/2 || w.Value < most/2*0.7 {
			t.Errorf("two points, level %v: %v, where %v is reached", 2*alpha, w.Value, most/2)
		}
	}
	if i := testkit.Must(families.MeasuresAccuracy(1, 1e8)); math.Abs(i.Lo*1e4/0.3634-1) > 3e-3 || math.Abs(i.Hi*1e4/2-1) > 1e-3 {
		t.Errorf("measures on the line: %v, want .3634 and 2 over the root of alpha", i)
	}
}

func TestFamilies_Refuse(t *testing.T) {
	for _, f := range brackets {
		for _, alpha := range []float64{0, -1, math.NaN(), math.Inf(1)} {
			if _, err := f.f(2, alpha); err == nil {
				t.Errorf("%s: level %v is not refused", f.name, alpha)
			}
		}
		for _, dim := range []int{-1, 0, 101} {
			if _, err := f.f(dim, 1); err == nil {
				t.Errorf("%s: dimension %d is not refused", f.name, dim)
			}
		}
		for _, alpha := range []float64{1e-300, 1e300} {
			for _, dim := range []int{1, 2, 100} {
				if i, err := f.f(dim, alpha); err != nil || !(i.Lo >= 0 && i.Lo <= i.Hi && i.Hi <= 1) {
					t.Errorf("%s, dim %d, alpha %v: %v (%v)", f.name, dim, alpha, i, err)
				}
			}
		}
	}
}

// TestPrivateTransportBound_Laws: the bound falls with the level, scales with the space, its
// witness proves it again, also at another level, and it is below the diameter/2, which
// one point attains.
func TestPrivateTransportBound_Laws(t *testing.T) {
	for name, f := range map[string]metric.Finite{
		"path": space.Path(40, 1), "simplex": space.Simplex(9, 2), "plane": space.Halton(50), "coincident": space.Simplex(4, 0),
	} {
		d, _, _, _ := metric.Diameter(t.Context(), f)
		last := math.Inf(1)
		for a := 1e-2; a < 1e9; a *= 5 {
			w := testkit.Must(families.PrivateTransportBound(t.Context(), f, a))
			if again := testkit.Must(w.Prove(t.Context(), f, a)); again != w.Value || !(w.Value <= last && w.Value <= d/2) || (w.Value > 0) != (d > 0) {
				t.Errorf("%s, level %v: %v after %v, proved again %v", name, a, w.Value, last, again)
			}
			if d == 0 {
				continue
			}
			last = w.Value
			big := testkit.Must(families.PrivateTransportBound(t.Context(), testkit.Must(metric.Scaled(f, 8)), a/8))
			if math.Abs(big.Value/w.Value-8) > 1e-9 {
				t.Errorf("%s, level %v: %v, in a space 8 times as large %v", name, a, w.Value, big.Value)
			}
			if more := testkit.Must(w.Prove(t.Context(), f, 2*a)); more > w.Value || more < w.Value/2.01 {
				t.Errorf("%s: %v at level %v, at twice the level %v", name, w.Value, a, more)
			}
		}
	}
}

// TestPrivateTransportBound_OnAnInterval: what is taken for the optimum on an interval is
// proved by the linear programs of points on it. A distribution on two points at distance 1 is
// a number in [0,1].
func TestPrivateTransportBound_OnAnInterval(t *testing.T) {
	two, line := space.Path(2, 1), testkit.Must(metric.Scaled(space.Path(33, 1), 1./32))
	for _, beta := range []float64{.1, 1, 2.25, 6, 16, .25, .5, .75, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 5, 8, 11}[:testkit.Sweep(5, 19)] {
		w := testkit.Must(families.PrivateTransportBound(t.Context(), two, beta))
		opt := testkit.Must(lp.Optimal(t.Context(), metric.Same(line), beta, &lp.Options{Tolerance: 1e-8}))
		if !(w.Value <= opt.DualBound && w.Value >= opt.Objective*(1-1e-4)) {
			t.Errorf("level %v: %v, the program is in [%v, %v]", beta, w.Value, opt.DualBound, opt.Objective)
		}
	}
}

// At levels near the largest float64 the upper end still follows alpha^(-1/(dim+1)): neither the
// number of weights nor its product with 2k overflows.
func TestMeasuresAccuracy_HasNoOverflow(t *testing.T) {
	const dim = 100
	order := func(alpha float64) float64 {
		return testkit.Must(families.MeasuresAccuracy(dim, alpha)).Hi * math.Pow(alpha, 1./(dim+1))
	}
	want := order(1e290)
	for _, alpha := range []float64{1e300, 1e304, 1e305, 1e306, 1e307, 1e308, math.MaxFloat64} {
		if got := order(alpha); !(math.Abs(got/want-1) < .01) {
			t.Errorf("alpha %v: the upper end is %v of its order, %v at 1e290", alpha, got, want)
		}
	}
}

// Where the level of a packing and the logarithm of its size nearly cancel the lower end is no
// more than exact exponents prove: 3^100 and more cells, whose number float64 rounds.
func TestLipschitzAccuracy_IsProvedWhereExponentsCancel(t *testing.T) {
	const dim, most = 100, 12
	exact := func(x float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(x) }
	ln2, _, err := big.ParseFloat("0.69314718055994530941723212145817656807550013436025525412068000949339362196969471560586332699641868754", 10, 400, big.ToNearestEven)
	testkit.Check(t, err)
	size := func(k float64) *big.Float { // the logarithm
		out := exact(1)
		for range dim {
			out.Mul(out, exact(k))
		}
		return out.Mul(out, ln2)
	}
	for k := 2.; k <= 7; k++ {
		alpha, _ := new(big.Float).Mul(size(k), exact(2*k)).Float64()
		for i := range 13 {
			level, best := alpha*(1+float64(i-6)*0x1p-52), 0.
			for q := 1.; q <= most; q++ {
				x := new(big.Float).Quo(exact(level), exact(2*q))
				exponent, _ := x.Sub(x, size(q)).Float64()
				best = max(best, -math.Expm1(exponent)/(2*q))
			}
			if got := testkit.Must(families.LipschitzAccuracy(dim, level)).Lo; got > best {
				t.Errorf("alpha %v: %v, exactly %v", level, got, best)
			}
		}
	}
}

// In the plane the net of k^2 cells and p k^2 weights loses a/k + b k^2/alpha, with a = (1+1/p)/2 and
// b = 2 (p ln(1+1/p) + ln(1+p)), at the best k 3/2 a^(2/3) (2b/alpha)^(1/3): 2.37 alpha^(-1/3) at the
// best p. And one block of 2^dim corners proves (2^dim-1) e^-alpha/2.
func TestMeasuresAccuracy_KnownAnswers(t *testing.T) {
	const alpha = 1e15
	want := math.Inf(1)
	for p := 1.; p <= 20; p++ {
		a, b := (1+1/p)/2, 2*(p*math.Log1p(1/p)+math.Log1p(p))
		want = min(want, 1.5*math.Pow(a*a*2*b/alpha, 1./3))
	}
	got := testkit.Must(families.MeasuresAccuracy(2, alpha)).Hi
	if math.Abs(got/want-1) > 1e-3 || got > 2.37*math.Pow(alpha, -1./3) {
		t.Errorf("%v, want %v", got, want)
	}
	for dim := 2; dim <= 6; dim++ {
		level := math.Log(math.Exp2(float64(dim))-1) + .05
		if got, want := testkit.Must(families.MeasuresAccuracy(dim, level)).Lo, math.Exp(-.05)/2; math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%d dimensions, alpha %v: %v, want %v", dim, level, got, want)
		}
	}
}

// Any weights prove at most the least mean loss under them as a prior, which a linear
// program finds, and exactly that where no test of a gap is lopsided.
func TestPathLoss_IsBelowThatOfThePrior(t *testing.T) {
	reached := 0
	for i := range testkit.Sweep(60, 600) {
		r := random.Seeded(uint64(i))
		gaps, eps := 1+r.IntN(6), .1+2*r.Float64()
		weights, sum := make([]float64, gaps+1), 0.0
		for x := range weights {
			weights[x] = math.Pow(r.Float64(), float64(i%4))
			weights[x] = weights[min(x, gaps-x)]
		}
		for _, w := range weights {
			sum += w
		}
		prior := make([]float64, gaps+1)
		for x, w := range weights {
			prior[x] = w / sum
		}
		got := families.PathLoss(weights, math.Exp(-eps))
		best := testkit.Must(lp.Optimal(t.Context(), metric.Same(space.Path(gaps+1, 1)), eps, &lp.Options{Prior: prior, Workers: 1}))
		if got > best.Objective*(1+1e-12) || got < .5*best.DualBound {
			t.Errorf("weights %v, eps %v: %v, the least mean loss is %v", weights, eps, got, best.Objective)
		}
		if got > best.DualBound*(1-1e-9) {
			reached++
		}
	}
	if reached < 10 {
		t.Errorf("the least mean loss was reached %d times", reached)
	}
}

// countLoss is the least worst loss, in counts, of some mechanisms for the number x of
// those among n records that are at the second of two points: x plus discrete Laplace
// noise at level eps, moved into [c, n-c].
func countLoss(n int, eps float64) float64 {
	best := float64(n) / 2 // n/2 whatever the data
	q := math.Exp(-eps)
	for i := range 8 {
		c := float64(i * (n / 2) / 8)
		// Where x-y has a gap between, at distance i from x, the noise passes it with probability
		// q^(i+1)/(1+q). From c inward the loss is largest in the middle; below c it falls with x.
		passed := func(from, gaps float64) float64 { // gaps at distances from, from+1, ...
			return math.Exp(-eps*from) * math.Expm1(-eps*gaps) / math.Expm1(-eps) * q / (1 + q)
		}
		left := math.Floor(float64(n)/2) - c
		middle := passed(0, left) + passed(0, float64(n)-2*c-left)
		best = min(best, max(middle, c+passed(c, float64(n)-2*c)))
	}
	return best
}

// The known loss of a count, where its mechanisms are alone.
func TestCountLoss_IsExact(t *testing.T) {
	for _, n := range []int{1, 2, 5, 16, 40} {
		for _, eps := range []float64{.1, 1, 3} {
			least := testkit.Must(lp.Optimal(t.Context(), metric.Same(space.Path(n+1, 1)), eps, nil))
			if loss := countLoss(n, eps); loss < least.DualBound || loss > 1.2*least.Objective {
				t.Errorf("%d records, eps %v: %v, the optimum is %v", n, eps, loss, least.Objective)
			}
		}
	}
	if loss := countLoss(32, 2) / 32; math.Abs(loss-.00862) > 1e-5 {
		t.Errorf("32 records at eps 2: %v, want .00862", loss)
	}
}

// TestPrivateDataBound_NoneIsBeatenByACount: data sets of up to 10,000 records at two points,
// where a mechanism counts.
func TestPrivateDataBound_NoneIsBeatenByACount(t *testing.T) {
	two := space.Path(2, 1)
	d := testkit.Must(domain.NewFinite(t.Context(), two, nil))
	beaten, cases := 0, 0
	step := testkit.Sweep(9, 1)
	for n := 1; n <= 10_000; n += max(step, n/testkit.Sweep(4, 20)) {
		for i := 0; i < 120; i += step {
			eps := .05 * float64(i+1)
			if i >= 60 {
				eps = 3 * math.Pow(50./3, float64(i-59)/60)
			}
			loss := countLoss(n, eps) * (1 + 1e-12)
			w := testkit.Must(families.PrivateDataBound(t.Context(), two, n, eps))
			proved := testkit.Must(w.Prove(t.Context(), two, eps*float64(n)))
			cases++
			if w.Value*float64(n) > loss || proved*float64(n) > loss {
				beaten++
				if beaten <= 5 {
					t.Errorf("%d records, eps %v: the bound %v (%v) is above %v", n, eps, w.Value, proved, loss/float64(n))
				}
			}
			if i%20 != 0 {
				continue
			}
			for _, o := range []measure.SynthesizerOptions{{}, {Relation: measure.AddRemoveOne}} {
				s := testkit.Must(measure.NewSynthesizer(d, eps, &o))
				least := testkit.Must(s.LowerBound(t.Context(), float64(n)))
				if loss := countLoss(n, s.Guarantee().Alpha()) * (1 + 1e-12); least*float64(n) > loss {
					t.Errorf("%d records, %v: the bound %v is above %v", n, s.Guarantee(), least, loss/float64(n))
				}
			}
		}
	}
	if beaten > 0 {
		t.Errorf("%d of %d bounds are beaten", beaten, cases)
	}
}

package entropy_test

import (
	"cmp"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

func uniform(_ testing.TB, r *rand.Rand, n int) metric.Finite { return space.Uniform(n, r) }

func ultra(t testing.TB, r *rand.Rand, n int) metric.Finite {
	h := make([]float64, n-1)
	for i := range h {
		h[i] = math.Exp(-3 * r.Float64())
	}
	return testkit.Must(metric.NewUltrametric(r.Perm(n), h))
}

// randomSpace is a metric, an ultrametric, or two of them, by its number.
func randomSpace(t testing.TB, number int) (metric.Bimetric, float64) {
	r := random.Seeded(uint64(number))
	n := 2 + r.IntN(24)
	kinds := []func(testing.TB, *rand.Rand, int) metric.Finite{uniform, ultra}
	b := metric.Same(kinds[number%2](t, r, n))
	if number%4 >= 2 {
		b.Utility = kinds[number/4%2](t, r, n)
	}
	return b, math.Exp(5*r.Float64() - 2)
}

// The optimum of the linear program of all mechanisms is A(Z, alpha). No
// lower bound is above it, and the best reaches the given fraction of it.
func TestLowerBounds_KnownOptima(t *testing.T) {
	testkit.Rounding(t)
	for _, c := range []struct {
		name     string
		f        metric.Finite
		alpha, a float64
		fraction float64
	}{
		{"path", space.Path(5, 1), 0.5, 1.00897714, 0.999},
		{"path", space.Path(5, 1), 1, 0.637582264, 0.999},
		{"path", space.Path(5, 1), 2, 0.260630630, 0.999},
		{"path of 50", space.Path(50, 1), 1, 0.850908003, 0.99},
		{"path of 50", space.Path(50, 1), 0.5, 1.89556756, 0.99},
		{"simplex", space.Simplex(4, 1), 1, 3 / (3 + math.E), 0.999},
		{"two points", space.Euclidean([][]float64{{0}, {0.5}}), 3, 0.5 / (1 + math.Exp(1.5)), 0.999},
		{"Halton", space.Halton(8), 1, 0.418945416, 0.99},
		{"Halton", space.Halton(8), 3, 0.275763386, 0.975},
		{"Halton", space.Halton(8), 10, 0.0543902960, 0.99},
	} {
		bounds := testkit.Must(entropy.LowerBounds(t.Context(), metric.Same(c.f), c.alpha, nil))
		// The optima are given to nine digits.
		if best := bounds[0].Value / c.a; best > 1+1e-8 || best < c.fraction {
			t.Errorf("%s, alpha %v: %v is %.4f of the optimum", c.name, c.alpha, bounds[0], best)
		} else {
			t.Logf("%s, alpha %v: %.4f by %s", c.name, c.alpha, best, bounds[0].Name)
		}
	}
}

func bound(t testing.TB, bounds []entropy.Bound, name string) entropy.Bound {
	t.Helper()
	for _, b := range bounds {
		if b.Name == name {
			return b
		}
	}
	t.Fatalf("no bound %q in %v", name, bounds)
	return entropy.Bound{}
}

// On random spaces: every lower bound is at most the exact loss of every mechanism, the bounds are
// ranked, every witness proves its bound again, and the theorems of BSV24 say less.
func TestBounds_Chain(t *testing.T) {
	testkit.Rounding(t)
	testkit.Slow(t)
	r := random.Seeded(9)
	for number := range testkit.Sweep(6, 45) {
		b, alpha := randomSpace(t, number)
		best := testkit.Must(exponential.Best(t.Context(), b, alpha, nil))
		var losses []entropy.Loss
		for _, c := range best.Candidates {
			if c.Err == nil {
				losses = append(losses, entropy.Loss{Name: string(c.Method), Value: c.Loss})
			}
		}
		a, err := testkit.Must(entropy.Accuracy(t.Context(), b, []float64{alpha}, nil))[0].With(losses...)
		if err != nil {
			t.Fatalf("space %d: %v", number, err)
		}
		if !(a.Lo <= a.Hi && a.Hi <= best.Objective) || a.Best(entropy.Upper).Value != a.Hi || a.Best(entropy.Lower).Value != a.Lo {
			t.Errorf("space %d: %v, best mechanism %v", number, a, best.Objective)
		}
		ranks := func(p, q entropy.Bound) int {
			if p.Kind == entropy.Lower && q.Kind == p.Kind {
				p, q = q, p
			}
			return cmp.Or(cmp.Compare(p.Kind, q.Kind), cmp.Compare(p.Value, q.Value))
		}
		if !slices.IsSortedFunc(a.Bounds, ranks) {
			t.Errorf("space %d: %v is not ranked", number, a.Bounds)
		}
		for _, v := range a.Bounds {
			switch {
			case v.Kind == entropy.Lower && v.Value > a.Hi || v.Kind == entropy.Upper && v.Value < a.Lo:
				t.Errorf("space %d: %v in %v", number, v, a)
			case v.Name == "closed star" && number < 30:
				checkStar(t, b, alpha, v.Witness.(entropy.Star))
			}
			if v.Witness != nil {
				if p, err := v.Witness.Prove(t.Context(), b, alpha); p != v.Value || err != nil {
					t.Errorf("space %d: %v is proved %v (%v)", number, v, p, err)
				}
			}
		}
		// The theorems of BSV24 say less.
		s := testkit.Must(scale.Entropic(t.Context(), b, []float64{2 * alpha}, nil))[0]
		so := testkit.Must(scale.Diametric(t.Context(), b, []float64{2 * alpha}, nil))[0]
		if a.Lo < max(s.Lo/8, so.Lo/5) {
			t.Errorf("space %d: %v, s %v, s_o %v", number, a, s, so)
		}
		if number < 60 {
			checkAnyWitness(t, r, b, alpha, best.Objective)
		}
	}
}

// checkAnyWitness: witnesses prove what they say with any numbers in them, no
// more than the loss of a mechanism.
func checkAnyWitness(t *testing.T, r *rand.Rand, b metric.Bimetric, alpha, loss float64) {
	n := b.Len()
	some := func() []int { return r.Perm(n)[:1+r.IntN(n)] }
	for range 20 {
		star := entropy.Star{X: r.IntN(n), Points: some()}
		for range star.Points {
			c := r.Float64()
			star.Weights = append(star.Weights, c)
			star.Radii = append(star.Radii, 2*r.Float64())
		}
		if v, err := star.Prove(t.Context(), b, alpha); err != nil || !(v >= 0 && v <= loss) {
			t.Errorf("%+v proves %v (%v), a mechanism loses %v", star, v, err, loss)
		}
		// Prices at random prove nothing: these are such that some costs are moved.
		p := entropy.Priced{Inputs: some()}
		for _, x := range p.Inputs {
			p.Prior = append(p.Prior, r.ExpFloat64())
			p.Prices = append(p.Prices, r.Float64()*b.Utility.Distance(x, p.Inputs[0]))
		}
		if v, err := p.Prove(t.Context(), b, alpha); err != nil || !(v >= 0 && v <= loss) {
			t.Errorf("%+v proves %v (%v), a mechanism loses %v", p, v, err, loss)
		}
	}
}

// checkStar: what a star proves is at most its formula in 300 bits, and close to it.
func checkStar(t *testing.T, b metric.Bimetric, alpha float64, star entropy.Star) {
	f := func(v float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(v) }
	got := testkit.Must(star.Prove(t.Context(), b, alpha))
	w := make([]*big.Float, len(star.Points))
	total, offset := f(0), f(0)
	for k, y := range star.Points {
		u := f(alpha)
		w[k], _ = exact.ExpBounds(u.Neg(u.Mul(u, f(b.Privacy.Distance(star.X, y)))), 260)
		kw := f(star.Weights[k])
		total.Add(total, kw.Mul(kw, w[k]))
		offset.Add(offset, kw.Mul(kw, f(star.Radii[k])))
	}
	var least *big.Float
	for z := range b.Len() {
		sum := f(0)
		for k, y := range star.Points {
			h := f(b.Utility.Distance(y, z))
			if h.Sub(h, f(star.Radii[k])); h.Sign() >= 0 {
				h.Mul(h, w[k]).Mul(h, w[k])
			}
			sum.Add(sum, h.Mul(h, f(star.Weights[k])))
		}
		if least == nil || sum.Cmp(least) < 0 {
			least = sum
		}
	}
	want := offset.Add(offset, least)
	want.Quo(want, total)
	if low, _ := want.Float64(); f(got).Cmp(want) > 0 || got < low*(1-1e-9) {
		t.Errorf("%v proved, exactly %v", got, want)
	}
}

// The linear program's mechanism is private and loses no less, on small spaces hardly more.
// The prices of the program prove no more in part, with others, or scaled.
func TestLowerBounds_BelowTheProgram(t *testing.T) {
	testkit.Slow(t)
	r := random.Seeded(60)
	for number := range testkit.Sweep(12, 60) {
		b, alpha := randomSpace(t, number)
		sub := r.Perm(b.Len())[:min(b.Len(), 9)]
		b = metric.Bimetric{Privacy: testkit.Must(metric.Subset(b.Privacy, sub)), Utility: testkit.Must(metric.Subset(b.Utility, sub))}
		a := testkit.Must(lp.Optimal(t.Context(), b, alpha, &lp.Options{Tolerance: 1e-6})).Objective
		bounds := testkit.Must(entropy.LowerBounds(t.Context(), b, alpha, nil))
		if v := bounds[0].Value; v > a || v < 0.93*a {
			t.Errorf("space %d: %v, the optimum is %v", number, bounds[0], a)
		}
		for _, v := range bounds {
			p, ok := v.Witness.(entropy.Priced)
			for range 20 {
				if !ok {
					break
				}
				q := entropy.Priced{Inputs: p.Inputs, Prior: slices.Clone(p.Prior), Prices: slices.Clone(p.Prices)}
				for i := range q.Prior {
					q.Prior[i] *= math.Exp(0.1 * r.NormFloat64())
					q.Prices[i] *= math.Exp(0.1 * r.NormFloat64())
				}
				if v := testkit.Must(q.Prove(t.Context(), b, alpha)); v > a {
					t.Errorf("space %d: %+v proves %v, the optimum is %v", number, q, v, a)
				}
			}
		}
	}
}

// Of 1,000 points of the plane, one a unit of area, the bracket is no wider than 1.4.
func TestAccuracy_ThousandPointsOfThePlane(t *testing.T) {
	testkit.Slow(t)
	for _, alpha := range []float64{0.1, 0.5, 2}[:testkit.Sweep(1, 3)] {
		if a := testkit.Must(entropy.Accuracy(t.Context(), metric.Same(plane(1000)), []float64{alpha}, nil))[0]; !(a.Ratio() <= 1.4) {
			t.Errorf("alpha %v: %v is %v wide", alpha, a, a.Ratio())
		}
	}
}

// On k points at distance 1, A = (k-1)/(k-1+e^alpha), by randomized response.
func TestLowerBounds_ExactOnSimplices(t *testing.T) {
	testkit.Rounding(t)
	testkit.Slow(t)
	for _, c := range []struct {
		k     int
		alpha float64
	}{{2, 0.1}, {2, 700}, {3, 1}, {10, 0.5}, {10, 5}, {40, 8}, {40, 12}, {40, 40}, {200, 300}, {1000, 12}, {1000, 1}}[:testkit.Sweep(9, 11)] {
		f := space.Simplex(c.k, 1)
		want := float64(c.k-1) / (float64(c.k-1) + math.Exp(c.alpha))
		if got := testkit.Must(entropy.LowerBounds(t.Context(), metric.Same(f), c.alpha, nil))[0]; got.Value > want*(1+1e-12) || got.Value < want*(1-1e-12) {
			t.Errorf("%d points, alpha %v: %v, want %v", c.k, c.alpha, got, want)
		}
	}
	// Two outputs of two points each: points at rho2-distance 0 are one, seen
	// from x where rho1 has them nearest.
	u := space.Func(4, func(i, j int) float64 { return math.Abs(float64(i/2 - j/2)) })
	p := space.Func(4, func(i, j int) float64 { return math.Abs(float64(i - j)) })
	b := metric.Bimetric{Privacy: p, Utility: u}
	want := 1 / (1 + math.E) // of points 1 and 2
	if got := testkit.Must(entropy.LowerBounds(t.Context(), b, 1, nil))[0]; got.Value > want || got.Value < want*(1-1e-3) {
		t.Errorf("%v, want %v", got, want)
	}
}

// The bounds do not depend on the number of workers.
func TestLowerBounds_Workers(t *testing.T) {
	b := metric.Same(uniform(t, random.Seeded(4), 40))
	one := testkit.Must(entropy.LowerBounds(t.Context(), b, 10, &entropy.Options{Workers: 1}))
	three := testkit.Must(entropy.LowerBounds(t.Context(), b, 10, &entropy.Options{Workers: 3}))
	if !reflect.DeepEqual(one, three) {
		t.Errorf("one worker: %v\nthree: %v", one, three)
	}
}

// The unit of rho2 multiplies the bounds, and that of rho1 divides alpha, from
// the least to the largest distances.
func TestLowerBounds_ScaleInvariant(t *testing.T) {
	testkit.Slow(t)
	f := testkit.Must(metric.Densify(t.Context(), uniform(t, random.Seeded(6), 12)))
	times := func(c float64) metric.Finite {
		return space.Func(f.Len(), func(i, j int) float64 { return f.Distance(i, j) * c })
	}
	for _, alpha := range []float64{20, 900, 0.5}[:testkit.Sweep(2, 3)] {
		want := testkit.Must(entropy.LowerBounds(t.Context(), metric.Same(f), alpha, nil))[0].Value
		for _, scale := range []float64{0x1p-996, 0x1p996} { // 1e-300 and 1e300
			if alpha == 900 && scale < 1 { // 1e-300 times e^-20
				continue
			}
			utility := metric.Bimetric{Privacy: f, Utility: times(scale)}
			if got := testkit.Must(entropy.LowerBounds(t.Context(), utility, alpha, nil))[0].Value / scale; math.Abs(got/want-1) > 1e-9 {
				t.Errorf("alpha %v, rho2 times %v: %v, want %v", alpha, scale, got, want)
			}
			privacy := metric.Bimetric{Privacy: times(scale), Utility: f}
			if got := testkit.Must(entropy.LowerBounds(t.Context(), privacy, alpha/scale, nil))[0].Value; math.Abs(got/want-1) > 1e-9 {
				t.Errorf("alpha %v, rho1 times %v: %v, want %v", alpha, scale, got, want)
			}
		}
	}
	// e^-1000 is no float64, 1e300 times it is.
	far := metric.Bimetric{Privacy: space.Simplex(3, 1000), Utility: space.Simplex(3, 1e300)}
	want := 2 * math.Exp(300*math.Ln10-1000)
	if got := testkit.Must(entropy.LowerBounds(t.Context(), far, 1, nil))[0]; got.Value > want*(1+1e-10) || got.Value < want*(1-1e-10) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Where the search is spared, the mechanism that says so is as good.
func TestLowerBounds_SparedSearch(t *testing.T) {
	testkit.Slow(t)
	spared, spaces := 0, testkit.Sweep(4, 20)
	for number := range spaces {
		b, _ := randomSpace(t, number)
		for _, alpha := range []float64{10, 100, 1000} {
			bounds := testkit.Must(entropy.LowerBounds(t.Context(), b, alpha, nil))
			if len(bounds) > 1 || bounds[0].Value == 0 {
				continue
			}
			spared++
			best := testkit.Must(exponential.Best(t.Context(), b, alpha, nil))
			if v := bounds[0].Value; v > best.Objective || v < best.Objective*(1-2e-3) {
				t.Errorf("space %d, alpha %v: %v, the best mechanism %v", number, alpha, v, best.Objective)
			}
		}
	}
	if spared < spaces {
		t.Errorf("spared %d times", spared)
	}
}

package query

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/metric"
)

// linearScaled is the average with a Lipschitz constant of l.
func linearScaled(l, p float64, dim int) Query[[]float64] {
	q := Average(additive.Norm{P: p, Dim: dim})
	q.Name, q.Lipschitz = "scaled", l
	q.Func = func(x, dst []float64) { floats.ScaleTo(dst, l, x) }
	return q
}

// Known answers: E Z_1^2 at l*omega = 1.
func TestLinear_SecondMomentKnownAnswers(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		p    float64
		dim  int
		want float64
	}{
		{1, 2, 2}, {2, 2, 3}, {inf, 2, 4}, {3, 2, 3.39628008}, {2, 5, 6}, {3, 5, 8.49070021}, {inf, 5, 14}, {2, 1, 2},
	} {
		for _, s := range []struct {
			model  emd.Model
			alpha  float64
			factor float64 // of the deviation at l = 3
		}{
			{emd.Model{Trust: emd.Local, Diameter: 1}, 3, 1}, {emd.Model{Trust: emd.Local, Users: 99, Items: 7, Diameter: 1}, 0.3, 10},
			{emd.Model{Trust: emd.Central, Users: 100, Diameter: 1}, 3, 0.01}, {emd.Model{Trust: emd.Central, Users: 1e9, Items: 5, Diameter: 1}, 3e-9, 1},
		} {
			l := testkit.Must(NewLinear(t.Context(), linearScaled(3, c.p, c.dim), s.model, emd.Promise{Alpha: s.alpha}, nil))
			if got := l.StdDev() / s.factor; math.Abs(got*got-c.want) > 1e-8*c.want {
				t.Errorf("p=%v d=%d %+v: %.10g, want %.10g", c.p, c.dim, s.model, got*got, c.want)
			}
		}
	}
}

// Known answers: sigma/l of the Gaussian, which is s/n in the central model.
// Its exact delta at the diameter is the target, less at shorter distances, and
// the paper's sigma fails there.
func TestLinear_GaussianKnownAnswers(t *testing.T) {
	for _, c := range []struct{ alpha, delta, diam, s float64 }{
		{0.5, 1e-6, 1, 8.0576185}, {1, 1e-6, 1, 4.2246789}, {5, 1e-6, 1, 0.980049}, {25, 1e-6, 1, 0.26023842},
		{0.5, 1e-12, 1, 12.844174}, {1, 1e-12, 1, 6.5578221}, {5, 1e-12, 1, 1.4098377}, {25, 1e-12, 1, 0.3343364},
		{1, 1e-6, 2, 4.46095254}, {5, 1e-6, 0.5, 0.910208496},
	} {
		for _, m := range []emd.Model{{Trust: emd.Local, Diameter: c.diam}, {Trust: emd.Central, Users: 1000, Diameter: c.diam}} {
			n := float64(max(1, m.Users))
			const l = 0.7
			lin := testkit.Must(NewLinear(t.Context(), linearScaled(l, 2, 4), m, emd.Promise{Alpha: c.alpha, Delta: c.delta}, nil))
			s := lin.StdDev() * n / l // per unit of d_EM
			if math.Abs(s-c.s) > 2e-7*c.s {
				t.Errorf("%+v: s = %.9g", c, s)
			}
			diam := lin.Guarantee().Model().Diameter
			last := 0.0
			for k := 1; k <= 20; k++ {
				got := additive.GaussianDelta(s, c.alpha, diam*float64(k)/20)
				if got < last || got > c.delta*(1+1e-5) {
					t.Errorf("%+v: delta %v at %d/20 of the diameter", c, got, k)
				}
				last = got
			}
			if last < c.delta*(1-1e-5) {
				t.Errorf("%+v: delta %v at the diameter: too much noise", c, last)
			}
		}
	}
	paper := math.Sqrt(1.25*math.Log(1e6)) / 25
	if got := additive.GaussianDelta(paper, 25, 1); got < 0.096 || got > 0.098 {
		t.Errorf("the paper's sigma: delta %v, is .097", got)
	}
	if l := testkit.Must(NewLinear(t.Context(), linearScaled(1, 2, 1), emd.Model{Trust: emd.Local, Diameter: 1}, emd.Promise{Alpha: 25, Delta: 1e-6}, nil)); l.StdDev() < 1.5*paper {
		t.Errorf("sigma %v is near the paper's %v", l.StdDev(), paper)
	}
}

// The level of the noise, brought back to d_EM in exact arithmetic, is at most
// alpha, and by less than 1e-12 of it below: by something, for the rounding of users' means.
func TestLinear_LevelIsRoundedDown(t *testing.T) {
	r := random.Seeded(5)
	for i := range 2000 {
		alpha, l := math.Exp(8*r.NormFloat64()), math.Exp(8*r.NormFloat64())
		model := emd.Model{Trust: emd.Central, Users: 1 + r.IntN(1e9), Items: 1 + r.IntN(1000), Diameter: 1}
		lin := testkit.Must(NewLinear(t.Context(), linearScaled(l, float64(1+i%2), 1+i%3), model, emd.Promise{Alpha: alpha}, nil))
		level := testkit.Ratio(lin.noise.(*additive.KNorm).Guarantee().Alpha())
		level.Mul(level, testkit.Ratio(l))
		if lin.noise.(*additive.KNorm).Guarantee().Alpha() == directed.DivDown(alpha, l) {
			t.Fatalf("alpha %v, l %v, %v: nothing is left for users' rounding", alpha, l, model)
		}
		if level.Cmp(testkit.Ratio(alpha)) > 0 || new(big.Rat).Mul(level, testkit.Ratio(1+1e-12)).Cmp(testkit.Ratio(alpha)) < 0 {
			f, _ := level.Float64()
			t.Fatalf("alpha %v, l %v, %v: the noise has %v", alpha, l, model, f)
		}

		// Gaussian noise reaches as far as the sum can move, and not much
		// farther.
		if i%100 != 0 { // it takes some ms to find
			continue
		}
		model.Diameter = math.Exp(8 * r.NormFloat64())
		lin = testkit.Must(NewLinear(t.Context(), linearScaled(l, 2, 1), model, emd.Promise{Alpha: alpha, Delta: 0.1}, nil))
		reach, move := lin.noise.(*additive.Gaussian).Guarantee().Reach(), new(big.Rat).Mul(testkit.Ratio(model.Diameter), testkit.Ratio(l))
		if testkit.Ratio(reach).Cmp(move) < 0 || testkit.Ratio(reach*(1-1e-12)).Cmp(move) > 0 {
			t.Fatalf("l %v, %v: reach %v", l, model, reach)
		}
	}
}

// TestLinear_UsersMeansAreExact: a user's mean of values as given, on the lattice or not,
// tiny, negative or large, is rounded up with just the probability that it says.
func TestLinear_UsersMeansAreExact(t *testing.T) {
	const step = 0x1p-3
	for seed := range uint64(300) {
		r := random.Seeded(seed)
		var s exact.Sum
		items, want := make([][]float64, 1+r.IntN(5)), new(big.Rat)
		for i := range items {
			v := []float64{r.NormFloat64(), 0.1, -1e-30, 5e-324, 1e12 * r.NormFloat64(), -3, 0, -0x1p-54}[r.IntN(8)]
			items[i] = []float64{v}
			want.Add(want, testkit.Ratio(v))
			if !addSteps(&s, v, step, 0x1p61) {
				t.Fatalf("%v is refused", v)
			}
		}
		want.Quo(want, testkit.Ratio(step*float64(len(items))))
		l := &Linear[[]float64]{query: linearScaled(1, 1, 1), step: step}
		whole, part := testkit.Dithered(func(rng *rand.Rand) int64 {
			w, p := s.Mean(rng, int64(len(items)), 4, stepErr, func(prec uint) exact.Enclosure {
				return l.enclose(0, items, []float64{0}, prec)
			})
			return w<<4 + int64(p)
		})
		// In units of 2^-4 steps.
		got := new(big.Rat).SetFrac(new(big.Int).SetUint64(part), big.NewInt(1<<56))
		got.Add(got, big.NewRat(whole, 1)).Quo(got, big.NewRat(16, 1))
		if off, _ := got.Sub(got, want).Float64(); math.Abs(off) > 0x1p-58 {
			t.Fatalf("seed %d: %v: off by %v steps", seed, items, off)
		}
	}
}

// TestLinear_NoiseIsWidenedForTheRounding by what the proofs of [NewLinear] ask for, where
// steps are so coarse that it shows, and a value too small to be counted in steps is known
// to be near only.
func TestLinear_NoiseIsWidenedForTheRounding(t *testing.T) {
	model := emd.Model{Trust: emd.Local, Diameter: 1}
	for _, c := range []struct {
		q          Query[[]float64]
		step, room float64
	}{
		{linearScaled(1, 1, 3), 0x1p40, 0x1p-12}, {linearScaled(1, 2, 1), 0x1p40, 0x1p-12},
		{linearScaled(1, 2, 3), 0x1p30, 72 * 0x1p-22}, {linearScaled(1, math.Inf(1), 2), 0, 32 * 0x1p-52},
	} {
		l := testkit.Must(NewLinear(t.Context(), c.q, model, emd.Promise{Alpha: 1}, &LinearOptions[[]float64]{Step: c.step}))
		if a := l.noise.(*additive.KNorm).Guarantee().Alpha(); a > 1/(1+c.room) || a < (1-1e-12)/(1+c.room) {
			t.Errorf("%+v, step %v: level %v", c.q.Norm, l.step, a)
		}
	}
	const step, delta = 0x1p26, 1e-6
	l := testkit.Must(NewLinear(t.Context(), linearScaled(1, 2, 3), model, emd.Promise{Alpha: 1, Delta: delta}, &LinearOptions[[]float64]{Step: step}))
	sigma := testkit.Must(additive.GaussianSigma(additive.GaussianTarget{Alpha: 1, Delta: delta, Diameter: 1}))
	g, room := l.noise.(*additive.Gaussian).Guarantee(), step*0x1p-52*3/(2.5*sigma*delta)
	if a := g.Alpha(); a > 1/(1+room) || a < (1-1e-12)/(1+room) || room < 1e-3 {
		t.Errorf("room %v: level %v", room, a)
	}
	if far := 1 + step*0x1p-52*math.Sqrt(3); g.Reach() < far || g.Reach() > far+1e-15 {
		t.Errorf("reach %v, want %v", g.Reach(), far)
	}
	var s exact.Sum
	if !addSteps(&s, 5e-324, 8, 1) || s == (exact.Sum{}) {
		t.Error("5e-324 of 8 is added as 0")
	}
}

// Noise on a fine lattice is not cut off before the release is: what is released with steps so
// fine that nearly all noise is, below any that NewLinear takes, is an end of the lattice for
// every item, and with the finest default the noise has its deviation, but for an event of
// probability 1e-9.
func TestLinear_FineStepsHideNothing(t *testing.T) {
	model := emd.Model{Trust: emd.Local, Diameter: 1}
	rng := rand.New(rand.NewPCG(3, 5))
	release := func(l *Linear[[]float64], x float64) float64 {
		return testkit.Must(l.Release(rng, testkit.Reusing([][]float64{{x}})))[0]
	}
	fine := testkit.Must(NewLinear(t.Context(), linearScaled(1, 1, 1), model, emd.Promise{Alpha: 1}, nil))
	fine.step = 0x1p-100
	fine.noise = testkit.Must(additive.NewKNorm(additive.Norm{P: 1, Dim: 1}, 1, &additive.Options{Grid: fine.step}))
	for _, x := range []float64{0, 0x1p-60, -0x1p-49} {
		if y := release(fine, x); math.Abs(y) != 0x1p52*fine.step {
			t.Errorf("%v is released as %v", x, y)
		}
	}
	least := testkit.Must(NewLinear(t.Context(), linearScaled(1, 1, 1), model, emd.Promise{Alpha: 1, Delta: 5e-26}, nil))
	sum := 0.0
	const n = 1000 // squares have the deviation sqrt(2/n) of their mean, and none is beyond 1/3
	for range n {
		z := release(least, 0) / least.StdDev()
		sum += z * z
	}
	if mean := sum / n; math.Abs(mean-1) > 1./3 {
		t.Errorf("the noise has %v of its variance", mean)
	}
}

// A step too coarse for Alpha, Delta or the dimension, or too fine for float64, is refused, and
// one of a million times the default is not.
func TestLinear_StepIsAsStated(t *testing.T) {
	model := emd.Model{Trust: emd.Local, Diameter: 1}
	for _, c := range []struct {
		p      float64
		dim    int
		target emd.Promise
		step   float64
		want   string
	}{
		{1, 3, emd.Promise{Alpha: 1}, 0x1p10, ""}, {2, 3, emd.Promise{Alpha: 1}, 0x1p10, ""}, {2, 3, emd.Promise{Alpha: 1, Delta: 1e-6}, 0x1p10, ""},
		{1, 1, emd.Promise{Alpha: 1}, 0x1p46, "Step"}, {2, 3, emd.Promise{Alpha: 1}, 0x1p40, "Step"}, {2, 3, emd.Promise{Alpha: 1, Delta: 1e-6}, 0x1p30, "Step"},
		{2, 3, emd.Promise{Alpha: 1, Delta: 1e-12}, 0, ""}, {2, 3, emd.Promise{Alpha: 1, Delta: 1e-25}, 0, ""}, {2, 1000, emd.Promise{Alpha: 1}, 0, ""},
		{1, 1, emd.Promise{Alpha: 1}, 0x1p-43, "Step"}, {1, 1, emd.Promise{Alpha: 1}, 0x1p-42, ""}, {2, 1, emd.Promise{Alpha: 1, Delta: 1e-30}, 0, "Step"},
	} {
		_, err := NewLinear(t.Context(), linearScaled(1, c.p, c.dim), model, c.target, &LinearOptions[[]float64]{Step: c.step})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestLinear_RoundingIsCovered: in the plane, for the norms of noise that depends between
// coordinates, the exact probability of every cell moves by no more than e^(alpha d), however
// near two means are, with as coarse a lattice of users' means as the proof of [NewLinear]
// allows for: by how much it is exceeded without the room left is the test's own check.
func TestLinear_RoundingIsCovered(t *testing.T) {
	for _, p := range []float64{2, math.Inf(1)} {
		const g, h, level = 1.0 / 4, 1.0 / 64, 1.0
		room := 8 * 4 * h / g
		norm := func(x, y float64) float64 {
			if p == 2 {
				return math.Hypot(x, y)
			}
			return max(math.Abs(x), math.Abs(y))
		}
		// mass is the noise's in the cell (i, j) of side g, seen from (x, y).
		mass := func(i, j int, x, y float64) (sum float64) {
			const n = 40
			for a := range n {
				for b := range n {
					sum += math.Exp(-level * norm((float64(i)+(float64(a)+.5)/n-.5)*g-x, (float64(j)+(float64(b)+.5)/n-.5)*g-y))
				}
			}
			return sum
		}
		worst := 0.0
		for i := -2; i <= 2; i++ {
			for j := -2; j <= 2; j++ {
				// Along a cell of the lattice at a corner of which noise has its peak.
				corner := [4]float64{mass(i, j, 0, 0), mass(i, j, h, 0), mass(i, j, 0, h), mass(i, j, h, h)}
				for _, s := range [][2]float64{{0, 0}, {.5, .5}, {1, 0}, {1, 1}} {
					at := corner[0]*(1-s[0])*(1-s[1]) + corner[1]*s[0]*(1-s[1]) + corner[2]*(1-s[0])*s[1] + corner[3]*s[0]*s[1]
					dx := (corner[1]-corner[0])*(1-s[1]) + (corner[3]-corner[2])*s[1]
					dy := (corner[2]-corner[0])*(1-s[0]) + (corner[3]-corner[1])*s[0]
					slope := math.Hypot(dx, dy) // the dual norm
					if p != 2 {
						slope = math.Abs(dx) + math.Abs(dy)
					}
					worst = max(worst, slope/h/at)
				}
			}
		}
		if worst > level*(1+room) {
			t.Errorf("p = %v: ln P changes by %v a unit, above %v", p, worst, level*(1+room))
		}
	}
}

// Items farther apart than the model says would be promised more than holds,
// the user level foremost: where a sample shows that, the model is refused.
func TestLinear_RefusesADiameterTooSmall(t *testing.T) {
	pts := [][]float64{{0, 0}} // the first is near all others
	for i := range 50 {
		pts = append(pts, []float64{math.Sin(float64(i)), 2 * math.Cos(float64(i))})
	}
	sample := testkit.Must(metric.NewPoints(pts, metric.Euclidean{}))
	for diam, want := range map[float64]string{0: "Model.Diameter = 0, want a positive number", 3.9: "above the model's diameter 3.9", 4: ""} {
		model := emd.Model{Trust: emd.Central, Users: 2, Items: 1, Diameter: diam}
		_, err := NewLinear(t.Context(), linearScaled(1, 2, 2), model, emd.Promise{Alpha: 1}, &LinearOptions[[]float64]{Sample: sample})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("diameter %v: %v, want %q", diam, err, want)
		}
	}
	one := testkit.Must(metric.NewPoints([][]float64{{1, 2}}, metric.Euclidean{}))
	if _, err := NewLinear(t.Context(), linearScaled(1, 2, 2), emd.Model{Trust: emd.Local, Diameter: 1}, emd.Promise{Alpha: 1}, &LinearOptions[[]float64]{Sample: one}); err != nil {
		t.Errorf("one point: %v", err)
	}
}

// With next to no noise a release is the mean over users of their means, users
// of many items counting as much as those of few.
func TestLinear_ReleasesTheMeanOfMeans(t *testing.T) {
	users := [][][]float64{{{1.1, 2}}, {{3, 4}, {5, 6}}, {{0, 0}, {0, 3}, {3, 0}, {9, 9}}}
	want := []float64{(1.1 + 4 + 3) / 3.0, (2 + 5 + 3) / 3.0}
	for _, target := range []emd.Promise{{Alpha: 1e11}, {Alpha: 1e11, Delta: 1e-9}} {
		model := emd.Model{Trust: emd.Central, Users: 3, Diameter: 10, Unit: "km"}
		l := testkit.Must(NewLinear(t.Context(), linearScaled(1, 2, 2), model, target, nil))
		for range 2 { // one state for all releases
			y := testkit.Must(l.Release(random.Seeded(1), testkit.Reusing(users...)))
			if !floats.EqualApprox(y, want, 1e-5) {
				t.Errorf("%v: %v, want %v", target, y, want)
			}
		}
		g := l.Guarantee()
		if g.Alpha() != target.Alpha || g.Delta() != target.Delta || g.Model() != model || g.Radius() != 0 {
			t.Errorf("guarantee %v", g)
		}
	}
	local := testkit.Must(NewLinear(t.Context(), linearScaled(1, 2, 2), emd.Model{Trust: emd.Local, Diameter: 1}, emd.Promise{Alpha: 1e12}, nil))
	if y := testkit.Must(local.Release(nil, emd.One(users[2]))); !floats.EqualApprox(y, []float64{3, 3}, 1e-5) {
		t.Errorf("local: %v", y)
	}
}

// From l1 the constant is attained, by steps along the columns, and refuted when
// stated smaller; and the noise is below that of the spectral norm, which the same
// query has from l2.
func TestLinearMap_FromL1(t *testing.T) {
	f := [][]float64{{1, 2, -1}, {0, 0.1, 0.2}, {3, 0, 1}}
	q := testkit.Must(LinearMap(f, Average(additive.Norm{P: 1, Dim: 3})))
	points := testkit.Must(metric.NewPoints([][]float64{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0.3, 0.4, -2}}, metric.Manhattan{}))
	w := testkit.Must(LipschitzAtLeast(t.Context(), q, points))
	if !(w.Ratio <= q.Lipschitz && w.Ratio > 1-1e-8) {
		t.Errorf("%v, constant %v", w, q.Lipschitz)
	}
	model, target := emd.Model{Trust: emd.Local, Diameter: 5}, emd.Promise{Alpha: 1}
	l := testkit.Must(NewLinear(t.Context(), q, model, target, &LinearOptions[[]float64]{Sample: points}))
	small := q
	small.Lipschitz *= 0.999
	if _, err := NewLinear(t.Context(), small, model, target, &LinearOptions[[]float64]{Sample: points}); err == nil {
		t.Error("a constant that is too small passed")
	}
	spectral := testkit.Must(NewLinear(t.Context(), testkit.Must(LinearMap(f, Average(additive.Norm{P: 2, Dim: 3}))), model, target, nil))
	if !(l.StdDev() < spectral.StdDev()) {
		t.Errorf("deviation %v, by the spectral norm %v", l.StdDev(), spectral.StdDev())
	}
	one := testkit.Must(LinearMap([][]float64{{1, -4, 2}}, Average(additive.Norm{P: 1, Dim: 3})))
	if one.Lipschitz < 4 || one.Lipschitz > 4*(1+1e-15) {
		t.Errorf("%+v", one.Norm)
	}
}

// No pair of points refutes the constant, and the nearest two attain it.
func TestShares_Constant(t *testing.T) {
	r := random.Seeded(1)
	for range 200 {
		pts := make([][2]float64, 2+r.IntN(9))
		for i := range pts {
			pts[i] = [2]float64{r.NormFloat64(), r.NormFloat64()}
		}
		space := testkit.Must(metric.NewPoints(pts, metric.Plane{}))
		q, weight, err := Shares(t.Context(), space)
		if err != nil || q.Lipschitz != 1 || q.Norm.P != 1 || q.Norm.Dim != len(pts) {
			t.Fatalf("%+v, %v", q, err)
		}
		tight := false
		for x, w := range weight {
			for y, v := range weight[:x] {
				d := space.Distance(x, y)
				tight = tight || w+v == d
				if w > d/2 || v > d/2 {
					t.Fatalf("weights %v and %v at distance %v", w, v, d)
				}
			}
		}
		if !tight {
			t.Error("no two points attain the constant")
		}
	}
}

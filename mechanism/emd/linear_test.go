package emd

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/metric"
)

// linearUsers walks the users, handing out one slice again and again, as a
// reader of files would.
func linearUsers[P any](users ...[]P) Users[P] {
	return func(yield func([]P) bool) {
		var buf []P
		for _, u := range users {
			buf = append(buf[:0], u...)
			if !yield(buf) {
				return
			}
		}
	}
}

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
			model  Model
			alpha  float64
			factor float64 // of the deviation at l = 3
		}{
			{Model{Trust: Local, Diameter: 1}, 3, 1}, {Model{Trust: Local, Users: 99, Items: 7, Diameter: 1}, 0.3, 10},
			{Model{Trust: Central, Users: 100, Diameter: 1}, 3, 0.01}, {Model{Trust: Central, Users: 1e9, Items: 5, Diameter: 1}, 3e-9, 1},
		} {
			l := testkit.Must(NewLinear(t.Context(), linearScaled(3, c.p, c.dim), s.model, Target{Alpha: s.alpha}, nil))
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
		for _, m := range []Model{{Trust: Local, Diameter: c.diam}, {Trust: Central, Users: 1000, Diameter: c.diam}} {
			n := float64(max(1, m.Users))
			const l = 0.7
			lin := testkit.Must(NewLinear(t.Context(), linearScaled(l, 2, 4), m, Target{Alpha: c.alpha, Delta: c.delta}, nil))
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
	if l := testkit.Must(NewLinear(t.Context(), linearScaled(1, 2, 1), Model{Trust: Local, Diameter: 1}, Target{25, 1e-6}, nil)); l.StdDev() < 1.5*paper {
		t.Errorf("sigma %v is near the paper's %v", l.StdDev(), paper)
	}
}

// The level of the noise, brought back to d_EM in exact arithmetic, is at most
// alpha, and by less than 1e-15 of it below.
func TestLinear_LevelIsRoundedDown(t *testing.T) {
	r := random.Seeded(5)
	exact := func(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }
	for i := range 2000 {
		alpha, l := math.Exp(8*r.NormFloat64()), math.Exp(8*r.NormFloat64())
		model := Model{Trust: Central, Users: 1 + r.IntN(1e9), Items: 1 + r.IntN(1000), Diameter: 1}
		check := func(level *big.Rat) {
			t.Helper()
			if level.Cmp(exact(alpha)) > 0 || new(big.Rat).Mul(level, exact(1+1e-15)).Cmp(exact(alpha)) < 0 {
				f, _ := level.Float64()
				t.Fatalf("alpha %v, l %v, %v: the noise has %v", alpha, l, model, f)
			}
		}
		lin := testkit.Must(NewLinear(t.Context(), linearScaled(l, 1, 1), model, Target{Alpha: alpha}, nil))
		level := exact(lin.noise.(*additive.KNorm).Guarantee().Alpha())
		check(level.Mul(level, exact(l)).Quo(level, exact(float64(model.Users))))
		step := math.Exp(8 * r.NormFloat64())
		grid := testkit.Must(NewGridLinear(t.Context(), linearScaled(l, 1, 1), step, model, Target{Alpha: alpha}, nil))
		level = exact(grid.noise.(*additive.DiscreteLaplace).Guarantee().Alpha())
		check(level.Mul(level, exact(float64(model.Items))).Mul(level, exact(l)).Quo(level, exact(step)))

		// Gaussian noise reaches as far as the mean can move, and not much
		// farther.
		if i%100 != 0 { // it takes some ms to find
			continue
		}
		model.Diameter = math.Exp(8 * r.NormFloat64())
		lin = testkit.Must(NewLinear(t.Context(), linearScaled(l, 2, 1), model, Target{alpha, 0.1}, nil))
		covers := func(reach float64, move *big.Rat) {
			t.Helper()
			if exact(reach).Cmp(move) < 0 || exact(reach*(1-1e-15)).Cmp(move) > 0 {
				t.Fatalf("l %v, %v: reach %v", l, model, reach)
			}
		}
		move := new(big.Rat).Mul(exact(model.Diameter), exact(l))
		covers(lin.noise.(*additive.Gaussian).Guarantee().Reach(), move.Quo(move, exact(float64(model.Users))))
		// At most 20 items of step 1/l or so, for the sake of time: the
		// discrete law is summed up.
		model.Items, model.Diameter = 1+r.IntN(20), 1+r.Float64()
		step = 0.9 * l * r.Float64()
		grid = testkit.Must(NewGridLinear(t.Context(), linearScaled(l, 1, 1), step, model, Target{step / l, 0.1}, nil))
		move.Mul(exact(model.Diameter), exact(l)).Mul(move, exact(float64(model.Items))).Quo(move, exact(step))
		covers(grid.noise.(*additive.DiscreteGaussian).Guarantee().Reach(), move)
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
		model := Model{Trust: Central, Users: 2, Items: 1, Diameter: diam}
		_, err := NewLinear(t.Context(), linearScaled(1, 2, 2), model, Target{Alpha: 1}, &LinearOptions[[]float64]{Sample: sample})
		l1 := linearSteps(2)
		l1.Lipschitz = 2
		_, err2 := NewGridLinear(t.Context(), l1, 1, model, Target{Alpha: 1}, &GridLinearOptions[[]float64]{Sample: sample})
		for i, err := range []error{err, err2} {
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%d, diameter %v: %v, want %q", i, diam, err, want)
			}
		}
	}
	one := testkit.Must(metric.NewPoints([][]float64{{1, 2}}, metric.Euclidean{}))
	if _, err := NewLinear(t.Context(), linearScaled(1, 2, 2), Model{Trust: Local, Diameter: 1}, Target{Alpha: 1}, &LinearOptions[[]float64]{Sample: one}); err != nil {
		t.Errorf("one point: %v", err)
	}
}

// With next to no noise a release is the mean over users of their means, users
// of many items counting as much as those of few.
func TestLinear_ReleasesTheMeanOfMeans(t *testing.T) {
	users := [][][]float64{{{1, 2}}, {{3, 4}, {5, 6}}, {{0, 0}, {0, 3}, {3, 0}, {9, 9}}}
	want := []float64{(1 + 4 + 3) / 3.0, (2 + 5 + 3) / 3.0}
	for _, target := range []Target{{Alpha: 1e11}, {Alpha: 1e11, Delta: 1e-9}} {
		model := Model{Trust: Central, Users: 3, Diameter: 10, Unit: "km"}
		l := testkit.Must(NewLinear(t.Context(), linearScaled(1, 2, 2), model, target, nil))
		for range 2 { // one state for all releases
			y := testkit.Must(l.Release(random.Seeded(1), linearUsers(users...)))
			if !floats.EqualApprox(y, want, 1e-5) {
				t.Errorf("%v: %v, want %v", target, y, want)
			}
		}
		g := l.Guarantee()
		if g.Alpha() != target.Alpha || g.Delta() != target.Delta || g.Model() != model || g.Radius() != 0 {
			t.Errorf("guarantee %v", g)
		}
	}
	local := testkit.Must(NewLinear(t.Context(), linearScaled(1, 2, 2), Model{Trust: Local, Diameter: 1}, Target{Alpha: 1e12}, nil))
	if y := testkit.Must(local.Release(nil, One(users[2]))); !floats.EqualApprox(y, []float64{3, 3}, 1e-5) {
		t.Errorf("local: %v", y)
	}
}

// Deviation and radius are those of the releases: six standard errors from
// fourth moments, and of a proportion (false-reject probability below 1e-8
// each).
func TestLinear_ErrorsAreAsStated(t *testing.T) {
	const draws, prob = 20_000, 0.9
	for _, c := range []struct {
		p      float64
		target Target
	}{{1, Target{Alpha: 2}}, {2, Target{Alpha: 2}}, {math.Inf(1), Target{Alpha: 2}}, {3, Target{Alpha: 2}}, {2, Target{2, 1e-6}}} {
		l := testkit.Must(NewLinear(t.Context(), linearScaled(0.5, c.p, 3), Model{Trust: Central, Users: 2, Diameter: 1}, c.target, nil))
		data := linearUsers([][]float64{{1, 0, 0}}, [][]float64{{0, 1, 1}})
		r := random.Seeded(6)
		m2, m4, within := 0.0, 0.0, 0.0
		for range draws {
			y := testkit.Must(l.Release(r, data))
			floats.AddConst(-0.25, y)
			for _, v := range y {
				m2 += v * v / (3 * draws)
				m4 += v * v * v * v / (3 * draws)
			}
			if floats.Norm(y, c.p) <= l.RadiusQuantile(prob) {
				within += 1.0 / draws
			}
		}
		if want := l.StdDev() * l.StdDev(); math.Abs(m2-want) > 6*math.Sqrt((m4-m2*m2)/draws) {
			t.Errorf("%+v: mean square %v, stated %v", c, m2, want)
		}
		if math.Abs(within-prob) > 6*math.Sqrt(prob*(1-prob)/draws) {
			t.Errorf("%+v: %v within the radius, want %v", c, within, prob)
		}
	}
}

func BenchmarkLinear(b *testing.B) {
	const users, items = 1000, 1000 // 10^6 items a release
	for _, c := range []struct {
		name string
		q    Query[[]float64]
	}{
		{"average", Average(additive.Norm{P: 2, Dim: 2})},
		{"landmark", testkit.Must(Landmarks(metric.Euclidean{}, 1, []float64{0.5, 0.5}))},
		{"bell", testkit.Must(Ball(metric.Euclidean{}, []float64{0.5, 0.5}, 0.1, Smoothing{Width: 0.1, Kernel: Bell}))},
	} {
		b.Run(fmt.Sprintf("%s/items=%d", c.name, users*items), func(b *testing.B) {
			l := testkit.Must(NewLinear(b.Context(), c.q, Model{Trust: Central, Users: users, Diameter: 2}, Target{Alpha: 1}, nil))
			one := linearPlane(items, 1)
			data := func(yield func([][]float64) bool) {
				for range users {
					if !yield(one) {
						return
					}
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				testkit.Must(l.Release(nil, data))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(users*items), "ns/item")
		})
	}
}

// Seeded releases repeat; the query sees items in order.
func TestLinear_Repeats(t *testing.T) {
	q := testkit.Must(Landmarks(metric.Euclidean{}, 1, []float64{0, 0}))
	l := testkit.Must(NewLinear(t.Context(), q, Model{Trust: Central, Users: 1, Diameter: 1}, Target{Alpha: 1}, &LinearOptions[[]float64]{Grid: 0x1p-10}))
	a := testkit.Must(l.Release(random.Seeded(9), One([][]float64{{3, 4}})))
	b := testkit.Must(l.Release(random.Seeded(9), One([][]float64{{3, 4}})))
	if !slices.Equal(a, b) || a[0] != math.Round(a[0]*1024)/1024 {
		t.Errorf("%v and %v", a, b)
	}
}

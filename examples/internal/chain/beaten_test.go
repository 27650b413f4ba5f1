package chain

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/entropy/families"
	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/examples/internal/cities"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/mechanism/exponential/kl10"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/private"
	"github.com/metricdp/metricdp/metric"
)

// The tests below set every lower bound of the library against an explicit mechanism,
// whose worst loss is exact: none may lose less. What is added to a loss for the rounding
// of float64 is a relative exact.
const exact = 1 + 1e-12

// levels returns those at which bounds are tried, up to 50 a unit.
func levels() []float64 {
	if long() {
		return []float64{.05, .2, .5, 1, 2, 3.5, 6, 10, 20, 50}
	}
	return []float64{.2, 1, 3.5, 10, 50}
}

// TestLowerBounds_NoneIsBeatenByNoise: what the bounds say of a line, of distributions on
// two points, of balls and of functions, where noise has a loss in closed form.
func TestLowerBounds_NoneIsBeatenByNoise(t *testing.T) {
	two, line := space.Path(2, 1), metric.Same(space.Path(testkit.Sweep(24, 300), 1))
	d := testkit.Must(domain.NewFinite(t.Context(), two, nil))
	below := func(name string, level, bound, loss float64) {
		t.Helper()
		if !(bound <= loss*exact) {
			t.Errorf("%s, level %v: the bound %v is above %v", name, level, bound, loss)
		}
	}
	for _, level := range append(levels(), 300, 1e4) {
		// A number in [0,1], and Laplace noise cut off at the ends.
		number := -math.Expm1(-level/2) / level
		below("measures", level, testkit.Must(families.PrivateMeasureBound(t.Context(), two, level)).Value, number)
		below("measures in W1", level, testkit.Must(families.PrivateTransportBound(t.Context(), two, level)).Value, number)
		m := testkit.Must(private.New(d, level, nil))
		below("Measure.LowerBound", level, testkit.Must(m.LowerBound(t.Context())), number)
		for dim := 1; dim <= 4; dim++ {
			// Noise of density prop. to e^(-level ||z||), whose mean norm is dim/level.
			d := float64(dim)
			below("ball", level, testkit.Must(families.BallAccuracy(dim, level)).Lo, min(1, d/level))
			measures, functions := .5, 1.
			for k := 1.; k < 100; k++ {
				// The same for the integrals of a distribution function over k cells, and
				// for the values of a function at k^dim centers.
				measures = min(measures, k/level+1/(2*k))
				functions = min(functions, math.Pow(k, d)/level+1/(2*k))
			}
			below("functions", level, testkit.Must(families.LipschitzAccuracy(dim, level)).Lo, functions)
			if dim == 1 {
				below("measures on the line", level, testkit.Must(families.MeasuresAccuracy(1, level)).Lo, measures)
			}
		}
		if level > 50 {
			continue
		}
		noise := 1 / math.Sinh(level) // discrete Laplace noise
		for _, l := range testkit.Must(entropy.LowerBounds(t.Context(), line, level, nil)) {
			below(l.Name, level, l.Value, noise)
		}
		ends := []int{0, line.Len() / 2, line.Len() - 1}
		below("packing", level, testkit.Must(lp.LowerBound(t.Context(), line, level, ends)).Value, noise)
		opt := testkit.Must(lp.Optimal(t.Context(), line, level, nil))
		below("Optimal", level, opt.DualBound, noise)
		sparse := testkit.Must(lp.Spanner(t.Context(), line, level, nil))
		below("Spanner", level, sparse.DualBound, noise)
		shorter := testkit.Must(metric.Subset(line.Privacy, []int{0, 1, 2, 3, 4, 5, 6, 7}))
		least, _, err := entropy.LevelFor(t.Context(), metric.Same(shorter), noise*exact, nil)
		testkit.Check(t, err)
		below("LevelFor", level, least, level)
		for gamma := range 3 { // missed with probability 2 q^(gamma+1)/(1+q)
			q := math.Exp(-level)
			target := kl10.Target{Gamma: float64(gamma), Delta: 2 * math.Pow(q, float64(gamma+1)) / (1 + q) * exact}
			if target.Delta < 1 {
				below("LevelLowerBound", level, testkit.Must(lp.LevelLowerBound(t.Context(), line, target)).Level, level)
				if gamma == 1 {
					best := testkit.Must(lp.MostPrivate(t.Context(), metric.Same(shorter), target, nil))
					below("MostPrivate", level, best.Level.Lo, level)
				}
			}
		}
	}
}

// TestLowerBounds_NoneIsBeatenByAProgram: small spaces of any kind, data sets on some
// points, and sequences, where a linear program has the mechanism.
func TestLowerBounds_NoneIsBeatenByAProgram(t *testing.T) {
	optimum := func(b metric.Bimetric, alpha float64) float64 {
		s := testkit.Must(lp.Optimal(t.Context(), b, alpha, &lp.Options{Workers: 1}))
		loss, _ := testkit.Must(s.Channel.Loss(t.Context(), b.Utility)).Worst()
		if audit := testkit.Must(s.Channel.Audit(t.Context(), b.Privacy, nil)); audit.Hi > alpha || !(s.DualBound <= loss*(1+lossTol)) {
			t.Errorf("level %v: %v of %v, audited %v", alpha, s.DualBound, loss, audit)
		}
		return loss * (1 + lossTol)
	}
	for i := range testkit.Sweep(4, 200) {
		r := random.Seeded(uint64(i))
		n := 2 + r.IntN(8)
		b := metric.Bimetric{Privacy: space.Uniform(n, r), Utility: space.Uniform(n, r)}
		switch i % 4 {
		case 0:
			b = metric.Same(b.Privacy)
		case 1:
			b.Privacy = space.Simplex(n, float64(r.IntN(2)))
		case 2:
			b = metric.Same(space.Tree(n, .1, r))
		}
		for _, alpha := range levels() {
			loss := optimum(b, alpha)
			bounds := testkit.Must(entropy.LowerBounds(t.Context(), b, alpha, nil))
			bounds = append(bounds, testkit.Must(lp.LowerBound(t.Context(), b, alpha, r.Perm(n)[:1+r.IntN(n)])),
				testkit.Must(entropy.Accuracy(t.Context(), b, []float64{alpha}, nil))[0].Best(entropy.Lower),
				entropy.Bound{Name: "s/8", Value: testkit.Must(scale.Entropic(t.Context(), b, []float64{2 * alpha}, nil))[0].Lo / 8},
				entropy.Bound{Name: "s_o/5", Value: testkit.Must(scale.Diametric(t.Context(), b, []float64{2 * alpha}, nil))[0].Lo / 5})
			for _, l := range bounds {
				if !(l.Value <= loss) {
					t.Errorf("space %d, level %v: %v is above %v", i, alpha, l, loss)
				}
			}
			if loss > 0 {
				if least, by, err := entropy.LevelFor(t.Context(), b, loss, nil); err != nil || least > alpha {
					t.Errorf("space %d: level %v for %v by %v, which %v attains (%v)", i, least, loss, by, alpha, err)
				}
			}
		}
	}
	for _, c := range []struct {
		f metric.Finite
		m int
	}{{space.Path(3, 1), 4}, {space.Simplex(3, 1), 5}, {space.Path(4, 1), 3}, {space.Path(2, 5), 16}, {testkit.Must(cities.Largest(5)), 2}} {
		sets := measures(t, c.f, c.m)
		for _, eps := range levels() {
			loss := optimum(sets, eps*float64(c.m))
			w := testkit.Must(families.PrivateDataBound(t.Context(), c.f, c.m, eps))
			for pairs := range c.f.Len() / 2 { // and witnesses of all sizes
				w.Pairs = append(w.Pairs[:pairs:pairs], [2]int{2 * pairs, 2*pairs + 1})
				if v := testkit.Must(w.Prove(t.Context(), c.f, eps*float64(c.m))); max(v, w.Value) > loss {
					t.Errorf("%d records on %d points, eps %v: %v (%v) is above %v", c.m, c.f.Len(), eps, w.Value, v, loss)
				}
			}
		}
	}
	for _, depth := range []int{1, 2, 3} {
		z := baire(depth, 2+depth%2)
		b := testkit.Must(z.Space())
		for _, alpha := range levels() {
			loss := optimum(b, alpha)
			s, so := testkit.Must(z.EntropicScale(2*alpha)), testkit.Must(z.DiametricScale(2*alpha))
			if max(s.Lo/8, so.Lo/5) > loss {
				t.Errorf("sequences of %d letters, level %v: scales %v and %v, a mechanism loses %v", depth, alpha, s, so, loss)
			}
		}
	}
}

package emd

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
)

// linearSteps is the identity on multiples of a step.
func linearSteps(dim int) Query[[]float64] { return Average(additive.Norm{P: 1, Dim: dim}) }

// The sum of a user's values plus the noise, clamped to [-60, 60] units, is a
// channel from the multisets of 2 and 3 items to the integers: its audited
// level under d_EM is alpha, no more, and attained.
func TestGridLinear_AuditedExactly(t *testing.T) {
	const step, alpha, top = 0.25, 1.5, 60
	values := []float64{0, 0.25, 0.5, 1.25} // on the line, d_X = |x-y|
	pts := make([][]float64, len(values))
	for i, v := range values {
		pts[i] = []float64{v}
	}
	line := testkit.Must(metric.NewPoints(pts, metric.Euclidean{}))
	for m := 2; m <= 3; m++ {
		model := Model{Trust: Central, Users: 5, Items: m, Diameter: 1.25}
		l := testkit.Must(NewGridLinear(t.Context(), linearSteps(1), step, model, Target{Alpha: alpha}, nil))
		level := l.noise.(*additive.DiscreteLaplace).Guarantee().Alpha()
		sets := multisets(len(pts), m)
		sum := func(s []int) (k float64) {
			for _, i := range s {
				k += values[i] / step
			}
			return k
		}
		c := testkit.Must(mechanism.NewChannel(t.Context(), mechanism.Rows{
			Inputs: len(sets), Outputs: 2*top + 1, Log: true,
			Fill: func(x int, dst []float64) {
				for y := range dst {
					dst[y] = -level * math.Abs(float64(y-top)-sum(sets[x]))
				}
				for _, end := range []int{0, 2 * top} { // all beyond: 1 + t + t^2 + ...
					dst[end] -= math.Log(-math.Expm1(-level))
				}
			},
		}, nil))
		var upper []float64
		for i, a := range sets {
			for _, b := range sets[i+1:] {
				upper = append(upper, testkit.Must(wasserstein.DistanceEM(t.Context(), line, a, b)))
			}
		}
		audit := testkit.Must(c.Audit(t.Context(), testkit.Must(metric.NewDense(len(sets), upper)), nil))
		if audit.Hi > alpha*(1+1e-12) || audit.Lo < alpha*(1-1e-12) {
			t.Errorf("m=%d: %v, want %v", m, audit, alpha)
		}
	}
}

// Releases have the law of the discrete Laplace noise around the sum
// (false-reject probability 1e-6 each).
func TestGridLinear_Law(t *testing.T) {
	const draws, top = 100_000, 40
	model := Model{Trust: Central, Users: 2, Items: 2, Diameter: 1}
	l := testkit.Must(NewGridLinear(t.Context(), linearSteps(2), 0.1, model, Target{Alpha: 4}, nil)) // level 0.2 a unit
	data := linearUsers([][]float64{{0.1, 0.3}, {0.2, -0.7}}, [][]float64{{0, 0}, {1.1, 0.1}})
	sums := [2]int64{14, -3}
	r := random.Seeded(7)
	var count [2][]int
	for j := range count {
		count[j] = make([]int, 2*top+1)
	}
	radius, within := l.CoordinateQuantile(0.8), 0
	for range draws {
		u := testkit.Must(l.ReleaseSum(r, data))
		in := true
		for j := range count {
			z := u[j] - sums[j]
			in = in && math.Abs(float64(z))*l.Spacing() <= radius*(1+1e-12)
			count[j][min(max(z, -top), top)+top]++
		}
		if in {
			within++
		}
	}
	p := make([]float64, 2*top+1)
	level := 0.2
	for i := range p {
		p[i] = math.Tanh(level/2) * math.Exp(-level*math.Abs(float64(i-top)))
	}
	p[0] /= -math.Expm1(-level)
	p[2*top] = p[0]
	for j := range count {
		testkit.ChiSquare(t, count[j], p, 1e-6)
	}
	// Six standard errors below 0.8, and at most one step of the law above.
	if f := float64(within) / draws; f < 0.8-6*0.4/math.Sqrt(draws) || f > 0.88 {
		t.Errorf("%v within the radius of 0.8", f)
	}
	v := 0.0
	for i, q := range p {
		v += q * float64((i-top)*(i-top))
	}
	if got := l.StdDev() / l.Spacing(); math.Abs(got*got-v) > 0.05*v { // the clamped ends hold 4 percent
		t.Errorf("variance %v, want about %v", got*got, v)
	}
	// Releases are units times the unit.
	y, u := testkit.Must(l.Release(random.Seeded(8), data)), testkit.Must(l.ReleaseSum(random.Seeded(8), data))
	for j := range y {
		if math.Abs(y[j]-float64(u[j])*l.Spacing()) > 1e-12 {
			t.Errorf("%v and %v units", y, u)
		}
	}
}

// One dimension with a delta: the discrete Gaussian at the distance m l diam/h.
func TestGridLinear_DiscreteGaussian(t *testing.T) {
	model := Model{Trust: Central, Users: 100, Items: 10, Diameter: 2}
	target := Target{Alpha: 1, Delta: 1e-6}
	l := testkit.Must(NewGridLinear(t.Context(), linearSteps(1), 0.5, model, target, nil))
	sigma := l.noise.(*additive.DiscreteGaussian).Sigma()
	for d := int64(1); d <= 40; d++ { // 20 units a unit of d_EM
		if got := additive.DiscreteGaussianDelta(sigma, target.Alpha/20, d); got > target.Delta {
			t.Errorf("delta %v at %d units", got, d)
		}
	}
	if additive.DiscreteGaussianDelta(sigma*(1-1e-6), target.Alpha/20, 40) <= target.Delta {
		t.Error("sigma is larger than it need be")
	}
	// The real mechanism on the same means needs as much.
	g := testkit.Must(NewLinear(t.Context(), linearScaled(1, 2, 1), model, target, nil))
	if math.Abs(l.StdDev()-g.StdDev()) > 1e-3*g.StdDev() {
		t.Errorf("deviation %v, of the real Gaussian %v", l.StdDev(), g.StdDev())
	}
	// P{|Z| > r} <= 1-p for the stated radius, summed.
	for _, p := range []float64{0.01, 0.5, 0.95, 0.999999} {
		r := math.Round(l.CoordinateQuantile(p) / l.Spacing())
		in, all := 0.0, 0.0
		for k := -2000.0; k <= 2000; k++ {
			w := math.Exp(-k * k / (2 * sigma * sigma))
			all += w
			if math.Abs(k) <= r {
				in += w
			}
		}
		if in/all < p {
			t.Errorf("radius %v for %v holds %v", r, p, in/all)
		}
	}
}

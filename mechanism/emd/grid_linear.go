package emd

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/metric"
)

// GridLinear is [Linear] for a query whose values are multiples of a step h, in
// exact integer arithmetic: integer noise is added to the sum of all values in
// units of h, which only then is divided by the number of items. The stated
// promise is that of the bits.
//
// Every user must hold the same public number m of items, as the divisor must
// not depend on the data: unbounded models are refused. One user whose items
// change by d_EM moves the sum by at most m*Lipschitz*d_EM/h units.
//
// Without Delta the noise is independent discrete Laplace on the coordinates
// ([additive.DiscreteLaplace]) and needs the l1 norm. With Delta it is the
// discrete Gaussian ([additive.DiscreteGaussian]), in one dimension only, and
// Model.Diameter bounds the distances covered. Immutable and safe for
// concurrent use if the query is.
type GridLinear[P any] struct {
	means[P]
	step  float64
	noise interface {
		Release(rng *rand.Rand, x int64) (int64, error)
	}
	deviation float64               // of the noise, in units
	quantile  func(float64) float64 // of its absolute value
}

// gridSlack is how far, relatively, a value may be from a multiple of the step,
// the nearest of which is released: a step such as 0.1 is rounded. Up to
// maxUnits the slack is at most 1/64 of a step, so that values between two
// multiples are found out.
const (
	gridSlack = 0x1p-46
	maxUnits  = 1 << 40
)

// GridLinearOptions tune [NewGridLinear]; nil and zero are the defaults.
type GridLinearOptions[P any] struct {
	Sample   *metric.Points[P] // as in [LinearOptions]
	Contains func(P) bool      // as in [LinearOptions]
}

// NewGridLinear returns the mechanism with the promise of the target in the
// model, for a query whose values are multiples of step > 0, for which its
// constant must hold. Errors are those of [NewLinear], for noise of level
// Alpha*step/(m*Lipschitz).
func NewGridLinear[P any](ctx context.Context, q Query[P], step float64, model Model, target Target, o *GridLinearOptions[P]) (*GridLinear[P], error) {
	const op = "emd: NewGridLinear"
	o = cmp.Or(o, &GridLinearOptions[P]{})
	m, err := newMeans(ctx, op, q, model, target, o.Sample, o.Contains)
	if err := cmp.Or(err, fault.Positive(op, "step", step)); err != nil {
		return nil, err
	}
	if !m.model.Bounded() {
		return nil, fault.Value(op, "Model.Items", 0, "the number of items of every user: means of different numbers are on no grid")
	}
	// Integers that are (level, Delta)-private per unit are
	// (level*factor, Delta)-private per d_EM.
	factor := directed.DivUp(directed.MulUp(float64(m.model.Items), q.Lipschitz), step)
	level := directed.DivDown(target.Alpha, factor)
	l := &GridLinear[P]{means: m, step: step}
	if target.Delta == 0 {
		if q.Norm.P != 1 && q.Norm.Dim != 1 {
			return nil, fault.Value(op, "Norm.P", q.Norm.P, "1")
		}
		noise, err := additive.NewDiscreteLaplace(level, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", op, err)
		}
		// E Z^2 = 2 t/(1-t)^2 with t = e^-level.
		l.noise, l.deviation, l.quantile = noise, 1/(math.Sqrt2*math.Sinh(level/2)), noise.RadiusQuantile
		return l, nil
	}
	if q.Norm.Dim != 1 {
		return nil, fault.Value(op, "Norm.Dim", float64(q.Norm.Dim), "1 for a target with Delta")
	}
	noise, err := additive.NewDiscreteGaussian(additive.GaussianTarget{
		Alpha: level, Delta: target.Delta, Diameter: directed.MulUp(factor, m.model.Diameter),
	}, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	// The discrete Gaussian has the smaller variance, and P{|Z| > k} is at most
	// that of the normal distribution for integers k: Canonne, Kamath, Steinke
	// 2020, Corollary 9 and Proposition 25.
	l.noise, l.deviation = noise, noise.Sigma()
	l.quantile = func(p float64) float64 { return math.Ceil(noise.Sigma() * math.Sqrt2 * math.Erfinv(p)) }
	return l, nil
}

func (l *GridLinear[P]) made(op string) error {
	return fault.Made(l != nil && l.noise != nil, op, "GridLinear", "NewGridLinear")
}

// Guarantee is the target's, in the model.
func (l *GridLinear[P]) Guarantee() Guarantee {
	if l == nil {
		return Guarantee{}
	}
	return l.g
}

// Spacing is the distance between two neighboring values of a release:
// step/(n*m) for n users of m items each.
func (l *GridLinear[P]) Spacing() float64 {
	fault.Must(l, l.made("emd: GridLinear.Spacing"))
	return l.step / float64(l.model.Users) / float64(l.model.Items)
}

// StdDev is the standard deviation of the noise on each coordinate of a
// release; for the discrete Gaussian an upper bound of it, which is close where
// it exceeds [GridLinear.Spacing].
func (l *GridLinear[P]) StdDev() float64 {
	return fault.Must(l, l.made("emd: GridLinear.StdDev")).deviation * l.Spacing()
}

// CoordinateQuantile returns a radius that the noise does not exceed in any
// coordinate with probability at least p: the least one, a multiple of
// [GridLinear.Spacing], for discrete Laplace noise, and the next to that of the
// normal distribution for the discrete Gaussian. NaN where p is outside [0, 1].
func (l *GridLinear[P]) CoordinateQuantile(p float64) float64 {
	fault.Must(l, l.made("emd: GridLinear.CoordinateQuantile"))
	if !(p >= 0 && p <= 1) {
		return math.NaN()
	}
	return l.quantile(math.Pow(p, 1/float64(l.query.Norm.Dim))) * l.Spacing()
}

// Release returns the noisy mean: [GridLinear.ReleaseSum] times [GridLinear.Spacing], of
// length Norm.Dim.
func (l *GridLinear[P]) Release(rng *rand.Rand, data Users[P]) ([]float64, error) {
	units, err := l.ReleaseSum(rng, data)
	var y []float64
	for _, u := range units {
		y = append(y, float64(u)*l.step/float64(l.model.Users)/float64(l.model.Items))
	}
	return y, err
}

// ReleaseSum returns the noisy sum of all values, in units of the step. It
// walks the data once. Errors are those of [Linear.Release], a value not within
// a relative 2^-46 of one of the first 2^40 multiples of the step, and a sum
// beyond int64. Noise beyond int64 gives the nearest one: post-processing.
func (l *GridLinear[P]) ReleaseSum(rng *rand.Rand, data Users[P]) ([]int64, error) {
	const op = "emd: GridLinear.Release"
	if err := l.made(op); err != nil {
		return nil, err
	}
	sum, value := make([]int64, l.query.Norm.Dim), make([]float64, l.query.Norm.Dim)
	err := each(op, l.model, data, func(user int, items []P) error {
		for i, x := range items {
			if err := l.value(op, user, i, x, value); err != nil {
				return err
			}
			for j, v := range value {
				u := v / l.step
				k := math.RoundToEven(u)
				if !(math.Abs(k) <= maxUnits && math.Abs(u-k) <= gridSlack*math.Max(1, math.Abs(k))) {
					return fmt.Errorf("%s: user %d: item %d: %w", op, user, i,
						&fault.ValueError{Op: "query " + strconv.Quote(l.query.Name), Arg: "f", Index: j, Value: v, Want: fmt.Sprintf("one of the first 2^40 multiples of the step %v", l.step), Private: true})
				}
				s := sum[j] + int64(k)
				if (s > sum[j]) != (k > 0) && k != 0 {
					return fmt.Errorf("%s: user %d: item %d: the sum of the values overflows", op, user, i)
				}
				sum[j] = s
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for j := range sum {
		if sum[j], err = l.noise.Release(rng, sum[j]); err != nil {
			return nil, fmt.Errorf("%s: %w", op, err)
		}
	}
	return sum, nil
}

package emd

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/metric"
)

// Target is the promise that a mechanism is built for: Alpha > 0 per unit of
// d_EM, and Delta in [0, 1).
type Target struct{ Alpha, Delta float64 }

func (t Target) check(op string) error {
	return cmp.Or(fault.Positive(op, "target.Alpha", t.Alpha), fault.Delta(op, "target.Delta", t.Delta))
}

// LinearOptions tune [NewLinear]. Nil and the zero value mean the defaults.
type LinearOptions[P any] struct {
	// Sample, where not nil, holds public points, some thousands. A constant
	// smaller than they show is refused with a [*LipschitzError], and so are
	// two points, looked for in O(n), farther apart than Model.Diameter.
	Sample *metric.Points[P]
	// Contains, where not nil, says which items lie in the space of the model;
	// a release of others is an error. Beyond Model.Diameter Gaussian noise
	// promises nothing. Who sees the error learns that such an item was there:
	// clean the data instead where that matters.
	Contains func(P) bool
	// Grid, a power of two, is that of a release's coordinates, 0 the default
	// of [additive.Options].
	Grid float64
}

// Linear releases the mean over users of the mean of a Lipschitz query (see [Query]) over
// each user's items, with noise. One user whose items change by d_EM moves it by at most
// Lipschitz*d_EM/n, so that local (n = 1) and central models, bounded and unbounded, are
// served alike. Users weigh the same, however many items they hold.
//
// Without Delta the noise has a density proportional to exp(-alpha*n/Lipschitz*||z||) in the norm
// of the query, [additive.KNorm]. With Delta the norm must be l2 and the noise is Gaussian
// of the least deviation, [additive.GaussianSigma] at Model.Diameter: items farther apart
// are outside the promise. (The deviation of IRC24, l sqrt(1.25 ln(1/delta))/alpha, is not
// private.)
//
// The noise is exact where that of package additive is: a release is then one real sum,
// rounded once. But the claim takes the mean for a real number, and it is computed in
// float64; [GridLinear] is exact throughout. A mean beyond 2^52 times the grid is refused.
// Immutable and safe for concurrent use if the query is.
//
// Source: IRC24, Theorem 4.1 with the scales of its proof.
type Linear[P any] struct {
	means[P]
	noise interface {
		ReleaseTo(dst []float64, rng *rand.Rand, x []float64) error
		RadiusQuantile(q float64) float64
	}
	deviation float64
}

// NewLinear returns the mechanism with the promise of the target in the model.
// Errors are [*metric.ValueError] for an argument outside its domain, for a
// norm that the target cannot have, and for a level of the noise,
// Alpha*n/Lipschitz, outside [1e-100, 1e100]; and those of the options.
func NewLinear[P any](ctx context.Context, q Query[P], model Model, target Target, o *LinearOptions[P]) (*Linear[P], error) {
	const op = "emd: NewLinear"
	o = cmp.Or(o, &LinearOptions[P]{})
	m, err := newMeans(ctx, op, q, model, target, o.Sample, o.Contains)
	if err != nil {
		return nil, err
	}
	l := &Linear[P]{means: m}
	opt := &additive.Options{Grid: o.Grid}
	// Noise that is (level, Delta)-private in the norm of the query is
	// (level*Lipschitz/n, Delta)-private under d_EM, and level is rounded to
	// make that at most Alpha.
	n := float64(m.model.Users)
	level := directed.DivDown(directed.MulDown(target.Alpha, n), q.Lipschitz)
	if target.Delta == 0 {
		noise, err := additive.NewKNorm(q.Norm, level, opt)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", op, err)
		}
		l.noise, l.deviation = noise, math.Sqrt(noise.SecondMoment())
		return l, nil
	}
	if q.Norm.P != 2 && q.Norm.Dim != 1 {
		return nil, fault.Value(op, "Norm.P", q.Norm.P, "2 for a target with Delta")
	}
	// Delta grows with the distance, so that one rounded up is safe.
	diam := directed.DivUp(directed.MulUp(m.model.Diameter, q.Lipschitz), n)
	noise, err := additive.NewGaussian(q.Norm.Dim, additive.GaussianTarget{Alpha: level, Delta: target.Delta, Diameter: diam}, opt)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	l.noise, l.deviation = noise, noise.Sigma()
	return l, nil
}

func (l *Linear[P]) made(op string) error {
	return fault.Made(l != nil && l.noise != nil, op, "Linear", "NewLinear")
}

// Guarantee is the target's, in the model.
func (l *Linear[P]) Guarantee() Guarantee {
	if l == nil {
		return Guarantee{}
	}
	return l.g
}

// StdDev is the standard deviation of the noise on each coordinate, before
// rounding to a grid: the root mean square error of the mean of these users.
func (l *Linear[P]) StdDev() float64 {
	return fault.Must(l, l.made("emd: Linear.StdDev")).deviation
}

// RadiusQuantile returns the radius, in the norm of the query, that the noise
// does not exceed with probability p, before rounding to a grid. NaN where p is
// outside [0, 1].
func (l *Linear[P]) RadiusQuantile(p float64) float64 {
	return fault.Must(l, l.made("emd: Linear.RadiusQuantile")).noise.RadiusQuantile(p)
}

// Release returns the noisy mean, of length Norm.Dim. It walks the data once,
// one call of the query an item. Errors name the user and the item: data that
// do not fit the model, an item outside the domain, a value that is no finite
// number. They depend on the data, so keep them from whom the release is for.
func (l *Linear[P]) Release(rng *rand.Rand, data Users[P]) ([]float64, error) {
	const op = "emd: Linear.Release"
	if err := l.made(op); err != nil {
		return nil, err
	}
	k := l.query.Norm.Dim
	mean, own, value := make([]float64, k), make([]float64, k), make([]float64, k)
	err := each(op, l.model, data, func(user int, items []P) error {
		clear(own)
		for i, x := range items {
			if err := l.value(op, user, i, x, value); err != nil {
				return err
			}
			for j, v := range value {
				own[j] += v
			}
		}
		for j, s := range own {
			mean[j] += s / float64(len(items))
			if math.IsInf(mean[j], 0) || math.IsNaN(mean[j]) {
				return fmt.Errorf("%s: user %d: the sum of the values overflows", op, user)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for j := range mean {
		mean[j] /= float64(l.model.Users)
	}
	if err := l.noise.ReleaseTo(mean, rng, mean); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return mean, nil
}

// means is the query on the data of a model, for both linear mechanisms.
type means[P any] struct {
	query    Query[P]
	model    Model
	contains func(P) bool
	g        Guarantee
}

// newMeans checks the arguments, the query on the sample if there is one.
func newMeans[P any](ctx context.Context, op string, q Query[P], model Model, target Target, sample *metric.Points[P], contains func(P) bool) (m means[P], err error) {
	model, err = model.check(op)
	if err := cmp.Or(q.check(op), err, target.check(op)); err != nil {
		return m, err
	}
	if model.Trust == Shuffled {
		return m, fault.Value(op, "Model.Trust", float64(model.Trust), "Local or Central: a shuffler adds no noise to a mean")
	}
	if sample != nil {
		if model.Unit, err = fault.Unit(op, model.Unit, sample.Unit()); err != nil {
			return m, err
		}
		w, err := LipschitzAtLeast(ctx, q, sample)
		if err == nil && w.Ratio > q.Lipschitz {
			err = &LipschitzError{q.Name, q.Lipschitz, w}
		}
		if err != nil {
			return m, err
		}
		if d, i, j := farApart(sample); d > model.Diameter {
			return m, model.tooNarrow(op, d, i, j)
		}
	}
	g, err := perUnit(model, target.Alpha, target.Delta)
	return means[P]{q, model, contains, g}, err
}

// farApart returns two points of a space at least half as far apart as any two:
// a farthest from one that is farthest from the first. O(n).
func farApart(space metric.Finite) (d float64, i, j int) {
	var row []float64
	for range 2 {
		i, d = j, 0
		row = finite.Row(space, i, row)
		for k, v := range row {
			if v > d {
				d, j = v, k
			}
		}
	}
	return d, i, j
}

// value writes the value of one item to dst.
func (m *means[P]) value(op string, user, item int, x P, dst []float64) error {
	if m.contains != nil && !m.contains(x) {
		return fmt.Errorf("%s: user %d: item %d is outside the domain", op, user, item)
	}
	if err := m.query.eval(x, dst); err != nil {
		return fmt.Errorf("%s: user %d: item %d: %w", op, user, item, fault.Private(err))
	}
	return nil
}

package query

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/internal/check"
	"github.com/metricdp/metricdp/metric"
)

// LinearOptions tune [NewLinear]. Nil and the zero value mean the defaults.
type LinearOptions[P any] struct {
	// Sample, where not nil, holds some thousands of public points. A constant smaller than they
	// show is a [*LipschitzError], and two points found in O(n) farther apart than Model.Diameter
	// an error.
	Sample *metric.Points[P]
	// Step, a power of two, is that of the sum over users: a release is a multiple of
	// Step/Model.Users. The default is the largest up to 2^-10 of the noise's scale on the sum,
	// Lipschitz/Alpha, or with Delta the deviation, and less where Delta is below 5e-12*Norm.Dim.
	// A step too large for Alpha and Delta is an error, mostly one of 2^30 times the default. So
	// is one of which 2^52 are less than 1,024 of the scale, such as the default for a Delta below
	// 2e-26*Norm.Dim.
	Step float64
}

// Linear releases the mean over users of the mean of a [Query] over each user's items, with noise.
// One user whose items change by d_EM moves it by at most Lipschitz*d_EM/n: local (n = 1) and
// central models, bounded and unbounded. Users weigh the same.
//
// Without Delta the noise is [additive.KNorm] of rate alpha*n/Lipschitz in the norm of the query.
// With Delta the norm must be l2 and the noise is Gaussian of the least deviation,
// [additive.GaussianSigma] at Model.Diameter: items farther apart are outside the promise.
//
// The promise is that of the bits, for the values that the query returns. A value beyond 2^61
// steps over the user's number of items, and a sum over users beyond 2^52, is refused. Immutable
// and safe for concurrent use if the query is. Source: IRC24, Algorithm 1 and Lemma 4.2.
type Linear[P any] struct {
	query Query[P]
	model emd.Model
	g     emd.Guarantee
	step  float64
	noise interface { // on the sum
		ReleaseTo(dst []float64, rng *rand.Rand, x []float64) error
		RadiusQuantile(q float64) float64
	}
	deviation float64
}

// NewLinear returns the mechanism with the promise of the target in the model. Errors are
// [*metric.ValueError] for an argument outside its domain, for a norm that the target cannot have, and
// for a level of the noise, Alpha/Lipschitz, outside [1e-100, 1e100]; and those of the options.
func NewLinear[P any](ctx context.Context, q Query[P], model emd.Model, target emd.Promise, o *LinearOptions[P]) (*Linear[P], error) {
	const op = "query: NewLinear"
	o = cmp.Or(o, &LinearOptions[P]{})
	model, err := model.Check(op)
	if err := cmp.Or(q.check(op), err, target.Check(op)); err != nil {
		return nil, err
	}
	if model.Trust == emd.Shuffled {
		return nil, fault.Value(op, "Model.Trust", float64(model.Trust), "Local or Central: a shuffler adds no noise to a mean")
	}
	if o.Sample != nil {
		if model.Unit, err = fault.Unit(op, model.Unit, o.Sample.Unit()); err != nil {
			return nil, err
		}
		w, err := LipschitzAtLeast(ctx, q, o.Sample)
		if err == nil && w.Ratio > q.Lipschitz {
			err = &LipschitzError{q.Name, q.Lipschitz, w}
		}
		if err != nil {
			return nil, err
		}
		if d, i, j := farApart(o.Sample); d > model.Diameter {
			return nil, check.TooNarrow(op, d, i, j, model.Diameter)
		}
	}
	promised, err := mechanism.NewGuarantee(target.Alpha, target.Delta, model.Unit)
	if err != nil {
		return nil, err
	}
	l := &Linear[P]{query: q, model: model, step: o.Step}
	if l.g, err = emd.NewGuarantee(model, promised); err != nil {
		return nil, err
	}
	// Noise on the sum over users that is (level, Delta)-private in the norm of the
	// query is (level*Lipschitz, Delta)-private under d_EM, and level is rounded to
	// make that at most Alpha.
	level := directed.DivDown(target.Alpha, q.Lipschitz)
	if target.Delta == 0 {
		err = l.addKNorm(op, level)
	} else {
		err = l.addGaussian(op, level, target.Delta)
	}
	if err != nil {
		return nil, err
	}
	return l, nil
}

// dither is how many binary digits of a step users' means are rounded to.
const dither = 52

// mostRoom is by how much, relatively, noise is widened at most for users' rounding.
const mostRoom = 0x1p-7

// powerBelow is the largest power of two up to x > 0.
func powerBelow(x float64) float64 {
	_, e := math.Frexp(x)
	return math.Ldexp(1, e-1)
}

func (l *Linear[P]) tooCoarse(op string) error {
	return fault.Value(op, "Step", l.step, "a smaller power of two, for this Alpha, Delta and Norm.Dim")
}

// finestStep is the least step, relative to the noise's scale: there is room for 1,024 of that
// in mostSum.
const finestStep = 0x1p-42

func (l *Linear[P]) tooFine(op string) error {
	return fault.Value(op, "Step", l.step, "a larger power of two, for this Alpha and Delta, or a larger Delta")
}

// addKNorm makes noise on the sum such that one user's mean s, moved by v, changes the probability of
// no set by more than e^(level ||v||).
//
// Let h = 2^-52 steps and F(x) be the probability of a set of sums, given all else, where the user's
// mean is rounded to x. It is rounded to a corner c of the cell of s in the lattice, coordinates
// independent, with E c = s: the set has P = E F(c), and P's derivative along v is the sum over axes j
// of v_j E (F at the upper end - F at the lower end of an edge along j)/h.
//
// In l1 coordinates of the noise are independent too: F changes by a factor of at most e^(level h)
// along an edge, so that |d ln P| <= (e^(level h) - 1)/h |v_j| <= level |v_j| (1 + level h).
//
// In general let the set be a cube A of side g, of which the step is a multiple. F(x) is the integral
// over A-x of the density f of the noise, and its derivative along j the difference of f's integrals
// over two faces. In the cell all x have ||x-s|| <= h d =: r, as ||e_j|| = 1, so that these integrals
// are within a factor of e^(level r) of those at s, which are at most e^(level g)/g F(s). So P's
// derivative differs from that of F at s, which is at most level ||v|| F(s), by at most
//
//	sum |v_j| (e^(level r) - 1) e^(level g) 2/g F(s), and P >= e^(-level r) F(s).
//
// As |v_j| <= ||v|| for all j, |d ln P| <= level ||v|| (1 + 8 d^2 h/g) where level g <= 1 and that is small.
func (l *Linear[P]) addKNorm(op string, level float64) error {
	norm := l.query.Norm
	d := float64(norm.Dim)
	l.step = cmp.Or(l.step, powerBelow(0x1p-10/level))
	room := l.step * 0x1p-52 * level
	if norm.P != 1 && norm.Dim > 1 {
		room = 8 * d * d * 0x1p-52 * math.Max(1, l.step/powerBelow(1/level))
	}
	if !(room <= mostRoom) {
		return l.tooCoarse(op)
	}
	if !(l.step >= finestStep/level) {
		return l.tooFine(op)
	}
	noise, err := additive.NewKNorm(norm, directed.DivDown(level, directed.AddUp(1, room*(1+0x1p-40))), &additive.Options{Grid: l.step})
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	n := float64(l.model.Users)
	l.noise, l.deviation = noise, math.Sqrt(noise.SecondMoment())/n
	return nil
}

// addGaussian makes Gaussian noise on the sum such that one user's mean, moved by D in l2, makes no set
// more than e^(level D) times as likely, up to delta.
//
// Let the same uniform numbers round both means, to a and b on the lattice of h = 2^-52 steps. |a-b| <=
// D + h sqrt(d), and E |a_j-b_j| is how far coordinate j is moved. The least delta of two mixtures with
// the same weights is at most the mean of those of their parts. For small D that is at most
//
//	E |a-b|/(sigma sqrt(2 pi)) <= sqrt(d) D/(sigma sqrt(2 pi)),
//
// a distance in total variation, and below delta up to D0 = 2.5 sigma delta/sqrt(d). For larger D noise
// that is (level', delta)-private up to a distance h sqrt(d) beyond the largest D suffices, if level'
// (D + h sqrt(d)) <= level D: if level' <= level/(1 + h d/(2.5 sigma delta)).
func (l *Linear[P]) addGaussian(op string, level, delta float64) error {
	d := l.query.Norm.Dim
	if l.query.Norm.P != 2 && d != 1 {
		return fault.Value(op, "Norm.P", l.query.Norm.P, "2 for a target with Delta")
	}
	// Delta grows with the distance, so that one rounded up is safe.
	target := additive.GaussianTarget{Alpha: level, Delta: delta, Diameter: directed.MulUp(l.model.Diameter, l.query.Lipschitz)}
	sigma, err := additive.GaussianSigma(target)
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	part := 2.5 * sigma * delta / float64(d)
	l.step = cmp.Or(l.step, powerBelow(min(0x1p-10*sigma, max(0x1p26*part, min(0x1p43*part, 4*finestStep*sigma)))))
	h := l.step * 0x1p-52
	if !(h/part <= mostRoom) {
		return l.tooCoarse(op)
	}
	if !(l.step >= finestStep*sigma) {
		return l.tooFine(op)
	}
	// What is lost to the level makes sigma larger, which is safe.
	target.Alpha = directed.DivDown(level, directed.AddUp(1, h/part*(1+0x1p-40)))
	target.Diameter = directed.AddUp(target.Diameter, directed.MulUp(h, directed.Next(math.Sqrt(float64(d)))))
	noise, err := additive.NewGaussian(d, target, &additive.Options{Grid: l.step})
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	l.noise, l.deviation = noise, noise.Sigma()/float64(l.model.Users)
	return nil
}

func (l *Linear[P]) made(op string) error {
	return fault.Made(l != nil && l.noise != nil, op, "Linear", "NewLinear")
}

// Guarantee is the target's, in the model.
func (l *Linear[P]) Guarantee() emd.Guarantee {
	if l == nil {
		return emd.Guarantee{}
	}
	return l.g
}

// StdDev is the standard deviation of the noise on each coordinate, before rounding to the step.
func (l *Linear[P]) StdDev() float64 {
	return fault.Must(l, l.made("query: Linear.StdDev")).deviation
}

// RadiusQuantile returns the radius, in the norm of the query, that the noise does not exceed with
// probability p, before rounding to the step. NaN where p is outside [0, 1].
func (l *Linear[P]) RadiusQuantile(p float64) float64 {
	fault.Must(l, l.made("query: Linear.RadiusQuantile"))
	return l.noise.RadiusQuantile(p) / float64(l.model.Users)
}

// Release returns the noisy mean, of length Norm.Dim. It calls the query once an item, and more about
// once in a thousand users. Errors name the user and the item that does not fit. They depend on the
// data, so keep them from whom the release is for.
func (l *Linear[P]) Release(rng *rand.Rand, data emd.Users[P]) ([]float64, error) {
	// Each user's mean is rounded at random, exactly, to a lattice 2^-52 steps wide, such that its
	// expectation is right; the sum gets noise and is rounded to the step, once, and kept within
	// 2^52 steps.
	const op = "query: Linear.Release"
	if err := l.made(op); err != nil {
		return nil, err
	}
	rng, done := random.Get(rng)
	defer done()
	k := l.query.Norm.Dim
	own, value := make([]exact.Sum, k), make([]float64, k)
	// The sums over users are whole + part/2^dither steps.
	whole, part := make([]int64, k), make([]uint64, k)
	err := check.Each(op, l.model.Users, l.model.Items, data, func(user int, items []P) error {
		clear(own)
		limit := mostItems / float64(len(items))
		for i, x := range items {
			if err := l.value(op, user, i, x, value); err != nil {
				return err
			}
			for j, v := range value {
				if !addSteps(&own[j], v, l.step, limit) {
					return fmt.Errorf("%s: user %d: item %d: coordinate %d is beyond %.4g, where sums may overflow: take a larger Step, or subtract a public origin", op, user, i, j, limit*l.step)
				}
			}
		}
		var at int
		enclose := func(prec uint) exact.Enclosure { return l.enclose(at, items, value, prec) }
		for at = range own {
			w, p := own[at].Mean(rng, int64(len(items)), dither, stepErr, enclose)
			whole[at] += w
			part[at] += p
			whole[at] += int64(part[at] >> dither)
			part[at] &= 1<<dither - 1
			if s := whole[at]; s > mostSum || s < -mostSum {
				return fmt.Errorf("%s: user %d: the sum over users overflows", op, user)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	mean := value
	for j, p := range part {
		mean[j] = float64(p) * (l.step * 0x1p-52)
	}
	if err := l.noise.ReleaseTo(mean, rng, mean); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	for j, v := range mean {
		noisy := min(max(whole[j]+int64(v/l.step), -mostSum), mostSum)
		mean[j] = float64(noisy) * l.step / float64(l.model.Users)
	}
	return mean, nil
}

const (
	// mostItems bounds a user's sum, in steps.
	mostItems = 1 << 61
	// mostSum bounds the sum over users and what is released. The noise is kept within twice
	// as many steps (see [exact.LatticeIndexes]): where it is cut off so is the release, which
	// therefore is that of noise that is not, kept in these bounds.
	mostSum = exact.LatticeIndexes
)

// stepErr bounds the error of what addSteps does not add exactly.
const stepErr = 0x1p-63

// addSteps adds v, in steps, which are powers of two, if that is at most limit in size.
func addSteps(s *exact.Sum, v, step, limit float64) bool {
	t := v / step // exactly, or nearly 0
	size := math.Abs(t)
	if v == 0 || !(size <= limit) {
		return v == 0
	}
	whole := int64(size)
	rest := (size - float64(whole)) * 0x1p64
	part := uint64(rest)
	near := float64(part) != rest || t*step != v
	if v < 0 {
		whole = -whole
		if part > 0 {
			whole, part = whole-1, -part
		}
	}
	if near {
		s.AddNear(whole, part)
	} else {
		s.Add(whole, part)
	}
	return true
}

// enclose bounds the sum of coordinate j over items, in steps.
func (l *Linear[P]) enclose(j int, items []P, value []float64, prec uint) exact.Enclosure {
	lo := new(big.Float).SetPrec(prec).SetMode(big.ToNegativeInf)
	hi := new(big.Float).SetPrec(prec).SetMode(big.ToPositiveInf)
	for _, x := range items {
		l.query.Func(x, value)
		lo.Add(lo, big.NewFloat(value[j]))
		hi.Add(hi, big.NewFloat(value[j]))
	}
	step := big.NewFloat(l.step)
	return exact.Enclosure{Lo: lo.Quo(lo, step), Hi: hi.Quo(hi, step)}
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
func (l *Linear[P]) value(op string, user, item int, x P, dst []float64) error {
	if err := l.query.eval(x, dst); err != nil {
		return fmt.Errorf("%s: user %d: item %d: %w", op, user, item, fault.Private(err))
	}
	return nil
}

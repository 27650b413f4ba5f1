package exponential

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// Method names a construction.
type Method string

// The constructions of this package on finite spaces.
const (
	MethodStandard     Method = "standard"
	MethodWeighted     Method = "weighted"
	MethodTuned        Method = "tuned"
	MethodTight        Method = "tight weights"
	MethodSnapped      Method = "snapped"
	MethodRemapped     Method = "remapped"
	MethodRelaxed      Method = "relaxed"
	MethodRelaxedTuned Method = "relaxed, tuned"
	MethodTruncated    Method = "truncated"
	MethodConstant     Method = "constant"
)

// Mechanism is a channel of the exponential family: P{y|x} is proportional to W_y exp(-Beta*rho(x,y)), rho
// the privacy metric unless the constructor says otherwise; or to the mass of noise of rate Beta
// ([Snapped]). It is encoded in JSON as its channel, which [mechanism.ReadChannel] reads.
type Mechanism struct {
	*mechanism.Channel
	Method Method
	Beta   float64 // the exponent's rate, per unit of rho; 0 where there is none
	// Audited is what proved the guarantee. For a lazy mechanism it is the zero
	// value: the guarantee rests on the theorem and what its doc asks.
	Audited mechanism.Audit
}

// Release is that of the channel. A Mechanism that no constructor made refuses.
func (m *Mechanism) Release(rng *rand.Rand, x int) (int, error) {
	if m == nil || m.Channel == nil {
		return 0, errors.New("exponential: Mechanism.Release: a Mechanism comes from Standard, Best or another constructor, not from its zero value")
	}
	return m.Channel.Release(rng, x)
}

// Guarantee is that of the channel; without one it promises nothing.
func (m *Mechanism) Guarantee() mechanism.Guarantee {
	if m == nil {
		return mechanism.Guarantee{}
	}
	return m.Channel.Guarantee()
}

// String is for people: "tuned, rate 0.8: 5 x 5 channel, 1-private per km".
func (m *Mechanism) String() string {
	if m.Beta == 0 { // constant, or of a linear program
		return fmt.Sprintf("%s: %v", m.Method, m.Channel)
	}
	return fmt.Sprintf("%s, rate %.6g: %v", m.Method, m.Beta, m.Channel)
}

// Options tune the constructors, and are part of those of [Remapped] and [Relaxed]. Nil and the zero value
// mean the defaults.
type Options struct {
	// Unit names the unit of the metric, for the guarantee; the default is that
	// of the metric itself ([metric.UnitOf]), and another is refused.
	Unit metric.Unit
	// Outputs lists the points that may be released, for instance a
	// [metric.Net]; the default is every point. It is copied.
	Outputs  []int
	Progress func(done, total int) // of the audit, if there is one
	Workers  int                   // 0: all processors
}

// LevelError reports a mechanism that an audit found above the level asked for
// by more than rounding even at half the rate: the distances are no metric, points lie too
// close for float64, or alpha is below some 1e-20 over the least distance.
type LevelError struct {
	Method  Method
	Alpha   float64         // what was asked
	Audited mechanism.Audit // what was found, with the witness
}

func (e *LevelError) Error() string {
	if e.Audited.X < 0 { // only the audit's rounding is above alpha
		return fmt.Sprintf("exponential: %s: alpha = %v is below what an audit in float64 can tell from 0 here, %v", e.Method, e.Alpha, e.Audited.Hi)
	}
	return fmt.Sprintf("exponential: %s: audited level %v exceeds alpha = %v between points %d and %d: is the privacy metric a metric?", e.Method, e.Audited.Hi, e.Alpha, e.Audited.X, e.Audited.XPrime)
}

// Standard returns the exponential mechanism: P{y|x} is proportional to exp(-alpha*rho(x,y)/2) over the
// outputs. It is alpha-private for every metric; the factor 1/2 is usually wasteful ([Tuned], [Tight]).
// The guarantee is the audit's upper end, often below alpha; a level above alpha by more than rounding is
// a [*LevelError]. O(n*k) memory and O(n^2*k) time for n points and k outputs.
//
// Sources: McSherry, Talwar, "Mechanism design via differential privacy", 2007; BSV24, Lemma 4.1.
func Standard(ctx context.Context, f metric.Finite, alpha float64, o *Options) (*Mechanism, error) {
	fam, err := newFamily("exponential: Standard", MethodStandard, f, alpha, o)
	if err != nil {
		return nil, err
	}
	return fam.certify(ctx, alpha/2)
}

// Weighted returns the mechanism with P{y|x} proportional to
// weights[y]*exp(-alpha*rho(x,y)/2), alpha-private for any positive weights, one for each
// output. Otherwise as [Standard]. Weights must not be computed from private data.
//
// Source: IKWAT22, Proposition 1.
func Weighted(ctx context.Context, f metric.Finite, alpha float64, weights []float64, o *Options) (*Mechanism, error) {
	const op = "exponential: Weighted"
	fam, err := newFamily(op, MethodWeighted, f, alpha, o)
	if err != nil {
		return nil, err
	}
	if k := fam.outputs(); len(weights) != k {
		return nil, &fault.SizeError{Op: op, Arg: "weights", Got: len(weights), Want: fmt.Sprint(k)}
	}
	fam.logWeights = make([]float64, len(weights))
	for y, w := range weights {
		if !(w > 0 && w <= math.MaxFloat64) {
			return nil, &fault.ValueError{Op: op, Arg: "weights", Index: y, Value: w, Want: "a finite number > 0"}
		}
		fam.logWeights[y] = directed.Log(w)
	}
	return fam.certify(ctx, alpha/2)
}

// family is the one-parameter family of channels that a constructor chooses
// from: log-weight logWeights[y] - beta*rho(x, net[y]).
type family struct {
	op     string // the call
	method Method
	f      metric.Finite // the privacy metric
	net    []int         // nil: every point
	first  []int         // the point whose row each takes, in a lazy family; nil: its own
	// rho writes what the rate multiplies, at x and every output, to dst; nil
	// stands for the privacy metric. It is safe for concurrent use.
	rho        func(x int, dst []float64)
	logWeights []float64
	alpha      float64
	unit       metric.Unit
	audit      mechanism.AuditOptions
}

func newFamily(op string, method Method, f metric.Finite, alpha float64, o *Options) (*family, error) {
	if o == nil {
		o = &Options{}
	}
	if err := cmp.Or(fault.Empty(op, "the space", fault.Len(f)), fault.Positive(op, "alpha", alpha)); err != nil {
		return nil, err
	}
	unit, err := fault.Unit(op, o.Unit, metric.UnitOf(f))
	if err != nil {
		return nil, err
	}
	if err := checkOutputs(op, o.Outputs, f.Len()); err != nil {
		return nil, err
	}
	return &family{op: op, method: method, f: f, net: slices.Clone(o.Outputs), alpha: alpha, unit: unit,
		audit: mechanism.AuditOptions{Progress: o.Progress, Workers: o.Workers}}, nil
}

// checkOutputs refuses a list of none, or of what are no points.
func checkOutputs(op string, outputs []int, n int) error {
	if outputs == nil {
		return nil
	}
	return cmp.Or(fault.Empty(op, "Outputs", len(outputs)), fault.Indices(op, "Outputs", outputs, n))
}

// indices are those below n.
func indices(n int) []int {
	idx := make([]int, n)
	for i := range idx {
		idx[i] = i
	}
	return idx
}

// outputs is the number of points that may be released.
func (fam *family) outputs() int {
	if fam.net != nil {
		return len(fam.net)
	}
	return fam.f.Len()
}

// distances writes rho from x to the outputs to dst, of length outputs().
func (fam *family) distances(x int, dst []float64) {
	if fam.first != nil {
		x = fam.first[x]
	}
	switch {
	case fam.rho != nil:
		fam.rho(x, dst)
	case fam.net == nil:
		copy(dst, finite.Row(fam.f, x, dst)) // Row may bring its own slice
	default:
		for j, y := range fam.net {
			dst[j] = fam.f.Distance(x, y)
		}
	}
}

// findFirst finds, for every point, the first at distance 0.
func (fam *family) findFirst(ctx context.Context) error {
	n, ix := fam.f.Len(), metric.NewIndex(fam.f)
	first := make([]int, n)
	err := parallel.Chunks(ctx, n, 16, fam.audit.Workers, nil, func(_, lo, hi int) {
		for x := lo; x < hi && ctx.Err() == nil; x++ {
			first[x] = x
			if y, d := ix.Nearest(x); d == 0 {
				first[x] = min(x, y)
			}
		}
	})
	fam.first = first
	return err
}

// channel is the member at rate beta.
func (fam *family) channel(ctx context.Context, beta float64) (*mechanism.Channel, error) {
	bad := make([]error, fam.f.Len())
	c, err := mechanism.NewChannel(ctx, fam.rows(beta, func(x int, dist []float64) {
		bad[x] = fam.check(x, dist)
	}), &mechanism.ChannelOptions{Labels: fam.net, Workers: fam.audit.Workers})
	return c, cmp.Or(cmp.Or(bad...), withOp(fam.op, err))
}

// rows are those of the member at rate beta; look sees the distances of each.
func (fam *family) rows(beta float64, look func(x int, dist []float64)) mechanism.Rows {
	return mechanism.Rows{Inputs: fam.f.Len(), Outputs: fam.outputs(), Log: true, Fill: func(x int, dst []float64) {
		fam.distances(x, dst)
		look(x, dst)
		for y, d := range dst {
			dst[y] = -beta * d
		}
		for y, w := range fam.logWeights {
			dst[y] += w
		}
	}}
}

// check refuses distances from x to the outputs that are none.
func (fam *family) check(x int, dist []float64) error {
	return checkRow(fam.op, "rho", x, dist, fam.net)
}

// checkRow refuses distances under a metric, from x to the points of net (nil: to all), that are none.
func checkRow(op, metric string, x int, dist []float64, net []int) error {
	for y, d := range dist {
		if d >= 0 && d <= math.MaxFloat64 {
			continue
		}
		if net != nil {
			y = net[y]
		}
		return fault.Value(op, fmt.Sprintf("%s.Distance(%d, %d)", metric, x, y), d, "a finite number >= 0")
	}
	return nil
}

// withOp makes an error of package mechanism about a number or a size one of the
// call op, which the user made.
func withOp(op string, err error) error {
	switch e := err.(type) {
	case *fault.ValueError:
		e.Op = op
	case *fault.SizeError:
		e.Op = op
	case *fault.MemoryError:
		e.Op = op
	}
	return err
}

const (
	// maxRounding is the largest relative excess of an audited level over alpha that is
	// put down to rounding at rates of at most alpha/2: distances of up to 2^30 times the
	// smallest, each with an error of 2^-50.
	maxRounding = 0x1p-20
	// certifyTries bounds the rates above alpha/2 that certify tries, and those below.
	certifyTries = 8
)

// certify builds the member at rate beta and audits it. A level above alpha is answered with a lower rate.
// Down to alpha/2 it may be lower by any factor: points far closer than the extent of the space amplify the
// rounding of log-weights. Below that a metric needs no less but for rounding.
func (fam *family) certify(ctx context.Context, beta float64) (*Mechanism, error) {
	return fam.certifyAs(ctx, beta, fam.channel)
}

// certifyAs is certify for the members that channel builds.
func (fam *family) certifyAs(ctx context.Context, beta float64, channel func(ctx context.Context, beta float64) (*mechanism.Channel, error)) (*Mechanism, error) {
	for try := 0; ; try++ {
		c, err := channel(ctx, beta)
		if err != nil {
			return nil, err
		}
		c, a, err := c.Certify(ctx, fam.f, fam.unit, &fam.audit)
		if err != nil {
			return nil, withOp(fam.op, err)
		}
		if a.Hi <= fam.alpha {
			return &Mechanism{Channel: c, Method: fam.method, Beta: beta, Audited: a}, nil
		}
		excess, half := a.Hi/fam.alpha-1, fam.alpha/2
		// Another rate has another rounding, of the same size: each step is twice the last.
		lower := beta * (1 - math.Ldexp(excess, try+1) - 0x1p-50)
		last := try == certifyTries-1
		switch {
		case beta > half && (last || lower < half):
			beta, try = half, -1
		case beta <= half && (last || excess > maxRounding):
			return nil, &LevelError{fam.method, fam.alpha, a}
		default:
			beta = lower
		}
	}
}

// Constant returns the mechanism that releases the given point of n whatever the input: 0-private, and the
// best at small alpha. A point outside [0, n) is a [*metric.ValueError]. O(n).
func Constant(n, point int, unit metric.Unit) (*Mechanism, error) {
	const op = "exponential: Constant"
	if err := cmp.Or(fault.Empty(op, "n", max(n, 0)), fault.Index(op, "point", point, n)); err != nil {
		return nil, err
	}
	ones := slices.Repeat([]float64{1}, n)
	c, err := mechanism.FromWeights(context.Background(), n, 1, ones, &mechanism.ChannelOptions{Labels: []int{point}})
	if err != nil {
		return nil, err
	}
	g, err := mechanism.NewGuarantee(0, 0, unit)
	return &Mechanism{Channel: c.WithGuarantee(g), Method: MethodConstant, Audited: mechanism.Audit{X: -1, XPrime: -1, Y: -1}}, err
}

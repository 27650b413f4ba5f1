package mechanism

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/metric"
)

// Mechanism is a randomized map from private inputs to public outputs.
//
// With a nil rng, which is right for all that is published, the randomness is ChaCha8 keyed from
// crypto/rand and Release is safe for concurrent use. With a caller's rng runs repeat, the caller must not
// share it between goroutines, and whoever knows its seed can undo the privacy; [Rand] gives a mechanism of
// one's own this contract. An error means that x is outside the domain, and does not depend on the random
// draw unless the doc says so: then it is an output like others, and another attempt is another release.
type Mechanism[X, Y any] interface {
	// Release draws an output for the input x.
	Release(rng *rand.Rand, x X) (Y, error)
	// Guarantee is what holds for every pair of inputs.
	Guarantee() Guarantee
}

// Rand is for the Release of a mechanism of one's own: it returns rng or, where that is nil, a new ChaCha8
// generator keyed with 256 bits from crypto/rand. It serves one goroutine: call Rand in each Release, and
// do not keep what it returns. float64 noise made of it, such as NormFloat64, may still break a guarantee
// in the last bits.
func Rand(rng *rand.Rand) *rand.Rand {
	if rng == nil {
		return random.Secure()
	}
	return rng
}

// Reseed makes every release with a nil rng that begins after it draw from a generator keyed afresh from
// crypto/rand. Call it before the first release of a process restored or cloned from a snapshot: two
// copies draw the same noise, which gives away the difference of their inputs. The operating system must
// have noticed the restore (Linux does, from 5.18, where the hypervisor has a generation ID). Safe for
// concurrent use.
func Reseed() { random.Reseed() }

// ErrMemoized reports a mechanism that repeats draws, as [Sticky] does, where levels add up because
// draws are independent: equal outputs would show which inputs are equal. Such a mechanism has a
// method Memoized() bool that returns true, and so must one of your own that holds it.
var ErrMemoized = fault.ErrMemoized

// memoized tells what m says.
func memoized(m any) bool { return fault.Independent(m) != nil }

// domain is a mechanism that refuses inputs without a draw.
type domain[X any] interface{ inDomain(x X) error }

// inDomain returns the error of m for an x outside its domain, as far as m can tell without
// a draw, and that of an x which is no place, whatever m is.
func inDomain[X, Y any](m Mechanism[X, Y], x X) error {
	if d, ok := m.(domain[X]); ok {
		return d.inDomain(x)
	}
	if p, ok := any(x).(metric.LatLon); ok {
		return fault.Private(metric.GreatCircle{}.Check(p, p))
	}
	return nil
}

// Then post-processes every output of m by f, which must not look at private data. The
// guarantee is m's: post-processing cannot weaken it. An error of f depends on the draw, and is
// returned with the release spent ([Mechanism]). It panics where m or f is nil.
func Then[X, Y, Z any](m Mechanism[X, Y], f func(Y) (Z, error)) Mechanism[X, Z] {
	if m == nil || f == nil {
		panic("mechanism: Then: m or f is nil")
	}
	return &then[X, Y, Z]{m, f}
}

type then[X, Y, Z any] struct {
	m Mechanism[X, Y]
	f func(Y) (Z, error)
}

func (t *then[X, Y, Z]) Guarantee() Guarantee { return t.m.Guarantee() }

func (t *then[X, Y, Z]) of() interface{ Guarantee() Guarantee } { return t.m }

func (t *then[X, Y, Z]) Memoized() bool { return memoized(t.m) }

func (t *then[X, Y, Z]) inDomain(x X) error { return inDomain(t.m, x) }

func (t *then[X, Y, Z]) String() string { return "post-processed: " + fault.Describe(t.m) }

func (t *then[X, Y, Z]) Release(rng *rand.Rand, x X) (z Z, err error) {
	y, err := t.m.Release(rng, x)
	if err != nil {
		return z, err
	}
	return t.f(y)
}

// Compose releases the outputs of all ms on the same input, independently. Its guarantee is their sum
// ([Guarantee.Plus]); different units are [ErrUnit], mechanisms that repeat draws [ErrMemoized]. After an
// error of one of the ms that depends on its draw all of the release is spent. [NewComposition] finds a
// far smaller level of many releases at a delta > 0. Where the ms have different Go types name the type
// arguments, as in Compose[int, int](channel, other).
func Compose[X, Y any](ms ...Mechanism[X, Y]) (Mechanism[X, []Y], error) {
	const op = "mechanism: Compose"
	if err := fault.Empty(op, "ms", len(ms)); err != nil {
		return nil, err
	}
	for i, m := range ms {
		if m == nil {
			return nil, fault.Empty(op, fmt.Sprintf("ms[%d]", i), 0)
		}
		if err := fault.Independent(m); err != nil {
			return nil, fmt.Errorf("%s: ms[%d]: %w", op, i, err)
		}
	}
	g := ms[0].Guarantee()
	for i, m := range ms[1:] {
		var err error
		if g, err = g.Plus(m.Guarantee()); err != nil {
			return nil, fmt.Errorf("%s: ms[%d]: %w", op, i+1, err)
		}
	}
	return &composed[X, Y]{slices.Clone(ms), g}, nil
}

type composed[X, Y any] struct {
	ms []Mechanism[X, Y]
	g  Guarantee
}

func (c *composed[X, Y]) Guarantee() Guarantee { return c.g }

func (c *composed[X, Y]) inDomain(x X) (err error) {
	for i := 0; i < len(c.ms) && err == nil; i++ {
		err = inDomain(c.ms[i], x)
	}
	return err
}

func (c *composed[X, Y]) String() string {
	return fmt.Sprintf("%d mechanisms composed, %v", len(c.ms), c.g)
}

func (c *composed[X, Y]) Release(rng *rand.Rand, x X) ([]Y, error) {
	rng, done := random.Get(rng)
	defer done()
	ys := make([]Y, len(c.ms))
	for i, m := range c.ms {
		y, err := m.Release(rng, x)
		if err != nil {
			return nil, fmt.Errorf("mechanism: Compose: mechanism %d: %w", i, err)
		}
		ys[i] = y
	}
	return ys, nil
}

package mechanismtest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"reflect"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/law"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism"
)

// Failure reports a law that fails: Op is the call, Law the name of the law and
// Err what shows that it fails, which [errors.As] and [errors.Is] find.
type Failure = law.Failure

// Options are settings of tests. Nil and the zero value mean the defaults.
type Options[X, Y any] struct {
	// Key makes of an output the comparable value that it is counted by, such as the bin of a real
	// number. The default is the output, or what %#v prints of it: not for outputs with pointers
	// or channels inside.
	Key func(Y) any

	// Refused are inputs outside the domain, of each kind there is.
	Refused []X

	// Constant says that the output need not vary, as where noise is rare.
	Constant bool

	// Samples is the number of releases from each input that are counted; 0 means 2^17.
	Samples int

	// FalseReject bounds the probability that a call rejects a right mechanism, in (0, 1); 0 means 1e-6.
	FalseReject float64

	// Seed fixes the generators that releases are given.
	Seed uint64
}

// settings returns o with its defaults in place of zeros.
func settings[X, Y any](op string, o *Options[X, Y]) (Options[X, Y], error) {
	var c Options[X, Y]
	if o != nil {
		c = *o
	}
	if c.Samples < 0 {
		return c, fault.Value(op, "Samples", float64(c.Samples), "at least 0")
	}
	if !(c.FalseReject >= 0 && c.FalseReject < 1) {
		return c, fault.Value(op, "FalseReject", c.FalseReject, "a number in [0, 1)")
	}
	c.Samples = cmp.Or(c.Samples, 1<<17)
	c.FalseReject = cmp.Or(c.FalseReject, 1e-6)
	if c.Key == nil {
		c.Key = key[Y]
	}
	return c, nil
}

// sampling is settings for a mechanism whose draws are counted.
func sampling[X, Y any](op string, m mechanism.Mechanism[X, Y], o *Options[X, Y]) (Options[X, Y], error) {
	if err := fault.Independent(m); err != nil {
		return Options[X, Y]{}, fmt.Errorf("%s: m: %w", op, err)
	}
	return settings(op, o)
}

// key is y where that can be the key of a map, and its print otherwise.
func key[Y any](y Y) any {
	if v := reflect.ValueOf(y); !v.IsValid() || v.Comparable() {
		return y
	}
	return law.Show(y)
}

// same compares two keys; NaN counts as equal to itself.
func same(a, b any) bool { return a == b || law.Show(a) == law.Show(b) }

// generator is the k-th of o's. Streams differ in the seed's high half, so that
// a test's own seeds, small numbers, do not meet them.
func (o *Options[X, Y]) generator(k int) *rand.Rand {
	return random.Seeded(o.Seed ^ 0x6d65_7472_6963_0000 ^ uint64(k)<<40)
}

// count draws n outputs at x and calls f with the key of each.
func (o *Options[X, Y]) count(m mechanism.Mechanism[X, Y], rng *rand.Rand, x X, n int, f func(any)) error {
	for range n {
		y, err := m.Release(rng, x)
		if err != nil {
			return refused(x, err)
		}
		f(o.Key(y))
	}
	return nil
}

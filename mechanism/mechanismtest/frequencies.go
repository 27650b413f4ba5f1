package mechanismtest

import (
	"context"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/law"
	"github.com/metricdp/metricdp/mechanism"
)

// massSlack is how far probabilities may be from a sum of 1 by rounding: those of a Channel's row, to a
// relative 2^-42 each, are a quarter of it off. An output outside a distribution that lacks no more has a
// probability of at most this, and one is then drawn in 10^5 draws with probability below 1e-7.
const massSlack = 0x1p-40

// TestDistribution draws Options.Samples releases at x and compares how often each output comes up
// with its probability in p. Where p sums to less than 1 - 2^-40, the outputs it leaves out share
// the rest. Put real numbers into bins with [mechanism.Then]; Options.Key is not used.
//
// A mechanism with that distribution is rejected, with a [*Failure], with probability at most
// Options.FalseReject (Agrawal 2020). Other errors are a [*metric.ValueError] for an option or p,
// [mechanism.ErrMemoized], and those of Release.
func TestDistribution[X any, Y comparable](ctx context.Context, m mechanism.Mechanism[X, Y], x X, p map[Y]float64, o *Options[X, Y]) error {
	const op = "mechanismtest: TestDistribution"
	opt, err := sampling(op, m, o)
	if err != nil {
		return err
	}
	sum := 0.0
	for _, v := range p {
		if err := fault.NonNegative(op, "a probability", v); err != nil {
			return err
		}
		sum += v
	}
	if sum > 1+massSlack {
		return fault.Value(op, "sum of p", sum, "at most 1")
	}
	m = until[X, Y]{ctx, m}
	t := &law.Trial{Op: op}
	t.Law("frequencies", func() error {
		count := map[Y]int{}
		r := opt.generator(2)
		for range opt.Samples {
			y, err := m.Release(r, x)
			if err != nil {
				return refused(x, err)
			}
			count[y]++
		}
		if err := disagree(count, p, 1-sum, opt.FalseReject); err != nil {
			return refused(x, err)
		}
		return nil
	})
	return ended(ctx, t)
}

// disagree returns an error where the counts are not those of the distribution p, whose
// keys leave out a mass of rest, at that probability of being wrong.
//
// The relative entropy D of the frequencies to p is, for k outcomes and n samples of p, however
// few, such that
//
//	P{n D >= z} <= exp(-z) (e z/(k-1))^(k-1), z > k-1
//
// (Agrawal, "Finite-sample concentration of the multinomial in relative entropy", 2020). An outcome
// of probability 0 disagrees at once.
func disagree[Y comparable](count map[Y]int, p map[Y]float64, rest, falseReject float64) error {
	n, others := 0, 0
	for y, c := range count {
		n += c
		q, ok := p[y]
		if !ok {
			others += c
		}
		if c > 0 && (ok && q == 0 || !ok && rest <= massSlack) {
			return fmt.Errorf("%s has probability 0 and came up %d times", law.Brief(y), c)
		}
	}
	z, cells := 0.0, 0
	worst, at := 0.0, ""
	add := func(name func() string, c int, q float64) {
		if q == 0 {
			return
		}
		cells++
		e := float64(n) * q
		if c > 0 {
			z += float64(c) * math.Log(float64(c)/e)
		}
		if off := math.Abs(float64(c)-e) / math.Sqrt(e); off > worst {
			worst, at = off, fmt.Sprintf("%s came up %d times of %d, %.1f expected", name(), c, n, e)
		}
	}
	for y, q := range p {
		add(func() string { return law.Brief(y) }, count[y], q)
	}
	if rest > massSlack {
		add(func() string { return "the rest" }, others, rest)
	}
	if f := float64(cells - 1); z > f && f > 0 {
		if bound := -z + f*(1+math.Log(z/f)); bound < math.Log(falseReject) {
			return fmt.Errorf("frequencies as far off have probability at most e^%.4g; %s", bound, at)
		}
	}
	return nil
}

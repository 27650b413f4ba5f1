package mechanismtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/law"
	"github.com/metricdp/metricdp/mechanism"
)

const (
	// Releases of one input in the laws on single releases.
	repeats = 16

	// Releases of one input in the law of randomness, which without a generator is checked where at
	// most half of the draws with generators agree, and fails where two runs of draws agree
	// altogether. Let p be the probability of the likeliest output. If p >= 3/4, half of 128 draws
	// agree at most with probability exp(-2*128/16) = 1.2e-7 (Hoeffding), over the seed, once. If p
	// < 3/4, two draws agree with probability sum p_y^2 <= p, and two runs with (3/4)^128 = 1e-16.
	draws = 128
)

// TestMechanism checks the laws from guarantee to output (see the overview) on inputs of m's
// domain, and on Options.Refused outside it. The error joins a [*Failure] for every law that
// fails; it is [metric.ErrEmpty] for no inputs and a [*metric.ValueError] for an option. About 800
// releases an input. A right mechanism fails with probability at most 2e-7 an input.
func TestMechanism[X, Y any](ctx context.Context, m mechanism.Mechanism[X, Y], inputs []X, o *Options[X, Y]) error {
	const op = "mechanismtest: TestMechanism"
	opt, err := settings(op, o)
	if err != nil {
		return err
	}
	if err := fault.Empty(op, "inputs", len(inputs)); err != nil {
		return err
	}
	t := &law.Trial{Op: op}
	behavior[X, Y](t, until[X, Y]{ctx, m}, inputs, &opt)
	return ended(ctx, t)
}

// until is a mechanism that releases until ctx is done.
type until[X, Y any] struct {
	ctx context.Context
	mechanism.Mechanism[X, Y]
}

func (u until[X, Y]) Release(rng *rand.Rand, x X) (y Y, err error) {
	if err := u.ctx.Err(); err != nil {
		return y, err
	}
	return u.Mechanism.Release(rng, x)
}

// ended is the error of ctx, or what t found.
func ended(ctx context.Context, t *law.Trial) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", t.Op, err)
	}
	return t.Err()
}

func behavior[X, Y any](t *law.Trial, m mechanism.Mechanism[X, Y], inputs []X, o *Options[X, Y]) {
	before := make([]string, len(inputs))
	for i, x := range inputs {
		before[i] = law.Show(x)
	}
	var g mechanism.Guarantee
	t.Law("guarantee", func() error {
		g = m.Guarantee()
		return promises(g)
	})
	if !t.Law("release", func() error { return releases(m, inputs, o) }) {
		return // nothing below could hold
	}
	t.Law("randomness", func() error { return varies(m, inputs, o) })
	t.Law("output", func() error { return kept(m, inputs, o) })
	if t.Law("repeatable", func() error { return repeatable(m, inputs, o) }) {
		t.Law("concurrent use", func() error { return together(m, inputs, o) })
	}
	t.Law("refusal", func() error { return refuses(m, o) })
	t.Law("input", func() error {
		for i, x := range inputs {
			if now := law.Show(x); now != before[i] {
				return fmt.Errorf("inputs[%d] was %s and is %s", i, before[i], now)
			}
		}
		return nil
	})
	t.Law("guarantee", func() error {
		if now := m.Guarantee(); now != g {
			return fmt.Errorf("it was %v and is %v", g, now)
		}
		return nil
	})
}

func promises(g mechanism.Guarantee) error {
	if math.IsInf(g.Alpha(), 1) { // of the rest its constructor takes care
		return errors.New("it promises nothing: alpha is +Inf")
	}
	if d := g.Delta(); !(d < 1) { // of a sum
		return fmt.Errorf("delta = %v, want a number in [0, 1)", d)
	}
	return nil
}

func refused[X any](x X, err error) error { return fmt.Errorf("input %s: %w", law.Brief(x), err) }

// releases draws from every input: no error, whatever the draw.
func releases[X, Y any](m mechanism.Mechanism[X, Y], inputs []X, o *Options[X, Y]) error {
	for i, x := range inputs {
		for _, r := range []*rand.Rand{nil, o.generator(i)} {
			for k := range repeats {
				if _, err := m.Release(r, x); err != nil {
					return fmt.Errorf("release %d of %w", k, refused(x, err))
				}
			}
		}
	}
	return nil
}

// run draws repeats outputs of x from the k-th generator, and a number after
// them that shows where they left it. between is called before every release.
func run[X, Y any](m mechanism.Mechanism[X, Y], x X, o *Options[X, Y], k int, between func()) ([]any, error) {
	var keys []any
	r := o.generator(k)
	for range repeats {
		between()
		if err := o.count(m, r, x, 1, func(y any) { keys = append(keys, y) }); err != nil {
			return nil, err
		}
	}
	return append(keys, r.Uint64()), nil
}

// equal reports how two results of run for x differ.
func equal[X any](x X, a, b []any) error {
	for j := range a {
		switch {
		case same(a[j], b[j]):
		case j == repeats:
			return fmt.Errorf("input %s: the same releases leave a generator in two states", law.Brief(x))
		default:
			return fmt.Errorf("input %s, release %d from one seed: %s and %s", law.Brief(x), j, law.Brief(a[j]), law.Brief(b[j]))
		}
	}
	return nil
}

// repeatable compares two runs from one seed, the second among other releases.
func repeatable[X, Y any](m mechanism.Mechanism[X, Y], inputs []X, o *Options[X, Y]) error {
	for i, x := range inputs {
		a, err := run(m, x, o, i, func() {})
		if err != nil {
			return err
		}
		other, step := o.generator(len(inputs)+i), 0
		b, err := run(m, x, o, i, func() {
			m.Release(nil, x)
			for range 1 + step%2 {
				m.Release(other, inputs[(i+step)%len(inputs)])
			}
			step++
		})
		if err != nil {
			return err
		}
		if err := equal(x, a, b); err != nil {
			return err
		}
	}
	return nil
}

// varies checks that releases differ, with generators and without.
func varies[X, Y any](m mechanism.Mechanism[X, Y], inputs []X, o *Options[X, Y]) error {
	if o.Constant {
		return nil
	}
	varied := false
	for i, x := range inputs {
		seeded, most := map[any]int{}, 0
		for k := range draws {
			err := o.count(m, o.generator((i+1)*draws+k), x, 1, func(y any) {
				seeded[y]++
				most = max(most, seeded[y])
			})
			if err != nil {
				return err
			}
		}
		varied = varied || len(seeded) > 1
		if most > draws/2 {
			continue // two runs could agree by chance
		}
		var runs [2][]any
		for k := range runs {
			if err := o.count(m, nil, x, draws, func(y any) { runs[k] = append(runs[k], y) }); err != nil {
				return err
			}
		}
		if slices.EqualFunc(runs[0], runs[1], same) {
			return fmt.Errorf("input %s: two runs of %d releases without a generator are the same", law.Brief(x), draws)
		}
	}
	if !varied {
		return fmt.Errorf("%d generators give every input one output only; set Options.Constant where that is meant", draws)
	}
	return nil
}

// kept checks that an output is the caller's: later releases leave it alone.
func kept[X, Y any](m mechanism.Mechanism[X, Y], inputs []X, o *Options[X, Y]) error {
	r := o.generator(0)
	var ys []Y
	var was []string
	for range repeats {
		for _, x := range inputs {
			y, err := m.Release(r, x)
			if err != nil {
				return refused(x, err)
			}
			ys, was = append(ys, y), append(was, law.Show(y))
		}
	}
	for k, y := range ys {
		if now := law.Show(y); now != was[k] {
			return fmt.Errorf("output %d was %s and after later releases is %s", k, was[k], now)
		}
	}
	return nil
}

// together releases from many goroutines at once. Half of the releases have a
// generator, of the goroutine's own: their outputs are known from before.
func together[X, Y any](m mechanism.Mechanism[X, Y], inputs []X, o *Options[X, Y]) error {
	want := make([][]any, len(inputs))
	for i, x := range inputs {
		var err error
		if want[i], err = run(m, x, o, i, func() {}); err != nil {
			return err
		}
	}
	return law.Together(8, func(w int) error {
		for k := range inputs {
			i := (k + w) % len(inputs)
			var none error
			have, err := run(m, inputs[i], o, i, func() {
				if _, err := m.Release(nil, inputs[i]); err != nil {
					none = refused(inputs[i], err)
				}
				m.Guarantee()
			})
			if err = errors.Join(err, none); err != nil {
				return err
			}
			if err := equal(inputs[i], want[i], have); err != nil {
				return err
			}
		}
		return nil
	})
}

// refuses checks that inputs outside the domain get an error at every draw.
func refuses[X, Y any](m mechanism.Mechanism[X, Y], o *Options[X, Y]) error {
	for i, x := range o.Refused {
		for k := range repeats {
			r := o.generator(k)
			if k == 0 {
				r = nil
			}
			if y, err := m.Release(r, x); err == nil {
				return fmt.Errorf("input Refused[%d] = %s: released as %s", i, law.Brief(x), law.Brief(y))
			}
		}
	}
	return nil
}

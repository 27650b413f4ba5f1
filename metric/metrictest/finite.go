package metrictest

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/law"
	"github.com/metricdp/metricdp/metric"
)

// TestFinite checks the laws of the package's doc for f. The error joins a
// [*Failure] for every law that fails; it is [metric.ErrEmpty] for a space
// without points and a [*metric.ValueError] for an option.
//
// Up to Options.MaxPoints points it takes some 30 Len()^2 distances and
// Len()^3 arithmetic, above that some millions of distances.
func TestFinite(ctx context.Context, f metric.Finite, o *Options) error {
	const op = "metrictest: TestFinite"
	opt, err := withDefaults(op, o)
	if err != nil {
		return err
	}
	if f == nil {
		return fault.Empty(op, "f", 0)
	}
	t := &law.Trial{Op: op}
	n := 0
	if !t.Law("length", func() error {
		if n = f.Len(); n < 0 {
			return fmt.Errorf("Len() = %d", n)
		}
		return nil
	}) {
		return t.Err()
	}
	if err := fault.Empty(op, "f", n); err != nil {
		return err
	}
	idx := opt.sample(n)
	axioms(ctx, t, f, idx, &opt, func(v *metric.Violation) error { return v })
	answers(ctx, t, len(idx), func(a, b int) float64 { return f.Distance(idx[a], idx[b]) }, func(a, b int) string {
		return fmt.Sprintf("Distance(%d, %d)", idx[a], idx[b])
	})
	if r, ok := f.(metric.RowReader); ok {
		rows(ctx, t, f, r, n, idx)
	}
	t.Law("range", func() error { return outside(f, n) })
	embedding(ctx, t, f, n, idx)
	t.Law("length", func() error {
		if m := f.Len(); m != n {
			return fmt.Errorf("Len() was %d and is %d", n, m)
		}
		return nil
	})
	return t.Err()
}

// plain hides all capabilities of a Finite, so that Distance alone is asked.
type plain struct{ f metric.Finite }

func (p plain) Len() int                  { return p.f.Len() }
func (p plain) Distance(i, j int) float64 { return p.f.Distance(i, j) }

// axioms checks the laws of metrics; say words their violations. Validate's
// goroutines would end the program where f panics, so pairs are asked before.
func axioms(ctx context.Context, t *law.Trial, f metric.Finite, idx []int, o *Options, say func(*metric.Violation) error) {
	short := func(err error) error { // the law and its witness, without the call that found it
		var v *metric.Violation
		if !errors.As(err, &v) {
			return err
		}
		w := *v
		w.Op = ""
		return say(&w)
	}
	t.Law("metric", func() error {
		for _, i := range idx {
			if err := ctx.Err(); err != nil {
				return err
			}
			for _, j := range idx {
				f.Distance(i, j)
			}
		}
		triples := math.MaxInt // all
		if f.Len() > o.MaxPoints {
			triples = 1 // some
		}
		return short(metric.Validate(ctx, plain{f}, &metric.ValidateOptions{
			Tolerance:  o.Tolerance,
			Strict:     o.Strict,
			MaxTriples: triples,
			Samples:    samples,
			Seed:       o.Seed,
		}))
	})
	if !o.Ultrametric {
		return
	}
	t.Law("ultrametric", func() error {
		sub, err := metric.Subset(plain{f}, idx)
		if err != nil {
			return err
		}
		err = metric.ValidateUltrametric(ctx, sub, 0)
		var v *metric.Violation
		if errors.As(err, &v) { // number the witness as f does
			v.I, v.J = idx[v.I], idx[v.J]
			if v.K >= 0 {
				v.K = idx[v.K]
			}
		}
		return short(err)
	})
}

// answers checks that distances repeat, in one goroutine and in many.
func answers(ctx context.Context, t *law.Trial, n int, d func(a, b int) float64, name func(a, b int) string) {
	want := make([]float64, n*n)
	same := func(start int) error {
		for k := range want { // every worker from another pair on
			k = (k + start) % len(want)
			a, b := k/n, k%n
			if b == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if v := d(a, b); !sameBits(v, want[k]) {
				return fmt.Errorf("%s is %v after %v", name(a, b), v, want[k])
			}
		}
		return nil
	}
	if t.Law("repeatable", func() error {
		for k := range want {
			if k%n == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			want[k] = d(k/n, k%n)
		}
		return same(0)
	}) {
		t.Law("concurrent use", func() error {
			return law.Together(workers, func(w int) error { return same(w * len(want) / workers) })
		})
	}
}

func sameBits(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }

// outside checks that indices out of range panic.
func outside(f metric.Finite, n int) error {
	for _, p := range [][2]int{{-1, 0}, {0, -1}, {n, 0}, {0, n}, {-1, -1}, {n, n}} {
		var d float64
		if !law.Panics(func() { d = f.Distance(p[0], p[1]) }) {
			return fmt.Errorf("Distance(%d, %d) = %v of %d points, want a panic", p[0], p[1], d, n)
		}
	}
	if r, ok := f.(metric.RowReader); ok {
		for _, i := range []int{-1, n} {
			if !law.Panics(func() { r.DistancesFrom(i, nil) }) {
				return fmt.Errorf("DistancesFrom(%d) of %d points, want a panic", i, n)
			}
		}
	}
	return nil
}

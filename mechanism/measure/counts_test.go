package measure

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/samples"
	"github.com/metricdp/metricdp/metric"
)

func stream[P any](records []P) iter.Seq2[P, error] {
	return func(yield func(P, error) bool) {
		for _, p := range records {
			if !yield(p, nil) {
				return
			}
		}
	}
}

// dense returns the numbers of records in all cells.
func (c *Counts[P]) dense() []int64 {
	n, s := make([]int64, c.space.Cells), c.snapshot()
	for i, cell := range s.cells {
		n[cell] = s.n[i]
	}
	return n
}

func sameCounts[P any](a, b *Counts[P]) bool {
	return reflect.DeepEqual(a.snapshot(), b.snapshot())
}

// Streams, slices, single additions and merged parts count alike, on any number of workers.
func TestCount_AllWaysAgree(t *testing.T) {
	x := samples.Uniform(2)(random.Seeded(1), 2*chunk+17)
	for _, depth := range []float64{3, 0} {
		d := samples.Unit(2, domain.BoxOptions{Depth: depth})
		want := NewCounts(d)
		for _, p := range x {
			testkit.Check(t, want.Add(p))
		}
		parts := NewCounts(d)
		for at := 0; at < len(x); at += 5000 {
			part := testkit.Must(CountAll(t.Context(), d, x[at:min(at+5000, len(x))], nil))
			sent := testkit.Must(part.MarshalBinary())
			got := NewCounts(samples.Unit(2, domain.BoxOptions{Depth: depth})) // another machine's
			testkit.Check(t, got.UnmarshalBinary(sent))
			testkit.Check(t, parts.Merge(got))
		}
		reused := func(yield func([]float64, error) bool) {
			buf := make([]float64, 2)
			for p := range stream(x) {
				if copy(buf, p); !yield(buf, nil) {
					return
				}
			}
		}
		grouped := NewCounts(d)
		cells := testkit.Must(CountAll(t.Context(), samples.Unit(2, domain.BoxOptions{Depth: depth}), x, nil)).snapshot()
		for i, cell := range cells.cells {
			testkit.Check(t, grouped.AddN(d.Point(cell), cells.n[i]))
		}
		for name, got := range map[string]*Counts[[]float64]{
			"slice":    testkit.Must(CountAll(t.Context(), d, x, nil)),
			"slice/1":  testkit.Must(CountAll(t.Context(), d, x, &CountOptions{Workers: 1})),
			"stream":   testkit.Must(Count(t.Context(), d, stream(x), nil)),
			"stream/1": testkit.Must(Count(t.Context(), d, stream(x), &CountOptions{Workers: 1})),
			"reused/1": testkit.Must(Count(t.Context(), d, reused, &CountOptions{Workers: 1})),
			"stream/2": testkit.Must(Count(t.Context(), d, stream(x), &CountOptions{Workers: 2})), // in two parts
			"stream/7": testkit.Must(Count(t.Context(), d, stream(x), &CountOptions{Workers: 7})),
			"merged":   parts,
			"grouped":  grouped,
		} {
			if !sameCounts(want, got) {
				t.Errorf("depth %v, %s: counts differ", depth, name)
			}
		}
	}
}

// Counts are of one domain: those of another with as many cells are refused on every way.
func TestCounts_AreOfTheirDomain(t *testing.T) {
	d, e := samples.Unit(1, domain.BoxOptions{Depth: 2}), testkit.Must(domain.NewBox([]domain.Column{{Hi: 2}}, &domain.BoxOptions{Depth: 2}))
	c := testkit.Must(CountAll(t.Context(), d, [][]float64{{0.3}}, nil))
	into := NewCounts(e)
	for name, err := range map[string]error{
		"Merge":           into.Merge(c),
		"UnmarshalBinary": into.UnmarshalBinary(testkit.Must(c.MarshalBinary())),
		"Release":         testkit.Err(testkit.Must(NewSynthesizer(e, 1, nil)).Release(nil, c)),
	} {
		if !errors.Is(err, ErrMismatch) || into.Len() != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	const want = "counted in a box of 1 column: 4 cells, 2 levels of arity 2, not in this box of 1 column: 4 cells, 2 levels of arity 2, of other bounds, points or distances"
	if err := into.Merge(c); err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Error(err)
	}
}

// Sums may be as large as 2^63-1, and no larger, by every way to them; what is refused changes
// nothing. Counts merged with themselves would hold every record twice.
func TestMerge_Limits(t *testing.T) {
	d := samples.Unit(1, domain.BoxOptions{Depth: 3})
	counted := func(n int64) *Counts[[]float64] {
		c := NewCounts(d)
		testkit.Check(t, c.AddN([]float64{.3}, n))
		return c
	}
	c := counted(0)
	if c.Len() != 0 || len(c.snapshot().cells) != 0 {
		t.Errorf("nothing added: %d records, cells %v", c.Len(), c.snapshot().cells)
	}
	c = counted(1)
	if err := c.Merge(c); err == nil || !strings.Contains(err.Error(), "twice") || c.Len() != 1 {
		t.Errorf("%v, %d records", err, c.Len())
	}
	c = counted(math.MaxInt64 - 5)
	var wrong *fault.ValueError
	for _, n := range []int64{-1, math.MinInt64, 6} {
		if err := c.AddN([]float64{.3}, n); !errors.As(err, &wrong) || wrong.Arg != "n" {
			t.Errorf("n = %d: %v", n, err)
		}
	}
	c.skipped = false
	for _, n := range []int64{6, math.MaxInt64} {
		from := counted(n)
		from.skipped = true
		if err := c.Merge(from); !errors.As(err, &wrong) || wrong.Arg != "o.Len()" || c.skipped {
			t.Errorf("%d too many: %v", n-5, err)
		}
	}
	if err := c.Merge(counted(3)); err != nil || c.snapshot().n[0] != math.MaxInt64-2 {
		t.Errorf("%v", err)
	}
	if err := c.AddN([]float64{.3}, 2); err != nil || c.snapshot().total != math.MaxInt64 {
		t.Errorf("%v", err)
	}
	if err := c.Add([]float64{.9}); !errors.As(err, &wrong) || len(c.snapshot().cells) != 1 {
		t.Errorf("%v", err)
	}
	if err := c.Merge(NewCounts(d)); err != nil {
		t.Errorf("nothing merged: %v", err)
	}
}

// Counts that may lack records are refused under ReplaceOne, which publishes their number, on every
// way to a release, whether or not they lack any.
func TestSkipErrors_RefusedUnderReplaceOne(t *testing.T) {
	valid := [][]float64{{0.1}, {0.9}, {0.5}}
	invalid := [][]float64{{0.1}, {math.NaN()}, {0.5}} // a neighbor
	d := samples.Unit(1, domain.BoxOptions{Depth: 3})
	replace := testkit.Must(NewSynthesizer(d, 1, nil))
	addRemove := testkit.Must(NewSynthesizer(d, 1, &SynthesizerOptions{Relation: AddRemoveOne}))
	release := func(name string, c *Counts[[]float64], skipped bool) {
		t.Helper()
		if out, err := replace.Release(nil, c); skipped != errors.Is(err, ErrSkipped) || !skipped && err != nil || (out == nil) != skipped {
			t.Errorf("%s, ReplaceOne: %v", name, err)
		}
		if _, err := addRemove.Release(nil, c); err != nil {
			t.Errorf("%s, AddRemoveOne: %v", name, err)
		}
	}
	clean := testkit.Must(CountAll(t.Context(), d, valid, nil))
	release("clean", clean, false)
	for _, w := range []int{1, 2} {
		o := &CountOptions{SkipErrors: true, Workers: w}
		for _, x := range [][][]float64{valid, invalid, nil} {
			release("slice", testkit.Must(CountAll(t.Context(), d, x, o)), true)
			release("stream", testkit.Must(Count(t.Context(), d, stream(x), o)), true)
		}
	}
	tainted := testkit.Must(CountAll(t.Context(), d, valid, &CountOptions{SkipErrors: true}))
	read := NewCounts(d)
	for _, from := range []*Counts[[]float64]{tainted, clean, tainted} { // what is read replaces the mark too
		testkit.Check(t, read.UnmarshalBinary(testkit.Must(from.MarshalBinary())))
		release("round trip", read, from == tainted)
	}
	into := testkit.Must(CountAll(t.Context(), d, valid, nil))
	testkit.Check(t, into.Merge(clean))
	release("clean into clean", into, false)
	testkit.Check(t, into.Merge(testkit.Must(CountAll(t.Context(), d, nil, &CountOptions{SkipErrors: true}))))
	release("skipped into clean", into, true)
	testkit.Check(t, tainted.Merge(clean))
	release("clean into skipped", tainted, true)
	if into.Len() != 6 || tainted.Len() != 6 {
		t.Errorf("%d and %d records", into.Len(), tainted.Len())
	}
	// Whoever ignores the error of Add has left out a record for what it says.
	for name, add := range map[string]func(c *Counts[[]float64]) error{
		"Add of NaN":        func(c *Counts[[]float64]) error { return c.Add([]float64{math.NaN()}) },
		"AddN of two":       func(c *Counts[[]float64]) error { return c.AddN([]float64{0.1, 0.1}, 3) },
		"AddN of -3":        func(c *Counts[[]float64]) error { return c.AddN([]float64{0.1}, -3) },
		"AddN of no errors": func(c *Counts[[]float64]) error { return c.AddN([]float64{0.1}, 3) },
	} {
		c := testkit.Must(CountAll(t.Context(), d, valid, nil))
		release(name, c, add(c) != nil)
	}
}

func TestCount_Errors(t *testing.T) {
	d := samples.Unit(1, domain.BoxOptions{Depth: 3})
	x := samples.Uniform(1)(random.Seeded(1), 2*batch)
	x[batch+3] = []float64{math.NaN()}
	x[batch+9] = []float64{math.NaN()}
	boom := errors.New("boom")
	broken := func(p []float64) iter.Seq2[[]float64, error] {
		return func(yield func([]float64, error) bool) { _ = yield(p, nil) && yield(nil, boom) }
	}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	for _, w := range []int{1, 2} {
		o := &CountOptions{Workers: w}
		var ve *metric.ValueError
		for _, err := range []error{testkit.Err(Count(t.Context(), d, stream(x), o)), testkit.Err(CountAll(t.Context(), d, x, o))} {
			if !errors.As(err, &ve) || !strings.Contains(err.Error(), fmt.Sprintf(": record %d: ", batch+3)) {
				t.Errorf("NaN: %v", err)
			}
		}
		if _, err := Count(t.Context(), d, broken(x[0]), o); !errors.Is(err, boom) || !strings.Contains(err.Error(), ": record 1: ") {
			t.Errorf("error of the iterator: %v", err)
		}
		if _, err := Count(t.Context(), d, broken(x[batch+3]), o); !errors.As(err, &ve) || !strings.Contains(err.Error(), ": record 0: ") {
			t.Errorf("NaN, and an error of the iterator: %v", err)
		}
		o.SkipErrors = true
		if c, err := Count(t.Context(), d, stream(x), o); err != nil || c.Len() != len(x)-2 {
			t.Errorf("skipping: %v", err)
		}
		for _, err := range []error{testkit.Err(Count(done, d, stream(x), o)), testkit.Err(Count(done, d, stream(x[:2]), o)), testkit.Err(CountAll(done, d, x, o))} {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("canceled: %v", err)
			}
		}
	}
	told := 0
	if _, err := Count(t.Context(), d, stream(x[:batch]), &CountOptions{Progress: func(n int) { told = n }}); err != nil || told != batch {
		t.Errorf("progress %d, %v", told, err)
	}
}

// FuzzCounts reads hostile bytes: they are refused, or are counts with just that encoding.
func FuzzCounts(f *testing.F) {
	d := samples.Unit(1, domain.BoxOptions{Depth: 3})
	deep := samples.Unit(1, domain.BoxOptions{})
	tail := func(c *Counts[[]float64]) []byte {
		b := testkit.Must(c.MarshalBinary())
		return b[countsHead-1 : len(b)-crc32.Size]
	}
	f.Add(tail(testkit.Must(CountAll(f.Context(), d, [][]float64{{0.1}, {0.9}}, nil))))
	f.Add(tail(testkit.Must(CountAll(f.Context(), d, nil, &CountOptions{SkipErrors: true}))))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, tail []byte) {
		for _, d := range []*domain.Domain[[]float64]{d, deep} {
			b := sealed(append(append([]byte(countsMagic), samples.Inside(d).ID[:]...), tail...))
			c := NewCounts(d)
			if c.UnmarshalBinary(b) != nil {
				continue
			}
			if again := testkit.Must(c.MarshalBinary()); c.Len() < 0 || !bytes.Equal(b, again) {
				t.Fatalf("%d records were read from %x and written as %x", c.Len(), b, again)
			}
		}
	})
}

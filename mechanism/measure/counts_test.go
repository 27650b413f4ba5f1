package measure

import (
	"bytes"
	"context"
	"errors"
	"hash/crc32"
	"iter"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
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
	n, s := make([]int64, c.d.cells), c.snapshot()
	for i, cell := range s.cells {
		n[cell] = s.n[i]
	}
	return n
}

func sameCounts[P any](a, b *Counts[P]) bool {
	return reflect.DeepEqual(a.snapshot(), b.snapshot())
}

// Streams, slices, single additions and merged parts count alike, on any number
// of workers.
func TestCount_AllWaysAgree(t *testing.T) {
	x := uniformRecords(2)(random.Seeded(1), 3*batch+17)
	for _, depth := range []float64{3, 0} {
		d := unitBox(2, BoxOptions{Depth: depth})
		want := d.NewCounts()
		for _, p := range x {
			testkit.Check(t, want.Add(p))
		}
		parts := d.NewCounts()
		for at := 0; at < len(x); at += 5000 {
			part := testkit.Must(CountAll(t.Context(), d, x[at:min(at+5000, len(x))], nil))
			sent := testkit.Must(part.MarshalBinary())
			got := unitBox(2, BoxOptions{Depth: depth}).NewCounts() // another machine's
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
		grouped := d.NewCounts()
		cells := testkit.Must(CountAll(t.Context(), unitBox(2, BoxOptions{Depth: depth}), x, nil)).snapshot()
		for i, cell := range cells.cells {
			testkit.Check(t, grouped.AddN(d.Point(cell), cells.n[i]))
		}
		for name, got := range map[string]*Counts[[]float64]{
			"slice":    testkit.Must(CountAll(t.Context(), d, x, nil)),
			"slice/1":  testkit.Must(CountAll(t.Context(), d, x, &CountOptions{Workers: 1})),
			"stream":   testkit.Must(Count(t.Context(), d, stream(x), nil)),
			"stream/1": testkit.Must(Count(t.Context(), d, stream(x), &CountOptions{Workers: 1})),
			"reused/1": testkit.Must(Count(t.Context(), d, reused, &CountOptions{Workers: 1})),
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

// Sums may be as large as 2^63-1, and no larger, by every way to them; what is
// refused changes nothing, the mark of skipped records included.
// Merged with themselves counts would hold every record twice, at half the level stated.
func TestMerge_RefusesItself(t *testing.T) {
	d := unitBox(1, BoxOptions{Depth: 2})
	c := testkit.Must(CountAll(t.Context(), d, [][]float64{{0.5}}, nil))
	if err := c.Merge(c); err == nil || !strings.Contains(err.Error(), "twice") || c.Len() != 1 {
		t.Errorf("%v, %d records", err, c.Len())
	}
}

func TestMerge_Limits(t *testing.T) {
	for _, depth := range []float64{3, 0} {
		d := unitBox(1, BoxOptions{Depth: depth})
		counted := func(n int64) *Counts[[]float64] {
			c := d.NewCounts()
			testkit.Check(t, c.AddN([]float64{.3}, n))
			return c
		}
		c := counted(0)
		if c.Len() != 0 || len(c.snapshot().cells) != 0 {
			t.Errorf("depth %v: nothing added: %d records, cells %v", depth, c.Len(), c.snapshot().cells)
		}
		c = counted(math.MaxInt64 - 5)
		var wrong *fault.ValueError
		for _, n := range []int64{-1, math.MinInt64, 6} {
			if err := c.AddN([]float64{.3}, n); !errors.As(err, &wrong) || wrong.Arg != "n" {
				t.Errorf("depth %v, n = %d: %v", depth, n, err)
			}
		}
		c.skipped = false
		for _, n := range []int64{6, math.MaxInt64} {
			from := counted(n)
			from.skipped = true
			if err := c.Merge(from); !errors.As(err, &wrong) || wrong.Arg != "o.Len()" || c.skipped {
				t.Errorf("depth %v, %d too many: %v", depth, n-5, err)
			}
		}
		if err := c.Merge(counted(3)); err != nil || c.snapshot().n[0] != math.MaxInt64-2 {
			t.Errorf("depth %v: %v", depth, err)
		}
		if err := c.AddN([]float64{.3}, 2); err != nil || c.snapshot().total != math.MaxInt64 {
			t.Errorf("depth %v: %v", depth, err)
		}
		if err := c.Add([]float64{.9}); !errors.As(err, &wrong) || len(c.snapshot().cells) != 1 {
			t.Errorf("depth %v: %v", depth, err)
		}
		if err := c.Merge(d.NewCounts()); err != nil {
			t.Errorf("depth %v: nothing merged: %v", depth, err)
		}
	}
}

// Skipped records change the number that ReplaceOne publishes. Counts that may
// lack some are refused there, on every way to a release, and whether they do
// lack any does not matter: it is private.
func TestSkipErrors_RefusedUnderReplaceOne(t *testing.T) {
	valid := [][]float64{{0.1}, {0.9}, {0.5}}
	invalid := [][]float64{{0.1}, {math.NaN()}, {0.5}} // a neighbor
	for _, depth := range []float64{3, 0} {
		d := unitBox(1, BoxOptions{Depth: depth})
		replace := testkit.Must(NewSynthesizer(d, 1, nil))
		addRemove := testkit.Must(NewSynthesizer(d, 1, &SynthesizerOptions{Relation: AddRemoveOne}))
		release := func(name string, c *Counts[[]float64], skipped bool) {
			t.Helper()
			if out, err := replace.Release(nil, c); skipped != errors.Is(err, ErrSkipped) || !skipped && err != nil || (out == nil) != skipped {
				t.Errorf("depth %v, %s, ReplaceOne: %v", depth, name, err)
			}
			if _, err := addRemove.Release(nil, c); err != nil {
				t.Errorf("depth %v, %s, AddRemoveOne: %v", depth, name, err)
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
		read := d.NewCounts()
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
	}
}

// Whoever ignores the error of Add has left out a record for what it says.
func TestAdd_ErrorsLeaveTheMarkOfSkippedRecords(t *testing.T) {
	for _, depth := range []float64{3, 0} {
		d := unitBox(1, BoxOptions{Depth: depth})
		for name, add := range map[string]func(c *Counts[[]float64]) error{
			"Add":        func(c *Counts[[]float64]) error { return c.Add([]float64{math.NaN()}) },
			"AddN":       func(c *Counts[[]float64]) error { return c.AddN([]float64{0.1, 0.1}, 3) },
			"a number":   func(c *Counts[[]float64]) error { return c.AddN([]float64{0.1}, -3) },
			"no mistake": func(c *Counts[[]float64]) error { return c.AddN([]float64{0.1}, 3) },
		} {
			c := testkit.Must(CountAll(t.Context(), d, [][]float64{{0.1}, {0.9}}, nil))
			failed := add(c) != nil
			_, err := testkit.Must(NewSynthesizer(d, 1, nil)).Release(nil, c)
			if failed != (name != "no mistake") || failed != errors.Is(err, ErrSkipped) || !failed && err != nil {
				t.Errorf("depth %v, %s: %v", depth, name, err)
			}
			if _, err := testkit.Must(NewSynthesizer(d, 1, &SynthesizerOptions{Relation: AddRemoveOne})).Release(nil, c); err != nil {
				t.Errorf("depth %v, %s: %v", depth, name, err)
			}
		}
	}
}

func TestCount_Errors(t *testing.T) {
	d := unitBox(1, BoxOptions{Depth: 3})
	x := uniformRecords(1)(random.Seeded(1), 2*batch)
	x[batch+3] = []float64{math.NaN()}
	x[batch+9] = []float64{math.NaN()}
	boom := errors.New("boom")
	broken := func(yield func([]float64, error) bool) { yield(nil, boom) }
	done, cancel := context.WithCancel(context.Background())
	cancel()
	for _, w := range []int{1, 2} {
		o := &CountOptions{Workers: w}
		var ve *metric.ValueError
		for _, err := range []error{second(Count(t.Context(), d, stream(x), o)), second(CountAll(t.Context(), d, x, o))} {
			if !errors.As(err, &ve) {
				t.Errorf("NaN: %v", err)
			}
		}
		if _, err := Count(t.Context(), d, broken, o); !errors.Is(err, boom) {
			t.Errorf("error of the iterator: %v", err)
		}
		o.SkipErrors = true
		if c, err := Count(t.Context(), d, stream(x), o); err != nil || c.Len() != len(x)-2 {
			t.Errorf("skipping: %v", err)
		}
		for _, err := range []error{second(Count(done, d, stream(x), o)), second(CountAll(done, d, x, o))} {
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

// FuzzCounts reads hostile bytes: they are refused, or are counts with just
// that encoding.
func FuzzCounts(f *testing.F) {
	d := unitBox(1, BoxOptions{Depth: 3})
	deep := unitBox(1, BoxOptions{})
	tail := func(c *Counts[[]float64]) []byte {
		b := testkit.Must(c.MarshalBinary())
		return b[countsHead-1 : len(b)-crc32.Size]
	}
	f.Add(tail(testkit.Must(CountAll(f.Context(), d, [][]float64{{0.1}, {0.9}}, nil))))
	f.Add(tail(testkit.Must(CountAll(f.Context(), d, nil, &CountOptions{SkipErrors: true}))))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, tail []byte) {
		for _, d := range []*Domain[[]float64]{d, deep} {
			b := sealed(append(append([]byte(countsMagic), d.id[:]...), tail...))
			c := d.NewCounts()
			if c.UnmarshalBinary(b) != nil {
				continue
			}
			if again := testkit.Must(c.MarshalBinary()); c.Len() < 0 || !bytes.Equal(b, again) {
				t.Fatalf("%d records were read from %x and written as %x", c.Len(), b, again)
			}
		}
	})
}

// FuzzBox builds boxes from arbitrary numbers: an error, or a domain whose cells
// are those of their points and of the points' jitter.
func FuzzBox(f *testing.F) {
	f.Add(0.0, 1.0, 1.0, 3.0, 0, 2.0)
	f.Add(-1e100, 1e100, 1e-100, 0.0, 3, 1.0)
	f.Add(1.0, 1.0000000000000002, 1e50, 2.5, 1, math.Inf(1))
	f.Fuzz(func(t *testing.T, lo, hi, weight, depth float64, categories int, p float64) {
		d, err := NewBox([]Column{{Lo: lo, Hi: hi, Weight: weight}, {Categories: categories % 50, Hi: 2}}, &BoxOptions{Depth: depth, P: p})
		if err != nil {
			return
		}
		r := random.Seeded(1)
		for range 20 {
			c := r.IntN(d.Len())
			x := d.Point(c)
			got, err := d.Cell(x)
			if err != nil {
				t.Fatalf("%v: %v", x, err)
			}
			// Bounds a few ulps apart hold fewer numbers than cells.
			if (hi-lo)/float64(d.Len()) > 0x1p-48*max(math.Abs(lo), math.Abs(hi)) && got != c {
				t.Fatalf("cell %d: its point %v is in %d", c, x, got)
			}
			if _, err := d.Cell(d.Jitter(r, c)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := NewSynthesizer(d, 1, nil); err != nil {
			t.Fatal(err)
		}
	})
}

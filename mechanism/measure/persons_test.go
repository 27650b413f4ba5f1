package measure

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/samples"
)

type visit = Row[string, []float64]

// visits are of 26 persons, in any order; Zoe has 1,000 of n.
func visits(n int) []visit {
	r := random.Seeded(1)
	rows := make([]visit, n)
	for i := range rows {
		rows[i] = visit{string(rune('A' + r.IntN(25))), []float64{r.Float64(), r.Float64()}}
	}
	for _, i := range r.Perm(n)[:1000] {
		rows[i].Person = "Zoe"
	}
	return rows
}

// The first records of each person count, on any number of workers, and the same
// of each whoever else is there.
func TestCountPersons_FirstOfEach(t *testing.T) {
	rows := visits(3*batch + 17)
	without := slices.DeleteFunc(slices.Clone(rows), func(v visit) bool { return v.Person == "Zoe" })
	d := samples.Unit(2, domain.BoxOptions{Depth: 4})
	for _, most := range []int{1, 7, 800, 5000} {
		byHand := map[string][][]float64{}
		want := NewCounts(d)
		for _, v := range rows {
			if p := v.Person; len(byHand[p]) < most {
				byHand[p] = append(byHand[p], v.Record)
				testkit.Check(t, want.Add(v.Record))
			}
		}
		want.marks = marks{most: most}
		grouped := NewCounts(d)
		parts := []*Counts[[]float64]{NewCounts(d), NewCounts(d)}
		for p := range byHand {
			var all [][]float64
			for _, v := range rows {
				if v.Person == p {
					all = append(all, v.Record)
				}
			}
			testkit.Check(t, grouped.AddPerson(all, most))
			testkit.Check(t, parts[p[0]%2].AddPerson(all, most))
		}
		testkit.Check(t, parts[0].Merge(parts[1]))
		for _, w := range []int{1, 2, 7} {
			got := testkit.Must(CountPersons(t.Context(), d, stream(rows), most, &CountOptions{Workers: w}))
			if !sameCounts(got, want) {
				t.Errorf("%d workers, most %d: counts differ", w, most)
			}
			// A person more or less moves as many counts as rows are kept, and no others.
			moved := int64(0)
			less := testkit.Must(CountPersons(t.Context(), d, stream(without), most, &CountOptions{Workers: w})).dense()
			for cell, n := range got.dense() {
				if n < less[cell] {
					t.Errorf("most %d: a person more, and %d fewer records in cell %d", most, less[cell]-n, cell)
				}
				moved += n - less[cell]
			}
			if moved != int64(min(most, 1000)) {
				t.Errorf("most %d: a person of 1000 records moves %d counts", most, moved)
			}
		}
		if !sameCounts(grouped, want) || !sameCounts(parts[0], want) {
			t.Errorf("most %d: grouped or merged counts differ", most)
		}
	}
}

// Errors have the position among all rows; a row that is dropped has none.
func TestCountPersons_Errors(t *testing.T) {
	d := samples.Unit(2, domain.BoxOptions{Depth: 3})
	rows := visits(3 * batch)
	bad, seen := 0, map[string]int{}
	for i, v := range rows {
		if seen[v.Person]++; seen[v.Person] == 400 && v.Person == "A" { // Zoe's are dropped before
			bad = i
			rows[i].Record = []float64{.1}
		}
	}
	for _, w := range []int{1, 2} {
		o := &CountOptions{Workers: w}
		var wrong *fault.SizeError
		err := testkit.Err(CountPersons(t.Context(), d, stream(rows), 400, o))
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), "measure: CountPersons: record "+fmt.Sprint(bad)+":") {
			t.Errorf("record %d: %v", bad, err)
		}
		if c, err := CountPersons(t.Context(), d, stream(rows), 399, o); err != nil || c.Len() != 26*399 {
			t.Errorf("a record that is dropped: %v", err)
		}
		o.SkipErrors = true
		if c, err := CountPersons(t.Context(), d, stream(rows), 400, o); err != nil || c.Len() != 26*400-1 {
			t.Errorf("skipping: %v", err)
		}
		nobody := []Row[float64, []float64]{{1, []float64{.1, .1}}, {math.NaN(), []float64{.1, .1}}}
		if err := testkit.Err(CountPersons(t.Context(), d, stream(nobody), 1, o)); err == nil || !strings.Contains(err.Error(), "record 1: a Person that is not equal to itself") {
			t.Errorf("NaN is a person: %v", err)
		}
	}
	// A person with a record that has no cell among the first is not counted at all.
	c := NewCounts(d)
	if err := c.AddPerson([][]float64{{.1, .1}, {.1}}, 2); err == nil || c.Len() != 0 || c.most != 2 {
		t.Errorf("%d records of a person with a bad one: %v", c.Len(), err)
	}
	testkit.Check(t, c.AddPerson([][]float64{{.1, .1}, {.1}}, 1))
	full := NewCounts(d)
	testkit.Check(t, full.AddN([]float64{.1, .1}, math.MaxInt64))
	var wrong *fault.ValueError
	if err := full.AddPerson([][]float64{{.1, .1}}, 1); !errors.As(err, &wrong) || wrong.Arg != "len(records)" {
		t.Errorf("2^63 records: %v", err)
	}
}

// Counts remember how they were made, on every way that they go. A release takes those of as few
// records a person as it protects, and one that protects records takes none of persons.
func TestCounts_RememberPersons(t *testing.T) {
	d := samples.Unit(1, domain.BoxOptions{Depth: 3})
	x := [][]float64{{.1}, {.9}, {.9}}
	persons := func(most int) *Counts[[]float64] {
		return testkit.Must(CountPersons(t.Context(), d, stream([]Row[int, []float64]{{1, x[0]}, {1, x[1]}, {2, x[2]}}), most, nil))
	}
	by := func(f func(c *Counts[[]float64]) error) *Counts[[]float64] {
		c := NewCounts(d)
		testkit.Check(t, f(c))
		return c
	}
	merged := func(all ...*Counts[[]float64]) *Counts[[]float64] {
		c := NewCounts(d)
		for _, o := range all {
			testkit.Check(t, c.Merge(o))
		}
		return c
	}
	loose := testkit.Must(CountAll(t.Context(), d, x, nil))
	none := testkit.Must(CountPersons(t.Context(), d, stream[Row[int, []float64]](nil), 3, nil))
	for _, c := range []struct {
		name   string
		counts *Counts[[]float64]
		want   marks
	}{
		{"nothing", NewCounts(d), marks{}},
		{"CountAll", loose, marks{loose: true}},
		{"CountAll of nothing", testkit.Must(CountAll(t.Context(), d, nil, nil)), marks{loose: true}},
		{"Count", testkit.Must(Count(t.Context(), d, stream(x), nil)), marks{loose: true}},
		{"Add", by(func(c *Counts[[]float64]) error { return c.Add(x[0]) }), marks{loose: true}},
		{"AddN of none", by(func(c *Counts[[]float64]) error { return c.AddN(x[0], 0) }), marks{loose: true}},
		{"CountPersons", persons(2), marks{most: 2}},
		{"CountPersons of nothing", none, marks{most: 3}},
		{"AddPerson", by(func(c *Counts[[]float64]) error { return c.AddPerson(x, 2) }), marks{most: 2}},
		{"AddPerson of nothing", by(func(c *Counts[[]float64]) error { return c.AddPerson(nil, 2) }), marks{most: 2}},
		{"merged", merged(persons(2), none, persons(1), NewCounts(d)), marks{most: 3}},
		{"both", merged(persons(2), loose), marks{most: 2, loose: true}},
		{"both", by(func(c *Counts[[]float64]) error { return errors.Join(c.AddPerson(x, 2), c.Add(x[0])) }), marks{most: 2, loose: true}},
	} {
		read := NewCounts(d)
		testkit.Check(t, read.Merge(loose)) // to be replaced
		testkit.Check(t, read.UnmarshalBinary(testkit.Must(c.counts.MarshalBinary())))
		if got := c.counts.snapshot().marks; got != c.want || !sameCounts(c.counts, read) {
			t.Errorf("%s: %+v, and read %+v, want %+v", c.name, got, read.marks, c.want)
		}
		for perPerson, ok := range map[int]bool{
			0: c.want.most == 0,
			1: !c.want.loose && c.want.most <= 1,
			2: !c.want.loose && c.want.most <= 2,
			9: !c.want.loose,
		} {
			s := testkit.Must(NewSynthesizer(d, 1, &SynthesizerOptions{PerPerson: perPerson, Relation: AddRemoveOne}))
			if err := testkit.Err(s.Release(nil, c.counts)); (err == nil) != ok || !ok && !errors.Is(err, ErrPersons) {
				t.Errorf("%s, PerPerson %d: %v", c.name, perPerson, err)
			}
		}
	}
}

// A record gets the part of the level that is left to each of a person's, and all
// of them together at most what was asked for.
func TestPerPerson_Level(t *testing.T) {
	testkit.Rounding(t)
	d := samples.Tiny()["pair"]
	for _, eps := range []float64{1e-40, .1, 1. / 3, 1, math.Pi, 1e50} {
		for _, most := range []int{1, 2, 3, 7, 100, 12345, 1 << 30} {
			s := testkit.Must(NewSynthesizer(d, eps, &SynthesizerOptions{Relation: AddRemoveOne, PerPerson: most}))
			g := s.Guarantee()
			if a := g.Alpha(); a > eps || a < eps*(1-1e-6) || g.Unit() != "person added or removed" {
				t.Errorf("asked for %v, %d records each: %v", eps, most, g)
			}
			records := new(big.Rat).Mul(new(big.Rat).SetFloat64(s.budget.Loss()), big.NewRat(int64(most), 1))
			if records.Cmp(new(big.Rat).SetFloat64(g.Alpha())) > 0 {
				t.Errorf("asked for %v, %d records of %v each are more than %v", eps, most, s.budget.Loss(), g.Alpha())
			}
		}
	}
}

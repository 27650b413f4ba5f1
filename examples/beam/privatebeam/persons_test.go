package privatebeam

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure"
)

func init() {
	register.Function1x2(ownedFn)
	register.Function1x2(oneFn)
}

// oneFn gives all records to one person.
func oneFn(x []float64) (string, []float64) { return "one", x }

// ownedFn gives record i to person "i mod 100", and those below 1000 to "0".
func ownedFn(i int) (string, []float64) {
	if i < 1000 {
		return "0", point(i)
	}
	return name(i % 100), point(i)
}

func owned(s beam.Scope, n int) beam.PCollection {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return beam.ParDo(s, ownedFn, beam.Reshuffle(s, beam.CreateList(s, all)))
}

// perPerson protects persons with up to 10 records.
func perPerson(o SyntheticOptions) *SyntheticOptions {
	o.Release = measure.SynthesizerOptions{Relation: measure.AddRemoveOne, PerPerson: 10}
	return &o
}

// person is what a worker makes of a person's records.
func person(t *testing.T, f *personFn[[]float64, Box], id string, records [][]float64) (out *measure.Counts[[]float64]) {
	t.Helper()
	f = copied(t, f)
	testkit.Check(t, f.Setup(t.Context()))
	at := 0
	err := f.ProcessElement(id, func(x *[]float64) bool {
		if at++; at > len(records) {
			return false
		}
		*x = records[at-1]
		return true
	}, "", func(p tally) {
		if out = p.counts.(*measure.Counts[[]float64]); p.bad {
			out = nil
		}
	})
	testkit.Check(t, err)
	return out
}

// What comes out is the release of counts to which every person adds at most ten.
func TestSyntheticPersons_IsTheDirectRelease(t *testing.T) {
	const n = 5000
	o := perPerson(SyntheticOptions{Key: SeededKey(1), Records: 1000})
	p, s := beam.NewPipelineWithRoot()
	out := testkit.Must(SyntheticPersons(s, unit, 2, owned(s, n), o))
	keep(s, keepFn, out)
	ptest.RunAndValidate(t, p)

	groups := map[string][][]float64{}
	for i := range n {
		id, x := ownedFn(i)
		groups[id] = append(groups[id], x)
	}
	release := testkit.Must(newRelease("", unit, 2, o))
	sum := measure.NewCounts(release.synthesizer.Domain())
	for id, records := range groups {
		c := person(t, newPerson(release), id, records)
		if want := min(10, len(records)); c.Len() != want {
			t.Errorf("%d of %d records of a person count, want %d", c.Len(), len(records), want)
		}
		testkit.Check(t, sum.Merge(c))
	}
	want := testkit.Must(Synthetic(release.synthesizer, sum, SeededKey(1), o))
	if len(kept.records) != 1000 || !equal(sorted(kept.records), sorted(want)) {
		t.Errorf("%d records through Beam are not the %d direct ones", len(kept.records), len(want))
	}
}

// A retry meets a person's records in another order, and the same of them count;
// under another key others do, and of one cell as many as its share.
func TestSyntheticPersons_RetryKeepsTheSame(t *testing.T) {
	var records [][]float64
	for i := range 300 {
		records = append(records, point(i))
	}
	made := func(key Key) *personFn[[]float64, Box] {
		release := testkit.Must(newRelease("", unit, 2, perPerson(SyntheticOptions{Key: key})))
		return newPerson(release)
	}
	kept := func(f *personFn[[]float64, Box], id string, records [][]float64) string {
		return fmt.Sprintf("%x", encode(t, person(t, f, id, records)))
	}
	f := made(nil)
	first := kept(f, "u", records)
	shuffled := slices.Clone(records)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	if kept(f, "u", shuffled) != first {
		t.Error("other records of a person count at a retry")
	}
	if kept(f, "v", records) == first || kept(made(nil), "u", records) == first || kept(f, "u", records[1:]) == first {
		t.Error("two persons, transforms or sets of records share their draws")
	}
	// Of 40 records of a person 10 lie elsewhere: of 10 that count 2.5 in the mean,
	// whose deviation over 400 persons is .06. False-reject probability 1e-9.
	f, far := made(SeededKey(3)), 0
	for i := range 400 {
		mixed := slices.Repeat([][]float64{{.1, .1}}, 40)
		for j := range 10 {
			mixed[(i+j)%40] = []float64{.9, .9}
		}
		c := person(t, f, fmt.Sprint(i), mixed)
		d := measure.NewCounts(c.Domain())
		testkit.Check(t, d.AddPerson(slices.Repeat([][]float64{{.1, .1}}, 10), 10))
		for k := range 11 {
			all := slices.Repeat([][]float64{{.9, .9}}, k)
			all = append(all, slices.Repeat([][]float64{{.1, .1}}, 10-k)...)
			d := measure.NewCounts(c.Domain())
			testkit.Check(t, d.AddPerson(all, 10))
			if slices.Equal(encode(t, c), encode(t, d)) {
				far += k
			}
		}
	}
	if math.Abs(float64(far)/400-2.5) > .4 {
		t.Errorf("%v of 10 records lie far off, want 2.5", float64(far)/400)
	}
}

// A record without a cell fails the release, or does not use up what may count.
func TestSyntheticPersons_SkipErrors(t *testing.T) {
	testkit.Slow(t) // and where a bundle fails Beam closes a channel that it still sends on
	run := func(o *SyntheticOptions) error {
		p, s := beam.NewPipelineWithRoot()
		in := beam.ParDo(s, oneFn, beam.CreateList(s, [][]float64{{.5, .5}, {math.NaN(), .5}, {.7, .5}, {2, 3, .5}}))
		out, err := SyntheticPersons(s, unit, 1e6, in, o)
		if err != nil {
			return err
		}
		keep(s, keepFn, out)
		return ptest.Run(p)
	}
	o := perPerson(SyntheticOptions{SkipErrors: true})
	o.Release.PerPerson = 2
	// At eps = 1e6 the noisy count is the count, up to a probability of e^-10000.
	if err := run(o); err != nil || len(kept.records) != 2 {
		t.Errorf("%d records: %v", len(kept.records), err)
	}
	o.SkipErrors, kept.records = false, nil
	if err := run(o); err == nil || !strings.Contains(err.Error(), errCell.Error()) || len(kept.records) > 0 {
		t.Errorf("records without a cell: %v", err)
	}
}

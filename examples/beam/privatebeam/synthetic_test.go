package privatebeam

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/metric"
)

func TestMain(m *testing.M) { ptest.Main(m) }

// unit is a square that is cut into some 4,000 cells.
var unit = Box{
	Columns: []domain.Column{{Lo: 0, Hi: 1}, {Lo: 0, Hi: 1}},
	Depth:   6,
}

// points are n records of a number, in blocks, so that they need not be held.
type block struct{ From, To int }

const blocks = 16

func source(s beam.Scope, n int) beam.PCollection {
	var in []block
	for i := range blocks {
		in = append(in, block{i * n / blocks, (i + 1) * n / blocks})
	}
	return beam.ParDo(s, pointsFn, beam.Reshuffle(s, beam.CreateList(s, in)))
}

func pointsFn(b block, emit func([]float64)) {
	for i := b.From; i < b.To; i++ {
		emit(point(i))
	}
}

// point is record i of the test data.
func point(i int) []float64 {
	r := rand.NewPCG(7, uint64(i))
	x, y := float64(r.Uint64()>>11)*0x1p-53, float64(r.Uint64()>>11)*0x1p-53
	return []float64{x * x, x * y}
}

func init() {
	register.Function2x0(pointsFn)
	register.Function2x0(keepFn)
	register.Function2x0(keepBytesFn)
	register.Function2x0(keepPlaceFn)
	register.Emitter1[[]float64]()
	beam.RegisterType(typeOf[block]())
}

// kept is what the pipelines of a test put out; Prism runs them in the process
// of the test.
var kept struct {
	records [][]float64
	bytes   [][]byte
	places  []metric.LatLon
}

func keepFn(_ []byte, in func(*[]float64) bool) {
	kept.records = nil
	for x := []float64(nil); in(&x); {
		kept.records = append(kept.records, slices.Clone(x))
	}
}

func keepBytesFn(_ []byte, in func(*[]byte) bool) {
	kept.bytes = nil
	for x := []byte(nil); in(&x); {
		kept.bytes = append(kept.bytes, slices.Clone(x))
	}
}

func keepPlaceFn(_ []byte, in func(*metric.LatLon) bool) {
	kept.places = nil
	for x := (metric.LatLon{}); in(&x); {
		kept.places = append(kept.places, x)
	}
}

// direct counts n points on this machine.
func direct(t testing.TB, n int) *measure.Counts[[]float64] {
	t.Helper()
	d := testkit.Must(unit.Domain())
	c, err := measure.Count(t.Context(), d, func(yield func([]float64, error) bool) {
		for i := range n {
			if !yield(point(i), nil) {
				return
			}
		}
	}, nil)
	testkit.Check(t, err)
	return c
}

func encode(t testing.TB, c *measure.Counts[[]float64]) []byte {
	t.Helper()
	return testkit.Must(encodeTally(tally{&tallied{counts: c}}))
}

func sorted(x [][]float64) [][]float64 {
	slices.SortFunc(x, slices.Compare[[]float64])
	return x
}

func equal(x, y [][]float64) bool { return slices.EqualFunc(x, y, slices.Equal) }

// A million records, counted and released through Beam and directly.
func TestSyntheticData_IsTheDirectRelease(t *testing.T) {
	n := 1_000_000
	if testing.Short() {
		n = 20_000
	}
	o := &SyntheticOptions{Records: 5000, Output: measure.RecordOptions{Sample: true}, Key: SeededKey(1)}
	p, s := beam.NewPipelineWithRoot()
	in := source(s, n)
	out := testkit.Must(SyntheticData(s, unit, 0.5, in, o))
	keep(s, keepFn, out)
	keep(s, keepBytesFn, beam.Combine(s, &countFn[[]float64, Box]{Domain: unit}, in))
	ptest.RunAndValidate(t, p)

	c := direct(t, n)
	if len(kept.bytes) != 1 || !slices.Equal(kept.bytes[0], encode(t, c)) {
		t.Fatal("counts through Beam are not the direct ones")
	}
	q := testkit.Must(measure.NewSynthesizer(c.Domain(), 0.5, nil))
	want := testkit.Must(Synthetic(q, c, SeededKey(1), o))
	if len(kept.records) != 5000 || !equal(sorted(kept.records), sorted(want)) {
		t.Errorf("%d records through Beam are not the %d direct ones", len(kept.records), len(want))
	}
}

// released is what a worker makes of counts.
func released(t *testing.T, f *releaseFn[[]float64, Box], c *measure.Counts[[]float64], nonce string) (out [][]float64) {
	t.Helper()
	once := true
	err := f.ProcessElement(nil, func(b *[]byte) bool {
		*b = encode(t, c)
		defer func() { once = false }()
		return once
	}, nonce, func(x []float64) { out = append(out, x) })
	testkit.Check(t, err)
	return out
}

// A bundle that is run again, by another worker that got the DoFn over the
// wire, puts out the same records; another key gives others. Other counts have
// other noise: with the same, the difference of two outputs would be that of the
// counts.
func TestSyntheticData_RetryReleasesTheSame(t *testing.T) {
	c := direct(t, 1000)
	run := func(c *measure.Counts[[]float64], key Key) [][]float64 {
		f := &releaseFn[[]float64, Box]{Domain: unit, Eps: 1, Options: SyntheticOptions{}, Secret: secret{Key: key}}
		f = copied(t, f)
		testkit.Check(t, f.Setup(t.Context()))
		return released(t, f, c, "nonce")
	}
	key := NewKey()
	first := run(c, key)
	words := map[uint64]bool{}
	for _, eps := range []float64{1, 2} { // one key, four mechanisms
		for _, relation := range []measure.Relation{measure.ReplaceOne, measure.AddRemoveOne} {
			q := testkit.Must(measure.NewSynthesizer(c.Domain(), eps, &measure.SynthesizerOptions{Relation: relation}))
			for _, c := range []*measure.Counts[[]float64]{c, direct(t, 1001)} {
				r := testkit.Must(stream(q, c, key.streams(""), &SyntheticOptions{Release: measure.SynthesizerOptions{Relation: relation}}))
				words[r.Uint64()] = true
			}
		}
	}
	if len(words) != 8 {
		t.Errorf("%d streams for four mechanisms on two data sets", len(words))
	}
	if len(first) != 1000 || !equal(first, run(c, key)) {
		t.Error("the bundle run again has another output")
	}
	if equal(first, run(c, NewKey())) {
		t.Error("two keys, one output")
	}
}

// The order and the bundles of records do not show in the encoded counts, and
// accumulators merge as well encoded as live. Nor does it matter in which of them a
// record without a cell is noted: it stays noted.
func TestCountFn_MergesAnyWay(t *testing.T) {
	const n = 5000
	f := &countFn[[]float64, Box]{Domain: unit}
	testkit.Check(t, f.Setup())
	want := encode(t, direct(t, n))
	skipped := direct(t, n)
	if skipped.Add([]float64{math.NaN(), 0}) == nil { // the counts note it too
		t.Fatal("NaN has a cell")
	}
	noted := encode(t, skipped)
	noted[0] = 1
	r := rand.New(rand.NewPCG(1, 2))
	for trial := range 8 {
		parts := make([]tally, 1+trial)
		for k := range parts {
			parts[k] = f.CreateAccumulator()
		}
		for _, i := range r.Perm(n) {
			k := r.IntN(len(parts))
			parts[k] = f.AddInput(parts[k], point(i))
		}
		want := want
		if trial%2 == 1 {
			k := r.IntN(len(parts))
			parts[k] = f.AddInput(parts[k], []float64{math.NaN(), 0})
			want = noted
		}
		sum := f.CreateAccumulator()
		for _, a := range parts {
			if r.IntN(2) == 0 {
				a = testkit.Must(decodeTally(testkit.Must(encodeTally(a))))
			}
			if r.IntN(2) == 0 {
				a, sum = sum, a
			}
			sum = testkit.Must(f.MergeAccumulators(sum, a))
		}
		if got, err := f.ExtractOutput(sum); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%d parts: counts differ (%v)", len(parts), err)
		}
	}
}

// No records have a release where their number is private: that there is an
// output says nothing.
func TestSyntheticData_EmptyInput(t *testing.T) {
	o := &SyntheticOptions{Release: measure.SynthesizerOptions{Relation: measure.AddRemoveOne}, Records: 10}
	p, s := beam.NewPipelineWithRoot()
	out := testkit.Must(SyntheticData(s, unit, 1, source(s, 0), o))
	keep(s, keepFn, out)
	ptest.RunAndValidate(t, p)
	if len(kept.records) != 10 {
		t.Errorf("%d records, want 10", len(kept.records))
	}
}

// The other kind of domain, with records that have no cell left out.
func TestSyntheticData_SphereSkipsErrors(t *testing.T) {
	testkit.Slow(t) // and where a bundle fails Beam closes a channel that it still sends on
	sphere := Sphere{}
	places := []metric.LatLon{{Lat: 48, Lon: 2}, {Lat: 95, Lon: 2}, {Lat: math.NaN(), Lon: 2}, {Lat: -33, Lon: 151}}
	run := func(o *SyntheticOptions) error {
		p, s := beam.NewPipelineWithRoot()
		out, err := SyntheticData(s, sphere, 1e6, beam.CreateList(s, places), o)
		if err != nil {
			return err
		}
		keep(s, keepPlaceFn, out)
		return ptest.Run(p)
	}
	testkit.Check(t, run(&SyntheticOptions{Release: measure.SynthesizerOptions{Relation: measure.AddRemoveOne}, SkipErrors: true}))
	// At eps = 1e6 the noisy count is the count, up to a probability of e^-100000.
	if len(kept.places) != 2 {
		t.Errorf("%v, want 2 records near Paris and Sydney", kept.places)
	}
	if err := run(&SyntheticOptions{SkipErrors: true}); !errors.Is(err, measure.ErrSkipped) {
		t.Errorf("skipping under ReplaceOne: %v, want ErrSkipped", err)
	}
	kept.places = nil
	err := run(nil)
	if err == nil || !strings.Contains(err.Error(), errCell.Error()) || len(kept.places) > 0 {
		t.Errorf("records without a cell: %v, %v", err, kept.places)
	}
}

// What is refused where the pipeline is built.
func TestTransforms_RefuseArguments(t *testing.T) {
	tree := testkit.Must(metric.TreeFromPaths([][]string{{"r", "a"}, {"r", "b"}}))
	w := testkit.Must(line{9, emd.Model{Trust: emd.Local, Items: 1, Diameter: 1}}.itemWise())
	_, s := beam.NewPipelineWithRoot()
	in, persons, users := source(s, 10), owned(s, 10), Users(s, userSource(s, 10))
	windows := func(in beam.PCollection) beam.PCollection { return beam.WindowInto(s, window.NewFixedWindows(1e9), in) }
	triggered := func(in beam.PCollection) beam.PCollection {
		return beam.WindowInto(s, window.NewGlobalWindows(), in, everyElement)
	}
	data := func(d Box, eps float64, in beam.PCollection, o SyntheticOptions) error {
		return testkit.Err(SyntheticData(s, d, eps, in, &o))
	}
	of := func(o *SyntheticOptions) error { return testkit.Err(SyntheticPersons(s, unit, 1, persons, o)) }
	const op, release = "privatebeam: SyntheticData: ", "privatebeam: SyntheticPersons: "
	testkit.Refused(t, [][3]any{
		{data(unit, math.NaN(), in, SyntheticOptions{}), op + "measure: NewSynthesizer: eps = NaN"},
		{data(Box{}, 1, in, SyntheticOptions{}), op + "domain: NewBox: columns"},
		{data(Box{Columns: unit.Columns, P: math.Inf(1)}, 1, in, SyntheticOptions{}), op + "privatebeam.Box cannot be sent"},
		{data(Box{Columns: []domain.Column{{Taxonomy: tree}}}, 1, in, SyntheticOptions{}), "cannot be sent"},
		{data(unit, 1, in, SyntheticOptions{Records: -1}), op + "-1 records"},
		{data(unit, 1, in, SyntheticOptions{Key: make(Key, 31)}), op + "a key of 31 bytes"},
		{data(unit, 1, windows(in), SyntheticOptions{}), op + "the input is in "},
		{data(unit, 1, triggered(in), SyntheticOptions{}), op + "the input has the trigger"},
		{data(unit, 1, in, *perPerson(SyntheticOptions{})), op + "PerPerson is for SyntheticPersons"},
		{of(nil), release + "want Release.PerPerson"},
		{of(&SyntheticOptions{Release: measure.SynthesizerOptions{Relation: measure.AddRemoveOne}}), release + "want Release.PerPerson"},
		{of(&SyntheticOptions{Release: measure.SynthesizerOptions{PerPerson: 2}}), release + "measure: NewSynthesizer: Relation"},
		{of(perPerson(SyntheticOptions{Key: make(Key, 31)})), release + "a key of 31 bytes"},
		{testkit.Err(Reduce(s, 0, users, nil)), "privatebeam: Reduce: 0 samples"},
		{testkit.Err(Reduce(s, 1, users, &Options{Key: Key("short")})), "privatebeam: Reduce: a key of 5 bytes"},
		{testkit.Err(Reduce(s, 1, windows(users), nil)), "privatebeam: Reduce: the input is in "},
		{testkit.Err(ItemWise(s, w, windows(users), nil)), "privatebeam: ItemWise: the input is in "},
		{testkit.Err(ItemWise(s, w, triggered(users), nil)), "privatebeam: ItemWise: the input has the trigger"},
	})
}

// BenchmarkSyntheticData tells records a second through Prism, in one process,
// and of the library alone.
func BenchmarkSyntheticData(b *testing.B) {
	const n = 1_000_000
	throughput(b, fmt.Sprintf("n=%d/beam", n), "records/s", n, piped(keepFn, func(s beam.Scope) (beam.PCollection, error) {
		return SyntheticData(s, unit, 1, source(s, n), &SyntheticOptions{Records: 1000})
	}))
	throughput(b, fmt.Sprintf("n=%d/direct", n), "records/s", n, func() error {
		c := direct(b, n)
		q, err := measure.NewSynthesizer(c.Domain(), 1, nil)
		if err != nil {
			return err
		}
		_, err = Synthetic(q, c, NewKey(), &SyntheticOptions{Records: 1000})
		return err
	})
}

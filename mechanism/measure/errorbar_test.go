package measure

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/samples"
	"github.com/metricdp/metricdp/metric"
)

// What is refused, and how: each error begins with what is given.
func TestErrors(t *testing.T) {
	d, pair := samples.Unit(1, domain.BoxOptions{Splits: [][]int{{4}, {2}}}), samples.Tiny()["pair"]
	syn := func(eps float64, o SynthesizerOptions) error { return testkit.Err(NewSynthesizer(d, eps, &o)) }
	upper := func(o SynthesizerOptions, n float64) error {
		return testkit.Err(testkit.Must(NewSynthesizer(d, 1, &o)).UpperBound(n))
	}
	made := func(o StreamOptions) error { return testkit.Err(NewStream(pair, 1, &o)) }
	s, three := testkit.Must(NewSynthesizer(d, 1, nil)), SynthesizerOptions{Levels: []int{2}}
	clocked := SynthesizerOptions{Relation: AddRemoveOne}
	records := testkit.Must(NewStream(pair, 1, &StreamOptions{Blocks: &SynthesizerOptions{Levels: []int{1}}}))
	c := testkit.Must(CountAll(t.Context(), d, [][]float64{{0.5}}, nil))
	out, one := testkit.Must(s.Release(nil, c)), func(*Release[[]float64]) float64 { return 1 }
	testkit.Refused(t, [][3]any{
		{syn(0, SynthesizerOptions{}), "measure: NewSynthesizer: eps = 0"},
		{syn(1, SynthesizerOptions{Shares: []float64{1}}), "NewSynthesizer: Shares has size 1, want 0, without Levels"},
		{syn(1, SynthesizerOptions{Prune: 2}), "NewSynthesizer: Prune = 2, want 0 without Levels"},
		{syn(1, SynthesizerOptions{Levels: []int{1, 9}}), "NewSynthesizer: Levels[1] = 9"},
		{syn(1, SynthesizerOptions{Levels: []int{1}, MaxCells: 1}), "NewSynthesizer: Levels[0] = 1, want fewer"},
		{syn(1, SynthesizerOptions{Levels: []int{1}, Shares: []float64{1, 1}}), "NewSynthesizer: Shares has size 2, want 1"},
		{syn(1, SynthesizerOptions{PerPerson: 2}), "NewSynthesizer: Relation = 0, want AddRemoveOne"},
		{syn(1, SynthesizerOptions{PerPerson: 1<<30 + 1, Relation: AddRemoveOne}), "NewSynthesizer: PerPerson = 1.073741825e+09"},
		{syn(1e-50, SynthesizerOptions{PerPerson: 2, Relation: AddRemoveOne}), "NewSynthesizer: eps = 1e-50, want at least"},
		{testkit.Err(s.Release(nil, NewCounts(d))), "Synthesizer.Release: counts: empty input"},
		{upper(SynthesizerOptions{}, 10), "Synthesizer.UpperBound: Levels"},
		{upper(SynthesizerOptions{Levels: []int{2}, Prune: 1}, 10), "UpperBound: Prune"},
		{upper(three, math.NaN()), "UpperBound: records"},
		{testkit.Err(out.Error(t.Context(), nil, 0, nil)), "Release.Error: prob = 0"},
		{testkit.Err(out.ErrorOf(t.Context(), nil, one, .9, &ErrorOptions{Draws: 1<<20 + 1})), "Release.ErrorOf: Draws = 1.048577e+06"},
		{testkit.Err(out.Records(nil, -1, nil)), "Release.Records: m = -1"},
		{testkit.Err(out.Records(nil, math.MaxInt32, nil)), "Release.Records: needs"},
		{testkit.Err(CountPersons(t.Context(), d, stream([]visit{}), 1<<30+1, nil)), "CountPersons: most = 1.073741825e+09"},
		{c.AddPerson([][]float64{{.1}}, 0), "Counts.AddPerson: most = 0"},
		{made(StreamOptions{Growth: 1}), "Growth = 1"},
		{made(StreamOptions{Least: -1}), "Least = -1"},
		{made(StreamOptions{Halves: 0.95}), "Halves = 0.95"},
		{made(StreamOptions{Blocks: &SynthesizerOptions{Relation: AddRemoveOne, PerPerson: 2}}), "PerPerson = 2"},
		{made(StreamOptions{Store: &failing{}}), "no Name"},
		{testkit.Err(NewStream(pair, 1e-31, &StreamOptions{Halves: .5})), "eps = 1e-31"},
		{records.Tick(nil), "Relation"},
		{testkit.Err(records.UpperBound(127)), "at least 128"},
		{testkit.Err(testkit.Must(NewStream(pair, 1, &StreamOptions{Blocks: &clocked})).UpperBound(1000)), "Relation"},
		{testkit.Err(records.Release()), "blocks", metric.ErrEmpty},
	})
}

// Values that no constructor made count and release nothing and promise nothing,
// as receivers and as arguments.
func TestZeroValues_Refuse(t *testing.T) {
	const made = "NewBox, NewSphere, NewFinite, NewUltrametric, NewTaxonomy or NewFolded"
	const counts = "NewCounts, Count or CountAll"
	testkit.Unmade[Counts[[]float64]](t, counts, "MarshalJSON", "UnmarshalJSON")
	testkit.Unmade[Synthesizer[[]float64]](t, "NewSynthesizer")
	testkit.Unmade[Release[[]float64]](t, "Synthesizer.Release")
	testkit.Unmade[Stream[int]](t, "NewStream")
	good := samples.Unit(1, domain.BoxOptions{Depth: 2})
	s := testkit.Must(NewSynthesizer(good, 1, nil))
	for _, d := range []*domain.Domain[[]float64]{nil, {}} {
		refuses(t, made, testkit.Err(Count(t.Context(), d, stream[[]float64](nil), &CountOptions{SkipErrors: true})))
		refuses(t, made, testkit.Err(CountAll(t.Context(), d, nil, nil)))
		refuses(t, made, testkit.Err(NewSynthesizer(d, 1, nil)))
	}
	for _, c := range []*Counts[[]float64]{nil, {}} {
		refuses(t, counts, NewCounts(good).Merge(c))
		err := testkit.Err(s.Release(nil, c))
		if refuses(t, counts, err); !errors.Is(err, ErrMismatch) {
			t.Error(err)
		}
	}
}

func refuses(t *testing.T, want string, err error) {
	t.Helper()
	if err == nil || !strings.HasPrefix(err.Error(), "measure: ") || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
}

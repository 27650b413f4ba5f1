package measure

import (
	"errors"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/samples"
)

// Values that no constructor made count and release nothing and promise nothing,
// as receivers and as arguments.
func TestZeroValues_Refuse(t *testing.T) {
	const made = "NewBox, NewSphere, NewFinite, NewUltrametric, NewTaxonomy or NewFolded"
	const counts = "NewCounts, Count or CountAll"
	testkit.Unmade[Counts[[]float64]](t, counts, "MarshalJSON", "UnmarshalJSON")
	testkit.Unmade[Synthesizer[[]float64]](t, "NewSynthesizer")
	testkit.Unmade[Release[[]float64]](t, "Synthesizer.Release")
	good := samples.Unit(1, domain.BoxOptions{Depth: 2})
	s := testkit.Must(NewSynthesizer(good, 1, nil))
	for _, d := range []*domain.Domain[[]float64]{nil, {}} {
		refuses(t, made, second(Count(t.Context(), d, stream[[]float64](nil), &CountOptions{SkipErrors: true})))
		refuses(t, made, second(CountAll(t.Context(), d, nil, nil)))
		refuses(t, made, second(NewSynthesizer(d, 1, nil)))
	}
	for _, c := range []*Counts[[]float64]{nil, {}} {
		refuses(t, counts, NewCounts(good).Merge(c))
		err := second(s.Release(nil, c))
		if refuses(t, counts, err); !errors.Is(err, ErrMismatch) {
			t.Error(err)
		}
	}
	refuses(t, "Synthesizer.Release", second((&Release[[]float64]{Weights: []float64{1}, Total: 10}).Records(nil, 1, nil)))
}

func refuses(t *testing.T, want string, err error) {
	t.Helper()
	if err == nil || !strings.HasPrefix(err.Error(), "measure: ") || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
}

package measure

import (
	"errors"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// Values that no constructor made count and release nothing and promise nothing,
// as receivers and as arguments.
func TestZeroValues_Refuse(t *testing.T) {
	const domain = "NewBox, NewSphere, NewFinite, NewUltrametric, NewTaxonomy or NewFolded"
	const counts = "Domain.NewCounts, Count or CountAll"
	testkit.Unmade[Domain[[]float64]](t, domain)
	testkit.Unmade[Counts[[]float64]](t, counts, "MarshalJSON", "UnmarshalJSON")
	testkit.Unmade[Synthesizer[[]float64]](t, "NewSynthesizer")
	testkit.Unmade[Measure](t, "NewMeasure")
	testkit.Unmade[Release[[]float64]](t, "Synthesizer.Release")
	good, pair := unitBox(1, BoxOptions{Depth: 2}), testkit.Must(NewFinite(t.Context(), linePoints{1, 2}, nil))
	s := testkit.Must(NewSynthesizer(good, 1, nil))
	for _, d := range []*Domain[[]float64]{nil, {}} {
		refuses(t, domain, second(Count(t.Context(), d, stream[[]float64](nil), &CountOptions{SkipErrors: true})))
		refuses(t, domain, second(CountAll(t.Context(), d, nil, nil)))
		refuses(t, domain, second(NewSynthesizer(d, 1, nil)))
		refuses(t, domain, second(NewMeasure(d, 1, nil)))
	}
	for _, d := range []*Domain[int]{nil, {}} {
		refuses(t, domain, second(On(t.Context(), d, randomPoints(2, 1, 1))))
		refuses(t, domain, second(Labels[int](d, nil)))
	}
	for _, p := range []*metric.Points[[]float64]{nil, {}} {
		refuses(t, "p has size 0, want 2", second(On(t.Context(), pair, p)))
	}
	for _, c := range []*Counts[[]float64]{nil, {}} {
		refuses(t, counts, good.NewCounts().Merge(c))
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

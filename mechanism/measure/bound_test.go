package measure

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/sample"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/samples"
	"github.com/metricdp/metricdp/mechanism/measure/private"
	"github.com/metricdp/metricdp/metric"
)

// On uniform records of the line the default is well ahead of the paper's
// construction and of PMM. The seeds are fixed; BenchmarkW1 measures the same and
// more.
func TestAccuracy_HalfOfPaper(t *testing.T) {
	const n, seeds = 10000, 20
	run := func(release func(r *rand.Rand, x [][]float64) ([][]float64, []float64)) float64 {
		var w []float64
		for seed := range seeds {
			r := random.Seeded(uint64(seed))
			x := samples.Uniform(1)(r, n)
			at, mass := release(r, x)
			w = append(w, n*w1(t, x, at, mass))
		}
		mean, _ := sample.Mean(w)
		return mean
	}
	ours := run(synthesized(t, samples.Unit(1, domain.BoxOptions{}), nil))
	baseline := run(onPMM(t, samples.Unit(1, pmmCells(1, n)), n))
	pts := testkit.Must(metric.NewPoints(lattice(1, 1<<14), metric.Chebyshev{}))
	paper := run(measured(t, testkit.Must(domain.On(t.Context(), testkit.Must(domain.NewFolded(t.Context(), pts, nil)), pts)), n, &private.Options{Estimator: private.Nearest}))
	if ours > paper/2*1.1 || ours > baseline/2*1.1 {
		t.Errorf("N E W1: default %.2f, paper %.2f, PMM %.2f", ours, paper, baseline)
	}
}

// Lower bounds are below the diameter, and where records are added or removed, so that one
// replaced costs twice, no higher. Where all records are in one cell there is nothing to tell.
func TestLowerBound_Order(t *testing.T) {
	for name, d := range samples.Domains() {
		if d.Len() == 1 {
			continue
		}
		const n = 500
		least := testkit.Must(testkit.Must(NewSynthesizer(d, 1, nil)).LowerBound(t.Context(), n))
		less := testkit.Must(testkit.Must(NewSynthesizer(d, 1, &SynthesizerOptions{Relation: AddRemoveOne})).LowerBound(t.Context(), n))
		if !(less > 0 && less <= least && least < d.Diameter()) {
			t.Errorf("%s: lower bounds %v and %v", name, less, least)
		}
	}
	d := testkit.Must(domain.NewBox([]domain.Column{{Lo: 0, Hi: 1}}, &domain.BoxOptions{Splits: [][]int{{1}}}))
	s := testkit.Must(NewSynthesizer(d, 1, nil))
	if least, err := s.LowerBound(t.Context(), 10); least != 0 || err != nil || s.Guarantee().Alpha() != 0 {
		t.Error(least, err, s)
	}
}

// The bound falls with the number of records, of which a part counts as one more.
func TestSynthesizer_LowerBoundRoundsRecordsUp(t *testing.T) {
	d := testkit.Must(domain.NewBox([]domain.Column{{Hi: 1}}, &domain.BoxOptions{Splits: [][]int{{8}}}))
	s := testkit.Must(NewSynthesizer(d, 1, nil))
	two := testkit.Must(s.LowerBound(t.Context(), 2))
	if got := testkit.Must(s.LowerBound(t.Context(), 1.5)); got != two || !(two > 0) {
		t.Errorf("%v for 1.5 records, %v for 2", got, two)
	}
	if got := testkit.Must(s.LowerBound(t.Context(), math.MaxInt)); got != 0 {
		t.Errorf("%v for more records than an int has", got)
	}
}

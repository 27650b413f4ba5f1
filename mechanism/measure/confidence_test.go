package measure

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
	"github.com/metricdp/metricdp/mechanism/measure/internal/samples"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
)

// held are the shares of seeds of data and noise in which W1, and the error of the mean of the first
// coordinate, are at most the quantiles of prob, and the mean of the former over that of W1.
func held(t testing.TB, d int, f samples.Family, n, seeds, draws int, prob float64) (w1Held, meanHeld, ratio float64) {
	s := testkit.Must(NewSynthesizer(samples.Unit(d, domain.BoxOptions{}), 1, nil))
	var sum, bars float64
	for i := range seeds {
		r := random.Seeded(uint64(i + 1))
		x := f.Draw(r, n)
		out := releaseOf(t, s, r, x)
		at := make([][]float64, len(out.Weights))
		for i := range at {
			at[i] = out.Point(i)
		}
		e := w1(t, x, at, out.Weights)
		bar := testkit.Must(out.Error(t.Context(), r, prob, &ErrorOptions{Draws: draws}))
		if e <= bar.Quantile {
			w1Held += 1 / float64(seeds)
		}
		sum, bars = sum+e, bars+bar.Quantile
		first := func(r *Release[[]float64]) float64 { return r.Mean(func(p []float64) float64 { return p[0] }) }
		mean := 0.0
		for _, p := range x {
			mean += p[0] / float64(n)
		}
		bar = testkit.Must(out.ErrorOf(t.Context(), r, first, prob, &ErrorOptions{Draws: draws}))
		if math.Abs(first(out)-mean) <= bar.Quantile {
			meanHeld += 1 / float64(seeds)
		}
	}
	return w1Held, meanHeld, bars / sum
}

// What was promised with probability .9 fails in at most 16 of 40 seeds, which happens with
// probability 1e-6 where it fails with .1, and is at most 4 times the error.
func TestRelease_ErrorHolds(t *testing.T) {
	testkit.Slow(t)
	for _, set := range []struct{ d, n, family int }{{1, 100, 2}, {1, 300, 3}, {2, 100, 0}, {2, 100, 4}} {
		f := samples.Families(set.d)[set.family]
		if w1, mean, ratio := held(t, set.d, f, set.n, 40, 30, .9); min(w1, mean) < .59 || ratio > 4 {
			t.Errorf("%d columns, %s: %v and %v of the quantiles hold, of %v times the error", set.d, f.Name, w1, mean, ratio)
		}
	}
}

// BenchmarkW1Confidence gives the shares of 40 seeds in which quantiles of 0.95 hold, for W1 and for
// a mean, and the former in units of the mean of W1.
func BenchmarkW1Confidence(b *testing.B) {
	for d := 1; d <= 3; d++ {
		for _, f := range samples.Families(d) {
			for _, n := range []int{100, 1000} {
				if n > 100 && testing.Short() {
					continue
				}
				b.Run(fmt.Sprintf("d=%d/data=%s/N=%d", d, f.Name, n), func(b *testing.B) {
					for b.Loop() {
						w1, mean, ratio := held(b, d, f, n, 40, 200, .95)
						b.ReportMetric(w1, "W1held")
						b.ReportMetric(mean, "meanheld")
						b.ReportMetric(ratio, "ratio")
					}
				})
			}
		}
	}
}

// Mass that moves along the tree costs no less than W1, and nothing where none does.
func TestRelease_ErrorDistances(t *testing.T) {
	r := random.Seeded(3)
	x := samples.Families(2)[3].Draw(r, 3000)
	out := releaseOf(t, testkit.Must(NewSynthesizer(samples.Unit(2, domain.BoxOptions{}), 1, nil)), r, x)
	c := testkit.Must(out.cut(t.Context(), "test"))
	leaves := 0
	for _, n := range out.tree.Nodes {
		if n.Parts == 0 {
			leaves++
		}
	}
	if len(c.top) > cutNodes || leaves <= cutNodes {
		t.Fatalf("%d nodes for %d leaves", len(c.top), leaves)
	}
	truth := out.tree.Again(r)
	var at [][]float64
	var masses [2][]float64
	for i, n := range truth.Nodes {
		if n.Parts == 0 {
			at = append(at, out.s.space.At(nil, n.At))
			masses[0] = append(masses[0], n.Mass/truth.Nodes[0].Mass)
			masses[1] = append(masses[1], out.tree.Nodes[i].Mass/out.tree.Nodes[0].Mass)
		}
	}
	points := testkit.Must(metric.NewPoints(at, metric.Chebyshev{}))
	least := testkit.Must(wasserstein.W1(t.Context(), points, masses[0], masses[1], nil)).Cost
	moved := testkit.Must(c.distance(t.Context(), r, truth))
	spread := testkit.Must(c.distance(t.Context(), r, out.tree))
	if moved < least || moved > 3*least+2*spread || spread <= 0 {
		t.Errorf("distance %v and W1 between centers %v; %v without noise", moved, least, spread)
	}
}

// What is certain has no error, and what is not finite none that could be told.
func TestRelease_ErrorKnownAnswers(t *testing.T) {
	s := testkit.Must(NewSynthesizer(samples.Unit(1, domain.BoxOptions{}), 1, nil))
	out := releaseOf(t, s, random.Seeded(1), [][]float64{{.1}, {.7}})
	one := func(*Release[[]float64]) float64 { return 1 }
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		if bar, err := out.ErrorOf(t.Context(), nil, func(*Release[[]float64]) float64 { return bad }, .9, nil); err == nil || strings.Count(err.Error(), "ErrorOf") != 1 {
			t.Errorf("a query that is %v: %v, %v", bad, bar, err)
		}
	}
	told := 0
	bar := testkit.Must(out.ErrorOf(t.Context(), nil, one, .95, &ErrorOptions{Draws: 7, Progress: func(done, total int) { told += 10*done - total }}))
	if bar != (ErrorBar{Hi: math.Inf(1)}) || told != 280-49 {
		t.Errorf("of a constant: %v; told %d", bar, told)
	}
	// Nothing is farther than the farthest.
	pair := testkit.Must(domain.NewFinite(t.Context(), testkit.Must(metric.NewPoints([][]float64{{3}, {5}}, metric.Chebyshev{})), nil))
	if bar := testkit.Must(releaseOf(t, testkit.Must(NewSynthesizer(pair, .01, nil)), nil, []int{0}).Error(t.Context(), nil, .95, nil)); !(bar.Hi <= 2*region.RoundUp || math.IsInf(bar.Hi, 1)) || bar.Quantile > 2*region.RoundUp {
		t.Errorf("two points at distance 2: %v", bar)
	}
	// A single cell has its own size; a single point has none.
	point := testkit.Must(domain.NewFinite(t.Context(), testkit.Must(metric.NewPoints([][]float64{{3}}, metric.Chebyshev{})), nil))
	for _, rel := range []Relation{ReplaceOne, AddRemoveOne} {
		s := testkit.Must(NewSynthesizer(point, 1, &SynthesizerOptions{Relation: rel}))
		if bar := testkit.Must(releaseOf(t, s, nil, []int{0}).Error(t.Context(), nil, .9, nil)); bar != (ErrorBar{}) {
			t.Errorf("one point: %v", bar)
		}
	}
}

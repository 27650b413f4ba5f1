package bsv22

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/entropy/families"
	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/private"
)

// exponents encloses the least worst error in cubes, of measures at level alpha and of synthetic
// data of n records at eps = 1, between bounds that are proved before any data are seen.
func exponents(ctx context.Context, r *exhibit.Run) {
	sizes := exhibit.Size(r, []float64{1e3, 1e4, 1e5, 1e6}, []float64{1e3, 1e4, 1e5, 1e6, 1e7})
	var charts []*demo.Chart
	for d := 1; d <= exhibit.Size(r, 2, 3); d++ {
		want, end := -1/float64(d), len(sizes)-1
		chart := &demo.Chart{Title: fmt.Sprintf("d = %d", d), X: "n or alpha", Y: "worst mean W1", LogX: true, LogY: true}
		var logs []float64
		for _, n := range sizes {
			logs = append(logs, math.Log(n))
		}
		for _, c := range []struct {
			what, upper, lower, theorem string
			above                       func(n float64) float64
			below                       func(n float64) (float64, error)
		}{
			{"private measures", "Corollary 9.1", "Corollary 9.3", "Theorem 9.5", func(n float64) float64 { return leastMeasure(ctx, d, n) },
				func(n float64) (float64, error) { return families.PrivateCubeBound(d, 0, n) }},
			{"eps-private data", "Corollary 9.2", "Corollary 9.4", "Theorem 9.6", func(n float64) float64 { return leastData(d, n) },
				func(n float64) (float64, error) { return families.PrivateCubeBound(d, int(n), 1) }},
		} {
			var above, under []float64
			ratios, ok := "", true
			for _, n := range sizes {
				above, under = append(above, c.above(n)), append(under, exhibit.Must(c.below(n)))
				q := above[len(above)-1] / under[len(under)-1]
				ratios, ok = ratios+fmt.Sprintf(" %.0f", q), ok && q >= 1
			}
			at := fmt.Sprintf("%s, d = %d, at %.0g: ", c.what, d, sizes[end])
			r.Say(c.upper, at+"E W1 <= C (log^(3/2) n/n)^(1/d)", "some C", above[end]/math.Pow(math.Pow(logs[end], 1.5)/sizes[end], -want), exhibit.If(ok, exhibit.Holds),
				fmt.Sprintf("C here: the bound, of Synthesizer.UpperBound (Corollary 7.4) or Measure.Bound, is %s. Of records eps n >= 2 is needed, not printed", demo.Number(above[end])))
			r.Say(c.lower, at+"E W1 > c n^(-1/d)", "some c", under[end]/math.Pow(sizes[end], want), exhibit.If(under[end] > 0, exhibit.Holds), "c here, by PrivateCubeBound, at eps = 1 where there are records")
			lo, hi := exhibit.Slope(sizes, under), exhibit.Slope(sizes, above)
			log := 2 * exhibit.Slope(sizes, logs) / float64(d) // of log^2 n, by which the ends may differ
			r.Say(c.theorem, fmt.Sprintf("%s, d = %d: log E W1/log n tends to -1/d", c.what, d), want, fmt.Sprintf("%.3f to %.3f", lo, hi),
				exhibit.If(math.Abs(lo-want) < .05 && hi >= want-.05 && hi <= want+log+.05, exhibit.Holds), fmt.Sprintf("slopes of two proved ends from %.0g on; upper over lower at powers of 10:%s", sizes[0], ratios))
			chart.Series = append(chart.Series, demo.Series{Name: c.what + ", proved", X: sizes, Y: above}, demo.Series{Name: "nothing does better, " + c.what, X: sizes, Y: under})
		}
		charts = append(charts, chart)
	}
	r.WriteCharts("bsv22-exponent.png", charts...)
}

// box is the cube under the largest difference of a coordinate.
func box(d int, depth float64) *domain.Domain[[]float64] {
	return exhibit.Must(domain.NewBox(slices.Repeat([]domain.Column{{Hi: 1}}, d), &domain.BoxOptions{Depth: depth, P: math.Inf(1)}))
}

// leastData is the least bound for n records over some Levels.
func leastData(d int, n float64) float64 {
	cube, best := box(d, 0), math.Inf(1)
	for k := 1; k <= 4; k++ {
		for h := 1; d*k*h <= 18; h++ {
			o := &measure.SynthesizerOptions{Levels: slices.Repeat([]int{k}, h), Shares: make([]float64, h)}
			for j := range o.Shares { // noise of a level costs its number of nodes times their side
				o.Shares[j] = math.Exp2(float64(j*k*(d-1)) / 2)
			}
			best = min(best, exhibit.Must(exhibit.Must(measure.NewSynthesizer(cube, 1, o)).UpperBound(n)))
		}
	}
	return best
}

// leastMeasure is the least bound of a private measure at level alpha over the depths of the
// cube: of the default estimate, or on the line of the nearest, as in the paper.
func leastMeasure(ctx context.Context, d int, alpha float64) float64 {
	best := math.Inf(1)
	for depth := 1.; depth*float64(d) <= 18; depth++ {
		b := exhibit.Must(exhibit.Must(private.New(box(d, depth), alpha, nil)).Bound(ctx, &private.BoundOptions{Draws: -1}))
		if d == 1 {
			b.Weighted = min(b.Weighted, b.Nearest)
		}
		best = min(best, b.Weighted+b.Resolution)
	}
	return best
}

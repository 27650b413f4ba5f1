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
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
)

// exponents encloses the least worst error in cubes, of measures at level alpha and of synthetic
// data of n records at eps = 1, between bounds that are proved, and measures it in between.
func exponents(ctx context.Context, r *exhibit.Run) error {
	sizes := exhibit.Size(r, []float64{1e3, 1e4, 1e5, 1e6}, []float64{1e3, 1e4, 1e5, 1e6, 1e7})
	var charts []*demo.Chart
	for d := 1; d <= exhibit.Size(r, 2, 3); d++ {
		box := exhibit.Must(domain.NewBox(slices.Repeat([]domain.Column{{Hi: 1}}, d), &domain.BoxOptions{P: math.Inf(1)}))
		var above, below, mAbove, mBelow, logs []float64
		var best *measure.SynthesizerOptions // at sizes[0]
		for _, n := range sizes {
			upper, levels := fixed(box, d, n)
			above, below = append(above, upper), append(below, exhibit.Must(families.PrivateCubeBound(d, int(n), 1)))
			mAbove, mBelow = append(mAbove, exhibit.Must(bestMeasure(ctx, d, n))), append(mBelow, exhibit.Must(families.PrivateCubeBound(d, 0, n)))
			logs = append(logs, math.Log(n))
			if n == sizes[0] {
				best = levels
			}
		}
		ours, err := errorOf(ctx, r, box, best, d, int(sizes[0]))
		if err != nil {
			return err
		}
		end, want := len(sizes)-1, -1/float64(d)
		at := fmt.Sprintf(", d = %d, at %.0g", d, sizes[end])
		rate := math.Pow(math.Pow(logs[end], 1.5)/sizes[end], 1/float64(d))
		r.Say("Corollary 9.1", "E W1 <= C (log^(3/2) alpha/alpha)^(1/d)"+at, "some C", mAbove[end]/rate, exhibit.If(ordered(mBelow, mAbove), exhibit.Holds), "C here, by Measure.Bound at the best depth")
		r.Say("Corollary 9.2", "eps-private data: E W1 <= C (log^(3/2)(eps n)/(eps n))^(1/d)"+at, "some C", above[end]/rate, exhibit.If(ordered(below, above), exhibit.Holds),
			fmt.Sprintf("C here, by Synthesizer.UpperBound at the best Levels; the bounds are %s to %s from the least n on. eps n >= 2 is needed, not printed", demo.Number(above[0]), demo.Number(above[end])))
		root := math.Pow(sizes[end], 1/float64(d))
		r.Say("Corollary 9.3", "private measures: E W1 > c alpha^(-1/d)"+at, "some c", mBelow[end]*root, exhibit.If(mBelow[end] > 0, exhibit.Holds), "c here, by PrivateCubeBound")
		r.Say("Corollary 9.4", "eps-private data: E W1 > c n^(-1/d)"+at, "some c", below[end]*root, exhibit.If(below[end] > 0, exhibit.Holds), "c here, at eps = 1")
		ratio := func(a, b []float64) string {
			s := ""
			for i := range a {
				s += fmt.Sprintf(" %.0f", a[i]/b[i])
			}
			return s
		}
		log := slope(sizes, logs) * 2 / float64(d) // log^2 n: what two proved ends may differ by in the exponent
		for _, m := range []struct {
			place, what  string
			above, below []float64
		}{{"Theorem 9.5", "private measures", mAbove, mBelow}, {"Theorem 9.6", "eps-private data", above, below}} {
			lo, hi := slope(sizes, m.below), slope(sizes, m.above)
			r.Say(m.place, fmt.Sprintf("%s, d = %d: log E W1/log n tends to -1/d", m.what, d), want, fmt.Sprintf("%.3f to %.3f", lo, hi),
				exhibit.If(math.Abs(lo-want) < .05 && hi >= want-.05 && hi <= want+log+.05, exhibit.Holds),
				fmt.Sprintf("slopes of two proved ends over n from %.0g to %.0g; upper over lower:%s", sizes[0], sizes[end], ratio(m.above, m.below)))
		}
		charts = append(charts, &demo.Chart{Title: fmt.Sprintf("d = %d", d), X: "n", Y: "mean W1", LogX: true, LogY: true, Series: []demo.Series{
			{Name: "upper bound", X: sizes, Y: above}, {Name: "synthetic", X: sizes[:1], Y: []float64{ours}, Cloud: true}, {Name: "lower bound", X: sizes, Y: below}}})
		r.Say("Corollary 7.4", fmt.Sprintf("mean W1 of uniform records, d = %d, n = %.0f", d, sizes[0]), "-", ours, exhibit.If(below[0] <= ours*1.05 && ours <= above[0], exhibit.Holds),
			fmt.Sprintf("between %s and %s, which are proved for all records: the lower one for those that are worst", demo.Number(below[0]), demo.Number(above[0])))
	}
	return r.WriteCharts("bsv22-exponent.png", charts...)
}

// ordered tells whether 0 < x[i] < y[i] for all i.
func ordered(x, y []float64) bool { return slices.Min(x) > 0 && below(x, y) }

// fixed returns the least upper bound for n records over some Levels, and the options.
func fixed(box *domain.Domain[[]float64], d int, n float64) (float64, *measure.SynthesizerOptions) {
	best, levels := math.Inf(1), (*measure.SynthesizerOptions)(nil)
	for k := 1; k <= 4; k++ {
		for h := 1; d*k*h <= 18; h++ {
			// Noise of a level costs its number of nodes times their side.
			o := &measure.SynthesizerOptions{Levels: slices.Repeat([]int{k}, h), Shares: make([]float64, h)}
			for j := range o.Shares {
				o.Shares[j] = math.Exp2(float64(j*k*(d-1)) / 2)
			}
			s := exhibit.Must(measure.NewSynthesizer(box, 1, o))
			if u := exhibit.Must(s.UpperBound(n)); u < best {
				best, levels = u, o
			}
		}
	}
	return best, levels
}

// bestMeasure is the least proved bound of a private measure at level alpha over the depths of
// the cube: of the default estimate, or on the line of the nearest, as in the paper.
func bestMeasure(ctx context.Context, d int, alpha float64) (float64, error) {
	best := math.Inf(1)
	for depth := 1.; depth*float64(d) <= 18; depth++ {
		box, err := domain.NewBox(slices.Repeat([]domain.Column{{Hi: 1}}, d), &domain.BoxOptions{Depth: depth, P: math.Inf(1)})
		if err != nil {
			return 0, err
		}
		m, err := private.New(box, alpha, nil)
		if err != nil {
			return 0, err
		}
		b, err := m.Bound(ctx, &private.BoundOptions{Draws: -1})
		if err != nil {
			return 0, err
		}
		if d == 1 {
			b.Weighted = min(b.Weighted, b.Nearest)
		}
		best = min(best, b.Weighted+b.Resolution)
	}
	return best, nil
}

// errorOf is the mean error for n uniform records.
func errorOf(ctx context.Context, r *exhibit.Run, box *domain.Domain[[]float64], o *measure.SynthesizerOptions, d, n int) (float64, error) {
	s, err := measure.NewSynthesizer(box, 1, o)
	if err != nil {
		return 0, err
	}
	rng, draws, mean := r.Rand(), exhibit.Size(r, 3, 10), 0.0
	for range draws {
		records, even := make([][]float64, n), slices.Repeat([]float64{1 / float64(n)}, n)
		for i := range records {
			for range d {
				records[i] = append(records[i], rng.Float64())
			}
		}
		counts, err := measure.CountAll(ctx, box, records, nil)
		if err != nil {
			return 0, err
		}
		out, err := s.Release(rng, counts)
		if err != nil {
			return 0, err
		}
		at := make([][]float64, len(out.Weights))
		for i := range at {
			at[i] = out.Point(i)
		}
		w, err := distance(ctx, records, even, at, out.Weights)
		if err != nil {
			return 0, err
		}
		mean += w / float64(draws)
	}
	return mean, nil
}

// distance is W1 between two measures in a cube.
func distance(ctx context.Context, x [][]float64, mu []float64, y [][]float64, nu []float64) (float64, error) {
	if len(x[0]) == 1 {
		return wasserstein.W1LineBetween(slices.Concat(x...), mu, slices.Concat(y...), nu)
	}
	all, err := metric.NewPoints(slices.Concat(x, y), metric.Chebyshev{})
	if err != nil {
		return 0, err
	}
	return wasserstein.Distance(ctx, all, slices.Concat(mu, make([]float64, len(y))), slices.Concat(make([]float64, len(x)), nu))
}

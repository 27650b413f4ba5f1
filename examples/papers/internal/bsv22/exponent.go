package bsv22

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/metricdp/metricdp/entropy/families"
	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
)

// exponents measures how the error of synthetic data falls with the number N of
// records, in cubes of one to three dimensions, at eps = 1.
func exponents(ctx context.Context, r *exhibit.Run) error {
	sides := [][]int{{512, 2048, 8192, 32768}, {12, 16, 24, 32}, {4, 5, 6, 8, 10}}
	if r.Full {
		sides = [][]int{{1024, 4096, 16384, 65536, 262144}, {12, 24, 48, 72}, {4, 6, 10, 16}}
	}
	rng := r.Rand()
	var charts []*demo.Chart
	for i, list := range sides {
		d := i + 1
		var n, logs, paper, ours, below []float64
		for _, side := range list {
			e := exhibit.Must(errorsOf(ctx, rng, d, side, exhibit.Size(r, []int{12, 4, 4}, []int{40, 10, 10})[i]))
			n, logs = append(n, e.n), append(logs, math.Log(e.n))
			paper, ours, below = append(paper, e.paper), append(ours, e.ours), append(below, e.below)
		}
		want := -1 / float64(d)
		b := slope(n, below)
		r.Say("", fmt.Sprintf("d = %d, exponent of N: lower bound of Theorem 8.6", d), want, b, exhibit.Near(b, want, 0.1), "")
		end := len(n) - 1
		for _, m := range []struct {
			what   string
			errors []float64
			power  float64
		}{{"the paper's measure", paper, 1.5}, {"this library's synthetic data", ours, 2}} {
			// The logarithm grows by this power of N here.
			b, log := slope(n, m.errors), slope(n, logs)
			most := want * (1 - m.power*log)
			r.Say("", fmt.Sprintf("d = %d, exponent of N: %s", d, m.what), want, b,
				exhibit.If(b <= most+0.1 && below[end] <= m.errors[end], exhibit.Holds),
				fmt.Sprintf("no worse than that of (log^%g(N)/N)^(1/%d), %.3f at these N (.1 for the draws), and above the lower bound",
					m.power, d, most))
		}
		r.Say("", fmt.Sprintf("d = %d, mean W1 at N = %.0f", d, n[end]), paper[end], ours[end], exhibit.If(ours[end] < paper[end], exhibit.Better),
			"the paper's construction, run here, beside NewSynthesizer; the lower bound is "+demo.Number(below[end]))
		charts = append(charts, &demo.Chart{
			Title: fmt.Sprintf("d = %d", d), X: "N", Y: "mean W1", LogX: true, LogY: true,
			Series: []demo.Series{
				{Name: "paper", X: n, Y: paper},
				{Name: "synthetic", X: n, Y: ours},
				{Name: "lower bound", X: n, Y: below},
			},
		})
	}
	return r.WriteCharts("bsv22-exponent.png", charts...)
}

// errors are mean errors for n uniform records in a cube, and what no mechanism can
// beat for all records.
type errors struct{ n, paper, ours, below float64 }

// errorsOf are those of side^d records of the d-dimensional cube. The net of the
// paper's construction has a point for each.
func errorsOf(ctx context.Context, rng *rand.Rand, d, side, draws int) (e errors, err error) {
	net, err := cube(d, side)
	if err != nil {
		return e, err
	}
	n := net.Len()
	e.n = float64(n)
	cells, old, _, err := asInPaper(ctx, net, e.n)
	if err != nil {
		return e, err
	}
	folded, err := domain.On(ctx, cells, net)
	if err != nil {
		return e, err
	}
	points := make([][]float64, n)
	for i := range points {
		points[i] = folded.Point(i)
	}
	box, err := domain.NewBox(slices.Repeat([]domain.Column{{Hi: 1}}, d), nil)
	if err != nil {
		return e, err
	}
	synthesizer, err := measure.NewSynthesizer(box, 1, nil)
	if err != nil {
		return e, err
	}
	for range draws {
		records := make([][]float64, n)
		for i := range records {
			for range d {
				records[i] = append(records[i], rng.Float64())
			}
		}
		mu, err := folded.Weights(records, nil)
		if err != nil {
			return e, err
		}
		nu, err := old.Release(rng, mu)
		if err != nil {
			return e, err
		}
		w, err := distance(ctx, records, points, nu)
		if err != nil {
			return e, err
		}
		e.paper += w / float64(draws)
		out, err := synthesizer.Synthetic(ctx, rng, records, n)
		if err != nil {
			return e, err
		}
		if w, err = distance(ctx, records, out, slices.Repeat([]float64{1 / e.n}, n)); err != nil {
			return e, err
		}
		e.ours += w / float64(draws)
	}
	// The bound is best at about a point a record, two records a pair. On a line any
	// number of points will do.
	grid, err := cube(d, min(side, 4096))
	if err != nil {
		return e, err
	}
	b, err := families.PrivateDataBound(ctx, grid, n, 1)
	e.below = b.Value
	return e, err
}

// distance is W1 between records, all alike, and points of these weights.
func distance(ctx context.Context, records, points [][]float64, weights []float64) (float64, error) {
	n := len(records)
	even := slices.Repeat([]float64{1 / float64(n)}, n)
	if len(records[0]) == 1 {
		return wasserstein.W1LineBetween(slices.Concat(records...), even, slices.Concat(points...), weights)
	}
	all, err := metric.NewPoints(slices.Concat(records, points), metric.Chebyshev{})
	if err != nil {
		return 0, err
	}
	w, err := wasserstein.W1(ctx, all, slices.Concat(even, make([]float64, len(points))), slices.Concat(make([]float64, n), weights), nil)
	if err != nil {
		return 0, err
	}
	return w.Cost, nil
}

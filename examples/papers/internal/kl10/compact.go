package kl10

import (
	"context"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/mechanism/exponential/kl10"
	"github.com/metricdp/metricdp/metric"
)

// spaces are finite parts, of any size, of an infinite space.
type spaces struct {
	name    string
	part    func(n int) (metric.Bimetric, error)
	compact bool
	paper   string
	why     string
}

var parts = []spaces{
	{name: "[0,1], finer and finer", compact: true, paper: "bounded: compact", part: func(n int) (metric.Bimetric, error) {
		return same(line(n+1, 1))
	}, why: "below ln(1/delta)/gamma, the level of Laplace noise"},
	{name: "a circle, finer and finer", compact: true, paper: "bounded: compact", part: func(n int) (metric.Bimetric, error) {
		circle := make([]float64, n)
		for i := range circle {
			circle[i] = float64(i) / float64(n)
		}
		return same(metric.NewPoints(circle, metric.Func[float64](func(x, y float64) float64 {
			d := math.Abs(x - y)
			return min(d, 1-d)
		})))
	}},
	{name: "n points at distance 1", paper: "unbounded: not compact", part: func(n int) (metric.Bimetric, error) {
		return same(equidistant(n))
	}, why: "bounded and complete, but not totally bounded"},
	{name: "n points on the axes of the unit ball of l2", paper: "unbounded: not compact", part: func(n int) (metric.Bimetric, error) {
		axes := make([]int, n)
		for i := range axes {
			axes[i] = i
		}
		return same(metric.NewPoints(axes, metric.Func[int](func(i, j int) float64 {
			switch {
			case i == j:
				return 0
			case i/2 == j/2:
				return 2 // e and -e
			}
			return math.Sqrt2
		})))
	}},
	{name: "0, 1, ..., n-1, all inputs at distance 1", paper: "unbounded: not compact", part: func(n int) (metric.Bimetric, error) {
		outputs, err := line(n, float64(n-1))
		if err != nil {
			return metric.Bimetric{}, err
		}
		inputs, err := equidistant(n)
		return metric.Bimetric{Privacy: inputs, Utility: outputs}, err
	}, why: "a query on a database of one record, any of which replaces any other"},
}

// same is [metric.Same] of what may have failed.
func same[F metric.Finite](f F, err error) (metric.Bimetric, error) {
	if err != nil {
		return metric.Bimetric{}, err
	}
	return metric.Same(f), nil
}

// compact computes eps* of growing parts of spaces.
func compact(ctx context.Context, r *exhibit.Run) error {
	t := kl10.Target{Gamma: 0.2 * (1 + 1e-9), Delta: 0.05} // clear of rounding
	var series []demo.Series
	for _, s := range parts {
		solved := demo.Series{Name: s.name}
		most := exhibit.Size(r, 40, 80)
		if !s.compact {
			most *= 4 // the packing bound is eps* there, or nearly
		}
		for n := 5; n <= most; n *= 2 {
			b := exhibit.Must(s.part(n))
			found := level(ctx, b, t)
			solved.X, solved.Y = append(solved.X, float64(b.Privacy.Len())), append(solved.Y, found.Lo)
			solved.Lo, solved.Hi = append(solved.Lo, found.Lo), append(solved.Hi, found.Hi)
		}
		series = append(series, solved)
		// What is bounded gains less with each doubling, a logarithm as much.
		last := len(solved.Y) - 1
		gain, before := solved.Hi[last]-solved.Lo[last-1], solved.Lo[last-1]-solved.Hi[last-2]
		ok := gain > 0.8*before
		if s.compact {
			ok = solved.Hi[last] <= laplace(t) && gain < 0.75*before
		}
		r.Say("", s.name, s.paper, fmt.Sprintf("%.2f to %.2f, n = %v to %v", solved.Lo[0], solved.Hi[last], solved.X[0], solved.X[last]),
			exhibit.If(ok, exhibit.Holds), s.why)
	}
	if err := unboundedDistance(ctx, r, t); err != nil {
		return err
	}
	series = append(series, demo.Series{Name: "noise (Laplace) on the line or a circle", X: []float64{5, exhibit.Size(r, 160.0, 320)}, Y: []float64{laplace(t), laplace(t)}})
	return r.WriteCharts("kl10-compact.png", &demo.Chart{Title: "eps*(.2, .05) of n points: bounded for compact spaces", X: "points", Y: "eps*", LogX: true, Series: series,
		Note: "The straight lines grow like ln(n), without end."})
}

// laplace is the level at which Laplace noise on a line or around a circle misses by more
// than gamma with probability e^(-level*gamma) = delta. On a grid that gamma fits its
// discrete form misses less often.
func laplace(t kl10.Target) float64 { return math.Log(1/t.Delta) / t.Gamma }

// unboundedDistance has the line under one metric, where levels are per unit of a
// distance that grows with the space.
func unboundedDistance(ctx context.Context, r *exhibit.Run, t kl10.Target) error {
	last := 0.0
	for _, n := range []int{21, 41, 81} {
		b := exhibit.Must(same(line(n, float64(n-1)/10)))
		found := level(ctx, b, t)
		last = found.Hi
	}
	r.Say("", "the line, longer and longer, privacy by |x-y| itself", "not compact", fmt.Sprintf("%.2f for 81 points over 8", last),
		exhibit.If(last <= laplace(t), exhibit.Differs),
		fmt.Sprintf("Laplace noise has %.2f everywhere: without a compact completion it takes inputs at bounded distances to rule a level out", laplace(t)))
	return nil
}

package kl10

import (
	"context"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/mechanism/exponential/kl10"
	"github.com/metricdp/metricdp/metric"
)

// level encloses eps* of a target.
func level(ctx context.Context, b metric.Bimetric, t kl10.Target) scale.Interval {
	m := exhibit.Must(lp.MostPrivate(ctx, b, t, &lp.MostPrivateOptions{Tolerance: 1e-3}))
	return m.Level
}

// equidistant is n points at distance 1 from each other.
func equidistant(n int) (metric.Finite, error) {
	points := make([]int, n)
	for i := range points {
		points[i] = i
	}
	return metric.NewPoints(points, metric.Discrete[int]{})
}

// line is n points from 0 to length, at equal gaps.
func line(n int, length float64) (*metric.Points[float64], error) {
	points := make([]float64, n)
	for i := range points {
		points[i] = length * float64(i) / float64(n-1)
	}
	return metric.NewPoints(points, metric.Numbers[float64]{})
}

// least compares eps* with closed forms, and draws it on an interval.
func least(ctx context.Context, r *exhibit.Run) error {
	target := kl10.Target{Gamma: 0.5, Delta: 0.05}
	for _, n := range []int{2, 3, 10, exhibit.Size(r, 30, 100)} {
		points := exhibit.Must(equidistant(n))
		found := level(ctx, metric.Same(points), target)
		want := respond(n, target.Delta)
		r.Say("", fmt.Sprintf("%d points at distance 1, delta = %v: ln((n-1)(1-delta)/delta)", n, target.Delta), want, found,
			exhibit.If(found.Lo <= want*(1+1e-9) && want <= found.Hi*(1+1e-9) && found.Width() < 1e-2, exhibit.Holds),
			map[bool]string{true: "the value of the definition: the packing bound, which randomized response attains"}[n == 2])
	}
	return interval(ctx, r)
}

// respond is eps* of n points at distance 1 and a target below 1: randomized response.
func respond(n int, delta float64) float64 {
	return max(0, math.Log(float64(n-1)*(1-delta)/delta))
}

// interval draws eps* and what encloses it without a program, on [0,1], against gamma.
func interval(ctx context.Context, r *exhibit.Run) error {
	points := exhibit.Must(line(exhibit.Size(r, 21, 61), 1))
	b := metric.Same(points)
	optimal, packing := demo.Series{Name: "optimal: eps*"}, demo.Series{Name: "lower bound by packing"}
	mechanism := demo.Series{Name: "exponential mechanism, base measure"}
	inside, falls, zero := true, true, math.NaN()
	before := math.Inf(1)
	for k := 1; k <= 11; k++ {
		t := kl10.Target{Gamma: float64(k)/20 + 1e-9, Delta: 0.05} // clear of rounding
		found := level(ctx, b, t)
		lower := exhibit.Must(lp.LevelLowerBound(ctx, b, t))
		m := exhibit.Must(kl10.MostPrivate(ctx, b, nil, t, nil))
		upper := m.Guarantee().Alpha()
		inside = inside && lower.Level <= found.Hi && found.Lo <= upper
		falls = falls && found.Lo <= before
		before = found.Hi
		if found.Hi == 0 && math.IsNaN(zero) {
			zero = float64(k) / 20
		}
		for _, s := range []struct {
			*demo.Series
			y float64
		}{{&optimal, found.Hi}, {&packing, lower.Level}, {&mechanism, upper}} {
			s.X, s.Y = append(s.X, t.Gamma), append(s.Y, s.y)
		}
	}
	name := fmt.Sprintf("%d points of [0,1], gamma from .05 to .55", points.Len())
	r.Say("", name+": eps* falls as gamma grows", "yes", word(falls), exhibit.If(falls, exhibit.Holds), "")
	r.Say("", name+": between the packing bound and the level of a mechanism", "yes", word(inside), exhibit.If(inside, exhibit.Holds), "")
	r.Say("", "the least such gamma with eps* = 0", 0.5, zero, exhibit.Near(zero, 0.5, 1e-9),
		"a constant in the middle; the exponential mechanism still needs a level there")
	return r.WriteCharts("kl10-def2.3.png", &demo.Chart{Title: fmt.Sprintf("The least level for a loss above gamma at most 5 %% of the time, %d points of [0,1]", points.Len()),
		X: "gamma", Y: "level", Series: []demo.Series{optimal, packing, mechanism}})
}

func word(ok bool) string {
	if ok {
		return "yes"
	}
	return "no"
}

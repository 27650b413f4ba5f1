package main

import (
	"math"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/metric"
)

// trials is over how many runs the errors of guesses are averaged.
const trials = 40

// repeat reports one place again and again, by noise on the sphere drawn anew each time
// and by answers that stick, and tells how far the mean of all answers is from the place:
// what somebody who hears them knows.
func (s *study) repeat(p *demo.Program) error {
	noise, err := additive.NewSphere(s.alpha, nil)
	if err != nil {
		return err
	}
	r, home := random.Seeded(s.seed), s.places[0].at
	guess := func(m mechanism.Mechanism[metric.LatLon, metric.LatLon], reports int) (float64, error) {
		var sum [3]float64
		for range reports {
			y, err := m.Release(r, home)
			if err != nil {
				return 0, err
			}
			for k, v := range (metric.GreatCircle{}).Append(nil, y) {
				sum[k] += v
			}
		}
		const degree = math.Pi / 180
		mean := metric.LatLon{Lat: math.Atan2(sum[2], math.Hypot(sum[0], sum[1])) / degree, Lon: math.Atan2(sum[1], sum[0]) / degree}
		return (metric.GreatCircle{}).Distance(home, mean), nil
	}
	t := demo.NewTable("reports of one place", "level, drawn anew (per km)", "mean is off by (km)", "level, sticky (per km)", "mean is off by (km)")
	for _, reports := range []int{1, 10, 100, 1000} {
		var anew, sticky float64
		for range trials {
			stuck, err := mechanism.NewSticky(noise, nil)
			if err != nil {
				return err
			}
			d, err := guess(noise, reports)
			if err != nil {
				return err
			}
			anew += d / trials
			if d, err = guess(stuck, reports); err != nil {
				return err
			}
			sticky += d / trials
		}
		g := noise.Guarantee()
		t.Row(reports, g.Times(reports).Alpha(), anew, g.Alpha(), sticky)
	}
	p.Remark("")
	p.Print(t)
	p.Remark("%s, reported again and again by noise on the sphere: means of %d runs. Answers that stick show when the place changes.", s.name(0), trials)
	return nil
}

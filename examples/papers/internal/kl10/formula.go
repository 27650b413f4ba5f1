package kl10

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism/exponential/kl10"
	"github.com/metricdp/metricdp/metric"
)

// formula compares the paper's rate with the smallest that is enough, and the level
// of the mechanism at that one with eps*.
func formula(ctx context.Context, r *exhibit.Run) error {
	t := kl10.Target{Gamma: 0.1 * (1 + 1e-9), Delta: 0.05} // clear of rounding
	points := exhibit.Must(line(exhibit.Size(r, 801, 4001), 1))
	n := points.Len()
	uniform := make([]float64, n)
	for i := range uniform {
		uniform[i] = 1 / float64(n)
	}
	enough := exhibit.Must(kl10.SmallestBeta(ctx, points, uniform, t))
	mass, _, err := scale.BallMass(ctx, points, uniform, t.Gamma/2, nil)
	if err != nil {
		return err
	}
	paper := directed.DivUp(2*directed.SubUp(0-directed.LogDown(t.Delta), directed.LogDown(mass)), t.Gamma)
	r.Say("", "rate for gamma = .1, delta = .05, uniform measure on [0,1]", paper, enough,
		exhibit.If(math.Abs(enough*t.Gamma/math.Log(1/t.Delta)-1) < 0.01, exhibit.Better),
		fmt.Sprintf("the formula (2/gamma) ln(1/(delta m)), m the least mass of a ball of radius gamma/2, is safe; bisection on the mechanism, here on %d points, finds the smallest rate: ln(1/delta)/gamma = %.2f on all of [0,1]", n, math.Log(1/t.Delta)/t.Gamma))

	reached, count := 0, exhibit.Size(r, 60, 400)
	var over, overFormula []float64 // levels, as multiples of eps*
	free, positive := 0, 0          // spaces with eps* = 0, and those where the mechanism needs a level
	rng := random.Seeded(r.Seed)
	for range count {
		cloud := make([][2]float64, 2+rng.IntN(6))
		for i := range cloud {
			cloud[i] = [2]float64{rng.Float64(), rng.Float64()}
		}
		plane := exhibit.Must(metric.NewPoints(cloud, metric.Plane{}))
		diameter, _, _, err := metric.Diameter(ctx, plane)
		if err != nil {
			return err
		}
		target := kl10.Target{Gamma: diameter * (0.1 + 0.7*rng.Float64()), Delta: 0.02 + 0.3*rng.Float64()}
		m := exhibit.Must(kl10.MostPrivate(ctx, metric.Same(plane), nil, target, nil))
		eps := level(ctx, metric.Same(plane), target)
		if m.Miss <= target.Delta && eps.Lo <= m.Guarantee().Alpha() && m.Guarantee().Alpha() <= m.FormulaLevel {
			reached++
		}
		if eps.Hi > 0 {
			over, overFormula = append(over, m.Guarantee().Alpha()/eps.Hi), append(overFormula, m.FormulaLevel/eps.Hi)
			continue
		}
		if free++; m.Guarantee().Alpha() > 0 {
			positive++
		}
	}
	slices.Sort(over)
	slices.Sort(overFormula)
	r.Say("", "the mechanism reaches the target below the formula's level, random finite spaces", "always", fmt.Sprintf("%d of %d", reached, count),
		exhibit.If(reached == count, exhibit.Holds), "")
	formulas, ours := overFormula[len(over)/2], over[len(over)/2]
	r.Say("", "level over eps*, median: by the formula, audited at the smallest rate", formulas, ours, exhibit.If(ours < formulas, exhibit.Better),
		fmt.Sprintf("at most %.1f times; eps* itself, with its mechanism, is what lp.MostPrivate has", over[len(over)-1]))
	r.Say("", "spaces with eps* = 0 where the mechanism needs a level", "-", fmt.Sprintf("%d of %d", positive, free),
		exhibit.If(free > 0 && positive > 0, exhibit.Differs),
		"a constant is enough there, which is no exponential mechanism with a positive measure everywhere")
	return nil
}

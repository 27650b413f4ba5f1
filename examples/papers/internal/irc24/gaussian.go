package irc24

import (
	"context"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/mechanism/additive"
)

// gaussian compares scales of Gaussian noise for a query with constant 1, at a
// diameter of 1.
func gaussian(_ context.Context, r *exhibit.Run) error {
	const delta = 1e-6
	printed := func(alpha float64) float64 { return math.Sqrt(1.25*math.Log(1/delta)) / alpha }
	textbook := func(alpha float64) float64 { return math.Sqrt(2*math.Log(1.25/delta)) / alpha }
	exact := exhibit.Must(additive.GaussianSigma(additive.GaussianTarget{Alpha: alpha, Delta: delta, Diameter: 1}))
	far := additive.GaussianDelta(printed(alpha), alpha, 1)
	r.Say("", fmt.Sprintf("delta of the scale sqrt(1.25 ln(1/delta))/alpha, alpha = %d", alpha), delta, far, exhibit.If(far > delta, exhibit.Corrected),
		"the formula is one for small levels; exact, in closed form")
	draws := exhibit.Size(r, 200_000, 10_000_000)
	drawn := simulate(r, printed(alpha), draws)
	r.Say("", "the same delta, simulated", delta, drawn, exhibit.If(math.Abs(drawn-far) <= 5*0.5/math.Sqrt(float64(draws)), exhibit.Corrected),
		fmt.Sprintf("%d draws of noise, within 5 standard errors of the closed form", draws))
	also := additive.GaussianDelta(textbook(alpha), alpha, 1)
	r.Say("", fmt.Sprintf("delta of the scale sqrt(2 ln(1.25/delta))/alpha, alpha = %d", alpha), "", also, exhibit.If(also > delta, exhibit.Corrected),
		"the textbook's constant does not mend it")
	reached := additive.GaussianDelta(exact, alpha, 1)
	r.Say("", fmt.Sprintf("the least private scale, alpha = %d", alpha), printed(alpha), exact,
		exhibit.If(reached <= delta && reached > 0.99*delta, exhibit.Corrected), "its delta is "+demo.Number(reached))
	var x, y, z, want []float64
	for a := 0.1; a < 60; a *= 1.25 {
		x, want = append(x, a), append(want, delta)
		y, z = append(y, additive.GaussianDelta(printed(a), a, 1)), append(z, additive.GaussianDelta(textbook(a), a, 1))
	}
	return r.WriteCharts("irc24-gaussian.png", &demo.Chart{
		Title: "What Gaussian scales promise, and keep", X: "alpha", Y: "true delta", LogX: true, LogY: true,
		Series: []demo.Series{
			{Name: "sqrt(1.25 ln(1/delta))/alpha", X: x, Y: y},
			{Name: "sqrt(2 ln(1.25/delta))/alpha", X: x, Y: z},
			{Name: "promised", X: x, Y: want},
		},
	})
}

// simulate is the mean of (1 - e^(alpha-L))_+ over draws of the privacy loss L between
// inputs at distance 1, which is delta.
func simulate(r *exhibit.Run, sigma float64, draws int) float64 {
	rng, sum := r.Rand(), 0.0
	for range draws {
		loss := (0.5/sigma + rng.NormFloat64()) / sigma
		sum += max(0, -math.Expm1(alpha-loss))
	}
	return sum / float64(draws)
}

package bsv24

import (
	"context"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/entropy/families"
	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/lp"
)

// baire compares the closed forms with scales computed on cubes that are built, and
// their powers of alpha with those of the infinite cube.
func baire(ctx context.Context, r *exhibit.Run) error {
	power := func(base float64) func(int) float64 {
		return func(k int) float64 { return math.Pow(base, -float64(k)) }
	}
	halves := families.Baire{Privacy: power(2), Utility: power(2)}
	chart := &demo.Chart{Title: "Sequences of bits at distance 2^-k, k the first place where they differ", X: "alpha", Y: "scale, accuracy", LogX: true, LogY: true,
		Note: "The upper bound is s(Z, alpha/3) + 14 s_o(Z, alpha/7), Theorem 5.1 with its constant."}
	for _, c := range []struct {
		name    string
		utility float64 // utility^-k is the distance of the loss, 2^-k that of privacy
		want    float64
	}{{"both metrics 2^-k", 2, -1}, {"privacy 2^-k, loss 3^-k", 3, -math.Log2(3)}} {
		cube := families.Baire{Privacy: power(2), Utility: power(c.utility)}
		alphas := levels(4, 1<<20, math.Pow(2, 0.25))
		var s, so []float64
		for _, alpha := range alphas {
			e := exhibit.Must(cube.EntropicScale(alpha))
			d := exhibit.Must(cube.DiametricScale(alpha))
			s, so = append(s, e.Hi), append(so, d.Hi)
		}
		if c.utility == 2 {
			const shown = 37 // levels, up to 2048
			chart.Series = append(chart.Series, demo.Series{Name: "s", X: alphas[:shown], Y: s[:shown]}, demo.Series{Name: "s_o", X: alphas[:shown], Y: so[:shown]})
		}
		a, b := exponent(alphas, s, 0), exponent(alphas, so, 0)
		r.Say("", "exponent of s, s_o: "+c.name, c.want, fmt.Sprintf("%.3f, %.3f", a, b),
			exhibit.If(math.Abs(a-c.want) < 0.02 && math.Abs(b-c.want) < 0.02, exhibit.Holds), "")
	}

	built := halves
	built.Depth = exhibit.Size(r, 10, 16)
	space := exhibit.Must(built.Space())
	alphas := levels(1, 2048, math.Sqrt2)
	found := exhibit.Must(scale.Entropic(ctx, space, alphas, nil))
	wide := exhibit.Must(scale.Diametric(ctx, space, alphas, nil))
	same := 0
	for i, alpha := range alphas {
		s := exhibit.Must(built.EntropicScale(alpha))
		so := exhibit.Must(built.DiametricScale(alpha))
		if found[i].Exact() && s.Contains(found[i].Lo) && wide[i].Lo <= so.Hi && so.Lo <= wide[i].Hi {
			same++
		}
	}
	r.Say("", fmt.Sprintf("closed forms are the scales of the cube of %d points", space.Privacy.Len()), "at every alpha",
		fmt.Sprintf("%d of %d", same, len(alphas)), exhibit.If(same == len(alphas), exhibit.Holds), "")
	return baireOptima(ctx, r, halves, chart)
}

// baireOptima solves the linear programs of a small cube.
func baireOptima(ctx context.Context, r *exhibit.Run, cube families.Baire, chart *demo.Chart) error {
	cube.Depth = exhibit.Size(r, 6, 8)
	space := exhibit.Must(cube.Space())
	best := demo.Series{Name: fmt.Sprintf("optimal, %d points (linear program)", space.Privacy.Len())}
	lower, upper := demo.Series{Name: "lower bound, Theorems 3.1 and 3.2"}, demo.Series{Name: "upper bound"}
	within, least, most := 0, math.Inf(1), 0.0
	alphas := levels(4, 64, 2)
	for _, alpha := range alphas {
		f := exhibit.Must(measure(ctx, space, alpha))
		solved := exhibit.Must(lp.Optimal(ctx, space, alpha, &lp.Options{Tolerance: 1e-3}))
		lo, hi := f.lower(), f.upper()
		if lo <= solved.DualBound && solved.Objective <= hi {
			within++
		}
		least, most = min(least, solved.DualBound*alpha), max(most, solved.Objective*alpha)
		best.X, best.Y = append(best.X, alpha), append(best.Y, solved.Objective)
		lower.X, lower.Y = append(lower.X, alpha), append(lower.Y, lo)
		upper.X, upper.Y = append(upper.X, alpha), append(upper.Y, hi)
	}
	chart.Series = append(chart.Series, best, lower, upper)
	r.Say("", "A between max(s/8, s_o/5) at 2 alpha and s(Z, alpha/3) + 14 s_o(Z, alpha/7)", "up to constants",
		fmt.Sprintf("%d of %d", within, len(alphas)), exhibit.If(within == len(alphas), exhibit.Holds), "")
	r.Say("", "alpha A from alpha = 4 to 64", "a constant", fmt.Sprintf("%.3f to %.3f", least, most), exhibit.If(most < 2*least, exhibit.Holds),
		"the rate is 1/alpha up to the depth of the cube")
	return r.WriteCharts("bsv24-baire.png", chart)
}

package bsv24

import (
	"context"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/entropy/families"
	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
)

// baire compares the closed forms with scales computed on cubes that are built, and their
// powers of alpha with those of the infinite cube.
func baire(ctx context.Context, r *exhibit.Run) {
	power := func(base float64) func(int) float64 {
		return func(k int) float64 { return math.Pow(base, -float64(k)) }
	}
	cube := families.Baire{Privacy: power(2), Utility: power(2)}
	alphas := levels(4, 1<<20, math.Pow(2, 0.25))
	for _, c := range []struct {
		base, want float64 // base^-k is the distance of the loss, 2^-k that of privacy
		paper, why string
	}{{2, -1, "-1", ""}, {3, -math.Log2(3), "-", "by (6.4)"}} {
		of := families.Baire{Privacy: power(2), Utility: power(c.base)}
		var s, so []float64
		for _, alpha := range alphas {
			s, so = append(s, exhibit.Must(of.EntropicScale(alpha)).Hi), append(so, exhibit.Must(of.DiametricScale(alpha)).Hi)
		}
		a, b := exhibit.Slope(alphas, s), exhibit.Slope(alphas, so)
		r.Say("Remark 6.5", fmt.Sprintf("exponent of s, s_o: privacy 2^-k, loss %v^-k", c.base), c.paper, fmt.Sprintf("%.3f, %.3f", a, b),
			exhibit.If(math.Abs(a-c.want) < 0.02 && math.Abs(b-c.want) < 0.02, exhibit.Holds), c.why)
	}

	built := cube
	built.Depth = exhibit.Size(r, 10, 16)
	space := exhibit.Must(built.Space())
	alphas = levels(1, 2048, math.Sqrt2)
	found := exhibit.Must(scale.Entropic(ctx, space, alphas, nil))
	wide := exhibit.Must(scale.Diametric(ctx, space, alphas, nil))
	var same, within tally
	for i, alpha := range alphas {
		s, so := exhibit.Must(built.EntropicScale(alpha)), exhibit.Must(built.DiametricScale(alpha))
		same.add(found[i].Exact() && s.Contains(found[i].Lo) && wide[i].Lo <= so.Hi && so.Lo <= wide[i].Hi)
	}
	same.say(r, "Theorem 6.4", fmt.Sprintf("(6.4) has the scales of the cube of %d points", space.Len()), "at every alpha", exhibit.Holds, "")

	cube.Depth = exhibit.Size(r, 6, 8)
	s := sample{Bimetric: exhibit.Must(cube.Space())}
	least, most, last := math.Inf(1), 0.0, 0.0
	for _, alpha := range levels(4, 1024, 2) {
		s = s.at(ctx, alpha)
		best := s.optimum(ctx)
		within.add(max(s.entropic2.Hi/8, s.diametric2.Hi/5) <= best.DualBound && best.Objective <= exhibit.Must(entropy.RelaxedBound(s.entropic3.Hi, s.diametric7.Hi, 1)))
		if last = best.Objective * alpha; alpha <= 64 {
			least, most = min(least, best.DualBound*alpha), max(most, last)
		}
	}
	within.say(r, "Theorem 1.7", "A between max(s/8, s_o/5) at 2 alpha and s(alpha/3) + 14 s_o(alpha/7)", "up to constants", exhibit.Holds, "")
	r.Say("Section 1.3 (4)", fmt.Sprintf("alpha A on {0,1}^%d from alpha = 4 to 64, and at 1024", cube.Depth), "a constant (1.4)", fmt.Sprintf("%.3f to %.3f, %.2g", least, most, last),
		exhibit.If(most < 2*least && last < least/10, exhibit.Corrected), "Remark 6.5 proves it of infinite sequences; those of d bits follow while alpha is at most of the order of 2^d")
}

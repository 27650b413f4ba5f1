package ikwat22

import (
	"context"
	"fmt"
	"slices"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
)

// prices prints what ConstOPT loses for several lambda at a low level, where row sums
// differ, and how much of alpha it takes once rows are divided by their sums.
func prices(ctx context.Context, r *exhibit.Run, n int) error {
	s, err := words(ctx, n, r.Seed)
	if err != nil {
		return err
	}
	const low = fixed / 2
	t := demo.NewTable("r", "lambda (diameters)", "alpha", "its tight level", fmt.Sprintf("L_%v", share))
	var taken []float64
	pays := 1. // the worst lambda against the best
	for _, k := range []int{neighbors / 2, neighbors} {
		var losses []float64
		for _, lambda := range lambdas {
			m := constOPTMech(k, lambda)
			p, err := m.at(ctx, s, low)
			if err != nil {
				return err
			}
			c, err := m.builds[0](ctx, s, p.alpha)
			if err != nil {
				return err
			}
			tight := c.Guarantee().Alpha()
			losses, taken = append(losses, p.loss), append(taken, tight/p.alpha)
			t.Row(k, lambda, p.alpha, tight, p.loss)
		}
		pays = max(pays, slices.Max(losses)/slices.Min(losses))
	}
	r.Print(t)
	most := slices.Max(taken)
	r.Say(exhibit.Claim{
		Claim: "the level of a program of budget alpha/2", Paper: "at most alpha", Here: span(slices.Min(taken), most) + " alpha", Verdict: exhibit.If(most <= 1, exhibit.Holds),
		Why: "audited, at delta = 0; by default lp.ConstOPT raises the budget until the level is alpha",
	})
	r.Say(exhibit.Claim{
		Claim: "the worst lambda of a list against the best", Paper: "takes the best", Here: fmt.Sprintf("%.3g times", pays), Verdict: exhibit.If(pays > 1+2*near, exhibit.Holds),
		Why: fmt.Sprintf("at eps_tight = %v; %s", low, unseen),
	})
	return nil
}

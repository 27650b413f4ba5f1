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
	s := exhibit.Must(words(ctx, n, r.Seed))
	const low = fixed / 2
	t := demo.NewTable("r", "lambda (diameters)", "alpha", "its tight level", fmt.Sprintf("L_%v", share))
	var taken []float64
	pays := 1. // the worst lambda against the best
	for _, k := range []int{neighbors / 2, neighbors} {
		var losses []float64
		for _, lambda := range lambdas {
			m := constOPTMech(k, lambda)
			p := exhibit.Must(m.at(ctx, s, low))
			c := exhibit.Must(m.builds[0](ctx, s, p.alpha))
			tight := c.Guarantee().Alpha()
			losses, taken = append(losses, p.loss), append(taken, tight/p.alpha)
			t.Row(k, lambda, p.alpha, tight, p.loss)
		}
		pays = max(pays, slices.Max(losses)/slices.Min(losses))
	}
	r.Print(t)
	most := slices.Max(taken)
	r.Say("", "the level of a program of budget alpha/2", "at most alpha", span(slices.Min(taken), most)+" alpha",
		exhibit.If(most <= 1, exhibit.Holds), "audited, at delta = 0; by default lp.ConstOPT raises the budget until the level is alpha")
	r.Say("", "the worst lambda of a list against the best", "takes the best", fmt.Sprintf("%.3g times", pays),
		exhibit.If(pays > 1+2*near, exhibit.Holds), fmt.Sprintf("at eps_tight = %v; %s", low, unseen))
	return nil
}

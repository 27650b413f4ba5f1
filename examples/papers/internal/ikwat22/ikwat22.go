// Package ikwat22 has the exhibits of IKWAT22 (Imola, Kasiviswanathan, White, Aggarwal,
// Teissier, Balancing utility and scalability in metric differential privacy), on words
// of GloVe and on cities.
//
// The text of the paper was not at hand. Its claims are taken from its abstract and from
// what this library cites of it: the programs and their sizes (Theorem 1), the
// exponential mechanism (Proposition 1), the lower bound (Theorem 3), the level
// eps_tight at delta = .001 and the loss L_.95 by which it compares mechanisms, and that
// ConstOPT loses less at middle levels than all that is not optimal, and on few words
// hardly more than OPTMech. So claims are in words, and none of the paper's numbers are
// repeated. Which figure or table has which experiment is our choice but for Figure 1.
package ikwat22

import (
	"context"

	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
)

// Exhibits are those of the paper, in its order.
var Exhibits = []exhibit.Exhibit{
	{Name: "IKWAT22/fig1", About: "loss against the level, words", Run: func(ctx context.Context, r *exhibit.Run) error {
		return byLevel(ctx, r, "fig1", words, exhibit.Size(r, 50, 200), []float64{.15, .25, .4, .6, .9, 1.4})
	}},
	{Name: "IKWAT22/fig2", About: "loss at one level against the number of words, in clusters", Run: func(ctx context.Context, r *exhibit.Run) error {
		return bySize(ctx, r, exhibit.Size(r, []int{20, 40, 60, 80}, []int{25, 50, 100, 200, 400}))
	}},
	{Name: "IKWAT22/fig3", About: "loss at one level against the size of the program", Run: func(ctx context.Context, r *exhibit.Run) error {
		return byProgram(ctx, r, exhibit.Size(r, 80, 150))
	}},
	{Name: "IKWAT22/fig4", About: "loss against the level, locations", Run: func(ctx context.Context, r *exhibit.Run) error {
		return byLevel(ctx, r, "fig4", places, exhibit.Size(r, 50, 200), []float64{.0012, .002, .004, .008, .016, .05})
	}},
	{Name: "IKWAT22/table1", About: "variables, rows and nonzeros of each program", Run: func(ctx context.Context, r *exhibit.Run) error {
		return sizes(ctx, r, exhibit.Size(r, []int{50, 100, 200, 400}, []int{50, 100, 200, 400, 800}))
	}},
	{Name: "IKWAT22/table2", About: "time of each program", Run: func(ctx context.Context, r *exhibit.Run) error {
		return times(ctx, r, exhibit.Size(r, []int{25, 50, 100}, []int{25, 50, 100, 200, 400}))
	}},
	{Name: "IKWAT22/table3", About: "ConstOPT's lambda and r", Run: func(ctx context.Context, r *exhibit.Run) error {
		return prices(ctx, r, exhibit.Size(r, 60, 200))
	}},
	{Name: "IKWAT22/table4", About: "locations: the programs and what they lose at one level", Run: func(ctx context.Context, r *exhibit.Run) error {
		return locations(ctx, r, exhibit.Size(r, 60, 200))
	}},
}

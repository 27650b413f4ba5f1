package irc24

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism/emd/accountant"
	"github.com/metricdp/metricdp/mechanism/emd/frequency"
	"github.com/metricdp/metricdp/metric"
)

// clusters are what items are drawn from: ten of ten, a tenth of the diameter wide.
var clusters = fault.Must(metric.NewClustered(10, 10, 0.1))

// The delta of all releases of items, and how many of them a user has.
const (
	slack = 1e-9
	held  = 10
)

// itemwise sends items through randomized response on the clusters, at the largest
// levels that hide a user, and measures how far they move.
func itemwise(ctx context.Context, r *exhibit.Run) error {
	const n = 10_000
	setting := accountant.Shuffle{Records: n * held, Items: held, Diameter: 1}
	underEM := accountant.Promise{Alpha: alpha, Delta: slack}
	composed := exhibit.Must(accountant.ComposeBudget(ctx, held, eps, slack))
	whole := exhibit.Must(setting.Budget(ctx, accountant.Promise{Alpha: eps, Delta: slack}))
	proved := exhibit.Must(setting.Budget(ctx, underEM))
	rng, draws := r.Rand(), exhibit.Size(r, 100_000, 2_000_000)
	last := 1.0 // the diameter
	for _, c := range []struct {
		what   string
		alpha0 float64
		paper  string
		good   exhibit.Verdict
		why    string
	}{
		{"user level, composed", composed, "the baseline", exhibit.Holds, ""},
		{"user level, shuffled", whole.Value, "", exhibit.Better, "the accountant at eps, which the baseline does without"},
		{"under d_EM, composed", alpha / float64(held), "less than user level", exhibit.Holds, "alpha/m an item, without delta"},
		{"under d_EM, Theorem 4.4", theorem44{n * held, held}.budget(alpha, slack), "less than composed", exhibit.Holds, ""},
		{"under d_EM, accountant", proved.Value, "", exhibit.Better, "proved for the same promise"},
	} {
		moved := movedBy(rng, c.alpha0, draws)
		r.Say("", fmt.Sprintf("mean distance of an item, %s: alpha0 = %s", c.what, demo.Number(c.alpha0)), c.paper, moved,
			exhibit.If(moved <= last, c.good), c.why)
		last = moved * 1.01 // 1 % for the draws
	}
	return nil
}

// movedBy is the mean distance between an item and what is released for it.
func movedBy(rng *rand.Rand, alpha0 float64, draws int) float64 {
	g := exhibit.Must(frequency.NewGKRR(clusters, alpha0))
	sum := 0.0
	for i := range draws {
		x := i % clusters.Len()
		y := exhibit.Must(g.Release(rng, x))
		sum += clusters.Distance(x, y)
	}
	return sum / float64(draws)
}

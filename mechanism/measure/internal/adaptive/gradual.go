package adaptive

import (
	"math/rand/v2"

	"github.com/metricdp/metricdp/mechanism/measure/internal/gradual"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
)

// Gradual is a release of which the counts of leaves can be refined. The numbers behind them
// are private.
type Gradual struct {
	*Release
	ledger *gradual.Ledger
	counts []gradual.Count // of nodes
}

// DrawGradual is [Draw] where the number of all records is released elsewhere, and each path
// spends quanta of a ledger. The caller takes them off.
func DrawGradual(rng *rand.Rand, t region.Tree, c *Counts, l *gradual.Ledger, path, total int64, rule Rule, most int) *Gradual {
	g := &Gradual{ledger: l}
	g.Release = draw(t, Budget{unit: l.Rate(1), path: path}, rule, most, func(v region.Node, q, all int64) (coarse, fine int64) {
		if q == 0 {
			g.counts = append(g.counts, gradual.Count{})
			return total, total
		}
		n := gradual.New(rng, c.Between(t.Cells(v)), l.Rate(q))
		coarse = n.Value()
		if all > q {
			n.Refine(rng, l.Rate(all-q))
		}
		g.counts = append(g.counts, n)
		return coarse, n.Value()
	})
	return g
}

// Refine spends q more quanta on each path, on the counts of leaves.
func (g *Gradual) Refine(rng *rand.Rand, q int64) {
	if q == 0 {
		return
	}
	g.Budget.path += q
	for i := range g.Nodes {
		if n := &g.Nodes[i]; i > 0 && n.Parts == 0 {
			g.counts[i].Refine(rng, g.ledger.Rate(q))
			n.Quanta, n.Count = n.Quanta+q, g.counts[i].Value()
		}
	}
}

// Sum estimates the number of all records by the counts of parts; its variance is +Inf where
// there are none.
func (g *Gradual) Sum() (sum, variance float64) {
	v := g.average()
	return g.Nodes[0].Mass, v[0]
}

// Estimate gives nodes masses again, of sum total.
func (g *Gradual) Estimate(total int64) {
	g.Nodes[0].Count = total
	g.estimate()
}

package adaptive

import (
	"github.com/metricdp/metricdp/mechanism/measure/internal/gradual"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
)

// Gradual is a release of which the counts of leaves can be refined.
type Gradual struct {
	*Release
	counts []gradual.Count // of nodes; none of the root
}

// DrawGradual is [Draw] where the number of all records is released elsewhere, and each path
// spends quanta of a ledger: the caller takes them off.
func DrawGradual(noise gradual.Noise, t region.Tree, c *Counts, l *gradual.Ledger, path, total int64, rule Rule, most int) *Gradual {
	g := &Gradual{}
	var spent []int64
	g.Release = draw(t, Budget{unit: l.Rate(1), path: path}, rule, most, func(v region.Node, q, _ int64) (coarse, fine int64) {
		spent = append(spent, q)
		if q == 0 {
			g.counts = append(g.counts, nil)
			return total, total
		}
		n := noise.Count(c.Between(t.Cells(v)), q)
		g.counts = append(g.counts, n)
		return n.Value(), n.Value()
	})
	for i, q := range spent { // what was left to leaves
		g.refine(i, g.Nodes[i].Quanta-q)
	}
	return g
}

// Refine spends q more quanta on each path: top of them on the part of the root, and the
// others on the leaf.
func (g *Gradual) Refine(q, top int64) {
	root := g.Nodes[0]
	for i := 1; i < len(g.Nodes); i++ {
		n, more := &g.Nodes[i], int64(0)
		if n.Parts == 0 {
			more = q - top
		}
		if i < root.First+root.Parts { // which come first
			more += top
		}
		n.Quanta += more
		g.refine(i, more)
	}
}

func (g *Gradual) refine(i int, q int64) {
	if q > 0 {
		g.counts[i].Refine(q)
		g.Nodes[i].Count = g.counts[i].Value()
	}
}

// tiny is less than any variance that matters, and can be divided by.
const tiny = 1e-100

// Sum estimates the number of all records by the counts of parts; its variance is +Inf where
// there are none.
func (g *Gradual) Sum() (sum, variance float64) {
	v := g.average()
	return g.Nodes[0].Mass, max(v[0], tiny)
}

// Estimate gives nodes masses again, of sum total, and returns the variances of their noise.
// The masses of the root's parts are made smooth before, if smooth is not nil: it gets them,
// and the mean variance.
func (g *Gradual) Estimate(total int64, smooth func(y []float64, variance float64) []float64) []float64 {
	g.Nodes[0].Count = total
	return g.estimate(smooth)
}

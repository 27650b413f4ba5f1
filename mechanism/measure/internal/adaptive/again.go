package adaptive

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/metricdp/metricdp/internal/exact"
)

// Again draws what the release of counts like those of r might be, the tree given:
// every count gets noise of its rate once more, and masses are estimated as before.
func (r *Release) Again(rng *rand.Rand) *Release {
	out := &Release{r.Budget, slices.Clone(r.Nodes)}
	for i := range out.Nodes {
		if n := &out.Nodes[i]; n.Quanta > 0 {
			n.Count = exact.AddDiscreteLaplace(rng, n.Count, r.Budget.rate(n.Quanta))
		}
	}
	out.estimate()
	return out
}

// Deviation is the standard deviation of the noise of a node's count.
func (r *Release) Deviation(i int) float64 {
	if i == 0 && r.Nodes[0].Quanta == 0 { // public
		return 0
	}
	return math.Sqrt(r.Budget.Variance(r.Nodes[i].Quanta))
}

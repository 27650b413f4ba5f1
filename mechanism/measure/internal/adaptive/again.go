package adaptive

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/metricdp/metricdp/internal/exact"
)

// Again draws what the truth might be, given the tree: every count gets noise of its
// rate once more, times wider, and masses are estimated as before.
func (r *Release) Again(rng *rand.Rand) *Release {
	out := &Release{r.Budget, slices.Clone(r.Nodes)}
	wider := r.wider()
	for i := range out.Nodes {
		if n := &out.Nodes[i]; n.Quanta > 0 {
			k := float64(exact.DiscreteLaplace(rng, r.Budget.rate(n.Quanta)))
			n.Count = int64(math.Round(min(max(float64(n.Count)+float64(wider[i]*k), -1<<62), 1<<62)))
		}
	}
	out.estimate(nil)
	return out
}

// wider is 1 where the noise of the parts of a node is less than its mass. Where it is more, the
// estimate has found the greatest of the noise, and a little more hardly moves it: masses are not
// negative. The truth may be far from it, so noise is made up to 2 times wider.
func (r *Release) wider() []float64 {
	wider := slices.Repeat([]float64{1}, len(r.Nodes))
	for _, n := range r.Nodes {
		sum := 0.0
		for j := n.First; j < n.First+n.Parts; j++ {
			sum += r.Deviation(j)
		}
		for j := n.First; sum > n.Mass && j < n.First+n.Parts; j++ {
			wider[j] = min(2, math.Sqrt(sum/n.Mass))
		}
	}
	return wider
}

// Deviation is the standard deviation of the noise of a node's count.
func (r *Release) Deviation(i int) float64 {
	if i == 0 && r.Nodes[0].Quanta == 0 { // public
		return 0
	}
	return math.Sqrt(r.Budget.Variance(r.Nodes[i].Quanta))
}

package walk

import (
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
)

// Potential returns V(z) for the increments z of a walk of the distribution
// KNorm or DiscreteHaar: their density, or probability, is prop. to e^-V(z).
// (Of a walk without noise on the total: on the z of sum 0.) So V(z-x') -
// V(z-x) is the log of the ratio of the densities at z that the inputs x and x'
// give. The other distributions, whose centering hides some of the noise, are a
// [*ValueError]. O(nodes * log(arity)).
func (w *Walk) Potential(z []float64) (float64, error) {
	const op = "walk: Walk.Potential"
	if err := w.check(op); err != nil {
		return 0, err
	}
	if w.dist == Laplace || w.dist == DiscreteLaplace {
		return 0, fault.Value(op, "dist", float64(w.dist), "KNorm or DiscreteHaar")
	}
	if err := checkLen(op, "z", len(z), w.tree.Len()); err != nil {
		return 0, err
	}
	if err := fault.AllFinite(op, "z", z); err != nil {
		return 0, err
	}
	sums := make([]float64, w.tree.Nodes())
	counts(w.tree, sums, z)
	if err := fault.AllFinite(op, "counts of z", sums); err != nil {
		return 0, err
	}
	return w.potential(sums), nil
}

// potential returns V for the noise of all nodes' counts before centering, such
// that their density, or probability, is prop. to e^-V. For Laplace and
// DiscreteLaplace V is the sum of |count|/b over the nodes with siblings; for
// KNorm and DiscreteHaar, where only differences of siblings are released, the
// sum of |count - med|/b, med a median of the siblings. Both have the root's
// |count|/Total where that is positive.
func (w *Walk) potential(counts []float64) float64 {
	t := w.tree
	sum := 0.0
	if w.scales.Total > 0 {
		sum = math.Abs(counts[0]) * w.total.perUnit()
	}
	var sorted []float64
	for l, n := range w.level {
		lo, hi := t.Level(l)
		rate := n.perUnit()
		for v := lo; v < hi; v++ {
			below := counts[t.first[v]:t.first[v+1]]
			if len(below) < 2 {
				continue
			}
			med := 0.0
			if w.dist == KNorm || w.dist == DiscreteHaar {
				sorted = append(sorted[:0], below...)
				slices.Sort(sorted)
				med = sorted[len(sorted)/2]
			}
			for _, x := range below {
				sum += float64(math.Abs(x-med) * rate)
			}
		}
	}
	return sum
}

package kernel

import (
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/parallel"
)

const (
	// powers of the kernel find its first eigenvector.
	powers = 200
	// outer is the least weight of an input, in units of the largest there would be at its density.
	outer = 1e-4
)

// Prior returns weights of the inputs under which private channels lose nearly as much in the mean as
// they must at the worst input: those that even out the density of the inputs, as K's with twice the
// rate do, times the square of the first eigenvector of K so weighed. Around an input in the midst of
// the space that is level; it ends where the space does, such that p'^2/p, by which a slope lowers
// what is lost, is the least in all. O(powers * entries of K).
func (k *Kernel) Prior() ([]float64, error) {
	even, total := make([]float64, k.n), make([]float64, k.n)
	for range first {
		if err := k.ctx.Err(); err != nil {
			return nil, err
		}
		for u := range even {
			step := max(-even[u], 1-total[u])
			even[u] += step
			for i, v := range k.near[u] {
				q := float64(k.value[u][i])
				total[v] += float64(step * float64(q*q))
			}
		}
	}
	deep, next := slices.Repeat([]float64{1}, k.n), make([]float64, k.n)
	for range powers {
		err := parallel.Chunks(k.ctx, k.n, 64, k.Workers, nil, func(_, lo, hi int) {
			for u := lo; u < hi; u++ {
				sum := 0.0
				for i, v := range k.near[u] {
					sum += float64(float64(k.value[u][i]) * float64(even[v]*deep[v]))
				}
				next[u] = sum
			}
		})
		if err != nil {
			return nil, err
		}
		floats.ScaleTo(deep, 1/slices.Max(next), next)
	}
	prior := make([]float64, k.n)
	for u, d := range deep {
		prior[u] = float64(even[u]+outer) * max(float64(d*d), outer)
	}
	floats.Scale(1/floats.Sum(prior), prior)
	return prior, nil
}

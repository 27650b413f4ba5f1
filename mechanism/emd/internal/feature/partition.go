package feature

import (
	"context"
	"math"

	"github.com/metricdp/metricdp/internal/finite"
)

// PartitionQuanta is about the sum of the weights of a point under [Partition].
const PartitionQuanta = 1 << 30

// Partition is a partition of unity on centers: the weight of center c at x is
// proportional to max(0, radius - d(x,c)), in quanta. Some center must be nearer
// than radius to every point. O(n k) for k centers.
func Partition(ctx context.Context, f finite.Metric, centers []int, radius float64) (*Map, error) {
	m := NewMap(len(centers))
	weight := make([]float64, len(centers))
	for x := range f.Len() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sum := 0.0
		for i, c := range centers {
			weight[i] = math.Max(0, 1-f.Distance(c, x)/radius)
			sum += weight[i]
		}
		for i, w := range weight {
			if q := int64(math.RoundToEven(w / sum * PartitionQuanta)); q > 0 {
				m.Set(i, q)
			}
		}
		m.Close()
	}
	return m, nil
}

// Star sends x to half the distance of its nearest other point, in a place of
// its own, rounded down to quanta of the given size: a map of constant 1, as
//
//	|Phi(x)-Phi(y)|_1 = (NN(x)+NN(y))/2 <= d(x,y).
//
// nearest holds the distances NN. Points with NN = 0 are sent to 0.
func Star(nearest []float64, quantum float64) *Map {
	m := NewMap(len(nearest))
	for x, d := range nearest {
		if q := int64(d / 2 / quantum); q > 0 {
			m.Set(x, q)
		}
		m.Close()
	}
	return m
}

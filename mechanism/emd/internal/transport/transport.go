// Package transport computes the earth mover's distance of two estimates on the
// same points.
package transport

import (
	"context"

	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
)

// most is the number of points up to which the distance is computed exactly, in
// about half a second.
const most = 2500

// points are some points of a metric.
type points struct {
	at       []int
	distance func(i, j int) float64
}

func (p points) Len() int                  { return len(p.at) }
func (p points) Distance(i, j int) float64 { return p.distance(p.at[i], p.at[j]) }

// W1 returns the distance of p and q, both of sum 1, under the given distance of
// points. Where they differ at more than 2,500 points it is a bound: the
// difference at each point i is first moved to the point near[i].
func W1(ctx context.Context, distance func(i, j int) float64, p, q []float64, near []int) (float64, error) {
	diff, count := make([]float64, len(p)), 0
	for i, v := range p {
		diff[i] = v - q[i]
		if diff[i] != 0 {
			count++
		}
	}
	moved := 0.0
	if count > most {
		to := make([]float64, len(diff))
		for i, v := range diff {
			to[near[i]] += v
			moved += float64(max(v, -v) * distance(i, near[i]))
		}
		diff = to
	}
	at, from, to := []int{}, []float64{}, []float64{}
	more, less := 0.0, 0.0
	for i, v := range diff {
		if v != 0 {
			at, from, to = append(at, i), append(from, max(v, 0)), append(to, max(-v, 0))
			more += max(v, 0)
			less += max(-v, 0)
		}
	}
	if !(more > 0 && less > 0) { // rounding alone
		return moved, nil
	}
	for i := range to {
		to[i] *= more / less
	}
	r, err := wasserstein.W1(ctx, metric.Finite(points{at, distance}), from, to, nil)
	if err != nil {
		return 0, err
	}
	return moved + r.Cost, nil
}

package entropy

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/metric"
)

// Packed is a set S of points that are pairwise at least t apart under rho2, t
// the least of their distances, as seen from a point x, in S or not: the
// witness of
//
//	A(Z, alpha) >= t/2 (1 - 1/sum_(y in S) e^(-alpha*rho1(x,y))).
//
// Let the losses be at most A. The open balls B_y of radius t/2 under rho2
// around the points y of S are disjoint. By Markov's inequality the output of y
// lies in B_y with probability at least 1 - 2A/t, hence that of x with
// e^(-alpha*rho1(x,y)) times that, and these add up to at most 1. Solve for A.
// (IKWAT22 Theorem 3 is the case x in S.)
type Packed struct {
	X      int
	Points []int
}

// Prove implements [Witness]. It computes t itself. O(|S|^2).
func (w Packed) Prove(ctx context.Context, b metric.Bimetric, alpha float64) (float64, error) {
	const op = "entropy: Packed.Prove"
	if err := checkWitness(op, b, alpha, w.X, "Points", w.Points...); err != nil {
		return 0, err
	}
	if err := fault.Empty(op, "Points", len(w.Points)); err != nil {
		return 0, err
	}
	return w.value(ctx, b, alpha), ctx.Err()
}

// value is 0 where ctx is done.
func (w Packed) value(ctx context.Context, b metric.Bimetric, alpha float64) float64 {
	t, sum := math.Inf(1), 0.0
	for i, y := range w.Points {
		if ctx.Err() != nil {
			return 0
		}
		for _, z := range w.Points[:i] {
			t = min(t, b.Utility.Distance(y, z))
		}
		sum = directed.AddDown(sum, directed.ExpDown(-directed.MulUp(alpha, b.Privacy.Distance(w.X, y))))
	}
	if math.IsInf(t, 1) || sum <= 1 {
		return 0 // nothing is proved
	}
	return roundOff(directed.MulDown(t/2, directed.SubDown(1, directed.DivUp(1, sum))))
}

// The search for packings, that is for x and S of [Packed]. What it finds it
// values in plain float64 arithmetic; Packed proves.

const (
	// Every point of a space of up to allCenters points is tried as x,
	// otherwise some spread over the indices and some spread over the space.
	allCenters  = 128
	someCenters = 48
	farCenters  = 16
	// From x, all of up to allCandidates points are looked at, otherwise a
	// quarter of that number of the nearest and the rest spread over the ranks.
	allCandidates = 1024
	// The threshold t of one greedy set is at least this factor above the one
	// before, but for spaces of up to allThresholds points.
	thresholdStep = 1.08
	allThresholds = 48
	// How many sets, with different x, are kept.
	keptPackings = 6
	// A greedy set is closed when its sum has reached sumEnough (then a larger
	// t is the way to more), and when what is left cannot add the fraction
	// sumRest of what the sum has above 1, or needs for floor.
	sumEnough = 16
	sumRest   = 1e-2
)

// packing is a candidate for Packed with its value.
type packing struct {
	Packed
	v float64
}

// packingValue is the bound of [Packed] for a separation and a sum of weights.
func packingValue(t, sum float64) float64 {
	if !(sum > 1) || math.IsInf(t, 1) {
		return 0
	}
	return t / 2 * (1 - 1/sum)
}

// bestPackings returns some packings for one level, the best first. Values
// below floor need not be found.
//
// For every center x the points are ranked by e^(-alpha*rho1(x,.)), and for
// thresholds t from 2*floor upward, because no smaller one gives more than
// floor, the greedy set of pairwise distances >= t is taken, with x and
// without. O(n log n) time a center and n*|S| for each threshold.
func bestPackings(ctx context.Context, b metric.Bimetric, alpha, floor float64, workers int) ([]packing, error) {
	centers, err := packingCenters(ctx, b.Privacy)
	if err != nil {
		return nil, err
	}
	found := make([]packing, len(centers))
	err = parallel.Chunks(ctx, len(centers), 1, workers, nil, func(c, _, _ int) {
		found[c] = greedyPacking(ctx, b, alpha, floor, centers[c])
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(found, func(p, q packing) int { return cmp.Compare(q.v, p.v) })
	k := 0
	for k < min(len(found), keptPackings) && found[k].v > 0 {
		k++
	}
	return found[:k], nil
}

func packingCenters(ctx context.Context, f metric.Finite) ([]int, error) {
	n := f.Len()
	var out []int
	if n <= allCenters {
		for x := range n {
			out = append(out, x)
		}
		return out, nil
	}
	far, _, err := metric.FarthestFirst(ctx, f, farCenters, 0)
	for k := range someCenters {
		out = append(out, k*n/someCenters)
	}
	out = append(out, far...)
	slices.Sort(out)
	return slices.Compact(out), err
}

// greedyPacking returns the best greedy packing as seen from x.
func greedyPacking(ctx context.Context, b metric.Bimetric, alpha, floor float64, x int) packing {
	n := b.Len()
	r1 := finite.Row(b.Privacy, x, nil)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int { return cmp.Or(cmp.Compare(r1[i], r1[j]), cmp.Compare(i, j)) })
	if n > allCandidates {
		const near, spread = allCandidates / 4, allCandidates - allCandidates/4
		for k := range spread {
			order[near+k] = order[near+k*(n-near)/spread]
		}
		order, n = order[:allCandidates], allCandidates
	}
	weight := make([]float64, n)
	for k, i := range order {
		weight[k] = math.Exp(-alpha * r1[i])
	}
	step := thresholdStep
	if n <= allThresholds {
		step = 1
	}
	best := packing{Packed: Packed{X: x}}
	var set []int
	for skip := range 2 {
		t := 2 * floor
		for ctx.Err() == nil {
			set = set[:0]
			least, sum := math.Inf(1), 0.0
		next:
			for k := skip; k < n; k++ {
				if sum > sumEnough || weight[k]*float64(n-k) < sumRest*max(sum-1, 2*floor/t) {
					break
				}
				near := math.Inf(1)
				for _, j := range set {
					d := b.Utility.Distance(order[k], j)
					if d < t {
						continue next
					}
					near = min(near, d)
				}
				set, sum, least = append(set, order[k]), sum+weight[k], min(least, near)
			}
			if len(set) < 2 {
				break
			}
			if v := packingValue(least, sum); v > best.v {
				best.v, best.Points = v, slices.Clone(set)
			}
			t = max(step*t, math.Nextafter(least, math.Inf(1)))
		}
	}
	return best
}

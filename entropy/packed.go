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
	t, err := leastDistance(ctx, b.Utility, w.Points)
	sum := 0.0
	for _, y := range w.Points {
		sum = directed.AddDown(sum, directed.ExpDown(-directed.MulUp(alpha, b.Privacy.Distance(w.X, y))))
	}
	if err != nil || math.IsInf(t, 1) || sum <= 1 {
		return 0, err // nothing is proved
	}
	return roundOff(directed.MulDown(t/2, directed.SubDown(1, directed.DivUp(1, sum)))), nil
}

// leastDistance is the least distance of two of the points, +Inf where there
// are none. O(|points|^2).
func leastDistance(ctx context.Context, f metric.Finite, points []int) (float64, error) {
	t := math.Inf(1)
	for i, y := range points {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		for _, z := range points[:i] {
			t = min(t, f.Distance(y, z))
		}
	}
	return t, nil
}

// The search for packings, in plain float64 arithmetic; Packed proves.

const (
	// packingCenters points spread over the space are tried as x, and from each
	// the packingCandidates nearest points are looked at.
	packingCenters    = 128
	packingCandidates = 1024
	// The threshold t of one greedy set is at least this factor above the one
	// before.
	thresholdStep = 1.08
	// How many sets, with different x, are kept.
	keptPackings = 6
	// A greedy set is closed when what is left cannot add the fraction sumRest
	// of what the sum has above 1, or needs for floor.
	sumRest = 1e-2
)

// packing is a candidate for Packed with its value.
type packing struct {
	Packed
	v float64
}

// bestPackings returns some packings for one level, the best first. Values
// below floor need not be found.
//
// For every center x the points are ranked by e^(-alpha*rho1(x,.)), and for
// thresholds t from 2*floor upward, because no smaller one gives more than
// floor, the greedy set of pairwise distances >= t is taken, with x and
// without. O(n log n) time a center and n*|S| for each threshold.
func bestPackings(ctx context.Context, b metric.Bimetric, alpha, floor float64, workers int) ([]packing, error) {
	centers, _, err := metric.FarthestFirst(ctx, b.Privacy, min(b.Len(), packingCenters), 0)
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
	found = slices.DeleteFunc(found, func(p packing) bool { return p.v == 0 })
	slices.SortStableFunc(found, func(p, q packing) int { return cmp.Compare(q.v, p.v) })
	return found[:min(len(found), keptPackings)], nil
}

// greedyPacking returns the best greedy packing as seen from x.
func greedyPacking(ctx context.Context, b metric.Bimetric, alpha, floor float64, x int) packing {
	r1 := finite.Row(b.Privacy, x, nil)
	order := ascending(r1)
	n := min(len(order), packingCandidates)
	best := packing{Packed: Packed{X: x}}
	for skip := range 2 {
		t := 2 * floor
		for ctx.Err() == nil {
			var set []int
			least, sum := math.Inf(1), 0.0
		next:
			for k := skip; k < n; k++ {
				y := order[k]
				weight := math.Exp(-alpha * r1[y])
				if weight*float64(n-k) < sumRest*max(sum-1, 2*floor/t) {
					break
				}
				near := math.Inf(1)
				for _, z := range set {
					d := b.Utility.Distance(y, z)
					if d < t {
						continue next
					}
					near = min(near, d)
				}
				set, sum, least = append(set, y), sum+weight, min(least, near)
			}
			if len(set) < 2 {
				break
			}
			if v := least / 2 * (1 - 1/sum); v > best.v {
				best.v, best.Points = v, set
			}
			t = max(thresholdStep*t, math.Nextafter(least, math.Inf(1)))
		}
	}
	return best
}

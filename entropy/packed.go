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
	// How many greedy sets, with different x, are improved by exchange.
	improved = 6
	// A greedy set is closed when its sum has reached sumEnough (then a larger t
	// is the way to more), and when what is left cannot add the fraction sumRest
	// of what the sum has above 1, or needs for floor.
	sumEnough = 16
	sumRest   = 1e-2
	// Larger sets are not improved: 2n numbers are kept for each of their points.
	maxExchange = 64
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
// without. The best sets of all are improved by exchange. O(n log n) time a
// center and n*|S| for each threshold.
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
	found = topPackings(found)
	err = parallel.Chunks(ctx, len(found), 1, workers, nil, func(c, _, _ int) {
		found[c] = improvePacking(ctx, b, alpha, found[c])
	})
	return topPackings(found), err
}

// topPackings sorts by value, and keeps the first few that have one.
func topPackings(found []packing) []packing {
	slices.SortStableFunc(found, func(p, q packing) int { return cmp.Compare(q.v, p.v) })
	k := 0
	for k < min(len(found), improved) && found[k].v > 0 {
		k++
	}
	return found[:k]
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

// improvePacking improves a packing while it can: it inserts a point, removes one,
// replaces one by another, or moves x, whichever gains most. O(n*|S|) a step.
func improvePacking(ctx context.Context, b metric.Bimetric, alpha float64, p packing) packing {
	if len(p.Points) > maxExchange {
		return p
	}
	n := b.Len()
	e := exchanger{b: b, alpha: alpha, sum: make([]float64, n), near: make([]nearestTwo, n)}
	for _, y := range p.Points {
		e.insert(y)
	}
	x, v := p.X, p.v
	for ctx.Err() == nil {
		x = e.bestCenter(x)
		out, in, u := e.bestMove(x)
		if !(u > v*(1+1e-12)) { // strictly up, so that it ends
			break
		}
		v = u
		if out >= 0 {
			e.remove(out)
		}
		if in >= 0 {
			e.insert(in)
		}
	}
	p.X, p.Points = x, e.points
	p.v = Packed{p.X, p.Points}.value(ctx, b, alpha)
	return p
}

// exchanger keeps the distances and weights of the points of a packing.
type exchanger struct {
	b      metric.Bimetric
	alpha  float64
	points []int
	far    [][]float64 // far[k][z] = rho2(points[k], z)
	weight [][]float64 // weight[k][z] = e^(-alpha*rho1(points[k], z))
	sum    []float64   // sum[z] over k of weight[k][z]
	near   []nearestTwo
}

// nearestTwo are the distances of a point to the two nearest of the packing, other
// than itself, and which is the nearest.
type nearestTwo struct {
	k      int
	d1, d2 float64
}

func (e *exchanger) insert(y int) {
	w := finite.Row(e.b.Privacy, y, nil)
	for z, d := range w {
		w[z] = math.Exp(-e.alpha * d)
		e.sum[z] += w[z]
	}
	e.points = append(e.points, y)
	e.far = append(e.far, finite.Row(e.b.Utility, y, nil))
	e.weight = append(e.weight, w)
	e.update()
}

func (e *exchanger) remove(k int) {
	for z, w := range e.weight[k] {
		e.sum[z] -= w
	}
	e.points = slices.Delete(e.points, k, k+1)
	e.far = slices.Delete(e.far, k, k+1)
	e.weight = slices.Delete(e.weight, k, k+1)
	e.update()
}

func (e *exchanger) update() {
	for z := range e.near {
		e.near[z] = nearestTwo{-1, math.Inf(1), math.Inf(1)}
	}
	for k, row := range e.far {
		for z, d := range row {
			switch v := &e.near[z]; {
			case z == e.points[k]:
			case d < v.d1:
				*v = nearestTwo{k, d, v.d1}
			case d < v.d2:
				v.d2 = d
			}
		}
	}
}

// bestCenter returns the point with the largest sum of weights, x where it ties.
func (e *exchanger) bestCenter(x int) int {
	for z, s := range e.sum {
		if s > e.sum[x] {
			x = z
		}
	}
	return x
}

// without returns the separation of the packing without its k-th point (-1:
// with all).
func (e *exchanger) without(k int) float64 {
	t := math.Inf(1)
	for i, y := range e.points {
		switch v := e.near[y]; {
		case i == k:
		case v.k == k:
			t = min(t, v.d2)
		default:
			t = min(t, v.d1)
		}
	}
	return t
}

// bestMove returns the position to remove, the point to insert (-1: none), and
// the value of the packing then.
func (e *exchanger) bestMove(x int) (out, in int, v float64) {
	out, in, v = -1, -1, packingValue(e.without(-1), e.sum[x])
	member := make([]bool, len(e.near))
	for _, y := range e.points {
		member[y] = true
	}
	w := finite.Row(e.b.Privacy, x, nil)
	for z, d := range w {
		w[z] = math.Exp(-e.alpha * d)
	}
	for k := -1; k < len(e.points); k++ {
		t, s := e.without(k), e.sum[x]
		if k >= 0 {
			s -= w[e.points[k]]
			if u := packingValue(t, s); u > v {
				out, in, v = k, -1, u
			}
		}
		for z, near := range e.near {
			d := near.d1
			if near.k == k {
				d = near.d2
			}
			if member[z] || k < 0 && len(e.points) == maxExchange {
				continue
			}
			if u := packingValue(min(t, d), s+w[z]); u > v {
				out, in, v = k, z, u
			}
		}
	}
	return out, in, v
}

package families

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/entropy/internal/spaces"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// The proof of MeasureBound, with the letters of measureBound. For t_i in [0,1] let mu_t put the
// mass w_i (1-t_i) on x_i and w_i t_i on y_i, and what is left on some fixed point. As a function
// of t_i alone a mechanism is beta-private. The bumps max(0, r(z)-rho(z,.)) of the points z of the
// set are disjoint, and low enough for the sum of those of all y_i less those of all x_i to be
// 1-Lipschitz with any signs of the pairs. With the best signs W1(mu_t, nu) is at least the sum of
// w_i (r(x_i)+r(y_i)) |t_i-b_i(nu)|, where b_i does not depend on t. Draw the t_i independently
// from a least favorable prior on [0,1]: b_i, moved into [0,1], errs by A1(beta) at least on
// average. (With t_i in {0,1}, where A1 is 1/(1+e^beta), this is Assouad's lemma.) On data sets of
// N records, k of which a pair has, t_i is a multiple of 1/k and a step costs what one record does:
// b_i errs by P/k, P the optimal accuracy of a path of k gaps.

// MeasureBound is a lower bound on the accuracy of private measures, of synthetic data and of
// users' distributions: no mechanism of the stated privacy that takes and returns probability
// measures on a space has a worst expected W1 error below Value, in units of the metric. The pairs
// of points are its witness.
type MeasureBound struct {
	Value float64
	Pairs [][2]int
	// Transport is true for privacy in W1, false for that in total variation.
	Transport bool
	// Records is N where the bound is one on data sets, otherwise 0.
	Records int
}

// PrivateMeasureBound returns a lower bound on the worst expected W1 error of any mechanism
// from the probability measures on f to themselves that is alpha-private in the total
// variation TV (half the l1 norm): BSV22 Theorem 8.5 with explicit constants. 2m points at
// distances >= t prove t/(2 + alpha/m) at least. It falls with alpha, and is half the
// diameter at most. O(n^2) time, at most 2^27 distances; O(n) memory.
func PrivateMeasureBound(ctx context.Context, f metric.Finite, alpha float64) (MeasureBound, error) {
	return measureBound(ctx, "families: PrivateMeasureBound", f, alpha, MeasureBound{})
}

// PrivateTransportBound is [PrivateMeasureBound] for mechanisms that are alpha-private in W1, per
// unit of the distance of f. A release of how the items of n users are distributed, a-private for
// each user of any number of items under the earth mover's distance, is one for alpha = a*n. In d
// dimensions the bound follows alpha^(-1/(d+1)). Sets have at most 2048 points.
func PrivateTransportBound(ctx context.Context, f metric.Finite, alpha float64) (MeasureBound, error) {
	return measureBound(ctx, "families: PrivateTransportBound", f, alpha, MeasureBound{Transport: true})
}

// PrivateDataBound is [PrivateMeasureBound] for data sets of so many records, points of f,
// and mechanisms that are eps-private when one record is replaced, with the error from the
// empirical measure: BSV22 Theorem 8.6 with explicit constants. 2m points at distances >= t
// prove, with k = records/m rounded down, at least
//
//	t (k m/records) / (sinh(eps) (k + coth(eps/2))).
func PrivateDataBound(ctx context.Context, f metric.Finite, records int, eps float64) (MeasureBound, error) {
	const op = "families: PrivateDataBound"
	if records < 1 {
		return MeasureBound{}, fault.Value(op, "records", float64(records), "at least 1")
	}
	if err := fault.Positive(op, "eps", eps); err != nil {
		return MeasureBound{}, err
	}
	alpha := min(directed.MulUp(eps, float64(records)), math.MaxFloat64)
	return measureBound(ctx, op, f, alpha, MeasureBound{Records: records})
}

// PrivateCubeBound is the best of [PrivateDataBound] on the grids of the cube [0,1]^dim, in
// closed form, for the largest difference of a coordinate or any larger norm: of the order
// (eps*records)^(-1/dim) (BSV22 Corollary 9.4 with a constant), rounded downward. For
// records = 0 it is that of private measures at level eps per unit of total variation,
// [PrivateMeasureBound] (Corollary 9.3). dim >= 1, eps > 0.
func PrivateCubeBound(dim, records int, eps float64) (float64, error) {
	const op = "families: PrivateCubeBound"
	switch {
	case dim < 1:
		return 0, fault.Value(op, "dim", float64(dim), "at least 1")
	case records < 0:
		return 0, fault.Value(op, "records", float64(records), "at least 0")
	}
	if err := fault.Positive(op, "eps", eps); err != nil {
		return 0, err
	}
	w, alpha := MeasureBound{Records: records}, eps
	if records > 0 {
		alpha = min(directed.MulUp(eps, float64(records)), math.MaxFloat64)
	}
	best, by := 0.0, make(map[int]float64)
	for side := 2.0; ; side = math.Ceil(side * 1.03) { // of a grid of points 1/(side-1) apart
		const most = 1 << 30 // pairs
		points := 1.0
		for a := 0; a < dim && points < 2*most; a++ {
			points *= side
		}
		pairs := int(min(points/2, most))
		v := 0.0
		if records > 0 { // with fewer pairs fewer records may be left over
			pairs = min(pairs, records)
			v = w.accuracy(alpha, max(1, records/(records/pairs+1)), 0, by)
		}
		v = directed.DivDown(max(v, w.accuracy(alpha, pairs, float64(pairs), by)), side-1)
		if v <= best && (pairs == most || pairs == records) {
			return roundOff(best), nil
		}
		best = max(best, v)
	}
}

// accuracy is a lower bound of A, times the sum of the masses, for m pairs at level alpha.
// costs is the sum of 1/cost over them, rounded down, and by what was computed, by k.
func (w MeasureBound) accuracy(alpha float64, m int, costs float64, by map[int]float64) float64 {
	if w.Records == 0 {
		return spaces.LineMinimax(directed.DivUp(alpha, costs))
	}
	k, n := w.Records/m, float64(w.Records)
	if _, ok := by[k]; !ok {
		by[k] = pathMinimax(k, directed.DivUp(alpha, n))
	}
	return directed.DivDown(directed.MulDown(float64(m), by[k]), n)
}

// The search spends at most measureWork distances on farthest-first points, and
// pairs of near points are sought among transportPoints.
const (
	measureWork     = 1 << 26
	transportPoints = 2048
)

// measureBound finds the best set.
//
// Value rests on m pairs (x_i, y_i) of points of (T, rho): with r half of a point's distance to
// the nearest other one of the set,
//
//	Value = sum_i w_i A (r(x_i) + r(y_i)).
//
// For measures the w_i add up to 1, 1/m in total variation, in proportion to 1/rho(x_i,y_i) in W1,
// and A is the optimal accuracy of [0,1] at the level of moving one from x_i to y_i. For N records
// w_i = k/N, k the integer part of N/m, and A is 1/k of that of a path of k gaps at eps each.
func measureBound(ctx context.Context, op string, f metric.Finite, alpha float64, w MeasureBound) (MeasureBound, error) {
	if err := cmp.Or(fault.Positive(op, "alpha", alpha), spaces.CheckMetric(op, f)); err != nil {
		return MeasureBound{}, err
	}
	_, start, _, err := metric.Diameter(ctx, f)
	if err != nil {
		return MeasureBound{}, err
	}
	n := f.Len()
	k := min(n, max(2, measureWork/n))
	if w.Transport {
		k = min(k, transportPoints)
	}
	order, radii, err := metric.FarthestFirst(ctx, f, k, start)
	if err != nil {
		return MeasureBound{}, err
	}
	best, by := w, make(map[int]float64)
	near := make([]float64, k) // distance to the nearest other point so far
	next := 2
	for i, y := range order {
		if i > 0 && !(radii[i] > 0) {
			break // points that coincide
		}
		near[i] = math.Inf(1)
		for j, z := range order[:i] {
			d := f.Distance(y, z)
			near[i], near[j] = min(near[i], d), min(near[j], d)
		}
		if i+1 < next && i+1 < k || i == 0 {
			continue
		}
		if err := ctx.Err(); err != nil {
			return MeasureBound{}, err
		}
		next = i + 2 + i/16
		pairs := inOrder(near[:i+1])
		if w.Transport {
			next = i + 2 + i/8
			pairs = nearPairs(f, order[:i+1])
		}
		slices.SortStableFunc(pairs, func(p, q pair) int {
			return cmp.Compare(near[q.x]+near[q.y], near[p.x]+near[p.y])
		})
		sum, costs, count := 0.0, 0.0, 0 // of (r(x)+r(y))/cost and 1/cost
		for m, p := range pairs {
			cost := 1.0
			if w.Transport {
				cost = p.d
			}
			sum, costs = sum+(near[p.x]+near[p.y])/2/cost, costs+1/cost
			if v := w.accuracy(alpha, m+1, costs, by) / costs * sum; v > best.Value {
				best.Value, count = v, m+1
			}
		}
		if count > 0 {
			best.Pairs = nil
			for _, p := range pairs[:count] {
				best.Pairs = append(best.Pairs, [2]int{order[p.x], order[p.y]})
			}
		}
	}
	best.Value = best.prove(ctx, f, alpha)
	return best, ctx.Err()
}

// pair is two places of a set, and the distance of their points.
type pair struct {
	x, y int
	d    float64
}

// inOrder pairs the places in the order of near, the largest first.
func inOrder(near []float64) (pairs []pair) {
	rank := spaces.Ascending(near)
	slices.Reverse(rank)
	for j := 0; j+1 < len(rank); j += 2 {
		pairs = append(pairs, pair{x: rank[j], y: rank[j+1]})
	}
	return pairs
}

// nearPairs pairs each point of a set with the nearest that is left. O(k^2).
func nearPairs(f metric.Finite, set []int) (pairs []pair) {
	paired := make([]bool, len(set))
	for i, x := range set {
		best := pair{i, -1, math.Inf(1)}
		for j := i + 1; j < len(set) && !paired[i]; j++ {
			if paired[j] {
				continue
			}
			if d := f.Distance(x, set[j]); d < best.d {
				best.y, best.d = j, d
			}
		}
		if best.y >= 0 {
			paired[best.y] = true
			pairs = append(pairs, best)
		}
	}
	return pairs
}

// Prove computes Value afresh from the witness, for measures at level alpha,
// and rounds it downward: alpha = eps*Records for data sets. Pairs with a point
// twice, or at distance 0 in W1, and Records with Transport are refused. More pairs than
// records prove 0. O(len(Pairs)^2), and n^2 for up to 1024 points.
func (w MeasureBound) Prove(ctx context.Context, f metric.Finite, alpha float64) (float64, error) {
	const op = "families: MeasureBound.Prove"
	if err := cmp.Or(fault.Positive(op, "alpha", alpha), spaces.CheckMetric(op, f)); err != nil {
		return 0, err
	}
	if w.Records < 0 || w.Records > 0 && w.Transport {
		return 0, fault.Value(op, "Records", float64(w.Records), "0 or, in total variation, more")
	}
	seen := make(map[int]bool)
	for i, p := range w.Pairs {
		for _, y := range p {
			if y < 0 || y >= f.Len() || seen[y] {
				return 0, &fault.ValueError{Op: op, Arg: "Pairs", Index: i, Value: float64(y), Want: "different points of the space"}
			}
			seen[y] = true
		}
		if cost := w.cost(f, p); !(cost > 0) {
			return 0, &fault.ValueError{Op: op, Arg: "Pairs", Index: i, Value: cost, Want: "points at a distance > 0"}
		}
	}
	return w.prove(ctx, f, alpha), ctx.Err()
}

// cost is the distance of two measures that a unit of mass on one point of a pair
// makes when it moves to the other.
func (w MeasureBound) cost(f metric.Finite, p [2]int) float64 {
	if w.Transport {
		return f.Distance(p[0], p[1])
	}
	return 1
}

// roundOff gives up what the rounding of distances may cost a bound that rests
// on the triangle inequality, and never returns less than 0 (which a quotient
// below the least float64 is rounded to).
func roundOff(v float64) float64 { return max(0, directed.MulDown(v, spaces.SlackDown)) }

// prove is 0 where ctx is done.
func (w MeasureBound) prove(ctx context.Context, f metric.Finite, alpha float64) float64 {
	least, most := 0.0, 0.0 // the sum of 1/cost, rounded both ways
	for _, p := range w.Pairs {
		cost := w.cost(f, p)
		least, most = directed.AddDown(least, directed.DivDown(1, cost)), directed.AddUp(most, directed.DivUp(1, cost))
	}
	sum := 0.0
	for i, p := range w.Pairs {
		if ctx.Err() != nil {
			return 0
		}
		d := f.Distance(p[0], p[1])
		r := [2]float64{d, d}
		for j, q := range w.Pairs {
			if j == i {
				continue
			}
			for side, x := range p {
				r[side] = min(r[side], f.Distance(x, q[0]), f.Distance(x, q[1]))
			}
		}
		mass := directed.DivDown(1, directed.MulUp(most, w.cost(f, p)))
		sum = directed.AddDown(sum, directed.MulDown(mass, directed.AddDown(r[0], r[1])/2))
	}
	if sum == 0 {
		return 0
	}
	return roundOff(directed.MulDown(w.accuracy(alpha, len(w.Pairs), least, make(map[int]float64)), sum))
}

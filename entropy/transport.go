package entropy

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// TransportBound is a lower bound on the error of publishing a distribution with
// privacy under the earth mover's distance, with its witness: no mechanism from
// the probability measures on a space (T, rho) to themselves that is a-private in
// W1 has a worst expected W1 error below Value, in units of rho. A release of how
// the items of n users are distributed, alpha-private for each user under the earth
// mover's distance, is a-private at a = alpha*n, where all users hold the same.
//
// The witness is a set of points in pairs (x_i, y_i) at distances d_i, and beta.
// Let r be half of a point's distance to the nearest other one of the set. Then
//
//	Value = A1(beta) * sum_i beta/(a d_i) (r(x_i) + r(y_i)),
//
// A1 the optimal accuracy of the interval [0,1] at a level, if the masses w_i =
// beta/(a d_i) add up to 1 at most.
//
// Proof. For t_i in [0,1] let mu_t put the mass w_i (1-t_i) on x_i and w_i t_i on
// y_i, and what is left on some fixed point. A change of t_i moves it by w_i
// d_i |t_i-t'_i| = beta/a |t_i-t'_i|, so that a mechanism is beta-private as a
// function of t_i alone. The bumps max(0, r(z)-rho(z,.)) of the points z of the set
// are disjoint, and low enough for the sum of those of all y_i less those of all
// x_i to be 1-Lipschitz with any signs of the pairs. With the best signs W1(mu_t,
// nu) is at least the sum of w_i (r(x_i)+r(y_i)) |t_i-b_i(nu)|, where b_i does not
// depend on t. Draw the t_i independently from a least favorable prior on [0,1]:
// b_i, moved into [0,1], errs by A1(beta) at least on average.
type TransportBound struct {
	Value float64
	Pairs [][2]int
	Beta  float64
}

// PrivateTransportBound returns the best TransportBound found at level a > 0, per
// unit of the distance of f. Sets are prefixes of [metric.FarthestFirst], at most
// 2048 points, of which near ones are paired. The bound falls as a grows; it is
// 0 for a space of diameter 0. In d dimensions it follows a^(-1/(d+1)). O(n*k +
// k^2) distances for k points of the sets, O(n) memory.
func PrivateTransportBound(ctx context.Context, f metric.Finite, a float64) (TransportBound, error) {
	const op = "entropy: PrivateTransportBound"
	if err := fault.Positive(op, "a", a); err != nil {
		return TransportBound{}, err
	}
	if err := checkPoints(op, f); err != nil {
		return TransportBound{}, err
	}
	if err := checkDistances(op, f); err != nil {
		return TransportBound{}, err
	}
	_, start, _, err := metric.Diameter(ctx, f)
	if err != nil {
		return TransportBound{}, err
	}
	order, radii, err := metric.FarthestFirst(ctx, f, min(f.Len(), transportPoints), start)
	if err != nil {
		return TransportBound{}, err
	}
	var best TransportBound
	for m := 2; ; m = min(m+1+m/8, len(order)) {
		if m > len(order) || !(radii[m-1] > 0) { // points that coincide
			break
		}
		if err := ctx.Err(); err != nil {
			return TransportBound{}, err
		}
		if w := pairUp(f, order[:m], a); w.Value > best.Value {
			best = w
		}
		if m == len(order) {
			break
		}
	}
	best.Value = best.prove(f, a)
	return best, ctx.Err()
}

// transportPoints bounds the sets that are paired, in O(k^2) each.
const transportPoints = 2048

// pairUp pairs each point of a set with the nearest that is left, and takes the
// pairs of the widest bumps while there is mass.
func pairUp(f metric.Finite, set []int, a float64) TransportBound {
	type pair struct {
		at     [2]int
		d, gap float64 // distance of the two, sum of the radii
	}
	var pairs []pair
	near := make([]float64, len(set))
	mated := make([]bool, len(set))
	for i, x := range set {
		near[i] = math.Inf(1)
		d, k := math.Inf(1), -1
		for j, y := range set {
			if j == i {
				continue
			}
			r := f.Distance(x, y)
			near[i] = min(near[i], r)
			if j > i && !mated[j] && r < d {
				d, k = r, j
			}
		}
		if !mated[i] && k >= 0 {
			mated[i], mated[k] = true, true
			pairs = append(pairs, pair{at: [2]int{i, k}, d: d})
		}
	}
	for k, p := range pairs {
		pairs[k].gap = (near[p.at[0]] + near[p.at[1]]) / 2
	}
	slices.SortStableFunc(pairs, func(p, q pair) int { return cmp.Compare(q.gap, p.gap) })
	var best TransportBound
	count := 0
	inverse, sum := 0.0, 0.0
	for k, p := range pairs {
		inverse += 1 / p.d
		sum += p.gap / p.d
		most := float64(a) * (1 - 0x1p-40) / inverse // the beta that uses up the mass
		for _, l := range lineOptima {
			beta := min(l.beta, most)
			if v := lineMinimax(beta) * beta / a * sum; v > best.Value {
				best.Value, best.Beta, count = v, beta, k+1
			}
		}
		if v := lineMinimax(most) * most / a * sum; v > best.Value && most < 1e9 {
			best.Value, best.Beta, count = v, most, k+1
		}
	}
	for _, p := range pairs[:count] {
		best.Pairs = append(best.Pairs, [2]int{set[p.at[0]], set[p.at[1]]})
	}
	return best
}

// Prove computes Value afresh from the witness at level a, rounded downward. Pairs
// with a point twice or points at distance 0, and masses that add up to more than 1,
// are refused. O(len(Pairs)^2), and n^2 for up to 1024 points.
func (w TransportBound) Prove(ctx context.Context, f metric.Finite, a float64) (float64, error) {
	const op = "entropy: TransportBound.Prove"
	if err := checkPoints(op, f); err != nil {
		return 0, err
	}
	if err := cmp.Or(fault.Positive(op, "a", a), checkDistances(op, f)); err != nil {
		return 0, err
	}
	if len(w.Pairs) == 0 {
		return 0, ctx.Err()
	}
	if err := fault.Positive(op, "Beta", w.Beta); err != nil {
		return 0, err
	}
	seen := make(map[int]bool)
	mass := 0.0
	for i, p := range w.Pairs {
		for _, y := range p {
			if y < 0 || y >= f.Len() || seen[y] {
				return 0, &fault.ValueError{Op: op, Arg: "Pairs", Index: i, Value: float64(y), Want: "different points of the space"}
			}
			seen[y] = true
		}
		d := f.Distance(p[0], p[1])
		if !(d > 0) {
			return 0, &fault.ValueError{Op: op, Arg: "Pairs", Index: i, Value: d, Want: "points at a distance > 0"}
		}
		mass = directed.AddUp(mass, directed.DivUp(w.Beta, directed.MulDown(a, d)))
	}
	if !(mass <= 1) {
		return 0, fault.Value(op, "sum of the masses Beta/(a*distance)", mass, "at most 1")
	}
	return w.prove(f, a), ctx.Err()
}

func (w TransportBound) prove(f metric.Finite, a float64) float64 {
	sum := 0.0
	for i, p := range w.Pairs {
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
		mass := directed.DivDown(w.Beta, directed.MulUp(a, d))
		sum = directed.AddDown(sum, directed.MulDown(mass, directed.AddDown(r[0], r[1])/2))
	}
	return roundOff(directed.MulDown(lineMinimax(w.Beta), sum))
}

package entropy

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/entropy/internal/slack"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// MeasureBound is a lower bound on the accuracy of private measures and of
// synthetic data, with its witness: no mechanism of the stated privacy that
// takes and returns probability measures on a space (T, rho) has a worst
// expected W1 error below Value, in units of rho.
//
// The witness is a set of 2m points of T, in pairs (y_i, y_i'), and a mass p,
// m*p <= 1. Let s_y be the distance of y to the nearest other point of the set,
// s_i the smaller one in the i-th pair. Then
//
//	Value = sum_i s_i p/(1 + e^(alpha*p)).
//
// Proof (Assouad's lemma). For signs t_i let mu_t put mass p on y_i where t_i =
// 1 and on y_i' where t_i = -1, and what is left on some fixed point. Around
// each point of the set stands the bump h_y(z) = max(0, s_i/2 - rho(y,z)).
// Bumps of two points are disjoint, and they are low enough for sum_i
// +-(h_(y_i) - h_(y_i')) to be 1-Lipschitz for any signs +-. With the best
// signs, W1(mu_t, nu) >= sum_i |p*s_i/2*t_i - b_i(nu)|, where b_i(nu) does not
// depend on t. Two measures that differ in t_i alone are at total variation p,
// the distributions P, Q of their outputs have a common part of mass at least
// 2/(1+e^(alpha*p)), and on it the two errors of the i-th term add up to p*s_i
// or more. So their mean is at least p*s_i/(1+e^(alpha*p)). Take the mean over
// all t.
type MeasureBound struct {
	Value float64
	Pairs [][2]int
	Mass  float64 // p, of each pair
	// Records is p in records where the bound is one on data sets, otherwise 0.
	Records int
}

// PrivateMeasureBound returns a lower bound on the worst expected W1 error of
// any mechanism from the probability measures on f to themselves that is
// alpha-private in the total variation TV (half the l1 norm): P{M(mu) in S} <=
// e^(alpha*TV(mu,nu)) P{M(nu) in S}. It is BSV22 Theorem 8.5 with explicit
// constants, through the packing numbers of f: a set of 2m points at distances
// >= t proves
//
//	t*w/(1 + e^(alpha*w/m))  for every 0 < w <= 1,
//
// about t*min(1/2, 0.278*m/alpha). Sets are prefixes of [metric.FarthestFirst].
// Upper bounds come from covering numbers: tsp.CoveringIntegral.
//
// It falls as alpha grows, is half the diameter at most, and 0 for a space of
// diameter 0. Time O(n^2), of which at most 2^27 distances; O(n) memory.
func PrivateMeasureBound(ctx context.Context, f metric.Finite, alpha float64) (MeasureBound, error) {
	const op = "entropy: PrivateMeasureBound"
	if err := fault.Positive(op, "alpha", alpha); err != nil {
		return MeasureBound{}, err
	}
	return measureBound(ctx, op, f, func(m int) (mass float64, records int) {
		return min(bestMass/alpha, 1/float64(m)), 0
	}, alpha)
}

// PrivateDataBound is [PrivateMeasureBound] for the data sets of the given
// number of records, each a point of f, and mechanisms that are eps-private
// when one record is replaced: a lower bound on the worst expected W1 distance
// between a data set's empirical measure and the output. By group privacy that
// is alpha = eps*records in total variation; the masses are multiples of one
// record, so that the measures of the proof are data sets.
func PrivateDataBound(ctx context.Context, f metric.Finite, records int, eps float64) (MeasureBound, error) {
	const op = "entropy: PrivateDataBound"
	if records < 1 {
		return MeasureBound{}, fault.Value(op, "records", float64(records), "at least 1")
	}
	if err := fault.Positive(op, "eps", eps); err != nil {
		return MeasureBound{}, err
	}
	return measureBound(ctx, op, f, func(m int) (float64, int) {
		// p/(1+e^(eps*k)) rises up to the best k and falls from there.
		most := records / m
		k := int(max(1, min(float64(most), math.Floor(bestMass/eps))))
		if k < most && massFactor(float64(k+1), eps) > massFactor(float64(k), eps) {
			k++
		}
		if most == 0 {
			k = 0
		}
		return float64(k) / float64(records), k
	}, min(eps*float64(records), math.MaxFloat64))
}

// bestMass maximizes u/(1+e^u): e^u (u-1) = 1.
const bestMass = 1.2784645427610738

// massTol lets m masses, 1/m or k/records in float64, add up to 1. That p is
// off by a relative 2^-50 changes the bound by at most 2^-50 (1 + alpha*p), and
// what package slack leaves over, 2^-40, covers it for all alpha*p below 710,
// where the exponential overflows and the bound is 0.
const massTol = 0x1p-50

func massFactor(p, alpha float64) float64 { return p / (1 + math.Exp(alpha*p)) }

// measureWork bounds the distances spent on farthest-first points.
const measureWork = 1 << 26

// measureBound finds the best set; mass returns p for m pairs, 0 for none.
func measureBound(ctx context.Context, op string, f metric.Finite, mass func(m int) (float64, int), alpha float64) (MeasureBound, error) {
	if err := checkPoints(op, f); err != nil {
		return MeasureBound{}, err
	}
	n := f.Len()
	if err := checkDistances(op, f); err != nil {
		return MeasureBound{}, err
	}
	_, start, _, err := metric.Diameter(ctx, f)
	if err != nil {
		return MeasureBound{}, err
	}
	k := min(n, max(2, measureWork/n))
	order, _, err := metric.FarthestFirst(ctx, f, k, start)
	if err != nil {
		return MeasureBound{}, err
	}
	var best MeasureBound
	near := make([]float64, k) // distance to the nearest other point so far
	next := 2
	for i, y := range order {
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
		rank := allPoints(i + 1)
		slices.SortStableFunc(rank, func(a, b int) int { return cmp.Compare(near[b], near[a]) })
		sum, pairs := 0.0, 0
		for m := 1; 2*m <= len(rank); m++ {
			sum += near[rank[2*m-1]]
			p, records := mass(m)
			if v := sum * massFactor(p, alpha); v > best.Value {
				best.Value, best.Mass, best.Records, pairs = v, p, records, m
			}
		}
		if pairs > 0 {
			best.Pairs = best.Pairs[:0]
			for j := range pairs {
				best.Pairs = append(best.Pairs, [2]int{order[rank[2*j]], order[rank[2*j+1]]})
			}
		}
	}
	best.Value = best.prove(ctx, f, alpha)
	return best, ctx.Err()
}

// Prove computes Value afresh from the witness, for measures at level alpha,
// and rounds it downward: alpha = eps*records for data sets. Pairs with a point
// twice and a mass outside [0, 1/len(Pairs)] are refused. O(len(Pairs)^2).
func (w MeasureBound) Prove(ctx context.Context, f metric.Finite, alpha float64) (float64, error) {
	const op = "entropy: MeasureBound.Prove"
	if err := checkPoints(op, f); err != nil {
		return 0, err
	}
	if err := fault.Positive(op, "alpha", alpha); err != nil {
		return 0, err
	}
	m := float64(len(w.Pairs))
	if !(w.Mass >= 0 && m*w.Mass <= 1+massTol) {
		return 0, fault.Value(op, "Mass", w.Mass, "a mass in [0, 1/len(Pairs)]")
	}
	seen := make(map[int]bool)
	for i, p := range w.Pairs {
		for _, y := range p {
			if y < 0 || y >= f.Len() || seen[y] {
				return 0, &fault.ValueError{Op: op, Arg: "Pairs", Index: i, Value: float64(y), Want: "different points of the space"}
			}
			seen[y] = true
		}
	}
	return w.prove(ctx, f, alpha), ctx.Err()
}

// prove is 0 where ctx is done.
func (w MeasureBound) prove(ctx context.Context, f metric.Finite, alpha float64) float64 {
	sum := 0.0
	for i, p := range w.Pairs {
		if ctx.Err() != nil {
			return 0
		}
		s := f.Distance(p[0], p[1])
		for j, q := range w.Pairs {
			if j == i {
				continue
			}
			for _, z := range q {
				s = min(s, f.Distance(p[0], z), f.Distance(p[1], z))
			}
		}
		sum = directed.AddDown(sum, s)
	}
	e := directed.ExpUp(directed.MulUp(alpha, w.Mass))
	return roundOff(directed.MulDown(sum, directed.DivDown(w.Mass, directed.AddUp(1, e))))
}

// roundOff gives up what the rounding of distances may cost a bound that rests
// on the triangle inequality, and never returns less than 0 (which a quotient
// below the least float64 is rounded to).
func roundOff(v float64) float64 { return max(0, directed.MulDown(v, slack.Down)) }

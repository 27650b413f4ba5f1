package scale

import (
	"cmp"
	"context"
	"math"
	"sort"

	"github.com/metricdp/metricdp/entropy/internal/spaces"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// DimensionOptions tune [Dimension]. Nil and the zero value mean the defaults.
type DimensionOptions struct {
	// Coarse and Fine are the scales between which the dimension is seen, Coarse at least twice
	// Fine. The default of Coarse is a quarter of the distance of two points at least half the
	// diameter apart, that of Fine where the count reaches a quarter of the points: beyond, the
	// sample is seen and not what it is a sample of.
	Coarse, Fine float64
}

// DimensionEstimate is what [Dimension] found.
type DimensionEstimate struct {
	// D is ln(k(Fine)/k(Coarse))/ln(Coarse/Fine), k(s) being the number of
	// farthest-first points that are more than s apart: N(2s) <= k(s) <= N(s).
	D float64
	// Slope encloses that of the packing numbers of the points,
	// ln(N(Fine)/N(Coarse))/ln(Coarse/Fine): a proof. With N(s) about s^-D it is
	// 2 D ln 2/ln(Coarse/Fine) wide.
	Slope        Interval
	Coarse, Fine float64
	Counts       [2]int // k(Coarse) and k(Fine)
}

// The rates of Dimension. Below, families.PrivateMeasureBound: 2m points t apart prove
// t/(2+alpha/m); t = alpha^(-1/d) has m = alpha^(1-o(1)), and m = 1 proves 1/alpha. Above, the
// private measure on a maximal t-net errs by t for the net and by O(log^1.5/alpha) times the
// covering integral from t to 1 (BSV22, Theorem 7.2), which is t^(1-d+o(1)) for d >= 1 and O(1) for
// d < 1: take t = alpha^(-1/max(d,1)). n records that change one at a time, at a level eps that
// stays bounded, have the rates of measures at level eps*n: families.PrivateDataBound. Under W1, m
// pairs t apart may each move a mass 1/(alpha*t) against each other at the cost of a constant
// level, which takes m <= alpha*t: an error of order m*t/(alpha*t) >= t^(1+o(1)) at t =
// alpha^(-1/(d+1)). Above, measures are t-close to those on a t-net with masses in multiples of t,
// of which there are exp(N(t)^(1+o(1))): the entropic scale is about t as soon as N(t) <= alpha*t,
// and the exponential mechanism attains it but for 1/alpha (BSV24, Lemma 4.1).

// Dimension returns the Minkowski dimension of f between two scales, the d of packing numbers N(s)
// that grow like s^-d. It is no limit: the rim of a box lowers it. Where N(s) = s^(-d+o(1)) for s
// towards 0, the worst expected W1 error of the best mechanism in units of the diameter is, up to
// a factor alpha^(o(1)),
//
//	measures, private in total variation   alpha^(-1/max(d,1))       (after BSV22, 9.5)
//	synthetic data of n records, eps-DP    (eps*n)^(-1/max(d,1))     (after BSV22, 9.6)
//	measures, private in W1                alpha^(-1/(d+1))
//
// The enclosure takes the triangle inequality to hold up to [metric.DefaultTolerance]. Too few
// points, or a Fine that they do not resolve, is a [*metric.ValueError]. O(n^2) distances up to
// 11,585 points, 2^27 beyond, O(n) memory.
func Dimension(ctx context.Context, f metric.Finite, o *DimensionOptions) (*DimensionEstimate, error) {
	const op = "scale: Dimension"
	o = spaces.OrDefault(o)
	if err := cmp.Or(fault.NonNegative(op, "Coarse", o.Coarse), fault.NonNegative(op, "Fine", o.Fine), spaces.CheckMetric(op, f)); err != nil {
		return nil, err
	}
	n := f.Len()
	k := min(n, max(2, dimensionWork/n))
	_, radii, err := metric.FarthestFirst(ctx, f, k, 0)
	if err != nil {
		return nil, err
	}
	// Half a scale must be counted for the upper end of N.
	const half = spaces.SlackDown / 2
	least := radii[k] / half
	e := &DimensionEstimate{Coarse: cmp.Or(o.Coarse, radii[1]/4), Fine: cmp.Or(o.Fine, max(radii[min((n+3)/4, k)], least))}
	if !(e.Fine > 0 && e.Fine >= least) {
		return nil, fault.Value(op, "Fine", e.Fine, "a scale that the points resolve")
	}
	if !(e.Coarse/2 >= e.Fine) {
		return nil, fault.Value(op, "Coarse", e.Coarse, "at least twice Fine: the points show no two scales")
	}
	count := func(s float64) int { return sort.Search(k, func(m int) bool { return radii[m] <= s }) }
	e.Counts = [2]int{count(e.Coarse), count(e.Fine)}
	e.D = math.Log(float64(e.Counts[1])/float64(e.Counts[0])) / (math.Log(e.Coarse) - math.Log(e.Fine))

	rise := func(fine, coarse int) (lo, hi float64) {
		a, b := float64(fine), float64(coarse)
		return directed.SubDown(directed.LogDown(a), directed.LogUp(b)), directed.SubUp(directed.LogUp(a), directed.LogDown(b))
	}
	lo, _ := rise(e.Counts[1], count(half*e.Coarse))
	_, hi := rise(count(half*e.Fine), e.Counts[0])
	narrow := directed.SubDown(directed.LogDown(e.Coarse), directed.LogUp(e.Fine))
	wide := directed.SubUp(directed.LogUp(e.Coarse), directed.LogDown(e.Fine))
	e.Slope = Interval{max(0, directed.DivDown(lo, wide)), directed.DivUp(hi, narrow)}
	return e, nil
}

// dimensionWork bounds the distances of Dimension.
const dimensionWork = 1 << 27

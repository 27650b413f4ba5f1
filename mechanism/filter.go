package mechanism

import (
	"math"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/search"
)

// lossFilter is the privacy filter of a [Budget]: it counts releases by their Rényi divergence of one order,
// 1 + Order, between inputs Reach apart.
//
// A release of level a is at most D(u) = ln(cosh((Order + 1/2) u)/cosh(u/2))/Order, u = a Reach, that of
// randomized response of level u, and at most (Order+1) u^2/2 (Bun, Steinke 2016). Where the D of all
// releases add up to at most B, whatever the outputs so far decide, the mean of the likelihood ratio to the
// power 1 + Order, times e^(-Order D) of what was released, never grows from 1, so that all together are of
// divergence B (Feldman, Zrnic 2021, "Individual privacy accounting via a Rényi filter"), and (B +
// ln(1/delta)/Order, delta) (Mironov 2017). Half of the limit's delta is for that, and half for the deltas
// of the releases, on which all is conditioned.
//
// At a distance t Reach, t <= 1, the same holds with t times each part, so that the limit is one per unit:
// at the order 1 + Order' = (1 + Order)/t is D'(t u) <= t D(u), as both are means of tanh times the length,
// over intervals about (1+Order) u/2, and tanh is concave; and ln(1/delta)/Order' <= t ln(1/delta)/Order.
type lossFilter struct {
	Order float64 `json:"order"`
	Reach float64 `json:"reach"`
}

// newLossFilter has the order at which most small releases fit in the limit: m such that E m^2
// = L (2m + 1), E the limit's eps and L = ln(2/delta), makes (E - L/m)/(m + 1) greatest.
func newLossFilter(limit Guarantee) *lossFilter {
	e := float64(limit.alpha * limit.reach)
	l := math.Log(2 / limit.delta)
	return &lossFilter{Order: (l + float64(math.Sqrt(l)*math.Sqrt(l+e))) / e, Reach: limit.reach}
}

// rest is the part of eps that the conversion takes, rounded up.
func (f *lossFilter) rest(limit Guarantee) float64 {
	return directed.DivUp(directed.LogUp(directed.DivUp(2, limit.delta)), f.Order)
}

// most is what divergences and deltas may add up to, rounded down.
func (f *lossFilter) most(limit Guarantee) Guarantee {
	eps := directed.MulDown(limit.alpha, f.Reach)
	limit.alpha = max(0, directed.SubDown(eps, f.rest(limit)))
	limit.delta /= 2
	return limit
}

// cost is the divergence of a release of that level, rounded up: ln cosh(x) is x + ln(1 + e^-2x) - ln 2.
func (f *lossFilter) cost(level float64) float64 {
	u := directed.MulUp(level, f.Reach)
	if !(u <= math.MaxFloat64) {
		return math.Inf(1)
	}
	more := directed.Log1pUp(directed.ExpUp(-directed.MulDown(directed.AddDown(2*f.Order, 1), u)))
	less := directed.Log1pDown(directed.ExpDown(-u))
	d := directed.AddUp(u, directed.DivUp(directed.SubUp(more, less), f.Order))
	return min(u, d, directed.MulUp(directed.AddUp(f.Order, 1)/2, directed.MulUp(u, u)))
}

// level is the largest level, to some digits and rounded down, of at most that cost.
func (f *lossFilter) level(cost float64) float64 {
	if !(cost > 0) {
		return 0
	}
	hi := cost / f.Reach
	for f.cost(hi) <= cost && hi < math.MaxFloat64/4 {
		hi *= 2
	}
	lo, _ := search.Change(0, hi, 1e-12, func(level float64) bool { return f.cost(level) > cost })
	return lo
}

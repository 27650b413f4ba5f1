package accountant

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// path is the bound for a user who changes m items one after the other. If the i-th step has
// (eps_i, delta_i), then all together have
//
//	E = sum of eps_i,  Delta = sum of delta_i e^(eps_(i+1) + .. + eps_m).
//
// Equal eps_i are not the best: the outputs that show most are rare before the first step and less
// so before each next one. For Gaussian noise eps_i falls linearly. So, with s the sum of the
// distances before a step and W of all,
//
//	eps_i = K(s+d_i) - K(s),  K(s) = (alpha/m) ((1+bend) s - bend s^2/W),
//
// 0 <= bend <= 1: the eps_i sum to E = alpha W/m, as they may, whatever the distances (and to no
// more where W is above the number in K), and it remains to bound
//
//	Delta = sum over i of h(s_i, c_i),  h(s, c) = e^(E-K(s+d_c)) delta_c(K(s+d_c)-K(s)),
//
// c_i the kind of step i. If every step has the same distance, s is i d. Else the steps can be
// ordered so that s_i is within D, the largest distance, of i W/m: a long step where the sum is
// behind and a short one where it is ahead. Then with h_i(c) the largest h for such s, and for any
// price B >= 0 per unit of distance,
//
//	Delta <= sum over i of max over c of (h_i(c) - B d_c)_+ + B W.
type path struct {
	records, items int64
	kinds          []*change // by distance
	far            float64   // the largest distance
	second         float64   // the next, 0 if there is one only
}

func newPath(u users, kinds []*change) *path {
	p := &path{records: u.records, items: u.items, kinds: slices.Clone(kinds)}
	slices.SortStableFunc(p.kinds, func(a, b *change) int { return cmp.Compare(a.distance, b.distance) })
	p.far = p.kinds[len(p.kinds)-1].distance
	for _, c := range p.kinds {
		if c.distance < p.far {
			p.second = c.distance
		}
	}
	return p
}

// leg is the question whether Delta is at most e^target wherever the items' distances add up to
// between least and sum. exact: they are steps of the largest distance, at most steps of them.
type leg struct {
	rate, least, sum float64
	steps            int64
	exact            bool
}

// rises is K(s).
func (g leg) rises(s, bend float64) float64 {
	return float64(g.rate * s * math.FMA(-bend, s/g.least, 1+bend))
}

const (
	// blocks is how many parts the steps are looked at in.
	blocks = 128
	// stopWidth is the relative width of a range of sums that is not halved again.
	stopWidth = 1e-3
	// pathErr bounds what roundings do to a sum of steps, relatively.
	pathErr = 0x1p-38
)

// bends is how many bends above 0 are tried, up to 1.
const bends = 16

// proves reports that at level alpha per unit of d_EM delta is at most e^target.
func (p *path) proves(ctx context.Context, alpha, target float64) (bool, error) {
	per := alpha / float64(p.items) * (1 - pathErr)
	return p.within(ctx, float64(p.items)*p.far, target, func(float64) float64 { return per })
}

func (p *path) provesOf(ctx context.Context, eps, total, target float64) (bool, error) {
	return p.within(ctx, total, target, func(sum float64) float64 { return eps / sum * (1 - pathErr) })
}

// within reports that delta is at most e^target for any change by total or less, where one
// by sum or less may show rate(sum) for each unit.
func (p *path) within(ctx context.Context, total, target float64, rate func(sum float64) float64) (bool, error) {
	last := bends / 4
	// check goes from the last bend that was used to where the bound is least.
	check := func(g leg) (bool, error) {
		g.rate = rate(g.sum)
		d, err := p.delta(ctx, g, float64(last)/bends, target)
		for step := 1; err == nil && d > target; {
			v := math.Inf(1)
			if next := last + step; next >= 0 && next <= bends {
				v, err = p.delta(ctx, g, float64(next)/bends, target)
			}
			switch {
			case v < d:
				last, d = last+step, v
			case step > 0:
				step = -1
			default:
				return false, err
			}
		}
		return d <= target, err
	}
	m := float64(p.items)
	count := int64(min(m, total/p.far))
	if total >= m*p.far {
		ok, err := check(leg{least: m * p.far, sum: m * p.far, steps: p.items, exact: true})
		if err != nil || !ok {
			return false, err
		}
		count, total = p.items-1, float64(m*p.far)-(p.far-p.second)
	}
	if p.second == 0 {
		return p.counts(check, 1, count)
	}
	return p.sums(check, p.kinds[0].distance, total)
}

// counts checks that between lo and hi items move, each by the one distance; sums that the
// distances add up to between lo and hi.
func (p *path) counts(check func(leg) (bool, error), lo, hi int64) (bool, error) {
	if lo > hi {
		return true, nil
	}
	ok, err := check(leg{least: float64(lo) * p.far, sum: float64(hi) * p.far, steps: hi, exact: true})
	if err != nil || ok || lo == hi {
		return ok, err
	}
	mid := (lo + hi) / 2
	if ok, err = p.counts(check, mid+1, hi); err != nil || !ok {
		return false, err
	}
	return p.counts(check, lo, mid)
}

func (p *path) sums(check func(leg) (bool, error), lo, hi float64) (bool, error) {
	if lo > hi {
		return true, nil
	}
	ok, err := check(leg{least: lo, sum: hi, steps: p.items})
	if err != nil || ok || hi <= lo*(1+stopWidth) {
		return ok, err
	}
	mid := (lo + hi) / 2
	if hi > 2*lo {
		mid = math.Sqrt(lo * hi)
	}
	if ok, err = p.sums(check, mid, hi); err != nil || !ok {
		return false, err
	}
	return p.sums(check, lo, mid)
}

// delta returns the logarithm of Delta for one bend, rounded up; anything above the target as
// soon as it is seen to be.
func (p *path) delta(ctx context.Context, g leg, bend, target float64) (float64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	// K rises as far as it is asked for only where sum <= least (1+1/bend)/2.
	k := func(s float64) float64 { return g.rises(min(s, g.sum), bend) }
	if float64(2*bend*g.sum) > float64((1+bend)*g.least) {
		return math.Inf(1), nil
	}
	all := k(g.sum)
	// h bounds h(s, c) for s in [lo, hi]: K is concave.
	h := func(c *change, lo, hi float64) (float64, error) {
		eps := k(hi+c.distance) - k(hi)
		d, err := c.interpolate(ctx, p.records, max(0, eps-float64(all*pathErr)))
		return d + all - k(lo+c.distance) + float64(all*pathErr), err
	}
	steps := float64(g.steps)
	count := min(blocks, steps)
	type bound struct{ share, distance float64 } // of e^target
	var table [][]bound
	var counts []float64
	for b := range int(count) {
		first, next := math.Floor(steps*float64(b)/count), math.Floor(steps*float64(b+1)/count)
		lo, hi := float64(first*p.far), float64((next-1)*p.far)
		if !g.exact {
			lo, hi = max(0, float64(first*(g.least/steps))-p.far), float64((next-1)*(g.sum/steps))+p.far
		}
		var row []bound
		for _, c := range p.kinds {
			last := g.sum - c.distance
			if last < 0 || g.exact && c.distance < p.far {
				continue
			}
			v, err := h(c, min(lo, last), min(hi, last))
			if err != nil {
				return 0, err
			}
			v = math.Exp(min(700, v-target))
			if n := len(row); n > 0 && row[n-1].distance == c.distance {
				row[n-1].share = max(row[n-1].share, v)
			} else {
				row = append(row, bound{v, c.distance})
			}
		}
		table = append(table, row)
		counts = append(counts, next-first)
	}
	// Prices in units of e^target over the sum.
	at := func(price float64) float64 {
		total := price
		for b, row := range table {
			most := 0.0
			for _, v := range row {
				most = max(most, v.share-float64(price*(v.distance/g.sum)))
			}
			total += float64(counts[b] * most)
		}
		return total
	}
	best := at(0)
	for price := 1.0; price > 1e-2 && best > 1; price *= .9 {
		best = min(best, at(price))
	}
	return target + math.Log(best) + pathErr, nil
}

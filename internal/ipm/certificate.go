package ipm

import (
	"cmp"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/directed"
)

// The certificate. For any lambda, z >= 0 and any channel M of the problem,
// whose rows satisfy G x_w >= 0 and sum_w x_w = 1, x >= 0,
//
//	sum(z) * loss(M) >= sum_w x_w'D_w z >= sum_w x_w'(D_w z - G'lambda_w)
//	                 >= sum_u min_w (D_w z - G'lambda_w)[u],
//
// the last because row u of M is an average over w. No property of the solver
// enters: its lambda and z are only good guesses.

// price lowers t.worst by the reduced costs (D_w z - G'lambda_w)[u] of column
// w, each less a bound of its rounding.
func (p *point) price(t *task, w int) {
	c := p.rows(w)
	n, proof, index := c.n, c.proof, p.parts[w].index
	if index != nil {
		proof = p.all.proof
	}
	plus, less := t.plus[:n], t.less[:n]
	clear(plus)
	clear(less)
	least := 0.0
	for u := range n {
		sum, l := plus[u], less[u]
		for i := c.start[u]; i < c.start[u+1]; i++ {
			at := i
			if index != nil {
				at = index[i]
			}
			a, b, v := proof[at], c.b[i], c.v[i]
			if c.lf[i] < least || c.lk[i] < least {
				least = math.Inf(-1)
			}
			plus[v] += float64(b * c.lf[i])
			less[v] += float64(a * c.lk[i])
			sum += float64(b * c.lk[i])
			l += float64(a * c.lf[i])
		}
		plus[u], less[u] = sum, l
	}
	p.weigh(less, w, p.z, 1)
	less[0] += least // a lambda below 0 proves nothing
	p.offer(t, w)
}

// offer lowers t.worst at the inputs of column w by less - plus, rounded down. A NaN stays: min keeps it.
func (p *point) offer(t *task, w int) {
	for i, u := range p.places[w].inputs {
		t.worst[u] = min(t.worst[u], p.reduced(t.less[i], t.plus[i]))
	}
}

// reduced is at most less - plus for the exact sums. Each has at most n + rows
// terms >= 0, rounded twice and added: relative error below (n + rows + 2) u, u
// = 2^-53. The difference rounds once more. The constant doubles that;
// underflow adds 2^-1074 a term.
func (p *point) reduced(less, plus float64) float64 {
	ulps := float64(p.n+p.prob.losses()+4) * 0x1p-52
	return less - plus - float64(ulps*(less+plus)) - 0x1p-1000
}

// prove prices column w with a lambda mended so that no reduced cost falls
// short of y, where rounding alone made it: at budgets of 100 the optimum is
// some exp(-100), and the rounding of D_w z alone hides it; at budgets of 1e-6
// lambda is some 1e6, and so are its errors. In terms of rows b x[v] - a x[u]:
//
//   - what is missing in all is given by a smaller lambda;
//   - what is missing at u is taken from a v with more than enough, at the price
//     of a factor exp(e);
//   - what is still missing at u is given by the rows that subtract from it: they
//     are relaxed, and exp(-e) of it is then missing at their other ends. From the
//     least entry of the column to its largest, the home of the output, next to
//     nothing is left of a rounding error.
//
// Some ten times the cost of price.
func (p *point) prove(t *task, w int) {
	c, x := p.rows(w), p.column(p.x, w)
	n, index := c.n, p.parts[w].index
	all, ends, y := c.pairs, p.ends, make([]float64, c.n)
	switch {
	case index != nil && p.prob.Support != nil: // pairs that are not imposed have no places
		all = all.proved(p.all, index)
		ends, index = all.ends(), nil
	case index != nil:
		all = p.all
	case all != p.all:
		ends = all.ends()
	}
	for i, u := range p.places[w].inputs {
		y[i] = p.y[u]
	}
	proof, b := all.proof, all.b
	l := t.prices[:2*all.len()] // over the rows of all
	clear(l)
	for i := range c.v {
		at := i
		if index != nil {
			at = int(index[i])
		}
		// One below 0 proves nothing; 0 in its place does. A NaN stays.
		l[at], l[all.len()+at] = max(0, c.lf[i]), max(0, c.lk[i])
	}
	less := make([]float64, n)
	p.weigh(less, w, p.z, 1)
	// cost returns the reduced cost at u, rounded down, and its parts.
	cost := func(u int) (q, plus, minus float64) {
		plus = less[u]
		for _, e := range ends[u] {
			i := e.pair()
			minus += float64(b[i] * l[e.in])
			plus += float64(proof[i] * l[e.out])
		}
		return p.reduced(plus, minus), plus, minus
	}
	// What is missing in all, from all.
	lack, paid := 0.0, 0.0
	for u := range n {
		q, plus, minus := cost(u)
		lack += y[u] - q
		paid += minus - plus + less[u]
	}
	if lack > 0 && lack < paid/2 {
		for i := range l {
			l[i] *= 1 - 2*lack/paid
		}
	}
	// What is missing at each input, from those with more than enough, and else from its
	// own rows: from the least entry on, so that debts move to the largest.
	order := make([]int, n)
	spare := make([]float64, n)
	for u := range order {
		order[u] = u
		q, _, _ := cost(u)
		spare[u] = q - y[u]
	}
	slices.SortStableFunc(order, func(u, v int) int { return cmp.Compare(x[u], x[v]) })
	for _, u := range order {
		q, _, minus := cost(u)
		need := (y[u] - q) * (1 + 0x1p-20)
		for _, e := range ends[u] {
			i, v := e.pair(), e.v
			if need > 0 && spare[v] > 0 && proof[i] > 0 {
				// Half of the spare at once: the other half covers rounding.
				more := min(need/proof[i], spare[v]/2/b[i])
				l[e.out] += more
				need -= float64(more * proof[i])
				spare[v] -= float64(2 * more * b[i])
			}
		}
		if need > 0 && minus > 0 {
			k := max(0, 1-need/minus-0x1p-50) // less the rounding of k itself
			for _, e := range ends[u] {
				l[e.in] *= k
			}
		}
	}
	for u := range n {
		_, t.less[u], t.plus[u] = cost(u)
	}
	p.offer(t, w)
}

// clearPrices forgets all reduced costs.
func (p *point) clearPrices() {
	for _, t := range p.tasks {
		for u := range t.worst {
			t.worst[u] = math.Inf(1)
		}
	}
}

// least is the least reduced cost of all columns at input u.
func (p *point) least(u int) float64 {
	v := math.Inf(1)
	for _, t := range p.tasks {
		v = min(v, t.worst[u])
	}
	return v
}

// lower returns the bound that the prices prove.
func (p *point) lower() float64 {
	sum, mass := 0.0, 0.0
	for u := range p.n {
		sum = directed.AddDown(sum, p.least(u))
	}
	for _, z := range p.z {
		if !(z >= 0) {
			return 0
		}
		mass = directed.AddUp(mass, z)
	}
	if v := directed.DivDown(sum, mass); v > 0 {
		return v
	}
	return 0
}

package lp

import (
	"math"
	"math/big"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/metric"
)

// reference is what another method than the kernel's found for a program: a channel
// and multipliers, neither of them trusted.
type reference struct {
	b       metric.Bimetric
	alpha   float64
	outputs []int
	prior   []float64
	// By output, input; by output, pair (u,v) of inputs, the row x_w[v] - x_w[u]/e >= 0;
	// by input.
	x, lambda, z []float64
}

func rational(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }

// enclose returns an interval that holds the optimum: the loss of a private channel
// near x and what lambda and z prove, both made feasible and valued in rational
// arithmetic, exp(-alpha*rho1) between bounds of 200 bits.
func (r *reference) enclose() (lo, hi float64) {
	n := r.b.Privacy.Len()
	low, high := make([]*big.Rat, n*n), make([]*big.Rat, n*n)
	for u := range n {
		for v := range n {
			e := wide(-r.alpha)
			below, above := exact.ExpBounds(e.Mul(e, wide(r.b.Privacy.Distance(u, v))), 200)
			low[u*n+v], _ = below.Rat(nil)
			high[u*n+v], _ = above.Rat(nil)
		}
	}
	lo, isFloat := r.proved(low).Float64()
	if !isFloat {
		lo = math.Nextafter(lo, math.Inf(-1))
	}
	hi, isFloat = r.attained(high).Float64()
	if !isFloat {
		hi = math.Nextafter(hi, math.Inf(1))
	}
	return lo, hi
}

// loss returns D_w[u].
func (r *reference) loss(u, w int) *big.Rat { return rational(r.b.Utility.Distance(u, r.outputs[w])) }

// normalizedRationals returns v over its sum, entries below 0 taken for 0; any
// distribution where all are.
func normalizedRationals(v []float64) []*big.Rat {
	sum, p := new(big.Rat), make([]*big.Rat, len(v))
	for i := range p {
		p[i] = rational(max(0, v[i]))
		sum.Add(sum, p[i])
	}
	for i := range p {
		if sum.Sign() == 0 {
			p[i].SetFrac64(1, int64(len(p)))
			continue
		}
		p[i].Quo(p[i], sum)
	}
	return p
}

// proved is the sum of y, y_u the least over the outputs w of (D_w z - G'lambda_w)_u:
// dual feasible for any lambda, z >= 0 with z summing to 1. An exp(-alpha*rho1) from
// below makes it less.
func (r *reference) proved(q []*big.Rat) *big.Rat {
	n := r.b.Privacy.Len()
	weights := r.prior
	if weights == nil {
		weights = r.z
	}
	z := normalizedRationals(weights)
	y := make([]*big.Rat, n)
	for w := range r.outputs {
		at := make([]*big.Rat, n)
		for u := range n {
			at[u] = new(big.Rat).Mul(r.loss(u, w), z[u])
		}
		for u := range n {
			for v := range n {
				if l := r.lambda[(w*n+u)*n+v]; u != v && l > 0 {
					at[v].Sub(at[v], rational(l))
					at[u].Add(at[u], new(big.Rat).Mul(rational(l), q[u*n+v]))
				}
			}
		}
		for u := range n {
			if y[u] == nil || at[u].Cmp(y[u]) < 0 {
				y[u] = at[u]
			}
		}
	}
	sum := new(big.Rat)
	for u := range n {
		sum.Add(sum, y[u])
	}
	return sum
}

// attained is the loss of x, mixed with the uniform channel as little as makes it
// private. An exp(-alpha*rho1) from above makes that more.
func (r *reference) attained(q []*big.Rat) *big.Rat {
	n, m := r.b.Privacy.Len(), len(r.outputs)
	rows := make([][]*big.Rat, n)
	for u := range n {
		first := 0 // of the inputs that may not be told apart from u
		for r.b.Privacy.Distance(first, u) > 0 {
			first++
		}
		row := make([]float64, m)
		for w := range row {
			row[w] = r.x[w*n+first]
		}
		rows[u] = normalizedRationals(row)
	}
	uniform := big.NewRat(1, int64(m))
	mixed := make([][]*big.Rat, n)
	for theta := 0.0; ; theta = max(0x1p-50, 4*theta) {
		for u := range n {
			mixed[u] = make([]*big.Rat, m)
			for w, p := range rows[u] {
				d := new(big.Rat).Sub(uniform, p)
				mixed[u][w] = d.Add(p, d.Mul(d, rational(min(1, theta))))
			}
		}
		if r.private(mixed, q) {
			break
		}
	}
	var prior []*big.Rat
	if r.prior != nil {
		prior = normalizedRationals(r.prior)
	}
	worst, mean := new(big.Rat), new(big.Rat)
	for u := range n {
		loss := new(big.Rat)
		for w, p := range mixed[u] {
			loss.Add(loss, new(big.Rat).Mul(p, r.loss(u, w)))
		}
		if loss.Cmp(worst) > 0 {
			worst.Set(loss)
		}
		if prior != nil {
			mean.Add(mean, loss.Mul(loss, prior[u]))
		}
	}
	if prior != nil {
		return mean
	}
	return worst
}

func (r *reference) private(rows [][]*big.Rat, q []*big.Rat) bool {
	n := len(rows)
	for u := range n {
		for v := range n {
			for w := range r.outputs {
				if u != v && rows[v][w].Cmp(new(big.Rat).Mul(rows[u][w], q[u*n+v])) < 0 {
					return false
				}
			}
		}
	}
	return true
}

package ipm

import (
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/directed"
)

// pairs lists the pairs of inputs whose privacy rows are imposed, u < v, the
// ones of u at [start[u], start[u+1]). A pair stands for two rows in every
// column:
//
//	forward   s = b x[v] - a x[u] >= 0
//	backward  s = b x[u] - a x[v] >= 0
//
// An array over the rows of a column holds the forward ones first.
type pairs struct {
	n     int
	start []int32
	v     []int32
	a, b  []float64 // exp(-e/2), exp(e/2)
	// proof is at most b exp(-Ceiling): b x[v] - proof x[u] >= 0 holds for
	// every channel of the problem, to the last bit.
	proof []float64
	// omega weighs the pair on the central path: less for a pair that its
	// neighbors nearly imply.
	omega    []float64
	sumOmega float64 // over the rows of a column
}

func (r *pairs) len() int { return len(r.v) }

// The weights of the path: a pair whose slack against the best detour is below
// leastDetour of its budget counts as if it were that.
const (
	leastDetour = 1e-3
	mostDetour  = 1.0
)

// A pair is left out where two pairs with budgets that are shorter by at least
// shorter, relative, add up to its own, up to impliedUlps: their rows imply its
// rows, and by induction so do the pairs that remain. What rounding leaves to be
// desired is for the repair. On a tree or a grid only the edges remain.
const (
	shorter     = 1e-9
	impliedUlps = 0x1p-50
)

// newPairs imposes every pair that no others imply. O(n^3).
func newPairs(ctx context.Context, p *Problem) (*pairs, error) {
	n := p.Inputs
	np := n * (n - 1) / 2
	r := &pairs{n: n, start: make([]int32, n+1), v: make([]int32, 0, np)}
	for _, t := range []*[]float64{&r.a, &r.b, &r.proof, &r.omega} {
		*t = make([]float64, 0, np)
	}
	for u := range n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		du := p.Budget[u*n : (u+1)*n]
		for v := u + 1; v < n; v++ {
			e := min(du[v], MaxBudget)
			b := math.Exp(e / 2)
			detour := math.Inf(1)
			dv := p.Budget[v*n : (v+1)*n]
			most, longest := du[v]*(1+impliedUlps), du[v]*(1-shorter)
			implied := false
			for z, d := range du {
				if s := d + dv[z]; s < detour && z != u && z != v {
					detour = s
					if s <= most && max(d, dv[z]) < longest {
						implied = true
						break
					}
				}
			}
			if implied {
				continue
			}
			r.v = append(r.v, int32(v))
			r.b = append(r.b, b)
			r.a = append(r.a, math.Exp(-e/2))
			r.proof = append(r.proof, directed.MulDown(b, directed.ExpDown(-p.Ceiling[u*n+v])))
			r.omega = append(r.omega, math.Sqrt(min(max(detour/du[v]-1, leastDetour), mostDetour)))
			r.sumOmega += 2 * r.omega[len(r.omega)-1]
		}
		r.start[u+1] = int32(len(r.v))
	}
	return r, nil
}

// matrix spreads an array over the pairs to a symmetric matrix.
func (r *pairs) matrix(of []float64) []float64 {
	m := make([]float64, r.n*r.n)
	r.each(func(i int32, u, v int) { m[u*r.n+v], m[v*r.n+u] = of[i], of[i] })
	return m
}

// transpose adds G'r, for r over the rows of a column, to out.
func (r *pairs) transpose(rows, out []float64) {
	f, k := rows[:r.len()], rows[r.len():]
	for u := range r.n {
		sum := out[u]
		for i := r.start[u]; i < r.start[u+1]; i++ {
			a, b, v := r.a[i], r.b[i], r.v[i]
			out[v] += b*f[i] - a*k[i]
			sum += b*k[i] - a*f[i]
		}
		out[u] = sum
	}
}

// each calls f for every pair, i being its position in the list.
func (r *pairs) each(f func(i int32, u, v int)) {
	for u := range r.n {
		for i := r.start[u]; i < r.start[u+1]; i++ {
			f(i, u, int(r.v[i]))
		}
	}
}

// find is the position of the pair u, v, which no others imply.
func (r *pairs) find(u, v int) int32 {
	if u > v {
		u, v = v, u
	}
	lo := r.start[u]
	k, _ := slices.BinarySearch(r.v[lo:r.start[u+1]], int32(v))
	return lo + int32(k)
}

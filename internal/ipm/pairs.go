package ipm

import (
	"context"
	"math"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
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
	// every channel of the problem, to the last bit. A part of the list has none.
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
	// detours are looked at at most, and more than half as many.
	detours = 128
)

// newPairs imposes the pairs of p. O(detours) for each.
func newPairs(ctx context.Context, p *Problem) (*pairs, error) {
	n := p.Inputs
	r := &pairs{n: n, start: make([]int32, n+1)}
	for u, list := range p.Pairs {
		r.v = append(r.v, list...)
		r.start[u+1] = int32(len(r.v))
	}
	for _, t := range []*[]float64{&r.a, &r.b, &r.proof, &r.omega} {
		*t = make([]float64, len(r.v))
	}
	step := 1 + n/detours
	via := make([][]float64, n) // the budgets to every step-th input
	err := parallel.Chunks(ctx, n, 4, 0, nil, func(_, lo, hi int) {
		var from []float64
		for u := lo; u < hi; u++ {
			from = finite.Row(p.Budget, u, from)
			for z := 0; z < n; z += step {
				via[u] = append(via[u], from[z])
			}
		}
	})
	if err != nil {
		return nil, err
	}
	err = parallel.Chunks(ctx, n, 4, 0, nil, func(_, lo, hi int) {
		for u := lo; u < hi; u++ {
			for i := r.start[u]; i < r.start[u+1]; i++ {
				v := int(r.v[i])
				// The shortest way over a third input, of some.
				detour := math.Inf(1)
				for k, e := range via[u] {
					if s := e + via[v][k]; s < detour && k*step != u && k*step != v {
						detour = s
					}
				}
				r.set(i, u, p, detour)
			}
		}
	})
	for _, w := range r.omega {
		r.sumOmega += 2 * w
	}
	return r, err
}

// subset becomes the pairs of all at the index, in the memory that it has, numbered by the
// places at of their inputs, n of them. They have no proof.
func (r *pairs) subset(all *pairs, index, at []int32, n int) {
	r.n, r.sumOmega, r.start, r.v = n, 0, sized(r.start, n+1), sized(r.v, len(index))
	for _, t := range []*[]float64{&r.a, &r.b, &r.omega} {
		*t = sized(*t, len(index))
	}
	clear(r.start)
	u := 0
	for k, i := range index {
		for i >= all.start[u+1] {
			u++
		}
		r.start[at[u]+1]++
		r.v[k], r.a[k], r.b[k], r.omega[k] = at[all.v[i]], all.a[i], all.b[i], all.omega[i]
		r.sumOmega += 2 * all.omega[i]
	}
	for u := range r.n {
		r.start[u+1] += r.start[u]
	}
}

// proved is the subset of all at the index, with its proofs.
func (r *pairs) proved(all *pairs, index []int32) *pairs {
	p := *r
	p.proof = make([]float64, len(index))
	for k, i := range index {
		p.proof[k] = all.proof[i]
	}
	return &p
}

// within is the part of the list between some inputs, ascending, numbered by their places
// there; place has those of all inputs, -1 of others.
func (r *pairs) within(inputs, place []int32) *pairs {
	p := &pairs{n: len(inputs), start: make([]int32, len(inputs)+1)}
	for k, u := range inputs {
		for i := r.start[u]; i < r.start[u+1]; i++ {
			if v := place[r.v[i]]; v >= 0 {
				p.v = append(p.v, v)
				p.a, p.b = append(p.a, r.a[i]), append(p.b, r.b[i])
				p.proof, p.omega = append(p.proof, r.proof[i]), append(p.omega, r.omega[i])
				p.sumOmega += 2 * r.omega[i]
			}
		}
		p.start[k+1] = int32(len(p.v))
	}
	return p
}

// set fills in the pair at i, one of u, whose ends have that detour.
func (r *pairs) set(i int32, u int, p *Problem, detour float64) {
	v := int(r.v[i])
	d := p.Budget.Distance(u, v)
	ceiling := d
	if p.Ceiling != nil {
		ceiling = p.Ceiling(u, v)
	}
	e := min(d, MaxBudget)
	r.a[i], r.b[i] = math.Exp(-e/2), math.Exp(e/2)
	r.proof[i] = directed.MulDown(r.b[i], directed.ExpDown(-ceiling))
	r.omega[i] = math.Sqrt(min(max(detour/d-1, leastDetour), mostDetour))
}

// transpose adds G'r to out, for r over the rows of a column, forward and backward.
func (r *pairs) transpose(f, k, out []float64) {
	for u := range r.n {
		sum := out[u]
		c, vs := r.of(u)
		as, bs := c.cut(r.a), c.cut(r.b)
		fs, ks := c.cut(f), c.cut(k)
		for i, v := range vs {
			a, b := as[i], bs[i]
			out[v] += b*fs[i] - a*ks[i]
			sum += b*ks[i] - a*fs[i]
		}
		out[u] = sum
	}
}

// span is where the pairs of one input begin in a list, and their number: loops
// over slices that are cut alike need no bounds checks.
type span struct{ lo, n int }

func (k span) cut(v []float64) []float64 { return v[k.lo:][:k.n] }

// of is where the pairs of u are, and their other ends.
func (r *pairs) of(u int) (k span, v []int32) {
	v = r.v[r.start[u]:r.start[u+1]]
	return span{int(r.start[u]), len(v)}, v
}

// each calls f for every pair, i being its position in the list.
func (r *pairs) each(f func(i int32, u, v int)) {
	for u := range r.n {
		for i := r.start[u]; i < r.start[u+1]; i++ {
			f(i, u, int(r.v[i]))
		}
	}
}

// end is a pair seen from one input u: v is the other, and out and in are the
// rows b x[v] - a x[u] and b x[u] - a x[v].
type end struct{ v, out, in int32 }

// pair is its position in the list.
func (e end) pair() int32 { return min(e.out, e.in) }

// ends lists the pairs of every input, by ascending v.
func (r *pairs) ends() [][]end {
	of, np := make([][]end, r.n), int32(r.len())
	count := make([]int, r.n)
	r.each(func(_ int32, u, v int) {
		count[u]++
		count[v]++
	})
	for u, k := range count {
		of[u] = make([]end, 0, k)
	}
	r.each(func(i int32, u, v int) { of[v] = append(of[v], end{int32(u), np + i, i}) })
	r.each(func(i int32, u, v int) { of[u] = append(of[u], end{int32(v), i, np + i}) })
	return of
}

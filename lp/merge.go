package lp

import (
	"math"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/ipm"
	"github.com/metricdp/metricdp/internal/random"
)

// Inputs at distance 0 must have the same row. Inputs at a budget alpha*rho1 of
// 1e-6 or less have nearly the same row, and what keeps their rows apart is lost
// in rounding: multipliers are some 1/budget, their errors 1e-16/budget^2. So
// inputs closer than a threshold are merged into classes that share a row.
//
// The threshold starts at the tolerance over mergeShare: by [merged.bound] the
// optimum changes by that factor only. Where the kernel stalls nevertheless, it
// grows by mergeGrowth, up to the gap there is.
const (
	mergeShare  = 8
	mergeGrowth = 8
)

// merged is a problem with some inputs merged, in the form the kernel takes.
type merged struct {
	*problem
	class []int // of every input
	first []int // input of every class
	// spread is the largest budget between an input and the first of its class.
	spread float64
	prog   ipm.Problem
	plan   *ipm.Plan
	lazy   *ipm.Lazy // nil: the plan is solved as it is
	level  int       // of the companion that mend took last
}

// merge builds the program in which inputs that budgets below the threshold join
// are one class.
//
// Between two classes the kernel imposes the least budget of any two members,
// so that rows given to all members are private; its bound is for the budgets
// between the first members, rounded up. Budgets are replaced by shortest paths,
// which imply the same constraints: the kernel needs the triangle inequality,
// rounded distances break it by an ulp, and a dissimilarity that is no metric is
// served as well. That is for prepare, in O(k^3) for k classes; merge takes O(n^2).
func (p *problem) merge(threshold float64) *merged {
	g := &merged{problem: p}
	g.class, g.first = classes(p.n, p.upper, threshold)
	for i, c := range g.class {
		g.spread = max(g.spread, p.upper[g.first[c]*p.n+i])
	}
	g.prog = ipm.Problem{Inputs: max(len(g.first), 2), Outputs: p.m, Loss: p.scaled, Class: g.class, Prior: p.o.Prior}
	return g
}

func (g *merged) admit() error {
	switch k := g.prog.Inputs; {
	case !g.looksDense():
		return nil
	case k > lazySize:
		return g.fits(ipm.LazyBytes(k, g.m, g.n))
	default:
		return g.fits(ipm.Bytes(k, g.m, g.n))
	}
}

// prepare sets the budgets and chooses the engine.
func (g *merged) prepare() error {
	if err := g.admit(); err != nil {
		return err
	}
	g.prog.Budget, g.prog.Ceiling = g.budgets()
	var err error
	if g.plan, err = ipm.Prepare(g.ctx, &g.prog); err != nil {
		return err
	}
	if g.plan.Sparse() || g.prog.Inputs <= lazySize {
		return g.fits(g.plan.Bytes())
	}
	if err := g.fits(ipm.LazyBytes(g.prog.Inputs, g.m, g.n)); err != nil {
		return err
	}
	g.lazy, err = g.plan.Lazy(g.ctx)
	return err
}

// fits refuses an engine that takes too much memory.
func (g *merged) fits(engine float64) error { return g.memory(bytes(g.n, g.m) + engine) }

// sampled is how many pairs looksDense looks at: where nine in ten are implied,
// as they must be for sparse factors, less than half of them are found so with a
// probability below 1e-50.
const sampled = 256

// looksDense tells whether fewer than half of the sampled pairs are implied.
func (g *merged) looksDense() bool {
	r := random.Seeded(1) // any: the choice matters to the speed of an error alone
	implied := 0
	for range sampled {
		u, v := r.IntN(g.n), r.IntN(g.n)
		e := g.upper[u*g.n+v] * (1 + 0x1p-40)
		for z := range g.n {
			if a, b := g.upper[u*g.n+z], g.upper[z*g.n+v]; a+b <= e && a > 0 && b > 0 {
				implied++
				break
			}
		}
	}
	return implied < sampled/2
}

// bound turns the kernel's bound into one of the problem. Let M be any private
// channel and M' the one in which every input has the row of the first of its
// class. An entry of M' is at most exp(spread) times that of M, and so is every
// loss; and M' meets the constraints between first members.
func (g *merged) bound(lower float64) float64 {
	return directed.MulDown(math.Ldexp(lower, g.exp), directed.ExpDown(-g.spread))
}

// classes numbers the single-linkage clusters by their first members. Inputs at
// budget 0 are always joined.
func classes(n int, budget []float64, threshold float64) (class, first []int) {
	class = make([]int, n)
	for i := range class {
		class[i] = -1
	}
	var stack []int
	for i := range n {
		if class[i] >= 0 {
			continue
		}
		k := len(first)
		class[i], first, stack = k, append(first, i), append(stack, i)
		for len(stack) > 0 {
			u := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			for v := range n {
				if e := budget[u*n+v]; class[v] < 0 && (e < threshold || e == 0) {
					class[v] = k
					stack = append(stack, v)
				}
			}
		}
	}
	return class, first
}

// budgets returns what the kernel imposes between classes, and what its bound
// speaks of. A single class gets a companion at budget 1, about which no loss
// asks: the kernel's rows imply x >= 0 only where there are two. When the context
// is done they are not shortest paths; what follows looks at the context.
func (g *merged) budgets() (imposed, ceiling []float64) {
	n, k := g.n, len(g.first)
	if k == 1 {
		one := []float64{0, 1, 1, 0}
		return one, one
	}
	imposed, ceiling = make([]float64, k*k), make([]float64, k*k)
	for c := range imposed {
		imposed[c] = math.Inf(1)
	}
	for i, c := range g.class {
		for j, d := range g.class {
			if c == d {
				imposed[c*k+d] = 0
			} else {
				imposed[c*k+d] = min(imposed[c*k+d], g.lower[i*n+j])
			}
		}
	}
	for c, i := range g.first {
		for d, j := range g.first {
			ceiling[c*k+d] = g.upper[i*n+j]
		}
	}
	g.shortest(k, imposed, func(a, b float64) float64 { return a + b })
	g.shortest(k, ceiling, directed.AddUp)
	return imposed, ceiling
}

// shortest is the algorithm of Floyd and Warshall, until the context is done.
func (p *problem) shortest(k int, d []float64, add func(a, b float64) float64) {
	for z := 0; z < k && p.ctx.Err() == nil; z++ {
		for u := range k {
			uz, row, via := d[u*k+z], d[u*k:(u+1)*k], d[z*k:(z+1)*k]
			for v, zv := range via {
				// Most sums are longer by far; rounding is for the others.
				if uz+zv < row[v] {
					row[v] = min(row[v], add(uz, zv))
				}
			}
		}
	}
}

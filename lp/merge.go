package lp

import (
	"math"

	"github.com/metricdp/metricdp/internal/direct"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/ipm"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/metric"
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

// lazySize is the number of classes of inputs above which privacy constraints are
// imposed as they are needed, if factors are dense.
const lazySize = 64

// merged is a problem with some inputs merged, in the form the kernel takes.
type merged struct {
	*problem
	class []int // of every input
	first []int // input of every class
	// spread is the largest budget between an input and the first of its class.
	spread float64
	prog   ipm.Problem
	plan   *ipm.Plan
	// wanted lists for every output the inputs at which local relaxations must have it.
	wanted [][]int32
}

// merge builds the program in which inputs that budgets below the threshold join
// are one class.
//
// Between two classes the kernel imposes the least budget of any two members,
// so that rows given to all members are private; its bound is for the budgets
// between the first members. Both are rounded up: the audit sees to the rest.
// Budgets become shortest paths, see impose, which is for prepare; merge takes
// O(n^2).
func (p *problem) merge(threshold float64) *merged {
	g := &merged{problem: p, wanted: make([][]int32, p.m)}
	g.class, g.first = classes(p.budget, threshold)
	for i, c := range g.class {
		g.spread = max(g.spread, p.budget.Distance(g.first[c], i))
	}
	g.prog = ipm.Problem{Inputs: max(len(g.first), 2), Outputs: p.m, Loss: p.scaled, Class: g.class, Prior: p.o.Prior}
	return g
}

func (g *merged) admit() error {
	switch k := g.prog.Inputs; {
	case !g.looksDense():
		return nil
	case k > lazySize:
		return g.fits(ipm.WholeSize(k, g.m, g.n).Bytes())
	default:
		return g.fits(ipm.Bytes(k, g.m, g.n))
	}
}

// prepare sets the budgets and chooses the engine.
func (g *merged) prepare() error {
	if err := g.admit(); err != nil {
		return err
	}
	if err := g.impose(); err != nil {
		return err
	}
	var err error
	if g.plan, err = ipm.Prepare(g.ctx, &g.prog); err != nil {
		return err
	}
	if g.plan.Kind == ipm.Dense && g.prog.Inputs > lazySize {
		if g.plan, err = ipm.Lazily(g.ctx, &g.prog); err != nil {
			return err
		}
	}
	return g.fits(g.plan.Bytes())
}

// fits refuses an engine that takes too much memory.
func (g *merged) fits(engine float64) error { return g.memory(g.bytes() + engine) }

// sampled is how many pairs looksDense looks at: where nine in ten are implied,
// as they must be for sparse factors, less than half of them are found so with a
// probability below 1e-50.
const sampled = 256

// looksDense tells whether fewer than half of the sampled pairs are implied.
func (g *merged) looksDense() bool {
	r := random.Seeded(1) // any: the choice matters to the speed of an error alone
	implied := 0
	var du, dv []float64
	for range sampled {
		u, v := r.IntN(g.n), r.IntN(g.n)
		du, dv = finite.Row(g.budget, u, du), finite.Row(g.budget, v, dv)
		e := du[v] * (1 + 0x1p-40)
		for z, a := range du {
			if b := dv[z]; a+b <= e && a > 0 && b > 0 {
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
func classes(budget finite.Metric, threshold float64) (class, first []int) {
	n := budget.Len()
	class = make([]int, n)
	for i := range class {
		class[i] = -1
	}
	var stack []int
	var row []float64
	for i := range n {
		if class[i] >= 0 {
			continue
		}
		k := len(first)
		class[i], first, stack = k, append(first, i), append(stack, i)
		for len(stack) > 0 {
			u := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			row = finite.Row(budget, u, row)
			for v, e := range row {
				if class[v] < 0 && (e < threshold || e == 0) {
					class[v] = k
					stack = append(stack, v)
				}
			}
		}
	}
	return class, first
}

// impose sets the budgets between classes and the pairs that imply the others.
//
// Budgets are replaced by shortest paths, which imply the same constraints, where
// they break the triangle inequality by more than rounding: those of merged
// inputs, and those of a dissimilarity that is no metric.
//
// A single class gets a companion at budget 1, about which no loss asks: the
// kernel's rows imply x >= 0 only where there are two.
//
// O(k^2 d) for k classes that are each in d pairs, and as much again, times log k,
// for shortest paths.
func (g *merged) impose() error {
	k := len(g.first)
	if k == 1 {
		g.prog.Budget, g.prog.Pairs = finite.Square{N: 2, D: []float64{0, 1, 1, 0}}, [][]int32{{1}, nil}
		return nil
	}
	var err error
	g.prog.Budget, g.prog.Pairs, err = g.shortest(g.budgets())
	return err
}

// budgets returns those between classes, the least of any two members, and sets their ceilings.
func (g *merged) budgets() finite.Metric {
	if len(g.first) == g.n {
		return g.budget
	}
	g.prog.Ceiling = func(c, d int) float64 { return g.budget.Distance(g.first[c], g.first[d]) }
	k := len(g.first)
	j := joined{g.budget, g.class, make([][]int, k)}
	for i, c := range g.class {
		j.members[c] = append(j.members[c], i)
	}
	if !g.stores() {
		return j
	}
	s := finite.Square{N: k, D: make([]float64, k*k)}
	for c := range k {
		j.DistancesFrom(c, s.D[c*k:(c+1)*k:(c+1)*k])
	}
	return s
}

// joined are budgets between classes.
type joined struct {
	budget  finite.Metric
	class   []int
	members [][]int
}

func (j joined) Len() int { return len(j.members) }

func (j joined) Distance(c, d int) float64 {
	least := math.Inf(1)
	for _, u := range j.members[c] {
		for _, v := range j.members[d] {
			least = min(least, j.budget.Distance(u, v))
		}
	}
	return least
}

func (j joined) DistancesFrom(c int, dst []float64) []float64 {
	dst = finite.Grow(dst, len(j.members))
	for d := range dst {
		dst[d] = math.Inf(1)
	}
	var from []float64
	for _, u := range j.members[c] {
		from = finite.Row(j.budget, u, from)
		for v, d := range j.class {
			dst[d] = min(dst[d], from[v])
		}
	}
	dst[c] = 0
	return dst
}

// shortest returns d, or where it is no metric its shortest paths, rounded up, and the pairs
// that imply the others.
func (p *problem) shortest(d finite.Metric) (finite.Metric, [][]int32, error) {
	pairs, err := direct.Pairs(p.ctx, d, p.o.Workers)
	if err != nil {
		return nil, nil, err
	}
	if ok, err := direct.Metric(p.ctx, d, pairs, p.o.Workers); ok || err != nil {
		return d, pairs, err
	}
	k := d.Len()
	var edges []metric.Edge
	for u, list := range pairs {
		for _, v := range list {
			edges = append(edges, metric.Edge{I: u, J: int(v), Length: min(d.Distance(u, int(v)), endless)})
		}
	}
	g, err := metric.NewGraphEdges(p.ctx, k, edges)
	if err != nil {
		return nil, nil, err
	}
	s, stored := d.(finite.Square)
	if !stored {
		if err := p.memory(p.bytes() + float64(8*float64(k)*float64(k))); err != nil {
			return nil, nil, err
		}
		s = finite.Square{N: k, D: make([]float64, k*k)}
	}
	var row, whole []float64
	for u := range k {
		row, whole = g.DistancesFrom(u, row), finite.Row(d, u, whole)
		for v, length := range row {
			// A path has fewer than k edges: its length is a sum that rounds fewer
			// than k times.
			s.D[u*k+v] = min(whole[v], directed.MulUp(length, 1+float64(k)*0x1p-52))
		}
	}
	pairs, err = direct.Pairs(p.ctx, s, p.o.Workers)
	return s, pairs, err
}

// endless is a budget above which there is no difference.
const endless = 1e300

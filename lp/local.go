package lp

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/heap"
	"github.com/metricdp/metricdp/internal/ipm"
	"github.com/metricdp/metricdp/internal/parallel"
)

// A column decays from where its output is the best, and what is far from there counts for
// little: a local relaxation leaves such entries out. Its value is no bound and its channel
// says nothing about them, but its prices are completed to a proof, see complete, and
// envelopes extend the channel.
const (
	// leftShare of the gap is what the entries left out may cost, about, and that of mostLeftOut
	// at first.
	leftShare, mostLeftOut = 0.1, 0.05
	// mostLocal is the share of the entries up to which it is worth while, mostWork the
	// multiplications of a factorization, some localWork n^1.5 a^3 for a entries an input. Where
	// the whole program fits the memory it is at most quickWork times the tolerance of n^3 m: that
	// takes less time to a small gap (2,025 x 40 to 1e-3: a third of it; 1,024 x 50: a sixth).
	mostLocal           = 0.8
	mostWork, localWork = 2e11, 6
	// The same by columns, where outputs are many: columnsLeft is the share of the tolerance that
	// the entries left out may cost, columnWork a^2 the multiplications for a column of a entries,
	// and columnTime what one of them takes in all iterations, on two cores. The linking system takes
	// the share linked of those of a dense one, linkTime of that time each.
	columnsLeft, columnWork, columnTime = 0.16, 30, 16 * time.Nanosecond
	linked, linkTime                    = 0.4, 0.05
	// By columns there are iterations times as many iterations as by inputs.
	iterations = 4
	// With a channel at hand columnsLeft is channelLeft, and an entry counts as leastUse times what a
	// decay makes it at least: an output may be used more than there (5,041 x 100: 35 times as much,
	// which cost six inputs a thousandth). Such a program has fewLinked multiplications at most.
	// Inputs that lose less than the share 1 - slackLoss of the bound have no loss rows, at least
	// 1 - mostRows of all: their losses get the weight slackWeight together. With less some lose more
	// than all others (.01: by 1.5 per cent), with .2 the value is 1.2e-3 larger.
	channelLeft, leastUse, fewLinked = 0.3, 0.25, 6e10
	slackLoss, mostRows, slackWeight = 0.12, 0.34, 0.02
	// channelShare of the tolerance is for that program's loss, the rest for envelopes.
	channelShare = 0.95
	// trusted is the decay up to which the channel of a relaxation by inputs is taken as it is, see
	// clip, trustedAll that by columns, which has all pairs.
	trusted, trustedAll = 3, 4.5
	// suppliers are looked at where a cost is below its price.
	suppliers = 64
)

// quickWork is beside mostWork. Tests raise it.
var quickWork = 6.0

// quickByInput tells whether a local relaxation by inputs is worth while, with so many outputs
// an input.
func (g *merged) quickByInput(each float64) bool {
	n, m, most := float64(g.n), float64(g.m), mostWork
	if g.fits(ipm.WholeSize(g.n, g.m, g.n).Bytes()) == nil {
		most = min(most, float64(quickWork*g.o.Tolerance)*g.work())
	}
	return each <= mostLocal*m && localWork*math.Pow(n, 1.5)*math.Pow(each, 3) <= most
}

// columnsWork are the multiplications for the columns, each*n/m inputs in one, and for the linking
// system if it is dense, of n rows and as many more as there are losses of their own.
func (g *merged) columnsWork(each float64, rows int) (columns, link float64) {
	n, m, k := float64(g.n), float64(g.m), float64(g.n+rows)
	return float64(columnWork*each*each*n*n) / m, k * k * k / 6
}

// slowByInput tells whether the next relaxation by inputs takes longer than a program by columns.
func (g *merged) slowByInput() bool {
	each := float64(g.m)
	if g.prog.Support != nil {
		entries := 0
		for _, list := range g.prog.Support {
			entries += len(list)
		}
		each = float64(entries) / float64(g.n)
	}
	columns, link := g.columnsWork(each, int(mostRows*float64(g.n)))
	return g.plan.Work() > iterations*(columns+float64(linked*link))
}

// quickByColumn tells whether columns with all pairs are worth while: they must take half of what the
// whole program does, where that fits, and end within the time limit, as what they have before says
// little.
func (g *merged) quickByColumn(each float64, rows int, most float64) bool {
	n, m := float64(g.n), float64(g.m)
	columns, link := g.columnsWork(each, rows)
	if g.fits(ipm.WholeSize(g.n, g.m, g.n).Bytes()) == nil {
		most = min(most, (float64(columnWork*n*n*m)+float64(8*n*n*n)/6)/2)
	}
	return columns+float64(linked*link) <= most && (columns+float64(linkTime*link))*float64(columnTime) <= float64(g.left()-g.kept)
}

// byColumns improves s by a local program with all pairs, imposed as they are needed, of columns
// with few of the inputs, and tells whether it is worth while. Each column is factored with these: many
// outputs cost as many times more, where by inputs they cost their cube.
//
// A private channel x, where there is one, tells what entries matter and which losses may be the
// largest. The bound is then that of some inputs: see critical.
func (g *merged) byColumns(s *Solution, x []float64, began time.Time) (done bool, err error) {
	left, work, rows := columnsLeft, mostWork, g.n
	if x != nil {
		left, work = channelLeft, fewLinked
		defer func() { g.prog.Class, g.prog.Loss, g.prog.Prior = g.class, g.scaled, g.o.Prior }()
		rows = g.weigh(g.lost(x), math.Ldexp(s.DualBound, -g.exp))
	}
	quick := func(each float64) bool { return g.quickByColumn(each, rows, work) }
	if !quick(0) {
		return false, nil
	}
	most := float64(left*g.o.Tolerance) * math.Ldexp(s.Objective, -g.exp)
	support, decay := g.support(x, func(sum float64) float64 { return most * sum }, quick)
	return g.solveColumns(s, support, decay, began)
}

// weigh orders the losses: first those of inputs that lose about the bound or more, not too many,
// whose number it returns, then those of the others, which get weights.
func (g *merged) weigh(loss []float64, bound float64) (rows int) {
	least := slices.Sorted(slices.Values(loss))[g.n-1-int(mostRows*float64(g.n))]
	var class, slack []int
	for u, l := range loss {
		if l > max(least, (1-slackLoss)*bound) {
			class = append(class, u)
		} else {
			slack = append(slack, u)
		}
	}
	rows = len(class)
	g.prog.Class, g.prog.Loss = append(class, slack...), make([]float64, 0, g.n*g.m)
	for w := range g.m {
		for _, u := range g.prog.Class {
			g.prog.Loss = append(g.prog.Loss, g.scaled[w*g.n+u])
		}
	}
	g.prog.Prior = slices.Repeat([]float64{slackWeight / float64(g.n)}, len(slack))
	return rows
}

// solveColumns is byColumns with a support. It does nothing without one, or where that does not fit.
func (g *merged) solveColumns(s *Solution, support [][]int32, decay []float64, began time.Time) (done bool, err error) {
	if support == nil {
		return false, nil
	}
	if g.prog.Pairs, err = sharing(g.ctx, g.n, support, g.o.Workers); err != nil {
		return false, err
	}
	g.prog.Support = support
	if g.fits(g.prog.LazySize().Bytes()) != nil {
		return false, nil
	}
	if g.plan, err = ipm.Lazily(g.ctx, &g.prog); err != nil {
		return false, err
	}
	tolerance, weighed := g.o.Tolerance/2, len(g.prog.Prior) > 0
	if weighed {
		tolerance = channelShare * g.o.Tolerance
	}
	res := g.run(s, tolerance, began)
	if _, err = g.conclude(s, res, decay); err == nil && weighed && s.Gap > g.o.Tolerance {
		err = g.critical(s, res)
	}
	return true, err
}

// sharing lists the pairs of n inputs that are in one column of a support.
func sharing(ctx context.Context, n int, support [][]int32, workers int) ([][]int32, error) {
	of := make([][]int, n) // the columns of an input
	for w, list := range support {
		for _, u := range list {
			of[u] = append(of[u], w)
		}
	}
	pairs := make([][]int32, n)
	return pairs, parallel.Chunks(ctx, n, 16, workers, nil, func(_, lo, hi int) {
		shares := make([]bool, n)
		for u := lo; u < hi; u++ {
			clear(shares)
			for _, w := range of[u] {
				for _, v := range support[w] {
					shares[v] = true
				}
			}
			for v := u + 1; v < n; v++ {
				if shares[v] {
					pairs[u] = append(pairs[u], int32(v))
				}
			}
		}
	})
}

// support lists for every output the inputs that a local relaxation has, nil where that
// is all of them or where it is not quick with so many, and decay[w*n+u], the budget between u
// and those where w is the best output. An input leaves out the outputs that cost it least, but
// what is wanted: at most so much in all, if they decay by exp(-e), or under the channel x and a share
// of that. most is given the sum of these over its outputs.
func (g *merged) support(x []float64, most func(sum float64) float64, quick func(each float64) bool) (support [][]int32, decay []float64) {
	n, m := g.n, g.m
	if len(g.first) < n || g.o.Prior != nil {
		return nil, nil
	}
	near, home := g.cells(m, g.scaled).near, make([]int, m)
	for w := range m {
		for u, l := range g.scaled[w*n : (w+1)*n] {
			if l < g.scaled[w*n+home[w]] {
				home[w] = u
			}
		}
	}
	decay = make([]float64, n*m)
	kept := make([][]int32, n)
	err := parallel.Chunks(g.ctx, n, 16, g.o.Workers, nil, func(_, lo, hi int) {
		least, order, budget := make([]float64, m), make([]int, m), []float64{}
		for u := lo; u < hi; u++ {
			budget = finite.Row(g.prog.Budget, u, budget)
			for w := range least {
				least[w], order[w] = budget[home[w]], w
			}
			for v, e := range budget {
				least[near[v]] = min(least[near[v]], e)
			}
			norm := 0.0
			for w, e := range least {
				decay[w*n+u] = e
				q := math.Exp(-e)
				if x != nil {
					q = max(x[w*n+u], leastUse*q)
				}
				norm += q
				least[w] = q * g.scaled[w*n+u]
			}
			slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(least[a], least[b]), cmp.Compare(a, b)) })
			sum, most := 0.0, most(norm)
			for _, w := range order {
				if sum += least[w]; sum > most || w == near[u] {
					kept[u] = append(kept[u], int32(w))
				}
			}
		}
	})
	in, entries := make([][]bool, m), 0
	for w := range in {
		in[w] = make([]bool, n)
	}
	for u, list := range kept {
		for _, w := range list {
			in[w][u] = true
		}
		entries += len(list)
	}
	for w, list := range g.wanted {
		for _, u := range list {
			if !in[w][u] {
				in[w][u] = true
				entries++
			}
		}
	}
	if err != nil || !quick(float64(entries)/float64(n)) {
		return nil, nil
	}
	ends := make([][]int32, n)
	for u, list := range g.prog.Pairs {
		for _, v := range list {
			ends[u], ends[v] = append(ends[u], v), append(ends[v], int32(u))
		}
	}
	support = make([][]int32, m)
	for w, has := range in {
		if len(ends[home[w]]) == 0 {
			return nil, nil
		}
		// Rows imply that entries are not negative from two inputs on.
		has[home[w]], has[ends[home[w]][0]] = true, true
		g.tie(home[w], ends, has)
		for u, yes := range has {
			if yes {
				support[w] = append(support[w], int32(u))
			}
		}
	}
	return support, decay
}

// tie adds to some inputs what is on the shortest ways from them to home, along the pairs: rows
// then tie all of them to it.
func (g *merged) tie(home int, ends [][]int32, has []bool) {
	key, parent, order := slices.Repeat([]float64{math.Inf(1)}, g.n), make([]int32, g.n), []int32{}
	h := heap.New(key)
	key[home], parent[home] = 0, int32(home)
	for h.Push(int32(home)); h.Len() > 0; {
		u := h.Pop()
		order = append(order, u)
		for _, v := range ends[u] {
			if d := key[u] + g.prog.Budget.Distance(int(u), int(v)); d < key[v] {
				key[v], parent[v] = d, u
				h.Push(v)
			}
		}
	}
	for _, u := range slices.Backward(order) {
		if has[u] {
			has[parent[u]] = true
		}
	}
}

// clip lowers what is beyond the trusted decay to the envelope of what is within, and divides
// rows by their sums. An input that may lose more than it does is free to release far outputs:
// nothing tells a local relaxation what that costs the inputs that it leaves out.
func (g *merged) clip(x, decay []float64, trusted float64) error {
	n := g.n
	err := g.eachOutput(func(w int) {
		x, decay := x[w*n:(w+1)*n], decay[w*n:(w+1)*n]
		var inner []int32
		for u, e := range decay {
			if e <= trusted {
				inner = append(inner, int32(u))
			}
		}
		for u, e := range decay {
			if e <= trusted || x[u] == 0 {
				continue
			}
			most := 0.0
			for _, v := range inner {
				most = max(most, x[v]*math.Exp(-g.prog.Budget.Distance(u, int(v))))
			}
			x[u] = min(x[u], most)
		}
	})
	sum := make([]float64, n)
	for i, q := range x {
		sum[i%n] += q
	}
	for i := range x {
		x[i] /= sum[i%n]
	}
	return err
}

// complete lowers the prices of res, which are those of entries within their support, until
// they are for all entries, and the bound to what they prove.
//
// Any multipliers >= 0 of rows prove something: here those of the relaxation, of rows between
// inputs of the support, and for f >= 0 those of f (exp(e(u,v)) M[v,w] - M[u,w]) >= 0 between two
// of the others. There the reduced cost c[u] of w starts as z[u] loss(u,w); f adds as much to it and
// takes exp(e(u,v)) f from c[v]. Those below their price y[u] are raised so by those that have
// most to give, the nearest first. With y'[u], the least of y[u] and of c[u] for all w, no cost is below
// y', and sum(y')/sum(z) is a bound, see [Solution.prove].
func (g *merged) complete(res *ipm.Result) error {
	n, m := g.n, g.m
	z, y := res.Z, res.Y
	far := 0.0 // a loss that is typical of far outputs
	for _, l := range g.scaled {
		far += l
	}
	far /= float64(n * m)
	var rich []int32
	spare := make([]float64, n)
	for u := range n {
		if spare[u] = float64(z[u]*far) - y[u]; spare[u] > 0 {
			rich = append(rich, int32(u))
		}
	}
	from := make([][]int32, n)
	err := parallel.Chunks(g.late, n, 16, g.o.Workers, nil, func(_, lo, hi int) {
		var row []float64
		for u := lo; u < hi; u++ {
			row = finite.Row(g.prog.Budget, u, row)
			from[u] = suppliersOf(u, row, spare, rich)
		}
	})
	if err != nil {
		return err
	}
	lowest := make([][]float64, m)
	err = g.eachOutput(func(w int) {
		loss, c := g.scaled[w*n:(w+1)*n], make([]float64, n)
		for u := range n {
			c[u] = directed.MulDown(z[u], loss[u])
		}
		for _, u := range g.prog.Support[w] {
			c[u] = y[u]
		}
		give := func(u, v int) { // from v to u
			need, spare := y[u]-c[u], c[v]-y[v]
			if !(need > 0 && spare > 0) {
				return
			}
			factor := directed.ExpUp(g.prog.Budget.Distance(u, v))
			if f := min(need, spare/factor); f > 0 && factor <= math.MaxFloat64 {
				c[u] = directed.AddDown(c[u], f)
				c[v] = directed.SubDown(c[v], directed.MulUp(f, factor))
			}
		}
		var lacking []int
		for u := range n {
			if c[u] < y[u] {
				lacking = append(lacking, u)
			}
		}
		slices.SortFunc(lacking, func(a, b int) int { return cmp.Or(cmp.Compare(loss[a], loss[b]), cmp.Compare(a, b)) })
		for _, u := range lacking {
			for _, v := range from[u] {
				give(u, int(v)) // of the support none has more
				if c[u] >= y[u] {
					break
				}
			}
		}
		lowest[w] = c
	})
	if err != nil {
		return err
	}
	sum, mass := 0.0, 0.0
	for u := range n {
		for _, c := range lowest {
			y[u] = min(y[u], c[u])
		}
		sum = directed.AddDown(sum, y[u])
		mass = directed.AddUp(mass, z[u])
	}
	res.Lower = max(0, directed.DivDown(sum, mass))
	return nil
}

// suppliersOf are those inputs that have most to give to u, by the budgets to it, the nearest first. spare
// is what the rich have.
func suppliersOf(u int, budget, spare []float64, rich []int32) []int32 {
	list, gift := make([]int32, 0, suppliers+1), make([]float64, 0, suppliers+1)
	for _, v := range rich {
		g := math.Log(spare[v]) - budget[v] // where the exponentials underflow, too
		if int(v) == u || len(list) == suppliers && g <= gift[suppliers-1] {
			continue
		}
		at, _ := slices.BinarySearchFunc(gift, g, func(a, b float64) int { return cmp.Compare(b, a) })
		list, gift = slices.Insert(list, at, v), slices.Insert(gift, at, g)
		list, gift = list[:min(suppliers, len(list))], gift[:min(suppliers, len(gift))]
	}
	slices.SortFunc(list, func(a, b int32) int { return cmp.Or(cmp.Compare(budget[a], budget[b]), cmp.Compare(a, b)) })
	return list
}

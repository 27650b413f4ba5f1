// Package kernel builds private mechanisms on many inputs from sums of columns
// exp(-r rho1(x, S)).
package kernel

import (
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/lp/internal/envelope"
	"github.com/metricdp/metricdp/mechanism"
)

// Problem is what a kernel is for. Levels and rates are in units of the budgets' alpha.
type Problem struct {
	Inputs, Outputs int
	Budget          finite.Metric // as of package ipm
	Loss            []float64     // [w*Inputs+u]
	Workers         int
	// Memory refuses arrays of so many bytes.
	Memory func(bytes float64) error
}

// Kernel is a sum of columns whose rows are nearly 1. Columns exp(-r rho1(., S)), for a
// set S of inputs, keep the level r by the triangle inequality, and so do their sums
// with weights >= 0. If all rows of the sum were 1 it would be a channel. The weights of
// sets of one input that come nearest are the solution of
//
//	minimize w'Kw/2 - sum(w) over w >= 0,  K[u,v] = exp(-r rho1(u,v)):
//
// where w[u] > 0 the row of u is 1, elsewhere at least 1 (exponential.Tight is the case
// of all > 0). Rows above 1 lie in the midst of others. A column whose S is a ring around
// such an input, which releases what is nearest to the input, has a dip there, and takes
// the place of single ones.
//
// What the row sums differ by in the end is mended by envelopes: see package envelope. Where
// those take long r is less by as much. Where that fails r is 1/2, as the logarithm of a row sum
// changes by r rho1 at most.
type Kernel struct {
	Problem
	ctx  context.Context
	n    int // inputs
	rate float64
	// near[u] are the inputs within reach/rate of u, value their entries of K.
	near    [][]int32
	value   [][]float32
	weight  []float64 // of the inputs' own columns
	total   []float64 // row sums, of near columns
	rings   []*ring
	ringed  []bool
	release []int  // index into label, of every input's column
	label   []int  // outputs that are released
	answers []term // the columns after Remap, nil before
	base    *Base  // nil: none
	share   float64
	baseAt  []int // label of every column of base
}

const (
	// Columns are cut off where they are below exp(-reach) while weights are
	// computed; the channel has all of them.
	reach = 12
	// still is a change of weight that is not worth its propagation.
	still  = 1e-7
	first  = 60  // sweeps over single inputs before rings are looked at
	sweeps = 3   // between two passes over the rings
	passes = 200 // at most, and evenly where no envelope mends what is left
	evenly = 500
	look   = 25 // passes between two looks at the row sums
	// even is what the logarithms of row sums may differ by, as a share of the budget; mostSlack is what
	// the rate may be lower by for it where no envelope mends it: half the rate is safe in any case.
	even, mostSlack = .005, .2
	// faint is the logarithm of a share of a sum that is not counted.
	faint = -40
	// least is the logarithm of a weight below which columns are level, as private.
	least = -650
)

// New finds weights whose row sums are even, on top of a share of base, which may be nil.
// Its errors are those of ctx and Memory.
func New(ctx context.Context, p *Problem, base *Base, share float64) (*Kernel, error) {
	k := &Kernel{Problem: *p, ctx: ctx, n: p.Inputs, base: base, share: share}
	if err := k.releases(); err != nil {
		return nil, err
	}
	if k.mends() {
		_, err := k.balance(1 - envelope.Margin)
		return k, err
	}
	for slack := 1.1 * even; ; { // the level is at most the rate and the unevenness
		share, err := k.balance(1 - slack)
		if err != nil || !(share > slack) || slack > mostSlack {
			return k, err
		}
		slack = 1.2 * share
	}
}

// mended is how many products n^2 m an envelope of many outputs takes at most: at 2e10 all take some
// minutes. Tests lower it.
var mended = 2e10

// mends tells whether envelopes mend the channel.
func (k *Kernel) mends() bool {
	n, m := float64(k.n), float64(len(k.label))
	return 2*m < n || n*n*m <= mended
}

// releases assigns to every input the output that is nearest to it.
func (k *Kernel) releases() error {
	k.release = make([]int, k.n)
	for w := range k.Outputs {
		if err := k.ctx.Err(); err != nil {
			return err
		}
		for u, l := range k.Loss[w*k.n : (w+1)*k.n] {
			if l < k.Loss[k.release[u]*k.n+u] {
				k.release[u] = w
			}
		}
	}
	at := make(map[int]int)
	place := func(output int) int {
		if _, ok := at[output]; !ok {
			at[output] = len(k.label)
			k.label = append(k.label, output)
		}
		return at[output]
	}
	for i, w := range k.release {
		k.release[i] = place(w)
	}
	if k.base != nil {
		k.baseAt = make([]int, len(k.base.label))
		for y, output := range k.base.label {
			k.baseAt[y] = place(output)
		}
	}
	return nil
}

// build computes the columns of single inputs.
func (k *Kernel) build(rate float64) error {
	k.rate, k.rings, k.answers = rate, nil, nil
	k.near, k.value = make([][]int32, k.n), make([][]float32, k.n)
	k.weight, k.total, k.ringed = make([]float64, k.n), make([]float64, k.n), make([]bool, k.n)
	err := parallel.Chunks(k.ctx, k.n, 8, k.Workers, nil, func(_, lo, hi int) {
		var row []float64
		for u := lo; u < hi; u++ {
			row = finite.Row(k.Budget, u, row)
			count := 0
			for _, d := range row {
				if d*rate <= reach {
					count++
				}
			}
			k.near[u], k.value[u] = make([]int32, 0, count), make([]float32, 0, count)
			for v, d := range row {
				if d*rate <= reach {
					k.near[u] = append(k.near[u], int32(v))
					k.value[u] = append(k.value[u], float32(math.Exp(-rate*d)))
				}
			}
		}
	})
	if err != nil {
		return err
	}
	if k.base != nil {
		if err := k.rows(func(x int, _, logs []float64) { k.total[x] = expSum(logs) }); err != nil {
			return err
		}
	}
	return k.Memory(k.entries())
}

func (k *Kernel) entries() float64 {
	entries := 0
	for _, l := range k.near {
		entries += len(l)
	}
	for _, r := range k.rings {
		entries += len(r.value)
	}
	return float64(8 * float64(entries))
}

// balance computes the weights and returns the unevenness. O(entries of K) a sweep.
func (k *Kernel) balance(rate float64) (share float64, err error) {
	if err := k.build(rate); err != nil {
		return 0, err
	}
	for range first {
		if err := k.sweep(); err != nil {
			return 0, err
		}
	}
	most := passes
	if !k.mends() {
		most = evenly
	}
	for pass := 0; ; pass++ {
		if pass%look == 0 {
			share, err := k.unevenness()
			if err != nil || share <= even || pass >= most {
				return share, err
			}
		}
		if err := k.addRings(); err != nil {
			return 0, err
		}
		for _, r := range k.rings {
			k.sweepRing(r)
		}
		for range sweeps {
			if err := k.sweep(); err != nil {
				return 0, err
			}
		}
	}
}

// sweep minimizes over the weight of one input after another.
func (k *Kernel) sweep() error {
	for u, w := range k.weight {
		if u%256 == 0 && k.ctx.Err() != nil {
			return k.ctx.Err()
		}
		step := max(-w, 1-k.total[u])
		if math.Abs(step) <= still {
			continue
		}
		k.weight[u] += step
		value := k.value[u]
		for i, v := range k.near[u] {
			k.total[v] += float64(step * float64(value[i]))
		}
	}
	return nil
}

// term is a column with a weight. It releases labels with the logarithms of their shares.
type term struct {
	log    float64 // of the weight
	set    []int32 // as that of a ring
	labels []int
	shares []float64
}

// columns lists those with a weight.
func (k *Kernel) columns() (list []term) {
	if k.answers != nil {
		return k.answers
	}
	add := func(weight float64, set []int32, center int) {
		if weight > 0 {
			list = append(list, term{math.Log(weight), set, k.release[center : center+1], []float64{0}})
		}
	}
	for u, w := range k.weight {
		add(w, []int32{int32(u)}, u)
	}
	for _, r := range k.rings {
		add(r.weight, r.set, r.center)
	}
	return list
}

// logs writes the logarithms of the weights of the row of input x by labels, from the
// distances of x. scratch has room for the columns and labels.
func (k *Kernel) logs(dst, from []float64, columns []term, scratch []float64) {
	at, sums := scratch[:len(columns)], scratch[len(columns):][:len(dst)]
	clear(sums)
	for w := range dst {
		dst[w] = math.Inf(-1)
	}
	for i, c := range columns {
		at[i] = c.log - float64(k.rate*nearest(from, c.set))
		for j, w := range c.labels {
			dst[w] = max(dst[w], at[i]+c.shares[j])
		}
	}
	for i, c := range columns {
		for j, w := range c.labels {
			if l := at[i] + c.shares[j] - dst[w]; l > faint {
				sums[w] += math.Exp(l)
			}
		}
	}
	for w, sum := range sums {
		if sum > 0 {
			dst[w] += math.Log(sum)
		}
	}
	if k.base != nil {
		k.base.add(dst, k.baseAt, from, k.rate, k.share)
	}
}

// addLog adds in logarithms.
func addLog(sum *float64, v float64) {
	a, b := max(*sum, v), min(*sum, v)
	if b > math.Inf(-1) {
		a += math.Log1p(math.Exp(b - a))
	}
	*sum = a
}

// expSum is the sum of exponentials.
func expSum(logs []float64) float64 {
	sum := 0.0
	for _, l := range logs {
		sum += math.Exp(l)
	}
	return sum
}

// rows calls f for every input with its distances and the logarithms of its weights.
func (k *Kernel) rows(f func(x int, from, logs []float64)) error {
	columns := k.columns()
	return parallel.Chunks(k.ctx, k.n, 8, k.Workers, nil, func(_, lo, hi int) {
		logs, scratch := make([]float64, len(k.label)), make([]float64, len(columns)+len(k.label))
		var from []float64
		for x := lo; x < hi; x++ {
			from = finite.Row(k.Budget, x, from)
			k.logs(logs, from, columns, scratch)
			f(x, from, logs)
		}
	})
}

// unevenness is the largest |ln Z(u) - ln Z(v)|, as a share of the budget.
func (k *Kernel) unevenness() (float64, error) {
	lnZ := make([]float64, k.n)
	err := k.rows(func(x int, _, logs []float64) {
		lnZ[x] = math.Log(expSum(logs))
	})
	if err != nil {
		return 0, err
	}
	share := make([]float64, k.n)
	err = parallel.Chunks(k.ctx, k.n, 8, k.Workers, nil, func(_, lo, hi int) {
		var from []float64
		for x := lo; x < hi; x++ {
			from = finite.Row(k.Budget, x, from)
			for v, d := range from {
				if diff := math.Abs(lnZ[x] - lnZ[v]); diff > share[x]*d && d > 0 {
					share[x] = diff / d
				}
			}
		}
	})
	return slices.Max(share), err
}

// Losses are those of the inputs.
func (k *Kernel) Losses() ([]float64, error) {
	losses := make([]float64, k.n)
	err := k.rows(func(x int, _, logs []float64) {
		sum, loss := 0.0, 0.0
		for w, l := range logs {
			p := math.Exp(l)
			sum += p
			loss += float64(p * k.Loss[k.label[w]*k.n+x])
		}
		losses[x] = loss / sum
	})
	return losses, err
}

// Channel divides the rows by their sums and mends what that breaks, and releases label[w] in
// the place of output w. Its level is to be audited. A safe one is not mended: its weights
// are for a rate at which the level is at most 1, where rho1 is a metric and but for rounding.
// nil, without an error, where weights overflow, as they may where rho1 is none.
func (k *Kernel) Channel(ctx context.Context, label []int, safe bool) (*mechanism.Channel, error) {
	m := len(k.label)
	if err := k.Memory(float64(24 * float64(k.n) * float64(m))); err != nil {
		return nil, err
	}
	if safe {
		if _, err := k.balance((1 - envelope.Margin) / 2); err != nil {
			return nil, err
		}
	}
	e := envelope.Channel{Inputs: k.n, Outputs: m, X: make([]float64, k.n*m), Log: make([]float64, k.n), Budget: k.Budget, Workers: k.Workers}
	err := k.rows(func(x int, _, logs []float64) {
		e.Log[x] = math.Log(expSum(logs))
		for w, l := range logs {
			e.X[x*m+w] = math.Exp(max(l, least) - e.Log[x])
		}
	})
	if err == nil && !safe && k.mends() {
		_, err = e.Repair(ctx)
	}
	if err != nil || slices.ContainsFunc(e.X, func(v float64) bool { return !(v <= math.MaxFloat64) }) {
		return nil, err
	}
	labels := make([]int, m)
	for i, w := range k.label {
		labels[i] = label[w]
	}
	return mechanism.FromWeights(ctx, k.n, m, e.X, &mechanism.ChannelOptions{Labels: labels, Workers: k.Workers})
}

package lp

import (
	"cmp"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/dense"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/mechanism"
)

// The balanced kernel. Columns exp(-r rho1(., S)), for a set S of inputs, keep the level
// r by the triangle inequality, and so do their sums with weights >= 0. If all rows of
// the sum were 1 it would be a channel. The weights of sets of one input that come
// nearest are the solution of
//
//	minimize w'Kw/2 - sum(w) over w >= 0,  K[u,v] = exp(-r rho1(u,v)):
//
// where w[u] > 0 the row of u is 1, elsewhere at least 1 ([exponential.Tight] is the case
// of all > 0). Rows above 1 lie in the midst of others. A column whose S is a ring around
// such an input, which releases what is nearest to the input, has a dip there, and takes
// the place of single ones.
//
// What the row sums differ by in the end costs level: dividing the rows by them adds to r
// the largest |ln Z(u) - ln Z(v)|/rho1(u,v).
type kernel struct {
	*extension
	rate float64
	safe float64 // a rate whose level is below alpha by the triangle inequality
	// near[u] are the inputs within kernelReach/rate of u, value their entries of K.
	near    [][]int32
	value   [][]float32
	weight  []float64 // of the inputs' own columns
	total   []float64 // row sums, of near columns
	rings   []*ring
	ringed  []bool
	release []int // index into label, of every input's column
	label   []int // outputs that are released
	base    *base // nil: none
}

// base is a channel on some inputs, those of a local program for the whole space. Its
// columns are extended to all inputs, X[., w] to the geometric mean of the greatest
// exp(-r rho1(u, s)) X[s,w] and the least exp(r rho1(u, s)) X[s,w], whose logarithms
// change by r rho1 at most; share of them is taken, and single columns fill up the rows.
type base struct {
	inputs []int
	label  []int     // by column: the output
	logs   []float64 // by column, of the inputs
	at     []int     // by column: where it is among the labels of the kernel
	share  float64
}

// baseShares are tried, and the best mechanism is kept.
var baseShares = []float64{1, .92, .84}

// newBase reads the channel of a local program.
func newBase(inputs []int, c *mechanism.Channel, output func(label int) int) *base {
	b := &base{inputs: inputs, logs: make([]float64, len(inputs)*c.Outputs())}
	for y := range c.Outputs() {
		b.label = append(b.label, output(c.Output(y)))
	}
	var row []float64
	for i := range inputs {
		row = c.Row(i, row)
		for y, p := range row {
			b.logs[y*len(inputs)+i] = directed.Log(p)
		}
	}
	return b
}

// add adds the base's row to logarithms of weights, for an input at the distances from.
func (b *base) add(dst, from []float64, rate float64) {
	n, share := len(b.inputs), math.Log(b.share)
	exponent := make([]float64, n)
	for i, s := range b.inputs {
		exponent[i] = float64(rate * from[s])
	}
	for y, at := range b.at {
		low, high := math.Inf(-1), math.Inf(1)
		for i, l := range b.logs[y*n : (y+1)*n] {
			low, high = max(low, l-exponent[i]), min(high, l+exponent[i])
		}
		if low > math.Inf(-1) {
			addLog(&dst[at], share+low/2+high/2)
		}
	}
}

// ring is the column of a set around an input.
type ring struct {
	center int
	set    []int32
	value  []float32 // at near[center]
	// local are inputs around the center. Of all combinations of their own columns the
	// one with coefficients beta is the nearest to the ring; norm is its square.
	local  []int32
	beta   []float64
	norm   float64
	weight float64
}

const (
	// Columns are cut off where they are below exp(-kernelReach) while weights are
	// computed; the channel has all of them.
	kernelReach = 12
	// kernelStill is a change of weight that is not worth its propagation.
	kernelStill  = 1e-7
	kernelFirst  = 60  // sweeps over single inputs before rings are looked at
	kernelSweeps = 3   // between two passes over the rings
	kernelPasses = 200 // at most
	kernelLook   = 25  // passes between two looks at the level
	// sharpenSteps halve the room between the rate and alpha, sharpenMargin of which is
	// left to the pairs that sharpen does not look at.
	sharpenSteps  = 6
	sharpenMargin = 2e-3
	// ringLocal is how many inputs represent a ring at most.
	ringLocal = 60
	// ringExcess is how far a row sum is above 1 where rings are made.
	ringExcess = 2e-4
)

// kernelRooms are the shares of alpha that may be lost to the row sums. At the last the
// triangle inequality is enough: the logarithm of a row sum changes by the rate at most.
var kernelRooms = []float64{.01, .02, .04, .06, .08, .12, .16, .24, .32, .5}

// ringRadii are, in units of 1/rate, the annuli of which rings are made; a negative
// one stands for so many nearest inputs.
var ringRadii = [][2]float64{{.02, .04}, {.03, .1}, {.05, .08}, {.07, .15}, {.1, .15}, {.1, .3}, {.15, .25}, {.2, .3}, {.2, .6},
	{.25, .45}, {.35, .5}, {.35, 1}, {.5, .7}, {.5, 1.5}, {.7, 1}, {.7, 2}, {1, 1.5}, {1.4, 2}, {-3}, {-4}, {-5}, {-7}, {-9}}

// kernel finds weights whose row sums leave the level below alpha, on top of a base,
// if any.
func (e *extension) kernel(over *base) (*kernel, error) {
	k := &kernel{extension: e, base: over}
	if err := k.releases(); err != nil {
		return nil, err
	}
	share := 0.0
	for i, room := range kernelRooms {
		last := i == len(kernelRooms)-1
		if room < share && !last {
			continue
		}
		err := k.build(e.alpha * (1 - room))
		if err == nil {
			share, err = k.balance(room, last)
		}
		if err != nil {
			return nil, err
		}
		if share <= room {
			break
		}
	}
	return k, k.sharpen()
}

// sharpen raises the rate, weights as they are, to where the level is just below alpha, as
// far as the pairs tell that are nearest and those whose row sums differ most. Columns
// that differ by their rate are seldom divided by row sums that add to it.
func (k *kernel) sharpen() error {
	k.safe = k.rate
	_, partner, err := k.unevenness()
	if err != nil {
		return err
	}
	private := func(rate float64) (bool, error) {
		k.rate = rate
		worst := make([]bool, k.n)
		err := k.rows(func(x int, from, logs []float64) {
			other := make([]float64, len(logs))
			sum := math.Log(expSum(logs))
			nearest := -1
			for v, d := range from {
				if d > 0 && (nearest < 0 || d < from[nearest]) {
					nearest = v
				}
			}
			for _, v := range []int{nearest, partner[x]} {
				if v < 0 {
					continue
				}
				k.logs(other, finite.Row(k.b.Privacy, v, nil))
				shift, most := sum-math.Log(expSum(other)), k.alpha*(1-sharpenMargin)*from[v]
				for w, l := range logs {
					// NaN where both are 0.
					if diff := l - other[w] - shift; diff > most || -diff > most {
						worst[x] = true
					}
				}
			}
		})
		return !slices.Contains(worst, true), err
	}
	low, high := k.safe, k.alpha
	for range sharpenSteps {
		mid := low + (high-low)/2
		ok, err := private(mid)
		if err != nil {
			return err
		}
		if ok {
			low = mid
		} else {
			high = mid
		}
	}
	k.rate = low
	return nil
}

// releases assigns to every input the output that is nearest to it.
func (k *kernel) releases() error {
	k.release = make([]int, k.n)
	err := parallel.Chunks(k.ctx, k.n, 16, k.o.Workers, nil, func(_, lo, hi int) {
		var row []float64
		for u := lo; u < hi; u++ {
			row = finite.Row(k.b.Utility, u, row)
			for w, y := range k.o.Outputs {
				if row[y] < row[k.o.Outputs[k.release[u]]] {
					k.release[u] = w
				}
			}
		}
	})
	if err != nil {
		return err
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
		k.release[i] = place(k.o.Outputs[w])
	}
	if k.base != nil {
		k.base.at = make([]int, len(k.base.label))
		for y, output := range k.base.label {
			k.base.at[y] = place(output)
		}
	}
	return nil
}

// build computes the columns of single inputs.
func (k *kernel) build(rate float64) error {
	k.rate, k.rings = rate, nil
	k.near, k.value = make([][]int32, k.n), make([][]float32, k.n)
	k.weight, k.total, k.ringed = make([]float64, k.n), make([]float64, k.n), make([]bool, k.n)
	err := parallel.Chunks(k.ctx, k.n, 8, k.o.Workers, nil, func(_, lo, hi int) {
		var row []float64
		for u := lo; u < hi; u++ {
			row = finite.Row(k.b.Privacy, u, row)
			count := 0
			for _, d := range row {
				if d*rate <= kernelReach {
					count++
				}
			}
			k.near[u], k.value[u] = make([]int32, 0, count), make([]float32, 0, count)
			for v, d := range row {
				if d*rate <= kernelReach {
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
	return k.memory(k.bytes())
}

func (k *kernel) bytes() float64 {
	entries := 0
	for _, l := range k.near {
		entries += len(l)
	}
	for _, r := range k.rings {
		entries += len(r.value)
	}
	return float64(8 * float64(entries))
}

// balance computes the weights, and returns what the row sums add to the level, as a
// share of alpha: of all pairs, or more than room. O(entries of K) a sweep.
func (k *kernel) balance(room float64, last bool) (float64, error) {
	for range kernelFirst {
		if err := k.sweep(); err != nil {
			return 0, err
		}
	}
	for pass := 0; ; pass++ {
		if pass%kernelLook == 0 {
			share, _, err := k.unevenness()
			if err != nil || share <= room/2 || pass >= kernelPasses || last {
				return share, err
			}
		}
		if err := k.addRings(); err != nil {
			return 0, err
		}
		for _, r := range k.rings {
			k.turn(r)
		}
		for range kernelSweeps {
			if err := k.sweep(); err != nil {
				return 0, err
			}
		}
	}
}

// sweep minimizes over the weight of one input after another.
func (k *kernel) sweep() error {
	for u, w := range k.weight {
		if u%256 == 0 && k.ctx.Err() != nil {
			return k.ctx.Err()
		}
		step := max(-w, 1-k.total[u])
		if math.Abs(step) <= kernelStill {
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

// turn does the same for the weight of a ring, in the same norm, w'Kw for combinations
// of columns.
func (k *kernel) turn(r *ring) {
	slope := 0.0
	for i, v := range r.local {
		slope += float64(r.beta[i] * (1 - k.total[v]))
	}
	step := max(-r.weight, slope/r.norm)
	if math.Abs(step) <= kernelStill {
		return
	}
	r.weight += step
	for i, v := range k.near[r.center] {
		k.total[v] += float64(step * float64(r.value[i]))
	}
}

// addRings makes the rings of the inputs that need them.
func (k *kernel) addRings() error {
	var centers []int
	for u, z := range k.total {
		if k.weight[u] == 0 && z > 1+ringExcess && !k.ringed[u] {
			centers, k.ringed[u] = append(centers, u), true
		}
	}
	made, errs := make([][]*ring, len(centers)), make([]error, len(centers))
	err := parallel.Chunks(k.ctx, len(centers), 1, k.o.Workers, nil, func(i, _, _ int) {
		made[i], errs[i] = k.ringsAround(centers[i])
	})
	for _, r := range made {
		k.rings = append(k.rings, r...)
	}
	return cmp.Or(err, cmp.Or(errs...))
}

// ringsAround makes the rings of an input.
func (k *kernel) ringsAround(center int) (rings []*ring, err error) {
	type neighbor struct {
		at int32
		d  float64
	}
	list := make([]neighbor, 0, len(k.near[center]))
	for _, v := range k.near[center] {
		list = append(list, neighbor{v, k.b.Privacy.Distance(center, int(v))})
	}
	slices.SortFunc(list, func(a, b neighbor) int { return cmp.Or(cmp.Compare(a.d, b.d), cmp.Compare(a.at, b.at)) })
	// The local inputs are a quarter of their distance from the center apart.
	var local []int32
	var own []float64 // distances from the center
	for _, c := range list {
		if len(local) == ringLocal || c.d*k.rate > 4 {
			break
		}
		apart := max(.25*c.d, 1e-6/k.rate)
		if c.d > 0 && c.d <= 1e-6/k.rate || slices.ContainsFunc(local, func(v int32) bool { return k.b.Privacy.Distance(int(v), int(c.at)) <= apart && v != c.at }) {
			continue
		}
		local, own = append(local, c.at), append(own, c.d)
	}
	l := len(local)
	gram := make([]float64, l*l)
	for i, u := range local {
		for j, v := range local {
			gram[i*l+j] = math.Exp(-k.rate * k.b.Privacy.Distance(int(u), int(v)))
		}
	}
	factor, err := dense.Factorize(k.ctx, l, make([]float64, l*l), func(a []float64) error { copy(a, gram); return nil })
	if err != nil || factor == nil {
		return nil, err
	}
	value := make([]float32, l*len(k.near[center])) // of local inputs' own columns
	for i, u := range local {
		for j, v := range k.near[center] {
			value[i*len(k.near[center])+j] = float32(math.Exp(-k.rate * k.b.Privacy.Distance(int(u), int(v))))
		}
	}
	for _, radii := range ringRadii {
		var set []int // positions in local
		for i, d := range own {
			if d *= k.rate; d > 0 && (radii[0] < 0 && len(set) < int(-radii[0]) || d >= radii[0] && d <= radii[1]) {
				set = append(set, i)
			}
		}
		if len(set) < 2 {
			continue
		}
		near := len(k.near[center])
		r := &ring{center: center, local: local, beta: make([]float64, l), value: make([]float32, near)}
		for _, i := range set {
			r.set = append(r.set, local[i])
			for j := range r.beta {
				r.beta[j] = max(r.beta[j], gram[i*l+j])
			}
			for j, v := range value[i*near : (i+1)*near] {
				r.value[j] = max(r.value[j], v)
			}
		}
		at := slices.Clone(r.beta)
		if err := factor.Solve(k.ctx, r.beta); err != nil {
			return nil, err
		}
		for i, v := range at {
			r.norm += float64(v * r.beta[i])
		}
		if !(r.norm > 0) || !(r.beta[0] < 0) {
			continue // it has no dip
		}
		rings = append(rings, r)
	}
	return rings, nil
}

// logs writes the logarithms of the weights of the row of input x by labels, from the
// distances of x.
func (k *kernel) logs(dst, from []float64) {
	for w := range dst {
		dst[w] = math.Inf(-1)
	}
	if k.base != nil {
		k.base.add(dst, from, k.rate)
	}
	for u, w := range k.weight {
		if w > 0 {
			addLog(&dst[k.release[u]], math.Log(w)-float64(k.rate*from[u]))
		}
	}
	for _, r := range k.rings {
		if r.weight > 0 {
			least := math.Inf(1)
			for _, s := range r.set {
				least = min(least, from[s])
			}
			addLog(&dst[k.release[r.center]], math.Log(r.weight)-float64(k.rate*least))
		}
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
func (k *kernel) rows(f func(x int, from, logs []float64)) error {
	return parallel.Chunks(k.ctx, k.n, 8, k.o.Workers, nil, func(_, lo, hi int) {
		var from []float64
		logs := make([]float64, len(k.label))
		for x := lo; x < hi; x++ {
			from = finite.Row(k.b.Privacy, x, from)
			k.logs(logs, from)
			f(x, from, logs)
		}
	})
}

// unevenness is the largest |ln Z(u) - ln Z(v)|/rho1(u,v), as a share of alpha, and for
// every u the v of its own largest, or -1.
func (k *kernel) unevenness() (float64, []int, error) {
	lnZ := make([]float64, k.n)
	err := k.rows(func(x int, _, logs []float64) {
		lnZ[x] = math.Log(expSum(logs))
	})
	if err != nil {
		return 0, nil, err
	}
	share, partner := make([]float64, k.n), make([]int, k.n)
	err = parallel.Chunks(k.ctx, k.n, 8, k.o.Workers, nil, func(_, lo, hi int) {
		var from []float64
		for x := lo; x < hi; x++ {
			from, partner[x] = finite.Row(k.b.Privacy, x, from), -1
			for v, d := range from {
				if diff := math.Abs(lnZ[x] - lnZ[v]); diff > share[x]*k.alpha*d && d > 0 {
					share[x], partner[x] = diff/d/k.alpha, v
				}
			}
		}
	})
	return slices.Max(share), partner, err
}

// losses are those of the inputs.
func (k *kernel) losses() ([]float64, error) {
	losses := make([]float64, k.n)
	err := k.rows(func(x int, _, logs []float64) {
		utility := finite.Row(k.b.Utility, x, nil)
		sum, loss := 0.0, 0.0
		for w, l := range logs {
			p := math.Exp(l)
			sum += p
			loss += float64(p * utility[k.label[w]])
		}
		losses[x] = loss / sum
	})
	return losses, err
}

// channel builds the mechanism and audits it.
func (k *kernel) channel() (*mechanism.Channel, mechanism.Audit, error) {
	if err := k.memory(float64(8 * float64(k.n) * float64(len(k.label)))); err != nil {
		return nil, mechanism.Audit{}, err
	}
	c, err := mechanism.NewChannel(k.ctx, mechanism.Rows{Inputs: k.n, Outputs: len(k.label), Log: true, Fill: func(x int, dst []float64) {
		k.logs(dst, finite.Row(k.b.Privacy, x, nil))
	}}, &mechanism.ChannelOptions{Labels: k.label, Workers: k.o.Workers})
	if err != nil {
		return nil, mechanism.Audit{}, err
	}
	return c.Certify(k.ctx, k.b.Privacy, k.o.Unit, &mechanism.AuditOptions{Workers: k.o.Workers})
}

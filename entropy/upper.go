package entropy

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/internal/search"
	"github.com/metricdp/metricdp/metric"
)

// StandardBound returns an upper bound on the worst expected loss of the
// exponential mechanism at level alpha on a maximal s-separated net, where s is
// the entropic scale of the space at alpha/3 and privacy and loss are measured
// by one metric: BSV24 Lemma 4.1 with its constants made explicit,
//
//	min over u >= 2 of 3s + u/alpha + e^(-u/6) (9s + (3u+12)/alpha).
//
// Any u >= 2 gives a valid bound; the one returned is within a relative 1e-9 of
// the least, rounded upward, +Inf on overflow. It increases with s.
func StandardBound(alpha, s float64) (float64, error) {
	const op = "entropy: StandardBound"
	if err := fault.Positive(op, "alpha", alpha); err != nil {
		return 0, err
	}
	if err := fault.NonNegative(op, "s", s); err != nil {
		return 0, err
	}
	// In units of 1/alpha, t = alpha*s. The derivative 1 - e^(-u/6) (3t/2 + u/2
	// - 1) vanishes where e^(u/6) = 3t/2 + u/2 - 1. From u = 0, where the right
	// side is above the left for t > 4/3, to u large the difference of the
	// convex left and the linear right changes sign at most twice; the least
	// value is at 2 or at the last sign change, which bisection finds below 24
	// + 6 ln(1+2t), where the left side is larger.
	t := min(alpha*s, 1e300)
	slope := func(u float64) float64 { return math.Exp(u/6) - (float64(1.5*t) + u/2 - 1) }
	lo, hi := 6*math.Log(3), 24+float64(6*math.Log1p(2*t)) // slope is least where e^(u/6) = 3
	_, hi = search.Change(lo, hi, 1e-12, func(u float64) bool { return slope(u) >= 0 })
	return min(standardAt(2, alpha, s), standardAt(hi, alpha, s)), nil
}

// standardAt is the expression of StandardBound at one u, rounded upward.
func standardAt(u, alpha, s float64) float64 {
	tail := directed.DivUp(directed.AddUp(directed.MulUp(3, u), 12), alpha)
	tail = directed.MulUp(directed.ExpUp(directed.DivUp(-u, 6)), directed.AddUp(directed.MulUp(9, s), tail))
	return directed.AddUp(directed.AddUp(directed.MulUp(3, s), directed.DivUp(u, alpha)), tail)
}

// RelaxedBound returns s + (15k-1)*so, rounded upward: an upper bound on the
// worst expected loss of the relaxed mechanism at level alpha, any two metrics,
// on a maximal s-separated net N of rho2. s is the entropic scale at alpha/3 or
// larger, so the diametric scale at alpha/7, and k is at least as many points of
// N as have balls of radius s that meet B2(w,s), for every w: 1 where rho2 is an
// ultrametric, for which this is BSV24 Theorem 5.1 with its constant made
// explicit, and otherwise at most
//
//	|N in B2(w,2s)| <= K = max over w of N2(B2(w,2s), s),
//
// a power of the doubling constant of rho2. s and so are finite and >= 0.
//
// More generally the bound is s(Z, c*alpha) + (k (1/2-d)/(1/2-c-d) - 1) s_o(Z,
// d*alpha) for c + d < 1/2. Proof. P{y|x} is proportional to e^(-alpha sigma_y/2),
// sigma_y being the least rho1(x,v) of the points v of a cell of y: points v with
// rho2(v,y) <= s, such that x is in a cell. The sum of the weights is at least 1.
//
// Let v_y attain sigma_y, v_y = x in the cell of x. The loss at y is at most s +
// rho2(x,v_y) <= s + s_o e^(d alpha sigma_y), and s alone for the cell of x.
//
// Let n(r) be the number of y with sigma_y <= r. Among their v_y, which lie in
// B1(x,r), take a maximal s-separated set: at most e^(c alpha r) points. Every v_y
// is within s of one of these, w, so that the ball of y meets B2(w,s), which at
// most k do. Hence 1 <= n(r) <= k e^(c alpha r). With b = (1/2-d) alpha the sum of
// e^(-b sigma_y) without the cell of x is
//
//	int b e^(-br) (n(r)-1) dr <= k b/(b - c alpha) - 1.
func RelaxedBound(s, so float64, k int) (float64, error) {
	const op = "entropy: RelaxedBound"
	if err := cmp.Or(fault.NonNegative(op, "s", s), fault.NonNegative(op, "so", so)); err != nil {
		return 0, err
	}
	if k < 1 {
		return 0, fault.Value(op, "k", float64(k), "at least 1")
	}
	factor := directed.SubUp(directed.MulUp(15, float64(k)), 1)
	return directed.AddUp(s, directed.MulUp(factor, so)), nil
}

// constantOutput is the point to release whatever the input, which is private
// at every level: the loss is at most its radius under rho2.
type constantOutput struct{ X int }

// Prove implements [Witness]. O(n).
func (w constantOutput) Prove(ctx context.Context, b metric.Bimetric, alpha float64) (float64, error) {
	if err := checkWitness("entropy: Witness.Prove", b, alpha, w.X, ""); err != nil {
		return 0, err
	}
	far := 0.0
	for _, d := range finite.Row(b.Utility, w.X, nil) {
		far = max(far, d)
	}
	return far, nil
}

// netOutputs are the outputs N of an exponential mechanism, P{y|x} = Weights_y
// e^(-beta sigma(x,y))/Z_x, with beta = Rate*alpha, Weights that are all 1 if nil
// and > 0 otherwise, and sigma = rho1, or where Cells with
// sigma(x,y) the distance under rho1 from x to the cell of y: the points that
// have y as their nearest of N under rho2, the first of equals. No sigma changes
// faster with x than rho1 does, nor does ln(Z_x)/beta, so that this is
// alpha-private for every rho2 if Rate <= 1/2, and for a larger one where
//
//	|ln Z_x - ln Z_z| <= (1-Rate) alpha rho1(x,z) for all x, z.
//
// Its worst expected loss is an upper bound of A. Where N is a maximal
// s-separated net of rho1, without Weights and at Rate 1/2, it obeys the theorem of the package doc for s =
// s(Z, rho1, rho1, c*alpha) or larger, which therefore need not be computed.
type netOutputs struct {
	Outputs []int
	Cells   bool
	Rate    float64
	Weights []float64
}

// Prove implements [Witness]: +Inf where privacy is not proved. Metrics need obey
// the triangle inequality up to [metric.DefaultTolerance] only: privacy is that of
// lengths of shortest paths under rho1, which lie between keep times the distance
// and the distance itself. A path is at least (1+t)^-(log2 of its edges, rounded
// up) of that, t the tolerance. O(n*|Outputs|), and O(n^2) with Cells or a Rate
// above 1/2.
func (w netOutputs) Prove(ctx context.Context, b metric.Bimetric, alpha float64) (float64, error) {
	return w.prove(ctx, b, alpha, 0)
}

func (w netOutputs) prove(ctx context.Context, b metric.Bimetric, alpha float64, workers int) (float64, error) {
	const op = "entropy: Witness.Prove"
	if err := cmp.Or(checkWitness(op, b, alpha, 0, "Outputs", w.Outputs...), fault.Empty(op, "Outputs", len(w.Outputs))); err != nil {
		return 0, err
	}
	if !(w.Rate >= 0 && w.Rate <= 1) {
		return 0, fault.Value(op, "Rate", w.Rate, "a number in [0, 1]")
	}
	if w.Weights != nil && len(w.Weights) != len(w.Outputs) {
		return 0, &fault.SizeError{Op: op, Arg: "Weights", Got: len(w.Weights), Want: fmt.Sprint(len(w.Outputs))}
	}
	for j, v := range w.Weights {
		if !(v > 0 && v <= math.MaxFloat64) {
			return 0, &fault.ValueError{Op: op, Arg: "Weights", Index: j, Value: v, Want: "a finite number > 0"}
		}
	}
	sigma, err := w.sigma(ctx, b)
	if err != nil {
		return 0, err
	}
	rate := directed.MulDown(alpha, w.Rate)
	n := b.Len()
	rows := make([]provedRow, n)
	err = parallel.Chunks(ctx, n, 32, workers, nil, func(_, lo, hi int) {
		dist := newBimetricRows(b)
		to := make([]float64, len(w.Outputs))
		for x := lo; x < hi && ctx.Err() == nil; x++ {
			r1, r2 := dist.at(x)
			sigma(r1, to)
			rows[x] = w.row(rate, to, r2)
		}
	})
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return 0, err
	}
	worst := 0.0
	for _, r := range rows {
		worst = max(worst, r.loss)
	}
	if w.Rate <= 0.5 {
		return worst, nil
	}
	var leaks atomic.Bool
	rest := directed.MulDown(directed.SubDown(alpha, rate), keep)
	err = parallel.Chunks(ctx, n, 32, workers, nil, func(_, lo, hi int) {
		var r1 []float64
		for x := lo; x < hi && ctx.Err() == nil && !leaks.Load(); x++ {
			r1 = finite.Row(b.Privacy, x, r1)
			for z, d := range r1 {
				// At distance 0 the two have the same probabilities.
				if d > 0 && !(directed.SubUp(rows[z].high, rows[x].low) <= directed.MulDown(rest, d)) {
					leaks.Store(true)
				}
			}
		}
	})
	if leaks.Load() {
		worst = math.Inf(1)
	}
	return worst, cmp.Or(err, ctx.Err())
}

// sigma returns what makes the distances to the outputs of those to all points.
func (w netOutputs) sigma(ctx context.Context, b metric.Bimetric) (func(row, to []float64), error) {
	if !w.Cells {
		return func(row, to []float64) {
			for j, y := range w.Outputs {
				to[j] = row[y]
			}
		}, nil
	}
	label, _, err := metric.Assign(ctx, b.Utility, w.Outputs)
	return func(row, to []float64) { nearestOf(label, row, to) }, err
}

// nearestOf writes the least of row over each cell to sigma, +Inf for none.
func nearestOf(label []int, row, sigma []float64) {
	for j := range sigma {
		sigma[j] = math.Inf(1)
	}
	for v, j := range label {
		if d := row[v]; d < sigma[j] {
			sigma[j] = d
		}
	}
}

// keep is 1 - 32t: shortest paths of up to 2^31 edges.
const keep = 1 - 32*metric.DefaultTolerance

// provedRow is an upper bound of the expected loss of a point, and bounds of ln Z.
type provedRow struct{ loss, low, high float64 }

// row is for true distances between keep*sigma and sigma; losses are in row2.
func (w netOutputs) row(rate float64, sigma, row2 []float64) provedRow {
	near := slices.Min(sigma)
	far, sum, least, most := 0.0, 0.0, 0.0, 0.0 // the last two of Z e^(rate near)
	for j, r := range sigma {
		if math.IsInf(r, 1) {
			continue // no point has this output as its nearest
		}
		loss := row2[w.Outputs[j]]
		far = max(far, loss)
		small := directed.MulDown(rate, directed.SubDown(directed.MulDown(r, keep), near))
		large := directed.MulUp(rate, directed.SubUp(r, near))
		exp := directed.ExpUp(-small)
		e := exp
		if w.Weights != nil {
			e = directed.MulUp(exp, w.Weights[j])
		}
		sum = directed.AddUp(sum, directed.MulUp(loss, e))
		most = directed.AddUp(most, e)
		// e^-large >= e^-small (1 - (large-small)), and e is within a relative 2^-48
		// of e^-small times the weight where nothing underflows.
		if min(exp, e) > 1e-300 {
			least = directed.AddDown(least, max(0, directed.MulDown(e, directed.SubDown(1-0x1p-48, directed.SubUp(large, small)))))
		}
	}
	out := provedRow{loss: far,
		low:  directed.SubDown(directed.LogDown(least), directed.MulUp(rate, near)),
		high: directed.SubUp(directed.LogUp(most), directed.MulDown(rate, near))}
	if v := directed.DivUp(sum, least); v < far { // NaN where sum overflowed
		out.loss = v
	}
	return out
}

// weighedPoints is the size up to which weights are sought: some 500 n^2
// multiplications.
const weighedPoints = 512

// weigh returns outputs with weights and a rate that lower the worst loss, found
// in float64: for each of some rates by steps of the weights against what the
// outputs lose where the losses are largest.
func (w *work) weigh(ctx context.Context, outputs []int, alpha float64) netOutputs {
	n, k := w.b.Len(), len(outputs)
	d1, d2, e := make([][]float64, n), make([][]float64, n), make([][]float64, n)
	far := 0.0
	for x := range n {
		e[x] = make([]float64, k)
		d1[x], d2[x] = finite.Row(w.near.Privacy, x, nil), finite.Row(w.near.Utility, x, nil)
		far = max(far, slices.Max(d1[x]))
	}
	best, least := netOutputs{Outputs: outputs, Rate: 0.5}, math.Inf(1)
	start := slices.Repeat([]float64{1}, k)
	loss, mass, share := make([]float64, n), make([]float64, n), make([]float64, n)
	search.Change(0.5, 1, 1./64, func(t float64) (leaks bool) {
		for x := range n {
			for j, y := range outputs {
				e[x][j] = math.Exp(-t * alpha * d1[x][y])
			}
		}
		weights := slices.Clone(start)
		low, kept, logZ := math.Inf(1), slices.Clone(start), make([]float64, n)
		for step := range 40 {
			if ctx.Err() != nil {
				return true
			}
			worst := 0.0
			for x := range n {
				var sum, z float64
				for j, y := range outputs {
					v := weights[j] * e[x][j]
					z += v
					sum += v * d2[x][y]
				}
				loss[x], mass[x] = sum/z, z
				worst = max(worst, loss[x])
			}
			if !(worst < math.Inf(1)) {
				break
			}
			if worst < low {
				low = worst
				copy(kept, weights)
				for x := range n {
					logZ[x] = math.Log(mass[x])
				}
			}
			for x := range n {
				share[x] = math.Exp((10+5*float64(step))*(loss[x]/worst-1)) / mass[x]
			}
			for j, y := range outputs {
				var mean, here float64
				for x := range n {
					v := share[x] * e[x][j]
					mean += v * loss[x]
					here += v * d2[x][y]
				}
				if q := math.Sqrt(mean / here); q > 0 && q < math.Inf(1) {
					weights[j] = min(max(weights[j]*q, 1e-100), 1e100)
				}
			}
		}
		for x := range n {
			for z := range n {
				if d := d1[x][z]; d > 0 && !(logZ[z]-logZ[x]+0x1p-33*t*alpha*far+0x1p-43 <= (1-t)*alpha*d) {
					return true
				}
			}
		}
		copy(start, kept)
		if low < least {
			best.Rate, best.Weights, least = t, kept, low
		}
		return false
	})
	return best
}

// tuneTol is the relative error of the rate that tune finds.
const tuneTol = 0x1p-8

// tune returns w with the largest rate found, in float64, that Prove will accept.
func (w netOutputs) tune(ctx context.Context, b metric.Bimetric, alpha float64, workers int) (netOutputs, error) {
	n, k := b.Len(), len(w.Outputs)
	sigma, err := w.sigma(ctx, b)
	if err != nil {
		return w, err
	}
	rows := make([][]float64, n)
	for x := range rows {
		rows[x] = make([]float64, k)
		sigma(finite.Row(b.Privacy, x, nil), rows[x])
	}
	logZ, slack := make([]float64, n), make([]float64, n)
	leaks := func(t float64) bool {
		var found atomic.Bool
		over := func(f func(x int)) {
			err = cmp.Or(err, parallel.Chunks(ctx, n, 32, workers, nil, func(_, lo, hi int) {
				for x := lo; x < hi && !found.Load(); x++ {
					f(x)
				}
			}))
		}
		over(func(x int) {
			var l runningLoss // of distances: what the tolerance does to ln Z
			for _, r := range rows[x] {
				l.add(t*alpha, r, r)
			}
			logZ[x] = math.Log(l.mass) - t*alpha*l.near
			slack[x] = t*alpha*l.sum/l.mass*0x1p-34 + 0x1p-44
		})
		over(func(x int) {
			for z, d := range finite.Row(b.Privacy, x, nil) {
				if d > 0 && !(logZ[z]-logZ[x]+slack[z]+slack[x] <= (1-t)*alpha*d) {
					found.Store(true)
					return
				}
			}
		})
		return found.Load()
	}
	w.Rate = 1 - 0x1p-20
	if leaks(w.Rate) {
		w.Rate, _ = search.Change(0.5, w.Rate, tuneTol, leaks)
	}
	return w, cmp.Or(err, ctx.Err())
}

// netPoints bounds the nets that are tried.
const netPoints = 1 << 14

// bestNets returns for every level the best outputs of the exponential
// mechanism among the prefixes of order, which is farthest-first under rho1. For every s
// one of them is a maximal s-separated net, if it has up to netPoints points.
func (w *work) bestNets(ctx context.Context, order []int) ([]netOutputs, error) {
	best, err := w.leastWorst(ctx, len(order), func(r1, r2 []float64, rate float64, worst []float64) {
		var l runningLoss
		for m, y := range order {
			l.add(rate, r1[y], r2[y])
			worst[m] = l.above(worst[m])
		}
	})
	if err != nil {
		return nil, err
	}
	out := make([]netOutputs, len(best))
	for k, m := range best {
		out[k] = netOutputs{order[:m+1], false, 0.5, nil}
	}
	return out, nil
}

// bestCells is bestNets for the mechanism with cells and an order under rho2.
// Prefixes double; those that are maximal s-separated nets, s from seps, are
// tried as well.
func (w *work) bestCells(ctx context.Context, order []int, radii, seps []float64) ([]netOutputs, error) {
	sizes := []int{len(order)}
	for m := 1; m < len(order); m *= 2 {
		sizes = append(sizes, m)
	}
	for _, s := range seps {
		if m := slices.IndexFunc(radii, func(r float64) bool { return r <= s }); m > 0 {
			sizes = append(sizes, m)
		}
	}
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	labels, err := prefixCells(ctx, w.near.Utility, order, sizes)
	if err != nil {
		return nil, err
	}
	best, err := w.leastWorst(ctx, len(sizes), func(r1, r2 []float64, rate float64, worst []float64) {
		sigma := make([]float64, len(order))
		for i, m := range sizes {
			nearestOf(labels[i], r1, sigma[:m])
			var l runningLoss
			for j, r := range sigma[:m] {
				l.add(rate, r, r2[order[j]])
			}
			worst[i] = l.above(worst[i])
		}
	})
	if err != nil {
		return nil, err
	}
	out := make([]netOutputs, len(best))
	for k, i := range best {
		out[k] = netOutputs{order[:sizes[i]], true, 0.5, nil}
	}
	return out, nil
}

// farthestFirst begins at the center: a net of one point is the constant.
func (w *work) farthestFirst(ctx context.Context, f metric.Finite) (order []int, radii []float64, err error) {
	return metric.FarthestFirst(ctx, f, min(f.Len(), netPoints), w.center)
}

// prefixCells returns the cells of order[:m] for the ascending sizes m: for
// every point the place in order of the nearest, the first of equals.
func prefixCells(ctx context.Context, f metric.Finite, order, sizes []int) (labels [][]int, err error) {
	near := slices.Repeat([]float64{math.Inf(1)}, f.Len())
	label := make([]int, f.Len())
	var row []float64
	for j, y := range order {
		row = finite.Row(f, y, row)
		for v, d := range row {
			if d < near[v] {
				near[v], label[v] = d, j
			}
		}
		if sizes[len(labels)] == j+1 {
			labels = append(labels, slices.Clone(label))
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
	return labels, nil
}

// leastWorst returns for every level which of count candidates has the least
// worst loss, in float64, the first of equals. raise raises the worst losses at a
// rate to those of the point with the given distances.
func (w *work) leastWorst(ctx context.Context, count int, raise func(r1, r2 []float64, rate float64, worst []float64)) ([]int, error) {
	none := func() [][]float64 {
		worst := make([][]float64, len(w.alphas))
		for k := range worst {
			worst[k] = make([]float64, count)
		}
		return worst
	}
	worst := none()
	var mu sync.Mutex
	err := parallel.Chunks(ctx, w.b.Len(), 64, w.o.Workers, w.o.Progress, func(_, lo, hi int) {
		mine := none()
		rows := newBimetricRows(w.near)
		for x := lo; x < hi && ctx.Err() == nil; x++ {
			r1, r2 := rows.at(x)
			for k, alpha := range w.alphas {
				raise(r1, r2, alpha/2, mine[k])
			}
		}
		mu.Lock()
		defer mu.Unlock()
		for k := range worst {
			for i, v := range mine[k] {
				worst[k][i] = max(worst[k][i], v)
			}
		}
	})
	best := make([]int, len(worst))
	for k, worst := range worst {
		for i, v := range worst {
			if v < worst[best[k]] {
				best[k] = i
			}
		}
	}
	return best, cmp.Or(err, ctx.Err())
}

// runningLoss is the mean of the losses added, with weights e^(-rate*r), which
// are relative to that of near, the least r so far.
type runningLoss struct{ near, sum, mass float64 }

func (l *runningLoss) add(rate, r, loss float64) {
	switch u := rate * (r - l.near); {
	case l.mass == 0:
		*l = runningLoss{r, loss, 1}
	case u < 0:
		e := math.Exp(u)
		*l = runningLoss{r, float64(l.sum*e) + loss, float64(l.mass*e) + 1}
	case u < 40: // e^-40 changes nothing; nor does r = +Inf
		e := math.Exp(-u)
		*l = runningLoss{l.near, l.sum + float64(e*loss), l.mass + e}
	}
}

// above is the larger of the mean and v; sums that overflow are +Inf.
func (l *runningLoss) above(v float64) float64 {
	if l.sum <= float64(v*l.mass) {
		return v
	}
	return l.sum / l.mass
}

// UpperBounds returns upper bounds on the optimal accuracy at level alpha, the
// smallest first, each with its witness, of which Prove computes the worst
// expected loss of a mechanism from the distances, rounded upward:
//
//   - constant: one point whatever the input, the center of rho2;
//   - exponential: the exponential mechanism of BSV24 Lemma 4.1 on a net of rho1,
//     the best of all prefixes of a farthest-first order, at rate alpha/2 or, on up
//     to 2048 points, the largest that the normalizers prove private, and on up to
//     512 points with weights that lower the worst loss. It is at most the bounds of the package doc's theorem for all c and d, and at most
//     [StandardBound] times the largest rho2/rho1;
//   - relaxed: likewise that of BSV24 Theorem 5.1 on a net of rho2, each output with
//     the points nearest to it, the best of some prefixes; where the metrics differ
//     or rho2 is an ultrametric. It is at most [RelaxedBound] for an ultrametric
//     of a type that says so or of up to 8192 points.
//
// On 30 points (plane, path, simplex, ultrametric, two metrics) of diameter about
// 1 the best is at most 1.6 times the optimum for alpha from 1 to 20, 1.2 times at
// 80 and 1.08 times from 200 on.
//
// Nets have up to 16384 points. O(n^2) distances and exponentials, and for relaxed
// n^2 log n comparisons. The mechanisms are private for metrics that obey the
// triangle inequality up to [metric.DefaultTolerance].
func UpperBounds(ctx context.Context, b metric.Bimetric, alpha float64, o *Options) ([]Bound, error) {
	if err := checkScale("entropy: UpperBounds", b, alpha); err != nil {
		return nil, err
	}
	w, err := newWork(ctx, b, []float64{alpha}, orDefault(o))
	if err != nil {
		return nil, err
	}
	if err := w.measure(ctx); err != nil {
		return nil, err
	}
	bounds, err := one(w.upper(ctx))
	return ranked(bounds), err
}

// upper returns the upper bounds for every level, from what measure has taken.
func (w *work) upper(ctx context.Context) ([][]Bound, error) {
	order, radii, err := w.farthestFirst(ctx, w.near.Privacy)
	if err != nil {
		return nil, err
	}
	nets, err := w.bestNets(ctx, order)
	if err != nil {
		return nil, err
	}
	var cells []netOutputs
	if w.ultra || !w.b.OneMetric() {
		var seps []float64
		for _, alpha := range w.alphas {
			if s, ok := w.entropic[standardLevel(alpha)]; ok && w.ultra {
				seps = append(seps, s.Hi)
			}
		}
		if !w.b.OneMetric() {
			if order, radii, err = w.farthestFirst(ctx, w.near.Utility); err != nil {
				return nil, err
			}
		}
		if cells, err = w.bestCells(ctx, order, radii, seps); err != nil {
			return nil, err
		}
	}
	out := make([][]Bound, len(w.alphas))
	for k, alpha := range w.alphas {
		out[k] = []Bound{{Upper, w.radius, "constant", "the radius", constantOutput{w.center}}}
		add := func(net netOutputs, name, source string) error {
			best := Bound{Upper, math.Inf(1), name, source, nil}
			try := func(by netOutputs) error {
				v, err := by.prove(ctx, w.near, alpha, w.o.Workers)
				if v < best.Value {
					best.Value, best.Witness = v, by
				}
				return err
			}
			if err := try(net); err != nil {
				return err
			}
			if w.b.Len() <= densePoints {
				if !net.Cells && w.b.Len() <= weighedPoints {
					if err := cmp.Or(try(w.weigh(ctx, order, alpha)), ctx.Err()); err != nil {
						return err
					}
				}
				nets := []netOutputs{net}
				if len(net.Outputs) < len(order) && !net.Cells {
					nets = append(nets, netOutputs{order, false, 0.5, nil})
				}
				for _, by := range nets {
					by, err := by.tune(ctx, w.near, alpha, w.o.Workers)
					if err = cmp.Or(err, try(by)); err != nil {
						return err
					}
				}
			}
			out[k] = append(out[k], best)
			return nil
		}
		if err := add(nets[k], "exponential", "loss on a net, BSV24 Lemma 4.1"); err != nil {
			return nil, err
		}
		if cells == nil {
			continue
		}
		if err := add(cells[k], "relaxed", "loss on a net, BSV24 Theorem 5.1"); err != nil {
			return nil, err
		}
	}
	return out, nil
}

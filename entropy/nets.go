package entropy

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/entropy/internal/spaces"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/game"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/internal/search"
	"github.com/metricdp/metricdp/metric"
)

// netOutputs are the outputs N of an exponential mechanism, P{y|x} = w_y e^(-beta sigma(x,y))/Z_x,
// beta = Rate*alpha, w the Weights, nil for ones. sigma is rho1, or where Cells the distance under
// rho1 from x to the points that have y as their nearest of N under rho2, the first of equals. No
// sigma changes faster with x than rho1 does, nor does ln(Z_x)/beta, so that this is alpha-private
// for every rho2 if Rate <= 1/2, and for a larger one where
//
//	|ln Z_x - ln Z_z| <= (1-Rate) alpha rho1(x,z) for all x, z.
//
// Drawing from Answers what is released for an output is post-processing. The worst
// expected loss is an upper bound of A; for a maximal s-separated net of rho1 at Rate 1/2,
// s at least s(Z, rho1, rho1, c*alpha), it obeys the bounds of THEOREMS.md, question (ii).
type netOutputs struct {
	Outputs []int
	Cells   bool
	Rate    float64
	Weights []float64
	Answers [][]answer // to each output; nil: itself
}

// answer is a point that is released with a probability proportional to Weight.
type answer struct {
	Output int
	Weight float64
}

// checkAnswers refuses answers that are none.
func (w netOutputs) checkAnswers(op string, n int) error {
	if w.Answers == nil {
		return nil
	}
	if err := fault.Size(op, "Answers", len(w.Answers), len(w.Outputs)); err != nil {
		return err
	}
	for _, list := range w.Answers {
		if err := fault.Empty(op, "answers", len(list)); err != nil {
			return err
		}
		for _, a := range list {
			if err := cmp.Or(fault.Index(op, "answer", a.Output, n), fault.Positive(op, "weight of an answer", a.Weight)); err != nil {
				return err
			}
		}
	}
	return nil
}

// loss is that at output j, rounded up, of a point at the distances row2.
func (w netOutputs) loss(j int, row2 []float64) float64 {
	if w.Answers == nil {
		return row2[w.Outputs[j]]
	}
	far, sum, all := 0.0, 0.0, 0.0
	for _, a := range w.Answers[j] {
		far = max(far, row2[a.Output])
		sum = directed.AddUp(sum, directed.MulUp(a.Weight, row2[a.Output]))
		all = directed.AddDown(all, a.Weight)
	}
	if v := directed.DivUp(sum, all); v < far { // NaN where both overflow
		return v
	}
	return far
}

// Prove implements [Witness]: +Inf where privacy is not proved. Metrics need obey the
// triangle inequality up to [metric.DefaultTolerance] only: privacy is that of lengths of
// shortest paths under rho1, which lie between keep times the distance and the distance
// itself, as a path is at least (1+t)^-(log2 of its edges, rounded up) of that, t the
// tolerance. O(n*|Outputs|), and O(n^2) with Cells or a Rate above 1/2.
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
	if w.Weights != nil {
		if err := cmp.Or(fault.Size(op, "Weights", len(w.Weights), len(w.Outputs)), fault.AllNonNegative(op, "Weights", w.Weights)); err != nil {
			return 0, err
		}
	}
	if err := w.checkAnswers(op, b.Len()); err != nil {
		return 0, err
	}
	sigma, err := w.sigma(ctx, b)
	if err != nil {
		return 0, err
	}
	rate := directed.MulDown(alpha, w.Rate)
	n := b.Len()
	rows := make([]provedRow, n)
	err = parallel.Chunks(ctx, n, 32, workers, nil, func(_, lo, hi int) {
		dist := spaces.NewRows(b)
		to := make([]float64, len(w.Outputs))
		for x := lo; x < hi && ctx.Err() == nil; x++ {
			r1, r2 := dist.At(x)
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
	far, sum, least, most := math.Inf(-1), 0.0, 0.0, 0.0 // the last two of Z e^(rate near)
	for j, r := range sigma {
		weight := w.weight(j)
		if weight == 0 || math.IsInf(r, 1) { // no point has this output as its nearest
			continue
		}
		loss := w.loss(j, row2)
		far = max(far, loss)
		small := directed.MulDown(rate, directed.SubDown(directed.MulDown(r, keep), near))
		large := directed.MulUp(rate, directed.SubUp(r, near))
		e := directed.MulUp(weight, directed.ExpUp(-small))
		sum = directed.AddUp(sum, directed.MulUp(loss, e))
		most = directed.AddUp(most, e)
		// e^-large >= e^-small (1 - (large-small)), and e is within a relative 2^-48
		// of w e^-small where nothing underflows.
		if e > 1e-300 {
			least = directed.AddDown(least, max(0, directed.MulDown(e, directed.SubDown(1-0x1p-48, directed.SubUp(large, small)))))
		}
	}
	if far < 0 { // there are no outputs
		far = math.Inf(1)
	}
	out := provedRow{loss: far,
		low:  directed.SubDown(directed.LogDown(least), directed.MulUp(rate, near)),
		high: directed.SubUp(directed.LogUp(most), directed.MulDown(rate, near))}
	if v := directed.DivUp(sum, least); v < far { // NaN where sum overflowed
		out.loss = v
	}
	return out
}

// weight is that of output j.
func (w netOutputs) weight(j int) float64 {
	if w.Weights == nil {
		return 1
	}
	return w.Weights[j]
}

const (
	// tuneTol is the relative error of the rate that tune finds.
	tuneTol = 0x1p-8
	// tighten fits weights so many times, by so many sweeps.
	tightenFits, tightenSweeps = 5, 64
)

// leveling finds, in float64, what rate Prove will accept.
type leveling struct {
	b       metric.Bimetric
	alpha   float64
	rows    [][]float64 // sigma
	workers int
}

func (w netOutputs) leveling(ctx context.Context, b metric.Bimetric, alpha float64, workers int) (*leveling, error) {
	sigma, err := w.sigma(ctx, b)
	if err != nil {
		return nil, err
	}
	rows := make([][]float64, b.Len())
	for x := range rows {
		rows[x] = make([]float64, len(w.Outputs))
		sigma(finite.Row(b.Privacy, x, nil), rows[x])
	}
	return &leveling{b, alpha, rows, workers}, nil
}

// leak returns the largest share of alpha that the normalizers of w take, with slack for
// what the tolerance of distances does to them. It leaves off above most.
func (l *leveling) leak(ctx context.Context, w netOutputs, most float64) (float64, error) {
	n := len(l.rows)
	logZ, slack, leaks := make([]float64, n), make([]float64, n), make([]float64, n)
	var over atomic.Bool
	err := parallel.Chunks(ctx, n, 32, l.workers, nil, func(_, lo, hi int) {
		for x := lo; x < hi; x++ {
			var z runningLoss // of distances
			for j, r := range l.rows[x] {
				z.add(w.Rate*l.alpha, r, r, w.weight(j))
			}
			logZ[x] = math.Log(z.mass) - float64(w.Rate*l.alpha*z.near)
			slack[x] = w.Rate*l.alpha*z.sum/z.mass*0x1p-34 + 0x1p-44
		}
	})
	err = cmp.Or(err, parallel.Chunks(ctx, n, 32, l.workers, nil, func(_, lo, hi int) {
		for x := lo; x < hi && !over.Load(); x++ {
			for z, d := range finite.Row(l.b.Privacy, x, nil) {
				if v := (logZ[z] - logZ[x] + slack[z] + slack[x]) / (l.alpha * d); d > 0 && !(v <= leaks[x]) {
					leaks[x] = v
				}
			}
			if !(leaks[x] <= most) {
				over.Store(true)
			}
		}
	}))
	return slices.Max(leaks), err
}

// tune returns w with the largest rate found.
func (l *leveling) tune(ctx context.Context, w netOutputs) (netOutputs, error) {
	var err error
	leaks := func(t float64) bool {
		w.Rate = t
		v, failed := l.leak(ctx, w, 1-t)
		err = cmp.Or(err, failed)
		return !(v <= 1-t)
	}
	rate := 1 - 0x1p-20
	if leaks(rate) {
		rate, _ = search.Change(0.5, rate, tuneTol, leaks)
	}
	w.Rate = rate
	return w, err
}

// tighten returns w with weights that make normalizers nearly 1 and with the rate that they
// allow, 0 where it is no more than 1/2. All points are outputs, in the order of w. Weights
// that minimize w'Kw/2 - sum w, K = e^(-beta sigma), w >= 0, have normalizers Kw of 1 where
// they are > 0 and above 1 elsewhere. What then leaks hardly depends on the rate.
func (l *leveling) tighten(ctx context.Context, w netOutputs) (best netOutputs, err error) {
	n := len(w.Outputs)
	weights, rest, kernel := make([]float64, n), make([]float64, n), make([]float64, n*n)
	w.Rate, best.Rate = 1-0x1p-20, 0.5
	for range tightenFits {
		err := parallel.Chunks(ctx, n, 32, l.workers, nil, func(_, lo, hi int) {
			for i := lo; i < hi; i++ {
				rest[i] = 1
				for j, r := range l.rows[w.Outputs[i]] {
					e := math.Exp(-w.Rate * l.alpha * r)
					kernel[i*n+j] = e
					rest[i] -= float64(e * weights[j])
				}
			}
		})
		for range tightenSweeps {
			if err = cmp.Or(err, ctx.Err()); err != nil {
				return w, err
			}
			for i, v := range weights {
				if d := max(rest[i], -v); d != 0 {
					weights[i] += d
					floats.AddScaled(rest, -d, kernel[i*n:(i+1)*n])
				}
			}
		}
		w.Weights = slices.Clone(weights)
		v, err := l.leak(ctx, w, math.Inf(1))
		if err != nil {
			return w, err
		}
		if v <= 1-w.Rate && w.Rate > best.Rate {
			best = w
		}
		if w.Rate = 1 - float64(v*(1+0x1p-6)); !(w.Rate > best.Rate*(1+tuneTol/4)) {
			break
		}
	}
	return best, nil
}

const (
	// Outputs of up to answered points have answers, where others, if there are any, lie
	// within answeredReach/alpha of one: coarser noise loses more than answers gain. So
	// many answers each are looked for in answerRounds rounds.
	answered, answerRounds = 96, 150
	answeredReach          = 1
)

// answer returns w with answers among its outputs that lose least, in float64.
func (l *leveling) answer(ctx context.Context, w netOutputs) (netOutputs, error) {
	n, c := len(l.rows), len(w.Outputs)
	g := &game.Game{N: n, C: c, K: c, Mass: make([]float32, n*c), Dist: make([]float32, n*c), Rounds: answerRounds, Workers: l.workers}
	row := finite.Row(l.b.Utility, w.Outputs[0], nil)
	unit := cmp.Or(slices.Max(row), 1)
	for x, near := range l.rows {
		least, sum := slices.Min(near), 0.0
		for j, r := range near {
			sum += float64(w.weight(j) * math.Exp(-w.Rate*l.alpha*(r-least)))
		}
		row = finite.Row(l.b.Utility, x, row)
		for j, r := range near {
			if sum > 0 { // if not, all outputs near x have weight 0
				g.Mass[x*c+j] = float32(w.weight(j) * math.Exp(-w.Rate*l.alpha*(r-least)) / sum)
			}
			g.Dist[x*c+j] = float32(row[w.Outputs[j]] / unit)
		}
	}
	counts, err := g.Play(ctx, spaces.AllPoints(c), game.Gap, nil)
	if err != nil {
		return w, err
	}
	w.Answers = make([][]answer, c)
	for j := range w.Answers {
		for k, v := range counts[j*c : (j+1)*c] {
			if v > 0 {
				w.Answers[j] = append(w.Answers[j], answer{w.Outputs[k], v})
			}
		}
	}
	return w, nil
}

// netPoints bounds the nets that are tried.
const netPoints = 1 << 14

// bestNets sets center and order, and returns for every level the best outputs of the exponential
// mechanism among the prefixes of the order. For every s one of them is a maximal s-separated
// net, if it has up to netPoints points. The order begins at the center: a net of one point is the
// constant.
func (w *work) bestNets(ctx context.Context) (_ []netOutputs, err error) {
	if w.radius, w.center, err = metric.Radius(ctx, w.b.Utility); err != nil {
		return nil, err
	}
	if w.order, w.radii, err = metric.FarthestFirst(ctx, w.stored.Privacy, min(w.b.Len(), netPoints), w.center); err != nil {
		return nil, err
	}
	best, err := w.leastWorst(ctx, len(w.order), func(r1, r2 []float64, rate float64, worst []float64) {
		var l runningLoss
		for m, y := range w.order {
			l.add(rate, r1[y], r2[y], 1)
			worst[m] = l.above(worst[m])
		}
	})
	if err != nil {
		return nil, err
	}
	out := make([]netOutputs, len(best))
	for k, m := range best {
		out[k] = netOutputs{Outputs: w.order[:m+1], Rate: 0.5}
	}
	return out, nil
}

// bestCells is bestNets for the mechanism with cells and an order under rho2. Prefixes double;
// those that are maximal s-separated nets, s from seps, are tried as well.
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
	labels, err := prefixCells(ctx, w.stored.Utility, order, sizes)
	if err != nil {
		return nil, err
	}
	best, err := w.leastWorst(ctx, len(sizes), func(r1, r2 []float64, rate float64, worst []float64) {
		sigma := make([]float64, len(order))
		for i, m := range sizes {
			nearestOf(labels[i], r1, sigma[:m])
			var l runningLoss
			for j, r := range sigma[:m] {
				l.add(rate, r, r2[order[j]], 1)
			}
			worst[i] = l.above(worst[i])
		}
	})
	if err != nil {
		return nil, err
	}
	out := make([]netOutputs, len(best))
	for k, i := range best {
		out[k] = netOutputs{Outputs: order[:sizes[i]], Cells: true, Rate: 0.5}
	}
	return out, nil
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
		rows := spaces.NewRows(w.stored)
		for x := lo; x < hi && ctx.Err() == nil; x++ {
			r1, r2 := rows.At(x)
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

// add adds a loss times a weight.
func (l *runningLoss) add(rate, r, loss, weight float64) {
	switch u := rate * (r - l.near); {
	case weight == 0:
	case l.mass == 0:
		*l = runningLoss{r, float64(weight * loss), weight}
	case u < 0:
		e := math.Exp(u)
		*l = runningLoss{r, float64(l.sum*e) + float64(weight*loss), float64(l.mass*e) + weight}
	case u < 40: // e^-40 changes nothing; nor does r = +Inf
		e := float64(weight * math.Exp(-u))
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

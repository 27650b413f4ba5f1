package lp

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/lp/internal/envelope"
	"github.com/metricdp/metricdp/metric"
)

// A place is the ball of inputs within placeRadius, in units of budgets, of one where the
// channel loses most. Its program has some of them, thinner farther out, and those that its
// channel cannot be extended to. That channel replaces the one there is within placeInner,
// is mixed with it up to placeOuter, and envelopes mend what the mixture breaks: where inputs
// are far from the worst there is loss to spare.
const (
	placeRadius, placeInner, placeOuter = 10, 4, 9
	// Inputs are placeClose and placeThin of their distance from the center apart at first,
	// and later placeLater.
	placeClose, placeThin, placeLater = .3, .12, .1
	// mostAdded inputs are added at once, at most mostGrown times.
	mostAdded, mostGrown = 150, 6
	// mostPlaces is how many are tried, and mostUseless in a row without a better channel: one
	// may spoil another. Programs have placeEntries inputs times outputs at most.
	mostPlaces, mostUseless, placeEntries = 24, 3, 2e4
)

// places improves s where it loses most, one place after another, as long as that helps. On
// points of the plane it leaves a gap of some thousandths where outputs are farther apart
// than 3/alpha. O(n^2 m) and a few programs of some hundred inputs a place.
func (e *extension) places() error {
	x, err := e.rows()
	if err != nil {
		return err
	}
	best, losses := []float64(nil), e.lossesOf(x)
	least := slices.Max(losses)
	for i, useless := 0, 0; i < mostPlaces && useless < mostUseless && e.ctx.Err() == nil; i++ {
		center := slices.Index(losses, slices.Max(losses))
		if losses[center] <= e.s.DualBound*(1+e.o.Tolerance/2) {
			break
		}
		mixed, err := e.place(center, x, losses)
		if err != nil && e.ctx.Err() == nil {
			return err
		}
		if mixed == nil {
			break
		}
		x, losses = mixed, e.lossesOf(mixed)
		if useless++; slices.Max(losses) < least {
			best, least, useless = x, slices.Max(losses), 0
		}
		e.stage()
	}
	if best == nil {
		return nil
	}
	r, err := e.release(best)
	if err == nil && r.audit.Hi <= e.alpha {
		e.s.keep(r)
	}
	return err
}

// rows are those of the channel of s, by inputs.
func (e *extension) rows() ([]float64, error) {
	at := make(map[int]int, e.m)
	for w, y := range e.o.Outputs {
		at[y] = w
	}
	c, x := e.s.Channel, make([]float64, e.n*e.m)
	err := parallel.Chunks(e.ctx, e.n, 8, e.o.Workers, nil, func(_, lo, hi int) {
		var row []float64
		for u := lo; u < hi; u++ {
			row = c.Row(u, row)
			for y, q := range row {
				x[u*e.m+at[c.Output(y)]] += q
			}
		}
	})
	return x, err
}

func (e *extension) lossesOf(x []float64) []float64 {
	losses := make([]float64, e.n)
	for u := range losses {
		for w, q := range x[u*e.m : (u+1)*e.m] {
			losses[u] += float64(q * e.loss[w*e.n+u])
		}
	}
	return losses
}

// place returns x with the best channel around a center, private up to rounding, or nil.
// losses are those of x.
func (e *extension) place(center int, x, losses []float64) ([]float64, error) {
	from := e.budget[center*e.n : (center+1)*e.n]
	var ball []int
	for u, d := range from {
		if d <= placeRadius {
			ball = append(ball, u)
		}
	}
	slices.SortFunc(ball, func(u, v int) int { return cmp.Or(cmp.Compare(from[u], from[v]), cmp.Compare(u, v)) })
	outputs, rows, err := e.grown(ball, from)
	if rows == nil || err != nil {
		return nil, err
	}
	mixed, q := slices.Clone(x), len(outputs)
	// No more than it takes to come near the bound.
	most, aim := 0.0, float64(e.s.DualBound*(1+e.o.Tolerance/4))
	for i, u := range ball {
		loss := 0.0
		for j, w := range outputs {
			loss += float64(rows[i*q+j] * e.loss[w*e.n+u])
		}
		if from[u] <= placeInner && losses[u] > aim && losses[u] > loss {
			most = max(most, min(1, (losses[u]-aim)/(losses[u]-loss)))
		}
	}
	for i, u := range ball {
		share := min(1, max(0, (placeOuter-from[u])/(placeOuter-placeInner)))
		share = float64(most * share * share * (3 - float64(2*share))) // smooth at both ends
		row := mixed[u*e.m : (u+1)*e.m]
		for w := range row {
			row[w] = float64(row[w] * (1 - share))
		}
		for j, w := range outputs {
			row[w] += float64(share * rows[i*q+j])
		}
	}
	c := envelope.Channel{Inputs: e.n, Outputs: e.m, X: mixed, Budget: e.budget, Workers: e.o.Workers}
	private, err := c.Repair(e.ctx)
	if !private || err != nil {
		return nil, err
	}
	return c.X, nil
}

// grown solves programs of more and more inputs of a ball, the center first, keeps their
// bounds, and returns the rows for all of the ball, by some outputs.
func (e *extension) grown(ball []int, from []float64) (outputs []int, rows []float64, err error) {
	var inputs []int
	in := make(map[int]bool)
	add := func(u int, apart float64) {
		near := func(v int) bool { return e.budget[u*e.n+v] < apart || e.budget[u*e.n+v] == 0 }
		if !in[u] && !slices.ContainsFunc(inputs, near) {
			in[u], inputs = true, append(inputs, u)
		}
	}
	for _, u := range ball {
		add(u, placeClose+float64(placeThin*from[u]))
	}
	broken := make([]float64, len(ball))
	for range mostGrown {
		if len(inputs) < 2 {
			return nil, nil, nil
		}
		var slack float64
		if outputs, slack = e.undominated(inputs, 0); slack > 0 || len(inputs)*len(outputs) > placeEntries || e.ctx.Err() != nil {
			return nil, nil, e.ctx.Err()
		}
		s, err := e.local(inputs, outputs, e.o.Tolerance/2, e.s.DualBound)
		if err != nil {
			return nil, nil, err
		}
		if s.DualBound > e.s.DualBound {
			e.s.prove(s.DualBound, boundByPatch, e.weights(inputs, s.Prior))
		}
		rows = make([]float64, len(ball)*len(outputs))
		if err := e.extended(s, inputs, outputs, ball, rows, broken); err != nil {
			return nil, nil, err
		}
		order := make([]int, 0, len(ball))
		for i, u := range ball {
			if !in[u] && from[u] <= placeOuter && broken[i] > e.o.Tolerance/2 {
				order = append(order, i)
			}
		}
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(broken[j], broken[i]) })
		had := len(inputs)
		for _, i := range order {
			if len(inputs) < had+mostAdded {
				add(ball[i], placeLater)
			}
		}
		if len(inputs) == had {
			break
		}
	}
	return outputs, rows, nil
}

// local solves the program of some inputs and outputs, to the tolerance or until it loses
// hardly more than a bound that is known.
func (e *extension) local(inputs, outputs []int, tolerance, known float64) (*Solution, error) {
	privacy, err := metric.Subset(e.b.Privacy, inputs)
	if err != nil {
		return nil, err
	}
	p, err := read(e.ctx, e.op, metric.Bimetric{Privacy: privacy}, e.alpha, &Options{
		Outputs: outputs, Loss: func(x, w int) float64 { return e.loss[w*e.n+inputs[x]] },
		Tolerance: tolerance, MemoryLimit: e.o.MemoryLimit, Workers: e.o.Workers,
	})
	if err != nil {
		return nil, err
	}
	p.bare = true
	p.begin()
	best, err := p.constant(e.ctx)
	if err != nil {
		return nil, err
	}
	s := p.solution()
	s.DualBound = known
	s.keep(best)
	return s, p.improve(e.ctx, s, time.Now())
}

// weights are those of some inputs, for all.
func (e *extension) weights(inputs []int, prior []float64) []float64 {
	weights := make([]float64, e.n)
	for i, x := range inputs {
		weights[x] = prior[i]
	}
	return weights
}

// extended writes the rows of the inputs of a ball: every entry between its envelopes from the
// channel of s, at the one share of the way, in logarithms, at which the row adds up to 1.
// broken is what it lacks of that, or its loss exceeds that of s by.
func (e *extension) extended(s *Solution, inputs, outputs, ball []int, rows, broken []float64) error {
	k, q := len(inputs), len(outputs)
	x := make([]float64, k*q)
	at := make(map[int]int, q)
	for j, w := range outputs {
		at[w] = j
	}
	for i := range inputs {
		for y, p := range s.Channel.Row(i, nil) {
			x[i*q+at[s.Channel.Output(y)]] += p
		}
	}
	return parallel.Chunks(e.ctx, len(ball), 8, e.o.Workers, nil, func(_, from, to int) {
		lo, hi := make([]float64, q), make([]float64, q)
		for i := from; i < to; i++ {
			u := ball[i]
			clear(lo)
			for j := range hi {
				hi[j] = math.Inf(1)
			}
			for v, input := range inputs {
				f := math.Exp(-min(e.budget[u*e.n+input], envelope.Longest))
				for j, p := range x[v*q : (v+1)*q] {
					lo[j], hi[j] = max(lo[j], f*p), min(hi[j], p/f)
				}
			}
			sum := func(share float64) (sum float64) {
				for j, l := range lo {
					if l > 0 {
						sum += float64(l * math.Exp(float64(share*math.Log(hi[j]/l))))
					}
				}
				return sum
			}
			low, high := 0.0, 1.0
			for range 30 {
				if mid := (low + high) / 2; sum(mid) < 1 {
					low = mid
				} else {
					high = mid
				}
			}
			total, loss := sum(low), 0.0
			for j, l := range lo {
				r := &rows[i*q+j]
				if *r = 0; l > 0 {
					*r = l * math.Exp(low*math.Log(hi[j]/l)) / total
				}
				loss += float64(*r * e.loss[outputs[j]*e.n+u])
			}
			broken[i] = max(math.Abs(total-1), loss/max(s.Objective, s.DualBound)-1)
		}
	})
}

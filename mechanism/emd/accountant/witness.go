package accountant

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/lattice"
	"github.com/metricdp/metricdp/internal/search"
)

// Witness is two data sets that prove the other end of an [Interval]: Moved of a user's
// items are x in the one and x' in the other, and all other records of the two, the user's
// among them, are z.
type Witness struct {
	X, XPrime, Z []float64 // probabilities of the outputs at x, x' and z
	Moved        int64
	Distance     float64 // d_EM of the user's items in the two
}

func (w Witness) clone() Witness {
	w.X, w.XPrime, w.Z = slices.Clone(w.X), slices.Clone(w.XPrime), slices.Clone(w.Z)
	return w
}

// pair is a witness among records records, of items a user's. The divergence of its
// two multisets is no less than that of a statistic, a sum of integer scores of the
// outputs, and that is two tails of a sum of independent integers:
//
//	D_{e^eps} >= P{T >= t} - e^eps P'{T >= t}.
//
// The score is the derivative of the likelihood ratio by the share of x, rounded,
// which costs an order of the square of the rounding.
type pair struct {
	Witness
	records int64
}

// score returns integers for outputs, for events at which the likelihood ratio of a step is about
// e^step: as small as lets them vary nearly as the derivative does.
func (p pair) score(step float64) []int64 {
	const loss, most = 1e-3, 64
	n, m, e := float64(p.records), float64(p.Moved), math.Exp(step)
	mean, value := make([]float64, len(p.X)), make([]float64, len(p.X))
	top, total := 0.0, 0.0
	for y := range value {
		mean[y] = (float64((n-m)*p.Z[y]) + float64(m*(p.X[y]+p.XPrime[y])/2)) / n
		if mean[y] > 0 {
			value[y] = (p.X[y] - float64(e*p.XPrime[y])) / mean[y]
			top = max(top, math.Abs(value[y]))
			total += float64(mean[y] * value[y] * value[y])
		}
	}
	out := make([]int64, len(value))
	for k := 1.0; k <= most && top > 0; k++ {
		square := 0.0
		for y, v := range value {
			out[y] = int64(math.Round(v / top * k))
			d := v - float64(float64(out[y])*top/k)
			square += float64(mean[y] * d * d)
		}
		if square <= loss*total {
			break
		}
	}
	return out
}

// mostSum is where float64s are too coarse for sums of scores: no lower end is looked for there.
const mostSum = 0x1p50

// test is a statistic of the two data sets: the sum T of the scores of x or other, and of rest.
type test struct {
	x, other, rest  lattice.Part
	mean, deviation float64   // of T under x
	slack           float64   // of the law of rest, in nats: see tails
	lowest          int64     // score that x or other may add up to, where these are known
	tails, others   []float64 // P{x >= lowest+j} from below and P{other >= lowest+j} from above, j >= 1
}

// fewScores is up to how many sums of the scores of the items moved are looked at one by one.
const fewScores = 1 << 10

func (p pair) test(step float64) test {
	score := p.score(step)
	part := func(row []float64, count int64) lattice.Part {
		mass := map[int64]float64{}
		for y, v := range row {
			mass[score[y]] += v
		}
		q := lattice.Part{Count: count, Err: rowErr + float64(float64(len(row))*0x1p-52)}
		q.At, q.Mass = sorted(mass)
		return q
	}
	t := test{x: part(p.X, p.Moved), other: part(p.XPrime, p.Moved), rest: part(p.Z, p.records-p.Moved)}
	t.mean, t.deviation = lattice.Moments([]lattice.Part{t.x, t.rest}, 0)
	lo, hi := slices.Min(score), slices.Max(score)
	switch {
	case t.rest.Count > 0 && hi-lo <= fewScores/p.Moved:
		t.lowest = p.Moved * lo
		t.tails, t.others = sums(t.x, lo, hi, -1), sums(t.other, lo, hi, 1)
	case above(score, p.X, p.XPrime):
		t.slack = float64(1.01 * float64(t.rest.Count) * t.rest.Err) // as of lattice: -ln(1-Err) is above Err
		t.rest.Err = 0
	}
	return t
}

// sums returns the probabilities that the sum of p, of values in [lo, hi], is at least j above
// its least, rounded down where sign is -1 and up where it is 1.
func sums(p lattice.Part, lo, hi int64, sign float64) []float64 {
	law := []float64{1}
	for range p.Count {
		next := make([]float64, len(law)+int(hi-lo))
		for i, v := range law {
			for k, a := range p.At {
				next[i+int(a-lo)] += float64(v * p.Mass[k])
			}
		}
		law = next
	}
	for i := len(law) - 2; i >= 0; i-- {
		law[i] += law[i+1]
	}
	n := float64(p.Count)
	err := float64(2 * (float64(n*p.Err) + float64((float64(n*float64(len(p.At)+2))+float64(len(law)))*0x1p-53)))
	for i := range law {
		law[i] = float64(law[i]*(1+float64(sign*err))) + sign*0x1p-1000
	}
	return law
}

// above reports that scores are no less likely to be high under p than under q, for all
// rows near by: the tails differ by more than the rows may be wrong, or are the same.
func above(score []int64, p, q []float64) bool {
	order := make([]int, len(score))
	for y := range order {
		order[y] = y
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(score[b], score[a]) })
	var a, b float64
	for i, y := range order {
		a, b = a+p[y], b+q[y]
		if i+1 < len(order) && score[order[i+1]] < score[y] && !(a*(1-2*rowErr) >= b*(1+2*rowErr)) {
			return false
		}
	}
	return true
}

// excess is what tails say of a threshold t, in units of e^unit: with P{T >= t} for x and
// P'{T >= t} for x' the divergence is no less than P - P' - (e^eps-1) P'.
type excess struct {
	gap, far float64 // P - P' from below and ln P' from above
	unit     float64
}

// of returns those of a threshold. Among 10^9 records P and P' differ by less than each is
// known to. So for few items what these add to the others' sum R is summed up one by one,
//
//	P - P' = sum over j of (P{x >= j} - P{x' >= j}) P{R = t-j},
//
// in which nothing cancels. For many, what the other records' probabilities may be wrong by
// makes of R's law one between e^-slack and e^slack times it, the same in both data sets: where
// x scores above x', P - P' is no less than e^-slack of what it is without.
func (t test) of(ctx context.Context, at int64) (excess, error) {
	if t.tails == nil {
		p, err := lattice.New(ctx, []lattice.Part{t.x, t.rest}, at)
		if err != nil {
			return excess{}, err
		}
		q, err := lattice.New(ctx, []lattice.Part{t.other, t.rest}, at)
		if err != nil {
			return excess{}, err
		}
		return t.slacken(p.Tail(at).Lo, min(0, q.Tail(at).Hi)), nil
	}
	r, err := lattice.New(ctx, []lattice.Part{t.rest}, at-t.lowest)
	if err != nil {
		return excess{}, err
	}
	all := r.Tail(at - t.lowest) // where any sum is enough
	each := make([]lattice.Bound, len(t.tails))
	e := excess{unit: all.Hi}
	for j := 1; j < len(each); j++ {
		each[j] = r.At(at - t.lowest - int64(j))
		e.unit = max(e.unit, each[j].Hi)
	}
	if math.IsInf(e.unit, -1) {
		return e, nil
	}
	in := func(log float64) float64 { return math.Exp(log - e.unit) }
	far := in(all.Hi) + 0x1p-900
	for j := 1; j < len(each); j++ {
		far += float64(t.others[j] * in(each[j].Hi))
		if d := t.tails[j] - t.others[j]; d > 0 {
			e.gap += float64(d * in(each[j].Lo) * (1 - 0x1p-38))
		} else {
			e.gap += float64(d * in(each[j].Hi) * (1 + 0x1p-38))
		}
	}
	e.far = math.Log(far) + 0x1p-38
	return e, nil
}

// slacken is of for ln P from below and ln P' from above.
func (t test) slacken(p, q float64) excess {
	if math.IsInf(p, -1) || math.IsInf(q, -1) {
		return excess{unit: math.Inf(-1)}
	}
	far := q - p // of 10^3 items they may be e^1000 times apart
	return excess{gap: float64(-math.Expm1(far+0x1p-46)*math.Exp(-t.slack)) * (1 - 0x1p-40), far: far + t.slack + 0x1p-40, unit: p}
}

// level returns the eps up to which the divergence is at least e^logDelta, or 0.
func (e excess) level(logDelta float64) float64 {
	gap := e.gap - float64(math.Exp(logDelta-e.unit)*(1+0x1p-40))
	if !(gap > 0) {
		return 0
	}
	return logAdd(0, math.Log(gap)-e.far) * (1 - 0x1p-40)
}

// delta bounds the divergence from below.
func (e excess) delta(eps float64) float64 {
	far := e.far + 0x1p-40 + 0x1p-48*(eps+math.Abs(e.far))
	if eps > 0 {
		far += logExpm1(eps)
	} else {
		far = math.Inf(-1)
	}
	return math.Exp(e.unit) * (e.gap - math.Exp(far)) * (1 - 0x1p-40)
}

// best returns the largest value found over thresholds from the mean under x to as far
// as e^logLeast of its mass goes, where value rises and falls.
func (t test) best(ctx context.Context, logLeast float64, value func(excess) float64) (float64, error) {
	if !(t.mean+float64(math.Sqrt(-2*logLeast)*t.deviation) < mostSum) {
		return 0, nil
	}
	seen := map[int64]float64{}
	_, least, err := search.Least(-1, math.Sqrt(-2*logLeast)+2/max(t.deviation, 1e-3), 1e-3, func(x float64) (float64, error) {
		at := int64(math.Ceil(t.mean + float64(x*t.deviation)))
		if v, ok := seen[at]; ok {
			return v, nil
		}
		e, err := t.of(ctx, at)
		if err != nil {
			return 0, err
		}
		v := x + 1 // beyond
		if w := value(e); w > 0 {
			v = -w
		}
		seen[at] = v
		return v, nil
	})
	return max(0, -least), err
}

// largest returns the largest value found for events at levels of a step from 0 up to that of eps, which
// may be what was found so far.
func (p pair) largest(ctx context.Context, logLeast float64, eps func(most float64) float64, value func(excess) float64) (float64, error) {
	most := 0.0
	for _, s := range [...]float64{0, 0.5, 1} {
		v, err := p.test(s*eps(most)/float64(p.Moved)).best(ctx, logLeast, value)
		if err != nil {
			return 0, err
		}
		most = max(most, v)
	}
	return most, nil
}

// eps returns a level, below which the two are not private with slack e^logDelta.
func (p pair) eps(ctx context.Context, logDelta float64) (float64, error) {
	if p.shift() < math.Exp(logDelta) { // the total variation is about .4 of it
		return 0, nil
	}
	return p.largest(ctx, logDelta, func(most float64) float64 { return most }, func(e excess) float64 { return e.level(logDelta) })
}

// delta returns a slack that the two need at level eps.
func (p pair) delta(ctx context.Context, eps float64) (float64, error) {
	return p.largest(ctx, -700, func(float64) float64 { return eps }, func(e excess) float64 { return e.delta(eps) })
}

// about estimates eps, as if the statistic were Gaussian: the likelihood ratio's
// logarithm has mean mu^2/2 and deviation mu.
func (p pair) about(logDelta float64) float64 {
	mu, target := p.shift(), math.Exp(logDelta)
	delta := func(eps float64) float64 {
		tail := func(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }
		return tail(eps/mu-mu/2) - float64(math.Exp(min(700, eps))*tail(eps/mu+mu/2))
	}
	lo, hi := 0.0, float64(mu*math.Sqrt(-2*logDelta))+mu*mu/2
	for range 40 {
		if mid := (lo + hi) / 2; delta(mid) > target {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// shift is mu.
func (p pair) shift() float64 {
	n, m, signal := float64(p.records), float64(p.Moved), 0.0
	for y, z := range p.Z {
		if mean := (float64((n-m)*z) + float64(m*(p.X[y]+p.XPrime[y])/2)) / n; mean > 0 {
			d := p.X[y] - p.XPrime[y]
			signal += d * d / mean
		}
	}
	return m * math.Sqrt(signal/n)
}

const (
	// candidates is how many pairs, the best by their estimates, are summed up.
	candidates = 6
	// estimated is the ln delta of estimates where none is asked about.
	estimated = -20
)

// worst keeps the pairs that show most by their estimates, per unit of d_EM.
func worst(pairs []pair, logDelta float64) []pair {
	type scored struct {
		pair
		about float64
	}
	all := make([]scored, len(pairs))
	for i, p := range pairs {
		all[i] = scored{p, p.about(logDelta) / p.Distance}
	}
	slices.SortStableFunc(all, func(a, b scored) int { return cmp.Compare(b.about, a.about) })
	kept := make([]pair, 0, candidates)
	for _, s := range all[:min(candidates, len(all))] {
		kept = append(kept, s.pair)
	}
	return kept
}

// leastLevel returns a level below which one of the pairs that show most is not private with
// slack e^logDelta, and that pair.
func leastLevel(ctx context.Context, pairs []pair, logDelta float64) (float64, Witness, error) {
	return largestOf(worst(pairs, logDelta), func(p pair) (float64, error) {
		eps, err := p.eps(ctx, logDelta)
		return directed.DivDown(eps, p.Distance), err
	})
}

// leastDelta returns a slack that one of the pairs needs at level alpha, and that pair.
func leastDelta(ctx context.Context, pairs []pair, alpha float64) (float64, Witness, error) {
	return largestOf(pairs, func(p pair) (float64, error) { return p.delta(ctx, directed.MulUp(alpha, p.Distance)) })
}

func largestOf(pairs []pair, of func(pair) (float64, error)) (most float64, w Witness, err error) {
	for _, p := range pairs {
		v, err := of(p)
		if err != nil {
			return 0, w, err
		}
		if v > most {
			most, w = v, p.Witness
		}
	}
	return most, w, nil
}

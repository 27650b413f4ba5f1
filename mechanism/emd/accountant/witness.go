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

// score returns integers for outputs, for events at which the likelihood ratio of a
// step is about e^step. They are as small as lets them vary nearly as the derivative
// does: few integers are quick, and little is lost by rounding.
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

// mostSum is where sums of scores are not told apart in float64: no lower end is looked
// for where there are that many records.
const mostSum = 0x1p50

// test is a statistic of the two data sets.
type test struct {
	p, q            []lattice.Part
	mean, deviation float64 // of p
}

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
	rest := part(p.Z, p.records-p.Moved)
	t := test{p: []lattice.Part{part(p.X, p.Moved), rest}, q: []lattice.Part{part(p.XPrime, p.Moved), rest}}
	t.mean, t.deviation = lattice.Moments(t.p, 0)
	return t
}

// best returns the largest value found over thresholds from the mean under x to as far
// as e^logLeast of its mass goes, where value rises and falls. value is told ln P{T >= t}
// from below and ln P'{T >= t} from above.
func (t test) best(ctx context.Context, logLeast float64, value func(p, q float64) float64) (float64, error) {
	if !(t.mean+float64(math.Sqrt(-2*logLeast)*t.deviation) < mostSum) {
		return 0, nil
	}
	seen := map[int64]float64{}
	_, least, err := search.Least(-1, math.Sqrt(-2*logLeast)+2/max(t.deviation, 1e-3), 1e-3, func(x float64) (float64, error) {
		at := int64(math.Ceil(t.mean + float64(x*t.deviation)))
		if v, ok := seen[at]; ok {
			return v, nil
		}
		p, err := lattice.New(ctx, t.p, at)
		if err != nil {
			return 0, err
		}
		q, err := lattice.New(ctx, t.q, at)
		if err != nil {
			return 0, err
		}
		v := x + 1 // beyond
		if a := p.Tail(at).Lo; a > logLeast {
			if w := value(a, min(0, q.Tail(at).Hi)); w > 0 {
				v = -w
			}
		}
		seen[at] = v
		return v, nil
	})
	return max(0, -least), err
}

// steps are the levels of a step, over that found by the one before, that events are
// looked for at.
var steps = [...]float64{0, 0.5, 1}

// eps returns a level, below which the two are not private with slack e^logDelta.
func (p pair) eps(ctx context.Context, logDelta float64) (float64, error) {
	most := 0.0
	if p.shift() < math.Exp(logDelta) { // the total variation is about .4 of it
		return 0, nil
	}
	for _, s := range steps {
		v, err := p.test(s*most/float64(p.Moved)).best(ctx, logDelta, func(a, b float64) float64 {
			if math.IsInf(b, -1) {
				return 0
			}
			return a + math.Log1p(-math.Exp(logDelta-a)) - b - 0x1p-38
		})
		if err != nil {
			return 0, err
		}
		most = max(most, v)
	}
	return most, nil
}

// delta returns a slack that the two need at level eps.
func (p pair) delta(ctx context.Context, eps float64) (float64, error) {
	most := 0.0
	for _, s := range steps {
		v, err := p.test(s*eps/float64(p.Moved)).best(ctx, -700, func(a, b float64) float64 {
			return (math.Exp(a) - math.Exp(min(700, eps+b))) * (1 - 0x1p-40)
		})
		if err != nil {
			return 0, err
		}
		most = max(most, v)
	}
	return most, nil
}

// about estimates eps, as if the statistic were Gaussian: the likelihood ratio's
// logarithm has mean mu^2/2 and deviation mu.
func (p pair) about(logDelta float64) float64 {
	mu := p.shift()
	return float64(mu*math.Sqrt(-2*logDelta)) + mu*mu/2
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

// leastLevel returns a level below which one of the pairs, of those that show most,
// is not private with slack e^logDelta, and that pair.
func leastLevel(ctx context.Context, pairs []pair, logDelta float64) (float64, Witness, error) {
	most, w := 0.0, Witness{}
	for _, p := range worst(pairs, logDelta) {
		eps, err := p.eps(ctx, logDelta)
		if err != nil {
			return 0, w, err
		}
		if a := directed.DivDown(eps, p.Distance); a > most {
			most, w = a, p.Witness
		}
	}
	return most, w, nil
}

// leastDelta returns a slack that one of the pairs needs at level alpha, and that pair.
func leastDelta(ctx context.Context, pairs []pair, alpha float64) (float64, Witness, error) {
	most, w := 0.0, Witness{}
	for _, p := range pairs {
		d, err := p.delta(ctx, directed.MulUp(alpha, p.Distance))
		if err != nil {
			return 0, w, err
		}
		if d > most {
			most, w = d, p.Witness
		}
	}
	return most, w, nil
}

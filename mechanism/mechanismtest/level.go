package mechanismtest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/law"
	"github.com/metricdp/metricdp/mechanism"
)

// Evidence is what samples say about the level between two inputs.
type Evidence struct {
	// Level is a lower confidence bound, per unit of distance: the mechanism is (a, delta)-private
	// between the inputs for no a below it. +Inf where inputs at distance 0 differ.
	Level float64
	// Confidence is that of Level, 1 - Options.FalseReject.
	Confidence float64
	// An event of so many Outputs came up P times at the first input and Q times at the second, of
	// Samples each. With Reversed the first is xPrime.
	Outputs, P, Q, Samples int
	Reversed               bool
}

func (e Evidence) String() string {
	return fmt.Sprintf("an event of %d outputs came up %d and %d times of %d: level at least %.4g at confidence %.9g", e.Outputs, e.P, e.Q, e.Samples, e.Level, e.Confidence)
}

// TestLevel looks for a set S of outputs such that, at the given distance of x and xPrime in the
// metric of m's guarantee,
//
//	P{M(x) in S} > exp(alpha*distance) P{M(xPrime) in S} + delta
//
// or the same exchanged. A mechanism that keeps its guarantee is rejected, with a [*Failure], with
// probability at most Options.FalseReject; a pass proves nothing. Real numbers need Options.Key.
//
// Other errors are a [*metric.ValueError], for an option or a distance that is negative, not finite or
// beyond the guarantee's reach, [mechanism.ErrMemoized], and those of Release. O(Samples) releases.
//
// Source: "DP-Sniper", 2021.
func TestLevel[X, Y any](ctx context.Context, m mechanism.Mechanism[X, Y], x, xPrime X, distance float64, o *Options[X, Y]) (Evidence, error) {
	// Half of the samples choose one set for each direction; the other half bounds its two
	// probabilities by exact binomial intervals. A repeated draw is no sample, whence ErrMemoized.
	//
	// Sources: Ding, Wang, Wang, Zhang, Kifer, "Detecting violations of differential privacy",
	// 2018, and Bichsel, Steffen, Bogunovic, Vechev, "DP-Sniper", 2021, for a set found on some
	// samples and tested on others; Clopper, Pearson, "The use of confidence or fiducial limits
	// illustrated in the case of the binomial", 1934.
	const op = "mechanismtest: TestLevel"
	opt, err := sampling(op, m, o)
	if err != nil {
		return Evidence{}, err
	}
	if err := fault.NonNegative(op, "distance", distance); err != nil {
		return Evidence{}, err
	}
	g := m.Guarantee()
	if distance > g.Reach() {
		return Evidence{}, fault.Value(op, "distance", distance, fmt.Sprintf("at most the guarantee's reach of %v", g.Reach()))
	}
	best := Evidence{Confidence: 1 - opt.FalseReject}
	m = until[X, Y]{ctx, m}
	t := &law.Trial{Op: op}
	t.Law("level", func() error {
		if err := promises(g); err != nil {
			return err
		}
		s, err := draw(m, x, xPrime, &opt)
		if err != nil {
			return err
		}
		eps, delta := g.At(distance)
		violated := false
		for _, reversed := range []bool{false, true} {
			e, broken := s.judge(eps, delta, distance, opt.FalseReject/4) // two bounds each way
			violated = violated || broken
			if !reversed || e.Level > best.Level {
				e.Confidence, e.Reversed = best.Confidence, reversed
				best = e
			}
			s.exchange()
		}
		if violated {
			return fmt.Errorf("inputs %s and %s at distance %v, promised %v: %v", law.Brief(x), law.Brief(xPrime), distance, g, best)
		}
		return nil
	})
	return best, ended(ctx, t)
}

// sampled holds the outputs that occur, in order of first occurrence, and their
// counts at the two inputs: train to choose an event, test to judge it.
type sampled struct {
	train, test [][2]int
	n           [2]int // of a train and a test
}

func draw[X, Y any](m mechanism.Mechanism[X, Y], x, xPrime X, o *Options[X, Y]) (*sampled, error) {
	s := &sampled{n: [2]int{max(1, o.Samples/2), max(1, o.Samples-o.Samples/2)}}
	number := map[any]int{}
	r := o.generator(1)
	for part, counts := range []*[][2]int{&s.train, &s.test} {
		for side, x := range []X{x, xPrime} {
			err := o.count(m, r, x, s.n[part], func(y any) {
				k, ok := number[y]
				if !ok {
					k = len(number)
					number[y] = k
					s.train, s.test = append(s.train, [2]int{}), append(s.test, [2]int{})
				}
				(*counts)[k][side]++
			})
			if err != nil {
				return nil, err
			}
		}
	}
	return s, nil
}

// exchange makes the second input the first.
func (s *sampled) exchange() {
	for k := range s.train {
		slices.Reverse(s.train[k][:])
		slices.Reverse(s.test[k][:])
	}
}

// choose returns the event that by the training samples will prove the most:
// outputs by falling ratio of their counts, as many of them as make
//
//	ln((P-delta)/Q) - z (its standard deviation)
//
// largest, where z deviations are what an interval of that level takes, and that
// score. Outputs that training has not seen are not in it.
func (s *sampled) choose(delta, level float64) (event []int, score float64) {
	var order []int
	for k, c := range s.train {
		if c[0] > 0 {
			order = append(order, k)
		}
	}
	// Half a count more on both sides ranks 10 against 0 above 1 against 0.
	ratio := func(k int) float64 { return (float64(s.train[k][0]) + 0.5) / (float64(s.train[k][1]) + 0.5) }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ratio(b), ratio(a)) })
	n, z := float64(s.n[0]), math.Sqrt(-2*math.Log(level)) // exp(-z^2/2) bounds the normal tail
	best, most := 0, math.Inf(-1)
	var hits [2]int
	for k, y := range order {
		hits[0] += s.train[y][0]
		hits[1] += s.train[y][1]
		p, q := (float64(hits[0])+1)/(n+2), (float64(hits[1])+1)/(n+2) // off 0 and 1, for the deviations
		if p <= delta {
			continue
		}
		v := p*(1-p)/((p-delta)*(p-delta)) + (1-q)/q // n times the variance, to first order
		if score := math.Log((p-delta)/q) - z*math.Sqrt(v/n); score > most {
			best, most = k+1, score
		}
	}
	return order[:best], most
}

// judge bounds the level from below by one event, each probability bounded at
// level, and reports whether the event breaks the guarantee of eps and delta.
func (s *sampled) judge(eps, delta, distance, level float64) (e Evidence, broken bool) {
	event, _ := s.choose(delta, level)
	e.Samples, e.Outputs = s.n[1], len(event)
	for _, k := range event {
		e.P += s.test[k][0]
		e.Q += s.test[k][1]
	}
	p, q := atLeast(e.P, e.Samples, level), atMost(e.Q, e.Samples, level)
	if !(p-delta > 0) {
		return e, false
	}
	loss := math.Log((p - delta) / q)
	if loss > 0 {
		e.Level = loss / distance // +Inf at distance 0
	}
	return e, loss > eps
}

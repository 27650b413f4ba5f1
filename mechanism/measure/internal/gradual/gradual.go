// Package gradual releases counts with noise, and the same counts later with less, at the
// cost of the last release alone. A ledger holds what all counts and choices spend.
//
// # Refinement
//
// Noise is G - H, both geometric, P{G >= k} = e^(-a k), a the level: discrete Laplace of rate
// a. To go on to level b > a, each becomes the smaller of itself and a fresh geometric variate
// F of rate b-a. For k, d >= 0
//
//	P{min(G, F) = k, G - min(G, F) = d} = P{min(G, F) = k} P{G - min(G, F) = d}:
//
// it is (1-e^-a) e^(-bk) for d = 0 and (1-e^-(b-a)) (1-e^-a) e^(-bk) e^(-ad) for d > 0. So the
// smaller is geometric of rate b, and what was before is it and noise that does not depend on
// it. By induction all that was released of a count, and its last level b, has the probability
//
//	P(first, ..., last | n) = P{noise of rate b = last - n} T(first, ..., last),
//
// T without n, also where levels follow from what was released before: of the same outputs they are
// the same. One more in n changes this by e^b at most. (Koufogiannis, Han, Pappas 2016 have such
// noise of the Laplace law; it is an atom and three geometric pieces, once drawn at one stroke.)
package gradual

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/exact"
)

// Quanta is into how many parts a budget is divided.
const Quanta = 1 << 30

// Ledger is a budget, and what is left of it.
type Ledger struct {
	unit float64
	left int64
}

// NewLedger returns that of level eps, in [1e-9, 1e50]: below, the noise of a quantum is too large.
func NewLedger(eps float64) *Ledger {
	// With 23 bits, times up to 2^30 quanta, all products are exact.
	return &Ledger{math.Float64frombits(math.Float64bits(eps)&^(1<<30-1)) / Quanta, Quanta}
}

// Loss is the level of all that may be spent, exactly.
func (l *Ledger) Loss() float64 { return l.Rate(Quanta) }

// Rate is that of so many quanta, exactly.
func (l *Ledger) Rate(q int64) float64 { return float64(float64(q) * l.unit) }

// Quanta returns how many a level has, rounded down, and 1 at least.
func (l *Ledger) Quanta(level float64) int64 {
	return int64(min(max(1, level/l.unit), Quanta))
}

// Left is what is not spent.
func (l *Ledger) Left() int64 { return l.left }

// Spend takes off what a release costs. To have spent more than there is is a bug.
func (l *Ledger) Spend(q int64) {
	if q < 0 || q > l.left {
		panic(fmt.Sprintf("gradual: %d quanta of %d that are left", q, l.left))
	}
	l.left -= q
}

// Noise is what makes private numbers public.
type Noise interface {
	// Count releases n with noise of q quanta.
	Count(n, q int64) Count
	// Greatest releases the place of the greatest of scores with noise of q quanta: of the
	// first where there are several. Scores are less than 2^62 in size.
	Greatest(scores []int64, q int64) int
}

// Count is a count that was released.
type Count interface {
	// Value is what is public of it.
	Value() int64
	// Refine lowers the noise to that of q more quanta, at least 1.
	Refine(q int64)
}

// geometric is the Noise of a ledger's rates.
type geometric struct {
	rng    *rand.Rand
	ledger *Ledger
}

// NewNoise returns geometric noise: on a count, up and down.
func NewNoise(rng *rand.Rand, l *Ledger) Noise { return &geometric{rng, l} }

// count is n + up - down.
type count struct {
	n        int64
	up, down wide
	noise    *geometric
}

func (g *geometric) Count(n, q int64) Count { return &count{n, g.draw(q), g.draw(q), g} }

func (c *count) Refine(q int64) {
	for _, k := range []*wide{&c.up, &c.down} {
		if f := c.noise.draw(q); f.less(*k) {
			*k = f
		}
	}
}

// Value implements [Count]. It wraps around at the ends of int64, which is post-processing.
func (c *count) Value() int64 { return c.n + int64(c.up.lo-c.down.lo) }

// Greatest implements [Noise]. Let every score change by at most d between neighbors. Given all
// other noise, one is the greatest if its own is at least some t, which changes by at most 2d,
// and P{K >= t + 2d} >= e^(-2d rate) P{K >= t}: a level of 2d times the rate (report noisy max;
// permute and flip has the same law).
func (g *geometric) Greatest(scores []int64, q int64) int {
	best, most := 0, wide{}
	for i, x := range scores {
		y := g.draw(q).plus(uint64(x + 1<<62))
		if i == 0 || most.less(y) {
			best, most = i, y
		}
	}
	return best
}

// wide is a whole number of 128 bits.
type wide struct{ hi, lo uint64 }

func (x wide) less(y wide) bool { return x.hi < y.hi || x.hi == y.hi && x.lo < y.lo }

func (x wide) plus(k uint64) wide {
	lo, carry := bits.Add64(x.lo, k, 0)
	return wide{x.hi + carry, lo}
}

// draw returns K with P{K >= k} = e^(-k rate of q), exactly. Where it passes an int64 it is that
// and one more, as it has no memory.
func (g *geometric) draw(q int64) (k wide) {
	for {
		x := exact.DiscreteLaplace(g.rng, g.ledger.Rate(q))
		if x < 0 {
			continue
		}
		if k = k.plus(uint64(x)); x < math.MaxInt64 {
			return k
		}
	}
}

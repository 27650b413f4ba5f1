package additive

import (
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/exact"
)

// ladder draws the deviation of normal noise in R^d so that the mixture is noise of
// level 1 in the Euclidean norm, exactly: for every dimension, and for the float64
// numbers that are its deviations and the logarithms of their probabilities.
//
// The density e^(-a|z|) is the mixture of centered normal densities whose variance s has
// the density prop. to s^((d-1)/2) e^(-a^2 s/2), because the integral over s of s^(-1/2)
// e^(-r^2/(2s) - a^2 s/2) is prop. to e^(-a r). A ladder has variances s_k of ratio e^h
// instead of all, with the probabilities prop. to s_k^((d+1)/2) e^(-a^2 s_k/2). Its
// density at the norm r is, but for a constant,
//
//	f(r) = sum of a_k e^(-r^2/(2 s_k)),  a_k = s_k^(1/2) e^(-a^2 s_k/2),
//
// and that it is private at the level a e^(h/2) is the statement 0 <= -f'/f <= a e^(h/2)
// for all r, as norms obey the triangle inequality. With s_k = (r/a) e^v the two sums of
//
//	-f'/f = sum of (r/s_k) a_k e^(-r^2/(2 s_k)) / f
//
// are a times A and B, where A = sum of e^(-v/2) g(v), B = sum of e^(v/2) g(v), and g(v) =
// e^(-a r cosh v) is even and falls in |v|. The values v lie h apart. Let the ones below 0
// be -b_0 > -b_1 > ..., the others a_0 < a_1 < ..., so that a_0 + b_0 = h.
//   - If b_0 >= a_0, pair a_j with b_j. The share of a pair in A over that in B is (e^(-a/2)
//     g(a) + e^(b/2) g(b)) / (e^(a/2) g(a) + e^(-b/2) g(b)). It grows in g(b)/g(a) <= 1, and
//     is e^((b-a)/2) <= e^(h/2) where that is 1.
//   - Else let -b_0 stand alone, with the quotient e^(b_0) < e^(h/2), and pair a_j with
//     b_(j+1): then 0 < b-a < h, and the quotient is below e^(h/2) again.
//
// The rest is what a computer adds. Weights that are wrong by a factor in [1-e, 1+e] raise
// the level by (1+e)/(1-e), deviations that are wrong by a factor 1+e by about e^(4e): the v
// move by at most 2e each, and where a pair would have b < a the other pairing has room.
// Replacing a_k by c_k a_k, with c_k nondecreasing, moves probability to the larger s_k at
// every r and so lowers -f'/f. That allows to leave out the rungs below some s, and to
// let the probabilities above another fall by halves, slower than they would: they are
// drawn by coins, so that no r is out of reach. (The last rung of all is a deviation of
// 2^490, which takes 700,000 coins in a row; -f'/f is as stated up to norms beyond 2^900,
// and sums beyond 2^53 steps of the lattice, at most 2^700 here, become one of its ends, which
// is reached from beyond 2^900 with a share of its probability that no float64 shows.)
//
// Where h is small against the width of s, 1/sqrt(d), f is e^(-a r) to hundreds of
// digits for all r that occur: the sum is the trapezoidal rule for the integral over
// ln s, which converges so. The norm has the distribution Gamma(d)/a.
type ladder struct {
	sigma []float64 // the deviations, at level 1
	logs  []float64 // of their probabilities; the last has those of all above it
	table *exact.Table
}

const (
	// rungStep is h/2, the logarithm of the ratio of two deviations.
	rungStep = 0x1p-11
	// ladderRoom is the factor by which the noise is wider than that of density
	// e^(-alpha|z|): e^rungStep and as much again for the rounding, at most 2^-14 for the
	// weights in 2^31 dimensions.
	ladderRoom = 1 + 0x1p-10
	// rungLoss: rungs below are left out where their probability is e^-rungLoss of the
	// largest.
	rungLoss = 40
	// rungFall is the logarithm of the quotient of the last two probabilities, above ln 2.
	rungFall = 0.7
	// rungTop is how often the coin may say go on: to 2^490 times the last deviation.
	rungTop = 700_000
)

// newLadder returns the ladder of R^d, d >= 2, for the level ladderRoom.
func newLadder(d int) *ladder {
	// The deviation e^u sqrt(d+1) has the probability prop. to e^w(u), largest at u = 0.
	m := float64(d) + 1
	w := func(u float64) float64 { return float64(m * (u - math.Expm1(2*u)/2)) }
	low := 0
	for w(float64(low)*rungStep) > -rungLoss {
		low--
	}
	l := &ladder{}
	for k := low; ; k++ {
		u := float64(k) * rungStep
		l.logs = append(l.logs, w(u))
		l.sigma = append(l.sigma, math.Exp(u)*math.Sqrt(m))
		if n := len(l.logs); k > 0 && l.logs[n-2]-l.logs[n-1] > rungFall {
			l.logs[n-1] += math.Ln2
			break
		}
	}
	l.table = exact.NewTable(exact.Weights{W: l.logs, Log: true})
	return l
}

// draw returns a deviation.
func (l *ladder) draw(rng *rand.Rand) float64 {
	last := len(l.sigma) - 1
	k := l.table.Draw(rng)
	if k < last {
		return l.sigma[k]
	}
	up := 0
	for up < rungTop && rng.Uint64()>>63 != 0 {
		up++
	}
	return l.sigma[last] * math.Exp(float64(up)*rungStep)
}

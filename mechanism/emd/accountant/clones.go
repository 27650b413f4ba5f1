package accountant

import (
	"context"
	"fmt"
	"math"
	"math/bits"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/lattice"
)

// Clones says with which probability p another record's output can be taken for that of the
// record that changes: it is then a clone of it (Feldman, McMillan, Talwar 2021).
type Clones int

const (
	// Dominated is p = exp(-Alpha0*Diameter): the distribution of every other record's output
	// is at least p times the average of the changed record's two (IRC24, Lemma B.1).
	Dominated Clones = iota
	// MetricRandomizer is p = 2exp(-Alpha0*Diameter)/(1+exp(-Alpha0*d)) for a change by d: the item's
	// distance where there is one, else MinDistance. Source: Wang, "Tight shuffle privacy of metric
	// randomizers", VLDB 2024.
	MetricRandomizer
)

var clones = [...]string{Dominated: "dominated", MetricRandomizer: "metric randomizer"}

// String is "dominated" or "metric randomizer".
func (c Clones) String() string {
	if c < 0 || int(c) >= len(clones) {
		return fmt.Sprintf("Clones(%d)", int(c))
	}
	return clones[c]
}

// probability returns p, rounded down, for a change by d over the diameter.
func (c Clones) probability(alpha0, d float64) float64 {
	p := directed.ExpDown(-alpha0)
	if c == MetricRandomizer {
		p = directed.DivDown(2*p, directed.AddUp(1, directed.ExpUp(directed.MulUp(-alpha0, d))))
	}
	return min(p, maxClone)
}

// cloneCount is the distribution of the records among which one changed record hides: C ~ Bin(others,
// p) of the other records are its clones, and with n = C+1 and B ~ Bin(n, 1/2) the mixture of the
// changed record and its clones shows only Z = 2B/n-1. What an observer learns is governed by
//
//	Psi(tau) = E (Z-tau)_+,
//
// decreasing and convex in tau, and decreasing in others and p: Z given n is a reversed martingale.
type cloneCount struct {
	others int64
	p      float64 // in (0, maxClone], to be rounded down
}

// Everything below rests on the step of that martingale. With q = (1+tau)/2,
// psi_n = E[(Z-tau)_+ | n], j_n = floor(nq)+1 and x_n = j_n-nq in (0,1] only
// the path through B_{n+1} = j_n sees the kink of (.)_+, and
//
//	psi_n - psi_{n+1} = P(B_{n+1} = j_n) 2/(n(n+1)) h_n,
//	h_n = (1-x_n) j_n where j_{n+1} = j_n, x_n (n+1-j_n) where j_{n+1} = j_n+1.
//
// As psi_n falls to 0, Psi = sum over n >= 1 of (psi_n-psi_{n+1}) P(C+1 <= n):
// a sum of positive terms by multiplicative recurrences, with nothing to
// cancel.
//
// Only a window matters. By Chernoff psi_n <= (1-tau) e^-ns for s up to the
// rate (1/2)((1+tau)ln(1+tau)+(1-tau)ln(1-tau)), so
//
//	E[psi_n; C+1 in A] <= e^X P(C'+1 in A), X = ln(1-tau) - s + others*ln(1-p+p e^-s),
//
// C' binomial with p e^-s : 1-p in place of p : 1-p. The window [lo, hi] is
// that distribution's mean and T nats around it, by Bernstein: either side of
// it has a mass of e^-T at most, and within the sum goes by parts:
//
//	Psi <= sum from lo to hi-1 of (psi_n-psi_{n+1}) P(lo <= C+1 <= n) + psi_hi P(lo <= C+1 <= hi) + 2 e^(X-T).
const (
	// truncNats sets T: e^-21 < 1e-9 is the relative size of the last term above, once T has made up for
	// e^X exceeding Psi, by about sqrt(n)(1+n tau^2).
	truncNats = 21
	// stepErr bounds the relative error per step of the window: two roundings of the path's
	// recurrence, five of C's, one of its sum, four of the terms: 12 * 2^-53.
	stepErr = 0x1p-49
	// maxTilt bounds s*(width of the window), in nats: the two recurrences drift apart by e^(that+T),
	// which must stay a float64. Beyond it e^X is returned, below e^-500 as -X >= s*mean.
	maxTilt = 500
	// manyClones is the mean number from which on the sum is bounded on a lattice, whose time hardly
	// grows, with a relative 1e-4 and not 1e-8.
	manyClones = 1 << 19
	// maxClone bounds p: the mass of C at the lower end of the window, k <= T+1 others short of all, is
	// above (n(1-p)/k)^k of the largest, e^-600 for p up to here.
	maxClone = 1 - 0x1p-30
)

// logPsi returns an upper bound of ln Psi(tau), tau >= 0, within a relative 1e-8 of Psi where maxTilt
// does not cut it off; -Inf for tau >= 1. It takes time proportional to sqrt(others*p).
func (c cloneCount) logPsi(tau float64) float64 {
	if tau >= 1 {
		return math.Inf(-1)
	}
	tau = math.Floor(tau*0x1p63) * 0x1p-63 // the multiple of 2^-63 below, that q be one of 2^-64
	s, x := c.chernoff(tau)
	es := math.Exp(-s)
	tilted := c.p * es / (1 - c.p + float64(c.p*es))
	mean := float64(float64(c.others) * tilted)
	t := truncNats + math.Log1p(mean)/2 + math.Log1p(float64(mean*tau*tau))
	if mean > manyClones {
		return min(x, c.many(tau))
	}
	half := math.Sqrt(2*t*mean*(1-tilted)) + t + 1
	if 2*s*half > maxTilt {
		return x
	}
	lo := 1 + int64(max(0, math.Floor(mean-half)))
	hi := 1 + min(c.others, int64(math.Ceil(mean+half)))
	last := math.Inf(-1)
	if lo > 1 || hi <= c.others {
		last = x - t + math.Ln2
	}

	// q = Q/2^64. j and frac = nq-floor(nq) follow in integers: as a
	// float64 nq would lose the fraction that x_n is made of.
	q := uint64(1)<<63 + uint64(float64(tau*0x1p63))
	floor, frac := bits.Mul64(q, uint64(lo))
	j := int64(floor) + 1

	odds := c.p / (1 - c.p)
	path, cdf := 1.0, 1.0 // P(B_{n+1}=j)/(n(n+1)) and P(lo <= C+1 <= n), both over their first value
	mass := 1.0           // P(C = n-1)
	logPath := logBinomial(lo+1, j, 0.5) - math.Log(float64(lo)) - math.Log(float64(lo+1)) + math.Ln2
	logMass := logBinomial(c.others, lo-1, c.p)
	sum := 0.0
	for n := lo; n < hi; n++ {
		fn := float64(n)
		next, carry := bits.Add64(frac, q, 0)
		// No branch on carry, which no processor could predict.
		stay := fraction(frac) * float64(j)
		move := fraction(-frac) * float64(n+1-j)
		k := int64(carry)
		fk := float64(k)
		sum += float64(path * (float64(stay*(1-fk)) + float64(move*fk)) * cdf)
		path *= fn / float64(2*(n+2-j+k*(2*j-1-n)))
		mass = float64(mass * float64(c.others-n+1) / fn * odds)
		cdf += mass
		frac, j = next, j+k
	}
	edge := logExcess(hi, q)
	main := logAdd(math.Log(sum)+logPath, edge+math.Log(cdf)) + logMass
	slack := float64(float64(hi-lo+16)*stepErr) + pmfErr(logMass) + pmfErr(min(logPath, edge))
	return min(x, logAdd(main+slack, last))
}

// many bounds ln Psi(tau): by Bayes' rule Psi is the mean of (G_1+..+G_N)_+ over Np, the
// G_i independent, 1-tau and -1-tau with probability p/2 each and else 0.
func (c cloneCount) many(tau float64) float64 {
	const spread = 1e-5
	n := c.others + 1
	part, h := rounded([]float64{directed.SubUp(1, tau), -directed.AddDown(1, tau)}, []float64{c.p / 2, c.p / 2}, 1-c.p, n, spread)
	s, err := lattice.New(context.Background(), []lattice.Part{part}, 0) // a millisecond
	if err != nil {
		return 0
	}
	return s.Excess(0).Hi + math.Log(h) - math.Log(float64(n)) - math.Log(c.p) + 0x1p-40
}

// fraction returns f/2^64 rounded up, by 62 bits: the conversion of a uint64 would branch.
func fraction(f uint64) float64 { return float64(int64(f>>2)+1) * 0x1p-62 }

// chernoff returns s and X of the comment above, s rounded down and X up. The two terms of the
// rate cancel to tau^2/2, which is below it: their rounding is less than 2^-51 tau.
func (c cloneCount) chernoff(tau float64) (s, x float64) {
	rate := (float64((1+tau)*math.Log1p(tau)) + float64((1-tau)*math.Log1p(-tau))) / 2
	s = max(rate-0x1p-50*tau, float64(tau*tau/2)*(1-0x1p-50))
	x = math.Log1p(-tau) - s + float64(float64(c.others)*math.Log1p(c.p*math.Expm1(-s)))
	return s, x + 0x1p-48*math.Abs(x)
}

// logExcess returns ln psi_n for q = Q/2^64, n >= 1: (2/n) E(B-nq)_+ as a sum of positive
// terms. Their ratios fall, so a geometric series bounds the rest, which is added.
func logExcess(n int64, q uint64) float64 {
	const rest = 0x1p-40
	floor, frac := bits.Mul64(q, uint64(n))
	b := int64(floor) + 1
	x := 1.0
	if frac != 0 {
		x = float64(-frac) * 0x1p-64
	}
	log := logBinomial(n, b, 0.5) + math.Log(2/float64(n))
	sum, mass, start := x, 1.0, b
	for b < n {
		r := float64(n-b) / float64(b+1)
		next := float64(mass * r * (x + 1))
		if ratio := r * (x + 1) / x; ratio < 1 && x*mass*ratio <= rest*sum*(1-ratio) {
			sum += x * mass * ratio / (1 - ratio)
			break
		}
		mass *= r
		sum += next
		x++
		b++
	}
	return log + math.Log(sum) + float64(float64(b-start+8)*stepErr)
}

package accountant

import (
	"context"
	"math"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/lattice"
)

// mixture bounds Psi by more than clones: no output of another record comes up less than
// e = exp(-Alpha0 D) times as often as of the one that changes, nor more than 1/e times, so
// that not all outputs can hide little.
//
// Let u and v be the probabilities of the outputs at x and x', r_i those at another record's
// value, and r_i >= b for all i with sum p of b. Take the record i to draw from b with
// probability p, and else from r_i-b. Let K of the others draw from b. The record that
// changes picks i of these and, with probability u(y)(r_i(y)-b(y))/r_i(y), draws y as i might
// have, and else what is left of u. In the first case, exchange y and the draw of i. Who
// knows which records, after that, did not draw from b, and their outputs, learns with
// l_i = (u-e^eps v)/r_i by Bayes' rule, as for the blanket, so much that
//
//	D_{e^eps} <= E p/(K+1) (sum of l_j averaged over i who drew from b, of K+1 draws from b
//	                        + sum of l_i of the draws of the others)_+,
//
// and by Jensen's inequality, where every draw has an i of its own but one, of which l <= top,
//
//	D_{e^eps} <= E p/(K+1) (l_1(y_1) + .. + l_{N-1}(y_{N-1}) + top)_+,
//
// the y_i independent, y_i of probabilities r_i. K+1 is near Np but for a tail: outcomes with
// less come of as few who drew from b or one more, whatever the change, and for each set of
// these the parts of u-e^eps v add up to no more than all of it.
//
// For x and x' a distance d apart let T = tanh(Alpha0 d/2), u = q(1+zT), v = q(1-zT),
// |z| <= 1: e(1+|z|T) <= r_i/q <= 1/e. With e^eps = (1+tau T)/(1-tau T), as of joint, l_i is
// (e^eps-1)/tau times g = (z-tau)q/r_i, of mean -tau. E(g_1+..)_+ is convex in each r_i. All
// q at z = 1 and -1, half of it each, with r_i/q = lo = e(1+T) or hi = 1/e, are the worst: z
// between gives less than its parts at 1 and -1, and where that takes more than there is of
// r_i, some of hi becomes lo. What is left is which share of each z is at lo, and as the mean
// is linear in it for each i, it is the most it can be of z = 1 for some of the records
// (first), and of z = -1 for the others (second). Their number is not known. It is looked at
// in ranges: those left out have all of both z at lo, which spreads them more than either.
type mixture struct {
	others int64
	lo, hi float64 // lo rounded down, hi rounded up
	least  float64 // e, rounded down
	nodes  map[int]float64
}

const (
	// mixtureRanges costs a share of 1/mixtureRanges of what a mixture gains.
	mixtureRanges = 16
	// mixtureNodes is how many tau of an octave have their own sums: Psi is convex. From where
	// it is e^-mixtureNats on a chord goes as far as it falls by e^-mixtureDrop: a chord that is
	// longer falls so late that a larger level may seem to need a larger delta.
	mixtureNodes             = 32
	mixtureNats, mixtureDrop = 8, 0.5
	// mixtureClones is the least mean number of clones, and mixtureLevel the least level, from
	// which on it is looked at. Fewer of them are not near enough to their mean; and for lower
	// levels the differences of lo and hi from 1 are not right to massErr.
	// From a level of mixtureMost on less than a hundredth is gained.
	mixtureClones, mixtureLevel, mixtureMost = 1 << 14, 1. / 16, 4
)

// mixes reports that there is something to gain.
func mixes(alpha0 float64, others int64) bool {
	return alpha0 >= mixtureLevel && alpha0 < mixtureMost && float64(float64(others)*math.Exp(-alpha0)) >= mixtureClones
}

// newMixture returns the one for changes by w or more over the diameter.
func newMixture(alpha0, w float64, others int64) *mixture {
	e := directed.ExpDown(-alpha0)
	x := directed.ExpUp(directed.MulUp(-alpha0, w)) // T = (1-x)/(1+x)
	return &mixture{
		others: others,
		lo:     directed.MulDown(e, directed.DivDown(2, directed.AddUp(1, x))), hi: directed.ExpUp(alpha0),
		least: e, nodes: map[int]float64{},
	}
}

// shares returns how much of the q is at lo and at hi.
func (x *mixture) shares() (lo, hi float64) {
	return (x.hi - 1) / (x.hi - x.lo), (1 - x.lo) / (x.hi - x.lo)
}

// clones is the probability of clones of which Psi is about the same: 1 over the variance
// of g.
func (x *mixture) clones() float64 {
	lo, hi := x.shares()
	return 1 / (lo/x.lo + hi/x.hi)
}

// logPsi bounds ln Psi(tau) by the chord of the nodes next to tau.
func (x *mixture) logPsi(tau float64) float64 {
	if !(tau >= 0x1p-40 && tau < 1) {
		return 0
	}
	i := int(math.Floor(float64(math.Log2(tau)*mixtureNodes) - 0x1p-20))
	nats := x.nats(tau)
	if nats > mixtureNats {
		i = int(math.Floor(float64(nats / mixtureDrop)))
	}
	from, to := x.tau(i), x.tau(i+1)
	l, r := x.node(i, from), x.node(i+1, to)
	if l >= 0 || math.IsInf(l, -1) {
		return min(0, l)
	}
	return chord(l, r, (tau-from)/(to-from))
}

// nats is about -ln Psi(tau).
func (x *mixture) nats(tau float64) float64 {
	return float64(float64(float64(x.others)*x.clones()) * tau * tau / 2)
}

// tau is that of node i, below 0 for those of octaves.
func (x *mixture) tau(i int) float64 {
	if i < 0 {
		return math.Exp2(float64(i) / mixtureNodes)
	}
	return math.Sqrt(float64(2*i) * mixtureDrop / float64(float64(x.others)*x.clones()))
}

func (x *mixture) node(i int, tau float64) float64 {
	v, ok := x.nodes[i]
	if !ok {
		v = x.at(tau)
		x.nodes[i] = v
	}
	return v
}

// at bounds ln Psi(tau).
func (x *mixture) at(tau float64) float64 {
	if tau >= 1 {
		return math.Inf(-1)
	}
	most := x.sum(tau) - math.Log(float64(x.others)) + 0x1p-44
	// Fewer than (1-short) (N-1)p of the others draw from b with probability e^-nats at most,
	// by Chernoff's bound, as p >= e.
	nats := 7 - min(0, most)
	short := math.Sqrt(2*nats/float64(float64(x.others)*x.least)) * (1 + 0x1p-40)
	if !(short < 0.5) {
		return 0
	}
	return logUp(logAdd(most-math.Log1p(-short), -nats))
}

// sum bounds ln E (g_1 + .. + g_{N-1} + top)_+ for all r_i.
func (x *mixture) sum(tau float64) float64 {
	const spread = 1e-4
	up := directed.SubUp(1, tau)
	top := directed.DivUp(up, x.lo)
	down := directed.AddDown(1, tau)
	gains := []float64{top, directed.DivUp(up, x.hi), -directed.DivDown(down, x.lo), -directed.DivDown(down, x.hi)}
	// Probabilities: one of z is at lo, the other in part.
	_, share := x.shares()
	half, high := x.lo/2, share*x.hi
	rest := ((x.hi - 1) - (1 - x.lo)) / (2 * (x.hi - x.lo)) * x.lo
	first, second := []float64{half, 0, rest, high}, []float64{rest, high, half, 0}
	all := []float64{half, 0, half, 0}
	h := spacing(gains, second, x.others, spread)
	width := (x.others + mixtureRanges - 1) / mixtureRanges
	most, t := math.Inf(-1), -int64(math.Ceil(top/h*(1+0x1p-50)))
	for from := int64(0); from < x.others; from += width {
		n := min(from, x.others-width)
		s, err := lattice.New(context.Background(), []lattice.Part{
			onLattice(gains, first, 0, n, h), onLattice(gains, second, 0, x.others-width-n, h), onLattice(gains, all, 1-x.lo, width, h),
		}, t)
		if err != nil {
			return math.Inf(1)
		}
		most = max(most, s.Excess(t).Hi)
	}
	return most + math.Log(h) + 0x1p-40
}

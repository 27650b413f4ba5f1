package accountant

import "math"

// cover is what bounds Psi: clones, and mixtures where there are some.
//
// If items move one after another at one tau, those that move least first, step i by d_i has
// E_i = 2 artanh(tau T(d_i)), T(d) = tanh(alpha0 d/2), and Psi_i no larger than the ones
// before. With E the sum of the E_i, by Chebyshev's inequality for sums,
//
//	D_{e^E} <= sum over i of e^(E_1+..+E_(i-1)) (e^E_i-1) Psi_i/tau
//	        <= (e^E-1)/E (sum of E_i Psi_i)/tau.
//
// (e^E-1)/E grows up to E(w) = 2m artanh(tau T(w)), w the mean of the d_i, so that Psi of the
// one tau may be taken for the mean of Psi_i E_i m/E(w). For any tau E_i m/E(w) is at most T(d_i)/T(w) or,
// where d_i > w, d_i/w: these do not depend on tau, and what is bounded stays convex in it.
// For all w of l or more T(w) times it is at most K(d_i), T(d) up to l and d T(l)/l from there;
// if a line c d + b with b, c >= 0 is above K(d) Psi for every d, the mean is at most
// (c w + b)/T(w), which on [l, 1] is the largest at an end.
//
// Chords from one of these bounds to another hold too: the same inequality for the first k of
// the items alone says that the shares of e^E-1 they take are s_k = min(1, sum of K(d_i)/(m T(w)))
// at most. As Psi_i falls with i, all is no more than the sum of (s_i - s_(i-1)) Psi_i, convex
// in tau as the s_i do not depend on it, and below Psi_1, clones and every line.
type cover struct {
	cloneCount
	alpha0, w float64 // w is l
	parts     []part
}

// part is the distances in [from, to], hidden by a mixture: all of them for one item.
type part struct {
	*mixture
	from, to float64
}

// mixtureSteps is how many least distances of one item have their own mixture, and
// averageSteps how many mean distances of more items.
const mixtureSteps, averageSteps = 16, 64

// distances are where those of an item are parted: a mixture each.
var distances = [...]float64{0, 1. / 16, 1. / 8, 1. / 4}

// coverAt w is what bounds Psi for changes by w or more on average. One item moves by w; many may
// move by near 0 or near.
func (b joint) coverAt(w float64) cover {
	near := w
	if b.items > 1 {
		near = b.near
	}
	c := cover{cloneCount: cloneCount{b.others, b.clones.probability(b.alpha0, near)}, alpha0: b.alpha0}
	switch {
	case b.mixtures == nil:
	case b.items == 1:
		i := math.Floor(w * mixtureSteps)
		c.parts = []part{{b.mixture(i / mixtureSteps), 0, 1}}
	default:
		c.w = math.Floor(w*averageSteps) / averageSteps
		for i, from := range distances {
			to := 1.0
			if i+1 < len(distances) {
				to = distances[i+1]
			}
			if to > b.near || to == 1 {
				from = max(from, b.near)
				c.parts = append(c.parts, part{b.mixture(from), from, to})
			}
		}
	}
	return c
}

func (b joint) mixture(w float64) *mixture {
	x, ok := b.mixtures[w]
	if !ok {
		x = newMixture(b.alpha0, w, b.others)
		b.mixtures[w] = x
	}
	return x
}

// logRatio returns ln(Psi(tau)/tau), at tau = 0 ln Psi, rounded up.
func (c cover) logRatio(tau float64) float64 {
	psi := min(c.logPsi(tau), c.mixed(tau))
	if tau == 0 {
		return logUp(psi)
	}
	return logUp(psi - math.Log(tau))
}

// mixed bounds ln Psi(tau) by the mixtures.
func (c cover) mixed(tau float64) float64 {
	if len(c.parts) == 0 {
		return 0
	}
	first := c.parts[0].logPsi(tau)
	if c.w == 0 || len(c.parts) == 1 || math.IsInf(first, -1) {
		return first
	}
	slope := func(d float64) float64 { // T(d)/d
		if d == 0 {
			return c.alpha0 / 2
		}
		return math.Tanh(c.alpha0*d/2) / d
	}
	heights := make([]float64, len(c.parts)) // K(d) Psi/d at from
	for i, p := range c.parts {
		heights[i] = slope(min(p.from, c.w)) * math.Exp(min(0, p.logPsi(tau)-first))
	}
	least := 1.0
	const lines = 32
	for k := range lines {
		line := float64(heights[0] * (float64(k) / lines))
		b := 0.0
		for i, p := range c.parts {
			b = max(b, float64((heights[i]-line)*p.to))
		}
		least = min(least, max(line/slope(c.w)+b/float64(c.w*slope(c.w)), (line+b)/slope(1)))
	}
	return min(0, first+math.Log(least)+0x1p-40)
}

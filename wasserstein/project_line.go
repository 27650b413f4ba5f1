package wasserstein

import (
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
)

// ProjectLine returns a probability measure p on the points x of the real line
// that is nearest to the signed measure with weights g there, and its distance
// from it: with the points in ascending order, gaps x_(k+1)-x_k, and F and G
// the partial sums of p and g, the least value over all p of
//
//	sum over k < n of gap_k * |F_k - G_k|.
//
// That is the distance of [W1Line] where g has total 1. The total of g need not
// be 1, as noise leaves it: what it lacks counts as if g had it at the largest
// point, so put a total that is known exactly into g before.
//
// F is the weighted isotonic regression of G, cut off at 0 and 1 (see
// [IsotonicL1], also for which of several nearest measures is returned). Points
// may come in any order; p is in the order of x. A group of equal points shares
// its mass such that g changes as little as monotone sums allow.
//
// p has weights >= 0, differences of neighboring F_k in [0, 1], each rounded
// once: F_n = 1, so they sum to 1 within len(x)*2^-54. Where g is a probability
// measure up to rounding already, p is g bit for bit. dist, a sum of terms that
// err by 2^-52 relatively, is +Inf where it would overflow. Positions lie in
// [-1e300, 1e300], and the weights are finite with a finite total variation;
// errors are [metric.ErrEmpty], [*metric.SizeError] and [*metric.ValueError].
// O(n log n).
//
// As an estimate of a distribution behind noisy counts, the top-down
// [ProjectTreeTopDown] on a tree over the line usually ends nearer the truth;
// this one has the guarantee: it is at most twice as far from any probability
// measure q as g is.
func ProjectLine(x, g []float64) (p []float64, dist float64, err error) {
	const op = "wasserstein: ProjectLine"
	if err := lineCheck(op, "x", x); err != nil {
		return nil, 0, err
	}
	if err := checkSigned(op, g, len(x)); err != nil {
		return nil, 0, err
	}
	if isProbability(g) {
		return append([]float64(nil), g...), 0, nil
	}
	n := len(x)
	order := lineOrder(x)
	sums, gaps := make([]float64, n), make([]float64, n)
	var t exact.DD
	for k := range n {
		i := lineAt(order, k)
		t = t.AddFloat(g[i])
		sums[k] = t.Hi
		if k+1 < n {
			gaps[k] = x[lineAt(order, k+1)] - x[i]
		}
	}
	f := isotonicL1(sums, gaps, 0, 1)
	f[n-1] = 1 // of weight 0
	p = make([]float64, n)
	var cost exact.DD
	below := 0.0
	for k, v := range f {
		p[lineAt(order, k)] = v - below
		below = v
		cost = cost.AddFloat(float64(gaps[k] * math.Abs(v-sums[k])))
	}
	return p, sumOrInf(cost), nil
}

// IsotonicL1 returns the ascending list f with values in [lo, hi] that has the
// least weighted distance from g,
//
//	sum over k of w[k] * |f[k] - g[k]|,
//
// the isotonic median regression of g. Of several such lists it returns the
// midpoint of the smallest and the largest, cut off at the bounds, so that
// mirrored input gives a mirrored result. An entry of weight 0 gets the value in
// [f[k-1], the next of positive weight] that is nearest to g[k]. An ascending g
// within the bounds comes back as it is.
//
// g must be finite and w in [0, math.MaxFloat64/2]; a nil w stands for
// ones. lo <= hi may be infinite. The sum is least for weights that differ from
// w by rounding. Errors are [metric.ErrEmpty], [*metric.SizeError] and
// [*metric.ValueError]. O(n log n) by a heap of breakpoints (the slope trick).
func IsotonicL1(g, w []float64, lo, hi float64) ([]float64, error) {
	const op = "wasserstein: IsotonicL1"
	if err := fault.Empty(op, "g", len(g)); err != nil {
		return nil, err
	}
	if err := fault.AllFinite(op, "g", g); err != nil {
		return nil, err
	}
	if w == nil {
		w = make([]float64, len(g))
		for k := range w {
			w[k] = 1
		}
	}
	if len(w) != len(g) {
		return nil, &fault.SizeError{Op: op, Arg: "w", Got: len(w), Want: fmt.Sprint(len(g))}
	}
	for k, v := range w {
		if !(v >= 0 && v <= math.MaxFloat64/2) { // a slope changes by 2v
			return nil, &fault.ValueError{Op: op, Arg: "w", Index: k, Value: v, Want: "a number in [0, math.MaxFloat64/2]"}
		}
	}
	if math.IsNaN(lo) || math.IsInf(lo, 1) {
		return nil, &fault.ValueError{Op: op, Arg: "lo", Index: -1, Value: lo, Want: "a number below +Inf"}
	}
	if !(hi >= lo) || math.IsInf(hi, -1) {
		return nil, &fault.ValueError{Op: op, Arg: "hi", Index: -1, Value: hi, Want: fmt.Sprintf("a number >= lo = %v, above -Inf", lo)}
	}
	return isotonicL1(g, w, lo, hi), nil
}

// isotonicL1 is IsotonicL1 on checked input.
//
// Let c_k(y) be the least cost of the first k entries with the k-th at most y:
// convex, piecewise linear and falling to a flat right end. The heap holds its
// breakpoints with the change of slope at each. The next entry adds w*|y-g|,
// which is a breakpoint (g, 2w) and a slope +w at the right end; taking slope w
// off the top flattens the end again. The minimizers of c_k(y)+w*|y-g| reach
// from the top that remains to the last breakpoint taken off: left[k] to
// right[k]. Backwards, f[k] = min(left[k], f[k+1]) is the smallest optimal list,
// and the same with right the largest; between any two optimal lists all are.
func isotonicL1(g, w []float64, lo, hi float64) []float64 {
	n := len(g)
	left, right := make([]float64, n), make([]float64, n)
	var h isoHeap
	for k, v := range g {
		rest := w[k]
		if rest == 0 {
			continue
		}
		h.push(isoBreak{v, 2 * rest})
		for rest > 0 {
			top := &h[0]
			right[k] = top.at
			if top.slope > rest {
				top.slope -= rest
				break
			}
			rest -= top.slope
			h.pop()
		}
		// Something is left, 2w having come and w gone, unless rounding took it.
		left[k] = right[k]
		if len(h) > 0 {
			left[k] = h[0].at
		}
	}
	below, above := math.Inf(1), math.Inf(1)
	for k := n - 1; k >= 0; k-- {
		if w[k] != 0 {
			below, above = min(below, left[k]), min(above, right[k])
		}
		mid := below
		if above > below {
			mid = below/2 + above/2 // the sum might overflow
		}
		left[k] = min(max(mid, lo), hi) // at weight 0, the value that follows
	}
	last := lo
	for k, v := range g {
		if w[k] == 0 {
			left[k] = min(max(v, last), left[k])
		}
		last = left[k]
	}
	return left
}

// isoBreak is a point where a slope changes.
type isoBreak struct{ at, slope float64 }

// isoHeap is a binary heap, the largest breakpoint first.
type isoHeap []isoBreak

func (h *isoHeap) push(b isoBreak) {
	*h = append(*h, b)
	s := *h
	i := len(s) - 1
	for i > 0 && s[(i-1)/2].at < b.at {
		s[i] = s[(i-1)/2]
		i = (i - 1) / 2
	}
	s[i] = b
}

func (h *isoHeap) pop() {
	s := *h
	last := s[len(s)-1]
	s = s[:len(s)-1]
	*h = s
	i := 0
	for {
		c := 2*i + 1
		if c >= len(s) {
			break
		}
		if c+1 < len(s) && s[c+1].at > s[c].at {
			c++
		}
		if s[c].at <= last.at {
			break
		}
		s[i] = s[c]
		i = c
	}
	if len(s) > 0 {
		s[i] = last
	}
}

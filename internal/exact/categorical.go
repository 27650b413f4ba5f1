package exact

import (
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sort"
	"sync"
)

// Weights are unnormalized probabilities taken as exact reals: w[i] >= 0 itself, or e^w[i] where
// Log is set, with -Inf for weight 0. Entries must otherwise be finite, and one weight positive.
type Weights struct {
	W   []float64
	Log bool
}

// Scale returns what the sums below take out so as not to overflow: the largest log-weight, or
// the power of two at or below the largest weight (at least 2^-1000).
func (w Weights) Scale() float64 {
	s := slices.Max(w.W)
	if w.Log {
		return s
	}
	_, e := math.Frexp(s)
	return math.Ldexp(1, max(e-1, -1000))
}

func (w Weights) over(scale, x float64) float64 {
	if w.Log {
		return Exp(x - scale)
	}
	return x / scale
}

// cumulate appends the partial sums of the weights over scale, nondecreasing,
// each with an absolute error of at most TotalErr times the last one.
func (w Weights) cumulate(dst []float64, scale float64) []float64 {
	var t DD
	for _, x := range w.W {
		t = t.AddFloat(w.over(scale, x))
		dst = append(dst, t.Hi)
	}
	return dst
}

// Total returns the sum of the weights over scale (over e^scale where they are
// logarithmic) with relative error at most [TotalErr].
func (w Weights) Total(scale float64) float64 {
	var t DD
	for _, x := range w.W {
		t = t.AddFloat(w.over(scale, x))
	}
	return t.Hi
}

// TotalErr bounds the error of the sums here, relative to the whole sum S of n <= 2^32 weights.
// With u = 2^-53 and a_i = scale - l_i, term i has relative error at most ExpErr + u*a_i, and sum
// p_i a_i = H(p) - ln S <= ln n <= 23, p the normalized weights and H their entropy. Additions and
// rounding to Hi add 2u, terms that underflow less than 2^-1073 each beside a largest term of at
// least 1: 2^-50 + 25u < 2^-48.
const TotalErr = 0x1p-47

// TotalDD is Total in double-double, relative error at most [TotalDDErr].
func (w Weights) TotalDD(scale float64) DD {
	var t DD
	for _, x := range w.W {
		if !w.Log {
			t = t.AddFloat(w.over(scale, x))
			continue
		}
		if x-scale < -600 {
			continue // less than 2^-865 each beside a largest term of 1
		}
		d := DD{x, 0}.AddFloat(-scale) // exact
		e := ExpDD(d.Hi)               // e^(hi+lo) = e^hi (1 + lo + lo^2/2 ...)
		t = t.Add(e).AddFloat(e.Hi * d.Lo)
	}
	return t
}

// TotalDDErr bounds the relative error of [Weights.TotalDD]: [ExpDDErr], the
// second-order term lo^2/2 with |lo| <= 2^-44, the rounding of e.Hi*lo to
// 2^-53 * 2^-44, and n <= 2^20 additions of 2^-103.
const TotalDDErr = 0x1p-80

// band is half the width, in units of 2^-64, of the zone around a boundary C_j/S inside which
// float64 does not decide a draw: C_j errs by at most TotalErr*S, S by the same, and the
// quotient and its conversion to an integer by 2^-52. 2^64 (2*2^-47 + 2^-52) = 2^18 + 2^12.
const band = 1<<18 + 1<<12

// boundary returns 2^64 c/s as an integer, saturated.
func boundary(c, s float64) uint64 {
	f := float64(c / s * 0x1p64)
	if f >= 0x1p64 {
		return math.MaxUint64
	}
	return uint64(f)
}

// decided tells whether u lies at or above the boundary a and below the boundary
// b for certain. The first and the last boundary, 0 and 1, are exact.
func decided(u, a, b uint64, first, last bool) bool {
	return (first || u >= a && u-a >= band) && (last || u < b && b-u > band)
}

var scratch = sync.Pool{New: func() any { return new([]float64) }}

// Draw returns index i with probability exactly w_i / sum w. O(n) with no
// allocation; for repeated draws from the same weights see [NewTable].
func Draw(rng *rand.Rand, w Weights) int {
	buf := scratch.Get().(*[]float64)
	defer scratch.Put(buf)
	*buf = w.cumulate((*buf)[:0], w.Scale())
	c, u := *buf, rng.Uint64()
	n := len(c)
	s := c[n-1]
	x := float64(u) * 0x1p-64 * s
	i := sort.Search(n-1, func(j int) bool { return c[j] > x })
	var a uint64
	if i > 0 {
		a = boundary(c[i-1], s)
	}
	if decided(u, a, boundary(c[i], s), i == 0, i == n-1) {
		return i
	}
	return w.resolve(u, rng)
}

func (w Weights) resolve(u uint64, rng *rand.Rand) int {
	v := newUniform(u, rng)
	i := v.decide(func(lo, hi *big.Float, prec uint) (int64, bool) {
		cl, ch := w.cumulateBig(prec)
		n := len(cl)
		down := new(big.Float).SetPrec(prec).SetMode(big.ToNegativeInf).Mul(lo, cl[n-1])
		up := new(big.Float).SetPrec(prec).SetMode(big.ToPositiveInf).Mul(hi, ch[n-1])
		// The smallest j with U*S < C_j for certain; its predecessor must have
		// U*S >= C_{j-1} for certain. At j = n-1, U < 1 does it.
		j := sort.Search(n-1, func(j int) bool { return up.Cmp(cl[j]) <= 0 })
		return int64(j), j == 0 || down.Cmp(ch[j-1]) >= 0
	})
	return int(i)
}

// cumulateBig returns lower and upper bounds on the partial sums, relative error about n*2^-prec.
func (w Weights) cumulateBig(prec uint) (lo, hi []*big.Float) {
	scale := w.Scale()
	sl := new(big.Float).SetPrec(prec).SetMode(big.ToNegativeInf)
	sh := new(big.Float).SetPrec(prec).SetMode(big.ToPositiveInf)
	for _, x := range w.W {
		switch {
		case !w.Log:
			f := big.NewFloat(x)
			sl.Add(sl, f)
			sh.Add(sh, f)
		case !math.IsInf(x, -1):
			// The difference of two float64s is exact in 2200 bits, and mostly in far fewer.
			d := new(big.Float).SetPrec(2200).Sub(big.NewFloat(x), big.NewFloat(scale))
			l, h := ExpBounds(d.SetPrec(d.MinPrec()+1), prec)
			sl.Add(sl, l)
			sh.Add(sh, h)
		}
		lo = append(lo, new(big.Float).Copy(sl))
		hi = append(hi, new(big.Float).Copy(sh))
	}
	return lo, hi
}

// Table draws repeatedly from the same weights: inverse CDF through a guide
// table, O(1) expected, exact. It is immutable and safe for concurrent use.
type Table struct {
	w     Weights
	upper []uint64 // boundaries 2^64 C_j/S, within band
	guide []int32  // guide[g]: the first j whose boundary passes g << shift
	shift uint
}

// NewTable prepares w, whose slice must not change afterwards. O(n) time, 12 to 16 bytes a weight.
func NewTable(w Weights) *Table {
	n := len(w.W)
	c := w.cumulate(make([]float64, 0, n), w.Scale())
	t := &Table{w: w, upper: make([]uint64, n)}
	for j := range c {
		t.upper[j] = boundary(c[j], c[n-1])
	}
	size := bits.Len(uint(max(n-1, 1))) // guide of at least n, at most 2n cells
	t.shift = uint(64 - size)
	t.guide = make([]int32, 1<<size)
	j := 0
	for g := range t.guide {
		for j < n-1 && t.upper[j] <= uint64(g)<<t.shift {
			j++
		}
		t.guide[g] = int32(j)
	}
	return t
}

// Len returns the number of weights.
func (t *Table) Len() int { return len(t.upper) }

// Draw returns what [Draw] returns for the same random bits. No allocation but
// about once in 2^45/n draws.
func (t *Table) Draw(rng *rand.Rand) int {
	u := rng.Uint64()
	j, last := int(t.guide[u>>t.shift]), len(t.upper)-1
	for j < last && u >= t.upper[j] {
		j++
	}
	var a uint64
	if j > 0 {
		a = t.upper[j-1]
	}
	if decided(u, a, t.upper[j], j == 0, j == last) {
		return j
	}
	return t.w.resolve(u, rng)
}

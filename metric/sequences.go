package metric

import (
	"cmp"
	"math"
	"unicode/utf8"

	"github.com/metricdp/metricdp/internal/fault"
)

// Hamming counts the positions at which two sequences of one length differ. Check refuses unequal
// lengths, on which Distance panics, and NaN. O(length).
type Hamming[T comparable] struct{}

// Distance implements [Space].
func (Hamming[T]) Distance(x, y []T) float64 {
	sameLength(len(x), len(y))
	n := 0
	for i, v := range x {
		if v != y[i] {
			n++
		}
	}
	return float64(n)
}

// Check implements [Checker].
func (Hamming[T]) Check(x, y []T) error {
	const op = "metric: Hamming"
	return cmp.Or(fault.Size(op, "y", len(y), len(x)), checkEntries(op, x, y))
}

// Discrete is the metric of unordered labels: 0 between equal points, 1 between all others. Check
// refuses NaN.
type Discrete[T comparable] struct{}

// Distance implements [Space].
func (Discrete[T]) Distance(x, y T) float64 {
	if x == y {
		return 0
	}
	return 1
}

// Check implements [Checker].
func (Discrete[T]) Check(x, y T) error {
	for i, v := range [2]T{x, y} {
		if v != v {
			return notSelf("metric: Discrete", argXY[i], -1)
		}
	}
	return nil
}

// Levenshtein is the edit distance of strings: the least number of insertions, deletions and
// substitutions of a rune that make one the other. Check refuses invalid UTF-8. ceil(m/64)*n steps
// for lengths m and n (G. Myers, J. ACM 46, 1999, in the form of H. Hyyro, 2003); it allocates only
// where both strings pass 64 runes.
type Levenshtein struct{}

// Distance implements [Space].
func (Levenshtein) Distance(x, y string) float64 {
	m, n := utf8.RuneCountInString(x), utf8.RuneCountInString(y)
	if m > n {
		x, y, m, n = y, x, n, m
	}
	if m <= wordBits {
		return float64(m + editStrip(x, m, y, nil))
	}
	// The longer string is cut into strips of one word, so that what passes
	// from strip to strip is as short as the shorter one.
	delta := make([]int8, m)
	for j := range delta {
		delta[j] = 1
	}
	last := 0
	for left := n; left > 0; left -= wordBits {
		rows := min(left, wordBits)
		cut := runeOffset(y, rows)
		last = editStrip(y[:cut], rows, x, delta)
		y = y[cut:]
	}
	return float64(n + last)
}

// Check implements [Checker].
func (Levenshtein) Check(x, y string) error { return checkUTF8("metric: Levenshtein", x, y) }

const wordBits = 64

// editStrip advances the edit-distance matrix D by the rows of pattern (that many runes, at
// most 64), one column for each rune of text. In the usual notation pv and mv hold the rows
// where D steps by +1 and -1 down the current column, ph and mh those where it steps by +1 and
// -1 from the column before. delta[j] is the step of the row above the strip into column j, and
// on return that of its last row; nil stands for +1 throughout (row 0 of D, D[0][j] = j).
// editStrip returns the sum of the steps of the last row.
func editStrip(pattern string, rows int, text string, delta []int8) int {
	if rows == 0 {
		return utf8.RuneCountInString(text)
	}
	// An open-addressed table from a rune to the rows that hold it. At most
	// 64 of 128 slots fill, and ASCII never collides.
	const slots = 2 * wordBits
	var key [slots]rune
	var mask [slots]uint64
	slot := func(r rune) int {
		h := int(r) % slots
		for mask[h] != 0 && key[h] != r {
			h = (h + 1) % slots
		}
		return h
	}
	bit := uint64(1)
	for _, r := range pattern {
		h := slot(r)
		key[h] = r
		mask[h] |= bit
		bit <<= 1
	}
	top := uint(rows - 1)
	sum, j := 0, 0
	pv, mv := ^uint64(0), uint64(0)
	for _, r := range text {
		in := 1
		if delta != nil {
			in = int(delta[j])
		}
		down := uint64(in) >> 63 // in is -1
		up := uint64(in) &^ down & 1
		eq := mask[slot(r)]
		xv := eq | mv
		eq |= down
		xh := (((eq & pv) + pv) ^ pv) | eq
		ph := mv | ^(xh | pv)
		mh := pv & xh
		out := int(ph>>top&1) - int(mh>>top&1)
		sum += out
		if delta != nil {
			delta[j] = int8(out)
			j++
		}
		ph = ph<<1 | up
		mh = mh<<1 | down
		pv = mh | ^(xv | ph)
		mv = ph & xv
	}
	return sum
}

// runeOffset returns where rune k of s begins.
func runeOffset(s string, k int) int {
	for i := range s {
		if k == 0 {
			return i
		}
		k--
	}
	return len(s)
}

// CommonPrefix is the Baire ultrametric on sequences: Base^-k, k the length of the longest common
// prefix, and 0 between equal sequences. Check refuses NaN. Common prefixes longer than about
// 1074/log2(Base) underflow to 0. O(length).
type CommonPrefix[T comparable] struct {
	Base float64 // a finite number > 1; 0 means 2
}

// Distance implements [Space].
func (c CommonPrefix[T]) Distance(x, y []T) float64 {
	k, n := 0, min(len(x), len(y))
	for k < n && x[k] == y[k] {
		k++
	}
	if k == len(x) && k == len(y) {
		return 0
	}
	return math.Pow(cmp.Or(c.Base, 2), -float64(k))
}

// Check implements [Checker].
func (c CommonPrefix[T]) Check(x, y []T) error {
	const op = "metric: CommonPrefix"
	if c.Base != 0 && !(c.Base > 1 && c.Base <= math.MaxFloat64) {
		return fault.Value(op, "Base", c.Base, "a finite number > 1, or 0 for 2")
	}
	return checkEntries(op, x, y)
}

// checkEntries refuses NaN, for which == is not an equivalence.
func checkEntries[T comparable](op string, x, y []T) error {
	for i, s := range [2][]T{x, y} {
		for j, v := range s {
			if v != v {
				return notSelf(op, argXY[i], j)
			}
		}
	}
	return nil
}

func notSelf(op, arg string, index int) error {
	return &ValueError{Op: op, Arg: arg, Index: index, Value: math.NaN(), Want: "a value equal to itself"}
}

// checkUTF8 refuses invalid UTF-8: different broken bytes read as one rune, so
// that different strings would be equal. The error names the first such byte.
func checkUTF8(op string, x, y string) error {
	for i, s := range [2]string{x, y} {
		for j, r := range s {
			if r == utf8.RuneError {
				if _, size := utf8.DecodeRuneInString(s[j:]); size == 1 {
					return &ValueError{Op: op, Arg: argXY[i], Index: j, Value: float64(s[j]), Want: "valid UTF-8"}
				}
			}
		}
	}
	return nil
}

package exact

import (
	"math/bits"
	"math/rand/v2"
)

// Table draws repeatedly from the same weights: inverse CDF through a guide
// table, O(1) expected, exact. It is immutable and safe for concurrent use.
type Table struct {
	w     Weights
	upper []uint64 // boundaries 2^64 C_j/S, within band
	guide []int32  // guide[g]: the first j whose boundary passes g << shift
	shift uint
}

// NewTable prepares w, whose slice must not change afterwards. O(n) time, 12
// to 16 bytes a weight.
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

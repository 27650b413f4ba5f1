package clique

import "math/bits"

// Bits is a set of small integers, 64 to a word.
type Bits []uint64

// Words is the length of a set of 0, ..., n-1.
func Words(n int) int { return (n + 63) / 64 }

// Has reports whether i is in the set.
func (b Bits) Has(i int) bool { return b[i/64]>>(i%64)&1 != 0 }

// Add puts i into the set.
func (b Bits) Add(i int) { b[i/64] |= 1 << (i % 64) }

// Remove takes i out of the set.
func (b Bits) Remove(i int) { b[i/64] &^= 1 << (i % 64) }

// Fill makes b the set of 0, ..., n-1. b has the length Words(n).
func (b Bits) Fill(n int) {
	for k := range b {
		b[k] = ^uint64(0)
	}
	if r := n % 64; r != 0 {
		b[len(b)-1] = 1<<r - 1
	}
}

// Count is the number of elements.
func (b Bits) Count() int {
	n := 0
	for _, x := range b {
		n += bits.OnesCount64(x)
	}
	return n
}

// Each calls f for the elements in ascending order. f may remove what it is
// called for.
func (b Bits) Each(f func(i int)) {
	for k, x := range b {
		for ; x != 0; x &= x - 1 {
			f(k*64 + bits.TrailingZeros64(x))
		}
	}
}

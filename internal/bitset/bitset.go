// Package bitset has sets of small integers, a bit for each.
package bitset

import (
	"iter"
	"math/bits"
)

// Set is a set of integers from 0 to a limit below 64 times its length.
type Set []uint64

// Words is the length of a set of integers below n.
func Words(n int) int { return (n + 63) / 64 }

// Rows returns m empty sets of integers below n, in one piece of memory.
func Rows(m, n int) []Set {
	words := Words(n)
	all, rows := make(Set, m*words), make([]Set, m)
	for i := range rows {
		rows[i] = all[i*words : (i+1)*words : (i+1)*words]
	}
	return rows
}

// Has tells whether i is in the set.
func (s Set) Has(i int) bool { return s[i/64]>>(i%64)&1 != 0 }

// Add puts i into the set.
func (s Set) Add(i int) { s[i/64] |= 1 << (i % 64) }

// Remove takes i out of the set.
func (s Set) Remove(i int) { s[i/64] &^= 1 << (i % 64) }

// Fill makes s, of length Words(n), the set of all integers below n.
func (s Set) Fill(n int) {
	for i := range s {
		s[i] = ^uint64(0)
	}
	if r := n % 64; r != 0 {
		s[len(s)-1] = 1<<r - 1
	}
}

// Union adds the elements of b, a set with the same limit.
func (s Set) Union(b Set) {
	for i, w := range b {
		s[i] |= w
	}
}

// Len returns the number of elements.
func (s Set) Len() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// All yields the elements in ascending order. What is added or removed meanwhile
// is seen from the next 64 on.
func (s Set) All() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, w := range s {
			for ; w != 0; w &= w - 1 {
				if !yield(64*i + bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}

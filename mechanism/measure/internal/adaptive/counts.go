package adaptive

import (
	"slices"
	"sort"
)

// Counts are the numbers of records in cells, most of which are empty: private.
type Counts struct {
	cells []int
	sum   []int64 // of the first cells
}

// NewCounts takes cells in ascending order and how many records they hold.
func NewCounts(cells []int, n []int64) *Counts {
	c := &Counts{cells, make([]int64, len(n)+1)}
	for i, k := range n {
		c.sum[i+1] = c.sum[i] + k
	}
	return c
}

// Between returns the number of records in the cells lo <= c < hi.
func (c *Counts) Between(lo, hi int) int64 {
	i := sort.SearchInts(c.cells, lo)
	return c.sum[i+sort.SearchInts(c.cells[i:], hi)] - c.sum[i]
}

// Tally sorts cells and returns those that there are and how often.
func Tally(cells []int) (at []int, n []int64) {
	slices.Sort(cells)
	distinct := 0
	for i, c := range cells {
		if i == 0 || c != cells[i-1] {
			distinct++
		}
	}
	at, n = make([]int, 0, distinct), make([]int64, 0, distinct)
	for i, c := range cells {
		if i == 0 || c != cells[i-1] {
			at, n = append(at, c), append(n, 0)
		}
		n[len(n)-1]++
	}
	return at, n
}

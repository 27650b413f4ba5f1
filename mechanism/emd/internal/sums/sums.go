// Package sums adds up what users report.
package sums

import (
	"math"

	"github.com/metricdp/metricdp/internal/fault"
)

// Add adds src to dst, which is as long, all or none.
func Add(op string, dst, src []int64) error {
	for i, s := range src {
		if s > 0 && dst[i] > math.MaxInt64-s || s < 0 && dst[i] < math.MinInt64-s {
			return &fault.ValueError{Op: op, Arg: "Sums", Index: i, Value: float64(s), Want: "a sum in all within int64"}
		}
	}
	for i, s := range src {
		dst[i] += s
	}
	return nil
}

// SameLevel reports whether the levels a and b of the noise are the same, up to what
// machines differ by in logarithms.
func SameLevel(a, b float64) bool { return math.Abs(a-b) <= float64(0x1p-40*b) }

// Package knots says at which of many public times a track is released.
package knots

import "github.com/metricdp/metricdp/internal/fault"

// At returns the positions of ceil(n/every) of n inputs, in the middle of as many parts of
// equal length, up to one: public times at which a track is released. There are none where n <= 0
// or where memory holds no such list.
func At(n, every int) []int {
	k := (n-1)/max(1, every) + 1
	if n <= 0 || k > 1<<30 || fault.Memory("", float64(k), 8) != nil { // products of two numbers up to 2k fit
		return nil
	}
	at := make([]int, k)
	part, rest := int64(n)/(2*int64(k)), int64(n)%(2*int64(k))
	for j := range at {
		odd := 2*int64(j) + 1
		at[j] = int(odd*part + odd*rest/(2*int64(k)))
	}
	return at
}

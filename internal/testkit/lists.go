package testkit

import (
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"
)

// Multisets lists all multisets of m points of n.
func Multisets(n, m int) [][]int {
	if m == 0 {
		return [][]int{nil}
	}
	var all [][]int
	for _, s := range Multisets(n, m-1) {
		for x := range n {
			if len(s) == 0 || x >= s[len(s)-1] {
				all = append(all, append(slices.Clone(s), x))
			}
		}
	}
	return all
}

// Reusing walks the lists, handing out one slice again and again, as a reader of files would.
func Reusing[P any](lists ...[]P) func(yield func([]P) bool) {
	return func(yield func([]P) bool) {
		var buf []P
		for _, u := range lists {
			buf = append(buf[:0], u...)
			if !yield(buf) {
				return
			}
		}
	}
}

// Ratio is a finite x as a rational number.
func Ratio(x float64) *big.Rat {
	q := new(big.Rat).SetFloat64(x)
	if q == nil {
		panic(fmt.Sprintf("%v is not finite", x))
	}
	return q
}

// Refused checks rows of an error, a string that it must have and, where not nil, the error
// that it must be.
func Refused(t testing.TB, all [][3]any) {
	t.Helper()
	for i, row := range all {
		err, _ := row[0].(error)
		is, _ := row[2].(error)
		if err == nil || !strings.Contains(err.Error(), row[1].(string)) || is != nil && !errors.Is(err, is) {
			t.Errorf("%d: %v, want %q", i, err, row[1])
		}
	}
}

package mechanismtest

import (
	"gonum.org/v1/gonum/mathext"

	"github.com/metricdp/metricdp/internal/search"
)

// tail is P{Bin(n, p) >= k}.
func tail(k, n int, p float64) float64 {
	switch {
	case k <= 0:
		return 1
	case k > n || p <= 0:
		return 0
	case p >= 1:
		return 1
	}
	return mathext.RegIncBeta(float64(k), float64(n-k+1), p)
}

// atLeast is the lower end of Clopper and Pearson's one-sided interval: of k
// hits among n it says at confidence 1-level that a hit has at least this
// probability. For p below it, k hits or more have probability at most level.
func atLeast(k, n int, level float64) float64 {
	// The tail increases in p, and what is returned is on the safe side.
	lo, _ := search.Change(0, float64(k)/float64(n), 0x1p-52, func(p float64) bool { return tail(k, n, p) > level })
	return lo
}

// atMost is the upper end: misses are hits of the complement.
func atMost(k, n int, level float64) float64 { return 1 - atLeast(n-k, n, level) }

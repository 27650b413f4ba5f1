package mechanismtest

import "gonum.org/v1/gonum/mathext"

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
	lo, hi := 0.0, float64(k)/float64(n)
	for range 64 { // the tail increases in p; lo stays on the safe side
		if mid := lo + (hi-lo)/2; tail(k, n, mid) <= level {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// atMost is the upper end: misses are hits of the complement.
func atMost(k, n int, level float64) float64 { return 1 - atLeast(n-k, n, level) }

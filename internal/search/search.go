// Package search finds the point where a condition on the line changes, and the
// point where a function is least.
package search

import "math"

// Bisect narrows an interval at whose lower end a condition fails and at whose upper end it
// holds, until it is at most tol times its larger end in magnitude, or no float64 lies between.
// Of each end returned, either holds said so or the caller did: the condition need not be
// monotone. tol is >= 0. An error of holds ends the search.
func Bisect(lo, hi, tol float64, holds func(x float64) (bool, error)) (fails, held float64, err error) {
	for hi-lo > tol*max(math.Abs(lo), math.Abs(hi)) {
		mid := lo + (hi-lo)/2
		if !(mid > lo && mid < hi) {
			break
		}
		up, err := holds(mid)
		if err != nil {
			return lo, hi, err
		}
		if up {
			hi = mid
		} else {
			lo = mid
		}
	}
	return lo, hi, nil
}

// Change is [Bisect] for a condition that has no error.
func Change(lo, hi, tol float64, holds func(x float64) bool) (fails, held float64) {
	fails, held, _ = Bisect(lo, hi, tol, func(x float64) (bool, error) { return holds(x), nil })
	return fails, held
}

// golden is 2/(1+sqrt(5)).
const golden = 0.6180339887498949

// Least narrows an interval around a minimum of f by golden sections, to at most tol times its
// larger end in magnitude or until no float64 are left between, and returns the best point that
// it asked f about. f should fall and then rise. An error of f ends the search.
func Least(lo, hi, tol float64, f func(x float64) (float64, error)) (x, least float64, err error) {
	x, least = lo, math.Inf(1)
	at := func(y float64) (float64, error) {
		v, err := f(y)
		if err == nil && v < least {
			x, least = y, v
		}
		return v, err
	}
	a, b := hi-float64(golden*(hi-lo)), lo+float64(golden*(hi-lo))
	fa, err := at(a)
	if err != nil {
		return x, least, err
	}
	fb, err := at(b)
	for err == nil && hi-lo > tol*max(math.Abs(lo), math.Abs(hi)) && lo < a && a < b && b < hi {
		if fa <= fb {
			hi, b, fb = b, a, fa
			a = hi - float64(golden*(hi-lo))
			fa, err = at(a)
		} else {
			lo, a, fa = a, b, fb
			b = lo + float64(golden*(hi-lo))
			fb, err = at(b)
		}
	}
	return x, least, err
}

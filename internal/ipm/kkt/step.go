package kkt

import "math"

// The parameters of a step (Mehrotra 1992, Gondzio 1996), by experiment on
// random points of the square (all insensitive within a factor of 2).
const (
	// A corrector asks for steps longer by Ambition, and lifts the products
	// lambda s that would then fall below Lift times their target. It was worth
	// it where the product of the steps grew by Gain.
	Ambition = 0.3
	Lift     = 0.2
	Gain     = 0.1
	// SmallResidual is how much of a linking equation may be left, the row sums
	// being 1.
	SmallResidual = 1e-11
)

// Reach is the largest step in (0, 1] along which v + step*dv >= 0, given the
// least ratio dv/v found elsewhere. It is NaN where a ratio is.
func Reach(least float64, v, dv []float64) float64 {
	for i, d := range dv {
		least = min(least, d/v[i])
	}
	if least >= -1 {
		return 1
	}
	return -1 / least
}

// fresh is the size of a slack relative to its larger term above which it is
// computed anew; below, the difference of nearly equal numbers would lose digits
// that the sum of the steps keeps.
const fresh = 1e-5

// Renew chooses between a slack computed anew, the larger of whose two terms is
// given, and one carried forward.
func Renew(now, term, carried float64) float64 {
	if now > fresh*term {
		return now
	}
	return carried
}

// A solve ends without having converged after maxIterations, or when patience
// iterations have not brought the gap below progress times what it was.
const (
	maxIterations = 2000
	patience      = 30
	progress      = 0.9
)

// Patience watches the gap of a solve. The zero value is ready.
type Patience struct {
	mark              float64 // the gap at the last progress
	since, iterations int
}

// Lost tells, once an iteration, whether to give up.
func (p *Patience) Lost(gap float64) bool {
	if p.iterations == 0 {
		p.mark = math.Inf(1)
	}
	p.since++
	if gap < progress*p.mark {
		p.mark, p.since = gap, 0
	}
	p.iterations++
	return p.since > patience || p.iterations > maxIterations
}

package ipm

import "errors"

// engine solves the Newton systems of a point.
type engine interface {
	// factor factors the system of the point as it is. The error is [kkt.ErrStalled] for
	// numbers that are not finite, errRefused for too many rows, or the context's.
	factor() error
	// newton solves for the direction d towards z t = target - cross and towards
	// lambda s = target as pull has it: pull holds what the targets of lambda s
	// are, over s, corrector terms included (pulled false: 0 throughout). With
	//
	//	h_w = y - D_w z + G'pull_w
	//
	// the dual residual needs no term of its own: dual feasibility is restored by a
	// full step. cross may be nil.
	newton(d *direction, pulled bool, target float64, cross []float64) error
	// reach is how far d can go, at most primal, until a row breaks that is not imposed.
	reach(d *direction, primal float64) (float64, error)
	// centering is the power of what a predictor leaves of the gap that the step then
	// aims at: 5, about Mehrotra's, keeps clear of rows that are not imposed. Where all
	// are, 8 takes a quarter fewer iterations.
	centering() float64
}

// errRefused is a reason to end a solve, as [kkt.ErrStalled] is.
var errRefused = errors.New("ipm: refused")

// allRows is the part of an engine that imposes all rows from the start on.
type allRows struct{}

func (allRows) reach(_ *direction, primal float64) (float64, error) { return primal, nil }
func (allRows) centering() float64                                  { return 8 }

// direction is one Newton direction.
type direction struct {
	x, y, z, t []float64
	k          float64
}

func newDirection(p *point) direction {
	n, nz := p.n, p.nz
	return direction{x: make([]float64, len(p.x)), y: make([]float64, n), z: make([]float64, nz), t: make([]float64, nz)}
}

func (d *direction) copy(from *direction) {
	copy(d.x, from.x)
	copy(d.y, from.y)
	copy(d.z, from.z)
	copy(d.t, from.t)
	d.k = from.k
}

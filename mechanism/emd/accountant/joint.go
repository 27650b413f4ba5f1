package accountant

import (
	"context"
	"math"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
)

// joint is the bound for all items of a user at once. Change the items one by one, the i-th by
// d_i <= 1, every step with the same tau; the steps add up to E = sum of 2 artanh(tau tanh(alpha0
// d_i/2)) and, as artanh(tau tanh) is concave, to no more than if every d_i were the mean w:
//
//	delta = sup over w of f(w), f(w) = (e^(alpha w)-1) Psi(tau_w)/tau_w,
//	tau_w = tanh(alpha w/2m)/tanh(alpha0 w/2).
//
// For one item it is that item's exact pair (1+e^eps) t Psi(tanh(eps/2)/t). For more, fixed
// thresholds below tau_w better it. Distances are over the diameter: alpha0 is rounded up, near down.
type joint struct {
	alpha0   float64
	items    float64
	others   int64   // records but one
	near     float64 // least distance > 0 of two items
	clones   Clones
	diameter float64              // what it was
	plain    bool                 // to have no mixtures
	mixtures map[float64]*mixture // by the least distance
}

// pure is the level of pure composition, least the least w > 0, rounded down.
func (b joint) pure() float64 { return directed.MulUp(b.items, b.alpha0) }

func (b joint) leastMean() float64 { return directed.DivDown(b.near, b.items) }

// varies reports whether what hides the items depends on w.
func (b joint) varies() bool {
	return b.mixtures != nil || b.items == 1 && b.clones == MetricRandomizer
}

func (b *joint) set(alpha0 float64) {
	b.alpha0, b.mixtures = alpha0, nil
	if !b.plain && mixes(alpha0, b.others) {
		b.mixtures = map[float64]*mixture{}
	}
}

// setAlpha0 sets the level of the randomizer, v per unit of distance.
func (b *joint) setAlpha0(op, arg string, v float64) error {
	b.set(directed.MulUp(v, b.diameter))
	if b.alpha0 >= minUnit && b.alpha0 <= maxLevel {
		return nil
	}
	return fault.Value(op, arg, v, "a number in [1e-100, 700]/Diameter")
}

// alpha is a level of v per unit of distance over the diameter, rounded down.
func (b joint) alpha(op, arg string, v float64) (float64, error) {
	a := directed.MulDown(v, b.diameter)
	if a >= minUnit && a <= 1/minUnit {
		return a, nil
	}
	return 0, fault.Value(op, arg, v, "a number in [1e-100, 1e100]/Diameter")
}

// theorem is the name of the bound.
func (b joint) theorem() Theorem {
	if b.items == 1 {
		return SingleItem
	}
	return Joint
}

// quick is b by clones that do not vary.
func (b joint) quick() joint {
	b.clones, b.plain, b.mixtures = Dominated, true, nil
	return b
}

const (
	// tauErr is the relative error of tau: two hyperbolic tangents, two
	// products and a quotient, each below 4 units of 2^-53. tau is rounded down
	// by it.
	tauErr = 0x1p-48
	// supTol is the width, in nats of delta, to which the supremum is found. It adds to the bound. Where
	// the clones vary with w a cell's bound is above f by an order of its width, not of its square.
	supTol, varyTol = 1e-8, 1e-3
	// maxCells bounds the search of one supremum; the bound reached by then stands.
	maxCells = 2000
)

// point is f at one w, in logs: gain = ln(e^(alpha w)-1), psi = ln(Psi/tau).
type point struct {
	w, tau, gain, psi float64
	known             bool // psi is
}

// cell is an interval of w with an upper bound over it.
type cell struct {
	l, r  *point
	bound float64
	exact bool // bound uses Psi, not Chernoff's bound of it
}

// supremum is the state of the search for one.
type supremum struct {
	joint
	alpha float64
	fixed []threshold
	best  float64 // largest value seen of what is sought
	cells []cell
}

// sup returns an upper bound of ln delta at level alpha > 0, -Inf from pure composition on: of the
// supremum over w of the least of f and what the fixed thresholds below tau_w give. done(best, bound)
// may end the search before bound is within a tolerance of best, the largest value seen.
func (b joint) sup(ctx context.Context, alpha float64, fixed []threshold, done func(best, bound float64) bool) (float64, error) {
	if alpha >= b.pure() {
		return math.Inf(-1), nil
	}
	s := &supremum{joint: b, alpha: alpha, fixed: fixed, best: math.Inf(-1)}
	tol := supTol
	if b.varies() {
		tol = varyTol
	}
	w0 := b.leastMean()
	first := s.at(w0)
	for _, w := range [...]float64{1.0 / 16, 0.25, 0.5, 0.75, 1} {
		if w > w0 || w == 1 {
			r := s.at(w)
			s.push(first, r, math.Inf(1))
			first = r
		}
	}
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		top := 0
		for i := range s.cells {
			if s.cells[i].bound > s.cells[top].bound {
				top = i
			}
		}
		c := s.cells[top]
		if c.bound <= s.best+tol || len(s.cells) >= maxCells || done(s.best, c.bound) {
			return c.bound, nil
		}
		if !c.exact {
			s.refine(&s.cells[top])
			continue
		}
		mid := s.at((c.l.w + c.r.w) / 2)
		if !(c.l.w < mid.w && mid.w < c.r.w) {
			return c.bound, nil
		}
		s.cells[top] = s.cells[len(s.cells)-1]
		s.cells = s.cells[:len(s.cells)-1]
		s.push(c.l, mid, c.bound)
		s.push(mid, c.r, c.bound)
	}
}

// at returns the point w, Psi unknown. tau_0 is the limit alpha/(m alpha0).
func (s *supremum) at(w float64) *point {
	p := &point{w: w, gain: math.Inf(-1)}
	if w == 0 {
		p.tau = s.alpha / (s.items * s.alpha0)
	} else {
		p.tau = s.joint.tau(s.alpha*w, w)
		p.gain = logUp(logExpm1(directed.MulUp(s.alpha, w)))
	}
	p.tau *= 1 - tauErr
	return p
}

// push adds the cell [l, r] with a bound that costs no sum: f <= gain(r) psi(l), as tau_w
// increases with w, and f <= parent; nor is it above byFixed.
func (s *supremum) push(l, r *point, parent float64) {
	_, x := s.coverAt(l.w).chernoff(l.tau)
	bound := min(parent, r.gain+logUp(x-math.Log(l.tau)), s.byFixed(s.fixed, l.tau, r.w))
	s.cells = append(s.cells, cell{l: l, r: r, bound: bound})
}

// refine replaces the bound of c by one from Psi.
//
// On [w1,w2], with w = w1+lambda*h, e^(alpha w)-1 is convex in lambda and Psi(tau)/tau convex and
// decreasing: both are below their chords, the second in mu = (tau_w-tau_1)/(tau_2-tau_1). tau_w is
// above its own chord but for a little: its numerator is concave, its denominator B below the
// tangent at w1, and that with b = alpha0/2 leaves
//
//	tau_w >= chord - tau_2 (h B'(w1)-(B(w2)-B(w1)))/B(w1)
//	      >= chord - tau_2 h^2 b^2 sech^2(b w1) w2/w1,
//
// so that mu >= lambda-kappa, to which tauErr adds. The product of the chords is a parabola in lambda.
func (s *supremum) refine(c *cell) {
	s.know(c.l)
	s.know(c.r)
	c.exact = true
	right := c.r.psi
	if s.varies() {
		right = s.coverAt(c.l.w).logRatio(c.r.tau) // Psi at both ends by the smaller p
	}
	c.bound = min(c.bound, c.r.gain+c.l.psi)
	h, w1 := c.r.w-c.l.w, c.l.w
	if w1 > 0 {
		sech := 1 / math.Cosh(s.alpha0*w1/2)
		below := h*h*(s.alpha0*s.alpha0/4)*sech*sech*c.r.w/w1 + 2*tauErr
		kappa := c.r.tau * below / (c.r.tau - c.l.tau)
		a, b := math.Expm1(c.r.gain-c.l.gain), -math.Expm1(right-c.l.psi)
		top := 1 + float64(b*kappa)
		lambda := min(1, max(0, (float64(a*top)-b)/(2*a*b)))
		// Of NaN, where a and b are 0, the bound stands: min would return it.
		if second := c.l.gain + c.l.psi + math.Log((1+float64(lambda*a))*(top-float64(lambda*b))) + 0x1p-44; second < c.bound {
			c.bound = second
		}
	}
}

// know finds Psi at p.
func (s *supremum) know(p *point) {
	if p.known {
		return
	}
	p.psi, p.known = s.coverAt(p.w).logRatio(p.tau), true
	s.best = max(s.best, min(p.gain+p.psi, s.byFixed(s.fixed, p.tau, p.w)))
}

// tau returns tanh(eps/2m)/tanh(alpha0 w/2), at which the steps of items that move by w
// on average add up to eps.
func (b joint) tau(eps, w float64) float64 {
	return math.Tanh(eps/(2*b.items)) / math.Tanh(b.alpha0*w/2)
}

// byFixed returns the least that a fixed threshold up to tau gives at w, +Inf without one. It bounds
// all below w down to where tau_w = tau, as each grows with w.
func (b joint) byFixed(fixed []threshold, tau, w float64) float64 {
	least := math.Inf(1)
	for _, c := range fixed {
		if c.tau <= tau {
			least = min(least, b.gain(c.tau, w)+c.psi)
		}
	}
	return least
}

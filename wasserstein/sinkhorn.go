package wasserstein

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/metric"
)

// SinkhornOptions tune [Sinkhorn]. The zero value is the default.
type SinkhornOptions struct {
	// Tolerance is the relative gap, (Upper-Lower)/Upper, at which the work is
	// done. 0 means 0.05.
	Tolerance float64
	// Epsilon is the least weight of the entropy, in units of distance. The
	// entropic plan costs up to Epsilon*ln(support) a unit of mass too much. 0
	// means as little as Tolerance asks for. It is kept between 2^-30 of the
	// largest distance, below which potentials have too few digits, and that
	// distance or up to twice it.
	Epsilon float64
	// Sweeps is the largest number of sweeps: updates of both potentials, two
	// passes over all pairs. 0 means 2,000.
	Sweeps int
	// Context stops the work early where it is done; nil never does.
	Context context.Context
	// Progress, where not nil, is told the sweeps done and the most there can be.
	Progress func(done, total int)
	// Workers is the number of goroutines; 0 means one a processor. The result
	// does not depend on it.
	Workers int
}

// Entropic is what [Sinkhorn] returns: W1 lies in [Lower, Upper].
type Entropic struct {
	// Upper is at least the cost of a plan that moves mu onto nu: the entropic
	// plan, rounded to the marginals.
	Upper float64
	// Lower is the value of feasible potentials, rounded down.
	Lower float64
	// U and V are those potentials: as real numbers U[i]+V[j] <= f(i,j) for
	// every point i that gives mass and j that takes it, up to one rounding
	// where the distances are below 2^-900. Elsewhere they are 0.
	U, V []float64
	// Epsilon is the last weight of the entropy, in units of distance.
	Epsilon float64
	// Sweeps is the number of sweeps made.
	Sweeps int
	// Converged tells whether the gap reached the tolerance.
	Converged bool
}

// Sinkhorn brackets the W1 distance of two measures on the points of f by
// entropic regularisation (Cuturi 2013), in the log domain, with a weight of the
// entropy that falls by halves until the bracket is as narrow as asked for.
//
// It is an approximation. [W1] is exact, and faster up to many thousand points:
// a bracket of 5 % takes some hundred sweeps and one of 1 % some thousand, each
// of two passes over all pairs; where mass hardly moves farther than to the next
// point, even 5 % may take more than the default allows (Converged tells).
// Sinkhorn is for supports on which W1 takes too
// long and a few percent are enough. It needs memory for some numbers a point
// and nothing else: distances are computed anew in every pass ([metric.Densify]
// stores them), and a pass runs on every core.
//
// mu and nu are weights on all points of f, finite and >= 0
// ([*metric.ValueError]), of length f.Len() ([*metric.SizeError]) and of equal
// totals up to rounding ([*MassError]; where they differ by that, it is the
// lighter measure that is moved). They are only read. Distances must be finite
// and >= 0 ([*metric.ValueError]) and symmetric to the last bit, as
// [metric.Validate] has it: columns of the cost are read as rows. When the
// context ends its error is returned.
//
// What the measures share at a point stays there, by the triangle inequality.
// Upper is rigorous by the rounding of Altschuler, Weed and Rigollet (NIPS 2017,
// Algorithm 2): rows and then columns of the plan that are too heavy are scaled
// down, and what is missing is moved by a product plan; sums and products are
// rounded up. Lower is rigorous by the c-transform: whatever the V, U[i] =
// min_j f(i,j)-V[j] makes feasible potentials.
func Sinkhorn(f metric.Finite, mu, nu []float64, o *SinkhornOptions) (*Entropic, error) {
	const op = "wasserstein: Sinkhorn"
	n := fault.Len(f)
	if err := checkMeasures(op, mu, nu, n, n, false); err != nil {
		return nil, err
	}
	var opt SinkhornOptions
	if o != nil {
		opt = *o
	}
	if err := fault.NonNegative(op, "Tolerance", opt.Tolerance); err != nil {
		return nil, err
	}
	if err := fault.NonNegative(op, "Epsilon", opt.Epsilon); err != nil {
		return nil, err
	}
	if opt.Tolerance == 0 {
		opt.Tolerance = sinkTolerance
	}
	if opt.Sweeps <= 0 {
		opt.Sweeps = sinkSweeps
	}
	if opt.Context == nil {
		opt.Context = context.Background()
	}
	r := &Entropic{U: make([]float64, f.Len()), V: make([]float64, f.Len()), Converged: true}
	s := newSinkSolver(op, f, mu, nu, opt)
	if len(s.side[0].at) == 0 || len(s.side[1].at) == 0 {
		return r, nil // no mass to move
	}
	if err := s.scaleCosts(); err != nil {
		return nil, err
	}
	if s.zero {
		return r, nil // all distances are 0
	}
	if err := s.solve(r); err != nil {
		return nil, err
	}
	return r, nil
}

const (
	sinkTolerance = 0.05
	sinkSweeps    = 2000
	// sinkFloor is the least entropy weight, relative to the largest distance.
	// A potential is some hundred times the largest distance at most and has an
	// ulp of 2^-46 then, so exponents stay right to 2^-16.
	sinkFloor = 0x1p-30
	// sinkBlock is the number of sweeps between two measurements, each of which
	// takes as long as three sweeps.
	sinkBlock = 20
	// sinkReach is where the terms of a log-sum-exp are left out: a million
	// terms below e^-45 of the largest are below 2^-44 of it, and the bounds do
	// not rest on the potentials being exact.
	sinkReach = 45
	// sinkChunk is the number of rows of a piece of parallel work.
	sinkChunk = 16
)

// sinkSolver works on the supports, with masses and distances scaled by powers
// of two so that the total mass and the largest distance lie in [1/2, 2).
type sinkSolver struct {
	op   string
	f    metric.Finite
	o    SinkhornOptions
	side [2]sinkSide
	cost float64 // the factor of distances, a power of two
	mass float64 // the factor of masses
	zero bool
	eps  float64
	bufs sync.Pool // of rows
}

// sinkSide is one of the two measures.
type sinkSide struct {
	at   []int     // points with mass
	mass []float64 // scaled
	pot  []float64 // potential, scaled
	keep []float64 // factor that rounds the plan to this marginal
	sum  []float64 // results of a pass
}

func newSinkSolver(op string, f metric.Finite, mu, nu []float64, o SinkhornOptions) *sinkSolver {
	s := &sinkSolver{op: op, f: f, o: o, cost: 1, mass: sinkPower(max(total(mu), total(nu)))}
	s.bufs.New = func() any { b := make([]float64, f.Len()); return &b }
	for i := range mu {
		m := [2]float64{float64(mu[i] * s.mass), float64(nu[i] * s.mass)}
		// What both have stays, where the difference is a float64.
		if least := min(m[0], m[1]); least > 0 {
			if _, e := directed.TwoSum(max(m[0], m[1]), -least); e == 0 {
				m[0], m[1] = m[0]-least, m[1]-least
			}
		}
		for k := range m {
			if m[k] > 0 {
				s.side[k].at = append(s.side[k].at, i)
				s.side[k].mass = append(s.side[k].mass, m[k])
			}
		}
	}
	for k := range s.side {
		d := &s.side[k]
		d.pot, d.keep, d.sum = make([]float64, len(d.at)), make([]float64, len(d.at)), make([]float64, len(d.at))
	}
	return s
}

// sinkPower returns a power of two p such that p*x lies in [1/2, 1), or as near
// as a float64 p allows.
func sinkPower(x float64) float64 {
	_, e := math.Frexp(x)
	return math.Ldexp(1, min(max(-e, -1022), 1023))
}

// row writes the scaled distances from point i of one side to the points of the
// other. buf has room for f.Len() numbers. Every pass reads them anew, and what
// it proves rests on what it read: a distance out of its domain is an error
// whenever it comes.
func (s *sinkSolver) row(side, k int, buf []float64) ([]float64, error) {
	to := s.side[1-side].at
	i := s.side[side].at[k]
	c := buf[:len(to)]
	if r, ok := s.f.(metric.RowReader); ok && 2*len(to) >= s.f.Len() {
		c = r.DistancesFrom(i, buf)
		for t, j := range to {
			c[t] = c[j] // t <= j
		}
		c = c[:len(to)]
	} else {
		for t, j := range to {
			c[t] = s.f.Distance(i, j)
		}
	}
	for t, d := range c {
		if !(d >= 0 && d <= math.MaxFloat64) {
			return nil, fault.NonNegative(s.op, fmt.Sprintf("distance of points %d and %d", i, to[t]), d)
		}
		c[t] = d * s.cost
	}
	return c, nil
}

// pass calls f for every point k of a side with its scaled distances.
func (s *sinkSolver) pass(side int, f func(k int, c []float64)) error {
	var bad atomic.Pointer[error]
	err := parallel.Chunks(s.o.Context, len(s.side[side].at), sinkChunk, s.o.Workers, nil, func(_, lo, hi int) {
		buf := s.bufs.Get().(*[]float64)
		defer s.bufs.Put(buf)
		for k := lo; k < hi && bad.Load() == nil; k++ {
			c, err := s.row(side, k, *buf)
			if err != nil {
				bad.Store(&err)
				return
			}
			f(k, c)
		}
	})
	if b := bad.Load(); b != nil {
		return *b
	}
	return err
}

// scaleCosts finds the scale of the distances.
func (s *sinkSolver) scaleCosts() error {
	most := s.side[0].sum
	if err := s.pass(0, func(k int, c []float64) { most[k] = slices.Max(c) }); err != nil {
		return err
	}
	largest := slices.Max(most)
	s.zero = largest == 0
	s.cost = sinkPower(largest)
	return nil
}

// update sets the potential of one side so that the plan has its marginal.
func (s *sinkSolver) update(side int) error {
	me, other := &s.side[side], &s.side[1-side]
	inv := 1 / s.eps
	return s.pass(side, func(k int, c []float64) {
		top := math.Inf(-1)
		pot := other.pot[:len(c)]
		for j, x := range c {
			if t := pot[j] - x; t > top {
				top = t
			}
		}
		sum, low := 0.0, top-float64(sinkReach*s.eps)
		for j, x := range c {
			if t := pot[j] - x; t > low {
				sum += math.Exp((t - top) * inv)
			}
		}
		me.pot[k] = float64(s.eps*(math.Log(me.mass[k])-math.Log(sum))) - top
	})
}

// solve sweeps with a falling entropy weight. After every block of sweeps it
// measures the bracket. What the plan was repaired by is the fault of too few
// sweeps and the rest of the gap that of the entropy: the larger one decides
// whether the weight falls.
func (s *sinkSolver) solve(r *Entropic) error {
	r.Converged, r.Upper, r.Lower = false, math.Inf(1), 0 // U = V = 0 is feasible
	floor := min(max(sinkFloor, s.o.Epsilon*s.cost), 1)
	for s.eps = max(0.5, floor); ; {
		for range min(sinkBlock, s.o.Sweeps-r.Sweeps) {
			for side := range s.side {
				if err := s.update(side); err != nil {
					return err
				}
			}
			r.Sweeps++
			if s.o.Progress != nil {
				s.o.Progress(r.Sweeps, s.o.Sweeps)
			}
		}
		r.Epsilon = s.eps / s.cost
		gap, repair, err := s.bracket(r)
		if err != nil {
			return err
		}
		r.Converged = r.Upper-r.Lower <= s.o.Tolerance*r.Upper
		if r.Converged || r.Sweeps >= s.o.Sweeps {
			return nil
		}
		if 2*repair < gap {
			if s.eps <= floor {
				return nil // more sweeps would not help
			}
			s.eps = max(s.eps/2, floor)
		}
	}
}

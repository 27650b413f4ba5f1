package tsp

import (
	"time"

	"github.com/metricdp/metricdp/internal/fault"
)

// Options are the settings of the functions that make and improve tours. Nil
// and the zero value mean the defaults, with which the result is a function of
// the metric alone.
type Options struct {
	// Path asks for an open path in place of a closed tour, free to begin and
	// end where it likes. [Improve] keeps the kind of the tour it is given.
	Path bool

	// Neighbors is how many nearest neighbors of a point count as candidates
	// for an edge. 0 means 8; more is slower and a little better.
	Neighbors int

	// Kicks is how many perturbations the improvement tries once no move helps.
	// 0 means 20 for each point, but at most 100,000; negative means none.
	Kicks int

	// TimeLimit, where positive, ends the improvement after that long. The result
	// then depends on the speed of the machine. The steps before and after (the
	// neighbor lists, the first tour, the lower bound) are not counted.
	TimeLimit time.Duration

	// Certificate chooses the lower bound that [Solve] computes.
	Certificate Certificate

	// Seed fixes the perturbations.
	Seed uint64

	// Progress, where not nil, is told from time to time, by the goroutine of
	// the caller, how many of the perturbations have been tried.
	Progress func(done, total int)
}

// Certificate names a way to prove that no tour is shorter than some length.
type Certificate int

const (
	// CertifyAuto is CertifyHeldKarp up to 5,000 points, and up to 200,000 where
	// a kd-tree serves them ([OneTreeBound]); CertifyTree above.
	CertifyAuto Certificate = iota
	// CertifyNone leaves LowerBound 0.
	CertifyNone
	// CertifyTree is [OneTreeBound] without multipliers: about 12 % below the
	// shortest tour for uniform points of the plane.
	CertifyTree
	// CertifyHeldKarp is [HeldKarpBound]: within 1 % of the shortest tour for
	// uniform points of the plane.
	CertifyHeldKarp
)

const (
	defaultNeighbors = 8
	defaultKicks     = 20
	mostKicks        = 100_000

	// mostHeldKarp and mostHeldKarpTree are the sizes up to which the Held-Karp
	// bound takes no longer than the tour itself, without and with a kd-tree.
	mostHeldKarp     = 5000
	mostHeldKarpTree = 200_000
)

// settle returns o with its defaults filled in for n points.
func (o *Options) settle(op string, n int) (Options, error) {
	var s Options
	if o != nil {
		s = *o
	}
	if s.Neighbors < 0 {
		return s, &fault.ValueError{Op: op, Arg: "Neighbors", Index: -1, Value: float64(s.Neighbors), Want: "an integer >= 0"}
	}
	if s.Certificate < CertifyAuto || s.Certificate > CertifyHeldKarp {
		return s, &fault.ValueError{Op: op, Arg: "Certificate", Index: -1, Value: float64(s.Certificate), Want: "one of the constants"}
	}
	if s.Neighbors == 0 {
		s.Neighbors = defaultNeighbors
	}
	if s.Kicks == 0 {
		s.Kicks = min(mostKicks, defaultKicks*n)
	}
	s.Kicks = max(0, s.Kicks)
	if s.Progress == nil {
		s.Progress = func(done, total int) {}
	}
	return s, nil
}

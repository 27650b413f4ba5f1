package lp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/ipm"
	"github.com/metricdp/metricdp/internal/ipm/constopt"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// ConstOptions are the settings of [ConstOPT]; nil and zeros mean the defaults.
type ConstOptions struct {
	// Neighbors is r in I_NN,r, in [1, n-1]: how many of its nearest points, itself included,
	// an input has unknowns for. 0 means 10, or n-1 where that is less.
	Neighbors int
	// Replacement, where not nil, has the set I(v) for every point v, and Neighbors is 0.
	Replacement [][]int
	// Lambdas are the prices of a unit of row sum to try, >= 0, in the unit of the utility
	// metric. nil is 100 times the largest utility distance, an eighth of it with KeepBudget.
	Lambdas []float64
	// KeepBudget solves with the budget alpha/2 only, as Algorithm 1 of IKWAT22.
	KeepBudget bool

	// Tolerance is the gap of the programs, relative to their value less lambda. 0 is as in
	// [Options].
	Tolerance float64
	// As in [Options], for all programs together.
	TimeLimit   time.Duration
	MemoryLimit float64
	Unit        metric.Unit
	Workers     int
	Progress    func(iteration int, gap float64, elapsed time.Duration)
}

// ConstSolution is the mechanism of [ConstOPT], immutable and safe for
// concurrent use.
type ConstSolution struct {
	// The mechanism: its guarantee is the upper end of Audited, at most alpha.
	*mechanism.Channel
	Audited mechanism.Audit
	// Objective is the worst-case loss of Channel, rounded up.
	Objective float64

	// Budget, in [alpha/2, alpha], and Lambda are those of the linear program behind
	// Channel, Program is the value attained and ProgramBound a bound below its optimum,
	// Lambda included; 0 for a constant channel.
	Budget, Lambda        float64
	Program, ProgramBound float64

	Solves     int // linear programs solved
	Iterations int // in all of them
	Status     Status
	Elapsed    time.Duration // from the call to the return

	lossUnit metric.Unit // of Objective, "" where it is not known
}

// String gives the figures in a line.
func (s *ConstSolution) String() string {
	return fmt.Sprintf("loss %s at level %.4g: %s (budget %.4g, lambda %.4g, %d programs, %d iterations)",
		fault.Quantity(s.Objective, 9, s.lossUnit), s.Audited.Hi, s.Status, s.Budget, s.Lambda, s.Solves, s.Iterations)
}

const (
	defaultNeighbors = 10
	// The default prices of row sums, in largest distances: by experiment on the
	// reference points, n = 50 to 300. Beyond 400 rounding stalls programs.
	tunedLambda = 100.0
	keptLambda  = 1.0 / 8
	// constMerge is the budget alpha*rho1 below which inputs share a row, as in
	// Optimal: what a program says about closer ones is lost in rounding.
	constMerge = 1e-6
)

// ConstOPT returns an alpha-private mechanism on the points of b, often close to the optimal
// one (ConstOPTMech of IKWAT22, Section 3.2). It releases v at input u with a probability
// proportional to
//
//	Y_v exp(-eps*rho1(u,v))  where u is not in I(v), and
//	M_uv                     where it is,
//
// Y and M solving a linear program of some n*(1+r) unknowns: the largest loss plus lambda times
// the row sum, all row sums >= 1. Divided by its row sums a matrix of level eps has level 2 eps
// at most (Theorem 2); eps is raised from alpha/2 until the audited level is within 1 percent of
// alpha. Points at budgets alpha*rho1 below 1e-6 get the same row. It ends as [Optimal] does.
//
// Errors: those of Optimal; a [*metric.SizeError] for a Replacement of other than n sets;
// [metric.ErrEmpty] for an empty set or list of lambdas. O(n^3) an iteration, on two cores 3 s a
// program for 400 points and 90 s for 1,000; 200 n^2 bytes.
func ConstOPT(ctx context.Context, b metric.Bimetric, alpha float64, o *ConstOptions) (*ConstSolution, error) {
	began := time.Now()
	if o == nil {
		o = &ConstOptions{}
	}
	c, err := newConst(ctx, b, alpha, o)
	if err != nil {
		return nil, err
	}
	best, err := c.constant(ctx)
	if err != nil {
		return nil, err
	}
	c.begin()
	s := &ConstSolution{Channel: best.channel, Audited: best.audit, Objective: best.objective, Status: StatusOptimal, lossUnit: c.lossUnit()}
	if s.Objective > 0 && len(c.first) > 1 {
		if err := c.search(ctx, s, began); err != nil {
			return nil, err
		}
	}
	s.Elapsed = time.Since(began)
	if s.Status == StatusCanceled {
		return s, fmt.Errorf("%s: stopped after %d programs: %w", c.op, s.Solves, context.Cause(ctx))
	}
	return s, nil
}

// constProgram is a problem of ConstOPT, ready for the kernel.
type constProgram struct {
	*merged
	kernel  constopt.Problem // Budget and Lambda are set for each program
	lambdas []float64
	keep    bool
}

// newConst checks o and merges inputs.
func newConst(ctx context.Context, b metric.Bimetric, alpha float64, o *ConstOptions) (*constProgram, error) {
	const op = "lp: ConstOPT"
	if o.Lambdas != nil {
		err := cmp.Or(fault.Empty(op, "Lambdas", len(o.Lambdas)), fault.AllNonNegative(op, "Lambdas", o.Lambdas))
		if err != nil {
			return nil, err
		}
	}
	p, err := read(ctx, op, b, alpha, &Options{
		Tolerance: o.Tolerance, TimeLimit: o.TimeLimit, MemoryLimit: o.MemoryLimit,
		Unit: o.Unit, Workers: o.Workers, Progress: o.Progress,
	})
	if err != nil {
		return nil, err
	}
	n := p.n
	sets, err := o.replacement(ctx, p) // whose distances are numbers
	if err != nil {
		return nil, err
	}
	g := p.merge(constMerge)
	c := &constProgram{merged: g, lambdas: o.Lambdas, keep: o.KeepBudget}
	if c.lambdas == nil {
		share := tunedLambda
		if c.keep {
			share = keptLambda
		}
		c.lambdas = []float64{share * slices.Max(p.loss)}
	}
	c.kernel = constopt.Problem{
		Inputs: len(g.first), Outputs: n, Home: g.class, Inside: make([][]int, n),
		Loss: p.scaled, Class: g.class,
	}
	for v, set := range sets {
		in := make([]int, len(set))
		for a, u := range set {
			in[a] = g.class[u]
		}
		slices.Sort(in)
		c.kernel.Inside[v] = slices.Compact(in)
	}
	if err := p.memory(p.bytes() + c.kernel.Bytes()); err != nil {
		return nil, err
	}
	return c, nil
}

func (o *ConstOptions) replacement(ctx context.Context, p *problem) ([][]int, error) {
	op, n := p.op, p.n
	if o.Replacement == nil {
		r, most := o.Neighbors, max(1, n-1)
		if r == 0 {
			r = min(defaultNeighbors, most)
		}
		if r < 1 || r > most {
			return nil, fault.Value(op, "Neighbors", float64(r), fmt.Sprintf("a number in [1, %d]", most))
		}
		sets, err := metric.NewIndex(p.b.Privacy).ReverseNeighbors(p.late, r)
		return sets, p.cause(ctx, err)
	}
	if o.Neighbors != 0 {
		return nil, fault.Value(op, "Neighbors", float64(o.Neighbors), "0 beside Replacement")
	}
	if len(o.Replacement) != n {
		return nil, &fault.SizeError{Op: op, Arg: "Replacement", Got: len(o.Replacement), Want: fmt.Sprint(n)}
	}
	for v, set := range o.Replacement {
		arg := fmt.Sprintf("Replacement[%d]", v)
		if len(set) == 0 {
			return nil, &fault.SizeError{Op: op, Arg: arg, Got: 0, Want: "at least 1"}
		}
		if err := fault.Indices(op, arg, set, n); err != nil {
			return nil, err
		}
	}
	return o.Replacement, nil
}

func (c *constProgram) search(ctx context.Context, s *ConstSolution, began time.Time) error {
	err := c.impose()
	for _, lambda := range c.lambdas {
		if err == nil {
			c.kernel.Lambda = math.Ldexp(lambda, -c.exp)
			err = tune(0.5, func(fraction float64) (float64, bool, error) {
				level, err := c.try(s, fraction, lambda, began)
				return level, !c.keep && c.ctx.Err() == nil, err
			})
		}
		switch ended := c.ctx.Err(); { // before ctx: it may end between the two
		case ctx.Err() != nil:
			s.Status = StatusCanceled
			return nil
		case ended != nil:
			s.Status = StatusTimeLimit
			return nil
		case err != nil:
			return err
		}
	}
	return nil
}

// try solves the program with that fraction of alpha as its budget, keeps its
// channel where it is the best, and returns the audited level in units of
// alpha.
func (c *constProgram) try(s *ConstSolution, fraction, lambda float64, began time.Time) (float64, error) {
	k := c.kernel.Inputs
	c.kernel.Budget = make([]float64, k*k)
	for i := range c.kernel.Budget {
		c.kernel.Budget[i] = fraction * c.prog.Budget.Distance(i/k, i%k)
	}
	before := s.Iterations
	res := constopt.Solve(c.ctx, &c.kernel, ipm.Settings{
		Tolerance: c.o.Tolerance, Workers: c.o.Workers,
		Progress: func(i int, upper, lower float64) {
			c.o.Progress(before+i, (upper-lower)/(upper-c.kernel.Lambda), time.Since(began))
		},
	})
	s.Solves++
	s.Iterations += res.Iterations
	if res.Status == ipm.Stalled {
		s.Status = StatusStalled
	}
	x := normalized(k, res.X)
	if x == nil {
		return 1, nil
	}
	// Rounding may take a channel of budget alpha/2 above alpha; the level of others is their own.
	private := c.repair
	if fraction > 0.5 {
		private = func(x []float64) (*released, error) { return c.mixed(x, 0) }
	}
	r, err := private(x)
	if err != nil || r == nil {
		return 1, err
	}
	if r.audit.Hi <= c.alpha && r.objective < s.Objective {
		s.Channel, s.Audited, s.Objective = r.channel, r.audit, r.objective
		s.Budget, s.Lambda = fraction*c.alpha, lambda
		s.Program, s.ProgramBound = math.Ldexp(res.Upper, c.exp), math.Ldexp(res.Lower, c.exp)
	}
	return r.audit.Hi / c.alpha, nil
}

// normalized divides rows by their sums; it returns nil where one has none.
func normalized(k int, x []float64) []float64 {
	sum := make([]float64, k)
	for i, v := range x {
		sum[i%k] += v
	}
	for _, v := range sum {
		if !(v > 0 && v <= math.MaxFloat64) {
			return nil
		}
	}
	x = slices.Clone(x)
	for i := range x {
		x[i] /= sum[i%k]
	}
	return x
}

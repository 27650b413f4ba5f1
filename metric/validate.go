package metric

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
)

// ValidateOptions are the settings of [Validate]. Nil means the defaults.
type ValidateOptions struct {
	// Tolerance is the relative slack of the triangle inequality:
	// d(i,j) <= (1+Tolerance) (d(i,k)+d(k,j)) passes. 0 means
	// [DefaultTolerance], a positive number below 1e-16 no slack at all.
	Tolerance float64

	// Strict also forbids distinct points at distance 0 ([Identity]).
	Strict bool

	// MaxTriples is the largest number of triples, n(n-1)(n-2)/2 of them, that
	// are all checked. 0 means 2^30, that is all triples up to n = 1291.
	MaxTriples int

	// Samples is the number of triples drawn where there are more. 0 means 2^20.
	Samples int

	// Seed fixes the sample.
	Seed uint64
}

// DefaultTolerance is the relative slack of the triangle inequality that [Validate] grants to
// rounding.
//
// Let every computed distance lie within a factor 1 +- m*2^-53 of a metric. Then the computed
// d(i,j) is at most (1+m*2^-53)/(1-m*2^-53) times d(i,k)+d(k,j), and the check rounds a sum and a
// product. With terms of second order 1 + (2m+3) 2^-53 is enough, so 2^-40 covers every m <= 4094.
// Great-circle and angular distances have m below 20, an l1 norm in R^d, or a path of d edges, m <=
// d+1, an l2 norm half of that.
const DefaultTolerance = 0x1p-40

const (
	// About 0.4 s of work on two cores: a triple costs a load, an addition and a
	// comparison. The n*n distances take 13 MB.
	defaultMaxTriples = 1 << 30
	// A law that fails on a fraction p of the triples is missed with probability
	// (1-p)^samples: below 1e-6 from p = 1.4e-5 on.
	defaultSamples = 1 << 20
	// Triples drawn from one generator.
	sampleChunk = 1 << 12
)

// Validate checks that f is a metric: distances finite and >= 0 ([FiniteValue]), d(i,i) = 0
// ([ZeroSelf]), d(i,j) = d(j,i) exactly ([Symmetry]), under Strict d(i,j) > 0 ([Identity]), and the
// triangle inequality up to the tolerance ([Triangle]). The error is a [*Violation] that names the
// points, or [ErrEmpty], a [*ValueError] for an option, or a [*MemoryError]. [Spanner] at t = 1
// repairs triangles.
//
// Up to MaxTriples triples everything is checked, pairs before triangles; the witness is the first
// pair (i, j), i <= j, in lexicographic order, and for a triangle the k with the least sum. O(n^2)
// memory, O(n^3) time. Above that, the distances d(i,i) and Samples random triples of distinct
// points are checked, and the witness is the first drawn. A law that fails on a fraction p of the
// triples is missed with probability (1-p)^Samples.
func Validate(ctx context.Context, f Finite, o *ValidateOptions) error {
	const op = "metric: Validate"
	if o == nil {
		o = &ValidateOptions{}
	}
	c := *o
	n := fault.Len(f)
	if err := cmp.Or(fault.NonNegative(op, "MaxTriples", float64(c.MaxTriples)), fault.NonNegative(op, "Samples", float64(c.Samples)),
		fault.NonNegative(op, "Tolerance", c.Tolerance), fault.Empty(op, "f", n)); err != nil {
		return err
	}
	c.MaxTriples, c.Samples = cmp.Or(c.MaxTriples, defaultMaxTriples), cmp.Or(c.Samples, defaultSamples)
	c.Tolerance = cmp.Or(c.Tolerance, DefaultTolerance)
	m := float64(n)
	if m*(m-1)*(m-2)/2 > float64(c.MaxTriples) {
		return validateSample(ctx, op, f, &c)
	}
	if err := fault.Memory(op, m*m, 8); err != nil {
		return err
	}
	return validateAll(ctx, op, f, &c)
}

// validateAll checks everything, on a copy of the n*n distances.
func validateAll(ctx context.Context, op string, f Finite, o *ValidateOptions) error {
	const rows = 8 // of a chunk
	n := f.Len()
	d := make([]float64, n*n)
	row := func(i int) []float64 { return d[i*n : (i+1)*n : (i+1)*n] }
	err := parallel.Chunks(ctx, n, rows, 0, nil, func(_, lo, hi int) {
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			copy(row(i), finite.Row(f, i, row(i))) // Row may bring its own slice
		}
	})
	if err != nil {
		return err
	}

	err = firstViolation(ctx, op, n, rows, func(_, lo, hi int) *Violation {
		for i := lo; i < hi; i++ {
			for j := i; j < n; j++ {
				if v := o.pairLaws(i, j, d[i*n+j], d[j*n+i]); v != nil {
					return v
				}
			}
		}
		return nil
	})
	if err != nil {
		return err
	}

	slack := 1 + o.Tolerance
	return firstViolation(ctx, op, n, rows, func(_, lo, hi int) *Violation {
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			x := row(i)
			for j := i + 1; j < n; j++ {
				// k = i and k = j give x[j] itself, which never fails.
				y := row(j)
				if detour := leastSum(x, y); x[j] > detour*slack {
					k := 0
					for x[k]+y[k] != detour {
						k++
					}
					return &Violation{Axiom: Triangle, I: i, J: j, K: k, Excess: x[j] - detour}
				}
			}
		}
		return nil
	})
}

// leastSum returns the least x[k]+y[k] of two rows of one length.
func leastSum(x, y []float64) float64 {
	// Four minima at a time: one would wait for each comparison.
	inf := math.Inf(1)
	m0, m1, m2, m3 := inf, inf, inf, inf
	k := 0
	for ; k+4 <= len(x) && k+4 <= len(y); k += 4 {
		u, v := x[k:k+4:k+4], y[k:k+4:k+4]
		if s := u[0] + v[0]; s < m0 {
			m0 = s
		}
		if s := u[1] + v[1]; s < m1 {
			m1 = s
		}
		if s := u[2] + v[2]; s < m2 {
			m2 = s
		}
		if s := u[3] + v[3]; s < m3 {
			m3 = s
		}
	}
	for ; k < len(x) && k < len(y); k++ {
		m0 = min(m0, x[k]+y[k])
	}
	return min(m0, m1, m2, m3)
}

// validateSample checks the diagonal and random triples, for n >= 3.
func validateSample(ctx context.Context, op string, f Finite, o *ValidateOptions) error {
	n := f.Len()
	err := firstViolation(ctx, op, n, sampleChunk, func(_, lo, hi int) *Violation {
		for i := lo; i < hi; i++ {
			d := f.Distance(i, i)
			if v := o.pairLaws(i, i, d, d); v != nil {
				return v
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	slack := 1 + o.Tolerance
	return firstViolation(ctx, op, o.Samples, sampleChunk, func(c, lo, hi int) *Violation {
		// One generator a chunk, whoever runs it. It guards no secret.
		r := rand.New(rand.NewPCG(o.Seed, uint64(c)))
		for range hi - lo {
			p := distinct(r, n)
			var side [3]float64 // opposite p[0], p[1], p[2]
			for k := range p {
				i, j := p[(k+1)%3], p[(k+2)%3]
				i, j = min(i, j), max(i, j)
				side[k] = f.Distance(i, j)
				if v := o.pairLaws(i, j, side[k], f.Distance(j, i)); v != nil {
					return v
				}
			}
			for k := range p {
				i, j := p[(k+1)%3], p[(k+2)%3]
				if detour := side[(k+1)%3] + side[(k+2)%3]; side[k] > detour*slack {
					return &Violation{Axiom: Triangle, I: min(i, j), J: max(i, j), K: p[k], Excess: side[k] - detour}
				}
			}
		}
		return nil
	})
}

// distinct draws three different indices below n >= 3.
func distinct(rng *rand.Rand, n int) [3]int {
	a, b, c := rng.IntN(n), rng.IntN(n-1), rng.IntN(n-2)
	if b >= a {
		b++
	}
	if c >= min(a, b) {
		c++
	}
	if c >= max(a, b) {
		c++
	}
	return [3]int{a, b, c}
}

func noDistance(d float64) bool { return !(d >= 0 && d <= math.MaxFloat64) }

// pairLaws checks ij = d(i,j) and ji = d(j,i), i <= j.
func (o *ValidateOptions) pairLaws(i, j int, ij, ji float64) *Violation {
	switch {
	case noDistance(ij):
		return &Violation{Axiom: FiniteValue, I: i, J: j, K: -1, Excess: math.Abs(ij)}
	case noDistance(ji):
		return &Violation{Axiom: FiniteValue, I: j, J: i, K: -1, Excess: math.Abs(ji)}
	case i == j && ij != 0:
		return &Violation{Axiom: ZeroSelf, I: i, J: i, K: -1, Excess: ij}
	case ij != ji:
		return &Violation{Axiom: Symmetry, I: i, J: j, K: -1, Excess: math.Abs(ij - ji)}
	case o.Strict && i != j && ij == 0:
		return &Violation{Axiom: Identity, I: i, J: j, K: -1}
	}
	return nil
}

// firstViolation returns that of the first chunk of [0, n) that has one. Chunks start in
// order, and those after a violation are skipped: the answer is that of one worker.
func firstViolation(ctx context.Context, op string, n, size int, check func(c, lo, hi int) *Violation) error {
	var (
		mu    sync.Mutex
		found *Violation
		at    = math.MaxInt // the chunk of found
	)
	err := parallel.Chunks(ctx, n, size, 0, nil, func(c, lo, hi int) {
		mu.Lock()
		skip := c > at
		mu.Unlock()
		if skip {
			return
		}
		if v := check(c, lo, hi); v != nil {
			mu.Lock()
			if c < at {
				found, at = v, c
			}
			mu.Unlock()
		}
	})
	if found != nil { // a proof, even where the context ended the search
		found.Op = op
		return found
	}
	return err
}

// The laws that [Validate] and the constructors check: the Axiom of a [Violation].
const (
	FiniteValue    = "0 <= d(i,j) < Inf"
	ZeroSelf       = "d(i,i) = 0"
	Symmetry       = "d(i,j) = d(j,i)"
	Identity       = "d(i,j) > 0 for i != j"
	Triangle       = "d(i,j) <= d(i,k) + d(k,j)"
	UltrametricLaw = "d(i,j) <= max(d(i,k), d(k,j))"
)

// Violation is the error that carries a witness against a law: the points I and J, for three-point
// laws also K (otherwise -1), and by how much the law fails.
type Violation struct {
	Op      string // the call, as in "metric: Validate"
	Axiom   string // the law
	I, J, K int
	Excess  float64 // by how much, in the unit of the metric
}

func (v *Violation) Error() string {
	op, k := "", ""
	if v.Op != "" {
		op = v.Op + ": "
	}
	if v.K >= 0 {
		k = fmt.Sprintf(", k=%d", v.K)
	}
	return fmt.Sprintf("%s%s fails at i=%d, j=%d%s by %v", op, v.Axiom, v.I, v.J, k, v.Excess)
}

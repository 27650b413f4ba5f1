// Package leastsquares fits a distribution to noisy linear measurements of it:
//
//	argmin |A p - y|_2 over p >= 0 of sum 1.
//
// Every row of A is measured with noise of one size. A has more columns than
// rows as a rule, so that the fit A p is unique and p is not; started from the
// uniform distribution, the iteration ends at a spread one.
package leastsquares

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/wasserstein"
)

// Matrix is a matrix with entries >= 0 and no column of zeros.
type Matrix interface {
	Dims() (rows, cols int)
	// Apply sets dst to A p.
	Apply(dst, p []float64)
	// Adjoint sets dst to A' r.
	Adjoint(dst, r []float64)
}

const (
	// maxSteps is far above what spaces of some thousand points take, and
	// bounds the time of a hostile one.
	maxSteps = 20_000
	// checkEvery steps the gap is computed, at the cost of half a step.
	checkEvery = 20
	// enough is the gap, in units of the noise's variance, at which the fit is
	// nearer to the optimum than the noise by a factor of sqrt(2*enough).
	enough = 1e-3
)

// Fit returns p and a bound of how far it is from the least value of |A p - y|^2/2, the gap of Frank
// and Wolfe: by convexity no distribution q has
//
//	|A q - y|^2/2 < |A p - y|^2/2 - max over q of <A'(A p - y), p - q>,
//
// and the maximum is at a vertex of the simplex. Fit ends where that is below 1e-3 noise^2, noise being
// the standard deviation of a row, and so, by strong convexity in A p, |A p - A p*| <= noise/20; or
// where rounding or 20,000 steps end it first. The method is FISTA (Beck and Teboulle 2009), with the
// restarts of O'Donoghue and Candes (2015), at a step of 1/|A'A|.
func Fit(ctx context.Context, a Matrix, y []float64, noise float64) (p []float64, gap float64, err error) {
	rows, n := a.Dims()
	p, next, q, grad := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	image, nextImage, qImage, rest := make([]float64, rows), make([]float64, rows), make([]float64, rows), make([]float64, rows)
	for i := range p {
		p[i] = 1 / float64(n)
	}
	step := 1 / norm(a, p, grad, rest)
	a.Apply(image, p)
	copy(q, p)
	copy(qImage, image)
	gapAt := func() float64 { // at p
		floats.SubTo(rest, image, y)
		a.Adjoint(grad, rest)
		least, at := math.Inf(1), 0.0
		for i, g := range grad {
			least = min(least, g)
			at += float64(g * p[i])
		}
		return at - least
	}
	gap = gapAt()
	size := floats.Norm(y, 2) + floats.Norm(image, 2)
	target := max(enough*noise*noise, 0x1p-45*size*size)
	for k, momentum := 1, 1.0; gap > target && k <= maxSteps; k++ {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		floats.SubTo(rest, qImage, y)
		a.Adjoint(grad, rest)
		for i, g := range grad {
			grad[i] = q[i] - float64(step*g)
		}
		if next, err = wasserstein.ProjectSimplex(grad, 1, next); err != nil {
			return nil, 0, err
		}
		a.Apply(nextImage, next)
		// Restart where the momentum points uphill.
		turn := 0.0
		for i, v := range next {
			turn += float64((q[i] - v) * (v - p[i]))
		}
		later := (1 + math.Sqrt(1+float64(4*momentum*momentum))) / 2
		beta := (momentum - 1) / later
		if turn > 0 {
			later, beta = 1, 0
		}
		momentum = later
		extrapolate(q, next, p, beta)
		extrapolate(qImage, nextImage, image, beta)
		p, next = next, p
		image, nextImage = nextImage, image
		if k%checkEvery == 0 {
			gap = gapAt()
		}
	}
	return p, gap, nil
}

// extrapolate sets dst to x + beta (x - from).
func extrapolate(dst, x, from []float64, beta float64) {
	for i, v := range x {
		dst[i] = v + float64(beta*(v-from[i]))
	}
}

// norm returns an upper bound of the largest eigenvalue of A'A, from a positive start: for a matrix
// M >= 0 and x > 0 it is at most the largest (M x)_i/x_i (Collatz and Wielandt).
func norm(a Matrix, start, work, rest []float64) float64 {
	x, bound := append([]float64(nil), start...), math.Inf(1)
	for range 20 {
		a.Apply(rest, x)
		a.Adjoint(work, rest)
		top, scale := 0.0, floats.Max(work)
		for i, v := range work {
			top = max(top, v/x[i])
			x[i] = max(v/scale, 0x1p-100) // still positive
		}
		bound = min(bound, top)
	}
	return bound
}

// Columns are sparse vectors of length Rows, or a matrix by columns.
type Columns[T int64 | float64] struct {
	Rows  int
	start []int
	row   []int32
	value []T
}

// NewColumns returns none of so many rows.
func NewColumns[T int64 | float64](rows int) Columns[T] {
	return Columns[T]{Rows: rows, start: []int{0}}
}

// Set adds an entry to the last column, which Close ends.
func (c *Columns[T]) Set(row int, value T) {
	c.row, c.value = append(c.row, int32(row)), append(c.value, value)
}

// Close ends a column.
func (c *Columns[T]) Close() { c.start = append(c.start, len(c.row)) }

// Len is the number of columns.
func (c *Columns[T]) Len() int { return len(c.start) - 1 }

// Of returns the rows and values of a column. The rows are not to be changed.
func (c *Columns[T]) Of(j int) ([]int32, []T) {
	lo, hi := c.start[j], c.start[j+1]
	return c.row[lo:hi], c.value[lo:hi]
}

// Sparse is a Matrix stored by columns.
type Sparse struct{ Columns[float64] }

// NewSparse returns a matrix of so many rows, and no columns yet.
func NewSparse(rows int) *Sparse { return &Sparse{NewColumns[float64](rows)} }

// Dims implements [Matrix].
func (s *Sparse) Dims() (rows, cols int) { return s.Rows, s.Len() }

// Apply implements [Matrix].
func (s *Sparse) Apply(dst, p []float64) {
	clear(dst)
	for j, v := range p {
		if v == 0 {
			continue
		}
		for k := s.start[j]; k < s.start[j+1]; k++ {
			dst[s.row[k]] += float64(s.value[k] * v)
		}
	}
}

// Adjoint implements [Matrix].
func (s *Sparse) Adjoint(dst, r []float64) {
	for j := range dst {
		sum := 0.0
		for k := s.start[j]; k < s.start[j+1]; k++ {
			sum += float64(s.value[k] * r[s.row[k]])
		}
		dst[j] = sum
	}
}

// Permute moves row r to place[r].
func (s *Sparse) Permute(place []int) {
	for k, r := range s.row {
		s.row[k] = int32(place[r])
	}
}

package additive

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/combin"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
)

// Polytope is a norm on R^d, 2 <= d <= 8, whose unit ball K is the least convex set that holds
// given points and their mirror images. It goes in [Norm].
//
// It is for d linear queries on data whose changes are measured in l1, released together: the
// points are the columns of the queries' matrix. No smaller ball keeps such a change of size 1
// within it, so none has less noise (Hardt, Talwar 2010). Noise is exact: see [Options]. K may
// be some 2^-50 larger than the hull of the points, never smaller.
type Polytope struct {
	body   exact.Polytope // that of K/2^exp
	exp    int
	inner  float64 // about the radius of the largest Euclidean ball in it
	moment float64 // mean of z_i^2 over it and its coordinates, simulated
}

// NewPolytope returns the norm of the points, each of the same dimension, with entries of a
// size in [1e-90, 1e90] or 0. A [*metric.ValueError] are points in a subspace, or so nearly
// that K is 10^6 times as long as thin; points that make the search for facets too long, which
// looks at d of them at a time (at most 400 in two dimensions, 60 in three, 12 in eight) or
// finds more than 1,024 pairs of facets; and a K that fills less than about 1/1,000 of a cube
// around it.
func NewPolytope(points [][]float64) (*Polytope, error) {
	const op = "additive: NewPolytope"
	n := len(points)
	if err := fault.Empty(op, "points", n); err != nil {
		return nil, err
	}
	d := len(points[0])
	if d < 2 || d > exact.MaxPolytopeDim {
		return nil, &fault.SizeError{Op: op, Arg: "points[0]", Got: d, Want: "2 to 8"}
	}
	top := 0.0
	for i, p := range points {
		arg := fmt.Sprintf("points[%d]", i)
		if err := cmp.Or(checkLen(op, arg, len(p), d), fault.AllFinite(op, arg, p)); err != nil {
			return nil, err
		}
		for j, v := range p {
			if a := math.Abs(v); a != 0 && !(a >= 1e-90 && a <= 1e90) {
				return nil, &fault.ValueError{Op: op, Arg: arg, Index: j, Value: v, Want: "0 or a number of a size in [1e-90, 1e90]"}
			}
			top = max(top, math.Abs(v))
		}
	}
	if n < d || combin.LogGeneralizedBinomial(float64(n), float64(d))+float64(float64(d-1)*math.Ln2) > math.Log(maxChoices) {
		return nil, fault.Value(op, "len(points)", float64(n), fmt.Sprintf("as many as span R^%d, and no more than the search for facets can do", d))
	}
	p := &Polytope{body: exact.Polytope{Dim: d}}
	_, p.exp = math.Frexp(top)
	scaled := make([][]float64, n)
	for i, v := range points {
		for _, c := range v {
			scaled[i] = append(scaled[i], math.Ldexp(c, -p.exp)) // exact
		}
	}
	facets := findFacets(scaled, d)
	if len(facets) < d {
		return nil, fault.Value(op, "rank of points", float64(len(facets)), fmt.Sprintf("%d: points that span R^%d, not nearly flat", d, d))
	}
	if len(facets) > maxFacets {
		return nil, fault.Value(op, "pairs of facets", float64(len(facets)), fmt.Sprintf("at most %d", maxFacets))
	}
	steep := 0.0
	for _, a := range facets {
		p.body.Facets = append(p.body.Facets, a...)
		s := 0.0
		for _, c := range a {
			s += float64(c * c)
		}
		steep = max(steep, math.Sqrt(s))
	}
	p.inner = 1 / steep
	if !(p.inner >= 1e-6) {
		return nil, fault.Value(op, "width of the polytope", 2*p.inner, "at least 2e-6 of its length")
	}
	if p.body.Basis = enclosing(facets, d); p.body.Basis == nil {
		return nil, fault.Value(op, "width of the polytope", 2*p.inner, "more: its facets are nearly parallel")
	}
	return p, p.simulate(op)
}

const (
	maxFacets  = 1024
	maxChoices = 2e5 // of d points and their signs
)

// findFacets returns a facet of every pair, scaled to prove |a.v| <= 1 for all
// points v. Every choice of d independent points and signs has one a that is the
// sign on each; a is a facet if no point passes 1. A facet that rounding hides
// makes the polytope larger.
func findFacets(points [][]float64, d int) (facets [][]float64) {
	gen := combin.NewCombinationGenerator(len(points), d)
	idx, rows, a := make([]int, d), mat.NewDense(d, d, nil), make([]float64, d)
	const slack = 1e-9
	for gen.Next() {
		for i, k := range gen.Combination(idx) {
			rows.SetRow(i, points[k])
		}
		var inv mat.Dense
		if err := inv.Inverse(rows); err != nil && !(mat.Cond(rows, 1) < 1e12) {
			continue
		}
	signs:
		for s := range 1 << (d - 1) {
			for i := range a {
				a[i] = 0
				for k := range d {
					a[i] += float64(inv.At(i, k) * float64(1-2*(s>>k&1)))
				}
			}
			for _, v := range points {
				if !(math.Abs(dot(a, v)) <= 1+slack) {
					continue signs
				}
			}
			known := false
			for _, b := range facets {
				same, mirror := 0.0, 0.0
				for i, c := range a {
					same, mirror = max(same, math.Abs(c-b[i])), max(mirror, math.Abs(c+b[i]))
				}
				size := math.Abs(a[0])
				for _, c := range a {
					size = max(size, math.Abs(c))
				}
				known = known || min(same, mirror) <= 100*slack*size
			}
			if !known {
				if f := prove(append([]float64(nil), a...), points); f != nil {
					facets = append(facets, f)
				}
			}
			if len(facets) > maxFacets {
				return facets
			}
		}
	}
	return facets
}

func dot(a, b []float64) float64 {
	s := 0.0
	for i, v := range a {
		s += float64(v * b[i])
	}
	return s
}

// dotUp is at least |a.b|.
func dotUp(a, b []float64) float64 {
	var s directed.Sum
	for i, v := range a {
		s.AddProduct(v, b[i])
	}
	lo, _, hi := s.Bounds()
	return max(hi, -lo)
}

// prove scales a down until |a.v| <= 1 for all points v, or returns nil. It scales by
// more every time: where a.v cancels, the rounding of a may undo a small step.
func prove(a []float64, points [][]float64) []float64 {
	for less := 0x1p-52; less < 0x1p-30; less *= 2 {
		most := 0.0
		for _, v := range points {
			most = max(most, dotUp(a, v))
		}
		if most <= 1 {
			return a
		}
		for i, c := range a {
			a[i] = c / most * (1 - less)
		}
	}
	return nil
}

// enclosing returns d linear forms B such that B[-1,1]^d includes the polytope,
// small among those from d of the facets: from the steepest ones a facet takes the
// place of another as long as that makes their determinant larger. nil where the
// proof fails: with the facets A, B = (1+e) A^-1 and R = A B - (1+e) I of row sums
// at most e, a point z = B w of the polytope has A z = (1+e) w + R w, so that
// (1+e) |w| <= 1 + e |w| in l_inf, and |w| <= 1.
func enclosing(facets [][]float64, d int) []float64 {
	const e = 0x1p-20
	var chosen []int
	rest := make([][]float64, len(facets)) // orthogonal to those chosen
	for i, a := range facets {
		rest[i] = append([]float64(nil), a...)
	}
	for range d {
		best := 0
		for i := range rest {
			if dot(rest[i], rest[i]) > dot(rest[best], rest[best]) {
				best = i
			}
		}
		q := append([]float64(nil), rest[best]...)
		norm := dot(q, q)
		if !(norm > 0) {
			return nil
		}
		chosen = append(chosen, best)
		for i := range rest {
			t := dot(rest[i], q) / norm
			for j := range q {
				rest[i][j] -= float64(t * q[j])
			}
		}
	}
	a := mat.NewDense(d, d, nil)
	var inv mat.Dense
	for range 200 {
		for i, k := range chosen {
			a.SetRow(i, facets[k])
		}
		inv.Reset()
		if err := inv.Inverse(a); err != nil && inv.IsEmpty() {
			return nil
		}
		most, out, in := 1+1e-9, -1, -1
		for k, f := range facets {
			for i := range d {
				c := 0.0
				for j, v := range f {
					c += float64(v * inv.At(j, i))
				}
				if math.Abs(c) > most {
					most, out, in = math.Abs(c), i, k
				}
			}
		}
		if out < 0 {
			break
		}
		chosen[out] = in
	}
	basis := make([]float64, 0, d*d)
	for i := range d {
		for j := range d {
			b := (1 + e) * inv.At(i, j)
			if !(math.Abs(b) <= 0x1p40) {
				return nil
			}
			basis = append(basis, b)
		}
	}
	for i, k := range chosen {
		if !equal(a.RawRowView(i), facets[k]) {
			return nil // the exchange has not ended
		}
		sum, col := 0.0, make([]float64, d)
		for j := range d {
			for l := range d {
				col[l] = basis[l*d+j]
			}
			f, c := facets[k], col
			if i == j { // less 1 + e, exact
				f, c = append([]float64{-(1 + e)}, f...), append([]float64{1}, c...)
			}
			sum = directed.AddUp(sum, dotUp(f, c))
		}
		if !(sum <= e) {
			return nil
		}
	}
	return basis
}

func equal(a, b []float64) bool {
	for i, v := range a {
		if v != b[i] {
			return false
		}
	}
	return true
}

// simulate measures the second moment, right to some 2 % where a tenth of the
// draws are hits, and how many are.
func (p *Polytope) simulate(op string) error {
	rng, z := random.Seeded(1), make([]float64, p.body.Dim)
	const draws, enough = 1 << 16, 1 << 12
	hits, sum := 0, 0.0
	for i := 0; i < draws && hits < enough; i++ {
		if p.body.Draw(rng, z) {
			hits++
			sum += dot(z, z)
		}
	}
	if hits < draws/1000 {
		return fault.Value(op, "share of draws that hit the polytope", float64(hits)/draws, "0.001 or more")
	}
	p.moment = math.Ldexp(sum/float64(hits)/float64(p.body.Dim), 2*p.exp)
	return nil
}

// Dim is the dimension, 0 for the zero value.
func (p *Polytope) Dim() int {
	if p == nil {
		return 0
	}
	return p.body.Dim
}

// Norm returns the norm of z up to rounding; it panics where the length of z is not
// Dim.
func (p *Polytope) Norm(z []float64) float64 {
	d, most := p.Dim(), 0.0
	fault.Must(p, cmp.Or(fault.Made(d > 0, "additive: Polytope.Norm", "Polytope", "NewPolytope"), checkLen("additive: Polytope.Norm", "z", len(z), d)))
	for f := 0; f < len(p.body.Facets); f += d {
		most = max(most, math.Abs(dot(p.body.Facets[f:f+d], z)))
	}
	return math.Ldexp(most, -p.exp)
}

// String tells the dimension and the number of facets.
func (p *Polytope) String() string {
	return fmt.Sprintf("polytope of %d facets in R^%d", 2*len(p.body.Facets)/max(1, p.Dim()), p.Dim())
}

package additive

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// cross and cube are the points that span the balls of l1 and l_inf.
func cross(d int) (points [][]float64) {
	for i := range d {
		points = append(points, make([]float64, d))
		points[i][i] = 1
	}
	return points
}

func cube(d int) (points [][]float64) {
	for s := range 1 << (d - 1) {
		p := make([]float64, d)
		for i := range p {
			p[i] = float64(1 - 2*(s>>i&1))
		}
		points = append(points, p)
	}
	return points
}

func randomPoints(n, d int, rng *rand.Rand) (points [][]float64) {
	for range n {
		p := make([]float64, d)
		for i := range p {
			p[i] = (2*rng.Float64() - 1) * math.Pow(10, float64(i))
		}
		points = append(points, p)
	}
	return points
}

func polytope(k *Polytope) Norm { return Norm{Dim: k.Dim(), Polytope: k} }

func TestPolytope_IsTheNormOfBalls(t *testing.T) {
	testkit.Rounding(t)
	r := random.Seeded(1)
	for d := 2; d <= 5; d++ {
		l1, inf := testkit.Must(NewPolytope(cross(d))), testkit.Must(NewPolytope(append(cube(d), make([]float64, d))))
		if a, b := len(l1.body.Facets)/d, len(inf.body.Facets)/d; a != 1<<(d-1) || b != d {
			t.Errorf("d = %d: %d pairs of facets, and %d of the cube", d, a, b)
		}
		for range 50 {
			z, sum, top := make([]float64, d), 0.0, 0.0
			for i := range z {
				z[i] = r.NormFloat64()
				sum, top = sum+math.Abs(z[i]), max(top, math.Abs(z[i]))
			}
			if !near(l1.Norm(z), sum, 1e-9) || !near(inf.Norm(z), top, 1e-9) {
				t.Errorf("%v: %v, %v", z, l1.Norm(z), inf.Norm(z))
			}
		}
		for p, k := range map[float64]*Polytope{1: l1, math.Inf(1): inf} { // simulated
			want := testkit.Must(NewKNorm(Norm{P: p, Dim: d}, 0.5, nil)).SecondMoment()
			if got := testkit.Must(NewKNorm(polytope(k), 0.5, nil)).SecondMoment(); !near(got, want, 0.15) {
				t.Errorf("d = %d, p = %v: second moment %v, want %v", d, p, got, want)
			}
		}
	}
}

// What privacy and sampling rest on, in rational numbers: each point has norm at
// most 1, and the cube that is drawn from includes the polytope.
func TestPolytope_FacetsAreProofs(t *testing.T) {
	testkit.Rounding(t)
	rat := func(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
	r := random.Seeded(2)
	for i := range 60 {
		d := 2 + i%3
		points := randomPoints(d+i%5, d, r)
		k, err := NewPolytope(points)
		if err != nil {
			t.Fatal(points, err)
		}
		largest := 0.0
		for _, v := range points {
			for f := 0; f < len(k.body.Facets); f += d {
				s := new(big.Rat)
				for j, a := range k.body.Facets[f : f+d] {
					s.Add(s, new(big.Rat).Mul(rat(a), rat(math.Ldexp(v[j], -k.exp))))
				}
				if s.Abs(s).Cmp(rat(1)) > 0 {
					t.Fatalf("%v has norm %v", v, s)
				}
			}
			largest = max(largest, k.Norm(v))
		}
		if largest < 1-1e-8 {
			t.Errorf("no point has norm 1: %v", largest)
		}
		// Points of the boundary, by solving z = B w.
		for range 200 {
			z := make([]float64, d)
			for j := range z {
				z[j] = r.NormFloat64() * math.Pow(10, float64(j))
			}
			norm := k.Norm(z)
			for j := range z {
				z[j] = math.Ldexp(z[j]/norm, -k.exp)
			}
			var w mat.VecDense
			if err := w.SolveVec(mat.NewDense(d, d, k.body.Basis), mat.NewVecDense(d, z)); err != nil || !(mat.Norm(&w, math.Inf(1)) <= 1) {
				t.Fatalf("%v is outside the cube: %v, %v", z, w, err)
			}
		}
	}
}

// A linear image of the ball of l1: the noise is that of independent Laplace
// variables, found back by the inverse.
func TestPolytope_NoiseHasTheDistribution(t *testing.T) {
	testkit.Slow(t)
	m := mat.NewDense(3, 3, []float64{1, 2, -1, 0, 0.01, 0.02, 30, 0, 10})
	var points [][]float64
	for j := range 3 {
		points = append(points, mat.Col(nil, j, m))
	}
	const alpha = 0.25
	k := testkit.Must(NewKNorm(polytope(testkit.Must(NewPolytope(points))), alpha, nil))
	if k.Guarantee().Alpha() != alpha {
		t.Error(k)
	}
	r, x := random.Seeded(3), []float64{1, -2, 3}
	const cells = 4 // of equal probability, a coordinate
	count, radius := make([]int, cells*cells*cells), make([]int, 10)
	for range 40_000 {
		y := testkit.Must(k.Release(r, x))
		for i := range y {
			y[i] -= x[i]
		}
		radius[int(10*k.RadiusProb(k.norm.Polytope.Norm(y)))]++
		var u mat.VecDense
		if err := u.SolveVec(m, mat.NewVecDense(3, y)); err != nil {
			t.Fatal(err)
		}
		cell := 0
		for i := range 3 {
			v := u.AtVec(i) * alpha
			p := 0.5 * math.Exp(-math.Abs(v))
			if v > 0 {
				p = 1 - p
			}
			cell = cells*cell + min(cells-1, int(cells*p))
		}
		count[cell]++
	}
	equal := func(n int) []float64 {
		p := make([]float64, n)
		for i := range p {
			p[i] = 1 / float64(n)
		}
		return p
	}
	testkit.ChiSquare(t, count, equal(len(count)), 5e-7)   // false-reject probability 1e-6
	testkit.ChiSquare(t, radius, equal(len(radius)), 5e-7) // in both
}

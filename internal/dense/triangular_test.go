package dense

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Solutions and products with triangles are those of gonum, at sizes around the pieces'.
func TestTriangular_IsGonums(t *testing.T) {
	for _, n := range []int{1, 31, 32, 33, 100, 300} {
		m := symmetric(n, true)
		a, x := m.RawSymmetric().Data, make([]float64, n)
		for i := range x {
			x[i] = float64(i%5) - 2
		}
		y := slices.Repeat([]float64{1}, n)
		AddSymmetric(.5, n, a, x, y)
		var want mat.VecDense
		want.MulVec(m, mat.NewVecDense(n, x))
		for i := range y {
			if w := 1 + want.AtVec(i)/2; math.Abs(y[i]-w) > 1e-12*float64(n) {
				t.Fatalf("n = %d: product[%d] = %v, want %v", n, i, y[i], w)
			}
		}
		// U'U x from the product with U', then U; the last columns as what is known.
		u := mat.NewTriDense(n, mat.Upper, slices.Clone(a))
		for _, p := range []int{n, (n + 1) / 2} {
			var z, b mat.VecDense
			z.MulVec(u, mat.NewVecDense(n, x))
			b.MulVec(u.T(), &z)
			v := slices.Clone(b.RawVector().Data)
			Forward(p, n, a, v)
			for i := range p {
				if w := z.AtVec(i); math.Abs(v[i]-w) > 1e-12*float64(n) {
					t.Fatalf("n = %d, p = %d: forward[%d] = %v, want %v", n, p, i, v[i], w)
				}
			}
			for i := p; i < n; i++ { // what is left belongs to the rest of U
				w := 0.0
				for q := p; q <= i; q++ {
					w += u.At(q, i) * z.AtVec(q)
				}
				if math.Abs(v[i]-w) > 1e-11*float64(n) {
					t.Fatalf("n = %d, p = %d: rest[%d] = %v, want %v", n, p, i, v[i], w)
				}
			}
			copy(v[p:], x[p:])
			Backward(p, n, a, v)
			for i := range v {
				if math.Abs(v[i]-x[i]) > 1e-12*float64(n) {
					t.Fatalf("n = %d, p = %d: backward[%d] = %v, want %v", n, p, i, v[i], x[i])
				}
			}
		}
	}
}

package dense

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// symmetric is a random symmetric matrix, and with definite one far from singular.
func symmetric(n int, definite bool) *mat.SymDense {
	r, m := random.Seeded(uint64(n)), mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			m.SetSym(i, j, 2*r.Float64()-1)
		}
		if definite {
			m.SetSym(i, i, float64(n))
		}
	}
	return m
}

func fill(m *mat.SymDense) func(a []float64) error {
	return func(a []float64) error {
		for i := range a {
			a[i] = m.At(i/m.SymmetricDim(), i%m.SymmetricDim())
		}
		return nil
	}
}

// Factors, solutions and condition numbers are those of gonum, at sizes around the panel's.
func TestFactorize_IsGonums(t *testing.T) {
	ctx := context.Background()
	for _, definite := range []bool{true, false} {
		for _, n := range []int{1, 2, 63, 64, 65, 150, 200} {
			m := symmetric(n, definite)
			f, err := Factorize(ctx, n, make([]float64, n*n), fill(m))
			if err != nil || f == nil {
				t.Fatal(n, f, err)
			}
			if (f.pivot == nil) != definite && n > 2 {
				t.Errorf("n = %d: definite %v, Cholesky %v", n, definite, f.pivot == nil)
			}
			var want mat.VecDense
			var lu mat.LU
			b := mat.NewVecDense(n, nil)
			for i := range n {
				b.SetVec(i, float64(i%7)-3)
			}
			lu.Factorize(m)
			testkit.Check(t, lu.SolveVecTo(&want, false, b))
			x := append([]float64(nil), b.RawVector().Data...)
			testkit.Check(t, f.Solve(ctx, x))
			cond, err := f.Cond(ctx)
			if err != nil || !(math.Abs(cond/lu.Cond()-1) < 1e-6) {
				t.Errorf("n = %d: condition %v (%v), gonum %v", n, cond, err, lu.Cond())
			}
			for i := range x {
				if !(math.Abs(x[i]-want.AtVec(i)) <= 1e-14*cond*(1+math.Abs(want.AtVec(i)))) {
					t.Fatalf("n = %d: solution[%d] = %v, gonum %v", n, i, x[i], want.AtVec(i))
				}
			}
		}
	}
}

func TestFactorize_Singular(t *testing.T) {
	for _, n := range []int{1, 70} {
		if f, err := Factorize(context.Background(), n, make([]float64, n*n), func([]float64) error { return nil }); f != nil || err != nil {
			t.Errorf("n = %d: %v %v", n, f, err)
		}
	}
}

// Between two looks at the context no more than a piece is done: a call that is
// stopped at any of them returns the context's error, and there are enough of them.
func TestFactorize_LooksAtTheContext(t *testing.T) {
	const n = 300
	for _, definite := range []bool{true, false} {
		m := symmetric(n, definite)
		looks := 0
		for ; ; looks++ {
			err := func() error {
				ctx := testkit.Looking(int64(looks))
				f, err := Factorize(ctx, n, make([]float64, n*n), fill(m))
				if err != nil {
					return err
				}
				_, err = f.Cond(ctx)
				return err
			}()
			if err == nil {
				break
			}
			if !errors.Is(err, context.Canceled) {
				t.Fatal(fmt.Sprint(definite, looks, err))
			}
		}
		if looks < 2*n/panel {
			t.Errorf("definite %v: %d looks", definite, looks)
		}
	}
}

// A product of 2^29 multiplications takes several pieces.
func TestGemm_Pieces(t *testing.T) {
	ctx := testkit.Looking(1 << 30)
	const rows, depth, cols = 4096, 512, 300
	a, b, c := mat.NewDense(depth, rows, nil), mat.NewDense(depth, cols, nil), mat.NewDense(rows, cols, nil)
	for i := range 5 {
		a.Set(i, i, 1)
		b.Set(i, cols-1-i, float64(i))
	}
	testkit.Check(t, Gemm(ctx, 'T', 1, a.RawMatrix(), b.RawMatrix(), 0, c.RawMatrix()))
	if looks := ctx.Looks(); looks < rows/panel {
		t.Errorf("%d looks", looks)
	}
	for i := range 5 {
		if v := c.At(i, cols-1-i); v != float64(i) {
			t.Errorf("product %d is %v", i, v)
		}
	}
}

// Solutions and products with triangles are those of gonum, at sizes around the pieces'.
func TestTriangular_IsGonums(t *testing.T) {
	for _, n := range []int{1, 31, 32, 33, 100, 300} {
		m := symmetric(n, true)
		a, x := m.RawSymmetric().Data, make([]float64, n)
		for i := range x {
			x[i] = float64(i%5) - 2
		}
		y := slices.Repeat([]float64{1}, n)
		AddSymmetric(.5, n, a, nil, x, y)
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
			Forward(p, n, a, nil, v)
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
			Backward(p, n, a, nil, v)
			for i := range v {
				if math.Abs(v[i]-x[i]) > 1e-12*float64(n) {
					t.Fatalf("n = %d, p = %d: backward[%d] = %v, want %v", n, p, i, v[i], x[i])
				}
			}
		}
	}
}

// A matrix whose rows end has a factor whose rows end there, and what is said of the ends changes
// no solution and no product.
func TestEnds_ChangeNothing(t *testing.T) {
	r := random.Seeded(8)
	for _, n := range []int{1, 40, 130, 300} {
		ends, a := make(Ends, n), make([]float64, n*n)
		end := 0
		for i := range n {
			end = max(end, min(n, i+1+r.IntN(1+n/4)))
			ends[i] = end
			a[i*n+i] = float64(n)
			for j := i + 1; j < end; j++ {
				a[i*n+j] = r.Float64() - .5
			}
		}
		x := make([]float64, n)
		for i := range x {
			x[i] = r.Float64()
		}
		whole, part := slices.Clone(a), slices.Clone(a)
		y, z := slices.Clone(x), slices.Clone(x)
		AddSymmetric(2, n, a, nil, x, y)
		AddSymmetric(2, n, a, ends, x, z)
		for _, f := range []struct {
			a    []float64
			ends Ends
		}{{whole, nil}, {part, ends}} {
			if !testkit.Must(Cholesky(t.Context(), n, f.a, f.ends)) {
				t.Fatalf("n = %d: no factor", n)
			}
		}
		for i := range n {
			for j := i; j < n; j++ {
				if d := math.Abs(whole[i*n+j] - part[i*n+j]); !(d <= 1e-13*float64(n)) || j >= ends[i] && part[i*n+j] != 0 {
					t.Fatalf("n = %d: factor [%d, %d] is %v, with ends at %d %v", n, i, j, whole[i*n+j], ends[i], part[i*n+j])
				}
			}
		}
		u, v := slices.Clone(y), slices.Clone(z)
		Forward(n, n, whole, nil, u)
		Backward(n, n, whole, nil, u)
		Forward(n, n, part, ends, v)
		Backward(n, n, part, ends, v)
		for i := range n {
			if !(math.Abs(y[i]-z[i]) <= 1e-12*float64(n) && math.Abs(u[i]-v[i]) <= 1e-12) {
				t.Fatalf("n = %d: product %v and %v, solution %v and %v", n, y[i], z[i], u[i], v[i])
			}
		}
	}
}

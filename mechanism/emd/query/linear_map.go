package query

import (
	"cmp"
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/emd/internal/norm"
)

// LinearMap is x -> F phi(x), for a matrix F given by its rows, of as many finite entries, not all 0,
// as phi has coordinates, and a query phi under the l2 or the l1 norm. F is copied. Its values have the
// l2 norm. Its constant is that of phi times, from l2, ||F||_2, and from l1 the largest l2 norm of a
// column, which is never more; rounded up. So state phi in l1 where it has the same constant there.
// O(a b min(a, b)) for a rows and b columns. Source: IRC24, Section 6.1.
func LinearMap[P any](f [][]float64, phi Query[P]) (Query[P], error) {
	const op = "query: LinearMap"
	if err := phi.check(op); err != nil {
		return Query[P]{}, err
	}
	if phi.Norm.P != 1 && phi.Norm.P != 2 && phi.Norm.Dim != 1 {
		return Query[P]{}, fault.Value(op, "phi.Norm.P", phi.Norm.P, "1 or 2")
	}
	rows, cols := len(f), phi.Norm.Dim
	if err := cmp.Or(fault.Empty(op, "f", rows), fault.Memory(op, float64(rows)*float64(cols), 8)); err != nil {
		return Query[P]{}, err
	}
	flat := make([]float64, 0, rows*cols)
	for i, row := range f {
		arg := fmt.Sprintf("f[%d]", i)
		if err := cmp.Or(fault.Size(op, arg, len(row), cols), fault.AllFinite(op, arg, row)); err != nil {
			return Query[P]{}, err
		}
		flat = append(flat, row...)
	}
	most, matrix := 0.0, mat.NewDense(rows, cols, flat)
	if phi.Norm.P == 1 || cols == 1 {
		for j := range cols {
			most = max(most, norm.EuclideanUp(mat.Col(nil, j, matrix)))
		}
	} else {
		var ok bool
		if most, ok = spectralUp(matrix); !ok {
			return Query[P]{}, fmt.Errorf("%s: the singular value decomposition of f failed", op)
		}
	}
	l := directed.MulUp(most, phi.Lipschitz)
	if err := fault.Positive(op, "||f||", l); err != nil {
		return Query[P]{}, err
	}
	pool := sync.Pool{New: func() any { v := make([]float64, cols); return &v }}
	return Query[P]{
		Name: "linear map of " + phi.Name, Norm: additive.Norm{P: 2, Dim: rows}, Lipschitz: l,
		Func: func(x P, dst []float64) {
			buf := pool.Get().(*[]float64)
			defer pool.Put(buf)
			v := *buf
			phi.Func(x, v)
			for i := range dst {
				s := 0.0
				for j, u := range flat[i*cols : (i+1)*cols] {
					s += float64(u * v[j])
				}
				dst[i] = s
			}
		},
		Check: phi.Check,
	}, nil
}

// spectralUp returns an upper bound of ||F||_2, and whether one was found.
func spectralUp(f *mat.Dense) (float64, bool) {
	a := mat.DenseCopyOf(f)
	if rows, cols := f.Dims(); cols > rows { // ||F|| = ||F'||: the smaller Gram matrix
		a = mat.DenseCopyOf(f.T())
	}
	top := max(mat.Max(a), -mat.Min(a))
	if top == 0 {
		return 0, true
	}
	// Entries of size 1: products neither overflow nor, where they matter,
	// underflow. What underflows in the scaling is below 2^-1074 and in
	// products likewise, far below the slack.
	_, e := math.Frexp(top)
	a.Apply(func(_, _ int, v float64) float64 { return math.Ldexp(v, -e) }, a)

	var svd mat.SVD
	if !svd.Factorize(a, mat.SVDThinV) {
		return 0, false
	}
	var v mat.Dense
	svd.VTo(&v)
	most, ok := spectralBound(a, &v)
	return norm.LdexpUp(most, e), ok
}

// spectralBound returns an upper bound of ||A||_2 for entries of size 1, and whether V is good enough
// for one. For any square V, W = A V and E = I - V'V,
//
//	||A|| <= ||W|| ||V^-1|| <= sqrt(||W'W||_inf) / sqrt(1 - ||E||_fro),
//
// and for the right singular vectors of A the matrix W'W is nearly diagonal. A computed product A B of
// inner dimension k has an error of at most g_k ||A||_fro ||B||_fro in the Frobenius norm, g_k = k
// u/(1-k u), u = 2^-53, in any order of summation and with or without FMA (Higham, Accuracy and
// Stability of Numerical Algorithms, section 3.5). The bound takes twice g_(k+2), and widens every
// norm, a sum of at most m n positive terms, by as many roundings, so that its own are covered.
func spectralBound(a, v *mat.Dense) (float64, bool) {
	m, n := a.Dims()
	var w, gram, eye mat.Dense
	w.Mul(a, v)
	gram.Mul(w.T(), &w)
	eye.Mul(v.T(), v)
	for i := range n {
		eye.Set(i, i, eye.At(i, i)-1)
	}
	g := func(k int) float64 { return 2 * float64(k+2) * 0x1p-53 }
	sums := 1 + float64(0x1p-52*float64(m+2)*float64(n+2)) // norms below are sums of at most m n terms
	fro := func(x mat.Matrix) float64 { return float64(sums * mat.Norm(x, 2)) }

	fa, fv, fw := fro(a), fro(v), fro(&w)
	off := fro(&eye) + float64(g(n)*fv*fv)
	if !(off < 0.5) {
		return 0, false
	}
	// The exact W differs from the computed one by at most g_n fa fv.
	norm := math.Sqrt(float64(sums*mat.Norm(&gram, math.Inf(1)))+float64(g(m)*fw*fw)) + float64(g(n)*fa*fv)
	norm /= math.Sqrt(1 - off)
	return norm * (1 + 0x1p-48), true // the last line's own roundings
}

package emd

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/metricdp/metricdp/internal/rng"
)

// An upper bound of the largest singular value, and a close one: known norms,
// then gonum's own values and products with random vectors.
func TestSpectralUp_Encloses(t *testing.T) {
	check := func(name string, f *mat.Dense, want float64) {
		t.Helper()
		got, ok := spectralUp(f)
		if !ok || got < want*(1-1e-15) || got > want*(1+1e-9) {
			t.Errorf("%s: %v %v, want %v", name, got, ok, want)
		}
	}
	check("zero", mat.NewDense(2, 3, nil), 0)
	check("row", mat.NewDense(1, 2, []float64{3, 4}), 5)
	check("column", mat.NewDense(2, 1, []float64{-3, 4}), 5)
	check("diagonal", mat.NewDense(3, 3, []float64{1, 0, 0, 0, -7, 0, 0, 0, 2}), 7)
	check("huge", mat.NewDense(2, 2, []float64{1e300, 0, 0, 1}), 1e300)
	check("tiny", mat.NewDense(2, 2, []float64{3e-300, 0, 0, 4e-300}), 4e-300)
	check("identical columns", mat.NewDense(2, 2, []float64{1, 1, 1, 1}), 2)
	ones := mat.NewDense(30, 50, nil)
	ones.Apply(func(_, _ int, _ float64) float64 { return 1 }, ones)
	check("ones", ones, math.Sqrt(1500))
	r := rng.Seeded(3)
	for _, shape := range [][2]int{{1, 1}, {2, 5}, {5, 2}, {20, 20}, {60, 100}} {
		f := mat.NewDense(shape[0], shape[1], nil)
		f.Apply(func(_, _ int, _ float64) float64 { return r.NormFloat64() }, f)
		var svd mat.SVD
		svd.Factorize(f, mat.SVDNone)
		check(fmt.Sprint(shape), f, svd.Values(nil)[0])
		bound, _ := spectralUp(f)
		for range 20 {
			x := mat.NewVecDense(shape[1], nil)
			for i := range shape[1] {
				x.SetVec(i, r.NormFloat64())
			}
			var y mat.VecDense
			y.MulVec(f, x)
			if mat.Norm(&y, 2) > bound*mat.Norm(x, 2) {
				t.Errorf("%v: a vector is stretched by more than %v", shape, bound)
			}
		}
	}
}

// Whatever V is, the bound holds or is refused: orthogonal vectors that have
// nothing to do with F, or are far too short.
func TestSpectralBound_TrustsNoDecomposition(t *testing.T) {
	f := mat.NewDense(3, 2, []float64{1, -.5, .25, 1, 0, .5})
	var svd mat.SVD
	svd.Factorize(f, mat.SVDThinV)
	var good mat.Dense
	svd.VTo(&good)
	norm := svd.Values(nil)[0]
	for _, scale := range []float64{1, .95, .85, .5, .1, 0, math.NaN()} {
		for name, q := range map[string]mat.Matrix{"right": &good, "any": mat.NewDense(2, 2, []float64{1, 0, 0, 1})} {
			var v mat.Dense
			v.Scale(scale, q)
			bound, ok := spectralBound(f, &v)
			if ok && !(bound >= norm) || ok != (scale > .8) {
				t.Errorf("%s vectors of length %v: %v, %v, norm %v", name, scale, bound, ok, norm)
			}
		}
	}
}

// Constants that are quotients are above them, by an ulp at most.
func TestQuery_ConstantsAreRoundedUp(t *testing.T) {
	number := func(digits string) *big.Rat {
		v, ok := new(big.Rat).SetString(digits)
		if !ok {
			t.Fatal(digits)
		}
		return v
	}
	one := number("1")
	slopes := map[Kernel]*big.Rat{
		Ramp: one,
		Bell: number("0.60653065971263342360379953499118"), // e^(-1/2)
		Blur: number("0.39894228040143267793994605993438"), // 1/sqrt(2 pi)
	}
	above := func(name string, l, width float64, want *big.Rat) {
		t.Helper()
		for below, v := range map[bool]float64{false: l, true: l * (1 - 0x1p-51)} {
			product := new(big.Rat).SetFloat64(v)
			if product.Mul(product, new(big.Rat).SetFloat64(width)); (product.Cmp(want) < 0) != below {
				t.Errorf("%s: constant %v at width %v", name, l, width)
			}
		}
	}
	r := rng.Seeded(12)
	for range 200 {
		w := math.Exp(4 * r.NormFloat64())
		above("indicator", linearMust(Indicator(func(float64) bool { return true }, w)).Lipschitz, w, one)
		for k, slope := range slopes {
			above(k.String(), linearMust(Region(math.Abs, Smoothing{Width: w, Kernel: k})).Lipschitz, w, slope)
		}
	}
}

// The kernels are 1 (or above 1/2) inside, and known outside.
func TestKernel_Values(t *testing.T) {
	for k, want := range map[Kernel][4]float64{ // at s = -1, 0, 1, 2 and width 2
		Ramp: {1, 1, 0.5, 0},
		Bell: {1, 1, math.Exp(-0.125), math.Exp(-0.5)},
		Blur: {0.6914624612740131, 0.5, 0.3085375387259869, 0.15865525393145705},
	} {
		for i, v := range want {
			if got := k.at(float64(i-1), 2); math.Abs(got-v) > 1e-15 {
				t.Errorf("%v at %d: %v, want %v", k, i-1, got, v)
			}
		}
		if !math.IsNaN(k.at(math.NaN(), 2)) {
			t.Errorf("%v takes NaN", k)
		}
	}
}

// An item of another dimension is refused, not compared in part.
func TestQuery_RefusesForeignItems(t *testing.T) {
	for name, q := range linearQueries() {
		if name == "region" { // its distance is the caller's
			continue
		}
		for _, x := range [][]float64{{1}, {1, 2, 3}, nil} {
			if err := q.eval(x, make([]float64, q.Norm.Dim)); err == nil {
				t.Errorf("%s takes %v", name, x)
			}
		}
	}
}

// Constants are rounded up where they are subnormal too, and a rounding may be a
// large part of them.
func TestQuery_SubnormalConstants(t *testing.T) {
	const unit = 5e-324
	for name, c := range map[string]struct {
		q     Query[[]float64]
		least float64 // in units
	}{
		"similarity of 1, 1":    {linearMust(Similarity([]float64{unit, unit})), 2},
		"similarity of 3, 3":    {linearMust(Similarity([]float64{3 * unit, 3 * unit})), 5},
		"map of 1, 1":           {linearMust(LinearMap([][]float64{{unit, unit}}, linearScaled(1, 2, 2))), 2},
		"map of a tiny average": {linearMust(LinearMap([][]float64{{2.5}}, linearScaled(unit, 2, 1))), 3},
	} {
		if got := c.q.Lipschitz / unit; got < c.least || got > c.least+1 {
			t.Errorf("%s: %v units, want %v", name, got, c.least)
		}
	}
}

func TestEuclideanUp_Encloses(t *testing.T) {
	r := rng.Seeded(11)
	for n := range 300 { // above the exact root, by some ulps
		c, sum := make([]float64, 1+n%60), new(big.Rat)
		for i := range c {
			c[i] = math.Ldexp(r.NormFloat64(), r.IntN(8)-4)
			if n%2 == 0 { // squares that are exact
				c[i] = float64(r.IntN(200))
			}
			v := new(big.Rat).SetFloat64(c[i])
			sum.Add(sum, v.Mul(v, v))
		}
		got := euclideanUp(c)
		square := func(f float64) *big.Rat { v := new(big.Rat).SetFloat64(f); return v.Mul(v, v) }
		if square(got).Cmp(sum) < 0 || square(got*(1-1e-14)).Cmp(sum) > 0 {
			t.Errorf("%v: %v", c, got)
		}
	}
	for _, c := range []struct {
		c    []float64
		want float64
	}{
		{[]float64{0, 0}, 0}, {[]float64{3, -4}, 5}, {[]float64{3e300, 4e300}, 5e300}, {[]float64{3e-310, 4e-310}, 5e-310},
		{[]float64{5e-324}, 5e-324}, {[]float64{1, 1e-200}, 1}, {[]float64{1, 1}, math.Sqrt2},
	} {
		if got := euclideanUp(c.c); got < c.want || got > c.want*(1+1e-13)+1e-322 {
			t.Errorf("%v: %v, want %v", c.c, got, c.want)
		}
	}
}

package dense

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/metricdp/metricdp/internal/random"
)

// Every bit is that of gonum's Dgemv, whatever the numbers, and nothing else is written.
func TestAddProduct_IsGonums(t *testing.T) {
	r := random.Seeded(1)
	special := []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), -math.NaN(), math.MaxFloat64, 0x1p-1074, -0x1p-1060, 0x1p-530, 0x1p600}
	fill := func(v []float64, often int) []float64 {
		for i := range v {
			if v[i] = 2*r.Float64() - 1; r.IntN(often) == 0 {
				v[i] = special[r.IntN(len(special))]
			}
		}
		return v
	}
	matrix := func(rows, cols, often int) blas64.General {
		stride, begin := max(1, cols+r.IntN(4)), r.IntN(4)
		return blas64.General{Rows: rows, Cols: cols, Stride: stride, Data: fill(make([]float64, begin+rows*stride+r.IntN(2)), often)[begin:]}
	}
	for _, rows := range []int{0, 1, 2, 3, 4, 5, 7, 8, 11} {
		for _, cols := range []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 31, columns + 3} {
			for _, depth := range []int{0, 1, 2, 3, 8, 31, 32, 33, 65} {
				for often, alpha := range map[int]float64{1: 1, 2: -1, 20: .3, 1000: -1, 1001: 0, 1002: math.Inf(1)} {
					a, trans := matrix(depth, rows, often), blas.Transpose(blas.Trans)
					if r.IntN(2) == 0 {
						a, trans = matrix(rows, depth, often), blas.NoTrans
					}
					b, c := matrix(depth, cols, often), matrix(rows, cols, often)
					want := c
					want.Data = slices.Clone(c.Data)
					AddProduct(trans, alpha, a, b, c)
					addProduct(false, trans, alpha, a, b, want)
					for i, v := range c.Data {
						if math.Float64bits(v) != math.Float64bits(want.Data[i]) {
							t.Fatalf("%d x %d x %d, %c %v: number %d of C is %x, want %x", rows, cols, depth, trans, alpha, i, v, want.Data[i])
						}
					}
				}
			}
		}
	}
}

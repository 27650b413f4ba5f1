package dense

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	blasgonum "gonum.org/v1/gonum/blas/gonum"
)

// AddProduct adds alpha A B, or alpha A'B, to C on the goroutine of the caller. An entry
// takes its products one by one, in the order of the rows of B, and rounds each of them.
func AddProduct(trans blas.Transpose, alpha float64, a, b, c blas64.General) {
	addProduct(fast && alpha != 0, trans, alpha, a, b, c)
}

// addProduct is AddProduct by tiles, or by gonum.
func addProduct(tiled bool, trans blas.Transpose, alpha float64, a, b, c blas64.General) {
	bl := blasgonum.Implementation{}
	row, next := 1, a.Stride // from a row of A' to the next, and along it
	if trans == blas.NoTrans {
		row, next = a.Stride, 1
	}
	var left [depth][4]float64 // alpha A
	for l := 0; l < b.Rows; l += depth {
		d := min(depth, b.Rows-l)
		for j := 0; j < c.Cols; j += columns {
			n := min(columns, c.Cols-j)
			right := b.Data[l*b.Stride+j:][:(d-1)*b.Stride+n]
			if !tiled {
				for i := range c.Rows {
					bl.Dgemv(blas.Trans, d, n, alpha, right, b.Stride, a.Data[i*row+l*next:], next, 1, c.Data[i*c.Stride+j:], 1)
				}
				continue
			}
			for i := 0; i < c.Rows; i += 4 {
				// Where fewer rows are left the last of them is there several times.
				last := min(3, c.Rows-i-1)
				from, to := a.Data[i*row+l*next:], c.Data[i*c.Stride+j:][:last*c.Stride+n]
				if row == 1 && last == 3 {
					for k := range left[:d] {
						x, y := (*[4]float64)(from[k*next:]), &left[k]
						y[0], y[1], y[2], y[3] = alpha*x[0], alpha*x[1], alpha*x[2], alpha*x[3]
					}
				} else {
					for r := range 4 {
						for k := range left[:d] {
							left[k][r] = alpha * from[min(r, last)*row+k*next]
						}
					}
				}
				addTiles(n, d, &left[0], &right[0], b.Stride, &to[0], &to[min(1, last)*c.Stride], &to[min(2, last)*c.Stride], &to[last*c.Stride])
			}
		}
	}
}

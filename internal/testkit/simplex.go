package testkit

import "math"

// Simplex maximizes c'x subject to a x <= b, x >= 0 for b >= 0 by the plain simplex
// method. In the last tableau are the rows of a, slacks beside them and then b, and below
// them the prices and the optimum; basis has the variable of every row, slacks counted
// on. It is nil where there is no optimum, or no end: b is best perturbed against cycling.
func Simplex(c []float64, a [][]float64, b []float64) (tab [][]float64, basis []int) {
	rows, k := len(a), len(c)
	width := k + rows + 1
	tab, basis = make([][]float64, rows+1), make([]int, rows)
	for i := range tab {
		tab[i] = make([]float64, width)
		if i < rows {
			copy(tab[i], a[i])
			tab[i][k+i], tab[i][width-1], basis[i] = 1, b[i], k+i
		}
	}
	for j, v := range c {
		tab[rows][j] = -v
	}
	for range 100_000 {
		in, least := -1, -1e-9
		for j, v := range tab[rows][:width-1] {
			if v < least {
				in, least = j, v
			}
		}
		if in < 0 {
			return tab, basis
		}
		out, ratio := -1, math.Inf(1)
		for i := range rows {
			if v := tab[i][in]; v > 1e-9 {
				if q := tab[i][width-1] / v; q < ratio {
					out, ratio = i, q
				}
			}
		}
		if out < 0 {
			break
		}
		p := 1 / tab[out][in]
		for j := range tab[out] {
			tab[out][j] *= p
		}
		for i := range tab {
			if f := tab[i][in]; i != out && f != 0 {
				for j, v := range tab[out] {
					tab[i][j] -= f * v
				}
			}
		}
		basis[out] = in
	}
	return nil, nil
}

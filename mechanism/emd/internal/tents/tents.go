// Package tents maps points of a box, or of a sphere in it, to their weights of
// multilinear interpolation on a grid: every vertex v carries the tent
//
//	prod over axes j of max(0, 1 - |x_j - v_j|/h_j).
//
// Points are first moved to a lattice, 2^Bits steps a cell, so that the weights
// are integers, in quanta of 2^-(Bits d).
package tents

import (
	"math"

	"github.com/metricdp/metricdp/internal/directed"
)

// Grid is a grid of cells on a box.
type Grid struct {
	Lo, Side []float64 // the box, axis by axis; sides > 0
	Cells    []int     // >= 1
	Bits     int       // Bits*len(Cells) < 62
}

// Rows is the number of vertices.
func (g *Grid) Rows() int {
	k := 1
	for _, c := range g.Cells {
		k *= c + 1
	}
	return k
}

// Quanta is the sum of the weights of a point.
func (g *Grid) Quanta() int64 { return 1 << (g.Bits * len(g.Cells)) }

// Spacing is the side of a cell on axis j.
func (g *Grid) Spacing(j int) float64 { return g.Side[j] / float64(g.Cells[j]) }

// At returns the index on axis j of the lattice point next to x, after x is
// clamped to the box. x is no NaN.
func (g *Grid) At(j int, x float64) int {
	steps := float64(g.Cells[j] << g.Bits)
	return int(max(0, min(math.RoundToEven((x-g.Lo[j])/g.Side[j]*steps), steps)))
}

// Slope returns a Lipschitz constant of the tents, in whole weights per unit of
// the distance |x-y|_p of lattice points, rounded up. p is 1, 2 or +Inf.
//
// Proof. Let x and y be neighbors on the lattice on axis j. On that axis they
// share a cell, and their weights of its two ends differ by one quantum each; on
// every other axis the weights are equal and sum to 2^Bits. So their tents are
// 2*2^(Bits(d-1)) quanta apart in l1, and x and y are h_j/2^Bits apart: the ratio
// is 2/h_j. Any two lattice points are joined by such steps, |x_j-y_j| 2^Bits/h_j
// of them on axis j, so by the triangle inequality
//
//	|Phi(x)-Phi(y)|_1 <= sum over j of (2/h_j) |x_j-y_j|
//	                  <= |(2/h_j)_j|_q |x-y|_p with 1/p + 1/q = 1 (Hoelder):
//
// for equal h, 2/h in l1, 2 sqrt(d)/h in l2 and 2d/h in linf. Neighbors attain it
// in l1, and in the middle of a cell of many steps a short diagonal does nearly.
func (g *Grid) Slope(p float64) float64 {
	l := 0.0
	for j, c := range g.Cells {
		s := directed.DivUp(float64(2*c), g.Side[j])
		switch p {
		case 1:
			l = max(l, s)
		case 2:
			// Scaled, so that squares neither overflow nor vanish.
			s = directed.MulUp(s, g.Side[0])
			l = directed.AddUp(l, directed.MulUp(s, s))
		default:
			l = directed.AddUp(l, s)
		}
	}
	if p == 2 {
		return directed.DivUp(directed.Next(math.Sqrt(l)), g.Side[0])
	}
	return l
}

// tent calls f with the vertices around a lattice point, the last axis fastest,
// and its weights > 0 of them.
func (g *Grid) tent(at []int, f func(vertex int, weight int64)) {
	for corner := range 1 << len(g.Cells) {
		vertex, weight := 0, int64(1)
		for j, c := range g.Cells {
			cell := min(at[j]>>g.Bits, c-1) // the last cell has both its ends
			up := int64(at[j] - cell<<g.Bits)
			vertex = vertex*(c+1) + cell
			if corner>>j&1 == 1 {
				vertex++
				weight *= up
			} else {
				weight *= 1<<g.Bits - up
			}
		}
		if weight > 0 {
			f(vertex, weight)
		}
	}
}

// resolve sets Bits: as many as keep the constant, in quanta, at most 1/quantum
// (so that sums fit, and the noise can be drawn), and ten at most, a lattice of a
// thousandth of a cell.
func (g *Grid) resolve(p, quantum float64) {
	room := math.Log2(1 / (g.Slope(p) * quantum))
	g.Bits = int(max(0, min(10, math.Floor(room/float64(len(g.Cells))))))
}

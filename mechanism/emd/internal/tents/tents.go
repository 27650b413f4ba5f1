// Package tents maps points of a box, or of a sphere in it, to their weights of
// multilinear interpolation on a grid: every vertex v carries the tent
//
//	prod over axes j of max(0, 1 - |t_j - v_j|),
//
// t the place of the point in cells. Weights are real numbers; the mean of those of a
// user's points is rounded to integers at random.
package tents

import (
	"math"
	"math/big"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
)

// Grid is a grid of cells on a box.
type Grid struct {
	Lo    []float64 // the lower corner
	Rate  []float64 // cells for a unit of distance: t_j = (x_j - Lo_j) Rate_j, kept in [0, Cells_j]
	Cells []int     // at least 1 and below 2^30
	Bits  int       // in [0, 60]
}

// Spacing is the side of a cell on axis j.
func (g *Grid) Spacing(j int) float64 { return 1 / g.Rate[j] }

// Slope returns a Lipschitz constant of the tents, in whole weights per unit of the distance |x-y|_p,
// rounded up. p is 1, 2 or +Inf.
//
// Proof. Let x and y differ on axis j only, in one cell. Their weights of its two ends there change by
// at most Rate_j |x_j-y_j| each, and on every other axis they are equal and sum to 1: so their tents
// are at most 2 Rate_j |x_j-y_j| apart in l1. Any two points are joined by such steps, so
//
//	|Phi(x)-Phi(y)|_1 <= sum over j of 2 Rate_j |x_j-y_j|
//	                  <= |(2 Rate_j)_j|_q |x-y|_p with 1/p + 1/q = 1 (Hoelder).
func (g *Grid) Slope(p float64) float64 {
	l := 0.0
	for _, r := range g.Rate {
		switch s := 2 * r; p {
		case 1:
			l = max(l, s)
		case 2:
			// Scaled, so that squares neither overflow nor vanish.
			s = directed.DivUp(s, g.Rate[0])
			l = directed.AddUp(l, directed.MulUp(s, s))
		default:
			l = directed.AddUp(l, s)
		}
	}
	if p == 2 {
		return directed.MulUp(directed.Next(math.Sqrt(l)), g.Rate[0])
	}
	return l
}

// resolve sets Bits: as many as make 2^10 quanta of rounding, what the noise on a user's mean of
// constant 1 is worth beside the rounding of all, or what keeps the constant, in quanta, at most
// 1/quantum (so that sums fit, and the noise can be drawn).
func (g *Grid) resolve(p, quantum, rounding float64) {
	slope := g.Slope(p)
	room := math.Floor(math.Log2(1 / (slope * quantum)))
	g.Bits = int(max(0, min(room, math.Ceil(10-math.Log2(slope*rounding)), 60)))
}

// placeErr bounds what float64 adds to the error of a place within a cell, and to that
// of a weight.
const placeErr = 0x1p-50

// side is the vertices of an axis that a point may have a weight of, from first on.
type side struct {
	first  int
	n      int
	weight [3]float64
}

// side returns the weights on axis j of t = p + e, |e| at most an ulp of p, up to err.
// Where err is 0 that is exact.
func (g *Grid) side(j int, p, e, err float64) (a side) {
	top := float64(g.Cells[j])
	switch {
	case p-top+e > 0:
		p, e = top, 0
	case p+e < 0:
		p, e = 0, 0
	}
	i := int(p)
	if err == 0 && float64(i) == p {
		return side{i, 1, [3]float64{1}}
	}
	err += placeErr
	if f := p - float64(i) + e; f > err && f < 1-err { // within a cell
		return side{i, 2, [3]float64{1 - f, f}}
	}
	for v := max(i-1, 0); v <= min(i+2, g.Cells[j]); v++ {
		if w := 1 - math.Abs(p-float64(v)+e); w > -err {
			if a.n == 0 {
				a.first = v
			}
			a.weight[a.n] = max(w, 0)
			a.n++
		}
	}
	return a
}

// tents is a point's vertices, the last axis fastest, and weights.
type tents struct {
	vertex []int
	weight []float64
}

// set makes t the products of the weights on all axes.
func (t *tents) set(g *Grid, sides []side) {
	t.vertex, t.weight = append(t.vertex[:0], 0), append(t.weight[:0], 1)
	for j := range sides {
		a := &sides[j]
		n, width := len(t.vertex), g.Cells[j]+1
		for v := 1; v < a.n; v++ {
			for i := range n {
				t.vertex = append(t.vertex, t.vertex[i]*width+a.first+v)
				t.weight = append(t.weight, t.weight[i]*a.weight[v])
			}
		}
		for i := range n {
			t.vertex[i] = t.vertex[i]*width + a.first
			t.weight[i] *= a.weight[0]
		}
	}
}

// user is the sum of a user's tents. row is that of a vertex.
type user struct {
	g    *Grid
	row  func(vertex int) int
	t    tents
	sums []exact.Sum
}

// add adds the tents on the sides of a point.
func (u *user) add(sides []side) {
	u.t.set(u.g, sides)
	for i, v := range u.t.vertex {
		// In units of 2^-62, cut off.
		w := uint64(int64(u.t.weight[i] * 0x1p62))
		u.sums[u.row(v)].AddNear(int64(w>>(62-u.g.Bits)), w<<(2+u.g.Bits))
	}
}

// mean sets dst to the mean of n points in quanta, rounded at random, and empties the sum. Places err
// by at most err; enclose returns the sum of the tents of a row. A product of d factors in [0, 1] errs
// by at most the sum of their errors, and placeErr has room for the product's own.
func (u *user) mean(dst []int64, rng *rand.Rand, n int, err float64, enclose func(row int, prec uint) exact.Enclosure) {
	err = math.Ldexp(float64(float64(len(u.g.Cells))*(err+2*placeErr))+0x1p-62, u.g.Bits)
	row := 0
	scaled := func(prec uint) exact.Enclosure {
		e := enclose(row, prec)
		e.Lo.SetMantExp(e.Lo, u.g.Bits)
		e.Hi.SetMantExp(e.Hi, u.g.Bits)
		return e
	}
	for r, s := range u.sums {
		if dst[r] = 0; s != (exact.Sum{}) {
			row = r
			dst[r], _ = s.Mean(rng, int64(n), 0, err, scaled)
			u.sums[r] = exact.Sum{}
		}
	}
}

func down(prec uint) *big.Float { return new(big.Float).SetPrec(prec).SetMode(big.ToNegativeInf) }
func up(prec uint) *big.Float   { return new(big.Float).SetPrec(prec).SetMode(big.ToPositiveInf) }

// enclose adds to sum the tent of a vertex at a place, which t returns axis by axis.
func (g *Grid) enclose(sum *exact.Enclosure, vertex []int, t func(j int) exact.Enclosure, prec uint) {
	low, high := down(prec).SetInt64(1), up(prec).SetInt64(1)
	zero, one := new(big.Float), big.NewFloat(1)
	for j, v := range vertex {
		at, top, place := big.NewFloat(float64(v)), big.NewFloat(float64(g.Cells[j])), t(j)
		var near, far *big.Float // bounds on how far it is from the vertex
		var sign [2]int
		for i, end := range []*big.Float{place.Lo, place.Hi} {
			if end.Sign() < 0 {
				end = zero
			} else if end.Cmp(top) > 0 {
				end = top
			}
			low, high := end, at
			if sign[i] = end.Cmp(at); sign[i] > 0 {
				low, high = at, end
			}
			if d := down(prec).Sub(high, low); near == nil || d.Cmp(near) < 0 {
				near = d
			}
			if d := up(prec).Sub(high, low); far == nil || d.Cmp(far) > 0 {
				far = d
			}
		}
		if sign[0]*sign[1] <= 0 {
			near = zero
		}
		if near.Cmp(one) >= 0 {
			return
		}
		high.Mul(high, up(prec).Sub(one, near))
		if far.Cmp(one) >= 0 {
			low.SetInt64(0)
		} else {
			low.Mul(low, down(prec).Sub(one, far))
		}
	}
	sum.Lo.Add(sum.Lo, low)
	sum.Hi.Add(sum.Hi, high)
}

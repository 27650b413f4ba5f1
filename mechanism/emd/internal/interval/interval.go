// Package interval maps points of an interval to integers such that the mean of many
// says how they are distributed: the part of each of m cells that lies below
// the point.
package interval

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/wasserstein"
)

// Map sends the position x, an integer, to
//
//	Phi_c(x) = min(max(x - Bounds[c], 0), Bounds[c+1] - Bounds[c])
//
// for its cells c. All coordinates grow with x and they sum to x - Bounds[0]: ||Phi(x) - Phi(y)||_1 =
// |x - y|. The mean of Phi_c over many points is the integral over the cell of the share of points
// above. One minus that over the width is the mean G_c of their distribution function F there.
type Map struct {
	Bounds  []int64 // ascending, all different, at least two
	Outputs []int64 // ascending positions between the first and the last bound, at least one
	Quantum float64 // the distance of two neighboring positions
	Exact   bool    // every cell is the gap of two neighboring outputs, which all points lie on
}

// Cells returns the bounds of at most m cells between the positions 0 and
// length, of equal widths to within 1. 1 <= m <= length.
func Cells(length, m int64) []int64 {
	bounds := make([]int64, m+1)
	for c := range bounds {
		// c*length/m without overflow: below m the remainder's product is.
		k := int64(c)
		bounds[c] = length/m*k + length%m*k/m
	}
	return bounds
}

// Merge returns the bounds of cells that join neighboring gaps between
// positions, which ascend, until they are at least that wide.
func Merge(positions []int64, width int64) []int64 {
	bounds := positions[:1:1]
	for i, x := range positions {
		last := bounds[len(bounds)-1]
		if x > last && (x-last >= width || i == len(positions)-1) {
			bounds = append(bounds, x)
		}
	}
	return bounds
}

func (m *Map) width(c int) int64 { return m.Bounds[c+1] - m.Bounds[c] }

func (m *Map) widest() (w int64) {
	for c := range m.Dim() {
		w = max(w, m.width(c))
	}
	return w
}

// Dim is the number of cells.
func (m *Map) Dim() int { return len(m.Bounds) - 1 }

// Work is the length of an accumulator: for every cell what of it lies below
// the points in it, and after that how many points are in it.
func (m *Map) Work() int { return 2 * m.Dim() }

// Largest bounds the coordinates.
func (m *Map) Largest() int64 { return m.widest() }

// Add counts a position between the first and the last bound.
func (m *Map) Add(acc []int64, x, count int64) {
	c, found := slices.BinarySearch(m.Bounds, x)
	if !found || c == m.Dim() {
		c--
	}
	acc[c] += count * (x - m.Bounds[c])
	acc[m.Dim()+c] += count
}

// Finish makes of an accumulator the sum of Phi, in its first Dim numbers.
func (m *Map) Finish(acc []int64) {
	k := m.Dim()
	above := int64(0)
	for c := k - 1; c >= 0; c-- {
		acc[c] += above * m.width(c)
		above += acc[k+c]
	}
}

// AddOutput adds count times Phi of output i, in the form that Finish takes.
func (m *Map) AddOutput(acc []int64, i int, count int64) { m.Add(acc, m.Outputs[i], count) }

// placeErr bounds the error of the part of a quantum, two roundings.
const placeErr = 0x1p-51

// Rounder returns a function, for one goroutine, that sets dst to the mean of Phi over the points x of
// a line from lo to hi, at the positions (x - lo)/Quantum; each coordinate is rounded at random and
// independently to one of the two integers next to it such that its expectation is exact. Points
// outside count at the nearer end. The Quantum must be a power of two, and Bounds[0] 0.
func (m *Map) Rounder(lo, hi float64) func(dst []int64, rng *rand.Rand, items []float64) {
	sums, above := make([]exact.Sum, m.Dim()), make([]int64, m.Dim()+1)
	last := m.Bounds[m.Dim()]
	return func(dst []int64, rng *rand.Rand, items []float64) {
		clear(sums)
		clear(above)
		for _, x := range items {
			// The position is k + rest + more, exactly: the sign of the latter two
			// together is that of their rounded sum.
			d, e := directed.TwoSum(min(max(x, lo), hi), -lo)
			p, more := d/m.Quantum, e/m.Quantum
			k := math.Floor(p)
			rest := p - k
			whole := more == 0 && rest == 0 && p*m.Quantum == d
			switch {
			case rest+more < 0:
				k, rest = k-1, (rest+1)+more
			case (rest-1)+more >= 0:
				k, rest = k+1, (rest-1)+more
			default:
				rest += more
			}
			at := int64(k)
			if at >= last {
				at, rest, whole = last, 0, true
			}
			c, found := slices.BinarySearch(m.Bounds, at)
			if !found || c == m.Dim() {
				c--
			}
			if whole {
				sums[c].Add(at-m.Bounds[c], 0)
			} else {
				sums[c].AddNear(at-m.Bounds[c], uint64(min(rest, 1-0x1p-53)*0x1p64))
			}
			above[c]++
		}
		c := m.Dim() - 1
		enclose := func(prec uint) exact.Enclosure {
			return exact.Enclosure{
				Lo: m.enclose(new(big.Float).SetPrec(prec).SetMode(big.ToNegativeInf), c, lo, hi, items),
				Hi: m.enclose(new(big.Float).SetPrec(prec).SetMode(big.ToPositiveInf), c, lo, hi, items),
			}
		}
		for ; c >= 0; c-- {
			sums[c].Add(above[c+1]*m.width(c), 0)
			above[c] += above[c+1]
			dst[c], _ = sums[c].Mean(rng, int64(len(items)), 0, placeErr, enclose)
		}
	}
}

// enclose sets sum, 0, to the sum of Phi_c in its precision and direction of rounding.
func (m *Map) enclose(sum *big.Float, c int, lo, hi float64, items []float64) *big.Float {
	width, bound := big.NewFloat(float64(m.width(c))), big.NewFloat(float64(m.Bounds[c]))
	for _, x := range items {
		t := new(big.Float).SetPrec(sum.Prec()).SetMode(sum.Mode())
		t.Sub(big.NewFloat(min(max(x, lo), hi)), big.NewFloat(lo))
		t.Sub(t.Quo(t, big.NewFloat(m.Quantum)), bound)
		if t.Cmp(width) > 0 {
			t = width
		}
		if t.Sign() > 0 {
			sum.Add(sum, t)
		}
	}
	return sum
}

// Len is the number of outputs.
func (m *Map) Len() int { return len(m.Outputs) }

// Fit returns the weights of the outputs, for a noisy mean y of Phi: with f the L1 isotonic regression
// of G, what a function with the means f in the cells (f itself if Exact, or else [rise]) gains between
// the middles of two gaps of outputs is the weight of the output between.
func (m *Map) Fit(_ context.Context, y []float64) ([]float64, error) {
	k := m.Dim()
	g, widths := make([]float64, k), make([]float64, k)
	for c := range k {
		widths[c] = float64(m.width(c))
		g[c] = 1 - y[c]/widths[c]
	}
	f, err := wasserstein.IsotonicL1(g, widths, 0, 1)
	if err != nil {
		return nil, err
	}
	p := make([]float64, len(m.Outputs))
	below, c := 0.0, 0
	for j := range p {
		v := 1.0
		if j < len(p)-1 {
			// Positions are below 2^52, twice them exact in float64.
			x := float64(float64(m.Outputs[j]+m.Outputs[j+1]) / 2)
			for c < k-1 && float64(m.Bounds[c+1]) <= x {
				c++
			}
			v = f[c] // no point is within a cell
			if !m.Exact {
				v = rise(f, c, (x-float64(m.Bounds[c]))/widths[c])
			}
			v = min(max(v, below), 1)
		}
		p[j] = v - below
		below = v
	}
	return p, nil
}

// rise is at the part t of cell c an ascending function with means f in all cells. Within the cell it
// is linear and rises by the less of the jumps to the means beside, doubled at the ends, to 0 and to
// 1. Where the means beside have no other jump it is a single step, whose place is known by its mean.
func rise(f []float64, c int, t float64) float64 {
	jump := func(c int) float64 {
		switch c {
		case 0:
			return 2 * f[0]
		case len(f):
			return 2 * (1 - f[c-1])
		}
		return f[c] - f[c-1]
	}
	left, right := jump(c), jump(c+1)
	if c > 0 && c < len(f)-1 && jump(c-1) == 0 && jump(c+2) == 0 && left+right > 0 {
		if t < right/(left+right) {
			return f[c-1]
		}
		return f[c+1]
	}
	return f[c] + float64(min(left, right)*(t-0.5))
}

// W1 is the distance of two lists of weights of the outputs.
func (m *Map) W1(_ context.Context, p, q []float64) (float64, error) {
	sum, diff := 0.0, 0.0
	for j := range len(p) - 1 {
		diff += p[j] - q[j]
		sum += float64(float64(m.Outputs[j+1]-m.Outputs[j]) * math.Abs(diff))
	}
	return sum * m.Quantum, nil
}

// Resolution bounds the distance of what Fit makes of the noiseless mean of any points from these.
//
// In a cell of width w the distribution function F of the points rises from a to b, and the integral
// of |F - G_c| is at most w (b-a)/2. That of |rise - f_c| is at most w/8 times the jumps beside the
// cell, and w/2 times them for a single step, whose jumps no other cell counts. All jumps, and all
// rises, sum to at most 1: the widest cell in all. Then every mass moves by half a gap at most.
func (m *Map) Resolution() float64 {
	if m.Exact {
		return 0
	}
	gap := max(m.Outputs[0]-m.Bounds[0], m.Bounds[m.Dim()]-m.Outputs[len(m.Outputs)-1])
	for j := range len(m.Outputs) - 1 {
		gap = max(gap, m.Outputs[j+1]-m.Outputs[j])
	}
	return (float64(m.widest()) + float64(gap+1)/2) * m.Quantum
}

// Bound bounds the expected error of the weights where the noise of every coordinate of y has the given
// expected size: the regression is at most as far from the noisy means as the truth, and so twice the
// noise from it (the width of a cell times the error of G there is the noise).
func (m *Map) Bound(size, _ float64) float64 {
	return float64(float64(2*float64(m.Dim())*size)*m.Quantum) + m.Resolution()
}

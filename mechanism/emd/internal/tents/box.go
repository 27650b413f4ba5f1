package tents

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism/emd/internal/leastsquares"
	"github.com/metricdp/metricdp/mechanism/emd/internal/transport"
)

// Box is the map of a box by tents, and the estimate of a distribution on a finer
// grid.
type Box struct {
	leastsquares.Bounded
	grid   Grid  // on the axes that are resolved
	axes   []int // these, ascending
	lo, hi []float64
	side   []float64 // rounded down
	norm   float64   // 1, 2 or +Inf
	fine   int       // points of the estimate a cell and axis
}

// NewBox returns the tents for a box under the norm p: 1, 2 or +Inf. noise is the expected size of the
// noise on a mean where the map's constant is 1; quantum and rounding are for [Grid.resolve]. spacing,
// where positive, is the side of a cell.
func NewBox(op string, lo, hi []float64, p, noise, quantum, rounding, spacing float64) (*Box, error) {
	b := &Box{lo: lo, hi: hi, norm: p}
	for j, l := range lo {
		b.side = append(b.side, directed.SubDown(hi[j], l))
		b.axes = append(b.axes, j)
	}
	slices.SortStableFunc(b.axes, func(i, j int) int { return cmp.Compare(b.side[j], b.side[i]) })
	var h float64
	for {
		if h = spacing; h == 0 {
			h = b.spacing(noise)
		}
		last := len(b.axes) - 1
		if last == 0 || b.side[b.axes[last]] >= h/2 {
			break
		}
		b.axes = b.axes[:last]
	}
	slices.Sort(b.axes)
	vertices := 1.0
	for _, j := range b.axes {
		c := max(1, math.Round(b.side[j]/h))
		vertices *= c + 1
		c = min(c, 1<<30-1)
		b.grid.Lo, b.grid.Rate = append(b.grid.Lo, lo[j]), append(b.grid.Rate, c/b.side[j])
		b.grid.Cells = append(b.grid.Cells, int(c))
	}
	// 9 points a cell and axis err 3 % less than 5, where there are few.
	for b.fine = 9; b.fine > 3; b.fine-- {
		outputs := 1.0
		for _, c := range b.grid.Cells {
			outputs *= float64(float64(c)*float64(b.fine)) + 1
		}
		if outputs <= 2500 {
			break
		}
	}
	if err := fault.Memory(op, vertices*math.Pow(float64(b.fine), float64(len(b.axes))), 100); err != nil {
		return nil, err
	}
	b.grid.resolve(p, quantum, rounding)
	b.Whole = 1 << b.grid.Bits
	b.Deviation = math.Sqrt2 * b.grid.Slope(p) * noise
	items, outputs := b.blur()
	b.Blur = items + outputs
	b.prepare()
	return b, nil
}

// spacing is the side of a cell that errs the least, as measured: side/h = .4 A^(1/3) in the plane and
// .45 A^(1/4) in space for the l2 norm, A = side/noise. A cell blurs by h, and the noise of its
// vertices is prop. to the slope 2 sqrt(d)/h: in another norm A is scaled as that is. Of unequal sides
// the volume counts: h^(d+1) = noise * volume / c^(d+1). (An axis shorter than h/2 is not resolved:
// its tents would raise the slope of all.)
func (b *Box) spacing(noise float64) float64 {
	d := float64(len(b.axes))
	c := 0.4
	if d > 2 {
		c = 0.45
	}
	switch b.norm {
	case 1:
		noise /= math.Sqrt(d)
	case 2:
	default:
		noise *= math.Sqrt(d)
	}
	logs := math.Log(noise)
	for _, j := range b.axes {
		logs += math.Log(b.side[j])
	}
	return math.Exp(logs/(d+1)) / c
}

// size is the norm of v.
func (b *Box) size(v []float64) float64 { return floats.Norm(v, b.norm) }

// prepare joins each vertex to one of a grid of twice the spacing or more: with
// the indices i, and 2^k the largest power that divides all of them, the indices
// of which 2^(k+1) is no divisor go down by 2^k.
func (b *Box) prepare() {
	d := len(b.axes)
	k := 1
	for _, c := range b.grid.Cells {
		k *= c + 1
	}
	f := &b.Bounded
	f.Parent, f.Length, f.Output = make([]int, k), make([]float64, k), make([]int, k)
	at, step := make([]int, d), make([]float64, len(b.lo))
	for r := range k {
		rest := r
		all := 0
		for j := d - 1; j >= 0; j-- {
			at[j] = rest % (b.grid.Cells[j] + 1)
			rest /= b.grid.Cells[j] + 1
			all |= at[j]
		}
		bit := all & -all
		for j, c := range b.grid.Cells {
			i := at[j]
			f.Output[r] = f.Output[r]*(c*b.fine+1) + i*b.fine
			step[b.axes[j]] = 0
			if bit > 0 && i&bit != 0 {
				i -= bit
				step[b.axes[j]] = float64(bit) * b.grid.Spacing(j)
			}
			f.Parent[r] = f.Parent[r]*(c+1) + i
		}
		f.Length[r] = b.size(step)
	}
	f.Parent[0] = -1
}

// Slope is the map's constant, in quanta.
func (b *Box) Slope() float64 {
	return directed.MulUp(b.grid.Slope(b.norm), float64(b.Whole))
}

// check says why x is no item.
func (b *Box) check(x []float64) error {
	if len(x) != len(b.lo) {
		return &fault.SizeError{Op: "distribution: Box", Arg: "item", Got: len(x), Want: fmt.Sprint(len(b.lo))}
	}
	for j, v := range x {
		if math.IsNaN(v) {
			return &fault.ValueError{Op: "distribution: Box", Arg: "item", Index: j, Value: v, Want: "a number"}
		}
	}
	return nil
}

// inside is coordinate j of the point of the box nearest to x.
func (b *Box) inside(x []float64, j int) float64 { return min(max(x[j], b.lo[j]), b.hi[j]) }

// sides sets s to the weights of a point on the axes that are resolved.
func (b *Box) sides(s []side, x []float64) {
	for j, axis := range b.axes {
		// (x - Lo) Rate = p + e, but for what is lost below 2^-60.
		d, e1 := directed.TwoSum(b.inside(x, axis), -b.grid.Lo[j])
		p, e2 := directed.TwoProd(d, b.grid.Rate[j])
		err := 0x1p-60
		if e1 == 0 && e2 == 0 && (p != 0 || d == 0) {
			err = 0
		}
		s[j] = b.grid.side(j, p, e2+float64(e1*b.grid.Rate[j]), err)
	}
}

// Rounder returns a function that sets dst to the mean of the tents of points, in
// quanta, each coordinate rounded at random and independently to one of the two
// integers next to it such that its expectation is exact. It is for one goroutine.
// Points outside count at the nearest of the box; an error names the item.
func (b *Box) Rounder() func(dst []int64, rng *rand.Rand, items [][]float64) error {
	u := user{g: &b.grid, row: func(v int) int { return v }, sums: make([]exact.Sum, b.Dim())}
	s := make([]side, len(b.axes))
	return func(dst []int64, rng *rand.Rand, items [][]float64) error {
		for i, x := range items {
			if err := b.check(x); err != nil {
				return fmt.Errorf("item %d: %w", i, fault.Private(err))
			}
		}
		for _, x := range items {
			b.sides(s, x)
			u.add(s)
		}
		u.mean(dst, rng, len(items), 0x1p-60, func(row int, prec uint) exact.Enclosure {
			vertex := make([]int, len(b.axes))
			for j := len(vertex) - 1; j >= 0; j-- {
				vertex[j] = row % (b.grid.Cells[j] + 1)
				row /= b.grid.Cells[j] + 1
			}
			sum := exact.Enclosure{Lo: down(prec), Hi: up(prec)}
			for _, x := range items {
				b.grid.enclose(&sum, vertex, func(j int) exact.Enclosure {
					at := func(f *big.Float) *big.Float {
						f.Sub(big.NewFloat(b.inside(x, b.axes[j])), big.NewFloat(b.grid.Lo[j]))
						return f.Mul(f, big.NewFloat(b.grid.Rate[j]))
					}
					return exact.Enclosure{Lo: at(down(prec)), Hi: at(up(prec))}
				}, prec)
			}
			return sum
		})
		return nil
	}
}

// Add adds count times the tents of output i, to integers.
func (b *Box) Add(acc []int64, i int, count int64) {
	s := make([]side, len(b.axes))
	b.sides(s, b.Point(i))
	var t tents
	t.set(&b.grid, s)
	for k, v := range t.vertex {
		acc[v] += count * int64(math.RoundToEven(math.Ldexp(t.weight[k], b.grid.Bits)))
	}
}

// Point is output i.
func (b *Box) Point(i int) []float64 {
	x := make([]float64, len(b.lo))
	for j, l := range b.lo {
		x[j] = l + b.side[j]/2
	}
	for j := len(b.axes) - 1; j >= 0; j-- {
		n := b.grid.Cells[j]*b.fine + 1
		x[b.axes[j]] = b.grid.Lo[j] + float64(b.side[b.axes[j]]*(float64(i%n)/float64(n-1)))
		i /= n
	}
	return x
}

// Len is the number of outputs.
func (b *Box) Len() int {
	_, n := (&interpolation{cells: b.grid.Cells, fine: b.fine}).Dims()
	return n
}

// Fit returns the weights of the outputs for a noisy mean y, in quanta.
func (b *Box) Fit(ctx context.Context, y []float64) ([]float64, error) {
	return b.Bounded.Fit(ctx, newInterpolation(b.grid.Cells, b.fine), y)
}

// W1 is the distance of two lists of weights, or a bound that moves them to
// vertices first where they are long.
func (b *Box) W1(ctx context.Context, p, q []float64) (float64, error) {
	points, near := make([][]float64, len(p)), make([]int, len(p))
	for i := range p {
		points[i] = b.Point(i)
		rest, unit := i, 1
		for j := len(b.axes) - 1; j >= 0; j-- {
			n := b.grid.Cells[j]*b.fine + 1
			near[i] += (rest%n + b.fine/2) / b.fine * b.fine * unit
			rest, unit = rest/n, unit*n
		}
	}
	diff := make([]float64, len(b.lo))
	return transport.W1(ctx, func(i, j int) float64 {
		for k, x := range points[i] {
			diff[k] = x - points[j][k]
		}
		return b.size(diff)
	}, p, q, near)
}

// blur bounds the mean distance of an item from its anchors, and of an output. On a resolved axis, a
// point at the fraction f of a cell is at mean square distance f(1-f) h^2 <= h^2/4 and at mean
// distance 2f(1-f) h <= h/2 from the two ends: in l1 and l2 the mean distance is at most the norm of
// (h_j/2)_j, and linf is at most l2. On other axes items are first moved to the middle.
func (b *Box) blur() (items, outputs float64) {
	cells, moved := make([]float64, len(b.lo)), make([]float64, len(b.lo))
	for j, s := range b.side {
		moved[j] = s / 2
	}
	sum := 0.0
	for j, axis := range b.axes {
		h := b.grid.Spacing(j)
		cells[axis] = h / 2
		sum += float64(h * h / 4)
		moved[axis] = 0
	}
	outputs = b.size(cells)
	if math.IsInf(b.norm, 1) {
		outputs = min(math.Sqrt(sum), 2*outputs)
	}
	return outputs + b.size(moved), outputs
}

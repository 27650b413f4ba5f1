package tents

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// apart is |Phi(x)-Phi(y)|_1.
func apart(a, b []int64) (sum int64) {
	for i, v := range a {
		sum += max(v-b[i], b[i]-v)
	}
	return sum
}

// TestSlope_HoldsAndIsAttained on lattice points: neighbors on an axis, in a cell's
// diagonal, and any two.
func TestSlope_HoldsAndIsAttained(t *testing.T) {
	inf := math.Inf(1)
	for _, cells := range [][]int{{1}, {4}, {3, 2}, {1, 5, 2}} {
		for _, norm := range []float64{1, 2, inf} {
			d := len(cells)
			g := &Grid{Cells: cells, Bits: 6}
			for j := range d {
				g.Lo, g.Side = append(g.Lo, -1), append(g.Side, float64(cells[j])*1.7) // equal spacing, so that all is attained
			}
			slope := g.Slope(norm)
			b := &Box{norm: norm}
			rng := random.Seeded(uint64(d))
			steepest := 0.0
			for range 3000 {
				x, y := make([]int, d), make([]int, d)
				far, some := rng.IntN(3), rng.IntN(d)
				diff := make([]float64, d)
				for j, c := range cells {
					x[j] = rng.IntN(c<<g.Bits + 1)
					switch y[j] = x[j]; {
					case far == 0: // any two
						y[j] = rng.IntN(c<<g.Bits + 1)
					case far == 1 || j == some: // neighbors, also over the side of a cell
						if rng.IntN(3) == 0 {
							x[j] = rng.IntN(c) << g.Bits
						}
						y[j] = min(x[j]+1, c<<g.Bits)
					}
					diff[j] = float64(y[j]-x[j]) * g.Spacing(j) / 64
				}
				u, v := make([]int64, g.Rows()), make([]int64, g.Rows())
				g.tent(x, func(r int, w int64) { u[r] += w })
				g.tent(y, func(r int, w int64) { v[r] += w })
				if dist := b.size(diff); dist > 0 {
					ratio := float64(apart(u, v)) / float64(g.Quanta()) / dist
					if ratio > slope*(1+1e-12) {
						t.Fatalf("%v, norm %v: points %v and %v are %v apart for each unit, above %v", cells, norm, x, y, ratio, slope)
					}
					steepest = max(steepest, ratio)
				}
			}
			if steepest < 0.9*slope {
				t.Errorf("%v, norm %v: the constant %v, but no pair is above %v", cells, norm, slope, steepest)
			}
		}
	}
}

// TestInterpolation_IsTheTents compares the product of matrices with the weights
// of every output, both ways.
func TestInterpolation_IsTheTents(t *testing.T) {
	b := testkit.Must(NewBox("test", []float64{0, 0, 0}, []float64{3, 2, 1}, 2, 1e-9, 1e-12, 1))
	b.fine = 4 // a power of two: outputs are lattice points
	m := newInterpolation(b.grid.Cells, b.fine)
	rows, cols := m.Dims()
	rng := random.Seeded(1)
	p, r := make([]float64, cols), make([]float64, rows)
	for i := range p {
		p[i] = rng.Float64()
	}
	for i := range r {
		r[i] = rng.Float64()
	}
	image, want := make([]float64, rows), make([]float64, rows)
	back := make([]float64, cols)
	m.Apply(image, p)
	m.Adjoint(back, r)
	for i, w := range p {
		acc := make([]int64, rows)
		testkit.Check(t, b.Add(acc, b.Point(i), 1))
		sum := 0.0
		for v, q := range acc {
			share := float64(q) / float64(b.Largest())
			want[v] += share * w
			sum += share * r[v]
		}
		if math.Abs(sum-back[i]) > 1e-12 {
			t.Fatalf("output %d: %v, want %v", i, back[i], sum)
		}
	}
	for v := range want {
		if math.Abs(want[v]-image[v]) > 1e-10 {
			t.Fatalf("vertex %d: %v, want %v", v, image[v], want[v])
		}
	}
}

// TestBox_TreeIsLonger: the tree of the proof of the bound joins vertices at their
// distance, and its outputs lie on them.
func TestBox_TreeIsLonger(t *testing.T) {
	for _, norm := range []float64{1, 2, math.Inf(1)} {
		b := testkit.Must(NewBox("test", []float64{0, 0, 5}, []float64{5, 1e-3, 9}, norm, 1e-5, 1e-12, 0))
		if len(b.axes) != 2 {
			t.Fatalf("axes %v are resolved", b.axes)
		}
		f := b.bounded
		for r, p := range f.Parent {
			x := b.Point(f.Output[r])
			acc := make([]int64, b.Dim())
			testkit.Check(t, b.Add(acc, x, 1))
			if acc[r] != b.Largest() {
				t.Fatalf("output %v is not vertex %d", x, r)
			}
			if p < 0 {
				continue
			}
			y := b.Point(f.Output[p])
			for j := range y {
				y[j] -= x[j]
			}
			if d := b.size(y); p >= r || math.Abs(d-f.Length[r]) > 1e-12 {
				t.Fatalf("vertex %d: parent %d at %v, want %v", r, p, f.Length[r], d)
			}
		}
	}
}

// TestSphere_TentsAndTree: tents of any point on the sphere are whole and as steep
// as stated, chords for distances, and the tree joins vertices at theirs.
func TestSphere_TentsAndTree(t *testing.T) {
	s := testkit.Must(NewSphere(t.Context(), "test", 2, 1e-4, 1e-9, 0))
	rng := random.Seeded(1)
	point := func() (x [3]float64) {
		for j := range x {
			x[j] = rng.NormFloat64()
		}
		if rng.IntN(4) == 0 {
			x[rng.IntN(3)] = 0
		}
		l := chord(x, [3]float64{})
		for j := range x {
			x[j] *= 2 / l
		}
		return x
	}
	tent := func(x [3]float64) ([]int64, [3]float64) {
		acc := make([]int64, s.Dim())
		s.Add(acc, x, 1)
		sum := int64(0)
		for _, w := range acc {
			sum += w
		}
		if sum != s.Largest() {
			t.Fatalf("point %v has the weight %d, want %d", x, sum, s.Largest())
		}
		for j, v := range x { // where it was moved to
			x[j] = float64(s.grid.At(j, v))*s.grid.Spacing(j)/math.Ldexp(1, s.grid.Bits) - 2
		}
		return acc, x
	}
	for range 200 {
		x := point()
		y := point()
		if rng.IntN(2) == 0 {
			for j := range y {
				y[j] = x[j] + 1e-3*rng.NormFloat64()
			}
		}
		u, x := tent(x)
		v, y := tent(y)
		if d := chord(x, y); float64(apart(u, v)) > s.Slope()*d*(1+1e-12) {
			t.Fatalf("points %v and %v: %d apart, above %v", x, y, apart(u, v), s.Slope()*d)
		}
	}
	for row, output := range s.bounded.Output {
		if p := s.bounded.Parent[row]; p >= row || (p < 0) != (row == 0) || s.bounded.Length[row] < 0 || output >= s.Len() {
			t.Fatalf("vertex %d has the parent %d at %v", row, p, s.bounded.Length[row])
		}
	}
}

// TestBits_FitTheQuantum: sums fit and the noise can be drawn.
func TestBits_FitTheQuantum(t *testing.T) {
	for k := range 40 {
		quantum := math.Ldexp(1, -k-12)
		b := testkit.Must(NewBox("test", []float64{0, 0}, []float64{1, 1}, 2, quantum*1024, quantum, 0.1))
		if b.Slope()*quantum > 1 || b.Slope()*quantum < 0.2 && b.grid.Bits < 10 {
			t.Fatalf("quantum %v: %d bits, constant %v", quantum, b.grid.Bits, b.Slope())
		}
	}
}

// TestBox_BlurHolds: items are as near to their anchors as stated, on the mean, and
// outputs, and some nearly as far: in the middle of cells, and at the ends of an
// axis that is not resolved.
func TestBox_BlurHolds(t *testing.T) {
	rng := random.Seeded(1)
	for _, norm := range []float64{1, 2, math.Inf(1)} {
		for _, quantum := range []float64{1e-12, 0.02} { // ten bits, and none
			hi := []float64{4, 0.4, 3}
			b := testkit.Must(NewBox("test", []float64{0, 0, 0}, hi, norm, 1e-5, quantum, 1))
			if fine := b.grid.Bits == 10; len(b.axes) != 2 || fine == (quantum > 0.01) {
				t.Fatalf("axes %v, %d bits", b.axes, b.grid.Bits)
			}
			far := func(x []float64) (sum float64) {
				acc, diff := make([]int64, b.Dim()), make([]float64, 3)
				testkit.Check(t, b.Add(acc, x, 1))
				for r, w := range acc {
					for j, v := range b.Point(b.bounded.Output[r]) {
						diff[j] = x[j] - v
					}
					sum += float64(float64(w) / float64(b.Largest()) * b.size(diff))
				}
				return sum
			}
			items, outputs := b.blur()
			most := 0.0
			for i := range 2000 {
				x := []float64{4 * rng.Float64(), 0.4 * float64(rng.IntN(2)), 3 * rng.Float64()}
				if i == 0 {
					x = []float64{0.5, 0, 0.5}
				}
				most = max(most, far(x))
			}
			if most > items*(1+1e-12) || most < 0.6*items {
				t.Errorf("norm %v, %d bits: an item is at %v from its anchors, bound %v", norm, b.grid.Bits, most, items)
			}
			if b.grid.Bits == 0 {
				continue // here Add rounds, and the matrix of the fit does not
			}
			most = 0
			for i := range b.Len() {
				most = max(most, far(b.Point(i)))
			}
			if most > outputs*1.01 || most < 0.6*outputs {
				t.Errorf("norm %v: an output is at %v from its anchors, bound %v", norm, most, outputs)
			}
			if r := b.Resolution(); r < items+outputs || r > items+outputs+b.bounded.Noise(b.deviation) {
				t.Errorf("resolution %v of %v and %v", r, items, outputs)
			}
		}
	}
}

// TestSphere_BlurHolds for points of the sphere and outputs, and no vertex is
// farther from its output.
func TestSphere_BlurHolds(t *testing.T) {
	rng := random.Seeded(1)
	for _, quantum := range []float64{1e-12, 0.1} { // ten bits, and none
		s := testkit.Must(NewSphere(t.Context(), "test", 2, 1e-3, quantum, 0))
		if fine := s.grid.Bits == 10; fine == (quantum > 0.01) {
			t.Fatalf("%d bits", s.grid.Bits)
		}
		vertex := make([][3]float64, s.Dim())
		for v, r := range s.row {
			c := s.grid.Cells[2] + 1
			for j, i := range []int{v / c / c, v / c % c, v % c} {
				vertex[r][j] = float64(i)*s.grid.Spacing(j) - 2
			}
		}
		far := func(x [3]float64) (sum float64) {
			s.tent(x, func(r int, w int64) { sum += float64(float64(w) / float64(s.Largest()) * chord(x, vertex[r])) })
			return sum
		}
		most := 0.0
		for i := range s.Len() {
			most = max(most, far(s.Point(i)))
		}
		for range 2000 {
			x := [3]float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
			l := chord(x, [3]float64{})
			for j := range x {
				x[j] *= 2 / l
			}
			most = max(most, far(x))
		}
		for r, x := range vertex {
			if d := chord(x, s.Point(s.bounded.Output[r])); d > s.blurred {
				t.Errorf("vertex %v is at %v from its output, bound %v", x, d, s.blurred)
			}
		}
		// The bound is that of vertices, a cell's diagonal off the sphere.
		if bound := s.blurred + s.snap(); most > bound || most < 0.6*s.grid.Spacing(0)*math.Sqrt(3)/2 {
			t.Errorf("%d bits: a point is at %v from its anchors, bound %v", s.grid.Bits, most, bound)
		}
		// Over arcs, which antipodes have pi/2 of their chord.
		if r := s.Resolution(); r < math.Pi*most {
			t.Errorf("resolution %v, for points at %v", r, most)
		}
	}
}

package tents

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// apart is |Phi(x)-Phi(y)|_1.
func apart(a, b []float64) (sum float64) {
	for i, v := range a {
		sum += math.Abs(v - b[i])
	}
	return sum
}

// weights are the tents of a point, in float64.
func (b *Box) weights(x []float64) []float64 {
	s, w := make([]side, len(b.axes)), make([]float64, b.Dim())
	b.sides(s, x)
	var t tents
	t.set(&b.grid, s)
	for i, v := range t.vertex {
		w[v] += t.weight[i]
	}
	return w
}

// TestSlope_HoldsAndIsAttained: neighbors on an axis, in a cell's diagonal, and any two.
func TestSlope_HoldsAndIsAttained(t *testing.T) {
	inf := math.Inf(1)
	for _, cells := range [][]float64{{1}, {4}, {3, 2}, {1, 5, 2}} {
		for _, norm := range []float64{1, 2, inf} {
			d := len(cells)
			lo, hi := make([]float64, d), make([]float64, d)
			for j, c := range cells {
				lo[j], hi[j] = -1, -1+c*1.7 // equal spacing, so that all is attained
			}
			b := testkit.Must(NewBox("test", lo, hi, norm, 1, 1e-9, 1, 1.7))
			slope := b.grid.Slope(norm)
			rng := random.Seeded(uint64(d))
			steepest := 0.0
			for range 3000 {
				x, y, diff := make([]float64, d), make([]float64, d), make([]float64, d)
				far, some := rng.IntN(3), rng.IntN(d)
				for j, c := range cells {
					x[j] = lo[j] + 1.7*c*rng.Float64()
					switch y[j] = x[j]; {
					case far == 0: // any two
						y[j] = lo[j] + 1.7*c*rng.Float64()
					case far == 1 || j == some: // neighbors, also over the side of a cell
						if rng.IntN(3) == 0 {
							x[j] = lo[j] + 1.7*float64(rng.IntN(int(c)))
						}
						y[j] = min(x[j]+1.7/64, hi[j])
					}
					diff[j] = y[j] - x[j]
				}
				if dist := b.size(diff); dist > 0 {
					ratio := apart(b.weights(x), b.weights(y)) / dist
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

// exactWeights are the sums of the tents of items, in quanta and exactly: by the definition.
func (b *Box) exactWeights(items [][]float64) []*big.Rat {
	sums := make([]*big.Rat, b.Dim())
	one := big.NewRat(1, 1)
	for v := range sums {
		sums[v] = new(big.Rat)
		for _, x := range items {
			w, rest := big.NewRat(1, 1), v
			for j := len(b.axes) - 1; j >= 0; j-- {
				n := b.grid.Cells[j]
				at := new(big.Rat).SetFloat64(min(max(x[b.axes[j]], b.lo[b.axes[j]]), b.hi[b.axes[j]]))
				at.Sub(at, new(big.Rat).SetFloat64(b.grid.Lo[j])).Mul(at, new(big.Rat).SetFloat64(b.grid.Rate[j]))
				if top := big.NewRat(int64(n), 1); at.Cmp(top) > 0 {
					at = top
				}
				at.Sub(at, big.NewRat(int64(rest%(n+1)), 1))
				if at.Sub(one, at.Abs(at)).Sign() < 0 {
					at = new(big.Rat)
				}
				w.Mul(w, at)
				rest /= n + 1
			}
			sums[v].Add(sums[v], w)
		}
		sums[v].Mul(sums[v], big.NewRat(b.Largest(), int64(len(items))))
	}
	return sums
}

// same checks that round returns floor(want + U) for all U, to 2^-55, by the word at
// which it changes.
func same(t *testing.T, what any, want *big.Rat, round func(rng *rand.Rand) int64) {
	t.Helper()
	whole, part := testkit.Dithered(round)
	got := new(big.Rat).SetFrac(new(big.Int).SetUint64(part), new(big.Int).Lsh(big.NewInt(1), 56))
	got.Add(got, big.NewRat(whole, 1))
	if off, _ := got.Sub(got, want).Float64(); math.Abs(off) > 0x1p-55 {
		t.Fatalf("%v: %d + %d/2^56, off by %v", what, whole, part, off)
	}
}

// TestBox_MeansAreExact: every coordinate of a user's mean, as it was given, is rounded
// up with just the probability that it says. With points on vertices, next to them by an
// ulp or by far less, outside, and tiny; the fast path is wrong for none.
func TestBox_MeansAreExact(t *testing.T) {
	for seed := range uint64(testkit.Sweep(12, 200)) {
		rng := random.Seeded(seed)
		d := 1 + rng.IntN(3)
		lo, hi := make([]float64, d), make([]float64, d)
		for j := range lo {
			lo[j] = []float64{0, -1, 0.1, -1e9}[rng.IntN(4)]
			hi[j] = lo[j] + []float64{1, 1 / 3.0, 0.7}[rng.IntN(3)]
		}
		b := testkit.Must(NewBox("test", lo, hi, 2, 1e-3, 0x1p-30, 0x1p-30, 0.3))
		items := make([][]float64, 1+rng.IntN(3))
		for i := range items {
			for j, l := range lo {
				x := l + rng.Float64()*(hi[j]-l)
				switch rng.IntN(4) {
				case 0:
					x = l + float64(rng.IntN(4))*0.3*(1+float64(rng.IntN(3)-1)*0x1p-52)
				case 1:
					x = []float64{5e-324, 1e-30, -1e-17, 7, math.Inf(-1)}[rng.IntN(5)]
				}
				items[i] = append(items[i], x)
			}
		}
		round := b.Rounder()
		for row, want := range b.exactWeights(items) {
			if want.Sign() == 0 && row%7 > 0 { // a part of the others will do
				continue
			}
			same(t, fmt.Sprint("seed ", seed, " of ", items), want, func(rng *rand.Rand) int64 {
				dst := make([]int64, b.Dim())
				testkit.Check(t, round(dst, rng, items))
				return dst[row]
			})
		}
	}
}

// TestInterpolation_IsTheTents compares the product of matrices with the weights
// of every output, both ways.
func TestInterpolation_IsTheTents(t *testing.T) {
	b := testkit.Must(NewBox("test", []float64{0, 0, 0}, []float64{3, 2, 1}, 2, 1e-9, 1e-12, 1e-12, 1))
	b.fine = 4
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
		sum := 0.0
		for v, share := range b.weights(b.Point(i)) {
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
		b := testkit.Must(NewBox("test", []float64{0, 0, 5}, []float64{5, 1e-3, 9}, norm, 1e-5, 1e-12, 1e-12, 0))
		if len(b.axes) != 2 {
			t.Fatalf("axes %v are resolved", b.axes)
		}
		f := b.Bounded
		for r, p := range f.Parent {
			x := b.Point(f.Output[r])
			if w := b.weights(x); w[r] < 1-1e-12 {
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

// onSphere is x moved to the sphere of radius 2.
func onSphere(x [3]float64) [3]float64 {
	l := chord(x, [3]float64{})
	for j := range x {
		x[j] *= 2 / l
	}
	return x
}

func normal(rng *rand.Rand) [3]float64 {
	return [3]float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
}

// TestSphere_TentsAndTree: tents of any point on the sphere are whole and as steep as stated, chords for
// distances, and the tree joins vertices before others.
func TestSphere_TentsAndTree(t *testing.T) {
	s := testkit.Must(NewSphere(t.Context(), "test", 2, 1e-4, 1e-9, 1e-9, 0))
	rng := random.Seeded(1)
	tent := func(x [3]float64) []float64 {
		w, sum := make([]float64, s.Dim()), 0.0
		s.tent(x, func(row int, v float64) {
			w[row] += v
			sum += v
		})
		if math.Abs(sum-1) > 1e-12 {
			t.Fatalf("point %v has the weight %v", x, sum)
		}
		return w
	}
	for k := range 200 {
		x, y := normal(rng), normal(rng)
		if k%4 == 0 {
			x[rng.IntN(3)] = 0
		}
		x = onSphere(x)
		if k%2 == 0 { // near by
			for j := range y {
				y[j] = x[j] + 1e-3*y[j]
			}
		}
		y = onSphere(y)
		u, v := tent(x), tent(y)
		if d := chord(x, y); apart(u, v) > s.grid.Slope(2)*d*(1+1e-12) {
			t.Fatalf("points %v and %v: %v apart, above %v", x, y, apart(u, v), s.grid.Slope(2)*d)
		}
	}
	for row, output := range s.Output {
		if p := s.Parent[row]; p >= row || (p < 0) != (row == 0) || s.Length[row] < 0 || output >= s.Len() {
			t.Fatalf("vertex %d has the parent %d at %v", row, p, s.Length[row])
		}
	}
}

// TestBits_FitTheQuantum: sums fit, and the noise can be drawn and is much larger than
// what is rounded, or as much as the quantum allows.
func TestBits_FitTheQuantum(t *testing.T) {
	for k := range 40 {
		for _, rounding := range []float64{1e-9, 1, 1e9} {
			quantum := math.Ldexp(1, -k-12)
			b := testkit.Must(NewBox("test", []float64{0, 0}, []float64{1, 1}, 2, quantum*1024, quantum, rounding, 0.1))
			if s := b.Slope(); s*quantum > 1 || s*quantum < 0.25 && s*rounding < 1000 || b.grid.Bits < 0 {
				t.Fatalf("quantum %v: %d bits, constant %v", quantum, b.grid.Bits, s)
			}
		}
	}
}

// TestBox_BlurHolds: items are as near to their anchors as stated, on the mean, and
// outputs, and some nearly as far: in the middle of cells, and at the ends of an
// axis that is not resolved.
func TestBox_BlurHolds(t *testing.T) {
	rng := random.Seeded(1)
	for _, norm := range []float64{1, 2, math.Inf(1)} {
		b := testkit.Must(NewBox("test", []float64{0, 0, 0}, []float64{4, 0.4, 3}, norm, 1e-5, 1e-12, 1e-12, 1))
		if len(b.axes) != 2 {
			t.Fatalf("axes %v", b.axes)
		}
		far := func(x []float64) (sum float64) {
			diff := make([]float64, 3)
			for r, w := range b.weights(x) {
				for j, v := range b.Point(b.Output[r]) {
					diff[j] = x[j] - v
				}
				sum += float64(w * b.size(diff))
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
			t.Errorf("norm %v: an item is at %v from its anchors, bound %v", norm, most, items)
		}
		most = 0
		for i := range b.Len() {
			most = max(most, far(b.Point(i)))
		}
		if most > outputs*1.01 || most < 0.6*outputs {
			t.Errorf("norm %v: an output is at %v from its anchors, bound %v", norm, most, outputs)
		}
		if r := b.Resolution(); r < items+outputs || r > items+outputs+b.Noise(b.Deviation) {
			t.Errorf("resolution %v of %v and %v", r, items, outputs)
		}
	}
}

// TestSphere_BlurHolds for points of the sphere and outputs, and no vertex is
// farther from its output.
func TestSphere_BlurHolds(t *testing.T) {
	rng := random.Seeded(1)
	s := testkit.Must(NewSphere(t.Context(), "test", 2, 1e-3, 1e-12, 1e-12, 0))
	vertex := make([][3]float64, s.Dim())
	for v, r := range s.row {
		c := s.grid.Cells[2] + 1
		for j, i := range []int{v / c / c, v / c % c, v % c} {
			vertex[r][j] = float64(i)*s.grid.Spacing(j) - 2
		}
	}
	far := func(x [3]float64) (sum float64) {
		s.tent(x, func(r int, w float64) { sum += float64(w * chord(x, vertex[r])) })
		return sum
	}
	most := 0.0
	for i := range s.Len() {
		most = max(most, far(s.Point(i)))
	}
	for range 2000 {
		most = max(most, far(onSphere(normal(rng))))
	}
	for r, x := range vertex {
		if d := chord(x, s.Point(s.Output[r])); d > s.Blur/2 {
			t.Errorf("vertex %v is at %v from its output, bound %v", x, d, s.Blur/2)
		}
	}
	// The bound is that of vertices, a cell's diagonal off the sphere.
	if most > s.Blur/2 || most < 0.6*s.grid.Spacing(0)*math.Sqrt(3)/2 {
		t.Errorf("a point is at %v from its anchors, bound %v", most, s.Blur/2)
	}
	// Over arcs, which antipodes have pi/2 of their chord.
	if r, b := s.Resolution(), s.Bound(0, 0); r < math.Pi/2*s.Blur || b < math.Pi/2*(s.Blur+s.Noise(s.Deviation)) {
		t.Errorf("resolution %v, bound %v, for chords of %v", r, b, s.Blur)
	}
}

// TestSphere_MeansAreExact: as those of a box, on the equator, at the poles, on meridians
// where coordinates are at vertices, and anywhere; the reference has 300 bits.
func TestSphere_MeansAreExact(t *testing.T) {
	s := testkit.Must(NewSphere(t.Context(), "test", 2, 0.05, 0x1p-30, 0x1p-30, 0))
	rng := random.Seeded(1)
	round := s.Rounder()
	for k := range testkit.Sweep(6, 100) {
		items := make([]metric.LatLon, 1+rng.IntN(2))
		for i := range items {
			items[i] = metric.LatLon{Lat: 180*rng.Float64() - 90, Lon: 1000*rng.Float64() - 500}
			if rng.IntN(2) == 0 {
				items[i].Lat = []float64{0, 30, 1e-15, 90, -90, -30}[rng.IntN(6)]
			}
			if rng.IntN(2) == 0 {
				items[i].Lon = []float64{0, 60, -90, 1e-300, 360, 180}[rng.IntN(6)]
			}
		}
		touched := map[int]bool{rng.IntN(s.Dim()): true}
		for _, x := range items {
			c := exact.NearUnitVector(x.Lat, x.Lon)
			for j := range c {
				c[j] *= 2
			}
			s.tent(c, func(row int, _ float64) { touched[row] = true })
		}
		g := s.grid.Cells[0]
		for row := range touched {
			if row%4 != k%4 && testkit.Sweep(0, 1) == 0 {
				continue
			}
			want := new(big.Rat)
			for _, x := range items {
				w, v := big.NewRat(s.Largest(), int64(len(items))), s.vertex[row]
				for j, c := range exact.UnitVector(x.Lat, x.Lon, 300) {
					at, _ := c.Lo.Rat(nil)
					at.Add(at, big.NewRat(1, 1)).Mul(at, big.NewRat(int64(g), 2))
					at.Sub(at, big.NewRat(int64([]int{v / (g + 1) / (g + 1), v / (g + 1) % (g + 1), v % (g + 1)}[j]), 1))
					if at.Sub(big.NewRat(1, 1), at.Abs(at)).Sign() < 0 {
						at = new(big.Rat)
					}
					w.Mul(w, at)
				}
				want.Add(want, w)
			}
			same(t, items, want, func(rng *rand.Rand) int64 {
				dst := make([]int64, s.Dim())
				round(dst, rng, items)
				return dst[row]
			})
		}
	}
}

// TestSides_KeepTheDigitsOfThePlace: of hundreds of millions of cells too a weight is right
// within its bound, by the exact place.
func TestSides_KeepTheDigitsOfThePlace(t *testing.T) {
	rng := random.Seeded(17)
	b := &Box{grid: Grid{Lo: []float64{0.1}, Rate: []float64{1e8 / 3}, Cells: []int{1 << 29}}, axes: []int{0}, lo: []float64{0.1}, hi: []float64{20}}
	for range 300 {
		x := 0.1 + 15*rng.Float64()
		s := make([]side, 1)
		b.sides(s, []float64{x})
		place := new(big.Rat).Sub(testkit.Ratio(x), testkit.Ratio(b.grid.Lo[0]))
		place.Mul(place, testkit.Ratio(b.grid.Rate[0]))
		for i, w := range s[0].weight[:s[0].n] {
			want := new(big.Rat).Sub(place, testkit.Ratio(float64(s[0].first+i)))
			want.Sub(testkit.Ratio(1), want.Abs(want))
			if off, _ := want.Sub(want, testkit.Ratio(w)).Float64(); math.Abs(off) > 0x1p-60+placeErr {
				t.Fatalf("%v: weight %v of vertex %d is off by %v", x, w, s[0].first+i, off)
			}
		}
	}
}

// An enclosure of a place that has a vertex within holds the tent's peak.
func TestEnclose_ThePeak(t *testing.T) {
	g := Grid{Cells: []int{4}}
	for _, place := range []exact.Enclosure{{Lo: big.NewFloat(0.75), Hi: big.NewFloat(1.125)}, {Lo: big.NewFloat(0.875), Hi: big.NewFloat(1.25)}} {
		sum := exact.Enclosure{Lo: down(64), Hi: up(64)}
		g.enclose(&sum, []int{1}, func(int) exact.Enclosure { return place }, 64)
		lo, _ := sum.Lo.Float64()
		if hi, _ := sum.Hi.Float64(); lo != 0.75 || hi != 1 {
			t.Errorf("%v: from %v to %v", place, lo, hi)
		}
	}
}

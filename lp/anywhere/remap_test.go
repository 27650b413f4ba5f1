package anywhere

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/metric"
)

// quick are small games.
const quick = 300

// simpson integrates f over [a, b].
func simpson(f func(x float64) float64, a, b float64, n int) float64 {
	sum, h := f(a)+f(b), (b-a)/float64(n)
	for i := 1; i < n; i++ {
		sum += float64(2+i%2*2) * f(a+float64(i)*h)
	}
	return sum * h / 3
}

// Masses of quadrants are those of the density: its integral over rows, from the corner to where it
// is nothing.
func TestLaw_QuadrantsAreIntegrals(t *testing.T) {
	l := testkit.Must(newLaw(t.Context(), 0.25, true, 20, 0))
	for _, c := range [][2]int{{1, 1}, {2, 0}, {0, 3}, {5, 2}, {12, 12}, {40, 1}, {-3, 2}, {-2, -7}, {4, -1}} {
		x, y := float64(c[0])/4, float64(c[1])/4
		row := func(v float64) float64 {
			at := func(u float64) float64 { return math.Exp(-math.Hypot(u, v)) / (2 * math.Pi) }
			// The density has its kink at 0, sharp where v is small.
			if x < 0 {
				return simpson(at, x, 0, 200) + simpson(at, 0, 30, 800)
			}
			return simpson(at, x, x+30, 800)
		}
		want := simpson(row, y, y+30, 500)
		if y < 0 {
			want = simpson(row, y, 0, 200) + simpson(row, 0, 30, 500)
		}
		if got := l.quadrant(c[0], c[1]); math.Abs(got-want) > 3e-5 {
			t.Errorf("%v: %v, by integrals %v", c, got, want)
		}
	}
	// To many digits where the density is far from its kink, and by the mass of the half-plane.
	at := func(u, v float64) float64 { return math.Exp(-math.Hypot(u, v)) / (2 * math.Pi) }
	want := simpson(func(v float64) float64 { return simpson(func(u float64) float64 { return at(u, v) }, 3, 43, 1600) }, 2, 42, 1600)
	if got := l.quadrant(12, 8); math.Abs(got-want) > 1e-11 {
		t.Errorf("quadrant %v, by integrals %v", got, want)
	}
	for i := range 60 {
		if got, half := 2*l.quadrant(i, 0), l.beyond(i); math.Abs(got-half) > lawErr {
			t.Errorf("%d: twice the quadrant %v, the half-plane %v", i, got, half)
		}
	}
	if v := l.beyond(0); math.Abs(v-0.5) > 1e-12 {
		t.Errorf("half of the plane has %v", v)
	}
}

// exactLoss is the loss at coordinates x: of masses of the cells at real offsets.
func exactLoss[P any](m *Remap[P], x []float64) float64 {
	c := m.cells
	cut := func(k, i int) float64 {
		if i == 0 || i == c.count[k] {
			return math.Inf(i - 1)
		}
		return (c.position(k, c.cut(k, i)) - x[k]) * m.on.rate
	}
	tail := func(v float64) float64 { // of the line
		if v < 0 {
			return 1 - math.Exp(v)/2
		}
		return math.Exp(-v) / 2
	}
	half := func(v float64) float64 { // of the plane
		if v = max(-100, min(100, v)); v == 0 {
			return 0.5
		}
		return 0.5 - math.Copysign(0.5-sector(math.Abs(v), 0, math.Pi/2)/math.Pi, v)
	}
	var quadrant func(a, b float64) float64
	quadrant = func(a, b float64) float64 {
		switch {
		case a < 0:
			return half(b) - quadrant(-a, b)
		case b < 0:
			return half(a) - quadrant(a, -b)
		case a > 100 || b > 100:
			return 0
		case a == 0:
			return half(b) / 2
		case b == 0:
			return half(a) / 2
		}
		return (sector(a, 0, math.Atan2(a, b)) + sector(b, 0, math.Atan2(b, a))) / (2 * math.Pi)
	}
	beyond := make(map[[2]int]float64)
	for at := range lattice(c.count, 1) {
		if m.on.flat {
			beyond[[2]int(at)] = quadrant(cut(0, at[0]), cut(1, at[1]))
		}
	}
	dist, sum := m.from(m.on.place(x), nil), 0.0
	cell := 0
	for at := range lattice(c.count, 0) {
		mass := 1.0
		if m.on.flat {
			i, j := at[0], at[1]
			mass = beyond[[2]int{i, j}] - beyond[[2]int{i, j + 1}] - beyond[[2]int{i + 1, j}] + beyond[[2]int{i + 1, j + 1}]
		} else {
			for k, i := range at {
				mass *= tail(cut(k, i)) - tail(cut(k, i+1))
			}
		}
		for _, s := range m.shares[cell] {
			sum += mass * s.prob * dist[s.output]
		}
		cell++
	}
	return sum
}

// check compares bounds with losses at random places: of the region, near it, and in the boxes of all
// sizes.
func check[P any](t *testing.T, name string, m *Remap[P], rng *rand.Rand, lo, hi []float64) {
	worst := 0.0
	for range 30 {
		x := make([]float64, len(lo))
		for k := range x {
			x[k] = lo[k] + (hi[k]-lo[k])*rng.Float64()
		}
		loss := exactLoss(m, x)
		worst = max(worst, loss)
		at := testkit.Must(m.LossAt(m.on.place(x)))
		if !(at >= loss*(1-1e-9) && at <= loss*1.02) {
			t.Errorf("%s at %v: loss %v, LossAt %v", name, x, loss, at)
		}
		if loss > m.Loss*(1+1e-9) {
			t.Errorf("%s at %v: loss %v, nowhere more than %v is claimed", name, x, loss, m.Loss)
		}
		// In boxes up to a width of the noise.
		for side := 1; side <= 16; side *= 2 {
			low, part := make([]int, len(x)), make([]float64, len(x))
			for k, v := range x {
				i, rest := m.cells.floor(k, v)
				low[k] = i - rng.IntN(side)
				part[k] = (float64(i-low[k]) + rest) / float64(side)
			}
			var corners []known
			for _, c := range cornersOf(low, side) {
				corners = append(corners, m.look(c))
			}
			if bound := m.within(low, side, corners, nil); bound < loss*(1-1e-9) {
				t.Errorf("%s at %v: loss %v, a box of side %d around has the bound %v", name, x, loss, side, bound)
			}
			if bound := m.within(low, side, corners, part); bound < loss*(1-1e-9) {
				t.Errorf("%s at %v: loss %v, interpolated from a box of side %d %v", name, x, loss, side, bound)
			}
		}
	}
	if !(m.Bound <= m.Loss && m.Bound > 0) || worst < m.Loss*0.3 {
		t.Errorf("%s: loss %v, bound %v, the largest seen %v", name, m.Loss, m.Bound, worst)
	}
}

// square are the middles of n x n fields of the square [0, side]^2.
func square(n int, side float64) (points [][2]float64) {
	for i := range n {
		for j := range n {
			points = append(points, [2]float64{(float64(i) + 0.5) * side / float64(n), (float64(j) + 0.5) * side / float64(n)})
		}
	}
	return points
}

func shops(n int, rng *rand.Rand) (places []metric.LatLon) {
	for range n {
		places = append(places, metric.LatLon{Lat: 48.8 + 0.1*rng.Float64(), Lon: 2.3 + 0.15*rng.Float64()})
	}
	return places
}

// spaces are small mechanisms of every kind in two dimensions or less.
var spaces = sync.OnceValues(func() (s struct {
	line  *Remap[float64]
	plane *Remap[[2]float64]
	l1    *Remap[[]float64]
	earth *Remap[metric.LatLon]
}, err error) {
	ctx := context.Background()
	s.line, err = Line(ctx, 2, []float64{0.1, 0.2, 0.7, 1.5}, &Options[float64]{Region: []float64{-0.3, 2}, Anchors: 20})
	if err == nil {
		s.plane, err = Plane(ctx, 0.5, square(2, 4), &Options[[2]float64]{Region: [][2]float64{{0, 0}, {4, 6}}, Cells: quick, Anchors: 9})
	}
	if err == nil {
		s.l1, err = Manhattan(ctx, 1, [][]float64{{0, 0}, {1, 2}, {2, 0.5}}, &Options[[]float64]{Cells: quick, Anchors: 9})
	}
	if err == nil {
		s.earth, err = Earth(ctx, 0.5, shops(4, random.Seeded(364)), &Options[metric.LatLon]{Cells: quick, Anchors: 9})
	}
	return s, err
})

// The bounds hold everywhere, in every space.
func TestLoss_HoldsEverywhere(t *testing.T) {
	rng, s := random.Seeded(364), testkit.Must(spaces())
	check(t, "line", s.line, rng, []float64{-0.3}, []float64{2})
	check(t, "plane", s.plane, rng, []float64{0, 0}, []float64{4, 6})
	check(t, "l1", s.l1, rng, []float64{0, 0}, []float64{2, 2})
	lo, hi, err := s.earth.on.box("", s.earth.outputs)
	testkit.Check(t, err)
	check(t, "Earth", s.earth, rng, lo, hi)
	if testing.Short() {
		return
	}
	cube := testkit.Must(Manhattan(t.Context(), 1, [][]float64{{0, 0, 0}, {1, 1, 0.5}}, &Options[[]float64]{Cells: quick, Anchors: 8}))
	check(t, "cube", cube, rng, []float64{0, 0, 0}, []float64{1, 1, 0.5})
}

// What the laws at the corners of a box do not explain of that in its middle is not negative, and has
// the mass and the tail that its bound is of, nearly; answers that lose where it is bring out all of it.
func TestWithin_BoundsWhatIsBetween(t *testing.T) {
	line := testkit.Must(Line(t.Context(), 1, []float64{0, 1}, &Options[float64]{Cells: 20, Anchors: 1, TimeLimit: 1}))
	between(t, "line", line, []int{4, 16, 200}, 400, [2]float64{0, 0.99})
	plane := testkit.Must(Plane(t.Context(), 1, square(2, 1), &Options[[2]float64]{Cells: 20, Anchors: 1, TimeLimit: 1}))
	between(t, "plane", plane, []int{2, 8, 24, 40}, 130, [2]float64{0.75, 0.3})
	l1 := testkit.Must(Manhattan(t.Context(), 1, [][]float64{{0, 0}, {1, 2}}, &Options[[]float64]{Cells: 20, Anchors: 1, TimeLimit: 1}))
	between(t, "l1", l1, []int{2, 8, 24, 40}, 130, [2]float64{0.6, 0.95})
	cube := testkit.Must(Manhattan(t.Context(), 1, [][]float64{{0, 0, 0}, {1, 1, 1}}, &Options[[]float64]{Cells: 20, Anchors: 1, TimeLimit: 1}))
	between(t, "cube", cube, []int{4, 16}, 40, [2]float64{0.8, 0.95})
}

// between wants the shares of the tails and of the sums that are used.
func between[P any](t *testing.T, name string, m *Remap[P], sides []int, count int, wants [2]float64) {
	c, dim := m.cells, m.on.dim
	c.side, c.first, c.count = 1, slices.Repeat([]int{-count / 2}, dim), slices.Repeat([]int{count}, dim)
	tails, sums := 0.0, 0.0
	for _, side := range sides {
		low, middle, t0 := slices.Repeat([]int{-side / 2}, dim), make([]int, dim), slices.Repeat([]float64{0.5}, dim)
		at, _ := m.law.masses(c, middle, nil, nil)
		mix := make([]float64, len(at))
		var corners []known
		for _, v := range cornersOf(low, side) {
			law, _ := m.law.masses(c, v, nil, nil)
			for cell, p := range law {
				mix[cell] += p / float64(int(1)<<dim)
			}
			corners = append(corners, known{law: law})
		}
		none, length := slices.Repeat([]known{{law: []float64{1}, dist: []float64{0}}}, len(corners)), float64(side)*c.step()
		m.shares, m.on.bend = make([][]share, c.len()), 1
		if got := m.within(low, side, none, nil); got < float64(dim)*length*length/8 {
			t.Errorf("%s, side %d: distances bend by as little as %v", name, side, got)
		}
		m.on.bend = 0
		sigma := math.Pow(math.Cosh(float64(side)*m.law.step/2), -float64(dim))
		for k, r := range []float64{-2, -1, 0, 0.5, 1, 2, 4} {
			// Outputs are at 0 and 1; the second one answers beyond r, and then only where it loses;
			// at first on one side of the box too, so that corners differ.
			m.shares = make([][]share, c.len())
			beyond := make([]bool, c.len())
			tail, i := 0.0, 0
			for z := range lattice(c.count, 0) {
				for k, v := range z {
					if gap := float64(max(c.cut(k, v)-side/2, -side/2-c.cut(k, v+1))) * m.law.step; gap > r {
						beyond[i] = true
					}
				}
				m.shares[i] = []share{{0, 1}}
				if beyond[i] {
					m.shares[i] = []share{{1, 1}}
					tail += at[i] - sigma*mix[i]
				}
				if at[i] < sigma*mix[i]-4*lawErr {
					t.Fatalf("%s, side %d, cell %d: mass %v, of the corners %v", name, side, i, at[i], sigma*mix[i])
				}
				i++
			}
			two := make([]known, len(corners))
			for j := range two {
				two[j].dist = []float64{0, 0}
			}
			two[k%len(two)].dist[1] = 1 // whichever corner it is far from
			bound := m.rest(low, side, two)
			if tail /= 1 - sigma; tail > bound+1e-6/(1-sigma) {
				t.Errorf("%s, side %d: of the rest %v is farther than %v, the bound is %v", name, side, tail, r, bound)
			}
			if r > 0 && bound > 0 {
				tails = max(tails, tail/bound)
			}
			loss := 0.0
			for i, p := range at {
				if beyond[i] && p > mix[i] || r == -2 && i >= c.len()/count*(count+side)/2 {
					loss += p
				} else {
					m.shares[i] = []share{{0, 1}}
				}
			}
			interpolated := 0.0
			for j, known := range corners {
				two[j].law, two[j].dist = []float64{1, 0}, []float64{0, 1}
				for cell, p := range known.law {
					if m.shares[cell][0].output == 1 {
						two[j].law[0] -= p
						two[j].law[1] += p
					}
				}
				interpolated += two[j].law[1] / float64(len(corners))
			}
			most := m.within(low, side, two, t0)
			if loss > most {
				t.Errorf("%s, side %d, beyond %v: loss %v, bound %v", name, side, r, loss, most)
			}
			// A corner at which no output is far takes its part from both.
			two[0].dist = []float64{0, 0}
			if part := 1 - 1/float64(len(corners)); loss*part > m.within(low, side, two, t0) {
				t.Errorf("%s, side %d, beyond %v: loss %v, bound %v with one corner at 0", name, side, r, loss*part, m.within(low, side, two, t0))
			}
			if over := most - interpolated; over > 1e-4 {
				sums = max(sums, (loss-interpolated)/over)
			}
		}
	}
	if tails < wants[0] || sums < wants[1] {
		t.Errorf("%s: at most %v of the tail and %v of the sum are used", name, tails, sums)
	}
}

// What is released has the law that the loss was computed of, from any input: cells are found, and
// noise lies on the map, as they should.
func TestRelease_HasTheLaw(t *testing.T) {
	testkit.Slow(t)
	rng, s := random.Seeded(365), testkit.Must(spaces())
	line, earth := s.line, s.earth
	for _, at := range [][]int{{0, 0}, {7, 3}, {-20, 11}, {9, 100}} {
		drawn(t, line, rng, at[:1])
		drawn(t, s.plane, rng, at)
		drawn(t, s.l1, rng, at)
		drawn(t, earth, rng, at)
	}
	// Inputs from far away are released too.
	for _, x := range []metric.LatLon{{Lat: -48, Lon: -177}, {Lat: 90}, {Lat: 10, Lon: 722}} {
		if _, err := earth.Release(rng, x); err != nil {
			t.Error(err)
		}
		if v, err := earth.LossAt(x); err != nil || v < 4000 {
			t.Error(x, v, err)
		}
	}
	if v := testkit.Must(line.LossAt(1e12)); v < 1e11 {
		t.Errorf("from 1e12 the loss is at most %v", v)
	}
	if _, err := line.Release(rng, -1e6); err != nil {
		t.Error(err)
	}
}

func drawn[P any](t *testing.T, m *Remap[P], rng *rand.Rand, at []int) {
	t.Helper()
	count := make([]int, len(m.outputs))
	for range 20_000 {
		count[testkit.Must(m.Release(rng, m.point(at)))]++
	}
	law := m.look(at).law
	normalize(law)
	testkit.ChiSquare(t, count, law, 1e-8)
}

// Next to each other on the lattice of outputs are those on both sides of a cut, and none is on it.
func TestCells_FindBothSidesOfACut(t *testing.T) {
	for _, c := range []*cells{
		{base: []float64{-3}, pitch: 0.25, unit: 3, side: 2, first: []int{-7}, count: []int{9}},
		{base: []float64{100, -0.5}, pitch: 0x1p-20, unit: 5, side: 1, first: []int{-2, -9}, count: []int{6, 4}},
	} {
		for k, n := range c.count {
			scale := pow(c.count[len(c.count)-1], len(c.count)-1-k)
			for i := 1; i < n; i++ {
				y := make([]float64, len(c.count))
				for j := range y {
					y[j] = -1e6 // in the first cell
				}
				y[k] = c.position(k, c.cut(k, i)) - c.pitch/2
				below := c.find(y)
				y[k] += c.pitch
				if above := c.find(y); below != (i-1)*scale || above != i*scale {
					t.Errorf("axis %d, cut %d: cells %d and %d", k, i, below, above)
				}
			}
		}
	}
}

// The law of an output, by the closed form of the masses of its cells, is nowhere more than
// e^(alpha d) times that at distance d.
func TestLine_IsPrivate(t *testing.T) {
	rng := random.Seeded(366)
	const alpha = 1.5
	m := testkit.Must(Line(t.Context(), alpha, []float64{0, 0.4, 1, 2}, &Options[float64]{Anchors: 9}))
	if g := m.Guarantee(); g.Alpha() != alpha || g.Delta() != 0 {
		t.Errorf("guarantee %v", g)
	}
	law := func(x float64) []float64 {
		p := make([]float64, 4)
		for cell := range m.cells.count[0] {
			lo, hi := math.Inf(-1), math.Inf(1)
			if cell > 0 {
				lo = alpha * (m.cells.position(0, m.cells.cut(0, cell)) - x)
			}
			if cell+1 < m.cells.count[0] {
				hi = alpha * (m.cells.position(0, m.cells.cut(0, cell+1)) - x)
			}
			mass := 0.0
			switch {
			case lo >= 0:
				mass = (math.Exp(-lo) - math.Exp(-hi)) / 2
			case hi <= 0:
				mass = (math.Exp(hi) - math.Exp(lo)) / 2
			default:
				mass = 1 - (math.Exp(lo)+math.Exp(-hi))/2
			}
			for _, s := range m.shares[cell] {
				p[s.output] += mass * s.prob
			}
		}
		return p
	}
	nearly := 0.0
	for range 2000 {
		x := 4*rng.Float64() - 1
		z := x + rng.NormFloat64()
		p, q := law(x), law(z)
		for y := range p {
			level := math.Abs(math.Log(p[y]/q[y])) / math.Abs(x-z)
			if level > alpha*(1+1e-9/math.Abs(x-z)) {
				t.Fatalf("output %d at %v and %v: level %v", y, x, z, level)
			}
			nearly = max(nearly, level)
		}
	}
	if nearly < 0.99*alpha {
		t.Errorf("the largest level seen is %v of %v: nothing is held back", nearly, alpha)
	}
}

// Releases compose as the noise does, on the Earth as that of a flat map of the same level; nothing
// is claimed from below.
func TestPrivacyLoss_IsThatOfTheNoise(t *testing.T) {
	const alpha = 0.7
	audit := func(m interface{ Guarantee() mechanism.Guarantee }) mechanism.Audit {
		c := testkit.Must(mechanism.NewComposition(mechanism.Repeated{Mechanism: m, Times: 10}))
		return testkit.Must(c.AuditAt(t.Context(), 1, 1e-6))
	}
	plane := testkit.Must(additive.NewPlanarLaplace(alpha, nil))
	for _, c := range []struct {
		m, noise interface{ Guarantee() mechanism.Guarantee }
	}{
		{testkit.Must(Line(t.Context(), alpha, []float64{0, 1}, &Options[float64]{Cells: 20, Anchors: 1})), testkit.Must(additive.NewLaplace(alpha, nil))},
		{testkit.Must(Plane(t.Context(), alpha, square(2, 4), &Options[[2]float64]{Cells: 20, Anchors: 1})), plane},
		{testkit.Must(Manhattan(t.Context(), alpha, [][]float64{{0, 0}, {1, 2}}, &Options[[]float64]{Cells: 20, Anchors: 1})),
			testkit.Must(additive.NewKNorm(additive.Norm{P: 1, Dim: 2}, alpha, nil))},
		{testkit.Must(Earth(t.Context(), alpha, shops(2, random.Seeded(371)), &Options[metric.LatLon]{Cells: 20, Anchors: 1})), plane},
	} {
		if got, want := audit(c.m), audit(c.noise); !(got.Hi >= want.Lo && math.Abs(got.Hi-want.Hi) <= 1e-3*want.Hi && got.Lo == 0) {
			t.Errorf("%v: %v, that of the noise is %v", c.m, got, want)
		}
	}
}

// On the line noise loses nothing: what is lost is within .6 % of what must be.
func TestLine_NearlyOptimal(t *testing.T) {
	outputs := make([]float64, 21)
	for i := range outputs {
		outputs[i] = float64(i) / 10
	}
	m := testkit.Must(Line(t.Context(), 1, outputs, nil))
	if !(m.Loss <= 1.006*m.Bound && math.Abs(m.Bound-0.5135) < 2e-3) {
		t.Error(m)
	}
	if m.Worst < -0.01 || m.Worst > 2.01 {
		t.Errorf("the worst place is %v", m.Worst)
	}
}

// Units are free: in all of them the loss is the same, though distances may be beyond float32, and
// long exponents of the noise cost nothing.
func TestLine_InAnyUnit(t *testing.T) {
	for _, alpha := range []float64{1e-60, 1, 1e60} {
		m := testkit.Must(Line(t.Context(), alpha, []float64{0, 0.3 / alpha, 1 / alpha}, &Options[float64]{Anchors: 2}))
		if v := m.Loss * alpha; !(math.Abs(v-0.3888) < 1e-3) {
			t.Errorf("alpha %v: loss %v/alpha", alpha, v)
		}
	}
}

// A region smaller than the spacing of the rows is no larger for that: little is lost in it. In a
// wide one what is lost is less than the distance of the farthest output.
func TestLoss_EndsWithTheRegion(t *testing.T) {
	m := testkit.Must(Plane(t.Context(), 1, [][2]float64{{0, 0}, {0.01, 0.02}}, &Options[[2]float64]{Cells: quick, Anchors: 4}))
	if !(m.Loss < 0.1) || math.Hypot(m.Worst[0], m.Worst[1]) > 0.1 {
		t.Errorf("loss %v at %v in a region of .01 x .02", m.Loss, m.Worst)
	}
	wide := testkit.Must(Line(t.Context(), 1, []float64{0, 1e5}, &Options[float64]{Cells: quick, Anchors: 2, TimeLimit: 1}))
	if !(wide.Loss < 0.8e5) {
		t.Errorf("loss %v in a wide region", wide.Loss)
	}
}

// Under a prior the answers are the best of all functions of the cells, by enumeration.
func TestPrior_BestOfAll(t *testing.T) {
	rng := random.Seeded(367)
	for range 5 {
		places := []float64{0, 2 * rng.Float64(), 1 + rng.Float64(), 3}
		prior := testkit.Distribution(rng, 4, nil)
		outputs := []float64{0.5, 2 + rng.Float64()}
		m := testkit.Must(Line(t.Context(), 1, outputs, &Options[float64]{Places: places, Prior: prior, Cells: 12}))
		loss := func() (sum float64) {
			for i, x := range places {
				sum += prior[i] * exactLoss(m, []float64{x})
			}
			return sum
		}
		own, least := loss(), math.Inf(1)
		if !(own <= m.Loss*(1+1e-9) && own >= m.Loss*0.999 && m.Bound <= own) {
			t.Errorf("mean loss %v, claimed %v, bound %v", own, m.Loss, m.Bound)
		}
		for answers := range 1 << len(m.shares) {
			for c := range m.shares {
				m.shares[c] = []share{{answers >> c & 1, 1}}
			}
			least = min(least, loss())
		}
		if own > least*1.001 {
			t.Errorf("mean loss %v, the best %v", own, least)
		}
	}
}

// What is convex on the Earth is nearly so on the map: by the bend, at most.
func TestEarth_DistancesBendLittle(t *testing.T) {
	testkit.Slow(t)
	rng := random.Seeded(368)
	corners := []metric.LatLon{{Lat: 20, Lon: -20}, {Lat: 60, Lon: 40}, {Lat: 60, Lon: -20}, {Lat: 20, Lon: 40}}
	earth := func(outputs []metric.LatLon) *ground[metric.LatLon] {
		return testkit.Must(onEarth("", 0.002, outputs, &Options[metric.LatLon]{}))
	}
	// LossAt is for places outside a small region too.
	on, small := earth(corners), earth(corners[:1])
	if on.bend > small.bend {
		t.Errorf("bend %v, of a small region %v", on.bend, small.bend)
	}
	used := 0.0
	for range 20_000 {
		a := []float64{1.4*rng.Float64() - 0.7, 1.4*rng.Float64() - 0.7}
		b, mid, k := slices.Clone(a), slices.Clone(a), rng.IntN(2)
		b[k] = 1.4*rng.Float64() - 0.7
		if !on.near(on.place(a)) || !on.near(on.place(b)) {
			continue
		}
		mid[k] = (a[k] + b[k]) / 2
		y := corners[rng.IntN(4)]
		d := func(at []float64) float64 { return on.space.Distance(on.place(at), y) }
		over, length := d(mid)-(d(a)+d(b))/2, b[k]-a[k]
		if over > on.bend*length*length/8+1e-6 {
			t.Fatalf("from %v to %v: %v above the chord, the bend is %v", a, b, over, on.bend)
		}
		used = max(used, over/(on.bend*length*length/8))
	}
	if used < 0.01 {
		t.Errorf("at most %v of the bend is used", used)
	}
}

// No places are farther apart on the map, in units of the noise, than alpha times their distance.
func TestEarth_MapsNoPlacesApart(t *testing.T) {
	rng := random.Seeded(370)
	for range 3 {
		alpha := 0.002 + math.Exp(4*rng.NormFloat64()-3)
		on := testkit.Must(onEarth("", alpha, shops(2, rng), &Options[metric.LatLon]{}))
		if exact := testkit.Ratio(alpha); testkit.Ratio(on.rate).Cmp(exact.Mul(exact, testkit.Ratio(metric.EarthRadiusKm))) > 0 {
			t.Errorf("alpha %v: the rate %v is more than alpha R", alpha, on.rate)
		}
		for range 1000 {
			x := metric.LatLon{Lat: 180*rng.Float64() - 90, Lon: 360 * rng.Float64()}
			z := metric.LatLon{Lat: max(-90, min(90, x.Lat+rng.NormFloat64())), Lon: x.Lon + rng.NormFloat64()}
			p, q := on.on(x, nil), on.on(z, nil)
			if d := metric.EarthRadiusKm * math.Hypot(p[0]-q[0], p[1]-q[1]); d > on.space.Distance(x, z)*(1+1e-9)+1e-9 {
				t.Fatalf("%v and %v: %v km apart on the map, %v on Earth", x, z, d, on.space.Distance(x, z))
			}
		}
	}
}

// Limits end searches and cancelations calls, with nothing less proved.
func TestPlane_Limits(t *testing.T) {
	rounds := 0
	o := &Options[[2]float64]{Cells: quick, Anchors: 4, TimeLimit: time.Nanosecond, Progress: func(round int, gap float64, _ time.Duration) {
		if rounds++; round != rounds || !(gap >= 0 && gap <= 1) {
			t.Errorf("round %d, gap %v", round, gap)
		}
	}}
	m := testkit.Must(Plane(t.Context(), 1, square(2, 3), o))
	if rounds != 1 || !(m.Loss > 0) {
		t.Errorf("%d rounds, %v", rounds, m)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Plane(ctx, 1, square(2, 3), nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestRefusals_NameTheArgument(t *testing.T) {
	ctx := t.Context()
	plane, paris := square(2, 3), []metric.LatLon{{Lat: 48.9, Lon: 2.3}}
	line := func(alpha float64, outputs []float64, o Options[float64]) error {
		return testkit.Err(Line(ctx, alpha, outputs, &o))
	}
	testkit.Refused(t, [][3]any{
		{line(0, []float64{1}, Options[float64]{}), "alpha = 0", nil},
		{testkit.Err(Plane(ctx, math.NaN(), plane, nil)), "alpha = NaN", nil},
		{line(1, nil, Options[float64]{}), "outputs", metric.ErrEmpty},
		{testkit.Err(Manhattan(ctx, 1, nil, nil)), "outputs", metric.ErrEmpty},
		{line(1, []float64{math.NaN()}, Options[float64]{}), "outputs", nil},
		{line(1e20, []float64{1}, Options[float64]{}), "take a nearer origin", nil},
		{line(1, []float64{1}, Options[float64]{Region: []float64{}}), "Region", metric.ErrEmpty},
		{line(1, []float64{1}, Options[float64]{Prior: []float64{1}}), "Places", metric.ErrEmpty},
		{line(1, []float64{1}, Options[float64]{Places: []float64{1}, Prior: []float64{2}}), "Prior", nil},
		{line(1, []float64{1}, Options[float64]{Cells: -1}), "Cells = -1", nil},
		{line(1, []float64{1}, Options[float64]{Anchors: -1}), "Anchors = -1", nil},
		{line(1, []float64{1}, Options[float64]{TimeLimit: -1}), "TimeLimit", nil},
		{testkit.Err(Manhattan(ctx, 1, [][]float64{{1, 2, 3, 4}}, nil)), "1 to 3 numbers", nil},
		{testkit.Err(Manhattan(ctx, 1, [][]float64{{1, 2}, {1}}, nil)), "outputs", nil},
		{testkit.Err(Earth(ctx, 1, paris, &Options[metric.LatLon]{Unit: "mile"})), "mile", mechanism.ErrUnit},
		{testkit.Err(Earth(ctx, 1e-3, paris, nil)), "alpha = 0.001", nil},
		{testkit.Err(Earth(ctx, 1, []metric.LatLon{{Lat: 90}, {Lat: -90}}, nil)), "of its middle", nil},
		{testkit.Err(Earth(ctx, 1, []metric.LatLon{{Lat: 60}, {Lat: -60}}, nil)), "of its middle", nil},
		{testkit.Err(Earth(ctx, 1, []metric.LatLon{{Lat: 48.9, Lon: 120}}, &Options[metric.LatLon]{Region: paris})), "outputs[0]", nil},
		{testkit.Err(Extend(ctx, nil, Grid{[]float64{0}, -1, []int{2}}, 1, "")), "Step = -1", nil},
		{testkit.Err(Extend(ctx, nil, Grid{[]float64{0}, 1, []int{2, 2}}, 1, "")), "Count", nil},
		{testkit.Err(Extend(ctx, nil, Grid{[]float64{0}, 1, []int{0}}, 1, "")), "Count[0] = 0", nil},
		{testkit.Err(Extend(ctx, nil, Grid{[]float64{0}, 1, []int{2}}, 1, "")), "c", nil},
	})
	var zero Remap[float64]
	if _, err := zero.Release(nil, 1); err == nil || fmt.Sprint(&zero) == "" {
		t.Error("a zero Remap releases")
	}
}

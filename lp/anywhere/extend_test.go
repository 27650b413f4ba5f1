package anywhere

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
)

// logChannel is a random channel of n inputs in which neighbors' log-probabilities differ by as
// much as most, and by all of it somewhere: rows are moved until they do.
func logChannel(rng *rand.Rand, n, k int, most float64) [][]float64 {
	rows := [][]float64{make([]float64, k)}
	for y := range rows[0] {
		rows[0][y] = math.Exp(2 * rng.NormFloat64())
	}
	normalize(rows[0])
	for len(rows) < n {
		last := rows[len(rows)-1]
		// Outputs in a random set rise by e^most, others fall by e^-most, and one of them makes up
		// for the sum: found by halving how many rise.
		row, order := make([]float64, k), rng.Perm(k)
		low, mass := 0.0, 0.0
		for _, y := range order {
			row[y] = last[y] * math.Exp(-most)
			low += row[y]
		}
		for _, y := range order {
			more := last[y] * (math.Exp(most) - math.Exp(-most))
			if mass+more > 1-low {
				more = max(0, 1-low-mass)
			}
			row[y] += more
			mass += more
		}
		rows = append(rows, row)
	}
	return rows
}

func normalize(row []float64) {
	sum := 0.0
	for _, v := range row {
		sum += v
	}
	for y := range row {
		row[y] /= sum
	}
}

// extended is the law at x of rows extended at level alpha, on the line from 0 with gaps h, by the
// formula, E taken from the level per step b.
func extended(rows [][]float64, x, h, alpha, b float64) []float64 {
	i := min(int(x/h), len(rows)-2)
	near, far, s := i, i+1, x-float64(i)*h
	if s > h/2 {
		near, far, s = far, near, h-s
	}
	lambda := math.Expm1(alpha*s) / math.Expm1(b)
	p := make([]float64, len(rows[0]))
	for y := range p {
		p[y] = (1-lambda)*rows[near][y] + lambda*rows[far][y]
	}
	return p
}

// slopeOf is the largest |d/dx ln p| of the law between samples of [0, end].
func slopeOf(law func(x float64) []float64, end float64, n int) (most float64) {
	last := law(0)
	for i := 1; i <= n; i++ {
		p := law(end * float64(i) / float64(n))
		for y, v := range p {
			most = max(most, math.Abs(math.Log(v/last[y]))/(end/float64(n)))
		}
		last = p
	}
	return most
}

// Random channels that use all of their level stay within alpha when extended, and reach it: the
// level of ExtendLevel is the largest for which they do.
func TestExtend_LevelIsExact(t *testing.T) {
	rng := random.Seeded(361)
	for range testkit.Sweep(60, 1000) {
		h, alpha := math.Exp(rng.NormFloat64()), math.Exp(rng.NormFloat64())
		b := ExtendLevel(alpha, h) * h
		if want := math.Log1p(2 * math.Expm1(alpha*h/2)); !(b <= want*(1+1e-14) && b >= want*(1-1e-13)) {
			t.Fatalf("alpha %v, step %v: %v, want %v", alpha, h, b, want)
		}
		rows := logChannel(rng, 2+rng.IntN(4), 2+rng.IntN(4), b)
		end := h * float64(len(rows)-1)
		if got := slopeOf(func(x float64) []float64 { return extended(rows, x, h, alpha, b) }, end, 4000); got > alpha*(1+1e-6) {
			t.Errorf("alpha %v, step %v: level %v", alpha, h, got)
		}
		// Between rows (1, E)/(1+E) and (E, 1)/(1+E) an entry passes 1/2, which takes as long from
		// both ends: all of the step, and longer where E is larger.
		for _, excess := range []float64{0, 1e-3} {
			e := math.Exp(b) * (1 + excess)
			if needs := 2 * math.Log((1+e)/2) / alpha; (needs > h*(1+1e-9)) != (excess > 0) {
				t.Errorf("alpha %v, step %v, E %v times what ExtendLevel grants: needs %v", alpha, h, 1+excess, needs)
			}
		}
	}
}

// A channel of any larger level between neighbors is refused, one of that level taken; what is
// released has the law of the formula, on the line and in the plane.
func TestExtend_TakesItsLevelAndHasItsLaw(t *testing.T) {
	rng := random.Seeded(362)
	const alpha, h = 1.5, 0.75
	b := ExtendLevel(alpha, h) * h
	channel := func(rows [][]float64) *mechanism.Channel {
		var w []float64
		for _, r := range rows {
			w = append(w, r...)
		}
		return testkit.Must(mechanism.FromWeights(t.Context(), len(rows), len(rows[0]), w, nil))
	}
	if _, err := Extend(t.Context(), channel(logChannel(rng, 4, 3, b*(1+1e-9))), Grid{[]float64{0}, h, []int{4}}, alpha, ""); err == nil {
		t.Error("a channel of too large a level was extended")
	}
	rows := logChannel(rng, 4, 3, b*(1-1e-9))
	grid := Grid{[]float64{-1}, h, []int{4}}
	e := testkit.Must(Extend(t.Context(), channel(rows), grid, alpha, "km"))
	grid.Low[0], grid.Count[0] = 7, 1 // it has its own
	for _, x := range []float64{-5, -1, -0.9, -1 + h/2, 0, 0.3, -1 + 3*h, 1e300} {
		p := extended(rows, min(max(0, x+1), 3*h), h, alpha, b)
		count := make([]int, 3)
		for range 20_000 {
			count[testkit.Must(e.Release(rng, []float64{x}))]++
		}
		testkit.ChiSquare(t, count, p, 1e-8)
	}
	// In the plane the channel of (i, j) draws i by one channel and j by the other.
	var both []float64
	for _, r := range rows {
		for _, s := range rows {
			for _, p := range r {
				for _, q := range s {
					both = append(both, p*q)
				}
			}
		}
	}
	c := testkit.Must(mechanism.FromWeights(t.Context(), 16, 9, both, nil))
	plane := testkit.Must(Extend(t.Context(), c, Grid{[]float64{0, 0}, h, []int{4, 4}}, alpha, ""))
	p, q, want := extended(rows, 0.2, h, alpha, b), extended(rows, 1, h, alpha, b), []float64(nil)
	for _, v := range p {
		for _, w := range q {
			want = append(want, v*w)
		}
	}
	count := make([]int, 9)
	for range 20_000 {
		count[testkit.Must(plane.Release(rng, []float64{0.2, 1}))]++
	}
	testkit.ChiSquare(t, count, want, 1e-8)
}

// words is a source of one word and then of others: of zeros alone an exact draw never ends where a
// probability is 0.
type words struct{ first, others uint64 }

func (w *words) Uint64() uint64 {
	u := w.first
	w.first = w.others
	return u
}

// The laws of what is released at many points, as counted from the random words, differ by alpha times
// the distance at most, and somewhere by all of it, where the channel uses up its level.
func TestExtend_IsPrivateForAllWords(t *testing.T) {
	rng := random.Seeded(372)
	for range testkit.Sweep(4, 200) {
		n, k := 2+rng.IntN(4), 2+rng.IntN(3)
		h, alpha, low := math.Exp(rng.NormFloat64()), math.Exp(rng.NormFloat64()), rng.NormFloat64()
		c := testkit.Must(mechanism.FromWeights(t.Context(), n, k, slices.Concat(logChannel(rng, n, k, ExtendLevel(alpha, h)*h*(1-1e-9))...), nil))
		e := testkit.Must(Extend(t.Context(), c, Grid{[]float64{low}, h, []int{n}}, alpha, ""))
		var at []float64
		var logs [][]float64
		for i := range 40 {
			x := low + h*(float64(n)*rng.Float64()-0.5)
			if i%4 == 0 { // a point of the grid, or a middle
				x = low + h*float64(i/4%(2*n))/2
			}
			move := func(word uint64) int { return e.move(rand.New(&words{word, 1 << 62}), 0, x) }
			// The point changes once at most as the first word rises.
			lo, hi := uint64(0), uint64(math.MaxUint64)
			first, last := move(lo), move(hi)
			for hi-lo > 1 {
				if middle := lo + (hi-lo)/2; move(middle) == first && first != last {
					lo = middle
				} else {
					hi = middle
				}
			}
			p, law := float64(lo)*0x1p-64, make([]float64, k)
			for y := range law {
				law[y] = math.Log(p*c.Prob(first, y) + (1-p)*c.Prob(last, y))
			}
			at, logs = append(at, x), append(logs, law)
		}
		used := 0.0
		for i, p := range logs {
			for j, q := range logs[:i] {
				far := alpha * math.Abs(at[i]-at[j])
				for y := range p {
					apart := math.Abs(p[y] - q[y])
					if apart > far+1e-12 {
						t.Fatalf("alpha %v, step %v: logarithms of output %d at %v and %v are %v apart", alpha, h, y, at[i], at[j], apart)
					}
					used = max(used, (apart-1e-12)/far)
				}
			}
		}
		if used < 1-1e-6 {
			t.Errorf("alpha %v, step %v: %v of the level is used", alpha, h, used)
		}
	}
}

// In random triangles the audit is at least every measured slope, and no more than the largest.
func TestTriangulatedLevel_IsTheSlope(t *testing.T) {
	rng := random.Seeded(363)
	for range testkit.Sweep(40, 1000) {
		points := [][2]float64{{0, 0}, {1 + rng.Float64(), rng.Float64() / 2}, {rng.Float64(), 1 + rng.Float64()}, {2, 2}}
		w := make([]float64, 4*3)
		for i := range w {
			w[i] = 0.1 + rng.Float64()
		}
		c := testkit.Must(mechanism.FromWeights(t.Context(), 4, 3, w, nil))
		triangles := [][3]int{{0, 1, 2}, {3, 2, 1}}
		level, at, output, err := TriangulatedLevel(t.Context(), points, triangles, c)
		testkit.Check(t, err)
		most := 0.0
		for k, tri := range triangles {
			law := func(x [2]float64, y int) float64 {
				a, p, q := points[tri[0]], points[tri[1]], points[tri[2]]
				det := (p[0]-a[0])*(q[1]-a[1]) - (p[1]-a[1])*(q[0]-a[0])
				u := ((x[0]-a[0])*(q[1]-a[1]) - (x[1]-a[1])*(q[0]-a[0])) / det
				v := ((p[0]-a[0])*(x[1]-a[1]) - (p[1]-a[1])*(x[0]-a[0])) / det
				return (1-u-v)*c.Prob(tri[0], y) + u*c.Prob(tri[1], y) + v*c.Prob(tri[2], y)
			}
			for _, i := range tri {
				for turn := range 360 {
					sin, cos := math.Sincos(float64(turn) * math.Pi / 180)
					x, to := points[i], points[i]
					to[0] += 1e-6 * cos
					to[1] += 1e-6 * sin
					for y := range 3 {
						got := math.Abs(math.Log(law(to, y)/law(x, y))) / 1e-6
						if got > most {
							most = got
							if k != at && got > level || y != output && got > level {
								t.Errorf("triangle %d, output %d: %v, the audit %v at %d, %d", k, y, got, level, at, output)
							}
						}
					}
				}
			}
		}
		if !(most <= level*(1+1e-4) && most >= level*(1-1e-3)) {
			t.Errorf("measured %v, audited %v", most, level)
		}
	}
	// A right triangle whose legs the channel uses up breaks its level along the diagonal.
	e := math.Exp(1.)
	c := testkit.Must(mechanism.FromWeights(t.Context(), 3, 2, []float64{1, e, e, 1, e, 1}, nil))
	level, _, _, err := TriangulatedLevel(t.Context(), [][2]float64{{0, 0}, {1, 0}, {0, 1}}, [][3]int{{0, 1, 2}}, c)
	if want := math.Sqrt2 * (e - 1); err != nil || math.Abs(level-want) > 1e-9 {
		t.Errorf("level %v, want %v; %v", level, want, err)
	}
	// Where probabilities and triangles are small, or large, products are beyond float64: the level is none the less.
	c2 := testkit.Must(mechanism.FromWeights(t.Context(), 3, 2, []float64{1e-200, 1, 2e-200, 1, 1e-200, 1}, nil))
	for _, h := range []float64{1e-130, 1, 1e130} {
		level, _, output, err := TriangulatedLevel(t.Context(), [][2]float64{{0, 0}, {h, 0}, {0, h}}, [][3]int{{0, 1, 2}}, c2)
		if !(level >= 1/h && level < 1.001/h) || output != 0 || err != nil {
			t.Errorf("sides %v: level %v by output %d, want %v; %v", h, level, output, 1/h, err)
		}
	}
	c2 = testkit.Must(mechanism.FromWeights(t.Context(), 3, 2, []float64{1e-265, 1, 1, 1, 0.5, 1}, nil))
	if level, _, _, _ := TriangulatedLevel(t.Context(), [][2]float64{{0, 0}, {1e150, 1e149}, {1e149, 1e150}}, [][3]int{{0, 1, 2}}, c2); !(level >= 1e114) {
		t.Errorf("level %v", level)
	}
	if level, _, _, _ := TriangulatedLevel(t.Context(), [][2]float64{{0, 0}, {1, 1}, {2, 2}}, [][3]int{{0, 1, 2}}, c); !math.IsInf(level, 1) {
		t.Errorf("a triangle without area: %v", level)
	}
}

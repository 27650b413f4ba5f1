package wasserstein

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/rng"
	"github.com/metricdp/metricdp/metric"
)

func isotonicCost(f, g, w []float64) float64 {
	sum := 0.0
	for k := range f {
		sum += w[k] * math.Abs(f[k]-g[k])
	}
	return sum
}

func TestIsotonicL1_KnownValue(t *testing.T) {
	// MATH.md, section 3.
	g := []float64{.4, -.3, .7, .2, 1.3, .9, 1.1, .8}
	for _, c := range []struct {
		w    []float64
		want float64
	}{
		{[]float64{1, 2, 1, 3, 1, 1, 2, 1}, 2.3},
		{[]float64{1, 1, 1, 1, 1, 1, 1, 1}, 1.9},
	} {
		f, err := IsotonicL1(g, c.w, 0, 1)
		if err != nil || !slices.IsSorted(f) || f[0] < 0 || f[7] > 1 {
			t.Fatalf("%v, %v", f, err)
		}
		if got := isotonicCost(f, g, c.w); !lineClose(got, c.want, 1e-15) {
			t.Errorf("%v costs %v, want %v", f, got, c.want)
		}
		// The same on the line: the gaps are the weights.
		x, weights, last := make([]float64, 9), make([]float64, 9), 0.0
		for k := range g {
			x[k+1] = x[k] + c.w[k]
			weights[k] = g[k] - last
			last = g[k]
		}
		weights[8] = 1 - last
		p, dist, err := ProjectLine(x, weights)
		if err != nil || !lineClose(dist, c.want, 1e-15) {
			t.Errorf("distance %v, %v, want %v", dist, err, c.want)
		}
		if d, err := W1Line(x, p, weights); err != nil || !lineClose(d, c.want, 1e-14) {
			t.Errorf("W1Line %v, %v, want %v", d, err, c.want)
		}
	}
	if f, err := IsotonicL1(g, nil, 0, 1); err != nil || !lineClose(isotonicCost(f, g, []float64{1, 1, 1, 1, 1, 1, 1, 1}), 1.9, 1e-15) {
		t.Errorf("%v, %v", f, err)
	}
}

// All ascending lists over the values of g and the bounds: one of them is
// optimal.
func bruteIsotonic(g, w []float64, lo, hi float64) float64 {
	values := []float64{lo, hi}
	for _, v := range g {
		values = append(values, min(max(v, lo), hi))
	}
	slices.Sort(values)
	best := make([]float64, len(values)) // of a list that ends at most there
	for k := range g {
		least := math.Inf(1)
		for j, v := range values {
			least = min(least, best[j]) // best over all ends up to v
			best[j] = least + w[k]*math.Abs(v-g[k])
		}
	}
	return slices.Min(best)
}

func TestIsotonicL1_IsOptimal(t *testing.T) {
	r := rng.Seeded(1)
	for trial := range 3000 {
		n := 1 + r.IntN(10)
		g, w := make([]float64, n), make([]float64, n)
		for k := range g {
			g[k], w[k] = r.NormFloat64(), r.Float64()
			if trial%2 == 0 { // ties, and weights of 0
				g[k], w[k] = float64(r.IntN(6)), float64(r.IntN(4))
			}
		}
		lo := float64(r.IntN(4)) - 2
		hi := lo + float64(r.IntN(4))
		want := bruteIsotonic(g, w, lo, hi)
		f, err := IsotonicL1(g, w, lo, hi)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.IsSorted(f) || f[0] < lo || f[n-1] > hi || isotonicCost(f, g, w) > want+1e-14*(1+want) {
			t.Fatalf("IsotonicL1(%v, %v, %v, %v) = %v costs %v, want %v", g, w, lo, hi, f, isotonicCost(f, g, w), want)
		}
		free, err := IsotonicL1(g, w, math.Inf(-1), math.Inf(1))
		if err != nil || !slices.IsSorted(free) {
			t.Fatalf("%v, %v", free, err)
		}
		// Mirrored input, mirrored result; on a grid there is no rounding.
		if trial%2 == 0 {
			back, weights := make([]float64, n), make([]float64, n)
			for k := range g {
				back[k], weights[k] = -g[n-1-k], max(1, w[n-1-k])
				w[n-1-k] = weights[k]
			}
			f, _ := IsotonicL1(g, w, lo, hi)
			b, err := IsotonicL1(back, weights, -hi, -lo)
			for k := range b {
				b[k] = -b[k]
			}
			slices.Reverse(b)
			if err != nil || !slices.Equal(b, f) {
				t.Fatalf("mirrored %v, want %v", b, f)
			}
		}
	}
}

func TestIsotonicL1_KeepsAscendingInput(t *testing.T) {
	r := rng.Seeded(2)
	for range 300 {
		n := 1 + r.IntN(20)
		g, w := linePositions(r, n), make([]float64, n)
		slices.Sort(g)
		for k := range w {
			w[k] = r.Float64() * float64(r.IntN(2))
		}
		if f, err := IsotonicL1(g, w, math.Inf(-1), math.Inf(1)); err != nil || !slices.Equal(f, g) {
			t.Fatalf("%v, %v, want %v", f, err, g)
		}
	}
	huge := []float64{math.MaxFloat64, -math.MaxFloat64}
	w := []float64{math.MaxFloat64 / 2, math.MaxFloat64 / 2}
	if f, err := IsotonicL1(huge, w, math.Inf(-1), math.Inf(1)); err != nil || f[0] != 0 || f[1] != 0 {
		t.Errorf("%v, %v, want the midpoint", f, err)
	}
}

// projectCheck: weights >= 0 that any function of this package accepts.
func projectCheck(t *testing.T, p []float64) {
	t.Helper()
	for i, v := range p {
		if !(v >= 0) || v > 1 {
			t.Fatalf("p[%d] = %v", i, v)
		}
	}
	if !isProbability(p) {
		t.Fatalf("total %v", total(p))
	}
}

func TestProjectLine_IsNearest(t *testing.T) {
	r := rng.Seeded(3)
	for trial := range 400 {
		n := 1 + r.IntN(7)
		x, g := linePositions(r, n), lineSigned(r, n)
		if trial%3 == 0 { // another total
			g[r.IntN(n)] += r.NormFloat64()
		}
		p, dist, err := ProjectLine(x, g)
		if err != nil {
			t.Fatal(err)
		}
		projectCheck(t, p)
		// What the total lacks lies at the largest point.
		full := slices.Clone(g)
		full[slices.Index(x, slices.Max(x))] += 1 - total(g)
		extent := slices.Max(x) - slices.Min(x)
		want := refNearest(lineMetric(x), full)
		if math.Abs(dist-want) > 1e-13*extent {
			t.Fatalf("x=%v g=%v: distance %v, want %v", x, g, dist, want)
		}
		if d, err := W1Line(x, p, full); err != nil || math.Abs(d-dist) > 1e-13*extent {
			t.Fatalf("W1Line %v, %v, distance %v", d, err, dist)
		}
		again, dist, err := ProjectLine(x, p)
		if err != nil || dist != 0 || !slices.Equal(again, p) {
			t.Fatalf("not idempotent: %v, %v, %v", again, dist, err)
		}
	}
}

// A group of equal points keeps its weights where nothing forces a change.
func TestProjectLine_Duplicates(t *testing.T) {
	x := []float64{5, 0, 5, 9, 9}
	p, dist, err := ProjectLine(x, []float64{.25, .5, .125, -.125, .25})
	if err != nil || dist != 0 || !slices.Equal(p, []float64{.25, .5, .125, 0, .125}) {
		t.Errorf("%v, %v, %v", p, dist, err)
	}
}

func TestProjectLine_RefusesBadInput(t *testing.T) {
	nan := math.NaN()
	value := func(arg string, index int) func(error) bool {
		return func(err error) bool {
			var v *metric.ValueError
			return errors.As(err, &v) && v.Arg == arg && v.Index == index
		}
	}
	size := func(err error) bool { return errors.As(err, new(*metric.SizeError)) }
	empty := func(err error) bool { return errors.Is(err, metric.ErrEmpty) }
	line := func(x, g []float64) error { _, _, err := ProjectLine(x, g); return err }
	isotonic := func(g, w []float64, lo, hi float64) error { _, err := IsotonicL1(g, w, lo, hi); return err }
	one := []float64{1}
	for k, c := range []struct {
		err error
		is  func(error) bool
	}{
		{line(nil, nil), empty},
		{line(one, nil), empty},
		{line(one, []float64{1, 2}), size},
		{line([]float64{nan}, one), value("x", 0)},
		{line([]float64{1, 2}, []float64{1, math.Inf(1)}), value("g", 1)},
		{line([]float64{1, 2}, []float64{1e308, -1e308}), value("total variation of g", -1)},
		{isotonic(nil, nil, 0, 1), empty},
		{isotonic([]float64{0, nan}, nil, 0, 1), value("g", 1)},
		{isotonic(one, []float64{1, 1}, 0, 1), size},
		{isotonic(one, []float64{-1}, 0, 1), value("w", 0)},
		{isotonic(one, []float64{1e308}, 0, 1), value("w", 0)},
		{isotonic(one, one, nan, 1), value("lo", -1)},
		{isotonic(one, one, 1, 0), value("hi", -1)},
		{isotonic(one, one, 0, nan), value("hi", -1)},
	} {
		if !c.is(c.err) {
			t.Errorf("case %d: %v", k, c.err)
		}
	}
}

// lineObjective is what ProjectLine minimizes.
func lineObjective(x, p, g []float64) float64 {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(x[i], x[j]) })
	var d exact.DD
	sum := 0.0
	for k, i := range order[:len(x)-1] {
		d = d.AddFloat(p[i]).AddFloat(-g[i])
		sum += math.Abs(d.Hi) * (x[order[k+1]] - x[i])
	}
	return sum
}

// fuzzLine reads pairs (position, weight) of 16 bits each, with a scale.
func fuzzLine(data []byte) (x, g []float64) {
	if len(data) < 2 {
		return nil, nil
	}
	sx, sg := int(int8(data[0])), int(int8(data[1]))
	for data = data[2:]; len(data) >= 4 && len(x) < 64; data = data[4:] {
		x = append(x, math.Ldexp(float64(int16(data[0])|int16(data[1])<<8), 8*sx))
		g = append(g, math.Ldexp(float64(int16(data[2])|int16(data[3])<<8), sg))
	}
	return x, g
}

// Any input gives an error or a probability measure, no farther from g than
// some others: all mass at one point, the positive part renormalised, and random
// ones.
func FuzzProjectLine(f *testing.F) {
	f.Add([]byte{0, 0, 1, 0, 1, 0, 2, 0, 255, 255, 3, 0, 1, 0})
	f.Add([]byte{0, 240, 1, 0, 1, 0, 1, 0, 255, 127, 1, 0, 1, 128})
	f.Add([]byte{127, 120, 1, 0, 1, 64, 9, 128, 255, 0, 3, 0, 1, 1})
	f.Add([]byte{128, 128, 7, 0, 1, 64, 9, 0, 255, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		x, g := fuzzLine(data)
		p, dist, err := ProjectLine(x, g)
		if err != nil {
			var v *metric.ValueError
			if !errors.Is(err, metric.ErrEmpty) && !errors.As(err, &v) {
				t.Fatal(err)
			}
			return
		}
		projectCheck(t, p)
		size := 1.0
		for _, w := range g {
			size += math.Abs(w)
		}
		// Each G_k, F_k and their difference is rounded, to an ulp of size.
		slack := 8 * float64(len(g)) * 0x1p-53 * size * (slices.Max(x) - slices.Min(x))
		if own := lineObjective(x, p, g); math.Abs(own-dist) > slack {
			t.Fatalf("distance %v, stated %v", lineObjective(x, p, g), dist)
		}
		r := rand.New(rand.NewPCG(1, 2))
		for try := range len(x) + 4 {
			q := make([]float64, len(x))
			if try < len(x) {
				q[try] = 1
			} else {
				sum := 0.0
				for i := range q {
					q[i] = max(0, g[i])
					if try > len(x) {
						q[i] = r.ExpFloat64()
					}
					sum += q[i]
				}
				if sum == 0 || math.IsInf(sum, 1) {
					continue
				}
				for i := range q {
					q[i] /= sum
				}
			}
			if c := lineObjective(x, q, g); c < dist-slack {
				t.Fatalf("distance %v, but %v is at %v", dist, q, c)
			}
		}
	})
}

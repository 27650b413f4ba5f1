package leastsquares

import (
	"context"
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// randomMatrix has columns of sum 1.
func randomMatrix(rows, cols int, seed uint64) *Sparse {
	rng := random.Seeded(seed)
	s := NewSparse(rows)
	for range cols {
		for r, v := range testkit.Distribution(rng, rows, func(int) bool { return rng.IntN(2) == 0 }) {
			s.Set(r, v)
		}
		s.Close()
	}
	return s
}

func value(a Matrix, p, y []float64) float64 {
	rows, _ := a.Dims()
	r := make([]float64, rows)
	a.Apply(r, p)
	floats.Sub(r, y)
	return floats.Dot(r, r) / 2
}

// TestFit_IsOptimal against every point of a fine grid of the simplex of 4, and
// within its gap, for noise small and large.
func TestFit_IsOptimal(t *testing.T) {
	for seed := range uint64(20) {
		a := randomMatrix(3, 4, seed)
		rng := random.Seeded(seed)
		y := []float64{rng.Float64(), rng.Float64(), rng.NormFloat64()}
		p, gap, err := Fit(t.Context(), a, y, 1e-3)
		testkit.Check(t, err)
		if floats.Min(p) < 0 || math.Abs(floats.Sum(p)-1) > 1e-12 || !(gap <= 1e-9) {
			t.Fatalf("seed %d: %v, gap %v", seed, p, gap)
		}
		const n = 40
		for i := range n + 1 {
			for j := range n + 1 - i {
				for k := range n + 1 - i - j {
					q := []float64{float64(i) / n, float64(j) / n, float64(k) / n, float64(n-i-j-k) / n}
					if value(a, q, y) < value(a, p, y)-gap-1e-15 {
						t.Fatalf("seed %d: %v is better than %v", seed, q, p)
					}
				}
			}
		}
	}
}

// TestFit_Converges to the gap promised, where hundreds of steps do not: narrow
// columns that overlap almost wholly.
func TestFit_Converges(t *testing.T) {
	const rows, cols = 60, 300
	a := NewSparse(rows)
	for j := range cols {
		for r := range rows {
			d := float64(r)/rows - float64(j)/cols
			a.Set(r, max(0, 1-float64(20*math.Abs(d))))
		}
		a.Close()
	}
	p := make([]float64, cols)
	p[10], p[200], p[207] = 0.5, 0.25, 0.25
	y := make([]float64, rows)
	a.Apply(y, p)
	_, gap, err := Fit(t.Context(), a, y, 1e-3)
	testkit.Check(t, err)
	if gap > 1e-9 {
		t.Errorf("gap %v", gap)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Fit(ctx, a, y, 1e-9); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestNorm_IsAbove the quotient of any vector, and close to the largest.
func TestNorm_IsAbove(t *testing.T) {
	a := randomMatrix(8, 20, 3)
	rng := random.Seeded(1)
	work, rest := make([]float64, 20), make([]float64, 8)
	start := make([]float64, 20)
	floats.AddConst(0.05, start)
	bound, best := norm(a, start, work, rest), 0.0
	x := append([]float64(nil), start...)
	for range 200 {
		a.Apply(rest, x)
		q := floats.Dot(rest, rest) / floats.Dot(x, x)
		if q > bound*(1+1e-12) {
			t.Fatalf("%v above the bound %v", q, bound)
		}
		best = max(best, q)
		a.Adjoint(x, rest)
		for i := range x {
			x[i] *= 1 + 0.1*rng.Float64()
		}
		floats.Scale(1/floats.Max(x), x)
	}
	if bound > 1.1*best {
		t.Errorf("bound %v, best %v", bound, best)
	}
}

// TestBounded_BoundHolds for the noises of two values that come nearest to it, and
// of no others by much: F is 1 at anchor 1 with probability p, or v.
func TestBounded_BoundHolds(t *testing.T) {
	b := &Bounded{Parent: []int{-1, 0}, Length: []float64{0, 1}, Blur: 3, Deviation: 1, Whole: 4}
	for _, top := range []float64{0, 0.5, 0.8, 1, 1.2, 2} {
		bound, most := b.Bound(0, 4*top)-b.Blur, 0.0
		for v := 0.0; v <= 4; v += 0.01 {
			for w := 0.0; w <= v; w += 0.01 {
				p := 1.0 // of v: as often as the square mean allows
				if v > top {
					p = max(0, float64(top*top-w*w)/float64(v*v-w*w))
				}
				if w <= top {
					most = max(most, float64(p*(v+max(1, v)))+float64((1-p)*(w+max(1, w))))
				}
			}
		}
		if most > bound*(1+1e-12) || most < bound*0.995 {
			t.Errorf("noise %v of what was planned: bound %v, attained %v", top, bound, most)
		}
	}
}

// TestBounded_ResolutionHolds: without noise the fit is as near in F as stated, and no
// nearer than where it may end.
func TestBounded_ResolutionHolds(t *testing.T) {
	b := &Bounded{Parent: []int{-1, 0, 1, 1, 0}, Length: []float64{0, 1, 2, 1, 5}}
	most := 0.0
	for seed := range uint64(50) {
		a := randomMatrix(5, 30, seed)
		y := make([]float64, 5)
		a.Apply(y, testkit.Distribution(random.Seeded(seed), 30, func(int) bool { return false }))
		_, gap, err := Fit(t.Context(), a, y, 1e9) // ends where it starts
		testkit.Check(t, err)
		noise := math.Sqrt(gap/enough) * (1 + 1e-9) // as small as lets it
		p, _, err := Fit(t.Context(), a, y, noise)
		testkit.Check(t, err)
		image := make([]float64, 5)
		a.Apply(image, p)
		floats.Sub(image, y)
		b.Deviation = noise
		most = max(most, b.cost(image)/b.Resolution())
	}
	if most > 1 || most < 0.1 {
		t.Errorf("off by %v times the bound in F", most)
	}
}

// TestBounded_FallsBack: where the fit leaves more than the noise explains, the
// answer is nearest in F, and otherwise it is the fit.
func TestBounded_FallsBack(t *testing.T) {
	b := &Bounded{Parent: []int{-1, 0, 0}, Length: []float64{0, 1, 2}, Output: []int{0, 1, 2}, Whole: 10}
	a := NewSparse(3)
	for i := range 3 {
		a.Set(i, 1)
		a.Close()
	}
	for _, c := range []struct{ deviation, p1 float64 }{{1, 0.9 - 0.8/3}, {1e-3, 0.6}} {
		b.Deviation = c.deviation
		p := testkit.Must(b.Fit(t.Context(), a, []float64{5, 9, 4})) // least squares takes .2667 from each
		if math.Abs(p[1]-c.p1) > 1e-3 {
			t.Errorf("deviation %v: %v", c.deviation, p)
		}
	}
	// Below anchor 1 lies one noise, below 2 another.
	if n := b.Noise(0.5); n != 1.5 {
		t.Errorf("noise %v", n)
	}
	if f := b.cost([]float64{5, -1, 0.5}); f != 2 {
		t.Errorf("F = %v", f)
	}
}

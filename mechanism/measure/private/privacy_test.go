package private

import (
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/samples"
	"github.com/metricdp/metricdp/walk"
)

var _ mechanism.Mechanism[[]float64, []float64] = (*Measure)(nil)

// A measure's level is not above what was asked for, however the scales of its levels round.
func TestPlan_LevelIsNotAboveTheOneAskedFor(t *testing.T) {
	r, d := random.Seeded(61), samples.Unit(1, domain.BoxOptions{Depth: 7})
	for range 200 {
		scales := make([]float64, 7)
		for i := range scales {
			scales[i] = math.Exp(r.NormFloat64())
		}
		level := math.Exp(3 * r.NormFloat64())
		p := testkit.Must(newPlan("test", d, level, Options{Distribution: walk.Laplace, Scales: scales}))
		if p.loss > level || p.loss < level*(1-1e-12) {
			t.Fatalf("level %v: %v", level, p.loss)
		}
	}
}

// The level of a Measure, by the exact density of its noise: on a regular tree a shift of mass
// between two leaves is the worst, and the walk's potential knows its log ratio.
func TestMeasure_Level(t *testing.T) {
	testkit.Rounding(t)
	for name, d := range samples.Tiny() {
		m := testkit.Must(New(d, 5, nil))
		n := d.Len()
		r := random.Seeded(2)
		z := make([]float64, n)
		worst := 0.0
		for range 2000 {
			testkit.Check(t, m.p.walk.Increments(r, z))
			v := testkit.Must(m.p.walk.Potential(z))
			for i := range n {
				for j := range n {
					if i == j {
						continue
					}
					const tv = 0.01
					y := append([]float64(nil), z...)
					y[i] += tv
					y[j] -= tv
					worst = max(worst, math.Abs(testkit.Must(m.p.walk.Potential(y))-v)/tv)
				}
			}
		}
		alpha := m.Guarantee().Alpha()
		if alpha > 5 || worst > alpha*(1+1e-9) || worst < 0.99*alpha {
			t.Errorf("%s: level %v, stated %v", name, worst, alpha)
		}
	}
}

// What a Measure draws is what its level assumes: between two cells the difference has a Laplace
// distribution of the scale. False-reject probability as of testkit.Uniform.
func TestMeasure_DrawsStatedLaw(t *testing.T) {
	m := testkit.Must(New(samples.Tiny()["pair"], 5, &Options{Estimator: Signed}))
	r := random.Seeded(6)
	u := make([]float64, 20_000)
	for i := range u {
		w := testkit.Must(m.Release(r, []float64{0.75, 0.25}))
		z := (w[0] - w[1] - 0.5) / m.p.scales.Level[0]
		if u[i] = math.Exp(-math.Abs(z)) / 2; z > 0 {
			u[i] = 1 - u[i]
		}
	}
	testkit.Uniform(t, "difference", u)
}

// Of two measures that differ by 2^-40 the noise of neither is told by its last bits, as it would
// be if it were b times a float64, b the scale. A difference of 6 standard errors, 2e-9.
func TestMeasure_LowBitsTellNothing(t *testing.T) {
	m := testkit.Must(New(samples.Tiny()["pair"], 0.073, &Options{Estimator: Signed}))
	b := m.p.scales.Level[0]
	possible := func(d float64) bool { // that d is b times a float64, rounded
		e := d / b
		return float64(b*e) == d || float64(b*math.Nextafter(e, 0)) == d || float64(b*math.Nextafter(e, 2*e)) == d
	}
	const draws = 20_000
	var share [2]float64
	for i, off := range []float64{0, 0x1p-40} {
		r := random.Seeded(7)
		for range draws {
			w := testkit.Must(m.Release(r, []float64{0.5 + off, 0.5 - off}))
			if possible(2 * (w[0] - 0.5)) {
				share[i] += 1.0 / draws
			}
		}
	}
	if gap := math.Abs(share[0] - share[1]); gap > 6*math.Sqrt(0.5/draws) {
		t.Errorf("%v of the releases of one measure are possible, and %v of those of the other", share[0], share[1])
	}
}

// Signed estimates of two cells are half of 1 and of a multiple of the public step, from
// weights of any size.
func TestMeasure_ReleasesTheGridAlone(t *testing.T) {
	r := random.Seeded(8)
	d := samples.Tiny()["pair"]
	for _, alpha := range []float64{0.01, 5, 1e5, 1e12, 1e30} {
		m := testkit.Must(New(d, alpha, &Options{Estimator: Signed}))
		step := m.p.noise[0].Step()
		for range 2000 {
			x := r.Float64() * math.Ldexp(1, -r.IntN(80))
			w := testkit.Must(m.Release(r, []float64{x, r.Float64()}))
			if k := (2*min(w[0], w[1]) - 1) / step; k != math.Round(k) { // the other may be rounded
				t.Fatalf("alpha = %v: %v, of which the difference is %v steps", alpha, w, k)
			}
		}
	}
}

// The level for records is alpha/N to the last bit: the release of 10 records is that of counts in
// another unit, whose float64 shares differ by other roundings.
func TestMeasure_CountsAreDividedExactly(t *testing.T) {
	d := samples.Domains()["net"]
	for seed := range uint64(20) {
		r := random.Seeded(seed)
		m := testkit.Must(New(d, 30, nil))
		var points []int
		for range 10 {
			points = append(points, d.Point(r.IntN(d.Len())))
		}
		counts := testkit.Must(d.Weights(points, nil))
		thrice := testkit.Must(d.Weights(slices.Concat(points, points, points), nil))
		sum := 0.0
		for c, n := range counts {
			if sum += n; thrice[c] != 3*n {
				t.Fatalf("cell %d: %v and %v", c, n, thrice[c])
			}
		}
		a, b := testkit.Must(m.Release(random.Seeded(seed), counts)), testkit.Must(m.Release(random.Seeded(seed), thrice))
		if sum != 10 || !slices.Equal(a, b) {
			t.Fatalf("%v of %v records, %v of thrice as many", a, sum, b)
		}
	}
}

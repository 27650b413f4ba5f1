package private

import (
	"fmt"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/sample"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/samples"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/walk"
	"github.com/metricdp/metricdp/wasserstein"
)

// signedW1 is the distance between a signed measure and another one.
func signedW1(t *testing.T, f metric.Finite, g, p []float64) float64 {
	mu, nu, sum := make([]float64, len(g)), make([]float64, len(g)), 0.0
	for i := range g {
		mu[i], nu[i] = max(0, g[i]-p[i]), max(0, p[i]-g[i])
		sum += mu[i] - nu[i]
	}
	mu[0] -= min(0, sum)
	nu[0] += max(0, sum)
	return testkit.Must(wasserstein.W1(t.Context(), f, mu, nu, nil)).Cost
}

// Haar noise on the line: the mean of roots, below the root of the mean.
func TestBound_HaarOnTheLine(t *testing.T) {
	testkit.Rounding(t)
	at := make([]float64, 1024)
	for i := range at {
		at[i] = float64(i) / 1024
	}
	points := testkit.Must(metric.NewPoints(at, metric.Numbers[float64]{})) // with coordinates there is no tour to find
	m := testkit.Must(New(testkit.Must(domain.NewFolded(t.Context(), points, nil)), 1, nil))
	if b := testkit.Must(m.Bound()); b.Signed < 25 || b.Signed > 26.6666659 {
		t.Errorf("bound %v", b.Signed)
	}
}

// Bound.Signed is at least the mean error of Signed estimates, Weighted that of the default,
// and LowerBound no more than the error of anything.
func TestBound_Order(t *testing.T) {
	for name, d := range samples.Domains() {
		if d.Len() == 1 {
			continue
		}
		const n = 500
		m := testkit.Must(New(d, n, &Options{Estimator: Signed}))
		b, lower := testkit.Must(m.Bound()), testkit.Must(m.LowerBound(t.Context()))
		if !(lower > 0 && lower < b.Signed && b.Nearest == 2*b.Signed) {
			t.Errorf("%s: %+v, at least %v", name, b, lower)
		}
		dist := testkit.Must(d.Points())
		truth := testkit.Distribution(random.Seeded(1), d.Len(), nil)
		var cost []float64
		for seed := range 40 {
			cost = append(cost, signedW1(t, dist, testkit.Must(m.Release(random.Seeded(uint64(seed)), truth)), truth))
		}
		if mean, se := sample.Mean(cost); mean-5*se > b.Signed {
			t.Errorf("%s: signed error %v +- %v, bound %v", name, mean, se, b.Signed)
		}
		weighted := testkit.Must(New(d, n, nil))
		for _, k := range []int{1, 2, (d.Len() + 1) / 2, d.Len()} { // points, evenly spread
			mu, cost := make([]float64, d.Len()), cost[:0]
			for i := range k {
				mu[i*d.Len()/k] = 1 / float64(k)
			}
			for seed := range 10 {
				w := testkit.Must(weighted.Release(random.Seeded(uint64(seed)), mu))
				cost = append(cost, testkit.Must(wasserstein.Distance(t.Context(), dist, mu, w)))
			}
			if mean, se := sample.Mean(cost); mean-10*se > b.Weighted || b.Weighted > 30*b.Signed {
				t.Errorf("%s: weighted error %v +- %v at %d points, bound %v", name, mean, se, k, b.Weighted)
			}
		}
	}
}

// In closed form: k cells in a row on an interval of length 1, whose noise has the variance v(1-1/k).
func TestBound_WeightedInARow(t *testing.T) {
	const k = 64.
	d := testkit.Must(domain.NewBox([]domain.Column{{Hi: 1}}, &domain.BoxOptions{Splits: [][]int{{k}}}))
	m := testkit.Must(New(d, 1e3, nil))
	v := m.p.noise[0].Variance(k)
	want := (1+1/k)/4*math.Sqrt(v*k*(k-1)) + math.Sqrt(v*(k*k-1)/(12*k))
	if got := testkit.Must(m.Bound()).Weighted; math.Abs(got/want-1) > 1e-3 || got < want {
		t.Errorf("%v, want %v", got, want)
	}
}

// On two points, each with half of the mass, the error is half the difference of two noises, and
// the bound its deviation: of K-norm noise, which is one Laplace variate there, sqrt(2) times the
// mean.
func TestBound_WeightedIsTightOnTwoPoints(t *testing.T) {
	d := testkit.Must(domain.NewBox([]domain.Column{{Categories: 2}}, nil))
	m := testkit.Must(New(d, 40, nil))
	b := testkit.Must(m.Bound())
	r, mean := random.Seeded(1), 0.0
	for range 4000 {
		mean += math.Abs(testkit.Must(m.Release(r, []float64{1, 1}))[0]-.5) * d.Diameter() / 4000
	}
	if q := b.Weighted / mean / math.Sqrt2; math.Abs(q-1) > .1 { // 6 deviations
		t.Errorf("mean error %v, bound %v", mean, b.Weighted)
	}
}

// Where there is next to no noise the bound is that of rounding to the grid.
func TestBound_CountsTheGrid(t *testing.T) {
	r := random.Seeded(9)
	d := samples.Tiny()["pair"]
	m := testkit.Must(New(d, 1e30, &Options{Estimator: Signed}))
	b := testkit.Must(m.Bound())
	worst := 0.0
	for range 1000 {
		x, y := r.Float64(), r.Float64()
		w := testkit.Must(m.Release(r, []float64{x, y}))
		worst = max(worst, math.Abs(w[0]-x/(x+y))*d.Diameter())
	}
	if worst > b.Signed || worst < b.Signed/4 {
		t.Errorf("the largest error is %v, the bound %v", worst, b.Signed)
	}
}

// A domain of one cell has nothing to tell apart: no noise, no error.
func TestBound_OneCell(t *testing.T) {
	d := testkit.Must(domain.NewBox([]domain.Column{{Lo: 0, Hi: 1}}, &domain.BoxOptions{Splits: [][]int{{1}}}))
	m := testkit.Must(New(d, 1, nil))
	b, lower := testkit.Must(m.Bound()), testkit.Must(m.LowerBound(t.Context()))
	if b.Signed != 0 || lower != 0 || b.Resolution != 0.5 {
		t.Errorf("%+v, %v", b, lower)
	}
}

// The spread of a node must bound the cost of its noise: compare the closed form
// with simulated transport between the children of every shape.
func TestSpread_BoundsNoise(t *testing.T) {
	for _, o := range []domain.BoxOptions{{Depth: 4}, {Depth: 4, P: 1}, {Depth: 3, P: 2}, {Splits: [][]int{{1, 3}, {5, 2}}}} {
		spreadBoundsNoise(t, fmt.Sprint(o), samples.Unit(2, o))
	}
	spreadBoundsNoise(t, "line", samples.Unit(1, domain.BoxOptions{Depth: 9}))
	spreadBoundsNoise(t, "space", samples.Unit(3, domain.BoxOptions{Depth: 4}))
	spreadBoundsNoise(t, "mixed", testkit.Must(domain.NewBox([]domain.Column{{Hi: 1}, {Categories: 5}}, &domain.BoxOptions{Depth: 4})))
	spreadBoundsNoise(t, "sphere", testkit.Must(domain.NewSphere(1, &domain.SphereOptions{Depth: 5})))
	for name, d := range samples.Domains() {
		spreadBoundsNoise(t, name, d)
	}
}

func spreadBoundsNoise[P any](t *testing.T, name string, d *domain.Domain[P]) {
	p := testkit.Must(newPlan("test", d, 1, Options{Distribution: walk.Laplace}))
	cells := metric.Finite(testkit.Must(d.Points()))
	if p.Line != nil {
		cells = samples.Line(p.Line...)
	}
	for class, s := range p.Classes {
		if s.Arity < 2 || s.Spread == 0 {
			continue
		}
		v := class
		if p.Regular { // the first of its level
			v, _ = p.Tree.Level(class)
		}
		var middles []int // the cells that stand for its children
		for c, hi := p.Tree.Children(v); c < hi; c++ {
			first, end := p.Tree.LeafRange(c)
			middles = append(middles, (first+end)/2)
		}
		children := testkit.Must(metric.Subset(cells, middles))
		r, z, none := random.Seeded(uint64(class)), make([]float64, s.Arity), make([]float64, s.Arity)
		w := testkit.Must(walk.New(testkit.Must(walk.Levels(s.Arity)), walk.Laplace, walk.Scales{Level: p.scales.Level[s.Depth : s.Depth+1]}))
		var cost []float64
		for range 100 {
			testkit.Check(t, w.Increments(r, z))
			cost = append(cost, signedW1(t, children, z, none))
		}
		mean, se := sample.Mean(cost)
		bound := s.Spread * math.Sqrt(p.noise[s.Depth].Variance(s.Arity))
		if mean-5*se > bound {
			t.Errorf("%s: node %d costs %v +- %v, bound %v", name, class, mean, se, bound)
		}
		if p.Regular && bound > 7*mean {
			t.Errorf("%s: level %d costs %v, bound %v is loose", name, class, mean, bound)
		}
	}
}

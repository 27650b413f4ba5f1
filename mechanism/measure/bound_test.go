package measure

import (
	"fmt"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
)

// The W1 error is at most Confidence(1, 1-beta) but for a fraction beta of
// releases: of 300, none may exceed it at beta = 1e-6 (false reject 3e-4 at the
// very worst; the bound has a wide margin and the seed is fixed).
func TestConfidence_Covers(t *testing.T) {
	for name, d := range testDomains() {
		if d.Len() == 1 {
			continue
		}
		f := testkit.Must(d.Points())
		for _, o := range []SynthesizerOptions{{}, {Estimator: Nearest}, {Estimator: Clipped, Distribution: DiscreteLaplace}, {Relation: AddRemoveOne}} {
			s := testkit.Must(NewSynthesizer(d, 1, &o))
			r := random.Seeded(7)
			for range 10 {
				c := randomCounts(d, 3000, r)
				out := testkit.Must(s.Release(r, c))
				mu := make([]float64, d.Len())
				for i, n := range c.dense() {
					mu[i] = float64(n) / 3000
				}
				truth := testkit.Must(wasserstein.W1(t.Context(), f, mu, out.Weights, nil)).Cost
				limit := testkit.Must(out.Confidence(1, 1-1e-6))
				if truth > limit {
					t.Errorf("%s %+v: error %v, bound %v", name, o, truth, limit)
				}
				if half := testkit.Must(out.Confidence(0.5, 1-1e-6)); math.Abs(half-limit/2) > 1e-12*limit {
					t.Errorf("not linear in the Lipschitz constant: %v, %v", limit, half)
				}
			}
		}
	}
}

// Two measures are at most the largest distance of two points apart, and
// Confidence never says more: not where noise drowns the data, not along a
// folding, and not for a lazy domain.
func TestConfidence_AtMostTheLargestDistance(t *testing.T) {
	for name, d := range testDomains() {
		atMostTheLargestDistance(t, name, d)
	}
	clouds := randomPoints(200, 2, 3)
	for name, o := range map[string]FoldedOptions{"Hilbert": {}, "tour": {Tour: true}, "net": {Separation: 0.3}} {
		d := testkit.Must(NewFolded(t.Context(), clouds, &o))
		atMostTheLargestDistance(t, name, d)
		atMostTheLargestDistance(t, name+" on", testkit.Must(On(t.Context(), d, clouds)))
	}
	for _, o := range []BoxOptions{{Signal: 500}, {Signal: 500, P: 1}, {Signal: 500, P: 2}, {Signal: 500, Lazy: true}} {
		columns := []Column{{Hi: 2, Weight: 3}, {Categories: 3}, {Lo: -1, Hi: 1}, {Categories: 1, Weight: 9}}
		atMostTheLargestDistance(t, "line", testkit.Must(NewBox(columns[:1], &o)))
		atMostTheLargestDistance(t, "box", testkit.Must(NewBox(columns, &o)))
		atMostTheLargestDistance(t, "categories", testkit.Must(NewBox(columns[1:2], &o)))
	}
	atMostTheLargestDistance(t, "sphere", testkit.Must(NewSphere(7, &SphereOptions{Signal: 500})))
}

func atMostTheLargestDistance[P any](t *testing.T, name string, d *Domain[P]) {
	t.Helper()
	points := make([]P, d.Len())
	largest := 0.0
	for c := range points {
		points[c] = d.Point(c)
		for _, q := range points[:c] {
			largest = max(largest, d.Distance(q, points[c]))
		}
	}
	if x := d.Diameter(); x > largest*(1+1e-12) || x < largest {
		t.Errorf("%s: the diameter of %v is %v, the largest distance %v", name, d, x, largest)
	}
	c := testkit.Must(CountAll(t.Context(), d, points, nil))
	for _, eps := range []float64{1e-3, 1, 100} {
		for _, relation := range []Relation{ReplaceOne, AddRemoveOne} {
			out := testkit.Must(testkit.Must(NewSynthesizer(d, eps, &SynthesizerOptions{Relation: relation})).Release(random.Seeded(1), c))
			for _, beta := range []float64{1e-9, 0.5} {
				if got := testkit.Must(out.Confidence(2, 1-beta)); got > 2*largest*(1+1e-12) {
					t.Errorf("%s %v: eps = %v, %v: Confidence %v, but no two points are farther apart than %v", name, d, eps, relation, got/2, largest)
				}
			}
		}
	}
}

// A Signed measure may be farther from the data than any two points, and
// Confidence covers that too: of 50 means none is off by more, at beta = 1e-8.
func TestConfidence_CoversSigned(t *testing.T) {
	d := unitBox(1, BoxOptions{Depth: 6})
	far := false
	for _, relation := range []Relation{ReplaceOne, AddRemoveOne} {
		c := d.NewCounts()
		testkit.Check(t, c.AddN(d.Point(20), 2000))
		s := testkit.Must(NewSynthesizer(d, 0.003, &SynthesizerOptions{Estimator: Signed, Relation: relation}))
		r := random.Seeded(11)
		for range 25 {
			out := testkit.Must(s.Release(r, c))
			off := math.Abs(out.Mean(func(x []float64) float64 { return x[0] }) - d.Point(20)[0])
			if limit := testkit.Must(out.Confidence(1, 1-1e-8)); off > limit {
				t.Errorf("%v: the mean is off by %v, at most %v was claimed", relation, off, limit)
			}
			far = far || off > d.Diameter()
		}
	}
	if !far {
		t.Error("no mean was off by more than the diameter: the test shows nothing")
	}
}

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

// By hand, for two cells at distance D whose difference has noise K of scale b,
// so that W1 is half of D|K|. Under AddRemoveOne half of beta pays for the
// number of records, which is at least the noisy one less q, and the rest for
// the cells.
func TestConfidence_KnownAnswers(t *testing.T) {
	const total, moved = 5000., 0.125
	d := tinyTrees()["pair"]
	for _, beta := range []float64{0.3, 0.01, 1e-6} {
		for _, relation := range []Relation{ReplaceOne, AddRemoveOne} {
			s := testkit.Must(NewSynthesizer(d, 1, &SynthesizerOptions{Relation: relation}))
			b, cells, q := s.p.scales.Level[0], beta, 0.
			if relation == AddRemoveOne {
				cells, q = beta/2, s.p.scales.Total*math.Log(2/(beta/2))
			}
			mean := d.Diameter() / 2 * math.Sqrt(1/(2*math.Pow(math.Sinh(1/(2*b)), 2)))
			width, tail := s.p.shape[0].diameter*b/2, math.Inf(1)
			for u := 0.0001; u < 1; u += 0.0001 {
				tail = min(tail, width*(math.Log(1/cells)-2*math.Log(1-u*u))/u)
			}
			want := (mean + tail + q*d.Diameter() + moved*total) / (total - q)
			out := &Release[int]{s: s, Total: total, moved: moved}
			if got := testkit.Must(out.Confidence(1, 1-beta)); got < want*(1-1e-9) || got > want*1.003 {
				t.Errorf("%v, beta = %v: Confidence %v, by hand %v", relation, beta, got, want)
			}
			// P{|K| >= k} = 2 e^(-k/b) / (1 + e^(-1/b)) for whole k > 0.
			tooMuch := func(scale, k float64) float64 { return 2 * math.Exp(-math.Ceil(k)/scale) / (1 + math.Exp(-1/scale)) }
			if p := tooMuch(b, 2*(tail+mean)/d.Diameter()); p > cells {
				t.Errorf("%v: the cost is as large as claimed with probability %v, not %v", relation, p, cells)
			}
			if relation == AddRemoveOne && tooMuch(s.p.scales.Total, q) > beta-cells {
				t.Errorf("the total is off by as much as claimed with probability %v", tooMuch(s.p.scales.Total, q))
			}
		}
	}
}

// The diameter of many points without coordinates is not too small, nor more
// than twice too large, whatever the shape of their tree says.
func TestDiameter_ManyPoints(t *testing.T) {
	const n = exactDiameter + 50
	f := space{n, func(i, j int) float64 { return math.Abs(float64(i*i%n - j*j%n)) }}
	largest, _, _, _ := metric.Diameter(t.Context(), f)
	for _, shape := range []float64{largest, 1e9} {
		a := &arrangement{shape: []nodeShape{{diameter: shape}}}
		if err := (&net{f: f}).measureDiameter(t.Context(), "", a); err != nil || a.diameter < largest || a.diameter > 2*largest {
			t.Errorf("diameter %v, the largest distance is %v: %v", a.diameter, largest, err)
		}
	}
	nan := space{n, func(i, j int) float64 { return f.Distance(i, j) + math.Log(float64(n-2-j)) }}
	if err := (&net{f: nan}).measureDiameter(t.Context(), "", &arrangement{shape: make([]nodeShape, 1)}); err == nil {
		t.Error("a distance that is NaN has a diameter")
	}
}

// Known answers, of another simulation: on the line E W1 in units of 1/alpha,
// and in one unit node the cost of centered noise of scale 1. Standard errors
// are below 1.5 % on either side, and the one for the line is asymptotic.
func TestBound_KnownAnswers(t *testing.T) {
	o := &BoundOptions{Draws: 1000}
	check := func(name string, got, want float64) {
		if math.Abs(got/want-1) > 0.06 {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	points := make(linePoints, 1024)
	for i := range points {
		points[i] = float64(i) / 1024
	}
	line := func(d *Domain[int], dist Distribution) Bound {
		return testkit.Must(testkit.Must(NewMeasure(d, 1, &MeasureOptions{Distribution: dist})).Bound(t.Context(), o))
	}
	haar := line(testkit.Must(NewFolded(t.Context(), points, nil)), KNorm)
	check("Haar, L = 10", haar.Simulated, 20.72)
	if haar.Signed < 25 || haar.Signed > 26.6666659 { // mean of roots, below the root of the mean
		t.Errorf("Haar, L = 10: bound %v", haar.Signed)
	}
	check("independent (32,32)", line(testkit.Must(NewFolded(t.Context(), points, &FoldedOptions{Arity: 32})), Laplace).Simulated, 14.23)
	for _, c := range []struct {
		splits []int
		want   float64
	}{{[]int{2, 2}, 0.92}, {[]int{4, 4}, 2.64}, {[]int{4, 4, 4}, 8.98}, {[]int{16}, 0.443 * 4}} {
		d := unitBox(len(c.splits), BoxOptions{Splits: [][]int{c.splits}})
		m := testkit.Must(NewMeasure(d, 2, &MeasureOptions{Distribution: Laplace})) // scale 2h/alpha = 1
		check(fmt.Sprint("unit node ", c.splits), testkit.Must(m.Bound(t.Context(), o)).Simulated, c.want)
	}
}

// Bound.Signed is at least the mean error of Signed estimates, and Lower no more
// than the error of anything.
func TestBound_Order(t *testing.T) {
	for name, d := range testDomains() {
		if d.Len() == 1 {
			continue
		}
		const n = 500
		s := testkit.Must(NewSynthesizer(d, 1, &SynthesizerOptions{Estimator: Signed}))
		b := testkit.Must(s.Bound(t.Context(), n, nil))
		if !(b.Lower > 0 && b.Lower < b.Simulated && b.Simulated < b.Signed+5*b.StdErr && b.Nearest == 2*b.Signed) {
			t.Errorf("%s: %+v", name, b)
		}
		dist := testkit.Must(d.Points())
		c := randomCounts(d, n, random.Seeded(1))
		var cost []float64
		for seed := range 40 {
			out := testkit.Must(s.Release(random.Seeded(uint64(seed)), c))
			truth := make([]float64, d.Len())
			for i, k := range c.dense() {
				truth[i] = float64(k) / n
			}
			cost = append(cost, signedW1(t, dist, out.Weights, truth))
		}
		if mean, se := meanAndError(cost); mean-5*se > b.Signed {
			t.Errorf("%s: signed error %v +- %v, bound %v", name, mean, se, b.Signed)
		}
		m := testkit.Must(testkit.Must(NewMeasure(d, n, nil)).Bound(t.Context(), nil))
		if !(m.Lower > 0 && m.Lower < m.Signed) {
			t.Errorf("%s: measure %+v", name, m)
		}
	}
}

// On uniform records of the line the default is within half of the error of the
// paper's construction, and ahead of PMM. The seeds are fixed; BenchmarkW1
// measures the same and more, 13.0, 27.1 and 26.2 with standard errors of 2 %.
func TestAccuracy_HalfOfPaper(t *testing.T) {
	const n, seeds = 10000, 20
	run := func(d *Domain[[]float64], o *SynthesizerOptions) float64 {
		s := testkit.Must(NewSynthesizer(d, 1, o))
		var w []float64
		for seed := range seeds {
			r := random.Seeded(uint64(seed))
			x := uniformRecords(1)(r, n)
			w = append(w, n*w1(t, x, releaseOf(t, s, r, x)))
		}
		mean, _ := meanAndError(w)
		return mean
	}
	ours := run(unitBox(1, BoxOptions{Signal: n}), nil)
	baseline := run(unitBox(1, pmmCells(1, n)), pmm())
	pts := testkit.Must(metric.NewPoints(lattice(1, 1<<14), metric.Chebyshev{}))
	paper := run(testkit.Must(On(t.Context(), testkit.Must(NewFolded(t.Context(), pts, nil)), pts)), &SynthesizerOptions{Estimator: Nearest})
	if ours > paper/2 || ours > baseline/2*1.1 {
		t.Errorf("N E W1: default %.2f, paper %.2f, PMM %.2f", ours, paper, baseline)
	}
}

// A domain of one cell has nothing to tell apart: no noise, no error.
func TestBound_OneCell(t *testing.T) {
	d := testkit.Must(NewBox([]Column{{Lo: 0, Hi: 1}}, &BoxOptions{Splits: [][]int{{1}}}))
	s := testkit.Must(NewSynthesizer(d, 1, nil))
	b, err := s.Bound(t.Context(), 10, nil)
	if err != nil || b.Signed != 0 || b.Simulated != 0 || b.Lower != 0 || b.Resolution != 0.5 {
		t.Errorf("%+v, %v", b, err)
	}
	m := testkit.Must(NewMeasure(d, 1, nil))
	if b, err := m.Bound(t.Context(), nil); err != nil || b.Signed != 0 || b.Lower != 0 {
		t.Errorf("%+v, %v", b, err)
	}
}

package exponential

import (
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/game"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/metric"
)

// The spaces that Snapped knows, with points at distance 0, on one line, near and far.
func snappable(t testing.TB) map[string]metric.Finite {
	r := random.Seeded(31)
	flat, globe, numbers := make([][2]float64, 25), make([]metric.LatLon, 25), make([]int, 25)
	for i := range flat {
		flat[i] = [2]float64{r.Float64(), r.Float64()}
		globe[i] = metric.LatLon{Lat: 180*r.Float64() - 90, Lon: 360 * r.Float64()}
		numbers[i] = r.IntN(40)
	}
	flat[3], flat[4], flat[5] = flat[2], [2]float64{flat[6][0] + 1e-5, flat[6][1]}, [2]float64{1e3, 1e3}
	globe[3], globe[4] = globe[2], metric.LatLon{Lat: globe[2].Lat, Lon: globe[2].Lon + 1e-4}
	globe[5], globe[6], globe[7] = metric.LatLon{Lon: 180}, metric.LatLon{Lon: -180}, metric.LatLon{}
	row := make([][]float64, 9)
	grid := make([][2]float64, 25)
	for i := range row {
		row[i] = []float64{float64(i), 2 * float64(i)}
	}
	for i := range grid {
		grid[i] = [2]float64{float64(i % 5), float64(i / 5)}
	}
	return map[string]metric.Finite{
		"plane":   testkit.Must(metric.NewPoints(flat, metric.Plane{})),
		"grid":    testkit.Must(metric.NewPoints(grid, metric.Plane{})),
		"row":     testkit.Must(metric.NewPoints(row, metric.Euclidean{})),
		"globe":   testkit.Must(metric.NewPoints(globe, metric.GreatCircle{Radius: 1})),
		"numbers": testkit.Must(metric.NewPoints(numbers, metric.Numbers[int]{})),
		"one":     testkit.Must(metric.NewPoints(flat[:1], metric.Plane{})),
		"same":    testkit.Must(metric.NewPoints(flat[2:4], metric.Plane{})),
		"two":     testkit.Must(metric.NewPoints(flat[:2], metric.Plane{})),
	}
}

// Every level is audited to at most alpha, and no rate is below it: snapping is
// post-processing. Levels reach 500 over the distances.
func TestSnapped_KeepsTheLevel(t *testing.T) {
	for name, f := range snappable(t) {
		for _, alpha := range []float64{.05, 1, 20, 500} {
			m, err := Snapped(t.Context(), f, alpha, nil)
			if err != nil {
				t.Errorf("%s, alpha %v: %v", name, alpha, err)
				continue
			}
			a := testkit.Must(m.Audit(t.Context(), f, nil))
			if a.Hi > alpha || m.Guarantee().Alpha() != a.Hi || m.Beta < alpha*(1-1e-6) || a.Hi < alpha*(1-2*rateStep) && f.Len() > 2 {
				t.Errorf("%s, alpha %v: %v", name, alpha, m)
			}
		}
	}
}

// The distribution is that of the noise which additive.Snap draws.
func TestSnapped_IsSnap(t *testing.T) {
	const draws, alpha = 40_000, 3.
	r := random.Seeded(32)
	check := func(name string, f metric.Finite, draw func(x int) (int, error)) {
		t.Helper()
		m := testkit.Must(newFamily("", MethodSnapped, f, alpha, nil))
		s := testkit.Must(m.newSnapping(t.Context()))
		c := testkit.Must(s.noiseChannel(t.Context(), alpha))
		for x := range 3 {
			counts := map[int]int{}
			for range draws {
				counts[testkit.Must(draw(x))]++
			}
			for y := range c.Outputs() {
				p := c.Prob(x, y)
				// Bernstein: false rejects below 1e-9 each, 150 of them.
				if slack := 25 + 7*math.Sqrt(draws*p); math.Abs(float64(counts[c.Output(y)])-draws*p) > slack {
					t.Errorf("%s: %d draws of %d at %d, want %v", name, counts[c.Output(y)], y, x, draws*p)
				}
			}
		}
	}
	spaces := snappable(t)
	flat := spaces["plane"].(*metric.Points[[2]float64])
	snap := additive.Snap(testkit.Must(additive.NewPlanarLaplace(alpha, nil)), flat)
	check("plane", flat, func(x int) (int, error) { return snap.Release(r, flat.At(x)) })
	globe := spaces["globe"].(*metric.Points[metric.LatLon])
	snapG := additive.Snap(testkit.Must(additive.NewSphere(alpha, &additive.SphereOptions{Radius: 1})), globe)
	check("globe", globe, func(x int) (int, error) { return snapG.Release(r, globe.At(x)) })
}

// On a line of unit gaps the noise stays with probability 1 - e^(-alpha/2), and few
// outputs allow for a larger rate.
func TestSnapped_OnALine(t *testing.T) {
	const alpha = .8
	numbers := make([]float64, 20)
	for i := range numbers {
		numbers[i] = float64(i)
	}
	f := testkit.Must(metric.NewPoints(numbers, metric.Numbers[float64]{}))
	m := testkit.Must(Snapped(t.Context(), f, alpha, nil))
	for x := 1; x < 19; x++ {
		for y := 1; y < 19; y++ {
			want := math.Exp(-alpha*math.Abs(float64(x-y))) * math.Sinh(alpha/2)
			if x == y {
				want = 1 - math.Exp(-alpha/2)
			}
			if !near(m.Prob(x, y), want, 1e-9) {
				t.Fatalf("P(%d|%d) = %v, want %v", y, x, m.Prob(x, y), want)
			}
		}
	}
	// Two points a distance 1 apart: the masses are 1 - e^(-beta/2)/2 and the rest.
	pair := testkit.Must(metric.Subset(f, []int{0, 1}))
	m = testkit.Must(Snapped(t.Context(), pair, alpha, nil))
	if want := 2 * math.Log((math.Exp(alpha)+1)/2); m.Beta > want || m.Beta < want*(1-2*rateStep) {
		t.Errorf("%v, want rate %v", m, want)
	}
	m = testkit.Must(Snapped(t.Context(), f, alpha, &Options{Outputs: []int{19, 0}}))
	if m.Outputs() != 2 || m.Output(0) != 19 || !near(m.Prob(0, 0), math.Exp(-alpha*9.5)/2, 1e-9) {
		t.Errorf("%v: P(19|0) = %v", m, m.Prob(0, 0))
	}
}

// Remapped noise keeps its level, releases what it may, and loses no more than what
// releases the nearest output, on some spaces much less.
func TestRemapped_KeepsTheLevel(t *testing.T) {
	testkit.Slow(t)
	better := 0
	for name, f := range snappable(t) {
		n := f.Len()
		uniform := slices.Repeat([]float64{1 / float64(n)}, n)
		for _, alpha := range []float64{3, .5, 50}[:testkit.Sweep(1, 3)] {
			for _, o := range []*RemappedOptions{{}, {Prior: uniform}, {Options: Options{Outputs: []int{n - 1, 0}}}, {Options: Options{Outputs: []int{n - 1, 0}}, Prior: uniform}, {Cells: (n + 1) / 2}} {
				m, err := Remapped(t.Context(), metric.Same(f), alpha, o)
				if err != nil {
					t.Errorf("%s, alpha %v: %v", name, alpha, err)
					continue
				}
				if a := testkit.Must(m.Audit(t.Context(), f, nil)); a.Hi > alpha || m.Guarantee().Alpha() != a.Hi || m.Method != MethodRemapped {
					t.Errorf("%s, alpha %v, %+v: %v, audited %v", name, alpha, o, m, a)
				}
				if o.Outputs != nil {
					for y := range m.Outputs() {
						if !slices.Contains(o.Outputs, m.Output(y)) {
							t.Errorf("%s releases %d", name, m.Output(y))
						}
					}
				}
				if o.Outputs != nil || o.Cells > 0 {
					continue
				}
				s := testkit.Must(Snapped(t.Context(), f, alpha, nil))
				loss := testkit.Must(objective(testkit.Must(m.Loss(t.Context(), f)), o.Prior))
				snapped := testkit.Must(objective(testkit.Must(s.Loss(t.Context(), f)), o.Prior))
				if loss > snapped*(1+game.Gap)+1e-9 {
					t.Errorf("%s, alpha %v: %v loses %v, %v %v", name, alpha, m, loss, s, snapped)
				}
				if loss < .95*snapped {
					better++
				}
			}
		}
	}
	if better < testkit.Sweep(2, 8) {
		t.Errorf("remapped noise loses much less %d times", better)
	}
}

// Under a prior the answers are those of the best remap of snapped noise.
func TestRemapped_PriorIsTheBestRemap(t *testing.T) {
	r := random.Seeded(34)
	for name, f := range snappable(t) {
		prior := testkit.Distribution(r, f.Len(), nil)
		m := testkit.Must(Remapped(t.Context(), metric.Same(f), 2, &RemappedOptions{Prior: prior}))
		s := testkit.Must(Snapped(t.Context(), f, 2, nil))
		labels := testkit.Must(s.Remap(t.Context(), prior, f))
		best := testkit.Must(s.Relabel(labels))
		have := testkit.Must(testkit.Must(m.Loss(t.Context(), f)).Mean(prior))
		want := testkit.Must(testkit.Must(best.Loss(t.Context(), f)).Mean(prior))
		if !near(have, want, 1e-5) {
			t.Errorf("%s: %v, the best remap %v", name, have, want)
		}
	}
}

// With few outputs the worst input loses little more than the distance to the nearest of
// them, which no mechanism can help.
func TestRemapped_NearlyOptimal(t *testing.T) {
	r := random.Seeded(33)
	pts := make([][2]float64, 150)
	for i := range pts {
		pts[i] = [2]float64{10 * r.Float64(), 10 * r.Float64()}
	}
	f := testkit.Must(metric.NewPoints(pts, metric.Plane{}))
	outputs, radii, err := metric.FarthestFirst(t.Context(), f, 6, 0)
	if err != nil {
		t.Fatal(err)
	}
	m := testkit.Must(Remapped(t.Context(), metric.Same(f), 1, &RemappedOptions{Options: Options{Outputs: outputs}}))
	s := testkit.Must(Snapped(t.Context(), f, 1, &Options{Outputs: outputs}))
	loss, _ := testkit.Must(m.Loss(t.Context(), f)).Worst()
	snapped, _ := testkit.Must(s.Loss(t.Context(), f)).Worst()
	// The last radius is that of the points about the outputs.
	if least := radii[len(radii)-1]; loss < least || loss > 1.02*least || snapped < 1.05*least {
		t.Errorf("loss %v, snapped %v, at least %v", loss, snapped, least)
	}
	one := testkit.Must(Remapped(t.Context(), metric.Same(f), 1, &RemappedOptions{Options: Options{Outputs: outputs, Workers: 1}}))
	for x := range pts {
		if !slices.Equal(m.Row(x, nil), one.Row(x, nil)) {
			t.Fatal("the result depends on the number of workers")
		}
	}
}

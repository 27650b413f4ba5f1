package exponential

import (
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

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
				if loss > snapped*(1+gameGap)+1e-9 {
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

// What the answers lose is near the best of all, by enumeration, on every architecture.
func TestGame_NearlyBest(t *testing.T) {
	r := random.Seeded(35)
	const steps = 100
	for range 40 {
		g := &game{n: 3, c: 2, k: 2, mass: make([]float32, 6), dist: make([]float32, 6)}
		for x := range 3 {
			p := r.Float32()
			g.mass[2*x], g.mass[2*x+1] = p, 1-p
			g.dist[2*x], g.dist[2*x+1] = r.Float32(), r.Float32()
		}
		worst := func(first, second float64) float64 {
			most := 0.
			for x := range 3 {
				loss := 0.
				for y, p := range []float64{first, second} {
					loss += float64(g.mass[2*x+y]) * (p*float64(g.dist[2*x]) + (1-p)*float64(g.dist[2*x+1]))
				}
				most = max(most, loss)
			}
			return most
		}
		w := testkit.Must(g.play(t.Context(), []int{0, 0}))
		have, best := worst(w[0]/(w[0]+w[1]), w[2]/(w[2]+w[3])), math.Inf(1)
		for i := range steps + 1 {
			for j := range steps + 1 {
				best = min(best, worst(float64(i)/steps, float64(j)/steps))
			}
		}
		if have > best*(1+gameGap)+1e-6 {
			t.Errorf("%+v: %v, the best %v", g, have, best)
		}
	}
}

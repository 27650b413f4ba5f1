package tsp

import (
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// No tour beats the exact optimum, no bound passes it, and Solve and Improve
// reach it in all of these 540 cases, as it happens; nearly all is what they
// promise.
func TestSolve_AgreesWithExhaustiveSearch(t *testing.T) {
	reached, cases := 0, 0
	for n := 1; n <= 9; n++ {
		for seed := range uint64(3) {
			for where, f := range map[string]metric.Finite{
				"plane":   plane(n, seed),
				"lattice": cube(n, 2, 3, metric.Manhattan{}, seed),
				"line":    cube(n, 1, 0, metric.Euclidean{}, seed),
				"space":   bare{cube(n, 3, 0, metric.Chebyshev{}, seed)},
				"random":  randomMetric(n, seed),
			} {
				for _, kind := range []Kind{Closed, Path} {
					best := shortest(f, kind)
					for name, build := range builders {
						tour := testkit.Must(build(t.Context(), f, kind, 200))
						check(t, f, tour, kind)
						slack := 1e-12 * best
						if tour.Length < best-slack || tour.LowerBound > best+slack {
							t.Fatalf("%s on %s, n=%d: %v, bound %v; optimum %v", name, where, n, tour.Length, tour.LowerBound, best)
						}
						if name == "Solve" || name == "Improve" {
							cases++
							if tour.Length <= best+slack {
								reached++
							}
						}
					}
				}
			}
		}
	}
	if reached < cases*99/100 {
		t.Errorf("optimum reached in %d cases of %d", reached, cases)
	}
}

func TestSolve_MeetsItsTargets(t *testing.T) {
	testkit.Slow(t)
	dense := testkit.Must(metric.Densify(t.Context(), plane(700, 2)))
	for name, f := range map[string]metric.Finite{"plane": plane(600, 1), "dense": dense} {
		for _, kind := range []Kind{Closed, Path} {
			tour := testkit.Must(Solve(t.Context(), f, &SolveOptions{Kind: kind, Improve: ImproveOptions{Kicks: 10 * f.Len()}}))
			check(t, f, tour, kind)
			if tour.Gap() > 0.03 {
				t.Errorf("%s, %v: gap %v", name, kind, tour.Gap())
			}
		}
	}
}

func TestSolve_DependsOnTheSeedOnly(t *testing.T) {
	f := plane(600, 5)
	o := &SolveOptions{Improve: ImproveOptions{Kicks: 3000, Seed: 1}}
	a := testkit.Must(Solve(t.Context(), f, o))
	b, err := Solve(t.Context(), bare{f}, o)
	if err != nil || !slices.Equal(a.Order, b.Order) || a.Length != b.Length {
		t.Error("another run, without the coordinates, found another tour", err)
	}
	if c, err := Solve(t.Context(), f, &SolveOptions{Improve: ImproveOptions{Kicks: 3000, Seed: 2}}); err != nil || slices.Equal(a.Order, c.Order) {
		t.Error("the seed does nothing", err)
	}
	if o.Improve.Neighbors != 0 {
		t.Error("the options were changed")
	}
}

func TestSolve_CopesWithDuplicates(t *testing.T) {
	testkit.Slow(t)
	same := cube(300, 2, 1, metric.Euclidean{}, 1)
	few := cube(1000, 2, 5, metric.Euclidean{}, 2) // 25 places, 40 points each
	line := cube(200, 1, 0, metric.Euclidean{}, 3)
	span, _, _, _ := metric.Diameter(t.Context(), line)
	for name, c := range map[string]struct {
		f            metric.Finite
		closed, path float64
	}{
		"same": {same, 0, 0},
		"few":  {few, 24 + math.Sqrt2, 24},
		"bare": {bare{few}, 24 + math.Sqrt2, 24},
		"line": {line, 2 * span, span},
	} {
		for _, kind := range []Kind{Closed, Path} {
			want := c.closed
			if kind == Path {
				want = c.path
			}
			for _, name2 := range []string{"Solve", "Improve"} {
				tour := testkit.Must(builders[name2](t.Context(), c.f, kind, 1000))
				check(t, c.f, tour, kind)
				if math.Abs(tour.Length-want) > 1e-9 {
					t.Errorf("%s %s, %v: length %v, want %v", name2, name, kind, tour.Length, want)
				}
			}
		}
	}
}

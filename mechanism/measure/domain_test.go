package measure

import (
	"fmt"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/samples"
)

func second[T any](_ T, err error) error { return err }

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
	p := testkit.Must(newPlan("test", d, 1, MeasureOptions{Distribution: Laplace}))
	for class, s := range p.Classes {
		if s.Arity < 2 || s.Spread == 0 {
			continue
		}
		r := random.Seeded(uint64(class))
		var cost []float64
		for range 100 {
			cost = append(cost, testkit.Must(p.nodeCost(t.Context(), r, class, s)))
		}
		mean, se := meanAndError(cost)
		bound := s.Spread * math.Sqrt(p.noise[s.Depth].Variance(s.Arity))
		if mean-5*se > bound {
			t.Errorf("%s: node %d costs %v +- %v, bound %v", name, class, mean, se, bound)
		}
		if p.Regular && bound > 7*mean {
			t.Errorf("%s: level %d costs %v, bound %v is loose", name, class, mean, bound)
		}
	}
}

// What Println shows of counts says nothing of what was counted.
func TestString_GivesNoCountAway(t *testing.T) {
	d := samples.Unit(1, domain.BoxOptions{Depth: 2})
	some := testkit.Must(CountAll(t.Context(), d, [][]float64{{0.1}, {0.1}}, nil))
	if got, want := fmt.Sprint(some), fmt.Sprint(NewCounts(d)); got != want {
		t.Errorf("two records print as %q, none as %q", got, want)
	}
}

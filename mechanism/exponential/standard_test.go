package exponential

import (
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
)

// One point at distance 1 from K clustered ones: the factor 1/2 is tight.
func TestStandard_FactorTwoIsTight(t *testing.T) {
	// The cluster's K points at mutual distance 0 are one row each; K+1
	// outputs, weights e^-1/2 or 1.
	f := space.Func(11, func(i, j int) float64 {
		if i == 0 {
			return 1
		}
		return 0
	})
	m := testkit.Must(Standard(t.Context(), f, 2, nil))
	if !near(m.Audited.Hi, 1.79567, 1e-5) {
		t.Errorf("level %v, want 1.79567", m.Audited.Hi)
	}
	// K = 10^6 through the weights: two rows tell the whole story.
	k := 1e6
	two := testkit.Must(Weighted(t.Context(), space.Path(2, 1), 2, []float64{1, k}, nil))
	if !near(two.Audited.Hi, 1.999998, 1e-6) {
		t.Errorf("level %v, want 1.999998", two.Audited.Hi)
	}
}

func TestStandard_LazyIsTheSameLaw(t *testing.T) {
	testkit.Slow(t)
	f := space.Halton(40)
	for _, net := range [][]int{nil, {3, 1, 20}} {
		lazy := testkit.Must(Lazy(t.Context(), f, 3, &LazyOptions{Outputs: net, Unit: "km"}))
		if g := lazy.Guarantee(); g.Alpha() != 3 || g.Unit() != "km" || g.Delta() != 0 {
			t.Error(g)
		}
		a, err := lazy.Audit(t.Context(), f, nil)
		if err != nil || a.Hi > 3 {
			t.Error(a, err)
		}
		count := make([]int, 40)
		r := random.Seeded(2)
		for range 100_000 {
			y := testkit.Must(lazy.Release(r, 7))
			count[y]++
		}
		p := make([]float64, 40)
		for y := range lazy.Outputs() {
			p[lazy.Output(y)] = lazy.Prob(7, y)
		}
		testkit.ChiSquare(t, count, p, 1e-6) // false-reject probability 1e-6
	}
}

// Without an audit the rate itself must be safe: on a space that nearly uses the
// factor 1/2 up, the lazy mechanism lies just below its level, and a rate 2 %
// larger would lie above.
func TestStandard_LazyRateIsSafeAndTight(t *testing.T) {
	f := space.Func(201, func(i, j int) float64 {
		if i == 0 {
			return 1
		}
		return 0
	})
	backward := all(f.Len())
	slices.Reverse(backward)
	for _, net := range [][]int{nil, backward} { // a net is another path through the code
		m := testkit.Must(Lazy(t.Context(), f, 2, &LazyOptions{Outputs: net}))
		if a, err := m.Audit(t.Context(), f, nil); err != nil || a.Hi > 2 || a.Lo < 2/1.02 {
			t.Errorf("%d outputs named: %v (%v), want just below 2", len(net), a, err)
		}
	}
}

// alpha*rho = 1e6, in the constructor's own audit.
func TestStandard_HugeExponent(t *testing.T) {
	m := testkit.Must(Standard(t.Context(), space.Path(30, 1e5), 20, nil))
	if m.Audited.Hi > 20 || m.Audited.Lo < 9.9 {
		t.Error(m.Audited)
	}
}

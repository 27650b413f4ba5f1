package emd_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/frequency"
	"github.com/metricdp/metricdp/mechanism/emd/query"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/mechanism/mechanismtest"
)

// byUsers is a user-level mechanism as one on the lists of items, at the level
// of two data sets at its radius, or at any distance.
type byUsers[P, Y any] struct{ emd.Releaser[P, Y] }

func (m byUsers[P, Y]) Release(r *rand.Rand, x [][]P) (Y, error) {
	return m.Releaser.Release(r, slices.Values(x))
}

func (m byUsers[P, Y]) Guarantee() mechanism.Guarantee {
	g := m.Releaser.Guarantee()
	d := g.Radius()
	if d == 0 {
		d = 1
	}
	p := g.At(d)
	return testkit.Must(mechanism.NewGuarantee(p.Eps/d, p.Delta, "d_EM"))
}

// conform checks a user-level mechanism at two data sets, the last user of one
// of which has moved by d_EM = 1 to the other, and that it refuses bad ones.
func conform[P, Y any](t *testing.T, name string, m emd.Releaser[P, Y], key func(Y) any, a, b [][]P, refused ...[][]P) {
	t.Helper()
	o := &mechanismtest.Options[[][]P, Y]{Key: key, Refused: refused, Samples: 1 << 12}
	if err := mechanismtest.TestMechanism(t.Context(), byUsers[P, Y]{m}, [][][]P{a, b}, o); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if m.Guarantee().Radius() > 0 {
		return // at d_EM = 1 it promises next to nothing
	}
	if _, err := mechanismtest.TestLevel(t.Context(), byUsers[P, Y]{m}, a, b, 1, o); err != nil {
		t.Errorf("%s: %v", name, err)
	}
}

// The user-level mechanisms keep the laws of mechanisms, on lists of items.
var trips = [][][]float64{
	{{1, 2}, {1, 3}},
	{{4, 2}, {5, 2}, {6, 2}},
	{{2, 2}},
}

func TestConformance_UserLevel(t *testing.T) {
	space := stars{}
	channel := testkit.Must(exponential.Standard(t.Context(), space, 2, nil)).Channel
	model := emd.Model{Trust: emd.Central, Users: 3, Items: 2, Diameter: 1}
	a, b := [][]int{{0, 4}, {2, 2}, {0, 0}}, [][]int{{0, 4}, {2, 2}, {4, 4}}
	refused := [][][]int{nil, {{0, 4}, {2, 2}}, {{0, 4}, {2, 2}, {0, 5}}, {{0, 4}, {2, 2}, {0, -1}}, {{0, 4}, {2, 2}, {0}}, {{0, 4}, {2, 2}, {}}}

	items := testkit.Must(frequency.NewItemWise(t.Context(), channel, model, nil))
	conform(t, "ItemWise", items, nil, a, b, refused...)
	counts := func(c *emd.Report) any {
		return [5]int64(c.Sums)
	}
	conform(t, "Frequencies", testkit.Must(frequency.New(t.Context(), channel, space, model, nil)), counts, a, b, refused...)
	rough := func(r *emd.Report) any {
		return [2]float64{math.Round(float64(r.Sums[0]) / 1.5), math.Round(float64(r.Sums[4]) / 1.5)}
	}
	conform(t, "LaplaceFrequencies", testkit.Must(frequency.NewLaplaceBaseline(t.Context(), space, model, 5)), rough, a, b, refused...)
	reduced := testkit.Must(emd.NewReduced(items, emd.Sampling{Radius: 0.01, Delta: 1e-3}))
	conform(t, "Reduced", reduced, nil, a, [][]int{{0, 4, 4}, {2}, {4}}, refused[0], refused[1], refused[5]) // finds bad items only if it draws them, as its doc says

	city := emd.Model{Trust: emd.Central, Users: len(trips), Diameter: 10, Unit: "km"}
	moved := slices.Clone(trips)
	moved[2] = [][]float64{{3, 2}}
	bins := func(y []float64) any { return math.Floor(20 * y[0]) }
	nan := [][][]float64{{{1, 2}}, {{1, 2}}, {{math.NaN(), 2}}}
	for _, target := range []emd.Promise{{Alpha: 2}, {Alpha: 2, Delta: 1e-3}} {
		m := testkit.Must(query.NewLinear(t.Context(), query.Average(additive.Norm{P: 2, Dim: 2}), city, target, nil))
		conform(t, "Linear", m, bins, trips, moved, nil, trips[:2], nan, [][][]float64{{{1}}, {{1}}, {{1}}}, [][][]float64{{{1, 2}}, {}, {{1, 2}}})
	}
}

package frequency

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/query"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// The four points of the issue: what is promised of a whole user rests on the
// diameter, which is stated or that of the space.
func TestModel_DiameterIsStatedOrOfTheSpace(t *testing.T) {
	space := testkit.Must(metric.NewPoints([]float64{0, 100, 200, 300}, metric.Func[float64](func(x, y float64) float64 { return math.Abs(x - y) })))
	tuned := testkit.Must(exponential.Tuned(t.Context(), space, .01, nil)).Channel
	shares, _, _ := query.Shares(t.Context(), space)
	local, central := emd.Model{Trust: emd.Local, Items: 3}, emd.Model{Trust: emd.Central, Users: 100, Items: 3}
	item := func(m emd.Model, o ItemWiseOptions) (emd.Guarantee, error) {
		return guaranteeOf(NewItemWise(t.Context(), tuned, m, &o))
	}
	for name, c := range map[string]struct {
		from func(m emd.Model) (emd.Guarantee, error)
		m    emd.Model
		own  bool // is given the space
	}{
		"NewItemWise":        {func(m emd.Model) (emd.Guarantee, error) { return item(m, ItemWiseOptions{Delta: 1e-6}) }, central, false},
		"NewItemWise, Space": {func(m emd.Model) (emd.Guarantee, error) { return item(m, ItemWiseOptions{Delta: 1e-6, Space: space}) }, central, true},
		"New": {func(m emd.Model) (emd.Guarantee, error) {
			return guaranteeOf(New(t.Context(), tuned, space, m, nil))
		}, local, true},
		"NewHadamardBaseline": {func(m emd.Model) (emd.Guarantee, error) {
			return guaranteeOf(NewHadamardBaseline(t.Context(), space, m, emd.DP{Eps: 1}, nil))
		}, local, true},
		"NewLaplaceBaseline": {func(m emd.Model) (emd.Guarantee, error) {
			return guaranteeOf(NewLaplaceBaseline(t.Context(), space, m, 1))
		}, central, true},
		"NewLinear": {func(m emd.Model) (emd.Guarantee, error) {
			return guaranteeOf(query.NewLinear(t.Context(), shares, m, emd.Promise{Alpha: 1}, nil))
		}, central, false},
		"NewGuarantee":  {func(m emd.Model) (emd.Guarantee, error) { return emd.NewGuarantee(m, pureLevel(t, 1)) }, local, false},
		"NewDiscrete":   {func(m emd.Model) (emd.Guarantee, error) { return emd.NewDiscrete(m, 1, emd.DP{Eps: 1, Delta: 0}) }, local, false},
		"FromUserLevel": {func(m emd.Model) (emd.Guarantee, error) { return m.FromUserLevel(emd.DP{Eps: 1, Delta: 0}, 1) }, local, false},
		"FromItems":     {func(m emd.Model) (emd.Guarantee, error) { return m.FromItems(pureLevel(t, 1)) }, local, false},
		"ItemWiseBudget": {func(m emd.Model) (emd.Guarantee, error) {
			return emd.Guarantee{}, testkit.Err(ItemWiseBudget(t.Context(), m, emd.Promise{Alpha: 1}, nil))
		}, local, false},
		"PlanReduction": {func(m emd.Model) (emd.Guarantee, error) {
			return emd.Guarantee{}, testkit.Err(emd.PlanReduction(t.Context(), m, 1, emd.DP{Eps: 1, Delta: 1e-6}, &emd.PlanOptions{Samples: []int{100}}))
		}, emd.Model{Trust: emd.Local}, false},
	} {
		want := c.m
		want.Diameter = 300
		stated, err := c.from(want)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		g, err := c.from(c.m)
		if !c.own {
			wantValueError(t, name, err, "Model.Diameter")
			continue
		}
		if err != nil || g != stated || g.Model().Diameter != 300 {
			t.Errorf("%s: %v, %v; with the diameter stated %v", name, g, err, stated)
		}
		near := c.m
		near.Diameter = 299
		if _, err := c.from(near); err == nil || !strings.Contains(err.Error(), "points 0 and 3 of the space are at distance 300, above the model's diameter 299") {
			t.Errorf("%s at a smaller diameter: %v", name, err)
		}
	}
	// One point has no diameter to take.
	one := testkit.Must(metric.NewPoints([]float64{1}, metric.Func[float64](func(x, y float64) float64 { return math.Abs(x - y) })))
	_, err := NewLaplaceBaseline(t.Context(), one, central, 1)
	wantValueError(t, "one point", err, "Model.Diameter")
}

// guaranteeOf returns the promise of a mechanism just made.
func guaranteeOf[M interface{ Guarantee() emd.Guarantee }](m M, err error) (emd.Guarantee, error) {
	if err != nil {
		return emd.Guarantee{}, err
	}
	return m.Guarantee(), nil
}

// Whoever forgot a unit is told where, by the call that was made.
func TestModel_UnitErrorsSayWhatToSet(t *testing.T) {
	plain := testkit.Must(metric.NewClustered(2, 2, .5))
	far := testkit.Must(plain.Scaled(1, "km"))
	in := map[metric.Unit]*GKRR{"": mustGKRR(t, plain, 1), "km": mustGKRR(t, far, 1)}
	channel := func(u metric.Unit) *mechanism.Channel { return testkit.Must(in[u].Channel(t.Context())) }
	for _, c := range []struct {
		channel, model metric.Unit
		want           string
	}{
		{"", "km", `different units: channel "" and model "km": name the unit of the channel where it is made`},
		{"km", "", `different units: channel "km" and model "": set Model.Unit`},
		{"km", "mi", `different units: channel "km" and model "mi": bring both to one unit`},
	} {
		m := emd.Model{Trust: emd.Local, Items: 1, Diameter: 1, Unit: c.model}
		for op, err := range map[string]error{
			"NewItemWise": testkit.Err(NewItemWise(t.Context(), channel(c.channel), m, nil)),
			"New":         testkit.Err(New(t.Context(), channel(c.channel), plain, m, nil)),
		} {
			if want := "frequency: " + op + ": " + c.want; err == nil || err.Error() != want || !errors.Is(err, mechanism.ErrUnit) {
				t.Errorf("%v, want %s", err, want)
			}
		}
	}
	// The space has a unit: it is the model's, and another is refused.
	for u, want := range map[metric.Unit]error{"": nil, "km": nil, "mi": mechanism.ErrUnit} {
		f, err := NewClustered(t.Context(), in["km"], emd.Model{Trust: emd.Local, Items: 1, Unit: u}, nil)
		if !errors.Is(err, want) || err == nil && f.Guarantee().Model().Unit != "km" {
			t.Errorf("unit %q: %v", u, err)
		}
	}
}

package frequency

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// What is promised of a whole user rests on the diameter, which is stated or that of the space.
func TestModel_DiameterIsStatedOrOfTheSpace(t *testing.T) {
	abs := metric.Func[float64](func(x, y float64) float64 { return math.Abs(x - y) })
	space := testkit.Must(metric.NewPoints([]float64{0, 100, 200, 300}, abs))
	tuned := testkit.Must(exponential.Tuned(t.Context(), space, .01, nil)).Channel
	local, central := emd.Model{Trust: emd.Local, Items: 3}, emd.Model{Trust: emd.Central, Users: 5, Items: 3}
	for name, c := range map[string]struct {
		m    emd.Model
		from func(m emd.Model) (emd.Guarantee, error)
	}{
		"NewItemWise": {central, func(m emd.Model) (emd.Guarantee, error) {
			return guaranteeOf(NewItemWise(t.Context(), tuned, m, &ItemWiseOptions{Delta: 1e-6, Space: space}))
		}},
		"New": {local, func(m emd.Model) (emd.Guarantee, error) { return guaranteeOf(New(t.Context(), tuned, space, m, nil)) }},
		"NewHadamardBaseline": {local, func(m emd.Model) (emd.Guarantee, error) {
			return guaranteeOf(NewHadamardBaseline(t.Context(), space, m, emd.DP{Eps: 1}, nil))
		}},
		"NewLaplaceBaseline": {central, func(m emd.Model) (emd.Guarantee, error) {
			return guaranteeOf(NewLaplaceBaseline(t.Context(), space, m, 1))
		}},
	} {
		g, err := c.from(c.m)
		c.m.Diameter = 300
		if stated := testkit.Must(c.from(c.m)); err != nil || g != stated || g.Model().Diameter != 300 {
			t.Errorf("%s: %v, %v; with the diameter stated %v", name, g, err, stated)
		}
		c.m.Diameter = 299
		if _, err := c.from(c.m); err == nil || !strings.Contains(err.Error(), "points 0 and 3 of the space are at distance 300, above the model's diameter 299") {
			t.Errorf("%s at a smaller diameter: %v", name, err)
		}
	}
	one := testkit.Must(metric.NewPoints([]float64{1}, abs)) // has no diameter to take
	for name, err := range map[string]error{
		"one point": testkit.Err(NewLaplaceBaseline(t.Context(), one, central, 1)), "NewItemWise": testkit.Err(NewItemWise(t.Context(), tuned, central, nil)),
		"ItemWiseBudget": testkit.Err(ItemWiseBudget(t.Context(), local, emd.Promise{Alpha: 1}, nil)),
	} {
		wantValueError(t, name, err, "Model.Diameter")
	}
}

// guaranteeOf returns the promise of a mechanism just made.
func guaranteeOf[M interface{ Guarantee() emd.Guarantee }](m M, err error) (emd.Guarantee, error) {
	if err != nil {
		return emd.Guarantee{}, err
	}
	return m.Guarantee(), nil
}

// An error of units says what to set; the unit of a space is the model's.
func TestModel_Units(t *testing.T) {
	plain := testkit.Must(metric.NewClustered(2, 2, .5))
	far := testkit.Must(plain.Scaled(1, "km"))
	m := emd.Model{Trust: emd.Local, Items: 1, Diameter: 1}
	for _, c := range []struct {
		g     *GKRR
		model metric.Unit
		want  string
	}{
		{mustGKRR(t, plain, 1), "km", `channel "" and model "km": name the unit of the channel where it is made`},
		{mustGKRR(t, far, 1), "", `channel "km" and model "": set Model.Unit`},
		{mustGKRR(t, far, 1), "mi", `channel "km" and model "mi": bring both to one unit`},
	} {
		m.Unit = c.model
		ch := testkit.Must(c.g.Channel(t.Context()))
		testkit.Refused(t, [][3]any{
			{testkit.Err(NewItemWise(t.Context(), ch, m, nil)), "frequency: NewItemWise: different units: " + c.want, mechanism.ErrUnit},
			{testkit.Err(New(t.Context(), ch, plain, m, nil)), "frequency: New: different units: " + c.want, mechanism.ErrUnit},
		})
	}
	for u, want := range map[metric.Unit]error{"": nil, "km": nil, "mi": mechanism.ErrUnit} {
		m.Unit = u
		f, err := NewClustered(t.Context(), mustGKRR(t, far, 1), m, nil)
		if !errors.Is(err, want) || err == nil && f.Guarantee().Model().Unit != "km" {
			t.Errorf("unit %q: %v", u, err)
		}
	}
}

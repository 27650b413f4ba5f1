package emd

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/emd/accountant"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

func TestModel_UsersAndErrors(t *testing.T) {
	m, err := Model{Trust: Local, Users: 99, Diameter: 1}.check("op")
	if err != nil || m != (Model{Trust: Local, Users: 1, Diameter: 1}) || m.Bounded() {
		t.Errorf("%+v, %v", m, err)
	}
	m, err = Model{Trust: Central, Users: 3, Items: 2, Diameter: 4, Unit: "km"}.check("op")
	if err != nil || m != (Model{Central, 3, 2, 4, "km"}) || !m.Bounded() {
		t.Errorf("%+v, %v", m, err)
	}
	large := math.MaxInt // for float64
	if strconv.IntSize < 64 {
		large = -1 // none is
	}
	for arg, bad := range map[string][]Model{
		"Model.Trust":    {{}, {Trust: 4}, {Trust: -1}},
		"Model.Users":    {{Trust: Central}, {Trust: Central, Users: -2}, {Trust: Central, Users: large}},
		"Model.Items":    {{Trust: Local, Items: -1}, {Trust: Local, Items: large}},
		"Model.Diameter": {{Trust: Local}, {Trust: Local, Diameter: -1}, {Trust: Local, Diameter: math.NaN()}, {Trust: Local, Diameter: math.Inf(1)}},
	} {
		for _, m := range bad {
			_, err := m.check("op")
			wantValueError(t, arg, err, arg)
		}
	}
}

func TestModel_Words(t *testing.T) {
	for want, m := range map[string]Model{
		"local, one user of any number of items, diameter 1":   {Trust: Local, Users: 1, Diameter: 1},
		"central, 1000 users of 20 items, diameter 2.5 km":     {Central, 1000, 20, 2.5, "km"},
		"Trust(7), 0 users of 3 items, diameter 1":             {Trust: 7, Items: 3, Diameter: 1},
		"central, 2 users of any number of items, diameter 10": {Trust: Central, Users: 2, Diameter: 10},
		"shuffled, 2 users of 3 items, diameter 10":            {Trust: Shuffled, Users: 2, Items: 3, Diameter: 10},
	} {
		if got := m.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The four points of the issue: what is promised of a whole user rests on the
// diameter, which is stated or that of the space.
func TestModel_DiameterIsStatedOrOfTheSpace(t *testing.T) {
	space := testkit.Must(metric.NewPoints([]float64{0, 100, 200, 300}, metric.Func[float64](func(x, y float64) float64 { return math.Abs(x - y) })))
	tuned := testkit.Must(exponential.Tuned(t.Context(), space, .01, nil)).Channel
	shares, _, _ := Shares(t.Context(), space)
	local, central := Model{Trust: Local, Items: 3}, Model{Trust: Central, Users: 100, Items: 3}
	item := func(m Model, o ItemWiseOptions) (Guarantee, error) {
		return guaranteeOf(NewItemWise(t.Context(), tuned, m, &o))
	}
	for name, c := range map[string]struct {
		from func(m Model) (Guarantee, error)
		m    Model
		own  bool // is given the space
	}{
		"NewItemWise":        {func(m Model) (Guarantee, error) { return item(m, ItemWiseOptions{Delta: 1e-6}) }, central, false},
		"NewItemWise, Space": {func(m Model) (Guarantee, error) { return item(m, ItemWiseOptions{Delta: 1e-6, Space: space}) }, central, true},
		"NewFrequencies": {func(m Model) (Guarantee, error) {
			return guaranteeOf(NewFrequencies(t.Context(), tuned, space, m, nil))
		}, local, true},
		"NewHadamardFrequencies": {func(m Model) (Guarantee, error) {
			return guaranteeOf(NewHadamardFrequencies(t.Context(), space, m, DP{Eps: 1}, nil))
		}, local, true},
		"NewLaplaceFrequencies": {func(m Model) (Guarantee, error) { return guaranteeOf(NewLaplaceFrequencies(t.Context(), space, m, 1)) }, central, true},
		"NewLinear": {func(m Model) (Guarantee, error) {
			return guaranteeOf(NewLinear(t.Context(), shares, m, Promise{Alpha: 1}, nil))
		}, central, false},
		"NewGuarantee":  {func(m Model) (Guarantee, error) { return NewGuarantee(m, pureLevel(t, 1)) }, local, false},
		"NewDiscrete":   {func(m Model) (Guarantee, error) { return NewDiscrete(m, 1, DP{1, 0}) }, local, false},
		"FromUserLevel": {func(m Model) (Guarantee, error) { return m.FromUserLevel(DP{1, 0}, 1) }, local, false},
		"FromItems":     {func(m Model) (Guarantee, error) { return m.FromItems(pureLevel(t, 1)) }, local, false},
		"ItemWiseBudget": {func(m Model) (Guarantee, error) {
			return Guarantee{}, second(ItemWiseBudget(t.Context(), m, Promise{Alpha: 1}, nil))
		}, local, false},
		"PlanReduction": {func(m Model) (Guarantee, error) {
			return Guarantee{}, second(PlanReduction(t.Context(), m, 1, DP{1, 1e-6}, &PlanOptions{Samples: []int{100}}))
		}, Model{Trust: Local}, false},
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
	_, err := NewLaplaceFrequencies(t.Context(), one, central, 1)
	wantValueError(t, "one point", err, "Model.Diameter")
}

// guaranteeOf returns the promise of a mechanism just made.
func guaranteeOf[M interface{ Guarantee() Guarantee }](m M, err error) (Guarantee, error) {
	if err != nil {
		return Guarantee{}, err
	}
	return m.Guarantee(), nil
}

// A number left out that a promise rests on is an error.
func TestPromises_NothingIsForgotten(t *testing.T) {
	g := promise(t, Model{Trust: Local, Items: 5, Diameter: 1}, 1, 0)
	for arg, err := range map[string]error{
		"distance":         second(accountant.Shuffle{Records: 5, Alpha0: 1, Diameter: 1}.ItemDelta(0, 1)),
		"Shuffle.Diameter": second(accountant.Shuffle{Records: 5, Alpha0: 1}.ItemDelta(1, 1)),
		"pair.Eps":         second(NewDiscrete(g.model, 1, DP{})),
		"p.Eps":            second(g.model.FromUserLevel(DP{}, 1)),
	} {
		wantValueError(t, arg, err, strings.TrimSpace(arg))
	}
	if p := testkit.Must(promise(t, g.model, 0, 0).Discrete(1)); p.At(1) != (DP{}) {
		t.Errorf("a promise at level 0 weakened to %v", p)
	}
}

func second[T any](_ T, err error) error { return err }

func third[S, T any](_ S, _ T, err error) error { return err }

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
		m := Model{Trust: Local, Items: 1, Diameter: 1, Unit: c.model}
		for op, err := range map[string]error{
			"NewItemWise":    second(NewItemWise(t.Context(), channel(c.channel), m, nil)),
			"NewFrequencies": second(NewFrequencies(t.Context(), channel(c.channel), plain, m, nil)),
		} {
			if want := "emd: " + op + ": " + c.want; err == nil || err.Error() != want || !errors.Is(err, mechanism.ErrUnit) {
				t.Errorf("%v, want %s", err, want)
			}
		}
	}
	// The space has a unit: it is the model's, and another is refused.
	for u, want := range map[metric.Unit]error{"": nil, "km": nil, "mi": mechanism.ErrUnit} {
		f, err := NewGKRRFrequencies(t.Context(), in["km"], Model{Trust: Local, Items: 1, Unit: u}, nil)
		if !errors.Is(err, want) || err == nil && f.Guarantee().Model().Unit != "km" {
			t.Errorf("unit %q: %v", u, err)
		}
	}
}

package emd

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/emd/accountant"
)

func TestModel_UsersAndErrors(t *testing.T) {
	m, err := Model{Trust: Local, Users: 99, Diameter: 1}.Check("op")
	if err != nil || m != (Model{Trust: Local, Users: 1, Diameter: 1}) || m.Bounded() {
		t.Errorf("%+v, %v", m, err)
	}
	m, err = Model{Trust: Central, Users: 3, Items: 2, Diameter: 4, Unit: "km"}.Check("op")
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
			_, err := m.Check("op")
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

// A number left out that a promise rests on is an error.
func TestPromises_NothingIsForgotten(t *testing.T) {
	g := promise(t, Model{Trust: Local, Items: 5, Diameter: 1}, 1, 0)
	for arg, err := range map[string]error{
		"v.Distance":       testkit.Err(accountant.Shuffle{Records: 5, Alpha0: 1, Diameter: 1}.MovedDelta(t.Context(), accountant.Moved{Items: 1}, 1)),
		"Shuffle.Diameter": testkit.Err(accountant.Shuffle{Records: 5, Alpha0: 1}.MovedDelta(t.Context(), accountant.Moved{Items: 1, Distance: 1}, 1)),
		"pair.Eps":         testkit.Err(NewDiscrete(g.model, 1, DP{})),
		"p.Eps":            testkit.Err(g.model.FromUserLevel(DP{}, 1)),
	} {
		wantValueError(t, arg, err, strings.TrimSpace(arg))
	}
	if p := testkit.Must(promise(t, g.model, 0, 0).Discrete(1)); p.At(1) != (DP{}) {
		t.Errorf("a promise at level 0 weakened to %v", p)
	}
}

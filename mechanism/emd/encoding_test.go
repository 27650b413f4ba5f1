package emd

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
)

func TestGuarantee_JSONRoundTrips(t *testing.T) {
	km := Model{Trust: Central, Users: 100, Diameter: 20, Unit: "km"}
	near := testkit.Must(testkit.Must(mechanism.NewGuarantee(1, 0.25, "km")).Within(2.5))
	old := promise(t, Model{Trust: Local, Diameter: 1}, 7, 0)
	for _, c := range []struct {
		g    Guarantee
		want string
	}{
		{Guarantee{}, `{}`},
		{promise(t, km, 0.1, 0), `{"trust":"central","users":100,"diameter":20,"unit":"km","alpha":0.1}`},
		{promise(t, Model{Trust: Local, Items: 3, Diameter: 1}, 0, 0), `{"trust":"local","items":3,"diameter":1,"alpha":0}`},
		{promise(t, Model{Trust: Shuffled, Users: 1 << 30, Items: 1, Diameter: 1e-300}, 1.0/3, 1e-300), `{"trust":"shuffled","users":1073741824,"items":1,"diameter":1e-300,"alpha":0.3333333333333333,"delta":1e-300}`},
		{testkit.Must(NewGuarantee(km, near)), `{"trust":"central","users":100,"diameter":20,"unit":"km","alpha":1,"delta":0.25,"reach":2.5}`},
		{testkit.Must(NewDiscrete(km, 1.5, DP{0.5, 1e-9})), `{"trust":"central","users":100,"diameter":20,"unit":"km","radius":1.5,"eps":0.5,"delta":1e-9}`},
		{testkit.Must(promise(t, km, 0, 0).Discrete(2)), `{"trust":"central","users":100,"diameter":20,"unit":"km","radius":2,"eps":0}`},
		// What promises nothing goes on to do so.
		{testkit.Must(NewGuarantee(Model{Trust: Local, Diameter: 1}, mechanism.Guarantee{})), `{"trust":"local","diameter":1}`},
		{promise(t, km, math.Inf(1), 0), `{"trust":"central","users":100,"diameter":20,"unit":"km"}`},
		{testkit.Must(NewDiscrete(km, 2, DP{math.Inf(1), 0.5})), `{"trust":"central","users":100,"diameter":20,"unit":"km","radius":2,"delta":0.5}`},
	} {
		b, err := json.Marshal(c.g)
		if err != nil || string(b) != c.want {
			t.Errorf("%v: %s, %v; want %s", c.g, b, err, c.want)
		}
		again := old
		if err := json.Unmarshal(b, &again); err != nil || again != c.g {
			t.Errorf("%s reads as %v, %v", b, again, err)
		}
	}
	if _, err := json.Marshal(promise(t, Model{Trust: Local, Diameter: 1, Unit: "a\x00"}, 1, 0)); err == nil {
		t.Error("a unit that cannot be seen")
	}
}

func TestGuarantee_JSONRefuses(t *testing.T) {
	const central = `"trust":"central","users":2,"diameter":4`
	old := promise(t, Model{Trust: Local, Diameter: 1}, 7, 0)
	for in, want := range map[string]string{
		`[]`:                                                    "array",
		`{"alpha":1}`:                                           `trust = ""`,
		`{"trust":"Central"}`:                                   `trust = "Central"`,
		`{"trust":"local"}`:                                     "Model.Diameter = 0",
		`{` + central + `,"alpha":-1}`:                          "alpha = -1",
		`{` + central + `,"alpha":1e999}`:                       "alpha",
		`{` + central + `,"alpha":1,"delta":1}`:                 "delta = 1",
		`{` + central + `,"alpha":1,"reach":-1}`:                "reach = -1",
		`{` + central + `,"level":1}`:                           `unknown field "level"`,
		`{` + central + `,"alpha":1,"unit":"a\u202eb"}`:         "U+202E",
		`{` + central + `,"eps":1}`:                             "radius and eps",
		`{` + central + `,"radius":1,"alpha":1}`:                "radius and eps",
		`{` + central + `,"radius":1,"eps":1,"reach":1}`:        "radius and eps",
		`{` + central + `,"radius":-1,"eps":1}`:                 "radius = -1",
		`{` + central + `,"radius":1,"eps":-1}`:                 "pair.Eps = -1",
		`{` + central + `,"radius":1,"eps":1,"delta":2}`:        "pair.Delta = 2",
		`{"trust":"local","users":2,"diameter":4,"alpha":1}`:    "users = 2, want none",
		`{"trust":"shuffled","diameter":4,"alpha":1}`:           "Model.Users = 0",
		`{"trust":"local","items":-1,"diameter":4,"alpha":1}`:   "Model.Items = -1",
		`{"trust":"local","items":1.5,"diameter":4,"alpha":1}`:  "items",
		`{"trust":"local","items":9e99,"diameter":4,"alpha":1}`: "items",
	} {
		kept := old
		if err := json.Unmarshal([]byte(in), &kept); err == nil || !strings.Contains(err.Error(), want) || kept != old {
			t.Errorf("%s: %v, %v; want %s", in, kept, err, want)
		}
	}
}

// FuzzGuarantee reads arbitrary JSON: it is refused, or reads back as it is.
func FuzzGuarantee(f *testing.F) {
	f.Add([]byte(`{"trust":"central","users":100,"diameter":20,"unit":"km","alpha":0.1}`))
	f.Add([]byte(`{"trust":"local","items":3,"diameter":1,"radius":1,"eps":0.5,"delta":1e-9}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var g, again Guarantee
		if json.Unmarshal(b, &g) != nil {
			return
		}
		_ = fmt.Sprint(g, g.UserLevel())
		if err := json.Unmarshal(testkit.Must(json.Marshal(g)), &again); err != nil || again != g {
			t.Fatalf("%s was read as %v and read back as %v, %v", b, g, again, err)
		}
	})
}

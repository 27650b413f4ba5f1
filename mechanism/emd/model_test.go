package emd

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestModel_DefaultsAndErrors(t *testing.T) {
	m, err := Model{Trust: Local, Users: 99}.check("op")
	if err != nil || m != (Model{Trust: Local, Users: 1, Diameter: 1}) || m.Bounded() {
		t.Errorf("%+v, %v", m, err)
	}
	m, err = Model{Trust: Central, Users: 3, Items: 2, Diameter: 4, Unit: "km"}.check("op")
	if err != nil || m != (Model{Central, 3, 2, 4, "km"}) || !m.Bounded() {
		t.Errorf("%+v, %v", m, err)
	}
	for arg, bad := range map[string][]Model{
		"Model.Trust":    {{}, {Trust: 3}, {Trust: -1}},
		"Model.Users":    {{Trust: Central}, {Trust: Central, Users: -2}, {Trust: Central, Users: math.MaxInt}},
		"Model.Items":    {{Trust: Local, Items: -1}, {Trust: Local, Items: math.MaxInt}},
		"Model.Diameter": {{Trust: Local, Diameter: -1}, {Trust: Local, Diameter: math.NaN()}, {Trust: Local, Diameter: math.Inf(1)}},
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
		"Trust(7), one user of 3 items, diameter 1":            {Trust: 7, Items: 3, Diameter: 1},
		"central, 2 users of any number of items, diameter 10": {Trust: Central, Users: 2, Diameter: 10},
	} {
		if got := m.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestEach_ChecksTheModel(t *testing.T) {
	users := [][]int{{1, 2}, {3, 4}, {5}}
	walk := func(m Model, users ...[]int) (seen []int, err error) {
		err = each("op", m, linearUsers(users...), func(u int, items []int) error {
			if u < 0 || items[0] == -1 {
				return errInner
			}
			seen = append(seen, append([]int{u}, items...)...)
			return nil
		})
		return seen, err
	}
	free := Model{Trust: Central, Users: 3}
	if seen, err := walk(free, users...); err != nil || !slices.Equal(seen, []int{0, 1, 2, 1, 3, 4, 2, 5}) {
		t.Errorf("%v, %v", seen, err)
	}
	two := Model{Trust: Central, Users: 3, Items: 2}
	for name, tc := range map[string]struct {
		m     Model
		users [][]int
		seen  int // numbers before the fault
	}{
		"too few":      {free, users[:2], 6},
		"none":         {free, nil, 0},
		"too many":     {Model{Trust: Central, Users: 2}, users, 6},
		"local, two":   {Model{Trust: Local, Users: 1}, users[:2], 3},
		"an empty one": {free, [][]int{{1}, {}, {2}}, 2},
		"fewer items":  {two, users, 6},
		"more items":   {two, [][]int{{1, 2, 3}, {1, 2}, {1, 2}}, 0},
	} {
		if seen, err := walk(tc.m, tc.users...); err == nil || len(seen) != tc.seen {
			t.Errorf("%s: %v after %v", name, err, seen)
		}
	}
	// An error of f ends the walk, and is the one returned.
	if seen, err := walk(free, []int{1}, []int{-1}, []int{2}); !errors.Is(err, errInner) || len(seen) != 2 {
		t.Errorf("%v, %v", seen, err)
	}
}

func TestOne_IsOneUser(t *testing.T) {
	n := 0
	for items := range One([]string{"a", "b"}) {
		n++
		if !slices.Equal(items, []string{"a", "b"}) {
			t.Errorf("%v", items)
		}
	}
	if n != 1 {
		t.Errorf("%d users", n)
	}
}

// Whoever forgot a field of the model is told which.
func TestModel_ErrorsNameTheFieldNotSet(t *testing.T) {
	g := mustGKRR(t, Clusters{Count: 2, Size: 2, Within: .5}, 1)
	ch, err := g.Channel()
	if err != nil {
		t.Fatal(err)
	}
	wide := Clusters{Count: 2, Size: 2, Within: .5, Diameter: 10}
	m := Model{Trust: Central, Users: 2, Items: 1}
	km, one := m, m
	km.Unit, one.Diameter = "km", 1
	_, unit := NewGKRRFrequencies(g, km, nil)
	_, unset := NewFrequencies(ch, wide, m, nil)
	_, audit := NewItemWise(ch, m, &ItemWiseOptions{Space: wide})
	_, baseline := NewLaplaceFrequencies(wide, m, 1)
	_, set := NewFrequencies(ch, wide, one, nil)
	for _, c := range []struct {
		err  error
		want string
	}{
		{unit, "set Model.Unit"}, {set, "at distance 10, above the model's diameter 1"},
		{unset, "at distance 10, above 1: Model.Diameter is not set (0 means 1)"},
		{audit, "Model.Diameter is not set"}, {baseline, "Model.Diameter is not set"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("%v, want %q", c.err, c.want)
		}
	}
}

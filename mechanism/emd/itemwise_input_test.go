package emd

import (
	"errors"
	"math"
	"strconv"
	"testing"

	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

func TestNewItemWise_BadInput(t *testing.T) {
	space := line(t, 4)
	c := geometricChannel(t, space, 1)
	local := Model{Trust: Local, Items: 3, Diameter: 1}
	half, err := mechanism.NewGuarantee(1, .5, "")
	if err != nil {
		t.Fatal(err)
	}
	near, err := c.Guarantee().Within(.95)
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		c    *mechanism.Channel
		m    Model
		o    *ItemWiseOptions
		want error
	}{
		"no channel":       {nil, local, nil, metric.ErrEmpty},
		"no promise":       {c.WithGuarantee(mechanism.Guarantee{}), local, nil, ErrNotPure},
		"a delta":          {c.WithGuarantee(half), local, nil, ErrNotPure},
		"a reach":          {c.WithGuarantee(near), local, nil, ErrNotPure},
		"other unit":       {c, Model{Trust: Local, Items: 3, Unit: "km", Diameter: 1}, nil, mechanism.ErrUnit},
		"a false claim":    {c.WithGuarantee(pureLevel(t, .97*c.Guarantee().Alpha())), local, &ItemWiseOptions{Space: space}, mechanism.ErrClaim},
		"not private":      {identityChannel(t, 4, nil), local, &ItemWiseOptions{Space: space}, mechanism.ErrClaim},
		"unbounded":        {c, Model{Trust: Local, Diameter: 1}, nil, nil},
		"no trust":         {c, Model{Items: 3, Diameter: 1}, nil, nil},
		"too wide a space": {c, Model{Trust: Local, Items: 3, Diameter: .95}, &ItemWiseOptions{Space: space}, nil},
		"other space":      {c, local, &ItemWiseOptions{Space: line(t, 5)}, nil},
		"delta 1":          {c, local, &ItemWiseOptions{Delta: 1}, nil},
		"delta NaN":        {c, local, &ItemWiseOptions{Delta: math.NaN()}, nil},
		"too many items":   {c, Model{Trust: Central, Items: math.MaxInt, Users: 3, Diameter: 1}, nil, nil},
	} {
		if name == "too many items" && strconv.IntSize < 64 { // 2^62 items are not
			continue
		}
		if _, err := NewItemWise(tc.c, tc.m, tc.o); err == nil || tc.want != nil && !errors.Is(err, tc.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, call := range map[string]func() error{
		"Model.Items": func() error { _, err := ItemWiseBudget(Model{Trust: Local, Diameter: 1}, 1, nil); return err },
		"alpha":       func() error { _, err := ItemWiseBudget(local, math.Inf(1), nil); return err },
		"Delta":       func() error { _, err := ItemWiseBudget(local, 1, &ItemWiseOptions{Delta: -1}); return err },
	} {
		wantValueError(t, name, call(), name)
	}
}

func TestItemWise_BadData(t *testing.T) {
	c := geometricChannel(t, line(t, 4), 1)
	w := newItemWise(t, c, Model{Trust: Central, Users: 2, Items: 2, Diameter: 1}, nil)
	for name, users := range map[string][][]int{
		"no users":        nil,
		"one user":        {{1, 2}},
		"three users":     {{1, 2}, {1, 2}, {1, 2}},
		"empty user":      {{1, 2}, {}},
		"too many items":  {{1, 2}, {1, 2, 3}},
		"too few items":   {{1}, {1, 2}},
		"not an input":    {{1, 2}, {1, 4}},
		"a negative item": {{1, -1}, {1, 2}},
	} {
		if _, err := w.Release(nil, linearUsers(users...)); err == nil {
			t.Errorf("%s: no error", name)
		}
		if _, err := w.ReleaseShuffled(nil, linearUsers(users...)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	// The bad row of a lazy channel is found when an item uses it.
	bad, err := mechanism.NewChannel(mechanism.Rows{Inputs: 2, Outputs: 2, Fill: func(x int, dst []float64) {
		dst[0], dst[1] = 1, []float64{1, math.NaN()}[x]
	}}, &mechanism.ChannelOptions{Lazy: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range []int{2, 200_000} {
		w = newItemWise(t, bad.WithGuarantee(pureLevel(t, 1)), Model{Trust: Local, Items: m, Diameter: 1}, nil)
		items := make([]int, m)
		if _, err := w.Release(nil, One(items)); err != nil {
			t.Error(err)
		}
		items[0] = 1
		if counts, err := w.Release(nil, One(items)); err == nil || counts != nil {
			t.Errorf("m=%d: NaN weights went through: %v, %v", m, counts, err)
		}
	}
}

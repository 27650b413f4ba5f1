package mechanism

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// A channel reads back to the same bits and the same guarantee.
func TestJSON_RoundTrip(t *testing.T) {
	r := random.Seeded(11)
	for trial := range 40 {
		n, m := 1+r.IntN(6), 1+r.IntN(6)
		f := space.Uniform(n, r)
		c := arbitrary(t, r, n, m, trial%2 == 0, 0.3)
		if trial%3 == 0 {
			c = testkit.Must(c.Relabel(make([]int, m)))
		}
		c = certified(t, c, f, "km")
		d := testkit.Must(reread(t, c, f))
		if d.Guarantee() != c.Guarantee() || d.log != c.log || d.n != n || d.m != m {
			t.Fatalf("read %v, wrote %v", d.Guarantee(), c.Guarantee())
		}
		for i := range c.w {
			if math.Float64bits(c.w[i]) != math.Float64bits(d.w[i]) {
				t.Fatalf("weight %d: %v became %v", i, c.w[i], d.w[i])
			}
		}
		for y := range m {
			if c.Output(y) != d.Output(y) {
				t.Fatal("labels differ")
			}
		}
	}
	lazy := expo(t, space.Path(3, 1), 1, true)
	if d, err := reread(t, lazy, space.Path(3, 1)); err != nil || d.Prob(0, 2) != lazy.Prob(0, 2) {
		t.Errorf("lazy: %v", err)
	}
}

func FuzzReadChannel(f *testing.F) {
	f.Add([]byte(`{"format":"metricdp.channel/1","inputs":2,"outputs":2,"log":true,"unit":"km","alpha":2,"weights":[[0,-1],[-1,null]]}`))
	f.Add([]byte(`{"format":"metricdp.channel/1","inputs":2,"outputs":1,"log":false,"delta":0.5,"labels":[3],"weights":[[1],[5e-324]]}`))
	f.Add([]byte(`{"format":"metricdp.channel/1","inputs":2,"outputs":1,"log":true,"alpha":1,"reach":0.5,"weights":[[1],[-1e308]]}`))
	rho := space.Path(2, 1)
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := ReadChannel(t.Context(), bytes.NewReader(data), rho, nil)
		if err != nil {
			return
		}
		// Whatever is accepted works, and reads back as it is.
		if _, err := c.Release(nil, 1); err != nil {
			t.Fatal(err)
		}
		d := testkit.Must(reread(t, c, rho))
		if c.Guarantee() != d.Guarantee() {
			t.Fatalf("%v became %v", c.Guarantee(), d.Guarantee())
		}
	})
}

func TestGuarantee_JSONRoundTrips(t *testing.T) {
	g := promise
	for _, c := range []struct {
		g    Guarantee
		want string
	}{
		{Guarantee{}, `{}`},
		{g(0, 0, 0, ""), `{"alpha":0}`},
		{g(0.1, 0, 0, "km"), `{"unit":"km","alpha":0.1}`},
		{g(1.0/3, 1e-300, 2.5, "µm"), `{"unit":"µm","alpha":0.3333333333333333,"delta":1e-300,"reach":2.5}`},
		{g(math.Inf(1), 0.5, 0, "km"), `{"unit":"km","delta":0.5}`},
	} {
		b, err := json.Marshal(c.g)
		if err != nil || string(b) != c.want {
			t.Errorf("%v: %s, %v; want %s", c.g, b, err, c.want)
		}
		again := g(7, 0, 0, "old")
		if err := json.Unmarshal(b, &again); err != nil || again != c.g {
			t.Errorf("%s reads as %v, %v", b, again, err)
		}
	}
	for in, want := range map[string]string{
		`{"alpha":-1}`:                  "alpha = -1",
		`{"alpha":1,"delta":1}`:         "delta = 1",
		`{"alpha":1,"delta":-0.1}`:      "delta = -0.1",
		`{"alpha":1,"reach":-1}`:        "reach = -1",
		`{"alpha":1e999}`:               "alpha",
		`{"alpha":"1"}`:                 "alpha",
		`{"level":1}`:                   `unknown field "level"`,
		`{"alpha":1,"unit":"a\u202eb"}`: "U+202E",
		`[]`:                            "array",
	} {
		old := g(7, 0, 0, "old")
		kept := old
		if err := json.Unmarshal([]byte(in), &kept); err == nil || !strings.Contains(err.Error(), want) || kept != old {
			t.Errorf("%s: %v, %v; want %s", in, kept, err, want)
		}
	}
	if _, err := json.Marshal(g(1, 0, 0, "a\x00")); err == nil {
		t.Error("a unit that cannot be seen")
	}
}

// A channel is encoded as WriteJSON does, alone and in what holds it, and is not read without its metric.
func TestChannel_JSONIsThatOfWriteJSON(t *testing.T) {
	f := space.Path(2, 1)
	c := certified(t, testkit.Must(FromWeights(t.Context(), 2, 2, []float64{3, 1, 1, 3}, nil)), f, "km")
	b := testkit.Must(json.Marshal(struct{ *Channel }{c}))
	again, err := ReadChannel(t.Context(), bytes.NewReader(b), f, nil)
	if err != nil || again.Guarantee() != c.Guarantee() {
		t.Errorf("%s reads as %v, %v", b, again, err)
	}
	if err := json.Unmarshal(b, new(Channel)); err == nil || !strings.Contains(err.Error(), "ReadChannel") {
		t.Errorf("read without a metric: %v", err)
	}
	if b, err := json.Marshal(new(Channel)); err == nil {
		t.Errorf("a channel that no constructor made is %s", b)
	}
}

// A level is per unit of the metric that it was audited under.
func TestUnits_ComeFromTheMetric(t *testing.T) {
	globe := testkit.Must(metric.NewPoints([]metric.LatLon{{}, {Lat: 1}}, metric.GreatCircle{}))
	c := testkit.Must(FromWeights(t.Context(), 2, 2, []float64{2, 1, 1, 2}, nil))
	path := space.Path(2, globe.Distance(0, 1))
	km, plain, meters := certified(t, c, globe, ""), certified(t, c, path, ""), certified(t, c, path, "m")
	if km.Guarantee().Unit() != "km" || plain.Guarantee().Unit() != "" {
		t.Errorf("%v, %v", km, plain)
	}
	if _, _, err := c.Certify(t.Context(), globe, "m", nil); !errors.Is(err, ErrUnit) {
		t.Errorf("another unit: %v", err)
	}
	for c, want := range map[*Channel]error{km: nil, plain: nil, meters: ErrUnit} {
		d, err := reread(t, c, globe)
		if !errors.Is(err, want) || err == nil && d.Guarantee().Unit() != "km" {
			t.Errorf("%v is read as %v (%v)", c, d, err)
		}
	}
}

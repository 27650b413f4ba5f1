package mechanism

import (
	"bytes"
	"errors"
	"math"
	"math/big"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/rng"
	"github.com/metricdp/metricdp/metric"
)

// A channel reads back to the same bits and the same guarantee.
func TestJSON_RoundTrip(t *testing.T) {
	r := rng.Seeded(11)
	for trial := range 40 {
		n, m := 1+r.IntN(6), 1+r.IntN(6)
		f := cloud(t, r, n)
		c := random(t, r, n, m, trial%2 == 0, 0.3)
		if trial%3 == 0 {
			var err error
			if c, err = c.Relabel(make([]int, m)); err != nil {
				t.Fatal(err)
			}
		}
		c, _, err := c.Certify(f, "km", nil)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := c.WriteJSON(&b); err != nil {
			t.Fatal(err)
		}
		d, err := ReadChannel(&b, f, nil)
		if err != nil {
			t.Fatal(err)
		}
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
	lazy := expo(t, line(t, 3, 1), 1, true)
	var b bytes.Buffer
	if err := lazy.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	if d, err := ReadChannel(&b, line(t, 3, 1), nil); err != nil || d.Prob(0, 2) != lazy.Prob(0, 2) {
		t.Errorf("lazy: %v", err)
	}
}

func TestJSON_RefusesDamage(t *testing.T) {
	f := line(t, 2, 1)
	good := `{"format":"metricdp.channel/1","inputs":2,"outputs":2,"log":true,"unit":"km","alpha":1.1,"weights":[[0,-1],[-1,0]]}`
	if c, err := ReadChannel(strings.NewReader(good), f, nil); err != nil || c.Guarantee().Unit() != "km" {
		t.Fatal(err)
	}
	for name, bad := range map[string]string{
		"empty":        ``,
		"not json":     `hello`,
		"cut":          good[:len(good)-4],
		"trailing":     good + `{}`,
		"format":       strings.Replace(good, "channel/1", "channel/2", 1),
		"no format":    strings.Replace(good, `"format":"metricdp.channel/1",`, ``, 1),
		"unknown":      strings.Replace(good, `"unit"`, `"unti"`, 1),
		"inputs":       strings.Replace(good, `"inputs":2`, `"inputs":3`, 1),
		"huge inputs":  strings.Replace(good, `"inputs":2`, `"inputs":9000000000000000000`, 1),
		"neg inputs":   `{"format":"metricdp.channel/1","inputs":-1,"outputs":2,"log":true,"weights":[]}`,
		"zero outputs": `{"format":"metricdp.channel/1","inputs":2,"outputs":0,"log":true,"weights":[[],[]]}`,
		"outputs":      strings.Replace(good, `"outputs":2`, `"outputs":1`, 1),
		"ragged":       strings.Replace(good, `[0,-1]`, `[0]`, 1),
		"overflow":     strings.Replace(good, `-1]`, `-1e999]`, 1),
		"string":       strings.Replace(good, `-1]`, `"-1"]`, 1),
		"no weight":    strings.Replace(good, `[0,-1]`, `[null,null]`, 1),
		"plain null":   strings.Replace(strings.Replace(good, `true`, `false`, 1), `[[0,-1],[-1,0]]`, `[[1,null],[1,1]]`, 1),
		"negative":     strings.Replace(good, `true`, `false`, 1),
		"labels":       strings.Replace(good, `"unit"`, `"labels":[0],"unit"`, 1),
		"bad label":    strings.Replace(good, `"unit"`, `"labels":[0,-5],"unit"`, 1),
		"delta":        strings.Replace(good, `"unit"`, `"delta":2,"unit"`, 1),
		"other size":   `{"format":"metricdp.channel/1","inputs":1,"outputs":1,"log":true,"weights":[[0]]}`,
	} {
		if _, err := ReadChannel(strings.NewReader(bad), f, nil); err == nil {
			t.Errorf("%s accepted: %s", name, bad)
		}
	}
	lie := strings.Replace(good, `"alpha":1.1`, `"alpha":0.9`, 1)
	if _, err := ReadChannel(strings.NewReader(lie), f, nil); !errors.Is(err, ErrClaim) {
		t.Errorf("a false claim: %v", err)
	}
	modest := strings.Replace(good, `"alpha":1.1,`, ``, 1)
	if c, err := ReadChannel(strings.NewReader(modest), f, nil); err != nil || math.Abs(c.Guarantee().Alpha()-1) > 1e-9 {
		t.Errorf("a file that claims nothing is audited: %v %v", c, err)
	}
}

func TestOn_FindsPoints(t *testing.T) {
	pts, err := metric.NewPoints([]string{"ab", "cd", "ab"}, metric.Func[string](func(x, y string) float64 {
		if x == y {
			return 0
		}
		return 1
	}))
	if err != nil {
		t.Fatal(err)
	}
	c := expo(t, pts, 1, false)
	m := On[string](c, pts)
	for range 20 {
		if y, err := m.Release(nil, "cd"); err != nil || y != "ab" && y != "cd" {
			t.Fatal(y, err)
		}
	}
	if _, err := m.Release(nil, "xy"); !errors.Is(err, ErrNotAPoint) {
		t.Errorf("a stranger: %v", err)
	}
	vec, err := metric.NewPoints([][]float64{{0, 0}, {3, 4}}, metric.Space[[]float64](metric.Func[[]float64](func(x, y []float64) float64 {
		return math.Hypot(x[0]-y[0], x[1]-y[1])
	})))
	if err != nil {
		t.Fatal(err)
	}
	v := On[[]float64](expo(t, vec, 1, false), vec)
	if _, err := v.Release(nil, []float64{3, 4}); err != nil {
		t.Error(err)
	}
	if _, err := v.Release(nil, []float64{3, 4.1}); !errors.Is(err, ErrNotAPoint) {
		t.Errorf("near a point is not at it: %v", err)
	}
}

func TestGuarantee_Laws(t *testing.T) {
	var none Guarantee
	if eps, _ := none.At(0); !math.IsInf(none.Alpha(), 1) || !math.IsInf(eps, 1) || none.String() != "no guarantee" {
		t.Errorf("the zero guarantee promises %v", none)
	}
	g, err := NewGuarantee(0.1, 1e-6, "km")
	if err != nil {
		t.Fatal(err)
	}
	h, _ := NewGuarantee(0.2, 0, "km")
	sum, err := g.Plus(h)
	if err != nil || sum.Alpha() < 0.1+0.2-1e-17 || sum.Alpha() > 0.3+1e-15 || sum.Delta() != 1e-6 || sum.Unit() != "km" {
		t.Error(sum, err)
	}
	// 0.1 + 0.2 is above the float64 0.3 and must not round down.
	if sum.Alpha() < 0.30000000000000004 {
		t.Errorf("composition rounds down: %v", sum.Alpha())
	}
	m, _ := NewGuarantee(0.2, 0, "miles")
	if _, err := g.Plus(m); !errors.Is(err, ErrUnit) {
		t.Errorf("km + miles: %v", err)
	}
	if s, err := g.Plus(none); err != nil || !math.IsInf(s.Alpha(), 1) {
		t.Errorf("with nothing: %v %v", s, err)
	}
	if eps, delta := g.At(3); eps < 0.3 || eps > 0.3+1e-15 || delta != 1e-6 {
		t.Error(eps, delta)
	}
	// Group privacy by direct summation: delta sum_{i<k} e^(i eps).
	eps, delta := g.Group(4, 2)
	want := 0.0
	for i := range 4 {
		want += 1e-6 * math.Exp(0.2*float64(i))
	}
	if math.Abs(eps-0.8) > 1e-15 || delta < want || delta > want*(1+1e-12) {
		t.Errorf("group: %v %v, want 0.8 %v", eps, delta, want)
	}
	if eps, delta := h.Group(5, 1); delta != 0 || math.Abs(eps-1) > 1e-15 {
		t.Error(eps, delta)
	}
	if _, delta := g.Group(100, 100); delta != 1 {
		t.Errorf("delta beyond 1: %v", delta)
	}
	near, err := g.Within(5)
	if eps, _ := near.At(5); err != nil || eps < 0.5 || eps > 0.51 || near.Reach() != 5 || !math.IsInf(g.Reach(), 1) {
		t.Errorf("within 5: %v %v", near, eps)
	}
	if eps, _ := near.At(5.001); !math.IsInf(eps, 1) {
		t.Errorf("beyond its reach a guarantee promises %v", eps)
	}
	if eps, _ := near.Group(2, 6); !math.IsInf(eps, 1) {
		t.Errorf("steps beyond the reach: %v", eps)
	}
	if s, err := h.Plus(near); err != nil || s.Reach() != 5 {
		t.Errorf("the sum reaches %v", s.Reach())
	}
	if far, _ := near.Within(9); far.Reach() != 5 || near.String() != "(0.1 per km, 1e-06)-private up to 5 km" {
		t.Errorf("%v", far)
	}
	if _, err := g.Within(0); err == nil {
		t.Error("reach 0 accepted")
	}
	if eps, delta := g.Group(0, 1); eps != 0 || delta != 0 {
		t.Error(eps, delta)
	}
	for _, c := range [][2]float64{{-1, 0}, {math.NaN(), 0}, {1, 1}, {1, -1e-9}, {1, math.NaN()}} {
		if _, err := NewGuarantee(c[0], c[1], ""); err == nil {
			t.Errorf("accepted %v", c)
		}
	}
	for want, g := range map[string]Guarantee{"0.2-private per km": h, "(0.1 per km, 1e-06)-private": g} {
		if g.String() != want {
			t.Errorf("%q, want %q", g, want)
		}
	}
}

// Levels, deltas and groups are above the exact ones, by an ulp or two.
func TestGuarantee_RoundsUp(t *testing.T) {
	number := func(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }
	above := func(name string, got float64, want *big.Rat) {
		t.Helper()
		if number(got).Cmp(want) < 0 || number(got*(1-1e-15)).Cmp(want) > 0 {
			t.Errorf("%s: %v is not just above the exact number", name, got)
		}
	}
	r := rng.Seeded(12)
	for range 200 {
		var g [2]Guarantee
		for i := range g {
			var err error
			if g[i], err = NewGuarantee(r.ExpFloat64(), r.Float64()/4, ""); err != nil {
				t.Fatal(err)
			}
		}
		d, k := r.ExpFloat64(), 1+r.IntN(100)
		sum, err := g[0].Plus(g[1])
		if err != nil {
			t.Fatal(err)
		}
		above("sum", sum.Alpha(), new(big.Rat).Add(number(g[0].Alpha()), number(g[1].Alpha())))
		above("sum of delta", sum.Delta(), new(big.Rat).Add(number(g[0].Delta()), number(g[1].Delta())))
		eps, _ := g[0].At(d)
		want := new(big.Rat).Mul(number(g[0].Alpha()), number(d))
		above("At", eps, want)
		eps, _ = g[0].Group(k, d)
		above("Group", eps, want.Mul(want, number(float64(k))))
	}
	// At eps = 0 deltas add, and where e^eps overflows nothing is left.
	for alpha, want := range map[float64]float64{0: 4e-6, 1e308: 1} {
		g, err := NewGuarantee(alpha, 1e-6, "")
		if err != nil {
			t.Fatal(err)
		}
		if _, delta := g.Group(4, 1); delta != want {
			t.Errorf("four steps at alpha %v: delta %v, want %v", alpha, delta, want)
		}
	}
}

func TestCompose_AddsAndReleases(t *testing.T) {
	f := line(t, 4, 1)
	build := func(beta float64, unit metric.Unit) *Channel {
		c, _, err := expo(t, f, beta, false).Certify(f, unit, nil)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	a, b := build(0.5, "m"), build(1, "m")
	both, err := Compose[int, int](a, b)
	if err != nil {
		t.Fatal(err)
	}
	if got := both.Guarantee().Alpha(); got < a.Guarantee().Alpha()+b.Guarantee().Alpha() {
		t.Errorf("level %v", got)
	}
	// The product channel, audited: composition is honest.
	w := make([]float64, 4*16)
	for x := range 4 {
		for y := range 16 {
			w[16*x+y] = a.w[4*x+y/4] + b.w[4*x+y%4]
		}
	}
	p, err := FromLogWeights(4, 16, w, nil)
	if err != nil {
		t.Fatal(err)
	}
	if au, _ := p.Audit(f, nil); au.Lo > both.Guarantee().Alpha() {
		t.Errorf("the product has level %v, composed %v", au, both.Guarantee())
	}
	if ys, err := both.Release(rng.Seeded(1), 2); err != nil || len(ys) != 2 {
		t.Error(ys, err)
	}
	if _, err := both.Release(nil, 7); err == nil {
		t.Error("released an input outside the space")
	}
	if _, err := Compose[int, int](a, build(1, "km")); !errors.Is(err, ErrUnit) {
		t.Errorf("units: %v", err)
	}
	if _, err := Compose[int, int](); err == nil {
		t.Error("composed nothing")
	}
	doubled := Then[int, int, float64](a, func(y int) (float64, error) { return 2 * float64(y), nil })
	if y, err := doubled.Release(rng.Seeded(1), 2); err != nil || doubled.Guarantee() != a.Guarantee() || y < 0 || y > 6 {
		t.Error(y, err)
	}
	if _, err := doubled.Release(nil, -1); err == nil {
		t.Error("released an input outside the space")
	}
}

func FuzzReadChannel(f *testing.F) {
	f.Add([]byte(`{"format":"metricdp.channel/1","inputs":2,"outputs":2,"log":true,"unit":"km","alpha":2,"weights":[[0,-1],[-1,null]]}`))
	f.Add([]byte(`{"format":"metricdp.channel/1","inputs":2,"outputs":1,"log":false,"delta":0.5,"labels":[3],"weights":[[1],[5e-324]]}`))
	space := line(f, 2, 1)
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := ReadChannel(bytes.NewReader(data), space, nil)
		if err != nil {
			return
		}
		// Whatever is accepted works, and reads back as it is.
		if _, err := c.Release(nil, 1); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := c.WriteJSON(&b); err != nil {
			t.Fatal(err)
		}
		d, err := ReadChannel(&b, space, nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.Guarantee() != d.Guarantee() {
			t.Fatalf("%v became %v", c.Guarantee(), d.Guarantee())
		}
	})
}

func FuzzFromWeights(f *testing.F) {
	f.Add(1.0, 2.0, 3.0, 4.0, 0.5, false)
	f.Add(math.Inf(-1), 0.0, -1e6, math.NaN(), 0.0, true)
	f.Add(5e-324, 1e308, 1e-300, 0.0, 1e-9, false)
	f.Fuzz(func(t *testing.T, a, b, c, d, delta float64, log bool) {
		from := FromWeights
		if log {
			from = FromLogWeights
		}
		ch, err := from(2, 2, []float64{a, b, c, d}, nil)
		if err != nil {
			return
		}
		sum := ch.Prob(0, 0) + ch.Prob(0, 1)
		if math.Abs(sum-1) > 1e-9 {
			t.Fatalf("probabilities sum to %v", sum)
		}
		au, err := ch.Audit(line(t, 2, 1), &AuditOptions{Delta: delta})
		if err != nil {
			return
		}
		if !(au.Lo >= 0 && au.Lo <= au.Hi) {
			t.Fatalf("%v", au)
		}
		if _, err := ch.Release(nil, 0); err != nil {
			t.Fatal(err)
		}
	})
}

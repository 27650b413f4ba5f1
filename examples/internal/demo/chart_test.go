package demo

import (
	"io"
	"math"
	"strings"
	"testing"
)

func sample() *Chart {
	return &Chart{
		Title: "Loss against alpha", X: "alpha (per km)", Y: "loss (km)", LogX: true, LogY: true,
		Series: []Series{
			{Name: "a & b", X: []float64{0.001, 0.01, 0.1}, Y: []float64{300, 40, 5},
				Lo: []float64{200, 30, 4}, Hi: []float64{400, 50, math.NaN()}},
			{Name: "cloud", X: []float64{0.002, 0.05}, Y: []float64{100, 10}, Cloud: true},
		},
	}
}

func TestChart_Refuses(t *testing.T) {
	two, one := []float64{1, 2}, []float64{1}
	for want, s := range map[string]Series{
		`series "s" has 2 x, 1 y`:     {Name: "s", X: two, Y: one},
		`2 y, 1 lo, 2 hi`:             {X: two, Y: two, Lo: one, Hi: two},
		`2 y, 2 lo, 0 hi`:             {X: two, Y: two, Lo: two},
		`chart "t" has no point`:      {},
		`chart "t" has no point to s`: {X: one, Y: []float64{math.NaN()}},
	} {
		c := Chart{Title: "t", Series: []Series{s}}
		if err := writeCharts(io.Discard, "png", pictureDPI, &c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for want, charts := range map[string][]*Chart{
		"no charts":              {},
		`chart "e" has no point`: {sample(), {Title: "e", LogX: true, LogY: true}},
		`chart "h" has a shade`:  {{Title: "h", LogX: true, Shade: &Shade{}}},
		`chart "l" has other ax`: {sample(), {Title: "l", LogX: true, Series: []Series{{X: one, Y: one}}}},
	} {
		if err := writeCharts(io.Discard, "png", pictureDPI, charts...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := writeCharts(io.Discard, "gif", pictureDPI, sample()); err == nil || !strings.Contains(err.Error(), `not "gif"`) {
		t.Error(err)
	}
	for _, format := range []string{"png", "svg"} {
		if err := writeCharts(broken{}, format, pictureDPI, sample()); err == nil {
			t.Errorf("%s: a failed write went unnoticed", format)
		}
	}
}

func TestTicks_Labels(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		log    bool
		want   string
	}{
		{0, 10, false, "0 2 4 6 8 10"},
		{-5.4, 5.4, false, "-4 -2 0 2 4"},
		{0.93, 4.1, false, "1.0 1.5 2.0 2.5 3.0 3.5 4.0"},
		{0, 0.001, false, "0 0.0002 0.0004 0.0006 0.0008 0.0010"},
		{9000, 26000, false, "10000 15000 20000 25000"},
		{0.9, 110, true, "1 2 5 10 20 50 100"},
		{0.0009, 1.1, true, "0.001 0.003 0.01 0.03 0.1 0.3 1"},
		{0.9, 1e6, true, "1 10 100 1000 10000 100000 1e+06"},
		{2, 5, true, "2.0 2.5 3.0 3.5 4.0 4.5 5.0"},
	} {
		var labels []string
		for _, tk := range ticks(c.lo, c.hi, c.log, nil) {
			if tk.Label != "" {
				labels = append(labels, tk.Label)
			}
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("[%v, %v], log %v: %s, want %s", c.lo, c.hi, c.log, got, c.want)
		}
	}
}

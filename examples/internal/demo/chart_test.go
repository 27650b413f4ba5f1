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

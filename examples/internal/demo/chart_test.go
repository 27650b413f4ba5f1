package demo

import (
	"io"
	"math"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
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
	written := func(format string, charts ...*Chart) error {
		return writeCharts(io.Discard, format, pictureDPI, charts...)
	}
	of := func(s Series) error { return written("png", &Chart{Title: "t", Series: []Series{s}}) }
	testkit.Refused(t, [][3]any{
		{of(Series{Name: "s", X: two, Y: one}), `demo: series "s" has 2 x, 1 y`},
		{of(Series{X: two, Y: two, Lo: two}), "2 y, 2 lo, 0 hi"},
		{of(Series{X: one, Y: []float64{math.NaN()}}), `demo: chart "t" has no point to show`},
		{written("png"), "demo: no charts"},
		{written("png", &Chart{Title: "h", LogX: true, Shade: &Shade{}}), `demo: chart "h" has a shade`},
		{written("png", sample(), &Chart{Title: "l", LogX: true, Series: []Series{{X: one, Y: one}}}), `demo: chart "l" has other axes`},
		{written("gif", sample()), `demo: pictures are png or svg, not "gif"`},
		{writeCharts(broken{}, "png", pictureDPI, sample()), ""},
		{writeCharts(broken{}, "svg", pictureDPI, sample()), ""},
	})
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

package demo

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
)

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

// A label reads back to its tick, ticks lie in the range, and there are neither
// too few nor too many labels, at any scale.
func TestTicks_LawsAtEveryScale(t *testing.T) {
	check := func(name string, lo, hi float64, log bool) {
		t.Helper()
		labels := 0
		for _, tk := range ticks(lo, hi, log, nil) {
			if tk.Value < lo || tk.Value > hi {
				t.Errorf("%s: tick %v outside [%v, %v]", name, tk.Value, lo, hi)
			}
			if tk.Label == "" {
				continue
			}
			labels++
			v, err := strconv.ParseFloat(tk.Label, 64)
			if err != nil || math.Abs(v-tk.Value) > 1e-3*(hi-lo) {
				t.Errorf("%s: label %q at %v", name, tk.Label, tk.Value)
			}
		}
		if labels < 2 || labels > 2*wantTicks+1 {
			t.Errorf("%s: %d labels on [%v, %v]", name, labels, lo, hi)
		}
	}
	for e := -90; e <= 90; e += 3 {
		s := math.Pow(10, float64(e))
		for _, width := range []float64{1.3, 2, 3.7, 9, 40, 1e3, 1e5, 1e9} {
			name := fmt.Sprintf("scale %g width %g", s, width)
			check("linear, "+name, s, s*width, false)
			check("linear, "+name, -s*width, s, false)
			check("log, "+name, s, s*width, true)
		}
	}
}

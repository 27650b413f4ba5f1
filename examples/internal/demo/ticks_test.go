package demo

import (
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

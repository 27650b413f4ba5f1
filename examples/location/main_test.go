package main

import (
	"strings"
	"testing"

	"github.com/metricdp/metricdp/examples/internal/demotest"
)

var location = demotest.Program{Name: "location", Main: run, Ext: ".csv"}

// The tables of 100 places at the default seed, without the build times. The exponential rows
// are exact; what is of noise on the sphere is a simulation with a fixed seed.
const golden = `
mechanism                     level (per km)  worst loss (km)  mean loss (km)  95 % loss (km)
constant                                   0            535.2           339.0           519.9
exponential, standard                0.08567            26.84           10.48           22.47
exponential, tuned                    0.1000            21.40           8.029           19.51
  the same, remapped                  0.1000            23.92           7.796           19.92
noise on the sphere, snapped          0.1000            17.23           8.173           15.71
reports of one place  level, drawn anew (per km)  mean is off by (km)  level, sticky (per km)  mean is off by (km)
                   1                      0.1000                19.20                  0.1000                21.21
                  10                       1.000                7.076                  0.1000                18.68
                 100                       10.00                2.233                  0.1000                23.85
                1000                       100.0               0.6072                  0.1000                22.90
`

func TestLocation_Golden(t *testing.T) {
	dir := t.TempDir()
	demotest.Golden(t, demotest.Untimed(location.Must(t, "-quiet", "-n", "100", "-out", dir)), golden)
	for file, rows := range map[string]int{"table.csv": 5, "released.csv": 5 * 100} {
		if n := len(demotest.Table(t, dir, file)); n != rows {
			t.Errorf("%s has %d rows, want %d", file, n, rows)
		}
	}
	demotest.Picture(t, dir, "loss.png")
}

func TestLocation_Flags(t *testing.T) {
	location.Agrees(t)
	in := location.File(t, "lat,lon\n0,179.9\n0,-179.9\n90,0\n0,179.9\n")
	out := location.Must(t, "-in", in, "-alpha", "0.01", "-out", t.TempDir())
	// Across the date line the first two are 22 km apart.
	if !strings.Contains(out, "4 places, up to 10008 km apart") || !strings.Contains(out, "tight weights") {
		t.Error(out)
	}
	out = location.Must(t, "-prior", "population", "-n", "40", "-out", t.TempDir(), "-seed", "7")
	if !strings.Contains(out, "40 places") {
		t.Error(out)
	}
}

func TestLocation_BadInput(t *testing.T) {
	file := func(content string) string { return location.File(t, content) }
	location.Rejects(t, map[string][]string{
		"-alpha 0":                         {"-alpha", "0"},
		"-alpha NaN":                       {"-alpha", "NaN"},
		"-n 1: want 2":                     {"-n", "1"},
		"one place alone: want at least 2": {"-in", file("lat,lon\n1,2\n")},
		"-prior \"poulation\"":             {"-prior", "poulation"},
		"no column \"population\"":         {"-prior", "population", "-in", file("lat,lon\n1,2\n")},
		"nobody lives":                     {"-prior", "population", "-in", file("lat,lon,population\n1,2,0\n3,4,0\n")},
	})
}

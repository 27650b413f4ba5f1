package main

import (
	"strings"
	"testing"

	"github.com/metricdp/metricdp/examples/internal/demotest"
)

var location = demotest.Program{Name: "location", Main: run, Ext: ".csv"}

// The tables at the default seed, without the build times. The exponential rows
// are exact; what is of noise on the sphere is a simulation with a fixed seed.
const golden = `
mechanism                     level (per km)  worst loss (km)  mean loss (km)  95 % loss (km)
constant                                   0            642.3           384.2           605.0
exponential, standard                0.09210            49.75           17.45           32.60
exponential, tuned                    0.1000            45.04           15.51           28.80
  the same, remapped                  0.1000            45.93           14.99           29.22
noise on the sphere, snapped          0.1000            20.50           12.88           18.59
reports of one place  level, drawn anew (per km)  mean is off by (km)  level, sticky (per km)  mean is off by (km)
                   1                      0.1000                19.56                  0.1000                20.28
                  10                       1.000                6.348                  0.1000                20.04
                 100                       10.00                2.162                  0.1000                19.06
                1000                       100.0               0.7701                  0.1000                18.43
`

func TestLocation_Golden(t *testing.T) {
	dir := t.TempDir()
	demotest.Golden(t, demotest.Untimed(location.Must(t, "-quiet", "-out", dir)), golden)
	for file, rows := range map[string]int{"table.csv": 5, "released.csv": 5 * 300} {
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

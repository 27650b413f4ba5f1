package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/examples/internal/demotest"
)

var program = demotest.Program{Name: "roads", Main: run, Ext: ".osm"}

// What the optimum is compared with, at the default seed. Of the optimum only the
// mean loss is certain.
const golden = `
mechanism                   level (per m)  mean loss (m)  95 % loss (m)  worst loss (m)  adversary (m)
nearest place, not private           +Inf          107.6          233.5           284.8          107.6
constant                                0          270.5          446.0           499.7          262.7
noise, remapped                  0.004929          246.7          371.2           396.9          238.9
exponential, the best                   0          270.5          446.0           499.7          262.7
optimal                          0.005000          219.8`

func TestRoads_Golden(t *testing.T) {
	dir := t.TempDir()
	out := demotest.Untimed(program.Must(t, "-quiet", "-n", "60", "-k", "6", "-out", dir))
	demotest.Golden(t, out[:min(len(out), len(golden)-1)], golden)
	for file, rows := range map[string]int{"table.csv": 5, "released.csv": 5 * 60} {
		if n := len(demotest.Table(t, dir, file)); n != rows {
			t.Errorf("%s has %d rows, want %d", file, n, rows)
		}
	}
	demotest.Picture(t, dir, "map.png")
}

// The optimum is no worse than what it is compared with, and within its gap of
// what was proved, by the mean and in the worst case.
func TestRoads_Optimal(t *testing.T) {
	for _, args := range [][]string{{}, {"-worst"}, {"-alpha", ".05"}, {"-alpha", "1e-5"}} {
		dir := t.TempDir()
		column := "mean loss (m)"
		if len(args) == 1 {
			column = "worst loss (m)"
		}
		program.Must(t, append(args, "-quiet", "-n", "100", "-k", "8", "-out", dir)...)
		rows := demotest.Table(t, dir, "table.csv")
		loss := make([]float64, len(rows))
		for k, row := range rows {
			loss[k] = demotest.Number(t, row[column])
		}
		nearest, constant, noise, exponential, optimal := loss[0], loss[1], loss[2], loss[3], loss[4]
		if const1 := 1 + 1e-5; optimal > const1*min(constant, noise, exponential) || nearest > const1*optimal {
			t.Errorf("%v: %v", args, loss)
		}
	}
}

func TestRoads_Flags(t *testing.T) {
	program.Agrees(t)
	out := program.Must(t, "-n", "80", "-k", "5", "-center", "0.0005,0.006", "-out", t.TempDir())
	for _, want := range []string{"Used: the 80 that are nearest", "two crossings 200 m apart", "Proved: no 0.005-private", "% more at most"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if out := program.Must(t, "-in", "testdata/packed.osm.pbf", "-k", "1", "-out", t.TempDir()); !strings.Contains(out, "2 crossings and ends") {
		t.Error(out)
	}
}

func TestRoads_BadInput(t *testing.T) {
	file := func(text string) []string { return []string{"-in", program.File(t, text)} }
	osm := func(text string) []string { return file("<osm>" + text + "</osm>") }
	square := ""
	for k, p := range []string{"0,0", "0,1", "1,1"} {
		lat, lon, _ := strings.Cut(p, ",")
		square += fmt.Sprintf(`<node id="%d" lat="%s" lon="%s"/>`, k+1, lat, lon)
	}
	program.Rejects(t, map[string][]string{
		"-alpha 0: want":            {"-alpha", "0"},
		"-alpha NaN":                {"-alpha", "NaN"},
		"-k 0: want 1":              {"-k", "0"},
		"-k 61: want at most":       {"-k", "61", "-n", "60"},
		"-n 1: want 2":              {"-n", "1"},
		"-time 0s: want":            {"-time", "0"},
		`-center "5": want`:         {"-center", "5"},
		`-center "91,0": want`:      {"-center", "91,0"},
		"no such file":              {"-in", "/no/such/file"},
		"the file is empty":         file(""),
		"neither OpenStreetMap":     file("lat,lon\n1,2\n"),
		"no roads: no way":          osm(""),
		"line 1382: unexpected EOF": file(string(town[:len(town)/2])),
		"line 1: unexpected EOF":    file(`<osm><node id="1" lat="0" lon="0"`),
		"no roads that cross":       osm(square + `<way id="1"><nd ref="1"/><nd ref="2"/><nd ref="3"/><nd ref="1"/><tag k="highway" v="road"/></way>`),
		"node 1: ":                  osm(`<node id="1" lat="97" lon="0"/><way id="1"><nd ref="1"/><nd ref="1"/><tag k="highway" v="road"/></way>`),
		"-k 20: want at most the":   osm(square + `<way id="1"><nd ref="1"/><nd ref="2"/><tag k="highway" v="road"/></way>`),
		"EOF":                       file(string(maps()["packed.osm.pbf"][:90])),
	})
}

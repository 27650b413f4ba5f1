package main

import (
	"strings"
	"testing"

	"github.com/metricdp/metricdp/examples/internal/demotest"
)

var tradeoff = demotest.Program{Name: "tradeoff", Main: run, Ext: ".csv"}

const goldenCities = `
alpha (per km)  lower (km)  by             entropic  diametric   standard      tuned      tight      const    optimal      upper  by                ratio
     0.0002000        4166  program            6425       3618      11740      11025          -       4408       4286       4286  optimal           1.029
      0.002000       400.6  program           402.2      251.1       1261      849.2      489.1      405.2      402.4      402.4  optimal           1.005
       0.02000       21.77  program           35.05      29.82      46.09      25.60      25.02      21.85      21.77      21.77  optimal           1.000
`

const goldenMammals = `
alpha (per edge)      lower  by             entropic  diametric   standard      tuned      tight      const    optimal    relaxed  relaxed tuned      upper  by                ratio
          0.2000     0.2515  program          0.2500     0.2247     0.4654     0.4594          -     0.2522     0.2517     0.3503         0.3275     0.2517  optimal           1.001
           1.000    0.06171  program               0    0.03383     0.2364    0.07860    0.07467    0.06254    0.06174     0.1784        0.07531    0.06174  optimal           1.001
           2.000   0.005992  program               0   0.004579    0.06681   0.006100   0.006042   0.006135   0.005998    0.06588       0.006100   0.005998  optimal           1.001
`

func TestTradeoff_Flags(t *testing.T) { tradeoff.Agrees(t) }

func TestTradeoff_Golden(t *testing.T) {
	for _, c := range []struct{ want, metric, n, alphas string }{
		{goldenCities, "greatcircle", "24", "0.0002,0.002,0.02"},
		{goldenMammals, "prefix", "30", "0.2,1,2"},
	} {
		dir := t.TempDir()
		demotest.Golden(t, tradeoff.Must(t, "-quiet", "-metric", c.metric, "-n", c.n, "-alphas", c.alphas, "-out", dir), c.want)
		demotest.Picture(t, dir, c.metric+".png")
	}
}

func TestTradeoff_BothStories(t *testing.T) {
	dir := t.TempDir()
	out := tradeoff.Must(t, "-n", "12", "-out", dir)
	for _, want := range []string{"12 points of cities.csv", "no mechanism can do better than", "12 points of mammals.csv", "The relaxed mechanism"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for _, row := range demotest.Table(t, dir, "table.csv") {
		lower, upper := demotest.Number(t, row["lower"]), demotest.Number(t, row["upper"])
		for _, m := range []string{"standard", "tuned", "tight", "const", "optimal", "relaxed", "relaxed_tuned"} {
			if row[m] == "" {
				continue
			}
			if loss := demotest.Number(t, row[m]); loss < lower || loss < upper {
				t.Errorf("alpha %s: %s loses %v, outside [%v, %v]", row["alpha"], m, loss, lower, upper)
			}
		}
		if (row["relaxed"] != "") != (row["data"] == "mammals.csv") {
			t.Errorf("%s: relaxed = %q", row["data"], row["relaxed"])
		}
	}
}

// The optimal accuracy of the path 0, ..., 4, by an independent linear program, lies
// in the bracket.
func TestTradeoff_Path(t *testing.T) {
	dir := t.TempDir()
	in := tradeoff.File(t, "x,y\n0,0\n1,0\n2,0\n3,0\n4,0\n")
	out := tradeoff.Must(t, "-in", in, "-metric", "euclidean", "-alphas", "0.5, 1, 2", "-out", dir)
	if !strings.Contains(out, "5 points of in.csv, up to 4 units apart") {
		t.Error(out)
	}
	rows := demotest.Table(t, dir, "table.csv")
	for k, optimum := range []float64{1.00897714, 0.637582264, 0.260630630} {
		row := rows[k]
		if lower, upper := demotest.Number(t, row["lower"]), demotest.Number(t, row["upper"]); !(0.7*optimum < lower && lower <= optimum && optimum <= upper && upper < 1.3*optimum) {
			t.Errorf("alpha %s: [%v, %v] for %v", row["alpha"], lower, upper, optimum)
		}
	}
}

func TestTradeoff_Inputs(t *testing.T) {
	for _, c := range []struct{ metric, in, want string }{
		{"euclidean", "x,y\n3,4\n3,4\n3,4\n", "all 3 points are one and the same: the loss is 0"},
		{"euclidean", "x,y,z\n0,0,0\n1,2,2\n", "up to 3 units apart"},
		{"greatcircle", "lat,lon\n0,179.9\n0,-179.9\n0,179.9\n", "up to 22 km apart"}, // across the date line, one twice
		{"prefix", "path\na>b>c\na>b\na>d\na>b>c\n", "up to 3 edges apart"},           // an inner node, one leaf twice
		{"prefix", "path\na>b\nz>b\n", "up to 4 edges apart"},                         // two roots
	} {
		if out := tradeoff.Must(t, "-in", tradeoff.File(t, c.in), "-metric", c.metric, "-out", t.TempDir()); !strings.Contains(out, c.want) {
			t.Errorf("%q: no %q in\n%s", c.in, c.want, out)
		}
	}
}

func TestTradeoff_BadInput(t *testing.T) {
	tradeoff.Rejects(t, map[string][]string{
		"-metric \"taxicab\": want euclidean": {"-metric", "taxicab"},
		"-metric euclidean: want a file":      {"-metric", "euclidean"},
		"\"0\" is not a finite number > 0":    {"-alphas", "0"},
		"\"-1\" is not":                       {"-alphas", "2,-1"},
		"\"NaN\" is not":                      {"-alphas", "NaN"},
		"\"1e999\" is not":                    {"-alphas", "1e999"},
		"\"a\" is not":                        {"-alphas", "1,a"},
		"\"\" is not":                         {"-alphas", "1,,2"},
		"1 does not exceed the 2 before it":   {"-alphas", "2,1"},
		"want at most 50":                     {"-alphas", strings.Repeat("1,", 50) + "1"},
		"-n 1: want 2 to 2000":                {"-n", "1"},
		"-n 2001":                             {"-n", "2001"},
		"no column \"lat\"":                   {"-in", tradeoff.File(t, "x,y\n1,2\n")},
		"a step without a name":               {"-metric", "prefix", "-in", tradeoff.File(t, "path\na>>b\n")},
		"one point, want two":                 {"-in", tradeoff.File(t, "lat,lon\n1,2\n")},
		"choose a larger unit":                {"-quiet", "-metric", "euclidean", "-in", tradeoff.File(t, "x,y\n0,0\n1e-320,0\n")},
	})
}

package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/demo"
)

func do(args ...string) (status int, stdout, stderr string) {
	var o, e bytes.Buffer
	status = demo.Run(context.Background(), "tradeoff", args, &o, &e, run)
	return status, o.String(), e.String()
}

// file writes an input file.
func file(t *testing.T, content string) string {
	t.Helper()
	in := filepath.Join(t.TempDir(), "in.csv")
	if err := os.WriteFile(in, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return in
}

// table reads the table.csv of a folder: one map for each row, by column.
func table(t *testing.T, dir string) []map[string]string {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "table.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	for _, line := range lines[1:] {
		row := map[string]string{}
		for k, name := range lines[0] {
			row[name] = line[k]
		}
		rows = append(rows, row)
	}
	return rows
}

func number64(t *testing.T, s string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

const goldenCities = `
alpha (per km)  lower (km)  by    entropic  diametric  standard  tuned  tight  upper  by        ratio
     0.0002000        3792  star      6425       3618     11740  11025      -  10633  constant  2.804
      0.002000       369.5  star     402.2      251.1      1261  849.2  489.1  489.1  tight     1.323
       0.02000       21.52  star     35.05      29.82     46.09  25.60  25.02  25.02  tight     1.163
`

const goldenMammals = `
alpha (per edge)      lower  by    entropic  diametric  standard      tuned      tight  relaxed  relaxed tuned      upper  by             ratio
          0.2000     0.2498  star    0.2500     0.2247    0.4654     0.4594          -   0.3503         0.3275     0.3275  relaxed tuned  1.311
           1.000    0.06107  star         0    0.03383    0.2364    0.07860    0.07467   0.1784        0.07531    0.07467  tight          1.223
           3.000  0.0006792  star         0  0.0006197   0.01946  0.0006859  0.0006848  0.01945      0.0006859  0.0006848  tight          1.008
`

func TestTradeoff_Golden(t *testing.T) {
	for _, c := range []struct{ want, metric, n, alphas string }{
		{goldenCities, "greatcircle", "24", "0.0002,0.002,0.02"},
		{goldenMammals, "prefix", "30", "0.2,1,3"},
	} {
		dir := t.TempDir()
		status, out, stderr := do("-quiet", "-metric", c.metric, "-n", c.n, "-alphas", c.alphas, "-out", dir)
		if status != 0 || stderr != "" {
			t.Fatalf("status %d: %s", status, stderr)
		}
		if strings.TrimSpace(out) != strings.TrimSpace(c.want) {
			t.Errorf("got\n%s\nwant\n%s", out, c.want)
		}
		if b, err := os.ReadFile(filepath.Join(dir, c.metric+".png")); err != nil || !bytes.HasPrefix(b, []byte("\x89PNG")) {
			t.Errorf("%s.png: %v", c.metric, err)
		}
	}
}

func TestTradeoff_BothStories(t *testing.T) {
	dir := t.TempDir()
	status, out, stderr := do("-n", "12", "-out", dir)
	if status != 0 || stderr != "" {
		t.Fatalf("status %d: %s", status, stderr)
	}
	for _, want := range []string{"12 points of cities.csv", "no mechanism can do better than", "12 points of mammals.csv", "The relaxed mechanism"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	for _, row := range table(t, dir) {
		lower, upper := number64(t, row["lower"]), number64(t, row["upper"])
		for _, m := range []string{"standard", "tuned", "tight", "relaxed", "relaxed_tuned"} {
			if cell := row[m]; cell != "" && (number64(t, cell) < lower || number64(t, cell) < upper) {
				t.Errorf("alpha %s: %s loses %s, outside [%v, %v]", row["alpha"], m, cell, lower, upper)
			}
		}
		if (row["relaxed"] != "") != (row["data"] == "mammals.csv") {
			t.Errorf("%s: relaxed = %q", row["data"], row["relaxed"])
		}
	}
}

// The optimal accuracy of the path 0, ..., 4 by linear programming (MATH.md
// section 2) lies in the bracket.
func TestTradeoff_Path(t *testing.T) {
	dir := t.TempDir()
	in := file(t, "x,y\n0,0\n1,0\n2,0\n3,0\n4,0\n")
	status, out, stderr := do("-in", in, "-metric", "euclidean", "-alphas", "0.5, 1, 2", "-out", dir)
	if status != 0 || !strings.Contains(out, "5 points of in.csv, up to 4 units apart") {
		t.Fatalf("status %d\n%s%s", status, out, stderr)
	}
	for k, optimum := range []float64{1.00897714, 0.637582264, 0.260630630} {
		row := table(t, dir)[k]
		if lower, upper := number64(t, row["lower"]), number64(t, row["upper"]); !(0.7*optimum < lower && lower <= optimum && optimum <= upper && upper < 1.3*optimum) {
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
		status, out, stderr := do("-in", file(t, c.in), "-metric", c.metric, "-out", t.TempDir())
		if status != 0 || !strings.Contains(out, c.want) {
			t.Errorf("%q: status %d\n%s%s", c.in, status, out, stderr)
		}
	}
}

func TestTradeoff_BadInput(t *testing.T) {
	for want, args := range map[string][]string{
		"-metric \"taxicab\": want euclidean": {"-metric", "taxicab"},
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
		"no such file":                        {"-in", "/no/such/file"},
		"no column \"lat\"":                   {"-in", file(t, "x,y\n1,2\n")},
		"no column \"y\"":                     {"-metric", "euclidean", "-in", file(t, "x\n1\n")},
		"no column \"path\"":                  {"-metric", "prefix", "-in", file(t, "leaf\n1\n")},
		"line 3: x = \"?\": not a number":     {"-metric", "euclidean", "-in", file(t, "x,y\n1,1\n?,1\n")},
		"line 2: lat = \"91\"":                {"-in", file(t, "lat,lon\n91,2\n")},
		"a step without a name":               {"-metric", "prefix", "-in", file(t, "path\na>>b\n")},
		"one point, want two":                 {"-in", file(t, "lat,lon\n1,2\n")},
		"no rows":                             {"-in", file(t, "lat,lon\n")},
		"choose a larger unit":                {"-metric", "euclidean", "-in", file(t, "x,y\n0,0\n1e-320,0\n")},
		"unexpected argument":                 {"cities"},
	} {
		status, _, stderr := do(args...)
		if status != 2 || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: status %d, %q, want %q in one line", args, status, stderr, want)
		}
	}
}

package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/metricdp/metricdp/examples/internal/demotest"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/table"
)

var synthetic = demotest.Program{Name: "synthetic", Main: run, Ext: ".csv"}

// golden is the table without its last column.
const golden = `
of        what                            original
lon       5 % quantile                      -5.071
lon       median                             8.497
lon       95 % quantile                      27.00
lon       mean                               9.386
lat       5 % quantile                       38.43
lat       median                             49.24
lat       95 % quantile                      55.77
lat       mean                               48.24
lon, lat  correlation                      0.08912
all       counts of ranges, mean error      0.00 %
all       k-means of 8, cost                 1.000
all       W1                                     0
all       W1, told by the release (95 %)         -
`

// The report of places.csv at the default seed: what is said of the originals, and how
// near a release of eps = 1 comes.
func TestSynthetic_Golden(t *testing.T) {
	if testing.Short() {
		t.Skip("transport of 6122 records, slow with the race detector")
	}
	dir := t.TempDir()
	out := synthetic.Must(t, "-quiet", "-eps", "1", "-out", dir)
	demotest.Golden(t, regexp.MustCompile(`(?m) +(eps = 1|\S+|\S+ %)$`).ReplaceAllString(out, ""), golden)
	demotest.Picture(t, dir, "records.png")
	w1 := 0.0
	for _, row := range demotest.Table(t, dir, "report.csv") {
		v := demotest.Number(t, strings.TrimSuffix(row["eps = 1"], " %"))
		lo, hi := v, v
		switch what := row["what"]; what {
		case "median", "mean":
			x := demotest.Number(t, row["original"])
			lo, hi = x-0.8, x+0.8
		case "counts of ranges, mean error":
			lo, hi = 0.01, 0.8
		case "k-means of 8, cost":
			lo, hi = 0.9, 1.3
		case "W1":
			w1 = v
			lo, hi = 0.001, 0.015
		case "W1, told by the release (95 %)":
			lo, hi = w1, 4*w1
		}
		if !(v >= lo && v <= hi) {
			t.Errorf("%s, %s: %v, want a number in [%v, %v]", row["of"], row["what"], v, lo, hi)
		}
	}
	checkRecords(t, dir, "synthetic-1.csv", shipped, 6122)
}

// checkRecords reads synthetic records by the schema: there are n, within the bounds.
func checkRecords(t *testing.T, dir, file, columns string, n int) (records [][]float64) {
	t.Helper()
	schema := testkit.Must(table.ParseSchema(columns))
	f := testkit.Must(os.Open(filepath.Join(dir, file)))
	defer f.Close()
	for x, err := range schema.Read(f) {
		testkit.Check(t, err)
		for _, e := range entriesOf(schema) {
			if v := x[e.at]; e.names == nil && (v < e.lo || v > e.hi) {
				t.Errorf("%s: %s = %v", file, e.name, v)
			}
		}
		records = append(records, x)
	}
	if len(records) != n {
		t.Errorf("%s: %d records, want %d", file, len(records), n)
	}
	return records
}

// mixed is a table of all kinds in which a name, a number and a date hang together.
func mixed(n int) string {
	var b strings.Builder
	b.WriteString("group,size,day,home lat,home lon,seen\n")
	r := rand.New(rand.NewPCG(1, 2))
	for range n {
		g := r.IntN(3)
		seen := ""
		if g > 0 {
			seen = fmt.Sprint(10*g + r.IntN(5))
		}
		fmt.Fprintf(&b, "%s,%.3f,2020-0%d-11,%.2f,%.2f,%s\n", []string{"low", "middle", "high"}[g], float64(g)+r.Float64(), 1+3*g, float64(10*g), r.Float64(), seen)
	}
	return b.String()
}

const mixedColumns = "group:category:low|middle|high,size:number:0..3,day:date:2020-01-01..2020-12-31,seen?:whole:0..30"

func TestSynthetic_Mixed(t *testing.T) {
	in := synthetic.File(t, mixed(200))
	for columns, want := range map[string][]string{
		mixedColumns:                                       {"group low ", "seen missing ", "day median 2020-", "group, size correlation ratio ", "size, day correlation "},
		"group:category:low|*middle":                       {"group W1 ", "group in other names than before 0.0 % "},
		"seen?:whole:0..30":                                {"seen missing "},
		"size:number:0..2":                                 {"Records outside the bounds: "},
		"home:place:home lat|home lon":                     {"home lat, home lon correlation "},
		"group:category:low|middle|high,seen?:whole:0..30": {"group, seen correlation ratio ", "all W1, told by the release"},
	} {
		dir := t.TempDir()
		out := synthetic.Must(t, "-in", in, "-columns", columns, "-eps", "2", "-out", dir)
		for _, w := range want {
			if !strings.Contains(strings.Join(strings.Fields(out), " "), w) {
				t.Errorf("%s: no %q in\n%s", columns, w, out)
			}
		}
		checkRecords(t, dir, "synthetic-2.csv", columns, 200)
		if _, err := os.Stat(filepath.Join(dir, "records.png")); (err == nil) != (columns != "group:category:low|*middle") {
			t.Errorf("%s: a picture: %v", columns, err)
		}
	}
}

// Of every person the first records are counted, and how many is private.
func TestSynthetic_Persons(t *testing.T) {
	var b strings.Builder
	b.WriteString("who,a,b\n")
	for i := range 3000 {
		fmt.Fprintf(&b, "p%d,%d,0\n", i%300, min(9, i/300))
	}
	in := synthetic.File(t, b.String())
	for _, columns := range []string{"a:number:0..10", "a:number:0..10,who:category:*x,b:number:0..1"} {
		dir := t.TempDir()
		out := synthetic.Must(t, "-in", in, "-columns", columns, "-person", "who", "-most", "2", "-eps", "100", "-out", dir)
		for _, want := range []string{"whichever one person", "Up to 2 records"} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
		rows := demotest.Table(t, dir, "synthetic-100.csv")
		if n := len(rows); n < 590 || n > 610 {
			t.Errorf("%d records, want about 600", n)
		}
		for _, row := range rows {
			if a := demotest.Number(t, row["a"]); a > 2.5 {
				t.Errorf("%v, but nobody counted has more than 1", a)
				break
			}
		}
	}
}

// More eps is nearer, in each of the answers.
func TestSynthetic_MoreIsNearer(t *testing.T) {
	dir := t.TempDir()
	synthetic.Must(t, "-in", synthetic.File(t, mixed(200)), "-columns", mixedColumns, "-eps", "0.01,1000", "-out", dir)
	for _, row := range demotest.Table(t, dir, "report.csv") {
		far, near := strings.TrimSuffix(row["eps = 0.01"], " %"), strings.TrimSuffix(row["eps = 1000"], " %")
		if row["of"] == "all" && !(demotest.Number(t, near) < demotest.Number(t, far)) {
			t.Error(row)
		}
	}
}

func TestSynthetic_Towns(t *testing.T) {
	dir := t.TempDir()
	all := string(testkit.Must(os.ReadFile("towns.csv")))
	in := synthetic.File(t, all[:1+strings.Index(all[8000:], "\n")+8000])
	out := synthetic.Must(t, "-in", in, "-schema", "towns.json", "-eps", "1,20", "-out", dir)
	demotest.Picture(t, dir, "pairs.png")
	for _, want := range []string{"United Kingdom", "city_km", "missing", "correlation ratio", "Planned at eps = 20", "released together", "country, "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	schema := testkit.Must(table.ReadSchema(testkit.Must(os.Open("towns.json"))))
	for _, err := range schema.Read(strings.NewReader(all)) {
		testkit.Check(t, err)
	}
}

func TestSynthetic_SeedRepeatsAndSecureDoesNot(t *testing.T) {
	in := synthetic.File(t, "a\n1\n2\n5\n")
	make := func(args ...string) string {
		dir := t.TempDir()
		synthetic.Must(t, append(args, "-in", in, "-columns", "a:number:0..9", "-eps", "1", "-out", dir)...)
		return fmt.Sprint(checkRecords(t, dir, "synthetic-1.csv", "a:number:0..9", 3))
	}
	a, b, c := make("-seed", "7"), make("-seed", "7"), make("-seed", "8")
	if a != b {
		t.Errorf("one seed, two outputs: %s, %s", a, b)
	}
	if a == c {
		t.Errorf("two seeds, one output: %s", a)
	}
	// Three jittered numbers of 6 digits: one chance in 10^18.
	if a, b := make("-secure"), make("-secure"); a == b {
		t.Errorf("-secure repeats: %s", a)
	}
}

func TestSynthetic_Flags(t *testing.T) { synthetic.Agrees(t) }

func TestSynthetic_BadInput(t *testing.T) {
	good := synthetic.File(t, "a,b\n1,2\n")
	schema := synthetic.File(t, `[{"name": "a", "kind": "number", "lo": 5, "hi": 1}]`)
	synthetic.Rejects(t, map[string][]string{
		"-schema or -columns is missing":                               {"-in", good},
		"say the same thing":                                           {"-in", good, "-columns", "a:number:0..1", "-schema", schema},
		"-columns: field 1, \"a:number:1\": hi is missing":             {"-in", good, "-columns", "a:number:1"},
		"field 1, \"a\": hi = 1, want a number in (Lo, 1e100], Lo = 5": {"-in", good, "-schema", schema},
		"no such file":                                   {"-in", good, "-schema", "/no/such/file"},
		"in.csv: line 1: no column \"c\"":                {"-in", good, "-columns", "c:number:0..1"},
		"in.csv: line 2: b: not a name":                  {"-in", good, "-columns", "b:category:x|y"},
		"in.csv: records: empty input":                   {"-in", synthetic.File(t, "a\n"), "-columns", "a:number:0..1"},
		"empty, want a header":                           {"-in", os.DevNull, "-columns", "a:number:0..1"},
		"-eps \"0\": want numbers in":                    {"-eps", "0"},
		"-eps \"1,\": want":                              {"-eps", "1,"},
		"-eps \"NaN\": want":                             {"-eps", "NaN"},
		"-eps \"1e7\": want":                             {"-eps", "1e7"},
		"-eps \"1,2,3,4,5,6\": 6 levels, want at most 5": {"-eps", "1,2,3,4,5,6"},
		"want one of them":                               {"-secure", "-seed", "1"},
		"-person and -most go together":                  {"-person", "lon"},
		"no column \"who\"":                              {"-person", "who", "-most", "1"},
	})
}

func TestAssociation_AgreesWithGonum(t *testing.T) {
	entries := entriesOf(testkit.Must(table.ParseSchema("x:number:-10..10,y?:number:0..5,g:category:a|b|c,h:category:a|b|c,i:category:a|b|c|d")))
	r := rand.New(rand.NewPCG(3, 4))
	var records [][]float64
	var x, y, g, all []float64
	for range 500 {
		k := float64(r.IntN(3))
		u := []float64{r.NormFloat64() + k, r.Float64(), k, 2 - k, float64(r.IntN(4))}
		u[1] += u[0] / 5
		if r.IntN(5) == 0 {
			u[1] = math.NaN()
		} else {
			x, y = append(x, u[0]), append(y, u[1])
		}
		records, g, all = append(records, u), append(g, k), append(all, u[0])
	}
	// With names in the order of a number, and means that are equally far apart, the ratio is about
	// its correlation, and at least that.
	least := stat.Correlation(all, g, nil)
	for _, c := range []struct {
		what   string
		i, j   int
		lo, hi float64
	}{
		{"correlation", 0, 1, stat.Correlation(x, y, nil) - 1e-9, stat.Correlation(x, y, nil) + 1e-9},
		{"correlation ratio", 0, 2, least, least + 0.02},
		{"correlation ratio", 2, 0, least, least + 0.02},
		{"Cramér's V of two names for the same thing", 2, 3, 1 - 1e-9, 1 + 1e-9},
		{"Cramér's V of independent names", 2, 4, 0, 0.15}, // sqrt(6/(500*2)) = 0.08 in the mean
	} {
		if _, v := association(&entries[c.i], &entries[c.j], records); !(v >= c.lo && v <= c.hi) {
			t.Errorf("%s: %v, want a number in [%v, %v]", c.what, v, c.lo, c.hi)
		}
	}
}

func TestMeans_FindsClusters(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var points [][]float64
	for i := range 80 * centers {
		points = append(points, []float64{float64(i % centers), 0.1 * r.Float64(), 0.1 * r.Float64()})
	}
	found := testkit.Must(means(context.Background(), r, points))
	if c := cost(points, found, nil); len(found) != centers || c > 0.003 { // 2 * 0.01/12 and a little
		t.Errorf("cost %v of %v", c, found)
	}
	few := testkit.Must(means(context.Background(), r, points[:3]))
	if c := cost(points[:3], few, nil); c != 0 {
		t.Errorf("cost %v of three points", c)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := means(ctx, r, points); err != context.Canceled {
		t.Error(err)
	}
}

// The fast distances are those of the domain.
func TestShares_AreTheDomains(t *testing.T) {
	s := &study{request: request{schema: testkit.Must(table.ParseSchema("x?:number:-1..1,g?:category:a|b|c,w:whole:0..9"))}}
	s.entries = entriesOf(s.schema)
	s.metric = testkit.Must(domain.NewBox(s.schema.Columns(), nil))
	nan := math.NaN()
	records := [][]float64{{-1, 0, 0}, {0.5, 2, 0}, {nan, 2, 0}, {nan, nan, 9}, {1, nan, 3}}
	c := newShares(s.entries, records, records)
	row := make([]float64, len(records))
	for i, x := range records {
		c.CostsFrom(i, row)
		for j, y := range records {
			if want := s.metric.Distance(x, y); math.Abs(c.At(i, j)-want) > 1e-12 || row[j] != c.At(i, j) {
				t.Errorf("%v and %v are %v, or %v, apart, want %v", x, y, c.At(i, j), row[j], want)
			}
		}
	}
}

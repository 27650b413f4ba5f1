package main

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/internal/demotest"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/emd/query"
	"github.com/metricdp/metricdp/metric"
)

var userlevel = demotest.Program{Name: "userlevel", Main: run, Ext: ".csv"}

// Both tables and the first releases at the default seed: the errors are simulated, all
// else is computed.
const golden = `
privacy               eps, moves  eps, whole user  center  center, stated  one release    distance  distance, stated
user DP, eps = 1           1.000            1.000    3888            4011  6.7 S 44.4 E       2892              2998
d_EM, alpha = 0.005        1.000            100.1   62.02           62.96  52.4 N 40.7 E     27.76             29.96
user DP, eps = 100.1       100.1            100.1   37.81           40.08  52.3 N 40.4 E     27.76             29.96
privacy               release                eps, moves  eps, whole user      delta  error (km)  proved bound (km)
user DP, eps = 1      noise on the shares         1.000            1.000          0        4613              19687
user DP, eps = 1      Hadamard response           1.000            1.000  1.000e-06        7802              19687
user DP, eps = 1      randomized response        0.2568           0.2568  1.000e-06        8680              19687
d_EM, alpha = 0.005   distribution                1.000            98.43          0       508.7              13050
d_EM, alpha = 0.005   noise on the shares         1.000            98.43          0       580.3               5339
d_EM, alpha = 0.005   distribution, local         1.000            98.43          0        2156              19687
d_EM, alpha = 0.005   exponential mechanism       1.000            98.43          0       124.2               3993
user DP, eps = 98.43  noise on the shares         98.43            98.43          0       73.07              652.5
user DP, eps = 98.43  Hadamard response           98.43            98.43  1.000e-06        4510              19687
user DP, eps = 98.43  randomized response         98.43            98.43          0           0           0.007953
region        true share  user DP: noise  d_EM: distribution  d_EM: noise  first 3  user DP: randomized  d_EM: exponential
Shanghai           15.00           18.17               14.87        14.93    15.00                    0              15.60
Istanbul           9.950               0               7.182        8.929    10.00                    0              8.870
Mumbai             9.800               0               10.15        10.02    10.00                    0              10.18
Buenos Aires       5.900               0               6.355        7.291    5.000                    0              5.000
Bangkok            5.700               0               7.400        3.085    6.667                    0              6.738
Lima               5.250               0               7.165        8.342    5.000                6.667              5.000
Mexico City        5.200           12.03               5.844        5.896    5.000                26.67              5.064
Lagos              5.000               0               4.689        4.434    5.000                    0              5.078
`

func TestUserlevel_Golden(t *testing.T) {
	dir := t.TempDir()
	demotest.Golden(t, userlevel.Must(t, "-quiet", "-n", "20", "-m", "3", "-out", dir), golden)
	for file, rows := range map[string]int{"means.csv": 3, "histogram.csv": 10, "released.csv": 30} {
		if n := len(demotest.Table(t, dir, file)); n != rows {
			t.Errorf("%s has %d rows, want %d", file, n, rows)
		}
	}
	demotest.Picture(t, dir, "error.png")
	for _, row := range demotest.Table(t, dir, "histogram.csv") {
		if demotest.Number(t, row["error (km)"]) > demotest.Number(t, row["proved bound (km)"]) {
			t.Errorf("%v", row)
		}
	}
}

// listens are users with 4, 3, 2 and 1 items of 3 kinds.
const listens = "\ufeffItem,user\nrock,a\npop,b\nrock,a\njazz,a\npop,a\npop,b\npop,b\nrock,c\njazz,c\njazz,d\n"

const goldenItems = `
privacy            release              eps, moves  eps, whole user      delta    error  proved bound
user DP, eps = 1   noise on the shares      0.1000            1.000          0   0.3830         1.000
user DP, eps = 1   Hadamard response         1.000            1.000  1.000e-06   0.5600         1.000
user DP, eps = 1   randomized response      0.1000            1.000  1.000e-06   0.6064         1.000
d_EM, alpha = 10   distribution              1.000            10.00          0  0.07296        0.2121
d_EM, alpha = 10   noise on the shares       1.000            10.00          0  0.06479        0.2121
d_EM, alpha = 10   distribution, local       1.000            10.00          0   0.1566        0.4243
d_EM, alpha = 10   randomized response       1.000            10.00  1.000e-06  0.01326        0.1171
user DP, eps = 10  noise on the shares       1.000            10.00          0  0.06479        0.2121
user DP, eps = 10  Hadamard response         10.00            10.00  1.000e-06   0.2487         1.000
user DP, eps = 10  randomized response       1.000            10.00  1.000e-06  0.01326        0.1171
item  true share  user DP: noise  d_EM: distribution  d_EM: noise  first 2  user DP: randomized  d_EM: randomized
jazz       43.75               0               48.30        32.65    16.67                3.130             16.33
pop        31.25           29.49               30.17        34.44    33.33                96.87             33.33
rock       25.00           70.51               21.53        32.91    50.00                    0             50.34
`

func TestUserlevel_Items(t *testing.T) {
	out := userlevel.Must(t, "-quiet", "-in", userlevel.File(t, listens), "-m", "2", "-out", t.TempDir())
	demotest.Golden(t, out, goldenItems)
}

func TestUserlevel_Flags(t *testing.T) { userlevel.Agrees(t) }

func TestUserlevel_Inputs(t *testing.T) {
	items := userlevel.File(t, listens)
	places := userlevel.File(t, "user,lat,lon\na,0,179.9\na,0,-179.9\nb,90,0\n")
	regions := userlevel.File(t, "name,lat,lon\nwest,0,-170\neast,0,170\n")
	for i, c := range []struct {
		want string
		args []string
	}{
		{"4 users of in.csv hold 10 items", []string{"-in", items, "-m", "2"}},
		{"those who have as many (1 of 4)", []string{"-in", items, "-m", "4"}},
		{"2 users of in.csv hold 7 items", []string{"-in", items, "-n", "2", "-m", "1"}}, // a and b
		{"alpha = 4 per", []string{"-in", items, "-m", "1", "-eps", "2", "-move", "0.5"}},
		{"moving half of a user's items", []string{"-in", items, "-m", "1", "-move", "0.5", "-alpha", "1"}},
		{"eps = 7", []string{"-in", items, "-m", "1", "-alpha", "7"}},
		{"no distribution at d_EM, alpha = 1e-12", []string{"-in", items, "-m", "1", "-alpha", "1e-12"}},
		{"no picture: all errors are 0", []string{"-in", items, "-m", "1", "-alpha", "1e11"}},
		{"moves across a border moves 2224 km at least ... how far are they from west?", []string{"-in", places, "-m", "1", "-regions", regions}},
		{"moving all of a user's items by 2000 km", []string{"-in", places, "-m", "1", "-regions", regions, "-move", "2000"}},
		{"no exponential mechanism at d_EM, alpha = 1e-12", []string{"-in", places, "-m", "1", "-alpha", "1e-12"}},
		{"both err by next to nothing where nobody", []string{"-in", places, "-m", "1", "-alpha", "1e7"}},
	} {
		if i%testkit.Sweep(3, 1) > 0 {
			continue
		}
		out := userlevel.Must(t, append(c.args, "-out", t.TempDir())...)
		for want := range strings.SplitSeq(c.want, " ... ") {
			if !strings.Contains(out, want) {
				t.Errorf("%v: no %q in\n%s", c.args, want, out)
			}
		}
	}
}

func TestUserlevel_BadInput(t *testing.T) {
	file := func(content string) string { return userlevel.File(t, content) }
	many := new(strings.Builder)
	many.WriteString("user,item\n")
	for i := range maxRegions + 1 {
		many.WriteString("a,")
		many.WriteString(strings.Repeat("x", i+1) + "\n")
	}
	userlevel.Rejects(t, map[string][]string{
		"-alpha -1: want a number in":            {"-alpha", "-1"},
		"-alpha NaN":                             {"-alpha", "NaN"},
		"-alpha +Inf":                            {"-alpha", "Inf"},
		"-eps 0: want":                           {"-eps", "0"},
		"-n -1: want":                            {"-n", "-1"},
		"-m 0: want":                             {"-m", "0"},
		"-move -5: want":                         {"-move", "-5"},
		"-move 30000: want at most 1.969e+04":    {"-move", "30000"},
		"-move 2: want at most 1":                {"-move", "2", "-m", "1", "-in", file(listens)},
		"no user has 101 items: use a smaller":   {"-m", "101"},
		"no columns \"lat\" and \"lon\", and no": {"-in", file("user,place\na,b\n")},
		"no column \"lon\"":                      {"-in", file("user,lat\na,1\n")},
		"no column \"user\"":                     {"-in", file("name,item\na,1\n")},
		"line 3: item: a user needs an item":     {"-in", file("user,item\na,x\nb,\n")},
		"line 2: lat: a user needs an item":      {"-in", file("user,lat,lon\nb,,\n")},
		"line 3: user: no user":                  {"-in", file("user,item\na,x\n ,y\n")},
		"all items are the same, want two":       {"-in", file("user,item\na,x\nb,x\n")},
		"more than 1000 different items":         {"-in", file(many.String())},
		"-regions is for places":                 {"-regions", file("name,lat,lon\na,1,1\n"), "-in", file(listens)},
		"1 regions, want 2 to 1000":              {"-regions", file("name,lat,lon\na,1,1\n")},
		"a and b are at one place":               {"-regions", file("name,lat,lon\na,90,1\nb,90,2\n")},
		"no column \"name\"":                     {"-regions", file("lat,lon\n90,1\n80,2\n")},
		"userlevel: open /no/such/file":          {"-regions", "/no/such/file"},
	})
}

// shipped is the study of the data that ship, set up as by the defaults.
func shipped(t *testing.T, users int) *study {
	t.Helper()
	s := &study{m: defaultM, eps: 1, seed: 1}
	testkit.Check(t, s.read(t.Context(), &demo.Program{}, users, ""))
	testkit.Check(t, s.choose())
	return s
}

// The constants that the program states are true on its data, and the data are what
// DATA.md says.
func TestUserlevel_Data(t *testing.T) {
	s := shipped(t, 0)
	if len(s.places) != 209 || s.total() != 8404 || s.longest != 100 || len(s.first) != 162 || len(s.regions) != 30 || s.near < 2000 {
		t.Error(len(s.places), s.total(), s.longest, len(s.first), len(s.regions), s.near)
	}
	if len(cities) > 300<<10 {
		t.Errorf("%d bytes", len(cities))
	}
	var all []metric.LatLon
	for _, places := range s.places {
		all = append(all, places[:min(10, len(places))]...)
	}
	points := testkit.Must(metric.NewPoints(all, metric.GreatCircle{}))
	questions := testkit.Must(s.questions())
	for _, q := range questions {
		w, err := query.LipschitzAtLeast(t.Context(), q.Query, points)
		if err != nil || w.Ratio > 1 || w.Ratio < 0.99 {
			t.Errorf("%s: %+v, %v", q.Name, w, err)
		}
		x, y := make([]float64, q.Norm.Dim), make([]float64, q.Norm.Dim)
		for i := range all { // reach holds between antipodes, and nearly everywhere else
			q.Func(all[i], x)
			q.Func(metric.LatLon{Lat: -all[i].Lat, Lon: all[i].Lon + 180}, y)
			square := 0.0
			for j := range x {
				square += (x[j] - y[j]) * (x[j] - y[j])
			}
			if math.Sqrt(square) > q.reach*(1+1e-12) {
				t.Errorf("%s: %v apart", q.Name, math.Sqrt(square))
			}
		}
	}
	if l := s.indicators.Lipschitz; l*s.near < 2 || l*s.near > 2+1e-14 {
		t.Errorf("%v * %v", l, s.near)
	}
}

// The share of releases within the stated radius is the stated one. Hoeffding:
// a false reject has probability at most 2 exp(-2 meanRuns slack^2) < 1e-6.
func TestUserlevel_StatedError(t *testing.T) {
	const slack = 0.0861
	s := shipped(t, 30)
	g := testkit.Must(s.guarantee(t.Context()))
	levels := testkit.Must(s.levels(g))
	if math.Abs(levels[sameMoves].eps-1) > 1e-12 || math.Abs(levels[sameUser].eps/(s.alpha*halfway)-1) > 1e-12 {
		t.Errorf("levels %#v", levels)
	}
	for _, l := range levels {
		mech := testkit.Must(s.mean(t.Context(), center(), l))
		sizes, _, err := s.errors(context.Background(), mech, center(), meanRuns)
		testkit.Check(t, err)
		within := 0.0
		for _, size := range sizes {
			if size <= mech.RadiusQuantile(quantile) {
				within += 1. / meanRuns
			}
		}
		if math.Abs(within-quantile) > slack {
			t.Errorf("%v: %v of releases within the radius of %v", l, within, quantile)
		}
	}
}

// floor's constants are what is proved.
func TestUserlevel_Floor(t *testing.T) {
	var at []float64
	for i := range 101 {
		at = append(at, float64(i)/100)
	}
	unit := testkit.Must(metric.NewPoints(at, metric.Numbers[float64]{}))
	if b := testkit.Must(entropy.Accuracy(t.Context(), metric.Same(unit), []float64{settled}, nil))[0]; b.Lo*settled < necessary {
		t.Errorf("%v", b)
	}
	s := shipped(t, 0)
	if f := s.floor(); f < 9 || f > 15*necessary/(s.alpha*209) {
		t.Errorf("floor %v", f)
	}
}

func TestAbove(t *testing.T) {
	v := make([]float64, 3)
	center().Func(metric.LatLon{Lat: -10.5, Lon: 190}, v)
	if got := above(v); got != "10.5 S 170.0 W" {
		t.Error(got)
	}
}

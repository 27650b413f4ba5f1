package main

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/metricdp/metricdp/examples/internal/demotest"
)

var synthetic = demotest.Program{Name: "synthetic", Main: run, Ext: ".csv"}

// records reads the synthetic records of a run.
func records(t *testing.T, dir string) [][]float64 {
	t.Helper()
	var all [][]float64
	for _, line := range demotest.Lines(t, dir, "synthetic.csv")[1:] {
		var x []float64
		for _, cell := range line {
			x = append(x, demotest.Number(t, cell))
		}
		all = append(all, x)
	}
	return all
}

// known reads errors.csv.
func known(t *testing.T, dir string) map[string]float64 {
	t.Helper()
	m := map[string]float64{}
	for _, line := range demotest.Lines(t, dir, "errors.csv")[1:] {
		m[line[0]] = demotest.Number(t, line[1])
	}
	return m
}

// The tables at the default seed.
const golden = `
error                       W1 (share of a range)  known
of any mechanism, at least               0.001299  proved: some data set costs everyone as much
in all                                   0.009215  measured, 6122 against 6122

of        statistic           original  synthetic  difference
lon       mean                   9.386      9.490      0.1048
lon       standard deviation     10.21      10.16    -0.04440
lon       5 % quantile          -5.071     -4.765      0.3059
lon       25 % quantile          1.725      1.815     0.09027
lon       50 % quantile          8.497      8.572     0.07450
lon       75 % quantile          16.40      16.68      0.2809
lon       95 % quantile          27.00      27.06     0.06281
lat       mean                   48.24      48.30     0.05981
lat       standard deviation     5.406      5.429     0.02300
lat       5 % quantile           38.43      38.32     -0.1006
lat       25 % quantile          44.16      44.43      0.2695
lat       50 % quantile          49.24      49.39      0.1502
lat       75 % quantile          51.84      51.84    0.007570
lat       95 % quantile          55.77      55.87      0.1008
lon, lat  correlation          0.08912     0.1172     0.02805
`

func TestSynthetic_Golden(t *testing.T) {
	if testing.Short() {
		t.Skip("transport of 6122 records, slow with the race detector")
	}
	dir := t.TempDir()
	demotest.Golden(t, synthetic.Must(t, "-quiet", "-out", dir), golden)
	demotest.Picture(t, dir, "records.png")
	x := records(t, dir)
	if len(x) != 6122 {
		t.Errorf("%d synthetic records, want as many as originals, 6122", len(x))
	}
	for _, at := range x {
		if len(at) != 2 || at[0] < -11 || at[0] > 41 || at[1] < 35 || at[1] > 71 {
			t.Fatalf("synthetic record %v is out of bounds", at)
		}
	}
}

// More eps is more accurate.
func TestSynthetic_ErrorFallsWithEps(t *testing.T) {
	var b strings.Builder
	b.WriteString("x,y,z\n")
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		u := r.Float64()
		fmt.Fprintf(&b, "%v,%v,%v\n", u, u*r.Float64(), 10*r.NormFloat64())
	}
	in := synthetic.File(t, b.String())
	for _, c := range []struct{ cols, bounds string }{
		{"x", "0:1"}, {"y,x", "0:1,0:1"}, {"X, z ,y", "0:1, -50:50 ,0:1"},
	} {
		last := math.Inf(1)
		for _, eps := range []string{"0.01", "1", "20"} {
			for _, jitter := range []string{"-jitter", "-jitter=false"} {
				dir := t.TempDir()
				synthetic.Must(t, "-in", in, "-cols", c.cols, "-bounds", c.bounds, "-eps", eps, "-rows", "300", jitter, "-out", dir)
				k := known(t, dir)
				if jitter == "-jitter" {
					if all := k["in all"]; all >= last {
						t.Errorf("%v: W1 %v at eps %s, %v at less", c, all, eps, last)
					} else {
						last = all
					}
				}
			}
		}
	}
}

func TestSynthetic_Rows(t *testing.T) {
	in := synthetic.File(t, "a,b\n1,2\n3,4\n5,6\n")
	for _, rows := range []int{1, 2, 3, 1000} {
		dir := t.TempDir()
		synthetic.Must(t, "-in", in, "-cols", "b,a", "-bounds", "0:10,0:10", "-rows", strconv.Itoa(rows), "-out", dir)
		if n := len(records(t, dir)); n != rows {
			t.Errorf("%d rows, want %d", n, rows)
		}
	}
}

// Up to six columns, few records, all alike, tiny and huge ranges.
func TestSynthetic_Inputs(t *testing.T) {
	for _, c := range []struct{ in, cols, bounds, eps, want string }{
		{"a,b,c,d,e,f\n1,2,3,4,5,6\n6,5,4,3,2,1\n", "a,b,c,d,e,f", strings.Repeat("0:9,", 5) + "0:9", "1", "levels of arity"},
		{"a,b,c,d\n1,2,3,4\n4,3,2,1\n", "a,b,c,d", "0:9,0:9,0:9,0:9", "1e6", "levels of arity"},
		{"a,b\n1,2\n", "a,b", "0:3,0:3", "1e-6", "box of 2 columns"},
		{"a\n1\n1\n", "a", "0:3", "1e6", "box of 1 column"},
		{"a,b\n1,2\n", "a,b", "-1e99:1e99,0:1e-99", "1", "outside the bounds: 1"},
		{"a,b\n-1e308,2\n", "a,b", "-1:1,1000000000:1000000001", "1", "outside the bounds: 1"},
		{"a\n1\n2\n", "a", "0:3", "1", "a rehearsal"},
	} {
		if out := synthetic.Must(t, "-in", synthetic.File(t, c.in), "-cols", c.cols, "-bounds", c.bounds, "-eps", c.eps, "-out", t.TempDir()); !strings.Contains(out, c.want) {
			t.Errorf("%q: no %q in\n%s", c.in, c.want, out)
		}
	}
}

func TestSynthetic_SeedRepeatsAndSecureDoesNot(t *testing.T) {
	in := synthetic.File(t, "a\n1\n2\n5\n")
	make := func(args ...string) string {
		dir := t.TempDir()
		synthetic.Must(t, append(args, "-in", in, "-cols", "a", "-bounds", "0:9", "-rows", "5", "-out", dir)...)
		return fmt.Sprint(records(t, dir))
	}
	if a, b := make("-seed", "7"), make("-seed", "7"); a != b {
		t.Errorf("one seed, two outputs: %s, %s", a, b)
	}
	if a, b := make("-seed", "7"), make("-seed", "8"); a == b {
		t.Errorf("two seeds, one output: %s", a)
	}
	// Five jittered numbers of 6 digits: one chance in 10^30.
	if a, b := make("-secure"), make("-secure"); a == b {
		t.Errorf("-secure repeats: %s", a)
	}
}

// A million records come through a pipe, which can be read only once, in
// memory that does not hold them.
func TestSynthetic_MillionPiped(t *testing.T) {
	if testing.Short() {
		t.Skip("a million rows")
	}
	if _, err := os.Stat("/dev/fd/0"); err != nil {
		t.Skip("no /dev/fd here")
	}
	const (
		n    = 1_000_000
		keep = 40 << 20 // bytes, which the records alone would take
	)
	peak := make(chan uint64, 1)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() {
		var m runtime.MemStats
		heap := uint64(0)
		b := bufio.NewWriterSize(w, 1<<16)
		b.WriteString("x,y\n")
		line := []byte(nil)
		g := rand.New(rand.NewPCG(1, 2))
		for i := range n {
			line = strconv.AppendInt(line[:0], int64(g.IntN(1000)), 10)
			line = append(line, ',')
			line = strconv.AppendInt(line, int64(g.IntN(1000)), 10)
			b.Write(append(line, '\n'))
			if i%(n/8) == n/8-1 {
				runtime.ReadMemStats(&m)
				heap = max(heap, m.HeapAlloc)
			}
		}
		b.Flush()
		w.Close()
		peak <- heap
	}()
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	out := synthetic.Must(t, "-in", fmt.Sprintf("/dev/fd/%d", r.Fd()), "-cols", "x,y", "-bounds", "0:1000,0:1000", "-records", "1000000", "-rows", "1000", "-out", t.TempDir())
	if !strings.Contains(out, ": 1000000, with") {
		t.Fatalf("not a million records:\n%s", out)
	}
	if more := int64(<-peak) - int64(before.HeapAlloc); more > keep {
		t.Errorf("%d MB more in use while reading, want at most %d", more>>20, keep>>20)
	}
}

func TestSynthetic_Flags(t *testing.T) { synthetic.Agrees(t) }

func TestSynthetic_BadInput(t *testing.T) {
	good := synthetic.File(t, "a,b\n1,2\n")
	synthetic.Rejects(t, map[string][]string{
		"-cols is missing":                                  {"-in", good},
		"-bounds is missing: give the range of a,b":         {"-in", good, "-cols", "a,b"},
		"-bounds is missing: give the range of lat":         {"-cols", "lat"},
		"no column \"c\", the header is \"a,b\"":            {"-in", good, "-cols", "a,c", "-bounds", "0:1,0:1"},
		"-cols \"a,,b\": a column without":                  {"-in", good, "-cols", "a,,b"},
		"-cols \"a,A\": A appears twice":                    {"-in", good, "-cols", "a,A"},
		"7 columns, want at most 6":                         {"-in", good, "-cols", "a,b,c,d,e,f,g"},
		"1 of them, want 2, one for each of a,b":            {"-in", good, "-cols", "a,b", "-bounds", "0:1"},
		"\"1:0\" is not lo:hi":                              {"-bounds", "1:0,0:1"},
		"\"1:1\" is not lo:hi":                              {"-bounds", "0:1,1:1"},
		"\"1\" is not lo:hi":                                {"-bounds", "1,0:1"},
		"\"0:NaN\" is not lo:hi":                            {"-bounds", "0:NaN,0:1"},
		"\"0:Inf\" is not lo:hi":                            {"-bounds", "0:Inf,0:1"},
		"\"-1e100:0\" is not lo:hi":                         {"-bounds", "-1e100:0,0:1"},
		"\"0:1e-100\" is not lo:hi":                         {"-bounds", "0:1e-100,0:1"},
		"\"0:1:2\" is not lo:hi":                            {"-bounds", "0:1:2,0:1"},
		"-eps 0: want":                                      {"-eps", "0"},
		"-eps -1: want":                                     {"-eps", "-1"},
		"-eps NaN: want":                                    {"-eps", "NaN"},
		"-eps +Inf: want":                                   {"-eps", "Inf"},
		"-rows -1: want":                                    {"-rows", "-1"},
		"-rows 10000001: want":                              {"-rows", "10000001"},
		"-records -1: want":                                 {"-records", "-1"},
		"want one of them":                                  {"-secure", "-seed", "1"},
		"can be read only once: say with -records about ho": {"-in", os.DevNull, "-cols", "a", "-bounds", "0:1"},
	})
}

func TestSummary_AgreesWithTwoPasses(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const n = maxSample + 5000
	s := newSummary(2, 1)
	x, y := make([]float64, n), make([]float64, n)
	for i := range n {
		x[i] = 1e6 + r.Float64()
		y[i] = x[i] + r.NormFloat64()
		s.add([]float64{x[i], y[i]})
	}
	for _, c := range []struct{ got, want, tol float64 }{
		{s.mean[0], stat.Mean(x, nil), 1e-13},
		{s.deviation(1), stat.PopStdDev(y, nil), 1e-9},
		{s.correlation(0, 1), stat.Correlation(x, y, nil), 1e-8},
		{s.correlation(1, 0), stat.Correlation(x, y, nil), 1e-8},
	} {
		if !(math.Abs(c.got-c.want) <= c.tol*math.Abs(c.want)) {
			t.Errorf("%v, want %v", c.got, c.want)
		}
	}
	if len(s.sample) != maxSample {
		t.Errorf("%d records kept, want %d", len(s.sample), maxSample)
	}
	// A record at a time is kept with probability maxSample/n = 0.929, so some
	// 4,645 of the last 5,000 are, give or take 18: 20 of those are 10^-80.
	late := map[float64]bool{}
	for _, v := range x[maxSample:] {
		late[v] = true
	}
	kept := 0
	for _, at := range s.sample {
		if late[at[0]] {
			kept++
		}
	}
	if math.Abs(float64(kept)-5000*float64(maxSample)/n) > 360 {
		t.Errorf("%d of the last 5000 records are kept", kept)
	}
}

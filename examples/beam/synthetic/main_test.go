package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"github.com/metricdp/metricdp/examples/beam/internal/table"
	"github.com/metricdp/metricdp/examples/beam/privatebeam"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
)

func TestMain(m *testing.M) { ptest.Main(m) }

// run runs a request and returns the lines that it wrote, and what it said.
func run(t *testing.T, q *request) (lines []string, said string) {
	t.Helper()
	q.Output = filepath.Join(t.TempDir(), "out.csv")
	p := testkit.Must(q.pipeline(t.Context()))
	var w bytes.Buffer
	testkit.Check(t, q.Run(t.Context(), p, &w))
	b := testkit.Must(os.ReadFile(q.Output))
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n"), w.String()
}

// Files with good rows and bad ones: what is written is the direct release for
// the key, and bad rows are counted, and left out or at the center.
func TestSynthetic_IsTheDirectRelease(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(1, 2))
	var good [][]float64
	for part := range 3 {
		var b strings.Builder
		b.WriteString("name,y,x\r\n")
		for i := range 400 {
			x, y := r.Float64(), 12*r.Float64()-1
			good = append(good, []float64{x, y})
			fmt.Fprintf(&b, "\"n, %d\",%v,%v\r\n", i, y, x)
		}
		b.WriteString("a,b,c\r\nb,1_0,1\r\nb,1,0x1p0\r\nb,NaN,1\r\nc,1\r\n,,\r\nd,1,+Inf\r\n\r\n\"e,1,1\r\n")
		testkit.Check(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("part-%d.csv", part)), []byte(b.String()), 0o600))
	}
	const bad = 3 * 9 // the empty line too
	for _, public := range []bool{false, true} {
		q := &request{
			Job: table.Job{Seed: 7}, input: filepath.Join(dir, "*.csv"), columns: "X, y", bounds: "0:1, 0:10",
			eps: 1, about: 1000, publicSize: public, jitter: true,
		}
		lines, said := run(t, q)
		if !strings.Contains(said, fmt.Sprintf("Malformed rows: %d.", bad)) {
			t.Errorf("said %q, want %d malformed rows", said, bad)
		}

		box := privatebeam.Box{
			Columns: []domain.Column{{Lo: 0, Hi: 1, Weight: 1}, {Lo: 0, Hi: 10, Weight: 0.1}},
		}
		d := testkit.Must(box.Domain())
		records, o := good, &measure.SynthesizerOptions{Relation: measure.AddRemoveOne}
		if public {
			o.Relation = measure.ReplaceOne
			for range bad {
				records = append(records, []float64{0.5, 5})
			}
		}
		c := testkit.Must(measure.CountAll(t.Context(), d, records, nil))
		y := testkit.Must(measure.NewSynthesizer(d, 1, o))
		made, err := privatebeam.Synthetic(y, c, privatebeam.SeededKey(7),
			&privatebeam.SyntheticOptions{Release: *o})
		testkit.Check(t, err)
		var want []string
		for _, x := range made {
			want = append(want, formatFn(x))
		}
		slices.Sort(want)
		if lines[0] != "X,y" || !slices.Equal(lines[1:], want) {
			t.Errorf("%d lines through Beam are not the %d direct ones", len(lines)-1, len(want))
		}
		if public && len(want) != len(good)+bad {
			t.Errorf("%d synthetic records, want %d", len(want), len(good)+bad)
		}
	}
}

// The data that ships with the examples; without a seed no two runs agree.
func TestSynthetic_ShippedData(t *testing.T) {
	make := func() []string {
		lines, said := run(t, &request{
			Job: table.Job{Seed: -1, KeyFile: filepath.Join(t.TempDir(), "key")}, input: "../../synthetic/places.csv",
			columns: "lon,lat", bounds: "-11:41,35:71", eps: 1, about: 10_000, jitter: true,
		})
		if strings.Contains(said, "Malformed") {
			t.Error(said)
		}
		// 6,122 records, and noise of scale 1 to 4 on their number: further off with
		// probability below e^-20.
		if n := len(lines) - 1; n < 6022 || n > 6222 {
			t.Errorf("%d synthetic records", n)
		}
		return lines
	}
	if slices.Equal(make(), make()) {
		t.Error("two runs, one output")
	}
}

func TestSynthetic_BadRequests(t *testing.T) {
	good := request{
		Job: table.Job{Seed: -1, Output: filepath.Join(t.TempDir(), "out.csv")}, input: "../../synthetic/places.csv",
		columns: "lon,lat", bounds: "-11:41,35:71", eps: 1, about: 10_000,
	}
	for name, spoil := range map[string]func(*request){
		"file":     func(q *request) { q.input = "nothing.csv" },
		"column":   func(q *request) { q.columns = "lon,size" },
		"bounds":   func(q *request) { q.bounds = "-11:41" },
		"own data": func(q *request) { q.columns, q.bounds = "", "" }, // those of the places would do harm
		"range":    func(q *request) { q.bounds = "41:-11,35:71" },
		"NaN":      func(q *request) { q.bounds = "NaN:41,35:71" },
		"infinite": func(q *request) { q.bounds = "-Inf:41,35:71" },
		"number":   func(q *request) { q.bounds = "a:41,35:71" },
		"eps":      func(q *request) { q.eps = -1 },
		"NaN eps":  func(q *request) { q.eps = math.NaN() },
		"about":    func(q *request) { q.about = 0 },
		"records":  func(q *request) { q.records = -1 },
		"key":      func(q *request) { q.KeyFile = filepath.Join(t.TempDir(), "no", "such", "folder") },
		"scheme":   func(q *request) { q.KeyFile = "nowhere://key" },
	} {
		q := good
		spoil(&q)
		if _, err := q.pipeline(t.Context()); err == nil {
			t.Errorf("bad %s: no error", name)
		}
	}
}

package lp

import (
	"encoding/csv"
	"errors"
	"io/fs"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/metricdp/metricdp/internal/rng"
	"github.com/metricdp/metricdp/metric"
)

// sharedPoints are all reference points; testdata holds the small sets.
const sharedPoints = "../../shared/data/lp_points.csv"

// referencePoints reads the set of n points from a file, and skips the test
// where that file is not there.
func referencePoints(t testing.TB, file string, n int) metric.Finite {
	t.Helper()
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var pts [][]float64
	for _, r := range records[1:] {
		if r[0] == strconv.Itoa(n) {
			x, errX := strconv.ParseFloat(r[2], 64)
			y, errY := strconv.ParseFloat(r[3], 64)
			if err := errors.Join(errX, errY); err != nil {
				t.Fatal(err)
			}
			pts = append(pts, []float64{x, y})
		}
	}
	if len(pts) != n {
		t.Fatalf("%s has %d points of the set of %d", file, len(pts), n)
	}
	return plane(t, pts)
}

func plane(t testing.TB, pts [][]float64) metric.Finite {
	t.Helper()
	f, err := metric.NewPoints(pts, metric.Euclidean{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// fn is a metric by formula.
type fn struct {
	n int
	d func(i, j int) float64
}

func (f fn) Len() int { return f.n }

func (f fn) Distance(i, j int) float64 {
	if i == j {
		return 0
	}
	return f.d(i, j)
}

func path(n int, gap float64) metric.Finite {
	return fn{n, func(i, j int) float64 { return gap * math.Abs(float64(i-j)) }}
}

func simplex(n int, d float64) metric.Finite {
	return fn{n, func(i, j int) float64 { return d }}
}

// grid is the l1 grid of k x k points.
func grid(k int) metric.Finite {
	return fn{k * k, func(i, j int) float64 {
		return math.Abs(float64(i/k-j/k)) + math.Abs(float64(i%k-j%k))
	}}
}

// tree is a random tree of n nodes, edges of lengths from .5 to 1.5.
func tree(n int) metric.Finite {
	r := rng.Seeded(5)
	d := make([][]float64, n)
	for u := range n {
		d[u] = make([]float64, n)
		if u == 0 {
			continue
		}
		parent, e := r.IntN(u), .5+r.Float64()
		for v := range u {
			d[u][v] = d[parent][v] + e
			d[v][u] = d[u][v]
		}
	}
	return fn{n, func(i, j int) float64 { return d[i][j] }}
}

// halton is the first n points of the Halton sequence in bases 2 and 3.
func halton(t testing.TB, n int) metric.Finite {
	pts := make([][]float64, n)
	radical := func(i, b int) float64 {
		v, f := 0.0, 1/float64(b)
		for ; i > 0; i, f = i/b, f/float64(b) {
			v += f * float64(i%b)
		}
		return v
	}
	for i := range pts {
		pts[i] = []float64{radical(i+1, 2), radical(i+1, 3)}
	}
	return plane(t, pts)
}

// certified checks what every solution promises.
func certified(t testing.TB, b metric.Bimetric, alpha float64, prior []float64, s *Solution) {
	t.Helper()
	if s.Audit.Hi > alpha || s.Channel.Guarantee().Alpha() != s.Audit.Hi {
		t.Errorf("audited level %v, guarantee %v, alpha %v", s.Audit.Hi, s.Channel.Guarantee(), alpha)
	}
	if !(s.DualBound <= s.Objective && s.DualBound >= 0) {
		t.Errorf("bound %v, objective %v", s.DualBound, s.Objective)
	}
	if s.Objective > 0 && math.Abs(s.Gap-(s.Objective-s.DualBound)/s.Objective) > 1e-12 {
		t.Errorf("gap %v of %v and %v", s.Gap, s.Objective, s.DualBound)
	}
	sum := 0.0
	for _, p := range s.Prior {
		sum += p
	}
	if math.Abs(sum-1) > 1e-9 || len(s.Prior) != b.Privacy.Len() {
		t.Errorf("prior of %d entries sums to %v", len(s.Prior), sum)
	}
	far := b.Privacy.Len()
	for y := range s.Channel.Outputs() {
		far = max(far, s.Channel.Output(y)+1)
	}
	var first []int
	for i := range far {
		first = append(first, i)
	}
	utility, err := metric.Subset(b.Utility, first)
	if err != nil {
		t.Fatal(err)
	}
	losses, err := s.Channel.Loss(utility)
	if err != nil {
		t.Fatal(err)
	}
	loss, _ := losses.Worst()
	if prior != nil {
		if loss, err = losses.Mean(prior); err != nil {
			t.Fatal(err)
		}
	}
	// The sum in Losses rounds n times, and the prior's sum is 1 within 1e-9.
	if math.Abs(loss-s.Objective) > 2e-9*s.Objective {
		t.Errorf("loss of the channel %v, objective %v", loss, s.Objective)
	}
}

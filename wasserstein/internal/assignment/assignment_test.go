package assignment

import (
	"cmp"
	"context"
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/wasserstein/internal/rows"
)

// The potentials prove the matching: every matched pair is the least of its row,
// and of columns that stay unmatched the potential is 0, above all others. From
// 96 columns on there are lists, and an auction where costs are Euclidean.
func TestSolve_HasComplementarySlackness(t *testing.T) {
	r := random.Seeded(1)
	for trial := range 120 {
		n := 1 + r.IntN(150)
		m := n
		if trial%3 == 0 {
			m += r.IntN(150)
		}
		p := make([][2]float64, n+m)
		for k := range p {
			p[k] = [2]float64{r.Float64(), r.Float64()}
		}
		c := make([]float64, n*m)
		for k := range c {
			switch trial % 4 {
			case 0:
				c[k] = r.NormFloat64()
			case 1:
				c[k] = float64(r.IntN(4))
			default:
				a, b := p[k/m], p[n+k%m]
				c[k] = math.Hypot(a[0]-b[0], a[1]-b[1])
			}
		}
		costs := func(i int, _ []float64) []float64 { return c[i*m : (i+1)*m] }
		col, v, err := Solve(context.Background(), n, m, costs, 0)
		if err != nil {
			t.Fatal(err)
		}
		used := make([]bool, m)
		for i, k := range col {
			if used[k] {
				t.Fatalf("column %d twice", k)
			}
			used[k] = true
			if slack := c[i*m+int(k)] - v[k] - rows.Slack(costs(i, nil), v); slack > 1e-12 {
				t.Fatalf("%d x %d: row %d pays %v too much", n, m, i, slack)
			}
		}
		for j, x := range v {
			if n < m && (x > 0 || !used[j] && x != 0) {
				t.Fatalf("%d x %d: potential %v, used: %v", n, m, x, used[j])
			}
		}
	}
}

// A plan moves all masses, and every flow costs next to the least of its row.
func TestTransport_IsNextToOptimal(t *testing.T) {
	r := random.Seeded(2)
	plans := 0
	for trial := range 6 {
		n, m, most := 300, 300, int64(1)
		if trial%2 == 0 {
			n, m, most = 300+r.IntN(100), 300+r.IntN(100), 1<<40
		}
		c := make([]float64, n*m)
		for k := range c {
			c[k] = 1 + r.Float64()
		}
		src, dst := make([]int64, n), make([]int64, m)
		more := int64(0) // of the sources
		for i := range src {
			src[i] = 1 + r.Int64N(most)
			more += src[i]
		}
		for j := range dst {
			dst[j] = 1 + r.Int64N(most)
			more -= dst[j]
		}
		src[0], dst[0] = src[0]+max(0, -more), dst[0]+max(0, more)
		var near []Flow
		for i := range n {
			row := make([]Flow, m)
			for j := range row {
				row[j] = Flow{I: int32(i), J: int32(j), Cost: c[i*m+j]}
			}
			slices.SortFunc(row, func(a, b Flow) int { return cmp.Compare(a.Cost, b.Cost) })
			near = append(near, row[:20]...)
		}
		v := make([]float64, m)
		costs := func(i int, _ []float64) []float64 { return c[i*m : (i+1)*m] }
		plan, err := Transport(t.Context(), src, dst, costs, near, v)
		if err != nil {
			t.Fatal(err)
		}
		if plan == nil {
			continue
		}
		plans++
		for _, f := range plan {
			src[f.I], dst[f.J] = src[f.I]-f.Mass, dst[f.J]-f.Mass
			if slack := f.Cost - v[f.J] - rows.Slack(costs(int(f.I), nil), v); f.Mass <= 0 || f.Cost != c[int(f.I)*m+int(f.J)] || slack > 1e-3 {
				t.Fatalf("%d x %d: %+v costs %v too much", n, m, f, slack)
			}
		}
		if slices.Max(src) != 0 || slices.Min(src) != 0 || slices.Max(dst) != 0 || slices.Min(dst) != 0 {
			t.Fatalf("%d x %d: %v, %v left", n, m, src, dst)
		}
	}
	if plans < 4 {
		t.Errorf("%d plans", plans)
	}
}

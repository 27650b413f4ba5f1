package assignment

import (
	"context"
	"math"
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

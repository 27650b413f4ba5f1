package population

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

func laplace(rng *rand.Rand, scale float64) float64 {
	return scale * (rng.ExpFloat64() - rng.ExpFloat64())
}

func sum(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}

// whole is the grid of all bins of columns.
func whole(bins []int, a, b int) Grid {
	return NewGrid(bins, func(j, _ int) []uint8 { return one(bins[j]) }, 1, a, b)
}

// column counts a column.
func (p *Population) column(j int) []float64 {
	n := p.single(j)
	for a := range n {
		n[a] *= p.weight()
	}
	return n
}

// one is a bin for each of n values.
func one(n int) []uint8 { return Bins(make([]float64, n), true, n) }

// near fails where counts differ from want by more than most in a cell.
func near(t *testing.T, what string, got, want []float64, most float64) {
	t.Helper()
	for c, v := range want {
		if math.Abs(got[c]-v) > most {
			t.Errorf("%s: cell %d counts %.1f, want %.1f within %g", what, c, got[c], v, most)
		}
	}
}

// Without tables, columns are independent and their counts those of the margins, also where a
// row stands for several records or for less than one.
func TestPopulation_Independent(t *testing.T) {
	margins := [][]float64{{600, 400}, {250, 250, 500}, {1000}}
	for _, rows := range []int{100, 1000, 4000} {
		p := testkit.Must(New(random.Seeded(1), []int{2, 3, 1}, margins, rows, nil))
		testkit.Check(t, p.Finish(context.Background(), margins, nil, rows, 40))
		w := p.weight()
		for j, g := range margins {
			near(t, "margin", p.column(j), g, 1.01*w)
		}
		if rows < 1000 {
			continue
		}
		// The standard deviation of a cell is at most sqrt(60 w) < 8 sqrt(w).
		near(t, "pair", p.Counts(whole(p.bins, 0, 1)), []float64{150, 150, 300, 100, 100, 200}, 6*8*math.Sqrt(w))
	}
}

func table(counts []float64, a, b int) Table {
	return Table{Grid{Columns: []int{a, b}}, counts, 1}
}

// Exact counts of dependent columns are reproduced: a copy, and a chain.
func TestPopulation_Dependent(t *testing.T) {
	ctx := context.Background()
	four := []float64{1000, 1000, 1000, 1000}
	copied := make([]float64, 16)
	for a := range 4 {
		copied[5*a] = 1000
	}
	for name, c := range map[string]struct {
		bins    []int
		margins [][]float64
		tables  []Table
		others  []Table // that follow
	}{
		"copy":  {[]int{4, 4}, [][]float64{four, four}, []Table{table(copied, 0, 1)}, nil},
		"chain": {[]int{4, 4, 4}, [][]float64{four, four, four}, []Table{table(copied, 1, 0), table(copied, 1, 2)}, []Table{table(copied, 0, 2)}},
	} {
		p := testkit.Must(New(random.Seeded(2), c.bins, c.margins, 1000, nil))
		var tables []Table
		for _, f := range c.tables {
			f.Grid = whole(c.bins, f.Columns[0], f.Columns[1])
			tables = append(tables, f)
			p.Add(f)
			testkit.Check(t, p.Sweep(ctx, 3))
		}
		testkit.Check(t, p.Finish(ctx, c.margins, tables, 4000, 40))
		for _, f := range slices.Concat(c.tables, c.others) {
			near(t, name, p.Counts(whole(c.bins, f.Columns[0], f.Columns[1])), f.Counts, 100) // one row's noise is about 25 without the last sweeps
		}
		for j, g := range c.margins {
			near(t, name, p.column(j), g, 3)
		}
	}
}

// No row is ever a combination that is not allowed, and what is allowed is still found.
func TestPopulation_Allowed(t *testing.T) {
	ctx := context.Background()
	allowed := func(b []int) bool { return b[0] <= b[1] && (b[2] == 1) == (b[0] == 2) }
	margins := [][]float64{{300, 300, 400}, {100, 200, 700}, {600, 400}}
	p := testkit.Must(New(random.Seeded(3), []int{3, 3, 2}, margins, 500, allowed))
	check := func() {
		for r := range p.z[0] {
			if !allowed([]int{int(p.z[0][r]), int(p.z[1][r]), int(p.z[2][r])}) {
				t.Fatalf("row %d is not allowed", r)
			}
		}
	}
	check()
	pair := Table{whole(p.bins, 0, 1), []float64{100, 100, 100, 0, 100, 200, 0, 0, 400}, 1}
	p.Add(pair)
	testkit.Check(t, p.Sweep(ctx, 3))
	check()
	testkit.Check(t, p.Finish(ctx, margins, []Table{pair}, 1000, 40))
	check()
	if _, err := New(random.Seeded(3), []int{3, 3, 2}, margins, 5, func([]int) bool { return false }); !errors.Is(err, errImpossible) {
		t.Errorf("nothing allowed: %v", err)
	}
	single := func(b []int) bool { return b[0] == 1 && b[1] == 0 && b[2] == 1 } // of which margins say nothing
	p = testkit.Must(New(random.Seeded(3), []int{3, 3, 2}, [][]float64{{1, 0, 0}, {0, 0, 1}, {1, 0}}, 5, single))
	near(t, "one", p.column(0), []float64{0, 1, 0}, 1e-9)
}

// Columns that determine one another count what they should, though no row can change in one.
func TestPopulation_Linked(t *testing.T) {
	linked := func(b []int) bool { return b[0]/2 == b[1] && b[2] == 1-b[1] }
	margins := [][]float64{{400, 200, 300, 100}, {600, 400}, {400, 600}, {700, 300}}
	bins := []int{4, 2, 2, 2}
	p := testkit.Must(New(random.Seeded(5), bins, margins, 1000, linked))
	pair := Table{whole(bins, 1, 3), []float64{600, 0, 100, 300}, 1}
	p.Add(pair)
	testkit.Check(t, p.Finish(context.Background(), margins, []Table{pair}, 1000, 40))
	for j, g := range margins {
		near(t, "column", p.column(j), g, 15)
	}
	near(t, "pair", p.Counts(pair.Grid), pair.Counts, 20)
}

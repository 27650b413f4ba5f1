package measure

import (
	"errors"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// No two categories of a column share a cell, whatever the other columns, the
// weights and the options: every category of every column is the one of its
// cell's point.
func TestNewBox_SeparatesCategories(t *testing.T) {
	age, long, cats := Column{Hi: 110}, Column{Lo: -1e6, Hi: 1e6, Weight: 1}, func(n int, w float64) Column { return Column{Categories: n, Weight: w} }
	mixes := [][]Column{
		{age, cats(2, 0)}, {cats(2, 0), age}, {age, cats(1, 0)}, {age, cats(50, 0)}, {age, cats(300, 0.5)},
		{age, cats(2, 1e-20)}, {age, cats(2, 1e20)}, {age, cats(7, 1e-3), cats(2, 5)}, {age, cats(3, 20), cats(5, 0), cats(2, 1e-9)},
		{age, {Hi: 90}, cats(4, 0)}, {long, age, cats(3, 0)}, {long, long, long, cats(2, 0)}, {long, cats(1000, 0)},
		{cats(6, 0)}, {cats(3, 0), cats(4, 2)}, {cats(2, 1e-30), cats(5, 1e30)}, {cats(10, 1), cats(10, 1), cats(10, 1)},
		{{Hi: 1e-9}, cats(2, 0)}, {{Hi: 1}, cats(2, 1)}, {{Hi: 3}, {Hi: 1}, {Hi: 2}, {Hi: 2}, cats(3, 0.1)},
	}
	r := random.Seeded(1)
	for _, columns := range mixes {
		for _, o := range []BoxOptions{
			{}, {P: 1}, {Depth: 0.01}, {Depth: 2}, {Depth: 4.5}, {Depth: 4, P: 2},
		} {
			{
				d, err := NewBox(columns, &o)
				var units *fault.ValueError
				if errors.As(err, &units) && units.Arg == "columns.Weight" {
					continue
				}
				if err != nil {
					t.Errorf("%v %+v: %v", columns, o, err)
					continue
				}
				x := make([]float64, len(columns))
				for a, c := range columns {
					for v := range max(1, c.Categories) {
						for b, other := range columns {
							if x[b] = other.Lo + r.Float64()*(other.Hi-other.Lo); other.Categories > 0 {
								x[b] = float64(r.IntN(other.Categories))
							}
						}
						if c.Categories > 0 {
							x[a] = float64(v)
						}
						y := d.Point(testkit.Must(d.Cell(x)))
						for b, other := range columns {
							if other.Categories > 0 && x[b] != y[b] {
								t.Fatalf("%v %+v, a %v: %v is in the cell of %v", columns, o, d, x, y)
							}
						}
					}
				}
			}
		}
	}
	d := testkit.Must(NewBox([]Column{{Hi: 110}, {Categories: 2}}, nil))
	c := d.NewCounts()
	for v := range 2 {
		for range 500 {
			testkit.Check(t, c.Add([]float64{r.Float64() * 110, float64(v)}))
		}
	}
	out := testkit.Must(testkit.Must(NewSynthesizer(d, 1, nil)).Release(random.Seeded(2), c))
	if share := out.Mean(func(x []float64) float64 { return x[1] }); math.Abs(share-0.5) > 0.1 { // 13 standard deviations
		t.Errorf("half of the records are in category 1, and %v of those released", share)
	}
}

// Where noise hides every cell, records and means have all categories.
func TestRelease_SpreadsCategories(t *testing.T) {
	d := testkit.Must(NewBox([]Column{{Hi: 110}, {Categories: 2}, {Categories: 3}}, nil))
	r := random.Seeded(3)
	c := d.NewCounts()
	for i := range 1000 {
		testkit.Check(t, c.Add([]float64{r.Float64() * 110, float64(i % 2), 2}))
	}
	share, drawn := 0.0, 0.0
	for range 20 {
		out := testkit.Must(testkit.Must(NewSynthesizer(d, 0.01, nil)).Release(r, c))
		share += out.Mean(func(x []float64) float64 { return x[1] }) / 20
		for _, x := range testkit.Must(out.Records(r, 100, nil)) {
			drawn += x[1] / 2000
		}
	}
	if max(math.Abs(share-0.5), math.Abs(drawn-0.5)) > 0.2 {
		t.Errorf("half of the records are in category 1, and %v and %v of those released", share, drawn)
	}
}

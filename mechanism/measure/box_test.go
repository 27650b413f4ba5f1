package measure

import (
	"fmt"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/samples"
)

// Where noise hides every cell, records and means have all categories.
func TestRelease_SpreadsCategories(t *testing.T) {
	d := testkit.Must(domain.NewBox([]domain.Column{{Hi: 110}, {Categories: 2}, {Categories: 3}}, nil))
	r := random.Seeded(3)
	c := NewCounts(d)
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

// What Println shows of counts says nothing of what was counted.
func TestString_GivesNoCountAway(t *testing.T) {
	d := samples.Unit(1, domain.BoxOptions{Depth: 2})
	some := testkit.Must(CountAll(t.Context(), d, [][]float64{{0.1}, {0.1}}, nil))
	if got, want := fmt.Sprint(some), fmt.Sprint(NewCounts(d)); got != want {
		t.Errorf("two records print as %q, none as %q", got, want)
	}
}

package table_test

import (
	"context"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/table"
)

func ExampleNew() {
	// Ages, incomes that grow with them, and one of three towns.
	rng := random.Seeded(1) // nil for private data
	var rows [][]float64
	for range 20_000 {
		age := 20 + 60*rng.Float64()
		rows = append(rows, []float64{age, 500*age + 5000*rng.NormFloat64(), math.Floor(3 * rng.Float64() * rng.Float64())})
	}
	columns := []domain.Column{{Lo: 0, Hi: 100}, {Lo: 0, Hi: 1e5}, {Categories: 3}}

	s, err := table.New(columns, 1, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s)
	ctx := context.Background()
	release, err := s.Release(ctx, rng, rows)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range release.Edges() {
		fmt.Println("released together:", e.From, e.To)
	}
	synthetic, err := release.Records(ctx, rng, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	old := 0.0
	for _, x := range synthetic {
		if x[0] > 60 && x[1] > 30_000 {
			old++
		}
	}
	fmt.Printf("%d rows, %.1f of them above 60 with more than 30,000\n", len(synthetic), old/float64(len(synthetic)))
	// Output:
	// 1-private per record replaced, on tables of 3 columns
	// released together: 0 1
	// 20000 rows, 0.3 of them above 60 with more than 30,000
}

package ikwat22

import (
	"context"
	"fmt"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
)

// locations prints the programs for cities, and what they lose at one level.
func locations(ctx context.Context, r *exhibit.Run, n int) error {
	const level = .01 // per km
	s := exhibit.Must(places(ctx, n, r.Seed))
	var t result
	if err := t.measureAt(ctx, s, level, schemes()); err != nil {
		return err
	}
	table := demo.NewTable("mechanism", "variables", "rows", "nonzeros", fmt.Sprintf("L_%v (km)", share))
	for _, m := range schemes() {
		if m.size == nil {
			table.Row(m.name, "", "", "", t.loss[m.name][0])
			continue
		}
		size := exhibit.Must(m.size(ctx, s))
		table.Row(m.name, size.Variables, size.Rows, size.Nonzeros, t.loss[m.name][0])
	}
	table.Row("lower bound", "", "", "", t.floor[0])
	table.Row("uniform", "", "", "", t.uniform[0])
	r.Print(table)
	t.sayAll(r, 0, 1, fmt.Sprintf("eps_tight = %v per km", level))
	return nil
}

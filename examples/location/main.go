// Location releases real places privately, and shows what each mechanism
// costs: its proved level, its loss in km, and the time to build it.
//
//	go run ./examples/location
//	go run ./examples/location -alpha 0.2 -prior population -out /tmp/location
//
// It reads places with latitude and longitude, builds every mechanism that the
// library has for them at the same privacy level, audits them, prints a table,
// draws loss against alpha and writes one released place per input. A second table
// shows what many reports of one place give away, and that answers that stick do not.
package main

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/examples/internal/demo"
)

//go:embed cities.csv
var cities []byte

func main() { demo.Main("location", run) }

const (
	// A place is hidden among others: with one, all is public.
	minPlaces = 2
	// Every mechanism here compares all pairs of rows.
	maxPlaces = 3000
)

func run(ctx context.Context, p *demo.Program) error {
	alpha := p.Flags.Float64("alpha", 0.1, "privacy level per km")
	n := p.Flags.Int("n", 300, "how many places to use, from the top")
	prior := p.Flags.String("prior", "uniform", "uniform or population: whose mean loss is reported, and what the remap knows")
	p.ReadsFile("CSV with the columns lat and lon in degrees, and name and population if there are")
	if err := p.Parse(); err != nil {
		return err
	}
	if !(*alpha > 0) || math.IsInf(*alpha, 1) {
		return fmt.Errorf("-alpha %v: want a finite number > 0", *alpha)
	}
	if *n < minPlaces || *n > maxPlaces {
		return fmt.Errorf("-n %d: want %d to %d", *n, minPlaces, maxPlaces)
	}
	s := &study{alpha: *alpha, seed: p.Seed}
	if err := s.read(ctx, p, *n, *prior); err != nil {
		return err
	}
	if err := s.introduce(ctx, p); err != nil {
		return err
	}
	if err := s.compare(ctx, p); err != nil {
		return err
	}
	table := s.table()
	p.Print(table)
	p.Remark("")
	s.Explain(p, error.Error)
	if err := s.repeat(p); err != nil {
		return err
	}
	err := cmp.Or(p.WriteFile("table.csv", table.WriteCSV), p.WriteFile("released.csv", s.release))
	if err != nil {
		return err
	}
	head, err := s.head(ctx, pictured)
	if err != nil {
		return err
	}
	return head.draw(ctx, p)
}

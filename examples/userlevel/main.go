// Userlevel protects everything that a user holds, on real data: 209 countries are
// the users, their cities the items.
//
//	go run ./examples/userlevel
//	go run ./examples/userlevel -alpha 0.02 -m 10 -out /tmp/userlevel
//	go run ./examples/userlevel -in listens.csv -n 1000 -m 20
//
// Two users are as far apart as the earth mover's distance of what they hold, d_EM: how far
// the items of one must move, on average, to become those of the other. The program
// releases two means and a histogram at a level alpha per unit of d_EM, and compares their
// errors with those of ordinary user-level differential privacy, which hides one user from
// any other. The histogram comes out in four ways: [distribution.New] for a curator, and
// for users who trust none; noise on [query.Shares]; items replaced one by one; and user DP.
package main

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"

	"github.com/metricdp/metricdp/examples/internal/demo"
)

//go:embed cities.csv
var cities []byte

//go:embed regions.csv
var world []byte

func main() { demo.Main("userlevel", run) }

const (
	// A level beyond these is none that anyone wants, and within them every
	// mechanism here exists or says why not.
	minLevel, maxLevel = 1e-12, 1e12
	defaultM           = 5

	delta = 1e-6 // slack of the releases that go item by item; the others need none
)

func run(ctx context.Context, p *demo.Program) error {
	s := &study{}
	n := p.Flags.Int("n", 0, "how many users to use, from the top; 0: all")
	p.Flags.IntVar(&s.m, "m", defaultM, "items per user that enter the histogram, its first; who has fewer is left out of it")
	p.Flags.Float64Var(&s.alpha, "alpha", 0, "privacy level per unit of the earth mover's distance (km for places); 0: the largest that hides -move at -eps")
	p.Flags.Float64Var(&s.eps, "eps", 1, "the privacy level of the moves of -move, from which alpha is chosen")
	p.Flags.Float64Var(&s.move, "move", 0, "how far a user's items move on average in what is to stay hidden: km for places, 0: 200; else the share that changes, 0: 0.1")
	regions := p.Flags.String("regions", "", "`FILE` with the public regions, CSV with the columns name, lat and lon (default: 30 large cities of the world)")
	p.ReadsFile("CSV with the columns user, lat and lon, or user and item")
	if err := p.Parse(); err != nil {
		return err
	}
	switch {
	case s.alpha != 0 && !(s.alpha >= minLevel && s.alpha <= maxLevel):
		return fmt.Errorf("-alpha %v: want a number in [%v, %v], or 0", s.alpha, minLevel, maxLevel)
	case !(s.eps >= minLevel && s.eps <= maxLevel):
		return fmt.Errorf("-eps %v: want a number in [%v, %v]", s.eps, minLevel, maxLevel)
	case s.move != 0 && !(s.move >= minLevel && s.move <= maxLevel):
		return fmt.Errorf("-move %v: want a number in [%v, %v], or 0", s.move, minLevel, maxLevel)
	case *n < 0:
		return fmt.Errorf("-n %d: want a number of users, or 0 for all", *n)
	case s.m < 1:
		return fmt.Errorf("-m %d: want a number of items > 0", s.m)
	}
	s.seed = p.Seed
	if err := s.read(ctx, p, *n, *regions); err != nil {
		return err
	}
	if err := cmp.Or(s.choose(), ctx.Err()); err != nil {
		return err
	}
	g, err := s.guarantee(ctx)
	if err != nil {
		return err
	}
	levels, err := s.levels(g)
	if err := cmp.Or(err, s.introduce(p, g, levels)); err != nil {
		return err
	}
	var means *demo.Table
	if s.places != nil {
		if means, err = s.means(ctx, p, levels); err != nil {
			return err
		}
	}
	histogram, released, err := s.histogram(ctx, p)
	if err != nil {
		return err
	}
	if means != nil {
		if err := p.WriteFile("means.csv", means.WriteCSV); err != nil {
			return err
		}
	}
	err = cmp.Or(p.WriteFile("histogram.csv", histogram.WriteCSV), p.WriteFile("released.csv", released.WriteCSV))
	if err != nil {
		return err
	}
	return s.draw(ctx, p)
}

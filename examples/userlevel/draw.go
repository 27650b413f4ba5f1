package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/metricdp/metricdp/examples/internal/demo"
)

// The picture has this many levels, from alpha*lowest to alpha*highest, of equal
// ratios, and a point of it this many releases.
const (
	steps        = 9
	lowest       = 1.0 / 16
	highest      = 16.0
	picturedRuns = 20
	least        = 1e-6 // errors below this part of the largest distance are not in it
)

// kinds are the lines of the picture, in the order of levels; those of d_EM, "", are
// called by how they release.
var kinds = [3]string{sameMoves: "user DP, as private for moves", ours: "", sameUser: "user DP, as private for a user"}

func line(kind int, release string) string { return cmp.Or(kinds[kind], release+", d_EM") }

// draw writes the picture of the errors against alpha.
func (s *study) draw(ctx context.Context, p *demo.Program) error {
	report, wipe := p.Progress("picture")
	defer wipe()
	x := "alpha"
	if s.places != nil {
		x = "alpha (per km)"
	}
	note := fmt.Sprintf("user DP: ordinary differential privacy of users, at the eps that d_EM at alpha promises for the moves, or for a whole user. "+
		"A line ends where its errors fall below %s, a millionth of the largest distance.", s.smallest())
	chart := func(title string) *demo.Chart {
		return &demo.Chart{Title: title, X: x, Y: s.named("mean error"), LogX: true, LogY: true, Note: note}
	}
	mean, seen, unseen := chart("Center of mass"), chart("Histogram, someone sees the items"), chart("Histogram, nobody sees the items")
	for i, alpha := range demo.Levels(s.alpha*lowest, s.alpha*highest, steps) {
		report(i, steps)
		if s.places != nil {
			if err := s.drawMean(ctx, mean, alpha); err != nil {
				return err
			}
		}
		if err := s.drawHistogram(ctx, seen, unseen, alpha); err != nil {
			return err
		}
	}
	wipe()
	charts := slices.DeleteFunc([]*demo.Chart{mean, seen, unseen}, empty)
	if len(charts) == 0 {
		p.Remark("no picture: all errors are 0")
		return nil
	}
	return p.WriteCharts("error.png", charts...)
}

// smallest is the least error that the picture shows.
func (s *study) smallest() string {
	if s.places == nil {
		return fmt.Sprintf("%.2g", least*s.wide)
	}
	return fmt.Sprintf("%.2g km", least*s.wide)
}

// empty tells whether a chart has no point to show.
func empty(c *demo.Chart) bool {
	return !slices.ContainsFunc(c.Series, func(s demo.Series) bool {
		return slices.ContainsFunc(s.Y, func(y float64) bool { return y > 0 })
	})
}

// drawMean adds the points at alpha of the center of mass.
func (s *study) drawMean(ctx context.Context, c *demo.Chart, alpha float64) error {
	q := center()
	mech, err := s.mean(ctx, q, level{alpha: alpha})
	if err != nil {
		return err
	}
	levels, err := s.levels(mech.Guarantee())
	if err != nil {
		return err
	}
	for k, l := range levels {
		if mech, err = s.mean(ctx, q, l); err != nil {
			return err
		}
		sizes, _, err := s.errors(ctx, mech, q, s.runs(picturedRuns))
		if err != nil {
			return err
		}
		add(c, line(k, "noise"), alpha, stat.Mean(sizes, nil))
	}
	return nil
}

// drawHistogram adds the points at alpha of the histograms.
func (s *study) drawHistogram(ctx context.Context, seen, unseen *demo.Chart, alpha float64) error {
	list, err := s.methods(ctx, alpha)
	if err != nil {
		return err
	}
	for k, block := range list {
		for _, r := range block {
			c, name := unseen, r.name
			if r.seen() {
				c = seen
			}
			if name == noise {
				name = "noise"
			}
			if r.name == hadamard { // beside a better line it only fills the picture
				continue
			}
			if err := s.measure(ctx, &r, s.runs(picturedRuns)); err != nil {
				return err
			}
			if r.measured < least*s.wide {
				r.measured = math.NaN() // a gap in the line
			}
			add(c, line(k, name), alpha, r.measured)
		}
	}
	return nil
}

// add appends a point to the series of that name, which may be new.
func add(c *demo.Chart, name string, x, y float64) {
	k := slices.IndexFunc(c.Series, func(s demo.Series) bool { return s.Name == name })
	if k < 0 {
		k = len(c.Series)
		c.Series = append(c.Series, demo.Series{Name: name})
	}
	c.Series[k].X, c.Series[k].Y = append(c.Series[k].X, x), append(c.Series[k].Y, y)
}

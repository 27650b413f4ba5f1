package main

import (
	"fmt"
	"math"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/mechanism/measure/table"
)

// drawn is how many records of each kind the picture shows.
const drawn = 8000

// draw writes the picture: records in two columns, or the distribution functions of
// one. There is none without numbers.
func (s *study) draw(p *demo.Program) error {
	x, y := s.axes()
	switch {
	case x == nil:
		return nil
	case y == nil:
		curves := &demo.Chart{Title: "The area between is the error", X: x.name, Y: "share of records up to here"}
		curves.Series = append(curves.Series, distribution("original", x.values(s.original)))
		for _, r := range s.releases {
			curves.Series = append(curves.Series, distribution(fmt.Sprintf("eps = %v", r.eps), x.values(r.records)))
		}
		return p.WriteCharts("records.png", curves)
	}
	charts := []*demo.Chart{s.chart("original", x, y, s.original)}
	charts[0].Title = fmt.Sprintf("%d records of %s", len(s.original), s.file)
	for _, r := range s.releases {
		c := s.chart("synthetic", x, y, r.records)
		c.Title = fmt.Sprintf("synthetic, eps = %v", r.eps)
		if r.regions != nil && len(s.entries) == 2 {
			at, density := make([]float64, 2), r.regions.Density()
			c.Shade = &demo.Shade{Name: "density of a released region, from 1/30 to 100 times the mean", LoX: x.lo, HiX: x.hi, LoY: y.lo, HiY: y.hi, At: func(u, v float64) float64 {
				at[x.at], at[y.at] = u, v
				return darkness(density(at))
			}}
		}
		charts = append(charts, c)
	}
	return p.WriteCharts("records.png", charts...)
}

// darkness is the shade of a density on a scale of logarithms: from white at a
// thirtieth of the mean.
func darkness(density float64) float64 {
	const least, most = 1.0 / 30, 100
	return 0.8 * math.Log(density/least) / math.Log(most/least)
}

// axes are the entries that the picture shows: a place, or the first two numbers.
func (s *study) axes() (x, y *entry) {
	for i := range s.entries {
		e := &s.entries[i]
		switch {
		case e.kind == table.Place:
			return &s.entries[i+1], e
		case e.names != nil:
		case x == nil:
			x = e
		case y == nil:
			y = e
		}
	}
	return x, y
}

// chart shows records, in colors by the first names that they have, or by their kind.
func (s *study) chart(kind string, x, y *entry, records [][]float64) *demo.Chart {
	const most = 6 // names that have a color of their own
	c := &demo.Chart{X: x.name, Y: y.name, Series: []demo.Series{{Name: kind}}}
	var names *entry
	for i := range s.entries {
		if e := &s.entries[i]; e.names != nil && names == nil {
			names = e
			c.Series = make([]demo.Series, len(e.names)+1)
			if len(e.names) > most {
				c.Note = fmt.Sprintf("Colors tell the values of %s, several of which have one.", e.name)
				continue
			}
			for k, name := range e.names {
				c.Series[k+1].Name = name
			}
		}
	}
	for _, r := range sample(records, drawn) {
		k := 0
		if names != nil && !math.IsNaN(r[names.at]) {
			k = 1 + int(r[names.at])
		}
		c.Series[k].X, c.Series[k].Y = append(c.Series[k].X, r[x.at]), append(c.Series[k].Y, r[y.at])
	}
	for k := range c.Series {
		c.Series[k].Cloud = true
	}
	return c
}

// distribution is the distribution function of ascending values, in so many
// steps as the eye can tell.
func distribution(name string, v []float64) demo.Series {
	s := demo.Series{Name: name}
	steps := min(len(v), 1000)
	for k := range steps {
		last := (k + 1) * len(v) / steps // values up to this one
		for _, y := range []int{k * len(v) / steps, last} {
			s.X = append(s.X, v[last-1])
			s.Y = append(s.Y, float64(y)/float64(len(v)))
		}
	}
	return s
}

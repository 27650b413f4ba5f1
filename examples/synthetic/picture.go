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

// drawnPairs is how many pairs of columns the picture of a table shows at most.
const drawnPairs = 4

// drawPairs draws pairs that the release in the middle picked first: above the originals,
// below the synthetic records.
func (s *study) drawPairs(p *demo.Program) error {
	r := s.releases[len(s.releases)/2]
	if r.table == nil || len(r.table.Pairs()) == 0 {
		return nil
	}
	first := func(field int) *entry {
		for i := range s.entries {
			if s.entries[i].field == field {
				return &s.entries[i]
			}
		}
		panic("no such field")
	}
	var above, below []*demo.Chart
	for _, pair := range r.table.Pairs()[:min(drawnPairs, len(r.table.Pairs()))] {
		x, y := first(pair.A), first(pair.B)
		above = append(above, heat(fmt.Sprintf("%s, %s", x.name, y.name), x, y, s.original))
		below = append(below, heat(fmt.Sprintf("eps = %v", r.eps), x, y, r.records))
	}
	above[0].Y, below[0].Y = "second column", "second column"
	for _, c := range below {
		c.X = "first column"
	}
	below[0].Note = "Axes are shares of ranges; names stand in the order of the schema. Missing values are not drawn."
	return p.WriteCharts("pairs.png", append(above, below...)...)
}

// heat shows how dense records are in cells of two entries.
func heat(title string, x, y *entry, records [][]float64) *demo.Chart {
	place := func(e *entry, v float64) (at, cells int) {
		lo, hi := e.lo, e.hi
		switch {
		case e.names != nil:
			lo, hi, cells = 0, float64(len(e.names)), len(e.names)
		case e.kind == table.Whole && hi-lo < 32:
			hi++
			cells = int(hi - lo)
		default:
			cells = 32
		}
		return min(cells-1, int((v-lo)/(hi-lo)*float64(cells))), cells
	}
	density := map[[2]int]float64{}
	for _, r := range records {
		if u, v := r[x.at], r[y.at]; !math.IsNaN(u) && !math.IsNaN(v) {
			i, m := place(x, u)
			j, n := place(y, v)
			density[[2]int{i, j}] += float64(m*n) / float64(len(records))
		}
	}
	_, m := place(x, x.lo)
	_, n := place(y, y.lo)
	return &demo.Chart{Title: title, Shade: &demo.Shade{
		Name: "density of records, from 1/30 to 100 times the mean", HiX: 1, HiY: 1,
		At: func(u, v float64) float64 {
			return darkness(density[[2]int{int(u * float64(m)), int(v * float64(n))}])
		},
	}}
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

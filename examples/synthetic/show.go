package main

import (
	"fmt"
	"math"

	"github.com/metricdp/metricdp/examples/internal/demo"
)

// explain says in words what was protected and what the tables say.
func (s *study) explain(p *demo.Program) {
	p.Remark("")
	p.Remark("What is protected: whichever one record was replaced by another, no output gets more than e^eps = %.4g times", math.Exp(s.eps))
	p.Remark("as likely. eps = %v is spent with every run on the same data: two runs make %v. Who has several records needs", s.eps, 2*s.eps)
	p.Remark("eps divided by their number. How many records there are, %d, is public.", s.original.n)
	p.Remark("What the error is: W1 is how far records must be moved, on average, to turn the originals into the synthetic ones,")
	p.Remark("as a share of a column's bounds. A mean of anything that changes no faster than across those once is off by no more.")
	p.Remark("The release makes the noisy counts shares >= 0 that sum to 1. In practice that takes most of their error off.")
	if s.blur > 0 {
		p.Remark("There are too many to compare all of them, and samples of one data set are %s apart, too: a smaller error hides there.", demo.Number(s.blur))
	}
	if s.clipped > 0 {
		p.Remark("Records outside the bounds: %d, counted and compared as if on them. Do not choose bounds by this: it is private.", s.clipped)
	}
	p.Remark("What may be published: synthetic.csv. The tables and the picture show the originals, too.")
	if s.secure {
		p.Remark("The noise came from the secure generator: nobody can repeat it.")
	} else {
		p.Remark("This run is a rehearsal: whoever knows the seed can take the noise off. Publish only what -secure has made.")
	}
	p.Remark("")
}

// drawn is how many records of either kind the picture shows.
const drawn = 5000

// draw writes the picture: the distribution functions of one column, and
// otherwise the records in the first two.
func (s *study) draw(p *demo.Program) error {
	title := [2]string{
		fmt.Sprintf("original: %d (%s)", s.original.n, s.file),
		fmt.Sprintf("synthetic: %d, eps = %v", s.synthetic.n, s.eps),
	}
	var parts [2]*demo.Chart
	curves := &demo.Chart{Title: fmt.Sprintf("The area between is the error (eps = %v)", s.eps), X: s.names[0], Y: "share of records up to here"}
	n := min(drawn, len(s.original.sample), len(s.synthetic.sample))
	for k, x := range []*summary{s.original, s.synthetic} {
		if len(s.columns) == 1 {
			curves.Series = append(curves.Series, distribution([2]string{"original", "synthetic"}[k], x.column(0)))
			continue
		}
		cloud := demo.Series{Cloud: true}
		for _, at := range x.some(n) {
			cloud.X = append(cloud.X, at[0])
			cloud.Y = append(cloud.Y, at[1])
		}
		parts[k] = &demo.Chart{Title: title[k], X: s.names[0], Y: s.names[1], Series: []demo.Series{cloud}}
	}
	if len(s.columns) == 1 {
		return p.WriteCharts("records.png", curves)
	}
	return p.WriteCharts("records.png", parts[:]...)
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

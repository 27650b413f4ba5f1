package ikwat22

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
)

// setting is a kind of space of the paper, and the level that it has for all sizes of it.
type setting struct {
	name, unit string
	level      float64 // eps_tight of Section 5.1
	space      func(ctx context.Context, n int, seed uint64) space
}

var (
	fastText = setting{"FastText", "unit", 2, words(fastTextUnit)}
	gloVe    = setting{"GloVe", "unit", 1, words(1)}
	geoLife  = setting{"GeoLife", "km", .3, cells}
)

// curves are the points of schemes at some places, levels or sizes, of loss NaN where there
// is no mechanism, and the lines that the paper draws beside them.
type curves struct {
	title          string
	x              []float64
	schemes        []scheme
	points         map[string][]point // by schemes' names
	floor, uniform []float64
}

// add measures those schemes at a place that take seconds for the points there.
func (c *curves) add(ctx context.Context, s space, x, level float64, most map[string]int) {
	if c.points == nil {
		c.points = map[string][]point{}
	}
	for _, m := range c.schemes {
		p := point{loss: math.NaN()}
		if n, limited := most[m.name]; !limited || s.Len() <= n {
			p = m.at(ctx, s, level)
		}
		c.points[m.name] = append(c.points[m.name], p)
	}
	c.x = append(c.x, x)
	c.floor = append(c.floor, floor(ctx, s, level, delta, share))
	c.uniform = append(c.uniform, uniform(s))
}

// losses are those of a scheme.
func (c *curves) losses(name string) (y []float64) {
	for _, p := range c.points[name] {
		y = append(y, p.loss)
	}
	return y
}

func (c *curves) chart(x, unit string) *demo.Chart {
	chart := &demo.Chart{Title: c.title, X: x, Y: fmt.Sprintf("L_%v (%s)", share, unit)}
	for _, m := range c.schemes {
		chart.Series = append(chart.Series, demo.Series{Name: m.name, X: c.x, Y: c.losses(m.name)})
	}
	chart.Series = append(chart.Series, demo.Series{Name: "lower bound", X: c.x, Y: c.floor}, demo.Series{Name: "uniform", X: c.x, Y: c.uniform})
	return chart
}

// less are the least and the largest share by which a scheme loses less than the best of
// others, at the places from lo to hi.
func (c *curves) less(ours scheme, lo, hi float64, others ...scheme) (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	for i, x := range c.x {
		best := math.Inf(1)
		for _, m := range others {
			if y := c.points[m.name][i].loss; y < best {
				best = y
			}
		}
		if q := 1 - c.points[ours.name][i].loss/best; x >= lo && x <= hi && !math.IsInf(best, 1) && !math.IsNaN(q) {
			least, most = min(least, q), max(most, q)
		}
	}
	return least, most
}

// percent is a claim of what less returns, and of whether it overlaps the paper's range.
func percent(least, most, from, to float64) (string, exhibit.Verdict) {
	here := lessOf(most)
	if lessOf(least) != here {
		here = strings.TrimSuffix(lessOf(least), " % less") + " to " + here
	}
	switch {
	case least > 0 && least <= to+.01 && most >= from-.01, from < 0 && least >= from-.01 && most <= to+.01:
		return here, exhibit.Holds
	case least > to:
		return here, exhibit.Better
	}
	return here, exhibit.Differs
}

// lessOf writes such a share.
func lessOf(q float64) string {
	if q < 0 {
		return fmt.Sprintf("%.0f %% more", -100*q)
	}
	return fmt.Sprintf("%.0f %% less", 100*q)
}

// panel is one picture of Figures 1 and 3: losses against eps_tight, of which ConstOPT's are
// the given shares below all that is not optimal from the level lo to hi.
type panel struct {
	setting
	n                int
	levels           []float64
	lo, hi, from, to float64
}

// byLevel measures, claims and draws the panels of a figure.
func byLevel(ctx context.Context, r *exhibit.Run, figure string, panels ...panel) error {
	var charts []*demo.Chart
	for _, p := range panels {
		c := &curves{title: fmt.Sprintf("%d points, for %s", p.n, p.name), schemes: []scheme{exponentialMech, constOPT10, spannerMech, optMech}}
		s := p.space(ctx, p.n, r.Seed)
		if s.vectors != nil {
			c.schemes = append(c.schemes, madlib)
		}
		for _, level := range p.levels {
			c.add(ctx, s, level, level, map[string]int{optMech.name: 50})
		}
		c.sayByLevel(r, "Figure "+figure, p)
		charts = append(charts, c.chart("eps_tight at delta = .001", p.unit))
	}
	return r.WriteCharts("ikwat22-fig"+figure+".png", charts...)
}

func (c *curves) sayByLevel(r *exhibit.Run, place string, p panel) {
	where := ", " + c.title
	worst, _ := c.less(constOPT10, 0, math.Inf(1), exponentialMech, spannerMech)
	middle, most := c.less(constOPT10, p.lo, p.hi, exponentialMech, spannerMech)
	verdict, why := exhibit.If(middle > 0, exhibit.Holds), ""
	if worst <= 0 && middle > 0 {
		verdict, why = exhibit.Differs, fmt.Sprintf("the exponential mechanism loses less above eps = %v, near 0: programs minimize the largest loss at delta = 0, not L_%v at %v", p.hi, share, delta)
	}
	r.Say(place, "ConstOPT below all that is not optimal"+where, "at all eps", lessOf(worst)+" at worst", verdict, why)
	here, verdict := percent(middle, most, p.from, p.to)
	paper := strings.TrimPrefix(fmt.Sprintf("%.0f to %.0f %% less", 100*p.from, 100*p.to), "20 to ")
	r.Say(place, fmt.Sprintf("the same for eps = %v to %v", p.lo, p.hi)+where, paper, here, verdict, "")
	if least, _ := c.less(constOPT10, p.lo, math.Inf(1), optMech); !math.IsInf(least, 0) {
		r.Say(place, fmt.Sprintf("ConstOPT against OPTMech from eps = %v", p.lo)+where, "close", "at most "+lessOf(min(least, -0.)), exhibit.If(least > -.25, exhibit.Holds), "")
	}
	if _, end := c.less(spannerMech, p.hi, math.Inf(1), exponentialMech); p.name == gloVe.name {
		r.Say(place, fmt.Sprintf("Spanner against the exponential mechanism from eps = %v", p.hi)+where, "much more", "at least "+lessOf(end), exhibit.If(end < 0, exhibit.Holds), "")
	}
	gap := math.Inf(1)
	for _, m := range c.schemes {
		for i, y := range c.losses(m.name) {
			if q := y / c.floor[i]; q < gap {
				gap = q
			}
		}
	}
	r.Say(place, "all against the lower bound"+where, "large gap", fmt.Sprintf("at least %.3g times", gap), exhibit.If(gap >= 1, exhibit.Corrected),
		fmt.Sprintf("a bound on the largest loss at delta = 0, which is what the paper draws, bounds nothing there: here it is carried to L_%v and delta = %v", share, delta))
	if i := slices.Index(c.x, fastText.level); i >= 0 && p.name == fastText.name && p.n == 200 {
		at := func(m scheme) float64 { return c.points[m.name][i].loss }
		ours, next := at(constOPT10), min(at(exponentialMech), at(spannerMech))
		r.Say("Section 5.2", "ConstOPT, the next best, uniform at eps = 2"+where, "1.5, 1.8, 44 % below", fmt.Sprintf("%.3g, %.3g, %.0f %% below", ours, next, 100*(1-ours/c.uniform[i])),
			exhibit.Near(ours, 1.5, .1), "the next best is the exponential mechanism there and the Spanner here")
	}
}

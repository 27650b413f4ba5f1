package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/metric"
)

// show measures the space and prints, explains and draws what it found.
func (s *study) show(ctx context.Context, p *demo.Program, alphas []float64) error {
	wide, _, _, err := metric.Diameter(ctx, s.space.Privacy)
	if err != nil {
		return err
	}
	n := s.space.Len()
	if wide == 0 {
		fmt.Fprintf(p.Stdout, "%s: all %d points are one and the same: the loss is 0 at every alpha\n", s.file, n)
		return nil
	}
	p.Remark("%d points of %s, %s.", n, s.file, fmt.Sprintf(s.about, wide))
	p.Remark("lower, upper: the bracket of the least worst expected loss that an alpha-private mechanism can have, and what proves its ends;")
	p.Remark("entropic, diametric: the scales of the space; %s, ...: the exact loss of that mechanism;", s.methods[0].Name)
	within := ""
	if s.near() > 0 {
		within = fmt.Sprintf(" within %g %%", 100*enough)
	}
	p.Remark("const, optimal: linear programs, for up to %d and %d points; optimal is the least loss of all%s.\n", maxConst, maxOptimal, within)
	if alphas == nil {
		if alphas = s.defaultAlphas(wide); len(alphas) == 0 {
			return fmt.Errorf("%s: distances of %g at most: choose a larger unit", s.file, wide)
		}
	}
	if err := s.measure(ctx, p, alphas); err != nil {
		return err
	}
	s.explain(p)
	return s.draw(p)
}

// table is the table for the eye, still empty.
func (s *study) table() *demo.Table {
	columns := []string{fmt.Sprintf("alpha (per %s)", s.unit), "lower" + s.lossUnit(), "by", "entropic", "diametric"}
	for _, m := range s.methods {
		columns = append(columns, m.Name)
	}
	return demo.NewTable(append(columns, "upper", "by", "ratio")...)
}

// print adds the row to it.
func (r *row) print(p *demo.Program, t *demo.Table) {
	lower, upper := r.bracket.Best(entropy.Lower), r.bracket.Best(entropy.Upper)
	cells := []any{r.bracket.Alpha, lower.Value, lower.Name, interval(r.entropic), interval(r.diametric)}
	for _, m := range r.Rows {
		cells = append(cells, m.Worst)
	}
	t.Row(append(cells, upper.Value, upper.Name, r.bracket.Ratio())...)
	p.PrintSoFar(t)
}

// lossUnit is the unit of losses for a heading.
func (s *study) lossUnit() string {
	if s.loss == "" {
		return ""
	}
	return fmt.Sprintf(" (%s)", strings.TrimSpace(s.loss))
}

// interval is one number where the ends print alike.
func interval(i scale.Interval) any {
	if lo, hi := demo.Number(i.Lo), demo.Number(i.Hi); lo != hi {
		return lo + " to " + hi
	}
	return i.Hi
}

// explain says in words what the table shows.
func (s *study) explain(p *demo.Program) {
	p.Remark("")
	last := s.rows[len(s.rows)-1].bracket
	if upper := last.Best(entropy.Upper); last.Lo > 0 {
		p.Remark("At alpha = %v per %s no mechanism can do better than %s%s; the %s one is within %.2f times of that.",
			last.Alpha, s.unit, demo.Number(last.Lo), s.loss, upper.Name, last.Ratio())
	} else {
		p.Remark("At alpha = %v per %s nothing is known to forbid a loss of 0; the %s mechanism has %s%s.",
			last.Alpha, s.unit, upper.Name, demo.Number(upper.Value), s.loss)
	}
	open := slices.MaxFunc(s.rows, func(a, b row) int { return cmp.Compare(a.bracket.Ratio(), b.bracket.Ratio()) }).bracket
	p.Remark("Least is known at alpha = %v, where the bracket is a factor %.2f wide.", open.Alpha, open.Ratio())
	s.explainRelaxed(p)
	for k, m := range s.methods {
		var at []string
		var why error
		for _, r := range s.rows {
			if err := r.Rows[k].Err; err != nil {
				at, why = append(at, fmt.Sprint(r.bracket.Alpha)), err
			}
		}
		if why != nil {
			p.Remark("No %s mechanism at alpha = %s: %s", m.Name, strings.Join(at, ", "), demo.Why(why))
		}
	}
}

// explainRelaxed says what it brings to answer with branches.
func (s *study) explainRelaxed(p *demo.Program) {
	index := func(name string) int {
		return slices.IndexFunc(s.methods, func(m demo.Method) bool { return m.Name == name })
	}
	standard, relaxed := index("standard"), index("relaxed")
	if relaxed < 0 {
		return
	}
	gain := func(r row) float64 { return r.Rows[standard].Worst / r.Rows[relaxed].Worst }
	most := slices.MaxFunc(s.rows, func(a, b row) int { return cmp.Compare(gain(a), gain(b)) })
	p.Remark("The relaxed mechanism, which draws a branch and not a leaf, gains most at alpha = %v: it loses %s where the standard one loses %s.",
		most.bracket.Alpha, demo.Number(most.Rows[relaxed].Worst), demo.Number(most.Rows[standard].Worst))
}

// draw writes the picture of loss against alpha, the bracket shaded.
func (s *study) draw(p *demo.Program) error {
	band := demo.Series{Name: "lower bound; shaded: where the optimum lies"}
	for _, r := range s.rows {
		band.X = append(band.X, r.bracket.Alpha)
		band.Lo = append(band.Lo, r.bracket.Lo)
		band.Hi = append(band.Hi, r.bracket.Hi)
	}
	band.Y = band.Lo
	c := demo.Chart{
		Title: fmt.Sprintf("What privacy must cost (%d points of %s)", s.space.Len(), s.file),
		X:     fmt.Sprintf("alpha (per %s)", s.unit), LogX: true,
		Y: "worst expected loss" + s.lossUnit(), LogY: true,
		Series: []demo.Series{band},
	}
	for k, m := range s.methods {
		line := demo.Series{Name: label(m.Name), X: band.X}
		for _, r := range s.rows {
			line.Y = append(line.Y, r.Rows[k].Worst)
		}
		c.Series = append(c.Series, line)
	}
	return p.WriteCharts(s.metric+".png", &c)
}

// writeTable writes table.csv: every number in full, a line for each space and
// level, an empty cell where there is no such mechanism.
func writeTable(p *demo.Program, studies []*study) error {
	columns := []string{"data", "alpha", "lower", "lower_by", "lower_source", "upper", "upper_by", "ratio",
		"entropic_lo", "entropic_hi", "diametric_lo", "diametric_hi"}
	all := slices.Concat((&study{}).plain(), (&study{}).branches())
	for _, m := range all {
		columns = append(columns, strings.ReplaceAll(m.Name, " ", "_"))
	}
	t := demo.NewTable(columns...)
	for _, s := range studies {
		for _, r := range s.rows {
			lower, upper := r.bracket.Best(entropy.Lower), r.bracket.Best(entropy.Upper)
			cells := []any{s.file, r.bracket.Alpha, lower.Value, lower.Name, lower.Source, upper.Value, upper.Name, r.bracket.Ratio(),
				r.entropic.Lo, r.entropic.Hi, r.diametric.Lo, r.diametric.Hi}
			for k := range all {
				v := math.NaN()
				if k < len(r.Rows) { // plain methods come first
					v = r.Rows[k].Worst
				}
				cells = append(cells, v)
			}
			t.Row(cells...)
		}
	}
	return p.WriteFile("table.csv", t.WriteCSV)
}

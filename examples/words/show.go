package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/metric"
)

// unknown stands for a figure that there is none of.
var unknown = math.NaN()

// introduce says what the words and alpha are; i and j are farthest apart.
func (s *study) introduce(ctx context.Context, p *demo.Program, wide float64, i, j int) error {
	near, k, l, err := metric.NewIndex(s.space).MinDistance(ctx)
	if err != nil {
		return err
	}
	p.Remark("%d words of %s in %d dimensions, from %.3g apart (%s, %s) to %.3g (%s, %s).", len(s.words), s.file, len(s.vectors[0]),
		near, s.words[k], s.words[l], wide, s.words[i], s.words[j])
	p.Remark("alpha = %v: a release is at most e^(%v d) times likelier for one word than for another at distance d:", s.alpha, s.alpha)
	p.Remark("%s can pass for %s up to a factor %.3g, for %s up to %.3g.\n", s.words[k], s.words[l], math.Exp(s.alpha*near),
		s.words[s.farthest(k)], math.Exp(s.alpha*s.space.Distance(k, s.farthest(k))))
	return nil
}

// farthest is the word farthest from x.
func (s *study) farthest(x int) int {
	far := 0
	for y := range s.words {
		if s.space.Distance(x, y) > s.space.Distance(x, far) {
			far = y
		}
	}
	return far
}

// table is what was measured at the study's level.
func (s *study) table() *demo.Table {
	t := demo.NewTable("mechanism", "level", "worst loss", "95 % loss", "mean loss", "guessed", "build time")
	for _, r := range s.Rows {
		if r.Err == nil {
			t.Row(r.Name, r.Level, r.Worst, r.Quantile, r.Mean, r.Adversary, r.Took)
		}
	}
	t.Row("lower bound", unknown, s.lower, unknown, unknown, unknown, "-")
	return t
}

// explain says in words what the table shows.
func (s *study) explain(p *demo.Program) {
	p.Remark("")
	p.Remark("level: audited, per unit of distance, at delta = %v; of Madlib that of its noise. guessed: how often a release gives its word away to someone", delta)
	p.Remark("who thought all %d equally likely; without any release that is %s.", len(s.words), demo.Number(1/float64(len(s.words))))
	if s.lower > 0 {
		which := ""
		if s.outputs != nil {
			which = fmt.Sprintf(" that releases one of the %d", len(s.outputs))
		}
		p.Remark("lower bound: no %v-private mechanism%s has a smaller worst loss (by %s).", s.alpha, which, s.lowerBy)
	}
	s.Explain(p, demo.Why)
	if rows := s.matrices(); s.lower > 0 && len(rows) > 0 {
		best := best(rows)
		p.Remark("Least worst loss: %s, %.3g times the lower bound.", best.Name, best.Worst/s.lower)
	}
}

// matrices are the mechanisms that have a matrix, that is all but Madlib.
func (s *study) matrices() []demo.Row {
	return slices.DeleteFunc(slices.Clone(s.Rows), func(r demo.Row) bool { return r.Err != nil || r.Name == madlibName })
}

// best is the first of those with the least worst loss.
func best(rows []demo.Row) demo.Row {
	return slices.MinFunc(rows, func(a, b demo.Row) int { return cmp.Compare(a.Worst, b.Worst) })
}

const (
	shown   = 8 // words for which releases are printed
	perWord = 5 // releases printed
)

// samples prints releases to read: of the first mechanism and of the best.
func (s *study) samples(p *demo.Program) error {
	rows := s.matrices()
	if len(rows) == 0 {
		return nil
	}
	p.Remark("")
	pair := []demo.Row{rows[0], best(rows)}
	t := demo.NewTable("word", pair[0].Name, pair[1].Name)
	for k := range min(shown, len(s.words)) {
		x := k * len(s.words) / min(shown, len(s.words))
		cells := []any{s.words[x]}
		for _, r := range pair {
			released, err := s.draws(r, x, perWord)
			if err != nil {
				return err
			}
			cells = append(cells, "-> "+strings.Join(released, ", "))
		}
		t.Row(cells...)
	}
	p.Print(t)
	p.Remark("(releasing a word k times adds up to k alpha; here it only shows what one release may be)\n")
	return nil
}

// draws are releases of one word, from random numbers of their own.
func (s *study) draws(r demo.Row, x, releases int) ([]string, error) {
	random := random.Seeded(s.seed ^ uint64(x+1)<<32)
	words := make([]string, releases)
	for i := range words {
		y, err := r.Mech.Release(random, x)
		if err != nil {
			return nil, err
		}
		words[i] = s.words[y]
	}
	return words, nil
}

// release writes one release of every word by every mechanism.
func (s *study) release(w io.Writer) error {
	t := demo.NewTable("mechanism", "word", "released")
	for _, r := range s.Rows {
		if r.Err != nil {
			continue
		}
		for x, word := range s.words {
			released, err := s.draws(r, x, 1)
			if err != nil {
				return err
			}
			t.Row(r.Name, word, released[0])
		}
	}
	return t.WriteCSV(w)
}

// The picture has this many levels, from alpha*lowest to alpha*highest, of equal
// ratios.
const (
	steps   = 9
	lowest  = 0.25
	highest = 2.25
)

// pictured is the longest that a mechanism may take to be in the picture.
const pictured = 5 * time.Second

// draw writes the picture of loss against the audited level, of Madlib that of its noise.
func (s *study) draw(ctx context.Context, p *demo.Program) error {
	chart := demo.Chart{
		Title: fmt.Sprintf("Releasing words (%d of %s)", len(s.words), s.file),
		X:     fmt.Sprintf("level per unit of distance, audited at delta = %v", delta), LogX: true,
		Y: "loss of the worst 5 % of words (distance)",
	}
	var lines []demo.Line
	for _, m := range s.methods() {
		k := slices.IndexFunc(s.Rows, func(r demo.Row) bool { return r.Name == m.Name })
		if s.Rows[k].Took > pictured {
			p.Remark("%s takes too long for a picture of %d levels.", m.Name, steps)
			continue
		}
		lines = append(lines, demo.Line{Name: m.Name, At: func(alpha float64) (float64, float64, error) {
			return at(s.Try(ctx, m, alpha, nil))
		}})
	}
	lines = append(lines, demo.Line{Name: madlibName + ", at the level of its noise", At: func(alpha float64) (float64, float64, error) {
		return at(s.madlib(ctx, alpha, simulatedPicture))
	}})
	if err := chart.AddLines(ctx, p, demo.Levels(s.alpha*lowest, s.alpha*highest, steps), lines); err != nil {
		return err
	}
	if !slices.ContainsFunc(chart.Series, func(l demo.Series) bool {
		return slices.ContainsFunc(l.X, func(x float64) bool { return x > 0 })
	}) {
		p.Remark("no picture: at delta = %v all levels are 0.", delta)
		return nil
	}
	return p.WriteCharts("loss.png", &chart)
}

// at is a point of the picture; a gap where there is no such mechanism.
func at(r demo.Row, err error) (x, y float64, _ error) {
	if r.Err != nil {
		return unknown, unknown, err
	}
	return r.Level, r.Quantile, err
}

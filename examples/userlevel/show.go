package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/mechanism/emd/frequency"
)

// histogramRuns releases measure the error of a histogram.
const histogramRuns = 50

// histogram releases the histogram at every level and shows what came out.
func (s *study) histogram(ctx context.Context, p *demo.Program) (table, released *demo.Table, err error) {
	list, err := s.methods(ctx, s.alpha)
	if err != nil {
		return nil, nil, err
	}
	report, wipe := p.Progress("histogram")
	defer wipe()
	for k, block := range list {
		for i := range block {
			report(4*k+i, 12)
			if err := s.measure(ctx, &block[i], s.runs(histogramRuns)); err != nil {
				return nil, nil, err
			}
		}
	}
	wipe()
	number, regions, far := 1, "which item", "the share that must move"
	if s.places != nil {
		number, regions, far = 2, "nearest to which region", "how many km the shares must move"
	}
	p.Remark("%d. A histogram: %s? The mean over the users of the shares of each one's items.", number, regions)
	p.Remark("   distribution (distribution.New), noise on the shares: someone sees all items of all %d users.", len(s.items))
	p.Remark("   distribution, local: of all items every user sends a noisy report of its own, and nobody else sees them.")
	p.Remark("   The others: the first %d items of those who have as many (%d of %d); each is replaced at random where it is, then", s.m, len(s.first), len(s.items))
	p.Remark("   all are shuffled, and nobody sees them.")
	p.Remark("   Error: %s to become the true ones, the mean of %d releases.\n", far, s.runs(histogramRuns))
	t := demo.NewTable("privacy", "release", "eps, moves", "eps, whole user", "delta", s.named("error"), s.named("proved bound"))
	for _, r := range slices.Concat(list[:]...) {
		if r.err == nil {
			t.Row(r.level.String(), r.name, r.moves, r.whole, r.delta, r.measured, min(r.bound, s.wide))
		}
	}
	p.Print(t)
	p.Remark("")
	if err := s.explain(ctx, p, list); err != nil {
		return nil, nil, err
	}
	all := s.largest(list)
	p.Print(all(shown))
	p.Remark("(in %% of all items, one release each)\n")
	return t, all(len(s.regions)), nil
}

// named adds the unit of errors to the name of a column.
func (s *study) named(column string) string {
	if s.places != nil {
		return column + " (km)"
	}
	return column
}

// explain says in words what the table of the histogram shows.
func (s *study) explain(ctx context.Context, p *demo.Program, list [3][]result) error {
	unit := ""
	if s.places != nil {
		unit = " km"
	}
	for _, r := range slices.Concat(list[:]...) {
		if r.err != nil {
			p.Remark("no %s at %v: %s", r.name, r.level, why(r.err))
		}
	}
	if d := list[ours][0]; d.err == nil {
		bar, err := d.bar()
		if err != nil {
			return err
		}
		p.Remark("The distribution says of its first release, by simulating the noise: the error is %.4g%s or less with %g %%.", bar.Quantile, unit, 100*quantile)
	}
	if least := s.floor(); least > 0 {
		p.Remark("Whatever promises alpha, without delta, errs by %.3g%s or more on some data with these shares of pairs of neighbors.", least, unit)
	}
	if s.places != nil {
		s.compared(p, list)
	}
	if s.longest > s.m {
		p.Remark("Where items are replaced one by one, the promise is about the first %d of a user, and who has as many", s.m)
		drawn := "nothing"
		if eps := s.sampled(ctx); !math.IsInf(eps, 1) {
			drawn = fmt.Sprintf("eps = %.4g", eps)
		}
		p.Remark("is taken to be public. Drawing %d from all that a user holds (emd.Reduced) would protect all of them, but", s.m)
		p.Remark("promise %s for the moves.", drawn)
	}
	if s.places == nil {
		p.Remark("The list of items is taken to be public. Any two are at distance 1, so that d_EM is the share of a user's items that")
		p.Remark("change, alpha is the eps of user DP and randomized response the same mechanism under both names.\n")
		return nil
	}
	p.Remark("The regions are public, and the promise is about them: a city is first taken to be its nearest region, so one that")
	p.Remark("moves across a border moves %.0f km at least.\n", s.near)
	return nil
}

// compared says how the errors of the table compare.
func (s *study) compared(p *demo.Program, list [3][]result) {
	for _, seen := range []bool{true, false} {
		who := "where nobody sees the items"
		if seen {
			who = "where someone sees the items"
		}
		ordinary, own := best(list[sameMoves], seen), best(list[ours], seen)
		switch nothing := least * s.wide; {
		case math.IsNaN(ordinary) || math.IsNaN(own):
			continue
		case own >= nothing:
			p.Remark("For the same moves user DP errs %.3g times as much as d_EM %s.", ordinary/own, who)
		case ordinary >= nothing:
			p.Remark("For the same moves user DP errs over %.2g times as much as d_EM %s.", ordinary/nothing, who)
		default:
			p.Remark("For the same moves both err by next to nothing %s.", who)
		}
	}
	p.Remark("At the same eps for a whole user it errs less than d_EM, which alone promises more for the moves.")
}

// best is the least error of those who see the items, or of those who do not; NaN
// if there is none.
func best(list []result, seen bool) float64 {
	least := math.NaN()
	for _, r := range list {
		if r.seen() == seen && !(r.measured >= least) {
			least = r.measured
		}
	}
	return least
}

// why is the reason for which a mechanism does not exist, for people.
func why(err error) string {
	var c *frequency.ConditionError
	if errors.As(err, &c) {
		return "so little would be left of an item that nothing could be learnt from any number of them"
	}
	return err.Error()
}

// shown is how many regions are printed.
const shown = 8

// percent leaves out digits that are rounding.
func percent(share float64) float64 { return math.Round(1e6*share) / 1e4 }

// largest makes the table of the first releases that keep the moves at the level of
// alpha, each beside its truth, for the n regions with the largest shares.
func (s *study) largest(list [3][]result) func(n int) *demo.Table {
	columns := []string{"region"}
	if s.places == nil {
		columns[0] = "item"
	}
	var of [][]float64
	for _, seen := range []bool{true, false} {
		users, name := s.items, "true share"
		if !seen {
			users, name = s.first, fmt.Sprintf("first %d", s.m)
		}
		columns, of = append(columns, name), append(of, exactly(s.indicators, users))
		for k, who := range []string{sameMoves: "user DP: ", ours: "d_EM: "} {
			for _, r := range list[k] {
				if r.err == nil && r.seen() == seen && r.name != local && r.name != hadamard {
					columns, of = append(columns, who+strings.Fields(r.name)[0]), append(of, r.first)
				}
			}
		}
	}
	order := make([]int, len(s.regions))
	for x := range order {
		order[x] = x
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(of[0][y], of[0][x]) })
	return func(n int) *demo.Table {
		t := demo.NewTable(columns...)
		for _, x := range order[:min(n, len(order))] {
			cells := []any{s.regions[x]}
			for _, p := range of {
				cells = append(cells, percent(p[x]))
			}
			t.Row(cells...)
		}
		return t
	}
}

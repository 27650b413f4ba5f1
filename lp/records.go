package lp

import (
	"fmt"
	"sort"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
)

// RecordsFor returns how many records a database needs for the target at the level eps > 0
// between databases that differ in one record (KL10, Remark 2.4): the least N with
// sensitivity(N)*eps* <= eps, for both ends of Level. sensitivity(N) >= 0, nonincreasing, is how
// far one of N records moves an input at most under the privacy metric; nil is 1/N. Enough
// records and more make the mechanism eps-private; with fewer than least none that reaches the
// target is, if inputs at a distance of k*sensitivity(N) are k records apart.
//
// Errors: a [*metric.ValueError] for eps or a sensitivity, and where 2^53 records, 2^30 on 32
// bits, are not enough.
func (s *MostPrivateSolution) RecordsFor(eps float64, sensitivity func(records int) float64) (least, enough int, err error) {
	const op = "lp: MostPrivateSolution.RecordsFor"
	if err := fault.Made(s != nil && s.Channel != nil, op, "MostPrivateSolution", "MostPrivate"); err != nil {
		return 0, 0, err
	}
	if err := fault.Positive(op, "eps", eps); err != nil {
		return 0, 0, err
	}
	moves := func(n int) float64 {
		d := sensitivity(n)
		if err == nil {
			err = fault.NonNegative(op, fmt.Sprintf("sensitivity(%d)", n), d)
		}
		return d
	}
	first := func(level func(n int) float64) int {
		allows := func(n int) bool { return level(n) <= eps || err != nil }
		n := 1
		for !allows(n) {
			if n == mostRecords {
				err = fault.Value(op, "eps", eps, fmt.Sprintf("more: %d records are not enough", n))
				return 0
			}
			n *= 2
		}
		return n/2 + 1 + sort.Search(n-n/2-1, func(i int) bool { return allows(n/2 + 1 + i) })
	}
	least = first(func(n int) float64 {
		if sensitivity == nil {
			return directed.DivDown(s.Level.Lo, float64(n))
		}
		return directed.MulDown(s.Level.Lo, moves(n))
	})
	enough = first(func(n int) float64 {
		if sensitivity == nil {
			return directed.DivUp(s.Level.Hi, float64(n))
		}
		return directed.MulUp(s.Level.Hi, moves(n))
	})
	if err != nil {
		return 0, 0, err
	}
	return least, enough, nil
}

// mostRecords has a float64 of its own.
const mostRecords = 1 << (30 + 23*(^uint(0)>>63))

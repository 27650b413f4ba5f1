package tsp

import (
	"slices"
	"sort"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/metric"
)

// Folding lays a finite metric out along the line by a path through its points, each as far from
// the one before as in the metric, so that
//
//	|Position of i - Position of j| >= Distance(i, j).
//
// The way back is 1-Lipschitz: a private measure on the line gives one on the space that is no
// worse in W1 (BSV22, Propositions 6.5 and 7.1).
type Folding struct {
	Order    []int     // the points, from left to right
	Position []float64 // of Order[k] at k: 0 first, never decreasing
	Rank     []int     // the inverse of Order: point i is at Position[Rank[i]]
}

// foldPairs is the number of pairs that Fold checks at most.
const foldPairs = 1 << 17

// Fold lays f out along t; a closed tour is first cut as [Tour.Open] does. Positions are rounded
// upward: the inequality holds for their float64 differences wherever f obeys the triangle
// inequality. Up to 512 points all pairs are checked, above 2^17 random ones, always the same; a
// pair that breaks it by more than [metric.DefaultTolerance] is a [*metric.Violation]. Other
// errors are those of Tour.Open. O(n).
func Fold(f metric.Finite, t *Tour) (l *Folding, err error) {
	const op = "tsp: Fold"
	defer name(op, &err)
	if err := checkOrder(op, "t", fault.Len(f), t.order()); err != nil {
		return nil, err
	}
	path, err := t.Open(f)
	if err != nil {
		return nil, err
	}
	n := len(path.Order)
	l = &Folding{Order: slices.Clone(path.Order), Position: make([]float64, n), Rank: make([]int, n)}
	for k, i := range l.Order {
		l.Rank[i] = k
		if k == 0 {
			continue
		}
		d := f.Distance(l.Order[k-1], i)
		if notDistance(d) {
			return nil, badDistance(l.Order[k-1], i, d)
		}
		l.Position[k] = directed.AddUp(l.Position[k-1], d)
	}
	return l, l.check(f)
}

// check looks for a pair of points that came nearer.
func (l *Folding) check(f metric.Finite) error {
	n := len(l.Order)
	if float64(n)*float64(n) <= 2*foldPairs {
		for h := range n {
			for k := h + 1; k < n; k++ {
				if err := l.checkPair(f, h, k); err != nil {
					return err
				}
			}
		}
		return nil
	}
	r := random.Seeded(0)
	for range foldPairs {
		if err := l.checkPair(f, r.IntN(n), r.IntN(n)); err != nil {
			return err
		}
	}
	return nil
}

func (l *Folding) checkPair(f metric.Finite, h, k int) error {
	if h > k {
		h, k = k, h
	}
	i, j := l.Order[h], l.Order[k]
	d, gap := f.Distance(i, j), l.Position[k]-l.Position[h]
	switch {
	case h == k || d <= gap*(1+metric.DefaultTolerance):
		return nil
	case notDistance(d):
		return badDistance(i, j, d)
	}
	// d(i,j) exceeds the steps from i to j, so some triangle i, p, q of a step
	// from p to q fails. The worst of them is the witness.
	worst := &metric.Violation{Axiom: metric.Triangle, I: i, J: j, K: -1, Excess: d - gap}
	most := 0.0
	for m := h + 1; m < k; m++ {
		p, q := l.Order[m], l.Order[m+1]
		if e := f.Distance(i, q) - f.Distance(i, p) - f.Distance(p, q); e > most {
			most = e
			*worst = metric.Violation{Axiom: metric.Triangle, I: i, J: q, K: p, Excess: e}
		}
	}
	return worst
}

// Length returns the length of the line: the position of the last point.
func (l *Folding) Length() float64 {
	l.made()
	return l.Position[len(l.Position)-1]
}

// made panics for a zero Folding, in which no point is nearest.
func (l *Folding) made() {
	if len(l.Position) == 0 {
		panic("tsp: a Folding without points: Fold makes one")
	}
}

// Nearest returns the point nearest to x on the line, the left one of two and the first of several
// in one place, for any number (NaN is +Inf). O(log n).
func (l *Folding) Nearest(x float64) int {
	l.made()
	k := sort.SearchFloat64s(l.Position, x)
	if k == len(l.Position) || k > 0 && x-l.Position[k-1] <= l.Position[k]-x {
		k = sort.SearchFloat64s(l.Position, l.Position[k-1])
	}
	return l.Order[k]
}

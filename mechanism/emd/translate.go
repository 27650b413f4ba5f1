package emd

import (
	"cmp"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/emd/internal/check"
)

// FromUserLevel turns ordinary user-level privacy into privacy under d_EM: the pair (eps, delta)
// between all data sets that differ in one user is (eps*m/minDistance, delta) per unit of d_EM,
// rounded up, as two different multisets of m items are at least minDistance/m apart. minDistance > 0
// is the least distance of two different items. The model must be bounded, and the mechanism must not
// look at the order of a user's items.
//
// Loss: back to user level eps has grown by the factor m*diameter/minDistance. Small moves are
// protected no better than large ones. Source: IRC24, Section 8.
func (m Model) FromUserLevel(p DP, minDistance float64) (Guarantee, error) {
	const op = "emd: Model.FromUserLevel"
	m, err := m.Check(op)
	if err := cmp.Or(err, m.CheckBounded(op), p.stated(op, "p"),
		fault.NonNegative(op, "p.Eps", p.Eps), fault.Delta(op, "p.Delta", p.Delta)); err != nil {
		return Guarantee{}, err
	}
	if !(minDistance > 0 && minDistance <= m.Diameter) {
		return Guarantee{}, fault.Value(op, "minDistance", minDistance, "a number in (0, Model.Diameter]")
	}
	return perUnit(m, directed.DivUp(directed.MulUp(p.Eps, float64(m.Items)), minDistance), p.Delta)
}

// FromItems turns metric privacy of single items into privacy under d_EM in a bounded model. The level
// (alpha0, delta0) per unit of distance, between data sets that differ in one item, is m*alpha0 per
// unit of d_EM, by changing the m items one after another along the best pairing. delta0 grows as in
// [mechanism.Guarantee.Group]; all is rounded up. A delta that reaches 1 is an error. The mechanism
// must not look at the order of a user's items.
//
// Loss: none for delta0 = 0. For item-wise release frequency.NewItemWise has far better levels.
func (m Model) FromItems(item mechanism.Guarantee) (Guarantee, error) {
	const op = "emd: Model.FromItems"
	m, err := m.Check(op)
	if err := cmp.Or(err, m.CheckBounded(op)); err != nil {
		return Guarantee{}, err
	}
	if item.Unit() != m.Unit {
		return Guarantee{}, check.OtherUnit(op, "item", item.Unit(), m.Unit)
	}
	_, delta := item.Group(m.Items, m.Diameter)
	if math.IsInf(item.Alpha(), 1) || item.Reach() < m.Diameter || delta >= 1 {
		return Guarantee{}, fmt.Errorf("%s: %v promises nothing about %d items up to %v apart", op, item, m.Items, m.Diameter)
	}
	return perUnit(m, directed.MulUp(float64(m.Items), item.Alpha()), delta)
}

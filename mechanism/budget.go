package mechanism

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"unicode/utf8"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// Budget is a limit for the levels of several releases together, or by [BudgetOptions.ByLoss] for what they
// lose together: [Budget.Spend] adds the guarantee of the next one, and refuses it where the sum would exceed
// the limit. All that is released after a Spend without error is as private as the limit, also where outputs
// decide what is released next. With [Sticky], which spends for every new input, all inputs together are so
// per unit of the largest distance between one of them and what it could have been.
//
// What is spent is stored before Spend returns, by [Store.Swap]: a crash wastes a part of the budget, and any
// number of processes do not overspend. Sums are exact: ten draws at level 0.1 exceed the limit 1 in the last
// bit; the limit for n draws of m is m.Guarantee().Times(n). Safe for concurrent use, as are several of one
// name. A Spend takes two loads and a swap, and as many again whenever another was faster.
type Budget struct {
	limit Guarantee
	by    *lossFilter // nil: levels add up
	store Store
	name  string
}

// BudgetOptions are for [NewBudget]. nil and the zero value are the defaults.
type BudgetOptions struct {
	// Store keeps what is spent. nil: it is kept in memory, and a new Budget is unspent.
	Store Store
	// Name tells the budgets of one Store apart, as in "ann 2026". Whose it is and
	// for how long is for the caller to say; a Store needs a name, of valid UTF-8.
	Name string
	// ByLoss makes the budget count Rényi divergences, for a limit with a delta that reaches to a distance
	// ([Guarantee.Within]): all releases together keep the limit between inputs up to that far apart, also
	// where outputs decide what is released next. Of a limit of 5 there and delta 1e-6 that is 79 releases
	// of 0.1, in place of 50, but fewer large ones. Half of the delta is what it costs. Of mechanisms and
	// times that are fixed before [Composition.CertifyAt] grants more.
	ByLoss bool
}

// ErrBudget reports a release that would exceed the limit of a [Budget]. Its message tells what was
// asked and what was left.
var ErrBudget = errors.New("the budget is spent")

func overspent(asked Guarantee, left Allowance) error {
	return fmt.Errorf("%s: %w: %s asked, %s", opSpend, ErrBudget, amount(asked), left)
}

// Allowance is a level that may still be spent, and the delta. It is no promise: one of 0
// is nothing left, where a [Guarantee] of 0 is perfect privacy.
type Allowance struct{ Guarantee }

// String is "level 0.125 per km left, by which odds change by at most 1.14 at 1 km", or "nothing left".
// The level is in all digits, as of two that differ in the last one may be refused. Odds are between
// inputs 1 unit apart, or as far as the reach; the delta comes on top.
func (a Allowance) String() string {
	if a.alpha == 0 && a.delta == 0 {
		return "nothing left"
	}
	d := 1.0
	if a.reach != 0 {
		d = a.reach
	}
	eps, _ := a.At(d)
	return fmt.Sprintf("%s left, by which odds change by at most %s at %s", amount(a.Guarantee), outward(directed.ExpUp(eps), 3, true), fault.Quantity(d, 6, a.unit))
}

// amount is a level in all digits.
func amount(g Guarantee) string {
	s := "level " + strconv.FormatFloat(g.Alpha(), 'g', -1, 64) + " per " + cmp.Or(string(g.unit), "unit")
	if g.reach != 0 {
		s += " up to " + fault.Quantity(g.reach, 6, g.unit)
	}
	if g.delta != 0 {
		s += fmt.Sprintf(" and delta %v", g.delta)
	}
	return s
}

// NewBudget returns a budget of the given limit, which must promise something (else a
// [*metric.ValueError]). Where the Store has a budget of the same name, what that spent is spent: a new
// limit may be higher or lower, in the same unit, and with ByLoss outputs must not decide which. Other
// errors are those of the Store, and a Store without a Name.
func NewBudget(limit Guarantee, o *BudgetOptions) (*Budget, error) {
	const op = "mechanism: NewBudget"
	if err := cmp.Or(fault.NonNegative(op, "limit.Alpha()", limit.Alpha()), fault.Delta(op, "limit.Delta()", limit.delta),
		fault.Name(op, "limit.Unit()", string(limit.unit))); err != nil {
		return nil, err
	}
	opt := BudgetOptions{}
	if o != nil {
		opt = *o
	}
	if !utf8.ValidString(opt.Name) {
		return nil, errText(op, "Name", opt.Name)
	}
	b := &Budget{limit: limit, store: opt.Store, name: opt.Name}
	if opt.ByLoss {
		switch {
		case limit.delta == 0 || limit.alpha == 0:
			return nil, fault.Value(op, "limit.Delta()", limit.delta, "a number > 0, and a level > 0, with ByLoss")
		case limit.reach == 0:
			return nil, fault.Value(op, "limit.Reach()", limit.Reach(), "a distance by Guarantee.Within, with ByLoss")
		}
		b.by = newLossFilter(limit)
	}
	if opt.Store == nil {
		b.store = newMemory()
	} else if opt.Name == "" {
		return nil, fmt.Errorf("%s: a Store and no Name", op)
	}
	if _, _, err := b.load(op); err != nil {
		return nil, err
	}
	return b, nil
}

// spending is what a budget spent: exact sums of all levels and of all deltas.
type spending struct {
	alpha, delta *big.Float
	by           *lossFilter // the one that counted
}

// spendingRecord is it in the store. Sums are in hexadecimal, which takes
// microseconds; decimals of so many digits take milliseconds.
type spendingRecord struct {
	Unit  metric.Unit `json:"unit"`
	Alpha string      `json:"alpha"`
	Delta string      `json:"delta"`
	Loss  *lossFilter `json:"loss,omitempty"`
	Last  string      `json:"last,omitempty"` // tells records of equal sums apart
}

// sumBits hold any sum of fewer than 2^60 float64 exactly.
const sumBits = 1024 + 1074 + 60

func newSum(v float64) *big.Float { return new(big.Float).SetPrec(sumBits).SetFloat64(v) }

// load returns what is spent, and its record.
func (b *Budget) load(op string) (rec record, s spending, err error) {
	rec, err = loadHashed(op, b.store, "budget", b.name)
	if err != nil {
		return rec, s, err
	}
	if rec.value == nil {
		return rec, spending{newSum(0), newSum(0), b.by}, nil
	}
	var r spendingRecord
	if err := json.Unmarshal(rec.body, &r); err != nil {
		return rec, s, fmt.Errorf("%s: %w: %s: %w", op, ErrRecord, rec.key, err)
	}
	sum := func(text string) *big.Float {
		v, _, bad := big.ParseFloat(text, 0, sumBits, big.ToNearestEven)
		if bad != nil || v.Sign() < 0 || v.IsInf() {
			err = fmt.Errorf("%s: %w: %s: a sum of %.40q", op, ErrRecord, rec.key, text)
		}
		return v
	}
	s = spending{sum(r.Alpha), sum(r.Delta), r.Loss} // the filter of another limit
	switch {
	case err != nil:
	case r.Unit != b.limit.unit:
		err = fmt.Errorf("%s: %w: %q, and what is spent is in %q", op, ErrUnit, b.limit.unit, r.Unit)
	case (r.Loss == nil) != (b.by == nil) || b.by != nil && b.by.Reach != r.Loss.Reach:
		err = fmt.Errorf("%s: %w: %s: ByLoss or the limit's Reach is another than that of what is spent", op, ErrRecord, rec.key)
	case b.by != nil && !(r.Loss.Order > 0 && r.Loss.Order <= math.MaxFloat64):
		err = fmt.Errorf("%s: %w: %s: an order of %v", op, ErrRecord, rec.key, r.Loss.Order)
	}
	return rec, s, err
}

// most is what costs may add up to: the limit, or that of the filter.
func (b *Budget) most(s spending) Guarantee {
	if s.by == nil {
		return b.limit
	}
	return s.by.most(b.limit)
}

// add is s with g, or the error of [Budget.Spend].
func (b *Budget) add(op string, s spending, g Guarantee) (spending, error) {
	if g.set && g.unit != b.limit.unit {
		return s, fmt.Errorf("%s: %w: %q and %q", op, ErrUnit, b.limit.unit, g.unit)
	}
	if g.Reach() < b.limit.Reach() {
		return s, fault.Value(op, "g.Reach()", g.Reach(), fmt.Sprintf("at least the limit's, %v", b.limit.Reach()))
	}
	cost, most := g.Alpha(), b.most(s)
	if s.by != nil {
		cost = s.by.cost(cost)
	}
	if !(cost <= most.alpha) { // +Inf has no sum
		return s, overspent(g, b.left(s))
	}
	next := spending{newSum(cost), newSum(g.delta), s.by}
	next.alpha.Add(next.alpha, s.alpha)
	next.delta.Add(next.delta, s.delta)
	if next.alpha.Cmp(newSum(most.alpha)) > 0 || next.delta.Cmp(newSum(most.delta)) > 0 {
		return s, overspent(g, b.left(s))
	}
	return next, nil
}

// up is the sum rounded up.
func up(sum *big.Float) float64 {
	v, side := sum.Float64()
	if side == big.Below {
		v = directed.Next(v)
	}
	return v
}

// guarantee is what is spent, rounded up, as far as the limit reaches.
func (b *Budget) guarantee(s spending) Guarantee {
	g := b.limit
	g.alpha, g.delta = up(s.alpha), min(1, up(s.delta))
	if s.by != nil && (g.alpha > 0 || g.delta > 0) {
		g.alpha = directed.DivUp(directed.AddUp(g.alpha, s.by.rest(b.limit)), g.reach)
		g.delta = min(1, directed.AddUp(g.delta, b.limit.delta/2))
	}
	return g
}

// left is what may be spent, rounded down.
func (b *Budget) left(s spending) Allowance {
	g, most := b.limit, b.most(s)
	g.alpha = max(0, directed.SubDown(most.alpha, up(s.alpha)))
	g.delta = max(0, directed.SubDown(most.delta, up(s.delta)))
	if s.by != nil {
		g.alpha = s.by.level(g.alpha)
	}
	return Allowance{g}
}

func (b *Budget) check(op string) error {
	return fault.Made(b != nil && b.store != nil, op, "Budget", "NewBudget")
}

const opSpend = "mechanism: Budget.Spend"

// Spend takes g from the budget, or returns [ErrBudget] and takes nothing. Call
// it before the release: after any other error, one of the Store, g may be spent and
// must not be released. A store that refuses a thousand swaps is one. A g in another unit is
// [ErrUnit]; one that reaches less far than the limit is refused.
func (b *Budget) Spend(g Guarantee) error {
	const op = opSpend
	if err := b.check(op); err != nil {
		return err
	}
	last := unique() // one for all attempts: each replaces a record that none of them made
	for attempt := range tries {
		rec, s, err := b.load(op)
		if err != nil {
			return err
		}
		next, err := b.add(op, s, g)
		if err != nil {
			return err
		}
		body, err := json.Marshal(spendingRecord{b.limit.unit, next.alpha.Text('p', 0), next.delta.Text('p', 0), next.by, last})
		if err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
		if ok, err := rec.swap(op, body); ok || err != nil {
			return err
		}
		pause(attempt)
	}
	return fmt.Errorf("%s: %w", op, errBusy)
}

// affords is the error that Spend would return, and takes nothing.
func (b *Budget) affords(g Guarantee) error {
	_, s, err := b.load(opSpend)
	if err == nil {
		_, err = b.add(opSpend, s, g)
	}
	return err
}

// Spent is the guarantee of all that was released so far, together; at level 0 that is
// nothing. With ByLoss it holds where outputs did not decide what was released, nor when it is
// asked for; else the limit does. The error is one of the Store.
func (b *Budget) Spent() (Guarantee, error) {
	return ask(b, "mechanism: Budget.Spent", b.guarantee)
}

// Left is what the next release may ask for. The error is one of the Store.
func (b *Budget) Left() (Allowance, error) {
	return ask(b, "mechanism: Budget.Left", b.left)
}

// ask is what f makes of what is spent.
func ask[T any](b *Budget, op string, f func(spending) T) (t T, err error) {
	if err := b.check(op); err != nil {
		return t, err
	}
	_, s, err := b.load(op)
	if err != nil {
		return t, err
	}
	return f(s), nil
}

// String gives the limit.
func (b *Budget) String() string {
	if err := b.check("mechanism: Budget"); err != nil {
		return err.Error()
	}
	return "budget, " + b.limit.String()
}

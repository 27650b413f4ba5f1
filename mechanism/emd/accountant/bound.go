package accountant

import (
	"fmt"

	"github.com/metricdp/metricdp/internal/fault"
)

// Bound is the answer to a question, rounded to the safe side: a level or a delta up, the
// level that a randomizer may have down.
type Bound struct {
	Value   float64 // a level per unit, but for [Moved] in all; or a delta
	Theorem Theorem // that proves it
}

// Theorem names what proves a figure.
type Theorem int

const (
	// PureComposition adds the levels of the items: Alpha = Items*Alpha0 with Delta = 0.
	PureComposition Theorem = iota + 1
	// Joint changes the items of the user one after another, as IRC24, Theorem 4.3, does, and judges
	// every change at the same threshold, the best for every earth mover's distance. From 2^14 clones on
	// and at levels in [1/16, 4]/Diameter not only clones hide the record that changes: as no output of
	// another may come up exp(Alpha0*Diameter) times as often, not all can come up as seldom as clones do.
	Joint
	// SingleItem is Joint for Items = 1, where it is exact for a record among clones.
	SingleItem
	// Blanket looks at all probabilities of a [Randomizer]. Each output comes up with at least its least
	// probability over all values: that part of another record's draw says nothing of its value, and
	// hides the user's. The items change one by one, each step at a level of its own. Sources: Balle,
	// Bell, Gascon, Nissim, "The privacy blanket of the shuffle model", 2019; Su, Cheng, Wang, arXiv
	// 2504.07414; Takagi, Liew, arXiv 2601.19154.
	Blanket
	// TwoOutputs is for a [Randomizer] with two outputs or two inputs: it bounds the release itself,
	// whatever the values of the other records.
	TwoOutputs
)

var theorems = [...]string{
	PureComposition: "pure composition",
	Joint:           "joint bound",
	SingleItem:      "single item",
	Blanket:         "privacy blanket",
	TwoOutputs:      "two outputs",
}

// String is the name in words.
func (t Theorem) String() string {
	if t < PureComposition || int(t) >= len(theorems) {
		return fmt.Sprintf("Theorem(%d)", int(t))
	}
	return theorems[t]
}

const (
	// maxRecords is where more records stop to count: bounds decrease in N, and
	// their time grows with its root.
	maxRecords = 1 << 40
	// maxNumber bounds Items, so that it is a float64.
	maxNumber = 1 << 53
	// maxLevel bounds the levels of the randomizer, in units of 1/Diameter:
	// exp(-maxLevel) is still a normal float64.
	maxLevel = 700
	// minUnit keeps products of levels and distances normal float64s; minSlack
	// is below every use, and its logarithm far from where e^x is subnormal.
	minUnit, minSlack = 1e-100, 1e-300
)

// slack checks a delta.
func slack(op, arg string, v float64) error {
	if v == 0 || v >= minSlack && v < 1 {
		return nil
	}
	return fault.Value(op, arg, v, "0 or a number in [1e-300, 1)")
}

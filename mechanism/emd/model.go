package emd

import (
	"fmt"
	"iter"
	"math"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// Trust says who may see what a user holds.
type Trust int

const (
	// Local: each user runs the mechanism on its own items and sends the result. Nobody is trusted.
	Local Trust = iota + 1
	// Shuffled: each user makes its items private one by one, and a trusted shuffler publishes the results
	// of all, without names and order. Whoever sees items on their way to it is not in the model.
	Shuffled
	// Central: a curator sees all items of all users and publishes one result, and nothing else.
	Central
)

var trusts = [...]string{Local: "local", Shuffled: "shuffled", Central: "central"}

// String is "local", "shuffled" or "central".
func (t Trust) String() string {
	if t < Local || t > Central {
		return fmt.Sprintf("Trust(%d)", int(t))
	}
	return trusts[t]
}

// Model is the setting of a promise. Neighbors are data sets that differ in one user's items; the
// number of users, and in the bounded case of items of each, is public. Models are comparable values.
type Model struct {
	Trust Trust
	// Users is the number of users in one release, 1 to 2^53; not read in the Local trust, which has one.
	Users int
	// Items is the number of items that every user holds, up to 2^53: the bounded case. 0 is the unbounded
	// one: any number >= 1, users with the same distribution of items being at distance 0.
	Items int
	// Diameter bounds the distance between two items: [Guarantee.UserLevel], Gaussian noise and what
	// shuffling gains rest on it. Where a constructor is given the whole space, 0 stands for its largest
	// distance; everywhere else 0 is an error.
	Diameter float64
	// Unit names the unit of the distance between items, and so of d_EM. Where a constructor is given the
	// space it is the space's ([metric.UnitOf]), and another is [mechanism.ErrUnit].
	Unit metric.Unit
}

// maxNumber keeps the numbers of users and items exact in float64: levels are
// rounded outward.
const maxNumber = 1 << 53

// Bounded reports whether all users hold the same public number of items.
func (m Model) Bounded() bool { return m.Items > 0 }

// String is for people: "central, 1000 users of 20 items, diameter 1 km".
func (m Model) String() string {
	items := "any number of items"
	if m.Bounded() {
		items = fmt.Sprintf("%d items", m.Items)
	}
	users := "one user"
	if m.Trust != Local {
		users = fmt.Sprintf("%d users", m.Users)
	}
	return fmt.Sprintf("%v, %s of %s, diameter %s", m.Trust, users, items, fault.Quantity(m.Diameter, 6, m.Unit))
}

// Check returns m as a [Guarantee] has it, with one user in the Local trust, or what is wrong with it,
// as an error of the call op.
func (m Model) Check(op string) (Model, error) {
	if m.Trust == Local {
		m.Users = 1
	}
	switch {
	case m.Trust < Local || m.Trust > Central:
		return m, fault.Value(op, "Model.Trust", float64(m.Trust), "Local, Shuffled or Central")
	case m.Users < 1 || int64(m.Users) > maxNumber:
		return m, fault.Value(op, "Model.Users", float64(m.Users), "a number in [1, 2^53]")
	case m.Items < 0 || int64(m.Items) > maxNumber:
		return m, fault.Value(op, "Model.Items", float64(m.Items), "a number in [0, 2^53]")
	case !(m.Diameter > 0) || math.IsInf(m.Diameter, 1):
		return m, fault.Value(op, "Model.Diameter", m.Diameter, "a positive number that no distance between two items exceeds")
	}
	return m, nil
}

// CheckBounded refuses a model whose users may hold any number of items, or of more than
// 2^63 items in all, as an error of the call op.
func (m Model) CheckBounded(op string) error {
	if !m.Bounded() {
		return fault.Value(op, "Model.Items", 0, "a number >= 1, the same for all users; emd.NewReduced makes it so by sampling")
	}
	if float64(m.Items)*float64(m.Users) >= 0x1p63 {
		return &fault.SizeError{Op: op, Arg: "Model.Users", Got: m.Users, Want: "fewer than 2^63 items in all"}
	}
	return nil
}

// Users is the data of a release: the items of one user after another, in any order, of exactly one in
// the Local trust. A mechanism keeps no slice that it is given, so a source may reuse one.
type Users[P any] = iter.Seq[[]P]

// One is the data of a single user.
func One[P any](items []P) Users[P] {
	return func(yield func([]P) bool) { yield(items) }
}

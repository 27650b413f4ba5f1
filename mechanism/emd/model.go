package emd

import (
	"context"
	"fmt"
	"iter"
	"math"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// Trust says who may see what a user holds.
type Trust int

const (
	// Local: each user runs the mechanism on its own items and sends the
	// result. Nobody is trusted.
	Local Trust = iota + 1
	// Shuffled: each user makes its items private one by one, and a trusted
	// shuffler publishes the results of all, without names and order. Whoever sees
	// items on their way to it, or when they came, is not in the model.
	Shuffled
	// Central: a curator sees all items of all users and publishes one result,
	// and nothing else.
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

// Model is the setting that a mechanism's promise ranges over. Neighbors are
// data sets that differ in one user's items; the number of users, and in the
// bounded case of items of each, is public. Models are comparable values.
type Model struct {
	Trust Trust
	// Users is the number of users whose items enter one release: 1 to 2^53. It
	// is not read in the Local trust, where every release sees one user.
	Users int
	// Items is the number of items that every user holds, up to 2^53: the bounded
	// case. 0 is the unbounded one: any number >= 1, which the promise protects too,
	// users with the same distribution of items being at distance 0.
	Items int
	// Diameter bounds the distance between two items: a positive number, on
	// which [Guarantee.UserLevel], Gaussian noise and what shuffling gains
	// rest. Where a constructor is given the whole space, 0 stands for its
	// largest distance; everywhere else 0 is an error.
	Diameter float64
	// Unit names the unit of the distance between items, and so of d_EM. Where
	// a constructor is given the space it is the space's ([metric.UnitOf]), and
	// another is refused with [mechanism.ErrUnit].
	Unit metric.Unit
}

// maxNumber keeps the numbers of users and items exact in float64: levels are
// rounded outward.
const maxNumber = 1 << 53

// Bounded reports whether all users hold the same public number of items.
func (m Model) Bounded() bool { return m.Items > 0 }

// itemsOf returns how many items a user holds: given, or Items if that is 0.
func (m Model) itemsOf(op, arg string, given int) (int, error) {
	if given == 0 {
		given = m.Items
	}
	if given < 1 || int64(given) > maxNumber || m.Bounded() && given != m.Items {
		return given, fault.Value(op, arg, float64(given), "the number of items of a user")
	}
	return given, nil
}

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
	return fmt.Sprintf("%v, %s of %s, diameter %s", m.Trust, users, items, inWords(m.Diameter, m.Unit))
}

// inWords is a distance with its unit, if it has one.
func inWords(d float64, unit metric.Unit) string {
	return fault.Quantity(d, 6, unit)
}

// check returns m with Users filled in, or says what is wrong with it.
func (m Model) check(op string) (Model, error) {
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

// checkOn is check on space, whose distances it returns: see Model.Diameter.
func (m Model) checkOn(ctx context.Context, op string, space metric.Finite) (Model, distances, error) {
	known := m
	if m.Diameter == 0 {
		known.Diameter = 1 // as good as any, until the distances are read
	}
	if _, err := known.check(op); err != nil {
		return m, distances{}, err
	}
	e, err := distancesOf(ctx, op, space)
	if err != nil {
		return m, e, err
	}
	if m.Unit, err = fault.Unit(op, m.Unit, metric.UnitOf(space)); err != nil {
		return m, e, err
	}
	if m.Diameter == 0 {
		m.Diameter = e.diameter
	}
	if m, err = m.check(op); err == nil && e.diameter > m.Diameter {
		err = m.tooNarrow(op, e.diameter, e.far[0], e.far[1])
	}
	return m, e, err
}

// checkBounded refuses a model whose users may hold any number of items.
func (m Model) checkBounded(op string) error {
	if !m.Bounded() {
		return fault.Value(op, "Model.Items", 0, "a number >= 1, the same for all users; NewReduced makes it so by sampling")
	}
	if float64(m.Items)*float64(m.Users) >= 0x1p63 {
		return &fault.SizeError{Op: op, Arg: "Model.Users", Got: m.Users, Want: "fewer than 2^63 items in all"}
	}
	return nil
}

// tooNarrow reports items i and j at a distance d above the diameter.
func (m Model) tooNarrow(op string, d float64, i, j int) error {
	return fmt.Errorf("%s: points %d and %d of the space are at distance %v, above the model's diameter %v", op, i, j, d, m.Diameter)
}

// otherUnit reports something in another unit than the model's.
func (m Model) otherUnit(op, what string, unit metric.Unit) error {
	advice := "bring both to one unit"
	switch {
	case m.Unit == "":
		advice = "set Model.Unit"
	case unit == "":
		advice = fmt.Sprintf("name the unit of the %s where it is made", what)
	}
	return fmt.Errorf("%s: %w: %s %q and model %q: %s", op, mechanism.ErrUnit, what, unit, m.Unit, advice)
}

// Users is the data of a release: the items of one user after another, in any
// order. In the Local trust it yields exactly one user. A mechanism keeps no
// slice that it is given, so a source may reuse one.
type Users[P any] = iter.Seq[[]P]

// One is the data of a single user.
func One[P any](items []P) Users[P] {
	return func(yield func([]P) bool) { yield(items) }
}

// anyNumber in place of Model.Users lets [each] pass any number of users >= 1.
const anyNumber = 0

// each calls f with the items of every user, checked against the model.
func each[P any](op string, m Model, data Users[P], f func(user int, items []P) error) error {
	if data == nil {
		return fault.Empty(op, "data", 0)
	}
	var err error
	count := 0
	data(func(items []P) bool {
		switch {
		case count == m.Users && m.Users != anyNumber:
			err = fmt.Errorf("%s: more users than the model's %d", op, m.Users)
		case len(items) == 0:
			err = fmt.Errorf("%s: user %d has no items", op, count)
		case m.Bounded() && len(items) != m.Items:
			err = fmt.Errorf("%s: user %d has not the model's %d items", op, count, m.Items)
		default:
			err = f(count, items)
			count++
		}
		return err == nil
	})
	if err == nil && count == 0 {
		return fault.Empty(op, "data", 0)
	}
	if err == nil && count < m.Users {
		err = fmt.Errorf("%s: %d users, not the model's %d", op, count, m.Users)
	}
	return err
}

package emd

import (
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
)

// Counts is what a [Frequencies] publishes: how often each output came up. The zero value
// is that of nobody, to merge others into. Not safe for concurrent use while it changes.
// Outside the Local trust, counts of a part of the model's users do not have the promise of
// all: fewer items hide a user less.
type Counts struct {
	n            []int64
	users, items int64
}

// NewCounts returns the counts n of the outputs of that many users >= 1, as
// from [ItemWise.Release], whose outputs are numbered as those of
// [NewFrequencies]. n is copied. A negative entry, a total of 0 or of no whole
// number of items per user is a [*metric.ValueError].
func NewCounts(n []int64, users int64) (*Counts, error) {
	const op = "emd: NewCounts"
	if users < 1 {
		return nil, fault.Value(op, "users", float64(users), "a number >= 1")
	}
	c := &Counts{n: slices.Clone(n), users: users}
	for y, v := range n {
		if v < 0 || v > math.MaxInt64-c.items {
			return nil, &fault.ValueError{Op: op, Arg: "n", Index: y, Value: float64(v), Want: "a number >= 0, the sum below 2^63"}
		}
		c.items += v
	}
	if c.items == 0 || c.items%users != 0 {
		return nil, fault.Value(op, "sum of n", float64(c.items), "a positive multiple of users")
	}
	return c, nil
}

// Users returns how many users are counted.
func (c *Counts) Users() int64 { return c.users }

// Items returns how many items are counted.
func (c *Counts) Items() int64 { return c.items }

// Outputs returns the number of outputs, 0 in the zero value.
func (c *Counts) Outputs() int { return len(c.n) }

// At returns how often output y came up. It panics where there is none.
func (c *Counts) At(y int) int64 { return c.n[y] }

// Merge adds the counts of other users. Different numbers of outputs, or of
// items per user, are a [*metric.SizeError]; a nil d is [metric.ErrEmpty], and c itself
// an error. All leave c as it is.
func (c *Counts) Merge(d *Counts) error {
	const op = "emd: Counts.Merge"
	switch {
	case d == nil:
		return fault.Empty(op, "Counts", 0)
	case d.users == 0:
		return nil
	case d == c:
		return fmt.Errorf("%s: the Counts themselves, want those of other users", op)
	case c.users == 0:
		*c = Counts{slices.Clone(d.n), d.users, d.items}
		return nil
	case len(c.n) != len(d.n):
		return &fault.SizeError{Op: op, Arg: "outputs", Got: len(d.n), Want: fmt.Sprint(len(c.n))}
	case c.items/c.users != d.items/d.users:
		return &fault.SizeError{Op: op, Arg: "items per user", Got: int(d.items / d.users), Want: fmt.Sprint(c.items / c.users)}
	case d.items > math.MaxInt64-c.items:
		return &fault.SizeError{Op: op, Arg: "items", Got: int(d.items), Want: "a sum below 2^63"}
	}
	for y, v := range d.n {
		c.n[y] += v
	}
	c.users += d.users
	c.items += d.items
	return nil
}

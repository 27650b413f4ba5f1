package measure

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/metricdp/metricdp/internal/fault"
)

// Counts are the numbers of records in the cells of a domain: all that a
// release needs to know of a data set, in memory that does not depend on the
// number of records. Data sets too large for one machine are counted in parts,
// anywhere, and merged; the result is that of one pass.
//
// Counts are as private as the records, encoded or not. What may be published
// is what a [Synthesizer] releases, once: two releases of the same counts spend
// the budget twice.
//
// A Counts is safe for concurrent use. Of a lazy domain it is a map of the
// cells that are not empty.
type Counts[P any] struct {
	d *Domain[P]

	dense   []int64 // by cell; nil for a lazy domain
	total   atomic.Int64
	skipped atomic.Bool // records without a cell were left out, or would have been

	mu     sync.Mutex
	sparse map[int]int64 // of a lazy domain
}

// ErrMismatch reports counts of another domain, or bytes that are no counts.
var ErrMismatch = errors.New("counts do not belong to this domain")

// ErrSkipped reports counts made with CountOptions.SkipErrors where
// [ReplaceOne] would publish how many records they hold.
var ErrSkipped = errors.New("counts made with SkipErrors have a private number of records, which ReplaceOne would publish: use AddRemoveOne, or give every record a cell")

// NewCounts returns empty counts of d's cells. 8 bytes a cell.
func (d *Domain[P]) NewCounts() *Counts[P] {
	c := &Counts[P]{d: d}
	if d.tree == nil {
		c.sparse = make(map[int]int64)
	} else {
		c.dense = make([]int64, d.cells)
	}
	return c
}

// String names the domain and nothing of what was counted, which is private.
func (c *Counts[P]) String() string { return fmt.Sprintf("private counts in a %v", c.d) }

// Domain returns the domain.
func (c *Counts[P]) Domain() *Domain[P] { return c.d }

// Len returns the number of records. It is private where records may be added,
// removed or skipped.
func (c *Counts[P]) Len() int { return int(c.total.Load()) }

// Add counts a record. The error is that of [Domain.Cell]; nothing is counted
// then. Whoever goes on without the record has skipped it, as
// CountOptions.SkipErrors does, and must release under [AddRemoveOne]: here it is
// not checked. O(cost of Cell), without allocation.
func (c *Counts[P]) Add(p P) error { return c.AddN(p, 1) }

// AddN counts n >= 0 records that are all p, or share its cell: a row of a table
// that was grouped elsewhere. The errors are those of [Counts.Add], and a
// [*metric.ValueError] if n is negative or the sum passes 2^63-1.
func (c *Counts[P]) AddN(p P, n int64) error {
	cell, err := c.d.locate(p)
	if err != nil {
		return err
	}
	if n < 0 || c.total.Load() > math.MaxInt64-n {
		return &fault.ValueError{Op: "measure: Counts.AddN", Arg: "n", Index: -1, Value: float64(n), Want: "a number >= 0, and a sum below 2^63"}
	}
	if n > 0 { // a cell of nothing is no cell of a lazy domain
		c.add(cell, n)
	}
	return nil
}

func (c *Counts[P]) add(cell int, n int64) {
	c.total.Add(n)
	if c.dense != nil {
		atomic.AddInt64(&c.dense[cell], n)
		return
	}
	c.mu.Lock()
	c.sparse[cell] += n
	c.mu.Unlock()
}

// Merge adds the counts of o, which are of the same domain or of one made
// elsewhere by the same call ([ErrMismatch] otherwise). Where o was made with
// CountOptions.SkipErrors, c counts as made so from then on. o must not change
// meanwhile.
func (c *Counts[P]) Merge(o *Counts[P]) error {
	if c.d.id != o.d.id {
		return fmt.Errorf("measure: Counts.Merge: %w", ErrMismatch)
	}
	if c.total.Load() > math.MaxInt64-o.total.Load() {
		return &fault.ValueError{Op: "measure: Counts.Merge", Arg: "o.Len()", Index: -1, Value: float64(o.Len()), Want: "a sum below 2^63"}
	}
	if o.skipped.Load() {
		c.skipped.Store(true)
	}
	for _, cell := range o.cells() {
		c.add(cell, o.at(cell))
	}
	return nil
}

// cells returns the cells that are not empty, ascending.
func (c *Counts[P]) cells() []int {
	var cells []int
	for cell, n := range c.dense {
		if n != 0 {
			cells = append(cells, cell)
		}
	}
	for cell := range c.sparse {
		cells = append(cells, cell)
	}
	slices.Sort(cells)
	return cells
}

func (c *Counts[P]) at(cell int) int64 {
	if c.dense != nil {
		return c.dense[cell]
	}
	return c.sparse[cell]
}

// Encoded counts: the magic, whose last byte is the version; the id of the
// domain; a byte that is 1 where records may have been skipped, else 0; how many
// cells are not empty, and for each the number of cells passed over and the
// count, as uvarints.
const countsMagic = "mdpcnt\x00\x02"

// MarshalBinary implements encoding.BinaryMarshaler. The bytes are as private
// as the records. The counts must not change meanwhile.
func (c *Counts[P]) MarshalBinary() ([]byte, error) {
	cells := c.cells()
	b := append([]byte(countsMagic), c.d.id[:]...)
	skipped := byte(0)
	if c.skipped.Load() {
		skipped = 1
	}
	b = append(b, skipped)
	b = binary.AppendUvarint(b, uint64(len(cells)))
	next := 0
	for _, cell := range cells {
		b = binary.AppendUvarint(b, uint64(cell-next))
		b = binary.AppendUvarint(b, uint64(c.at(cell)))
		next = cell + 1
	}
	return b, nil
}

// UnmarshalBinary implements encoding.BinaryUnmarshaler. It replaces c, which
// must come from [Domain.NewCounts]: the domain knows what the bytes should
// hold, and bytes of another domain, or damaged ones, are [ErrMismatch] and leave
// c as it is.
func (c *Counts[P]) UnmarshalBinary(b []byte) error {
	const op = "measure: Counts.UnmarshalBinary"
	if c.d == nil {
		return fmt.Errorf("%s: %w: counts must come from NewCounts", op, ErrMismatch)
	}
	head := append([]byte(countsMagic), c.d.id[:]...)
	if len(b) <= len(head) || string(b[:len(head)]) != string(head) {
		return fmt.Errorf("%s: %w", op, ErrMismatch)
	}
	skipped := b[len(head)]
	if skipped > 1 {
		return fmt.Errorf("%s: %w: damaged", op, ErrMismatch)
	}
	b = b[len(head)+1:]
	read := func() uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			b = nil
			return math.MaxUint64 // no field may be that large
		}
		b = b[n:]
		return v
	}
	entries := read()
	if entries > uint64(len(b))/2 {
		return fmt.Errorf("%s: %w: truncated", op, ErrMismatch)
	}
	fresh := c.d.NewCounts()
	next, total := 0, uint64(0)
	for range entries {
		gap, n := read(), read()
		if gap >= uint64(c.d.cells-next) || n == 0 || n > math.MaxInt64-total {
			return fmt.Errorf("%s: %w: damaged", op, ErrMismatch)
		}
		fresh.add(next+int(gap), int64(n))
		next += int(gap) + 1
		total += n
	}
	if len(b) > 0 {
		return fmt.Errorf("%s: %w: %d bytes too many", op, ErrMismatch, len(b))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dense, c.sparse = fresh.dense, fresh.sparse
	c.total.Store(int64(total))
	c.skipped.Store(skipped == 1)
	return nil
}

package measure

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"sync"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
)

// Counts are the numbers of records in the cells of a domain: all that a release needs to know of a
// data set, and as private as the records, encoded or not. Two releases of the same counts spend
// the budget twice. Safe for concurrent use. The zero value is refused.
type Counts[P any] struct {
	d     *domain.Domain[P]
	space *region.Space[P] // of d

	mu     sync.Mutex
	runs   runs
	recent []int // cells of single records that are in no run yet, up to a batch
	total  int64
	marks
}

// marks say how records were counted, and nothing of what they are.
type marks struct {
	skipped bool // records without a cell were left out, or would have been
	loose   bool // one person may have any number of these records
	most    int  // of those that are not loose, so many may be; 0 where there are none
}

// ErrMismatch reports counts of another domain, or bytes that are no counts.
var ErrMismatch = errors.New("counts do not belong to this domain")

// ErrSkipped reports counts made with CountOptions.SkipErrors, or after an Add that failed, under
// [ReplaceOne].
var ErrSkipped = errors.New("counts made with SkipErrors, or after an error of Add, have a private number of records, which ReplaceOne would publish: use AddRemoveOne, or give every record a cell")

// NewCounts returns empty counts of d's cells. They take 16 to 32 bytes for each cell with records.
func NewCounts[P any](d *domain.Domain[P]) *Counts[P] {
	return fault.Must(newCounts("measure: NewCounts", d))
}

func newCounts[P any](op string, d *domain.Domain[P]) (*Counts[P], error) {
	space, err := region.Of[P](op, d)
	return &Counts[P]{d: d, space: space}, err
}

func (c *Counts[P]) check(op string) error {
	if err := fault.Made(c != nil && c.d != nil, op, "Counts", "NewCounts, Count or CountAll"); err != nil {
		return fmt.Errorf("%w: %w", err, ErrMismatch)
	}
	return nil
}

// String names the domain and nothing of what was counted, which is private.
func (c *Counts[P]) String() string {
	if c.check("") != nil {
		return "counts in no domain"
	}
	return fmt.Sprintf("private counts in a %v", c.d)
}

// Domain returns the domain.
func (c *Counts[P]) Domain() *domain.Domain[P] {
	return fault.Must(c, c.check("measure: Counts.Domain")).d
}

// Len returns the number of records. It is private where records may be added, removed or skipped.
func (c *Counts[P]) Len() int {
	fault.Must(c, c.check("measure: Counts.Len"))
	c.mu.Lock()
	defer c.mu.Unlock()
	return int(min(c.total, math.MaxInt))
}

// Add counts a record. The error is that of [domain.Domain.Cell]; nothing is counted then, and the
// counts are marked as by CountOptions.SkipErrors. O(cost of Cell + log Len()), in the mean over
// many calls.
func (c *Counts[P]) Add(p P) error { return c.AddN(p, 1) }

// AddN counts n >= 0 records that share the cell of p. The errors are those of [Counts.Add], and a
// [*metric.ValueError] if n is negative or the sum exceeds 2^63-1.
func (c *Counts[P]) AddN(p P, n int64) error {
	if err := c.check("measure: Counts.AddN"); err != nil {
		return err
	}
	cell, err := c.space.Locate(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.loose = true
	if err == nil {
		err = c.add(cell, n)
	}
	if err != nil {
		c.skipped = true
	}
	return err
}

// add adds to a cell, for a caller that holds mu or is alone in knowing c.
func (c *Counts[P]) add(cell int, n int64) error {
	if n < 0 || n > math.MaxInt64-c.total {
		return fault.Private(fault.Value("measure: Counts.AddN", "n", float64(n), "a number >= 0, and a sum below 2^63"))
	}
	switch c.total += n; {
	case n > 1:
		c.runs = c.runs.add(run{[]int{cell}, []int64{n}})
	case n == 1:
		if c.recent = append(c.recent, cell); len(c.recent) == batch {
			c.settle()
		}
	}
	return nil
}

// settle makes a run of recent cells.
func (c *Counts[P]) settle() {
	if len(c.recent) > 0 {
		c.runs, c.recent = c.runs.add(newRun(c.recent)), c.recent[:0]
	}
}

// Merge adds the counts of o, of the same domain or one made elsewhere by the same call
// ([ErrMismatch] otherwise), and not c itself. The mark of CountOptions.SkipErrors goes over to c.
// No two counts by person may have a person in common: nothing here can tell.
func (c *Counts[P]) Merge(o *Counts[P]) error {
	const op = "measure: Counts.Merge"
	if err := c.check(op); err != nil {
		return err
	}
	if err := o.check(op); err != nil {
		return err
	}
	if o == c {
		return fault.Twice(op, "counts")
	}
	if err := same(op, o.space, c.space); err != nil {
		return err
	}
	return c.merge(op, "o.Len()", o.snapshot())
}

// same refuses to have what was counted in one domain taken for counts in another.
func same[P any](op string, in, to *region.Space[P]) error {
	if in.ID == to.ID {
		return nil
	}
	from, here := in.Identity.String(), to.Identity.String()
	if from == here {
		here += ", of other bounds, points or distances"
	}
	return fmt.Errorf("%s: %w: counted in a %s, not in this %s", op, ErrMismatch, from, here)
}

// merge adds all that s holds, or nothing: arg is what makes the sum too large.
func (c *Counts[P]) merge(op, arg string, s snapshot) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s.total > math.MaxInt64-c.total {
		return fault.Private(fault.Value(op, arg, float64(s.total), "a sum below 2^63"))
	}
	c.runs = c.runs.add(s.run)
	c.total += s.total
	c.skipped = c.skipped || s.skipped
	c.loose = c.loose || s.loose
	c.most = max(c.most, s.most)
	return nil
}

// snapshot is what counts hold at one moment.
type snapshot struct {
	run
	total int64
	marks
}

func (c *Counts[P]) snapshot() snapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.settle()
	c.runs = runs{c.runs.all()}
	return snapshot{c.runs[0], c.total, c.marks}
}

// Encoded counts: the magic, whose last byte is the version; the domain's id; a byte to which 1 is
// added where records may have been skipped, and 2 where they are loose; then as shortest uvarints
// how many may be one person's, how many cells are not empty, and for each the number of cells
// passed over and the count; and CRC-32C of all that, little endian.
const (
	countsMagic = "mdpcnt\x00\x04"
	countsHead  = len(countsMagic) + region.IDSize + 1
)

// castagnoli finds every change of at most three bits, and of one run of 32.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// MarshalBinary implements encoding.BinaryMarshaler. The bytes are as private as the records.
func (c *Counts[P]) MarshalBinary() ([]byte, error) {
	if err := c.check("measure: Counts.MarshalBinary"); err != nil {
		return nil, err
	}
	s := c.snapshot()
	b := append([]byte(countsMagic), c.space.ID[:]...)
	how := byte(0)
	if s.skipped {
		how++
	}
	if s.loose {
		how += 2
	}
	b = append(b, how)
	b = binary.AppendUvarint(b, uint64(s.most))
	b = binary.AppendUvarint(b, uint64(len(s.cells)))
	next := 0
	for i, cell := range s.cells {
		b = binary.AppendUvarint(b, uint64(cell-next))
		b = binary.AppendUvarint(b, uint64(s.n[i]))
		next = cell + 1
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli)), nil
}

// MarshalJSON is always an error: counts have no form in JSON.
func (*Counts[P]) MarshalJSON() ([]byte, error) {
	return nil, errors.New("measure: Counts.MarshalJSON: counts have no form in JSON: use MarshalBinary")
}

// UnmarshalJSON is always an error: see MarshalJSON.
func (*Counts[P]) UnmarshalJSON([]byte) error {
	return errors.New("measure: Counts.UnmarshalJSON: counts have no form in JSON: use UnmarshalBinary")
}

// UnmarshalBinary implements encoding.BinaryUnmarshaler. It replaces c, which must come from
// [NewCounts]; bytes of another domain, or damaged ones, are [ErrMismatch] and leave c as it is.
// The checksum is no signature. Memory is linear in len(b).
func (c *Counts[P]) UnmarshalBinary(b []byte) error {
	const op = "measure: Counts.UnmarshalBinary"
	if err := c.check(op); err != nil {
		return err
	}
	bad := func(why string) error { return fmt.Errorf("%s: %w: %s", op, ErrMismatch, why) }
	const magic = len(countsMagic) - 1
	switch sum := len(b) - crc32.Size; {
	case sum <= countsHead:
		return bad(fmt.Sprintf("%d bytes are no encoded counts", len(b)))
	case string(b[:magic]) != countsMagic[:magic]:
		return bad("no encoded counts")
	case b[magic] != countsMagic[magic]:
		return bad(fmt.Sprintf("format %d of counts, want %d", b[magic], countsMagic[magic]))
	case binary.LittleEndian.Uint32(b[sum:]) != crc32.Checksum(b[:sum], castagnoli):
		return bad("the checksum is wrong: truncated or damaged")
	case [region.IDSize]byte(b[magic+1:]) != c.space.ID:
		return bad(fmt.Sprintf("the bytes are of another domain than this %v", c.d))
	case b[countsHead-1] > 3:
		return bad("damaged")
	default:
		b = b[:sum]
	}
	s, ok := decodeCells(b[countsHead:], c.space.Cells)
	s.skipped, s.loose = b[countsHead-1]&1 > 0, b[countsHead-1]&2 > 0
	if !ok || s.total > 0 && !s.loose && s.most == 0 {
		return bad("damaged")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runs, c.recent = runs{s.run}, nil
	c.total, c.marks = s.total, s.marks
	return nil
}

// decodeCells returns what b encodes after the head; ok reports whether b is valid.
func decodeCells(b []byte, cells int) (s snapshot, ok bool) {
	ok = true
	read := func() uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 || n > 1 && b[n-1] == 0 { // cut off, too large, or longer than need be
			ok = false
			return 0
		}
		b = b[n:]
		return v
	}
	most, next := read(), 0
	s.most = int(min(most, region.MostPerPerson))
	for entries := read(); ok && entries > 0; entries-- {
		gap, n := read(), read()
		if !ok || gap >= uint64(cells-next) || n == 0 || n > uint64(math.MaxInt64-s.total) {
			return s, false
		}
		s.cells, s.n = append(s.cells, next+int(gap)), append(s.n, int64(n))
		s.total += int64(n)
		next += int(gap) + 1
	}
	return s, ok && most <= region.MostPerPerson && len(b) == 0
}

package emd

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// claim is a guarantee in JSON.
type claim struct {
	Trust    string      `json:"trust,omitempty"`
	Users    int         `json:"users,omitempty"` // none in the local trust
	Items    int         `json:"items,omitempty"` // none: any number
	Diameter float64     `json:"diameter,omitempty"`
	Unit     metric.Unit `json:"unit,omitempty"`
	Radius   float64     `json:"radius,omitempty"` // of a discrete promise
	Eps      *float64    `json:"eps,omitempty"`    // of a discrete promise; none: promises nothing
	Alpha    *float64    `json:"alpha,omitempty"`  // of one per unit; none: promises nothing
	Delta    float64     `json:"delta,omitempty"`
	Reach    float64     `json:"reach,omitempty"` // none: all distances
}

// MarshalJSON implements json.Marshaler: the model, and the level in it, as
// {"trust":"central","users":100,"diameter":20,"unit":"km","alpha":0.1}, with
// "items" in a bounded model and "delta" where it is positive. A discrete
// promise has "radius" and "eps" in place of "alpha". The zero Guarantee is {}.
func (g Guarantee) MarshalJSON() ([]byte, error) {
	m := g.model
	if err := fault.Name("emd: Guarantee.MarshalJSON", "unit", string(m.Unit)); err != nil {
		return nil, err
	}
	c := claim{Items: m.Items, Diameter: m.Diameter, Unit: m.Unit, Radius: g.radius, Delta: g.level.Delta()}
	if g != (Guarantee{}) {
		c.Trust = m.Trust.String()
	}
	if m.Trust != Local {
		c.Users = m.Users
	}
	if a := g.level.Alpha(); !math.IsInf(a, 1) {
		if g.radius > 0 {
			c.Eps = &a
		} else {
			c.Alpha = &a
		}
	}
	if r := g.level.Reach(); !math.IsInf(r, 1) {
		c.Reach = r
	}
	return json.Marshal(c)
}

// UnmarshalJSON implements json.Unmarshaler. What is read is a claim of whoever
// wrote it, checked as by [NewGuarantee] and [NewDiscrete]; other names are an
// error, and an error leaves g as it is.
func (g *Guarantee) UnmarshalJSON(b []byte) error {
	const op = "emd: Guarantee.UnmarshalJSON"
	var c claim
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	if err := fault.Name(op, "unit", string(c.Unit)); err != nil {
		return err
	}
	var have Guarantee
	if c != (claim{}) {
		var err error
		if have, err = c.guarantee(op); err != nil {
			return err
		}
	}
	*g = have
	return nil
}

func (c claim) guarantee(op string) (Guarantee, error) {
	trust := Trust(slices.Index(trusts[:], c.Trust))
	switch {
	case trust < Local:
		return Guarantee{}, fmt.Errorf("%s: trust = %.40q, want local, shuffled or central", op, c.Trust)
	case trust == Local && c.Users != 0:
		return Guarantee{}, fault.Value(op, "users", float64(c.Users), "none in the local trust")
	case c.Radius == 0 && c.Eps != nil || c.Radius != 0 && (c.Alpha != nil || c.Reach != 0):
		return Guarantee{}, fmt.Errorf("%s: want radius and eps of a discrete promise, or alpha and reach of one per unit", op)
	}
	model := Model{Trust: trust, Users: c.Users, Items: c.Items, Diameter: c.Diameter, Unit: c.Unit}
	stated := func(level *float64) float64 {
		if level == nil {
			return math.Inf(1)
		}
		return *level
	}
	if c.Radius != 0 {
		return newDiscrete(op, model, c.Radius, DP{stated(c.Eps), c.Delta})
	}
	model, err := model.check(op)
	if err != nil {
		return Guarantee{}, err
	}
	var level mechanism.Guarantee
	if c.Alpha != nil || c.Delta != 0 || c.Unit != "" {
		level, err = mechanism.NewGuarantee(stated(c.Alpha), c.Delta, c.Unit)
	}
	if err == nil && c.Reach != 0 {
		level, err = level.Within(c.Reach)
	}
	if err != nil {
		return Guarantee{}, fmt.Errorf("%s: %w", op, err)
	}
	return Guarantee{level: level, model: model}, nil
}

// Encoded counts and reports: a magic, whose last byte is the version; numbers as
// uvarints, as short as they can be, those of a report's sums zigzag; and CRC-32C of
// all that, little endian. Counts are the number of users, that of outputs, and the
// count of each output; a report the bits of its level, its plan, the numbers of
// users, reports and sums, and the sums.
const (
	countsMagic = "mdpemd\x00\x01"
	reportMagic = "mdpemr\x00\x01"
)

// castagnoli finds every change of at most three bits, and of one run of 32.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// seal appends the checksum.
func seal(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// opened reads the numbers of what was sealed.
type opened struct {
	b       []byte
	damaged bool
}

// unseal checks all but the numbers.
func unseal(op, what, magic string, b []byte) (*opened, error) {
	last, sum := len(magic)-1, len(b)-crc32.Size
	switch {
	case sum <= last || string(b[:last]) != magic[:last]:
		return nil, fmt.Errorf("%s: %d bytes are no encoded %s", op, len(b), what)
	case b[last] != magic[last]:
		return nil, fmt.Errorf("%s: format %d of %s, want %d", op, b[last], what, magic[last])
	case binary.LittleEndian.Uint32(b[sum:]) != crc32.Checksum(b[:sum], castagnoli):
		return nil, fmt.Errorf("%s: the checksum is wrong: truncated or damaged", op)
	}
	return &opened{b: b[last+1 : sum]}, nil
}

// word returns the next number, at most limit; 0 from where there is none.
func (o *opened) word(limit uint64) uint64 {
	v, n := binary.Uvarint(o.b)
	if n <= 0 || n > 1 && o.b[n-1] == 0 || v > limit { // cut off, longer than need be, or too large
		o.damaged, o.b = true, nil
		return 0
	}
	o.b = o.b[n:]
	return v
}

// number returns the next number, an int64 >= 0.
func (o *opened) number() int64 { return int64(o.word(math.MaxInt64)) }

// length returns the next number, of numbers that follow: a byte each or more.
func (o *opened) length() int {
	n := o.number()
	if n > int64(len(o.b)) {
		o.damaged, n = true, 0
	}
	return int(n)
}

// close says whether all was well, and nothing left.
func (o *opened) close(op string) error {
	if o.damaged || len(o.b) > 0 {
		return fmt.Errorf("%s: damaged", op)
	}
	return nil
}

// MarshalBinary implements encoding.BinaryMarshaler. A byte an output or more.
func (c *Counts) MarshalBinary() ([]byte, error) {
	b := binary.AppendUvarint([]byte(countsMagic), uint64(c.users))
	b = binary.AppendUvarint(b, uint64(len(c.n)))
	for _, n := range c.n {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return seal(b), nil
}

// MarshalJSON is always an error: counts have no form in JSON.
func (Counts) MarshalJSON() ([]byte, error) {
	return nil, errors.New("emd: Counts.MarshalJSON: counts have no form in JSON: use MarshalBinary")
}

// UnmarshalJSON is always an error: see MarshalJSON.
func (*Counts) UnmarshalJSON([]byte) error {
	return errors.New("emd: Counts.UnmarshalJSON: counts have no form in JSON: use UnmarshalBinary")
}

// UnmarshalBinary implements encoding.BinaryUnmarshaler. It takes what
// [NewCounts] would; other bytes are an error and leave c as it is. The
// checksum finds damage by accident: bytes that may have been forged need a
// signature. Memory is linear in len(b).
func (c *Counts) UnmarshalBinary(b []byte) error {
	const op = "emd: Counts.UnmarshalBinary"
	o, err := unseal(op, "counts", countsMagic, b)
	if err != nil {
		return err
	}
	users := o.number()
	n := make([]int64, o.length())
	for y := range n {
		n[y] = o.number()
	}
	if err := o.close(op); err != nil {
		return err
	}
	if users == 0 && len(n) == 0 { // nobody
		*c = Counts{}
		return nil
	}
	have, err := NewCounts(n, users)
	if err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	*c = *have
	return nil
}

// MarshalBinary implements encoding.BinaryMarshaler. A byte a sum or more.
func (r *Report) MarshalBinary() ([]byte, error) {
	b := []byte(reportMagic)
	for _, v := range []uint64{math.Float64bits(r.a), uint64(r.plan), uint64(r.users), uint64(r.reports), uint64(len(r.sum))} {
		b = binary.AppendUvarint(b, v)
	}
	for _, s := range r.sum {
		b = binary.AppendVarint(b, s)
	}
	return seal(b), nil
}

// MarshalJSON is always an error: reports have no form in JSON.
func (Report) MarshalJSON() ([]byte, error) {
	return nil, errors.New("emd: Report.MarshalJSON: reports have no form in JSON: use MarshalBinary")
}

// UnmarshalJSON is always an error: see MarshalJSON.
func (*Report) UnmarshalJSON([]byte) error {
	return errors.New("emd: Report.UnmarshalJSON: reports have no form in JSON: use UnmarshalBinary")
}

// UnmarshalBinary implements encoding.BinaryUnmarshaler. Bytes that are no report
// are an error and leave r as it is. The checksum finds damage by accident: bytes
// that may have been forged need a signature, for one report can move a sum at
// will. Memory is linear in len(b).
func (r *Report) UnmarshalBinary(b []byte) error {
	const op = "emd: Report.UnmarshalBinary"
	o, err := unseal(op, "report", reportMagic, b)
	if err != nil {
		return err
	}
	have := Report{a: math.Float64frombits(o.word(math.MaxUint64)), plan: uint32(o.word(math.MaxUint32))}
	have.users, have.reports = o.number(), o.number()
	have.sum = make([]int64, o.length())
	for i := range have.sum {
		u := o.word(math.MaxUint64)
		have.sum[i] = int64(u>>1) ^ -int64(u&1)
	}
	if err := o.close(op); err != nil {
		return err
	}
	if have.users == 0 && have.reports == 0 && have.a == 0 && have.plan == 0 && len(have.sum) == 0 { // nobody
		*r = Report{}
		return nil
	}
	if have.users > maxNumber {
		return fault.Value(op, "users", float64(have.users), "at most 2^53")
	}
	if have.reports < 1 || have.reports > have.users {
		return fault.Value(op, "reports", float64(have.reports), "a number in [1, users]")
	}
	if err := fault.Positive(op, "level", have.a); err != nil {
		return err
	}
	*r = have
	return nil
}

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

// Encoded counts: the magic, whose last byte is the version; the number of
// users, that of outputs, and the count of each output, as uvarints, as short
// as they can be; and CRC-32C of all that, little endian.
const countsMagic = "mdpemd\x00\x01"

// castagnoli finds every change of at most three bits, and of one run of 32.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// MarshalBinary implements encoding.BinaryMarshaler. A byte an output or more.
func (c *Counts) MarshalBinary() ([]byte, error) {
	b := binary.AppendUvarint([]byte(countsMagic), uint64(c.users))
	b = binary.AppendUvarint(b, uint64(len(c.n)))
	for _, n := range c.n {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli)), nil
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
	const magic = len(countsMagic) - 1
	sum := len(b) - crc32.Size
	switch {
	case sum <= magic || string(b[:magic]) != countsMagic[:magic]:
		return fmt.Errorf("%s: %d bytes are no encoded counts", op, len(b))
	case b[magic] != countsMagic[magic]:
		return fmt.Errorf("%s: format %d of counts, want %d", op, b[magic], countsMagic[magic])
	case binary.LittleEndian.Uint32(b[sum:]) != crc32.Checksum(b[:sum], castagnoli):
		return fmt.Errorf("%s: the checksum is wrong: truncated or damaged", op)
	}
	b = b[magic+1 : sum]
	damaged := false
	read := func() int64 {
		v, n := binary.Uvarint(b)
		if n <= 0 || n > 1 && b[n-1] == 0 || v > math.MaxInt64 { // cut off, longer than need be, or too large
			damaged, b = true, nil
			return 0
		}
		b = b[n:]
		return int64(v)
	}
	users, outputs := read(), read()
	if damaged || outputs > int64(len(b)) {
		return fmt.Errorf("%s: damaged", op)
	}
	n := make([]int64, outputs)
	for y := range n {
		n[y] = read()
	}
	switch {
	case damaged || len(b) > 0:
		return fmt.Errorf("%s: damaged", op)
	case users == 0 && outputs == 0: // nobody
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

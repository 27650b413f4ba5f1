package emd

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism/emd/internal/check"
)

// Report holds sums over users: of noisy coordinates, or of how often each output of a randomizer came
// up. The zero value is an empty report, to merge others into. Not safe for concurrent use while it
// changes. Outside the Local trust, a report of a part of the model's users has not the promise of all.
type Report struct {
	Sums    []int64
	Users   int64   // users counted: up to 2^53
	Reports int64   // how many releases it is the sum of: one, or one a user in the Local trust
	Items   int64   // of all users; 0 where each may have any number
	Level   float64 // an integer k of noise has probability prop. to e^(-Level|k|); 0: none
	Plan    uint32  // checksum of the domain and the map; 0: none
}

// Check says what is wrong with the numbers of r: of users, of releases, of items, which all users have
// alike, or of sums without noise, which count these items. The zero value is right.
func (r *Report) Check() error {
	const op = "emd: Report.Check"
	switch {
	case r == nil:
		return fault.Empty(op, "Report", 0)
	case r.Users == 0 && r.Reports == 0 && r.Items == 0 && r.Level == 0 && r.Plan == 0 && len(r.Sums) == 0:
		return nil
	case r.Users < 1 || r.Users > maxNumber:
		return fault.Value(op, "Users", float64(r.Users), "a number in [1, 2^53]")
	case r.Reports < 1 || r.Reports > r.Users:
		return fault.Value(op, "Reports", float64(r.Reports), "a number in [1, Users]")
	case r.Items < 0 || r.Items%r.Users != 0:
		return fault.Value(op, "Items", float64(r.Items), "a multiple of Users")
	case r.Level != 0:
		return fault.Positive(op, "Level", r.Level)
	}
	left := r.Items
	for y, n := range r.Sums {
		if n < 0 || n > left {
			return &fault.ValueError{Op: op, Arg: "Sums", Index: y, Value: float64(n), Want: "a number >= 0, and Items in all"}
		}
		left -= n
	}
	if left > 0 || r.Items == 0 {
		return fault.Value(op, "Items", float64(r.Items), "the sum of Sums, where there is no noise")
	}
	return nil
}

// Merge adds a report of other users, from a mechanism made with the same arguments. Other numbers of
// sums or of items a user are a [*metric.SizeError]; other levels of noise, domains or maps, and a sum
// beyond int64 a [*metric.ValueError]; a nil s, r itself and what [Report.Check] refuses are errors
// too. All leave r as it is.
func (r *Report) Merge(s *Report) error {
	const op = "emd: Report.Merge"
	if s == r && r != nil {
		return fault.Twice(op, "reports")
	}
	for _, x := range [2]*Report{s, r} {
		if err := x.Check(); err != nil {
			return fault.Within(op, err)
		}
	}
	switch {
	case s.Users == 0:
		return nil
	case r.Users == 0:
		*r = *s
		r.Sums = slices.Clone(s.Sums)
		return nil
	case len(r.Sums) != len(s.Sums):
		return &fault.SizeError{Op: op, Arg: "Sums", Got: len(s.Sums), Want: fmt.Sprint(len(r.Sums))}
	case !check.SameLevel(r.Level, s.Level):
		return fault.Value(op, "Level", s.Level, fmt.Sprint(r.Level))
	case r.Plan != s.Plan:
		return fault.Value(op, "Plan", float64(s.Plan), fmt.Sprintf("%d: the reports are about different domains or maps", r.Plan))
	case s.Users > maxNumber-r.Users:
		return fault.Value(op, "Users", float64(s.Users), "at most 2^53 in all")
	case s.Items/s.Users != r.Items/r.Users:
		return &fault.SizeError{Op: op, Arg: "items per user", Got: int(s.Items / s.Users), Want: fmt.Sprint(r.Items / r.Users)}
	case s.Items > math.MaxInt64-r.Items:
		return fault.Value(op, "Items", float64(s.Items), "below 2^63 in all")
	}
	if err := check.AddSums(op, r.Sums, s.Sums); err != nil {
		return err
	}
	r.Users += s.Users
	r.Reports += s.Reports
	r.Items += s.Items
	return nil
}

// reportMagic begins an encoded report; its last byte is the version. Then come numbers as
// uvarints, as short as they can be: the bits of Level, Plan, Users, Reports, Items, the
// number of Sums, and the Sums, zigzag; and CRC-32C of all that, little endian.
const reportMagic = "mdpemd\x00\x02"

func checksum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// MarshalBinary implements encoding.BinaryMarshaler. A byte a sum or more. It refuses what
// [Report.Check] does.
func (r *Report) MarshalBinary() ([]byte, error) {
	if err := r.Check(); err != nil {
		return nil, fault.Within("emd: Report.MarshalBinary", err)
	}
	b := []byte(reportMagic)
	for _, v := range []uint64{math.Float64bits(r.Level), uint64(r.Plan), uint64(r.Users), uint64(r.Reports), uint64(r.Items), uint64(len(r.Sums))} {
		b = binary.AppendUvarint(b, v)
	}
	for _, s := range r.Sums {
		b = binary.AppendVarint(b, s)
	}
	return binary.LittleEndian.AppendUint32(b, checksum(b)), nil
}

// UnmarshalBinary implements encoding.BinaryUnmarshaler. Bytes that are no report are an error and
// leave r as it is. The checksum finds damage by accident only: bytes that may have been forged need a
// signature. Memory is linear in len(b).
func (r *Report) UnmarshalBinary(b []byte) error {
	const op = "emd: Report.UnmarshalBinary"
	last, sum := len(reportMagic)-1, len(b)-crc32.Size
	switch {
	case sum <= last || string(b[:last]) != reportMagic[:last]:
		return fmt.Errorf("%s: %d bytes are no encoded report", op, len(b))
	case b[last] != reportMagic[last]:
		return fmt.Errorf("%s: format %d, want %d", op, b[last], reportMagic[last])
	case binary.LittleEndian.Uint32(b[sum:]) != checksum(b[:sum]):
		return fmt.Errorf("%s: the checksum is wrong: truncated or damaged", op)
	}
	b = b[last+1 : sum]
	damaged := false
	word := func(limit uint64) uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 || n > 1 && b[n-1] == 0 || v > limit { // cut off, longer than need be, or too large
			damaged, b = true, nil
			return 0
		}
		b = b[n:]
		return v
	}
	have := Report{Level: math.Float64frombits(word(math.MaxUint64)), Plan: uint32(word(math.MaxUint32))}
	have.Users, have.Reports, have.Items = int64(word(maxNumber)), int64(word(maxNumber)), int64(word(math.MaxInt64))
	have.Sums = make([]int64, word(uint64(len(b)))) // a byte each or more
	for i := range have.Sums {
		u := word(math.MaxUint64)
		have.Sums[i] = int64(u>>1) ^ -int64(u&1)
	}
	if damaged || len(b) > 0 {
		return fmt.Errorf("%s: damaged", op)
	}
	if err := have.Check(); err != nil {
		return fault.Within(op, err)
	}
	if len(have.Sums) == 0 {
		have.Sums = nil
	}
	*r = have
	return nil
}

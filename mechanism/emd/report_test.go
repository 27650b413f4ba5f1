package emd

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// counted is the report of how often each output came up.
func counted(n []int64, users int64) *Report {
	r := &Report{Sums: n, Users: users, Reports: 1}
	for _, v := range n {
		r.Items += v
	}
	return r
}

// sealed appends the checksum.
func sealed(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(slices.Clone(b), checksum(b))
}

// Earlier versions are refused, every damaged bit and every cut is found, and so are
// numbers that no report has, with a right checksum. A failed read leaves the report alone.
func TestReport_BinaryRefuses(t *testing.T) {
	head := reportMagic + "\x00\x00\x01\x01" // one user
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"nothing":          {nil, "0 bytes are no encoded report"},
		"a checksum":       {sealed(nil), "no encoded report"},
		"measure's":        {sealed([]byte("mdpcnt\x00\x01\x00\x00")), "no encoded report"},
		"version 1":        {sealed([]byte("mdpemd\x00\x01\x02\x03\x00\xac\x02\x04")), "format 1, want 2"},
		"noisy version 1":  {sealed([]byte("mdpemr\x00\x01\x01\x01\x01\x01\x01\x02")), "no encoded report"},
		"no numbers":       {sealed([]byte(reportMagic)), "damaged"},
		"cut off":          {sealed([]byte(head + "\x05\x03\x01\x02")), "damaged"},
		"trailing":         {sealed([]byte(head + "\x01\x01\x02\x00")), "damaged"},
		"long form":        {sealed([]byte(head + "\x01\x01\x82\x00")), "damaged"},
		"beyond int64":     {sealed(binary.AppendUvarint([]byte(head), 1<<63)), "damaged"},
		"a wealth of sums": {sealed(binary.AppendUvarint([]byte(head+"\x01"), 1<<62)), "damaged"},
		"a third item":     {sealed([]byte(reportMagic + "\x00\x00\x02\x01\x03\x01\x06")), "Items = 3"},
	} {
		kept := *counted([]int64{7}, 7)
		if err := kept.UnmarshalBinary(c.b); err == nil || !strings.Contains(err.Error(), c.want) || kept.Sums[0] != 7 {
			t.Errorf("%s: %v, %+v; want %s", name, err, kept, c.want)
		}
	}
	good := testkit.Must((&Report{Sums: []int64{0, -5, math.MaxInt64, 300}, Level: 0.25, Plan: 7, Users: 9, Reports: 2}).MarshalBinary())
	for i := range 8 * len(good) {
		b := slices.Clone(good)
		b[i/8] ^= 1 << (i % 8)
		if new(Report).UnmarshalBinary(b) == nil || new(Report).UnmarshalBinary(good[:i/8]) == nil {
			t.Errorf("bit %d turned, or %d bytes", i, i/8)
		}
	}
}

// Numbers that no report has are neither written nor merged, and nothing is merged in part.
func TestReport_Refuses(t *testing.T) {
	noisy := func(change func(*Report)) *Report {
		r := &Report{Sums: []int64{1, 2}, Users: 2, Reports: 1, Items: 4, Level: 0.25, Plan: 7}
		change(r)
		return r
	}
	for _, c := range []struct {
		bad  *Report
		want string
	}{
		{nil, "empty input"},
		{noisy(func(r *Report) { r.Users = 0 }), "Users = 0"},
		{noisy(func(r *Report) { r.Users = maxNumber + 1 }), "Users = "},
		{noisy(func(r *Report) { r.Reports = 0 }), "Reports = 0"},
		{noisy(func(r *Report) { r.Reports = 3 }), "Reports = 3"},
		{noisy(func(r *Report) { r.Items = 3 }), "Items = 3"},
		{noisy(func(r *Report) { r.Level = math.NaN() }), "Level = NaN"},
		{noisy(func(r *Report) { r.Level = -1 }), "Level = -1"},
		{counted([]int64{2, -1}, 1), "Sums[0] = 2"},
		{&Report{Sums: []int64{math.MaxInt64, 1}, Users: 1, Reports: 1, Items: math.MaxInt64}, "Sums[1] = 1"},
		{counted([]int64{0}, 1), "Items = 0"},
		{&Report{Sums: []int64{1}, Users: 1, Reports: 1, Items: 2}, "Items = 2"},
	} {
		_, err := c.bad.MarshalBinary()
		for name, err := range map[string]error{"Check": c.bad.Check(), "MarshalBinary": err, "Merge": new(Report).Merge(c.bad)} {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", name, err, c.want)
			}
		}
	}
	r := noisy(func(*Report) {})
	for _, c := range []struct {
		other *Report
		want  string
	}{
		{r, "twice"},
		{noisy(func(r *Report) { r.Sums = []int64{1} }), "Sums has size 1, want 2"},
		{noisy(func(r *Report) { r.Items = 6 }), "items per user has size 3, want 2"},
		{noisy(func(r *Report) { r.Level = 0.5 }), "Level = 0.5"},
		{noisy(func(r *Report) { r.Plan = 8 }), "Plan = 8"},
		{noisy(func(r *Report) { r.Sums = []int64{1, math.MaxInt64 - 1} }), "Sums[1]"},
		{noisy(func(r *Report) { r.Users, r.Items = maxNumber, 2*maxNumber }), "Users = "},
	} {
		before := fmt.Sprint(r)
		if err := r.Merge(c.other); err == nil || !strings.Contains(err.Error(), c.want) || fmt.Sprint(r) != before {
			t.Errorf("%v, %v; want %s", err, r, c.want)
		}
	}
	sum, one := new(Report), counted([]int64{1, 2}, 1)
	testkit.Check(t, sum.Merge(one))
	testkit.Check(t, sum.Merge(one))
	testkit.Check(t, sum.Merge(new(Report)))
	if !reflect.DeepEqual(*sum, Report{Sums: []int64{2, 4}, Users: 2, Reports: 2, Items: 6}) || one.Sums[1] != 2 {
		t.Errorf("%v twice is %v", one, sum)
	}
}

// FuzzReport reads hostile bytes: they are refused, or are a report with just that encoding.
func FuzzReport(f *testing.F) {
	f.Add([]byte("\x00\x00\x02\x01\xb0\x02\x03\x00\xd8\x04\x08"))
	f.Add([]byte("\x00\x00\x00\x00\x00\x00"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, tail []byte) {
		b := sealed(append([]byte(reportMagic), tail...))
		var r Report
		if r.UnmarshalBinary(b) != nil {
			return
		}
		if again := testkit.Must(r.MarshalBinary()); !bytes.Equal(b, again) {
			t.Fatalf("%x was read as %+v and written as %x", b, r, again)
		}
	})
}

func TestReport_BinaryRoundTrips(t *testing.T) {
	r := random.Seeded(1)
	for k := range 200 {
		var c Report
		if k > 0 {
			c = *counted(make([]int64, 1+r.IntN(20)), 1)
			for y := range c.Sums {
				c.Sums[y] = int64(r.Uint64() >> (5 + r.IntN(58)))
				c.Items += c.Sums[y]
			}
			c.Sums[0]++
			c.Items++
		}
		if k%2 == 1 {
			c.Level, c.Plan = r.Float64(), r.Uint32()
			c.Sums[0] = []int64{math.MinInt64, -5, math.MaxInt64}[r.IntN(3)]
		}
		b := testkit.Must(c.MarshalBinary())
		again := *counted([]int64{7}, 7)
		if err := again.UnmarshalBinary(b); err != nil || !reflect.DeepEqual(again, c) {
			t.Fatalf("%+v became %+v, %v", c, again, err)
		}
	}
	// The bytes are those of the documented format.
	want := sealed([]byte("mdpemd\x00\x02\x00\x00\x02\x01\xb0\x02\x03\x00\xd8\x04\x08"))
	if b := testkit.Must(counted([]int64{0, 300, 4}, 2).MarshalBinary()); !bytes.Equal(b, want) {
		t.Errorf("%x, want %x", b, want)
	}
}

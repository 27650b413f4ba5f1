package emd

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
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

func TestGuarantee_JSONRoundTrips(t *testing.T) {
	km := Model{Trust: Central, Users: 100, Diameter: 20, Unit: "km"}
	near := testkit.Must(testkit.Must(mechanism.NewGuarantee(1, 0.25, "km")).Within(2.5))
	old := promise(t, Model{Trust: Local, Diameter: 1}, 7, 0)
	for _, c := range []struct {
		g    Guarantee
		want string
	}{
		{Guarantee{}, `{}`},
		{promise(t, km, 0.1, 0), `{"trust":"central","users":100,"diameter":20,"unit":"km","alpha":0.1}`},
		{promise(t, Model{Trust: Local, Items: 3, Diameter: 1}, 0, 0), `{"trust":"local","items":3,"diameter":1,"alpha":0}`},
		{promise(t, Model{Trust: Shuffled, Users: 1 << 30, Items: 1, Diameter: 1e-300}, 1.0/3, 1e-300), `{"trust":"shuffled","users":1073741824,"items":1,"diameter":1e-300,"alpha":0.3333333333333333,"delta":1e-300}`},
		{testkit.Must(NewGuarantee(km, near)), `{"trust":"central","users":100,"diameter":20,"unit":"km","alpha":1,"delta":0.25,"reach":2.5}`},
		{testkit.Must(NewDiscrete(km, 1.5, DP{0.5, 1e-9})), `{"trust":"central","users":100,"diameter":20,"unit":"km","radius":1.5,"eps":0.5,"delta":1e-9}`},
		{testkit.Must(promise(t, km, 0, 0).Discrete(2)), `{"trust":"central","users":100,"diameter":20,"unit":"km","radius":2,"eps":0}`},
		// What promises nothing goes on to do so.
		{testkit.Must(NewGuarantee(Model{Trust: Local, Diameter: 1}, mechanism.Guarantee{})), `{"trust":"local","diameter":1}`},
		{promise(t, km, math.Inf(1), 0), `{"trust":"central","users":100,"diameter":20,"unit":"km"}`},
		{testkit.Must(NewDiscrete(km, 2, DP{math.Inf(1), 0.5})), `{"trust":"central","users":100,"diameter":20,"unit":"km","radius":2,"delta":0.5}`},
	} {
		b, err := json.Marshal(c.g)
		if err != nil || string(b) != c.want {
			t.Errorf("%v: %s, %v; want %s", c.g, b, err, c.want)
		}
		again := old
		if err := json.Unmarshal(b, &again); err != nil || again != c.g {
			t.Errorf("%s reads as %v, %v", b, again, err)
		}
	}
	if _, err := json.Marshal(promise(t, Model{Trust: Local, Diameter: 1, Unit: "a\x00"}, 1, 0)); err == nil {
		t.Error("a unit that cannot be seen")
	}
}

func TestGuarantee_JSONRefuses(t *testing.T) {
	const central = `"trust":"central","users":2,"diameter":4`
	old := promise(t, Model{Trust: Local, Diameter: 1}, 7, 0)
	for in, want := range map[string]string{
		`[]`:                                                    "array",
		`{"alpha":1}`:                                           `trust = ""`,
		`{"trust":"Central"}`:                                   `trust = "Central"`,
		`{"trust":"local"}`:                                     "Model.Diameter = 0",
		`{` + central + `,"alpha":-1}`:                          "alpha = -1",
		`{` + central + `,"alpha":1e999}`:                       "alpha",
		`{` + central + `,"alpha":1,"delta":1}`:                 "delta = 1",
		`{` + central + `,"alpha":1,"reach":-1}`:                "reach = -1",
		`{` + central + `,"level":1}`:                           `unknown field "level"`,
		`{` + central + `,"alpha":1,"unit":"a\u202eb"}`:         "U+202E",
		`{` + central + `,"eps":1}`:                             "radius and eps",
		`{` + central + `,"radius":1,"alpha":1}`:                "radius and eps",
		`{` + central + `,"radius":1,"eps":1,"reach":1}`:        "radius and eps",
		`{` + central + `,"radius":-1,"eps":1}`:                 "radius = -1",
		`{` + central + `,"radius":1,"eps":-1}`:                 "pair.Eps = -1",
		`{` + central + `,"radius":1,"eps":1,"delta":2}`:        "pair.Delta = 2",
		`{"trust":"local","users":2,"diameter":4,"alpha":1}`:    "users = 2, want none",
		`{"trust":"shuffled","diameter":4,"alpha":1}`:           "Model.Users = 0",
		`{"trust":"local","items":-1,"diameter":4,"alpha":1}`:   "Model.Items = -1",
		`{"trust":"local","items":1.5,"diameter":4,"alpha":1}`:  "items",
		`{"trust":"local","items":9e99,"diameter":4,"alpha":1}`: "items",
	} {
		kept := old
		if err := json.Unmarshal([]byte(in), &kept); err == nil || !strings.Contains(err.Error(), want) || kept != old {
			t.Errorf("%s: %v, %v; want %s", in, kept, err, want)
		}
	}
}

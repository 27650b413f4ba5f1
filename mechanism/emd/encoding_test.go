package emd

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
)

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

// sealed appends the checksum.
func sealed(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(slices.Clone(b), crc32.Checksum(b, castagnoli))
}

func TestCounts_BinaryRoundTrips(t *testing.T) {
	r := random.Seeded(1)
	for k := range 200 {
		var c Counts
		if k > 0 {
			n := make([]int64, 1+r.IntN(20))
			for y := range n {
				n[y] = int64(r.Uint64() >> (5 + r.IntN(58)))
			}
			n[0]++
			c = *testkit.Must(NewCounts(n, 1))
		}
		b := testkit.Must(c.MarshalBinary())
		again := *testkit.Must(NewCounts([]int64{7}, 7))
		if err := again.UnmarshalBinary(b); err != nil || !reflect.DeepEqual(again, c) {
			t.Fatalf("%+v became %+v, %v", c, again, err)
		}
	}
	// The bytes are those of the documented format.
	want := sealed([]byte("mdpemd\x00\x01\x02\x03\x00\xac\x02\x04"))
	if b := testkit.Must(testkit.Must(NewCounts([]int64{0, 300, 4}, 2)).MarshalBinary()); !bytes.Equal(b, want) {
		t.Errorf("%x, want %x", b, want)
	}
}

func TestCounts_BinaryRefuses(t *testing.T) {
	head := countsMagic
	good := testkit.Must(testkit.Must(NewCounts([]int64{0, 300, 4}, 2)).MarshalBinary())
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"nothing":             {nil, "0 bytes are no encoded counts"},
		"a checksum":          {sealed(nil), "no encoded counts"},
		"measure's":           {sealed([]byte("mdpcnt\x00\x01\x00\x00")), "no encoded counts"},
		"version 2":           {sealed([]byte(head[:7] + "\x02\x01\x01\x01")), "format 2 of counts, want 1"},
		"no numbers":          {sealed([]byte(head)), "damaged"},
		"cut off":             {sealed([]byte(head + "\x02\x03\x01\x02")), "damaged"},
		"trailing":            {sealed([]byte(head + "\x02\x01\x02\x00")), "damaged"},
		"nobody and more":     {sealed([]byte(head + "\x00\x00\x00")), "damaged"},
		"long form":           {sealed([]byte(head + "\x01\x01\x81\x00")), "damaged"},
		"beyond int64":        {sealed(append([]byte(head+"\x01\x01"), binary.AppendUvarint(nil, 1<<63)...)), "damaged"},
		"a wealth of outputs": {sealed(append([]byte(head+"\x01"), binary.AppendUvarint(nil, 1<<62)...)), "damaged"},
		"no users":            {sealed([]byte(head + "\x00\x01\x01")), "users = 0"},
		"no items":            {sealed([]byte(head + "\x01\x01\x00")), "sum of n = 0"},
		"a third item":        {sealed([]byte(head + "\x02\x01\x03")), "sum of n = 3"},
		"sum beyond int64":    {sealed(binary.AppendUvarint(binary.AppendUvarint([]byte(head+"\x01\x02"), math.MaxInt64), 1)), "n[1]"},
	} {
		kept := *testkit.Must(NewCounts([]int64{7}, 7))
		if err := kept.UnmarshalBinary(c.b); err == nil || !strings.Contains(err.Error(), c.want) || kept.At(0) != 7 {
			t.Errorf("%s: %v, %+v; want %s", name, err, kept, c.want)
		}
	}
	// Every single bit matters, and so does every byte.
	for i := range 8 * len(good) {
		b := slices.Clone(good)
		b[i/8] ^= 1 << (i % 8)
		if err := new(Counts).UnmarshalBinary(b); err == nil {
			t.Errorf("bit %d turned", i)
		}
		if err := new(Counts).UnmarshalBinary(good[:i/8]); err == nil {
			t.Errorf("%d bytes", i/8)
		}
	}
}

// FuzzCounts reads hostile bytes: they are refused, or are counts with just
// that encoding.
func FuzzCounts(f *testing.F) {
	f.Add([]byte("\x02\x03\x00\xac\x02\x04"))
	f.Add([]byte("\x00\x00"))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, tail []byte) {
		b := sealed(append([]byte(countsMagic), tail...))
		var c Counts
		if c.UnmarshalBinary(b) != nil {
			return
		}
		if again := testkit.Must(c.MarshalBinary()); !bytes.Equal(b, again) {
			t.Fatalf("%x was read as %+v and written as %x", b, c, again)
		}
	})
}

// FuzzGuarantee reads arbitrary JSON: it is refused, or reads back as it is.
func FuzzGuarantee(f *testing.F) {
	f.Add([]byte(`{"trust":"central","users":100,"diameter":20,"unit":"km","alpha":0.1}`))
	f.Add([]byte(`{"trust":"local","items":3,"diameter":1,"radius":1,"eps":0.5,"delta":1e-9}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var g, again Guarantee
		if json.Unmarshal(b, &g) != nil {
			return
		}
		_ = fmt.Sprint(g, g.UserLevel())
		if err := json.Unmarshal(testkit.Must(json.Marshal(g)), &again); err != nil || again != g {
			t.Fatalf("%s was read as %v and read back as %v, %v", b, g, again, err)
		}
	})
}

// A report comes back as it is, every damaged byte and every cut is found, and so
// are numbers that no report has, with a right checksum. A failed read leaves the
// report alone.
func TestReport_Binary(t *testing.T) {
	r := Report{sum: []int64{0, -5, math.MaxInt64, math.MinInt64, 300}, a: 0.25, plan: 7, users: 9, reports: 2}
	b := testkit.Must(r.MarshalBinary())
	var back Report
	if err := back.UnmarshalBinary(b); err != nil || !reflect.DeepEqual(back, r) {
		t.Fatalf("%+v, %v", back, err)
	}
	for i := range b {
		bad := slices.Clone(b)
		bad[i] ^= 0x11
		if back.UnmarshalBinary(bad) == nil || back.UnmarshalBinary(b[:i]) == nil {
			t.Errorf("byte %d", i)
		}
	}
	for name, bad := range map[string]Report{
		"no users":           {sum: []int64{1}, a: 1, reports: 1},
		"too many users":     {sum: []int64{1}, a: 1, users: maxNumber + 1, reports: 1},
		"no reports":         {sum: []int64{1}, a: 1, users: 1},
		"more reports":       {sum: []int64{1}, a: 1, users: 1, reports: 2},
		"no level":           {sum: []int64{1}, users: 1, reports: 1},
		"a level that is no": {sum: []int64{1}, a: math.NaN(), users: 1, reports: 1},
	} {
		if back.UnmarshalBinary(testkit.Must(bad.MarshalBinary())) == nil {
			t.Error(name)
		}
	}
	if !reflect.DeepEqual(back, r) {
		t.Errorf("%+v after errors", back)
	}
	var none Report
	if err := back.UnmarshalBinary(testkit.Must(none.MarshalBinary())); err != nil || back.Users() != 0 {
		t.Errorf("%+v, %v", back, err)
	}
	for name, other := range map[string]Report{
		"sums":  {sum: []int64{1}, a: 0.25, users: 1, reports: 1},
		"level": {sum: make([]int64, 5), a: 0.5, plan: 7, users: 1, reports: 1},
		"plan":  {sum: make([]int64, 5), a: 0.25, plan: 8, users: 1, reports: 1},
		"sum":   {sum: []int64{1, 1, 1, 1, 1}, a: 0.25, plan: 7, users: 1, reports: 1},
		"users": {sum: make([]int64, 5), a: 0.25, plan: 7, users: maxNumber, reports: 1},
	} {
		before := fmt.Sprint(r)
		if err := r.Merge(&other); err == nil || !strings.Contains(err.Error(), name) || fmt.Sprint(r) != before {
			t.Errorf("%s: %v, %v", name, err, r)
		}
	}
	if r.Merge(nil) == nil {
		t.Error("no report")
	}
}

// TestMerge_RefusesItself: users counted twice are no others.
func TestMerge_RefusesItself(t *testing.T) {
	c := testkit.Must(NewCounts([]int64{1, 2}, 3))
	d := testkit.Must(NewDistribution(t.Context(), Line(0, 1), oneUser, 1, nil))
	r := testkit.Must(d.Release(nil, One([]float64{0.5})))
	if c.Merge(c) == nil || c.Users() != 3 || r.Merge(r) == nil || r.Users() != 1 {
		t.Errorf("%d and %d users", c.Users(), r.Users())
	}
	var none Counts
	testkit.Check(t, none.Merge(&none)) // nobody
}

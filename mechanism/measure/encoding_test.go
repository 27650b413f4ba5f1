package measure

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/samples"
)

// sealed appends the checksum.
func sealed(b []byte) []byte {
	b = slices.Clip(b)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

// threeRecords are counts of eight cells, and their encoding.
func threeRecords() (*Counts[[]float64], []byte) {
	c := testkit.Must(CountAll(context.Background(), samples.Unit(1, domain.BoxOptions{Depth: 3}), [][]float64{{0.1}, {0.9}, {0.9}}, nil))
	return c, testkit.Must(c.MarshalBinary())
}

// Bytes that were written once are read for good: a change here needs a new version in the magic.
func TestCounts_EncodingIsFixed(t *testing.T) {
	const want = "6d6470636e740004" + // magic and version
		"aef40125d4208eb914f258c2bf21e583" + // domain
		"02" + "00" + // loose, none by person
		"02" + "0001" + "0602" + // two cells: 0 with one record, 7 with two
		"a47e5d19"
	c, got := threeRecords()
	if hex.EncodeToString(got) != want {
		t.Errorf("%x, want %s", got, want)
	}
	read := NewCounts(samples.Unit(1, domain.BoxOptions{Depth: 3}))
	if err := read.AddN([]float64{0.5}, 7); err != nil { // to be replaced
		t.Fatal(err)
	}
	if err := read.UnmarshalBinary(testkit.Must(hex.DecodeString(want))); err != nil || !sameCounts(c, read) {
		t.Errorf("read %d records: %v", read.Len(), err)
	}
}

// refused checks that bytes are refused for the given reason, and leave counts as they were.
func refused(t *testing.T, name string, b []byte, reason string) {
	t.Helper()
	c := NewCounts(samples.Unit(1, domain.BoxOptions{Depth: 3}))
	testkit.Check(t, c.AddN([]float64{0.5}, 7))
	before := c.snapshot()
	if err := c.UnmarshalBinary(b); !errors.Is(err, ErrMismatch) || !strings.Contains(err.Error(), reason) {
		t.Errorf("%s: %v", name, err)
	}
	if after := c.snapshot(); !slices.Equal(before.cells, after.cells) || !slices.Equal(before.n, after.n) || before.total != after.total {
		t.Errorf("%s: the counts have changed", name)
	}
}

// No bit of encoded counts can flip without notice, and no byte be lost or added.
func TestUnmarshal_RefusesDamage(t *testing.T) {
	_, good := threeRecords()
	for bit := range 8 * len(good) {
		b := slices.Clone(good)
		b[bit/8] ^= 1 << (bit % 8)
		refused(t, "a bit flipped", b, "")
	}
	for n := range good {
		refused(t, "truncated", good[:n], "")
	}
	for n := 1; n < 10; n++ {
		refused(t, "extended", append(slices.Clone(good), make([]byte, n)...), "")
		refused(t, "repeated", append(slices.Clone(good), good[:n]...), "")
	}
}

// What no MarshalBinary writes is refused with the right checksum too.
func TestUnmarshal_RefusesNonsense(t *testing.T) {
	_, good := threeRecords()
	head, content := good[:countsHead], good[countsHead+1:len(good)-crc32.Size]
	with := func(content ...byte) []byte { return sealed(append(append(slices.Clone(head), 0), content...)) }
	most := []byte{255, 255, 255, 255, 255, 255, 255, 255, 127} // 2^63-1
	edit := func(at int, to byte) []byte {
		b := slices.Clone(good[:len(good)-crc32.Size])
		b[at] = to
		return sealed(b)
	}
	for _, c := range []struct {
		name   string
		b      []byte
		reason string
	}{
		{"nothing", nil, "no encoded counts"},
		{"magic", edit(0, 'n'), "no encoded counts"},
		{"version 2", edit(len(countsMagic)-1, 2), "format 2 of counts, want 4"},
		{"bit", append(slices.Clone(good[:len(good)-1]), good[len(good)-1]^1), "checksum"},
		{"domain", edit(len(countsMagic), 0), "another domain than this box of 1 column: 8 cells"},
		{"marks", edit(countsHead-1, 4), "damaged"},
		{"records of nobody", edit(countsHead-1, 1), "damaged"},
		{"no content", sealed(head), "no encoded counts"},
		{"no number of cells", with(), "damaged"},
		{"2^30+1 records of a person", sealed(append(append(slices.Clone(head), 129, 128, 128, 128, 4), content...)), "damaged"},
		{"a cell less", with(append([]byte{3}, content[1:]...)...), "damaged"},
		{"a cell more", with(append([]byte{1}, content[1:]...)...), "damaged"},
		{"2^63 cells", with(append(slices.Clone(most), content[1:]...)...), "damaged"},
		{"no count", with(1, 0, 0), "damaged"},
		{"far cell", with(1, 8, 1), "damaged"},
		{"long number", with(0x82, 0, 0, 1, 6, 2), "damaged"},
		{"endless number", with(1, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255), "damaged"},
		{"count of 2^63", with(append([]byte{1, 0}, 128, 128, 128, 128, 128, 128, 128, 128, 128, 1)...), "damaged"},
		{"sum of 2^64", with(2, 0, 5, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1), "damaged"},
		{"sum of 2^63", with(append(append([]byte{2, 0}, most...), 0, 1)...), "damaged"},
	} {
		refused(t, c.name, c.b, c.reason)
	}
	full := NewCounts(samples.Unit(1, domain.BoxOptions{Depth: 3}))
	if err := full.UnmarshalBinary(with(append([]byte{1, 0}, most...)...)); err != nil || full.Len() != math.MaxInt {
		t.Errorf("2^63-1 records: %v", err)
	}
	one, _ := threeRecords()
	var wrong *fault.ValueError
	if err := full.Merge(one); !errors.As(err, &wrong) {
		t.Errorf("2^63+2 records: %v", err)
	}
}

// Reading takes memory for what is there, not for what is claimed or for the
// domain, which its counts hold already.
func TestUnmarshal_Memory(t *testing.T) {
	d := samples.Unit(2, domain.BoxOptions{Depth: 10}) // 8 MiB
	c := testkit.Must(CountAll(t.Context(), d, [][]float64{{0.1, 0.1}}, nil))
	good := testkit.Must(c.MarshalBinary())
	claims := sealed(append(slices.Clone(good[:countsHead]), 255, 255, 255, 255, 127, 0, 1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 10 {
		testkit.Check(t, c.UnmarshalBinary(good))
		if c.UnmarshalBinary(claims) == nil {
			t.Fatal("2^34 cells in 7 bytes")
		}
	}
	if runtime.ReadMemStats(&after); after.TotalAlloc-before.TotalAlloc > 1<<20 {
		t.Errorf("%d bytes allocated", after.TotalAlloc-before.TotalAlloc)
	}
}

package main

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/paulmach/osm"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/metricdp/metricdp/metric"
)

// opened has the text of a file as often as it is asked for.
func opened(text []byte) func() (io.ReadCloser, string, error) {
	return func() (io.ReadCloser, string, error) { return io.NopCloser(bytes.NewReader(text)), "test.osm", nil }
}

// toXML writes a map as OpenStreetMap XML.
func toXML(m *osm.OSM) []byte {
	var b bytes.Buffer
	fmt.Fprintln(&b, `<osm version="0.6">`)
	for _, n := range m.Nodes {
		fmt.Fprintf(&b, "<node id=\"%d\" lat=\"%v\" lon=\"%v\"/>\n", n.ID, n.Lat, n.Lon)
	}
	for _, w := range m.Ways {
		fmt.Fprintf(&b, "<way id=\"%d\">", w.ID)
		for _, n := range w.Nodes {
			fmt.Fprintf(&b, "<nd ref=\"%d\"/>", n.ID)
		}
		for _, tag := range w.Tags {
			fmt.Fprintf(&b, "<tag k=\"%s\" v=\"%s\"/>", tag.Key, tag.Value)
		}
		fmt.Fprintln(&b, "</way>")
	}
	fmt.Fprintln(&b, "</osm>")
	return b.Bytes()
}

// toPBF writes a map as PBF, by the format's description: blocks of a size, a header
// and a blob, the coordinates in units of 1e-7 degrees and as differences.
func toPBF(m *osm.OSM, pack bool) []byte {
	bytesField := func(to []byte, field protowire.Number, v []byte) []byte {
		return protowire.AppendBytes(protowire.AppendTag(to, field, protowire.BytesType), v)
	}
	varint := func(to []byte, field protowire.Number, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(to, field, protowire.VarintType), v)
	}
	var file []byte
	block := func(kind string, data []byte) {
		blob := bytesField(nil, 1, data)
		if pack {
			var b bytes.Buffer
			w := zlib.NewWriter(&b)
			w.Write(data)
			w.Close()
			blob = bytesField(varint(nil, 2, uint64(len(data))), 3, b.Bytes())
		}
		header := varint(bytesField(nil, 1, []byte(kind)), 3, uint64(len(blob)))
		file = binary.BigEndian.AppendUint32(file, uint32(len(header)))
		file = append(append(file, header...), blob...)
	}
	block("OSMHeader", bytesField(bytesField(nil, 4, []byte("OsmSchema-V0.6")), 4, []byte("DenseNodes")))

	var ids, lats, lons []byte
	var last [3]int64
	delta := func(to []byte, k int, v int64) []byte {
		to = protowire.AppendVarint(to, protowire.EncodeZigZag(v-last[k]))
		last[k] = v
		return to
	}
	for _, n := range m.Nodes {
		ids = delta(ids, 0, int64(n.ID))
		lats = delta(lats, 1, int64(math.Round(n.Lat*1e7)))
		lons = delta(lons, 2, int64(math.Round(n.Lon*1e7)))
	}
	table, index := bytesField(nil, 1, nil), map[string]uint64{}
	word := func(s string) uint64 {
		if index[s] == 0 {
			index[s] = uint64(len(index) + 1)
			table = bytesField(table, 1, []byte(s))
		}
		return index[s]
	}
	group := bytesField(nil, 2, bytesField(bytesField(bytesField(nil, 1, ids), 8, lats), 9, lons))
	for _, w := range m.Ways {
		var keys, values, refs []byte
		for _, tag := range w.Tags {
			keys, values = protowire.AppendVarint(keys, word(tag.Key)), protowire.AppendVarint(values, word(tag.Value))
		}
		last[0] = 0
		for _, n := range w.Nodes {
			refs = delta(refs, 0, int64(n.ID))
		}
		group = bytesField(group, 3, bytesField(bytesField(bytesField(varint(nil, 1, uint64(w.ID)), 2, keys), 3, values), 8, refs))
	}
	block("OSMData", bytesField(bytesField(nil, 1, table), 2, group))
	return file
}

// tagged is a way with one tag.
func tagged(id int, tag string, nodes ...osm.NodeID) *osm.Way {
	key, value, _ := strings.Cut(tag, "=")
	w := &osm.Way{ID: osm.WayID(id), Tags: osm.Tags{{Key: key, Value: value}}}
	for _, n := range nodes {
		w.Nodes = append(w.Nodes, osm.WayNode{ID: n})
	}
	return w
}

// tiny has four nodes, one of them on no way, and a way of every kind. Node 9 is
// beyond the edge of the map.
func tiny() *osm.OSM {
	return &osm.OSM{
		Nodes: osm.Nodes{{ID: 1, Lat: 48.5, Lon: -2.25}, {ID: 2, Lat: 48.5000001, Lon: -2.2400001}, {ID: 3, Lat: 48.51, Lon: -2.23}, {ID: 4, Lat: 1, Lon: 1}},
		Ways: osm.Ways{
			tagged(1, "highway=primary", 1, 2, 9, 3),
			tagged(2, "building=yes", 4, 1, 2, 4),
			tagged(3, "highway=footway", 2, 3),
			tagged(4, "highway=proposed", 4, 3),
			tagged(5, "natural=water", 1, 2, 3, 1),
			tagged(6, "natural=water", 1, 2, 3),
			tagged(7, "waterway=river", 1, 3),
			tagged(8, "leisure=park", 1, 2, 3, 1),
		},
	}
}

func TestRead_XMLAndPBF(t *testing.T) {
	for name, file := range map[string][]byte{"XML": toXML(tiny()), "PBF": toPBF(tiny(), false), "packed PBF": toPBF(tiny(), true)} {
		e, err := read(t.Context(), opened(file))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		want := []way{
			{road, 4, []osm.NodeID{1, 2, 9, 3}}, {path, 0, []osm.NodeID{2, 3}}, {water, 0, []osm.NodeID{1, 2, 3, 1}},
			{river, 0, []osm.NodeID{1, 3}}, {green, 0, []osm.NodeID{1, 2, 3, 1}},
		}
		if !reflect.DeepEqual(e.ways, want) {
			t.Errorf("%s: ways %v", name, e.ways)
		}
		if len(e.at) != 3 {
			t.Errorf("%s: nodes %v", name, e.at)
		}
		for id, p := range map[osm.NodeID]metric.LatLon{1: {Lat: 48.5, Lon: -2.25}, 2: {Lat: 48.5000001, Lon: -2.2400001}} {
			if q := e.at[id]; math.Abs(q.Lat-p.Lat)+math.Abs(q.Lon-p.Lon) > 1e-12 {
				t.Errorf("%s: node %d at %v", name, id, q)
			}
		}
		if lines := e.lines(e.ways[0]); !reflect.DeepEqual(lines, [][]osm.NodeID{{1, 2}, {3}}) {
			t.Errorf("%s: lines %v", name, lines)
		}
	}
}

// A file with bits turned over, or an end missing, is read or refused. Bits of a PBF
// file that is not packed are left alone: nothing says that they are wrong, and
// osmpbf trusts them.
func TestRead_Hostile(t *testing.T) {
	refused := 0
	try := func(file []byte) {
		if e, err := read(t.Context(), opened(file)); err != nil {
			refused++
		} else if _, err := newNetwork(e); err != nil {
			refused++
		}
	}
	for _, c := range []struct {
		file []byte
		step int // every PBF file read takes 64 MB
		bits []byte
	}{{toXML(tiny()), 1, []byte{0x01, 0x80}}, {toPBF(tiny(), true), 9, []byte{0x01, 0x80}}, {toPBF(tiny(), false), 9, nil}} {
		for k := 0; k < len(c.file); k += c.step {
			try(c.file[:k])
			for _, bit := range c.bits {
				turned := bytes.Clone(c.file)
				turned[k] ^= bit
				try(turned)
			}
		}
	}
	if refused < 500 {
		t.Errorf("only %d files were refused", refused)
	}
}

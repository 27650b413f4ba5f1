package main

import (
	"bytes"
	"context"
	"io"
	"math"
	"os"
	"reflect"
	"testing"

	"github.com/paulmach/osm"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// opened has the text of a file as often as it is asked for.
func opened(text []byte) func() (io.ReadCloser, string, error) {
	return func() (io.ReadCloser, string, error) { return io.NopCloser(bytes.NewReader(text)), "test.osm", nil }
}

// maps are one map as XML, as PBF and as PBF whose blocks are packed: four nodes, one of
// them on no way, and a way of every kind, the first by a node 9 beyond the map's edge.
func maps() map[string][]byte {
	m := map[string][]byte{}
	for _, name := range []string{"tiny.osm", "tiny.osm.pbf", "packed.osm.pbf"} {
		m[name] = testkit.Must(os.ReadFile("testdata/" + name))
	}
	return m
}

func TestRead_XMLAndPBF(t *testing.T) {
	for name, file := range maps() {
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
	refused, all := 0, maps()
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
	}{{all["tiny.osm"], 1, []byte{0x01, 0x80}}, {all["packed.osm.pbf"], 9, []byte{0x01, 0x80}}, {all["tiny.osm.pbf"], 9, nil}} {
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

func TestRead_Interrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := read(ctx, opened(town)); err != context.Canceled {
		t.Error(err)
	}
}

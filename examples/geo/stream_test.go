package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// stream is a file of n points that is made as it is read. At every 4096th it takes
// the measure of the heap.
type stream struct {
	head, tail string
	point      func(k int) string
	n          int

	k    int
	rest string
	heap []uint64 // bytes in use, at each measure
}

func (s *stream) Read(p []byte) (int, error) {
	for s.rest == "" {
		switch {
		case s.k == 0:
			s.rest = s.head + s.point(s.k)
		case s.k < s.n:
			s.rest = s.point(s.k)
		case s.k == s.n:
			s.rest = s.tail
		default:
			return 0, io.EOF
		}
		if s.k++; s.k%4096 == 0 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			s.heap = append(s.heap, m.HeapAlloc)
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// spread is the k-th of many places.
func spread(k int) (lat, lon float64) { return float64(k%1000) / 100, float64(k/1000) / 100 }

// streams are files of n distinct points.
func streams(n int) map[string]*stream {
	point := func(format string) func(int) string {
		return func(k int) string { lat, lon := spread(k); return fmt.Sprintf(format, lat, lon) }
	}
	return map[string]*stream{
		"GeoJSON": {head: `{"type":"FeatureCollection","features":[`, tail: `{"type":"Feature","geometry":null}]}`, n: n,
			point: point(`{"type":"Feature","properties":{"name":"x"},"geometry":{"type":"Point","coordinates":[%[2]v,%[1]v]}},` + "\n")},
		"GPX": {head: "<gpx><trk><trkseg>", tail: "</trkseg></trk></gpx>", n: n, point: point("<trkpt lat=\"%v\" lon=\"%v\"><ele>5</ele></trkpt>\n")},
		"CSV": {head: "lat,lon,name\n", n: n, point: point("%v,%v,x\n")},
	}
}

// The heap that a hundred thousand points need is that of the first few thousand; that of a
// million, with METRICDP_LONG, is not much more, at the counts of the program.
func TestRun_FlatMemory(t *testing.T) {
	seen, most := testkit.Sweep(1000, maxSeen), uint64(testkit.Sweep(1, 32))<<20
	for name, s := range streams(testkit.Sweep(100_000, 1_000_000)) {
		f := testkit.Must((&settings{alpha: 1, merge: noCell, cell: noCell}).filter(random.Seeded(1)))
		f.seen = seen
		j := testkit.Must(f.run(context.Background(), name, s, io.Discard))
		if j.points != s.n || j.all.n != s.n {
			t.Errorf("%s: %d points, %d places", name, j.points, j.all.n)
		}
		for _, heap := range s.heap {
			if heap > s.heap[0]+most {
				t.Errorf("%s: the heap grows from %d to %d bytes", name, s.heap[0], heap)
				break
			}
		}
	}
}

package metric

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

// cloud32 returns n vectors of d numbers of about the given size.
func cloud32(seed uint64, n, d int, size float64) [][]float32 {
	r := rand.New(rand.NewPCG(seed, 0))
	pts := make([][]float32, n)
	for i := range pts {
		pts[i] = make([]float32, d)
		for j := range pts[i] {
			pts[i][j] = float32(r.NormFloat64() * size)
		}
	}
	return pts
}

// The nearest of long vectors is that of a plain scan, bit for bit and with ties to the
// lowest: also between vectors that float32 cannot tell apart from where the query is, and
// for queries that it cannot hold.
func TestLocator_ScanIsExact(t *testing.T) {
	space := Float32[Euclidean]{}
	for _, size := range []float64{1e-30, 1e-6, 1, 1e6, 1e30} {
		pts := cloud32(3, 400, 40, size)
		for i := 300; i < 400; i++ { // near copies, and copies
			copy(pts[i], pts[i-300])
			if i < 380 {
				pts[i][i%40] = math.Nextafter32(pts[i][i%40], 2)
			}
		}
		l := NewLocator(testkit.Must(NewPoints(pts, Space[[]float32](space))))
		if (l.scan != nil) != (size > 1e-20 && size < 1e20) {
			t.Errorf("size %v: scanned in float32 %v", size, l.scan != nil)
		}
		moved := 0
		for q, y := range append(cloud32(4, 300, 40, 0), cloud32(5, 20, 40, 1e9)...) {
			noise := cloud32(uint64(q), 1, 40, size*[]float64{0, 1e-8, .3, 3, 1000}[q%5])[0]
			for j := range y {
				y[j] += pts[q][j] + noise[j]
			}
			best, d := -1, math.Inf(1)
			for i, w := range pts {
				if v := space.Distance(y, w); v < d {
					best, d = i, v
				}
			}
			if i, v := l.Nearest(y); i != best || v != d {
				t.Fatalf("size %v, query %d: %d at %v, want %d at %v", size, q, i, v, best, d)
			}
			if best != q {
				moved++
			}
		}
		if moved < 60 {
			t.Errorf("size %v: only %d queries leave their point", size, moved)
		}
	}
}

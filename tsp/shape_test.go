package tsp

import (
	"math"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// shapes are about n points of the plane each, in arrangements that are hard for
// a local search in different ways. lack is the most by which the Held-Karp
// bound falls short of the shortest tour, as far as it was seen.
var shapes = []struct {
	name string
	make func(n int, seed uint64) metric.Finite
	lack float64
}{
	{"uniform", plane, 0.01},
	{"clustered", clustered, 0.02},
	{"far", func(n int, seed uint64) metric.Finite { return clumps(n, max(2, n/90), 0.003, 0.03, seed) }, 0.01},
	{"plate", plate, 0.02},
	{"grid", func(n int, _ uint64) metric.Finite { return gridOf(n) }, 0},
}

func points(xy [][]float64) metric.Finite {
	return testkit.Must(metric.NewPoints(xy, metric.Euclidean{}))
}

// clustered are clusters of about 40 points, of spreads from 0.001 to 0.1, in
// the unit square.
func clustered(n int, seed uint64) metric.Finite {
	return clumps(n, max(2, n/40), 0.001, 0.1, seed)
}

// clumps are n points in Gaussian clusters with centers in the unit square, and
// spreads between least and most, uniform in their logarithm.
func clumps(n, clusters int, least, most float64, seed uint64) metric.Finite {
	r := random.Seeded(seed)
	type clump struct{ x, y, spread float64 }
	at := make([]clump, clusters)
	for i := range at {
		at[i] = clump{r.Float64(), r.Float64(), least * math.Pow(most/least, r.Float64())}
	}
	xy := make([][]float64, n)
	for i := range xy {
		c := at[r.IntN(clusters)]
		xy[i] = []float64{c.x + c.spread*r.NormFloat64(), c.y + c.spread*r.NormFloat64()}
	}
	return points(xy)
}

// plate are holes drilled in a plate: small lattices, rows and columns of equal
// steps, which stand on a coarse lattice with gaps.
func plate(n int, seed uint64) metric.Finite {
	r := random.Seeded(seed)
	var xy [][]float64
	side := 1 + int(math.Sqrt(float64(n)/25))
	for cell := 0; len(xy) < n; cell++ {
		if r.IntN(4) == 0 {
			continue
		}
		x, y := float64(cell%side)*100, float64(cell/side)*100
		across, down := 1+r.IntN(12), 1+r.IntN(3)
		if r.IntN(2) == 0 {
			across, down = down, across
		}
		step := []float64{2, 4, 5}[r.IntN(3)]
		for k := range min(across*down, n-len(xy)) {
			xy = append(xy, []float64{x + step*float64(k%across), y + step*float64(k/across)})
		}
	}
	return points(xy)
}

// gridOf is the full lattice of steps 1 nearest to a square with at most n
// points, and an even number of them: its shortest tour has length Len().
func gridOf(n int) metric.Finite {
	w := int(math.Sqrt(float64(n))) &^ 1
	xy := make([][]float64, w*(n/w))
	for i := range xy {
		xy[i] = []float64{float64(i % w), float64(i / w)}
	}
	return points(xy)
}

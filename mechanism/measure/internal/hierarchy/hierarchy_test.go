package hierarchy

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

type line []float64

func (l line) Len() int { return len(l) }

func (l line) Distance(i, j int) float64 { return math.Abs(l[i] - l[j]) }

// A net tree has every point once, at most arity children a node, and the least height that such a
// tree can have; duplicates are points like others. Sizes are means of distances to medoids.
func TestNet_Laws(t *testing.T) {
	r := random.Seeded(1)
	for range 200 {
		n, arity := 1+r.IntN(80), 2+r.IntN(6)
		f := make(line, n)
		for i := range f {
			f[i] = float64(r.IntN(1 + r.IntN(n)))
		}
		parent, leaf, size, err := Net(context.Background(), "op", f, arity)
		if err != nil {
			t.Fatal(err)
		}
		children, depth := make([]int, len(parent)), make([]int, len(parent))
		var points []int
		height := 0
		for v, p := range parent {
			if v > 0 {
				children[p]++
				depth[v] = depth[p] + 1
				height = max(height, depth[v])
			}
			if leaf[v] >= 0 {
				points = append(points, leaf[v])
			}
		}
		least := 0
		for room := 1; room < n; room *= arity {
			least++
		}
		slices.Sort(points)
		for i, p := range points {
			if i != p {
				t.Fatalf("points %v", points)
			}
		}
		if len(points) != n || slices.Max(children) > arity || height > least {
			t.Fatalf("%d of %d points, %v children of %d, height %d of %d", len(points), n, children, arity, height, least)
		}
		below := make([][]int, len(parent))
		for v := len(parent) - 1; v >= 0; v-- {
			if leaf[v] >= 0 {
				below[v] = []int{leaf[v]}
			}
			least := math.Inf(1)
			for _, p := range below[v] {
				sum := 0.0
				for _, q := range below[v] {
					sum += f.Distance(p, q)
				}
				least = min(least, sum/float64(len(below[v])))
			}
			if math.Abs(size[v]-least) > 1e-9 {
				t.Fatalf("item %d has size %v, want %v", v, size[v], least)
			}
			if v > 0 {
				below[parent[v]] = append(below[parent[v]], below[v]...)
			}
		}
		for v := range leaf {
			if (leaf[v] >= 0) != (children[v] == 0) {
				t.Fatalf("item %d: point %d, %d children", v, leaf[v], children[v])
			}
		}
	}
}

// The balls of an ultrametric: {2 0 1} of height 1 and {4 3} of height 2, all of
// height 3; at ratio 1/2 the second is merged into the whole, as 2 > 3/2.
func TestDendrogram_Balls(t *testing.T) {
	u := testkit.Must(metric.NewUltrametric([]int{2, 0, 1, 4, 3}, []float64{1, 1, 3, 2}))
	for _, c := range []struct {
		ratio      float64
		up, points []int
	}{
		{1, []int{-1, 0, 1, 1, 0, 4, 4, 4}, []int{-1, -1, 3, 4, -1, 1, 0, 2}},
		{0.5, []int{-1, 0, 0, 0, 3, 3, 3}, []int{-1, 3, 4, -1, 1, 0, 2}},
	} {
		up, at := Dendrogram(u, c.ratio)
		if !slices.Equal(up, c.up) || !slices.Equal(at, c.points) {
			t.Errorf("ratio %v: parents %v, points %v", c.ratio, up, at)
		}
	}
}

// Nodes with one leaf, and one below the other of about one size, go.
func TestContract(t *testing.T) {
	// 0 (8) - 1 (6) - 2 (3) - leaves 3, 4; 1 - 5 (0) - leaf 6; 0 - leaf 7
	up, at := Contract([]int{0, 1, 2, 3, 4, 5, 6, 7}, []int{-1, 0, 1, 2, 2, 1, 5, 0}, []int{-1, -1, -1, 0, 1, -1, 2, 3}, []float64{8, 6, 3, 0, 0, 0, 0, 0}, 0.5)
	if !slices.Equal(up, []int{-1, 0, 1, 1, 0, 0}) || !slices.Equal(at, []int{-1, -1, 0, 1, 2, 3}) {
		t.Errorf("parents %v, points %v", up, at)
	}
}

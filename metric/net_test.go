package metric

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/kdtree"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// greedyNet is the net by its definition.
func greedyNet(f Finite, s float64, order []int) []int {
	var net []int
next:
	for _, i := range order {
		for _, k := range net {
			if !(f.Distance(k, i) > s) {
				continue next
			}
		}
		net = append(net, i)
	}
	return net
}

func TestNet_EqualsGreedy(t *testing.T) {
	testkit.Slow(t)
	r := random.Seeded(6)
	eachSpace(t, 90, func(t *testing.T, p *Points[[]float64]) {
		n := p.Len()
		d := testkit.Must(Densify(t.Context(), p))
		orders := [][]int{nil, r.Perm(n)}
		for range testkit.Sweep(2, 4) {
			// Half of the separations are distances: points on the very edge.
			v := d.Distance(r.IntN(n), r.IntN(n))
			for _, s := range []float64{0, v, math.Nextafter(v, 0), v / 3} {
				for _, order := range orders {
					want := greedyNet(d, s, order)
					if order == nil {
						want = greedyNet(d, s, ascending[int](n))
					}
					for _, f := range []Finite{p, d} {
						got, err := Net(t.Context(), f, s, order)
						if err != nil || !slices.Equal(got, want) {
							t.Fatalf("Net(%T, %v) = %v, %v, want %v", f, s, got, err, want)
						}
					}
				}
			}
		}
	})
}

func TestFarthestFirst_EqualsDefinition(t *testing.T) {
	r := random.Seeded(7)
	eachSpace(t, 40, func(t *testing.T, p *Points[[]float64]) {
		n, start := p.Len(), r.IntN(p.Len())
		order, radii, err := FarthestFirst(t.Context(), p, n, start)
		if err != nil || len(order) != n || len(radii) != n+1 {
			t.Fatal(len(order), len(radii), err)
		}
		if order[0] != start || !math.IsInf(radii[0], 1) || radii[n] != 0 {
			t.Fatalf("starts at %d, radii %v", order[0], radii)
		}
		for m := 1; m < n; m++ {
			want, cover := -1, -1.0
			for i := range n {
				near := math.Inf(1)
				for _, k := range order[:m] {
					near = min(near, p.Distance(i, k))
				}
				if near > cover && !slices.Contains(order[:m], i) {
					want, cover = i, near
				}
			}
			if order[m] != want || radii[m] != cover || radii[m] > radii[m-1] {
				t.Fatalf("order[%d] = %d at %v, want %d at %v", m, order[m], radii[m], want, cover)
			}
		}
		short, cover, err := FarthestFirst(t.Context(), p, 5, start)
		if err != nil || !slices.Equal(short, order[:5]) || !slices.Equal(cover, radii[:6]) {
			t.Fatalf("k=5: %v %v, want a prefix", short, cover)
		}
	})
}

func TestAssign_EqualsDefinition(t *testing.T) {
	r := random.Seeded(8)
	eachSpace(t, 120, func(t *testing.T, p *Points[[]float64]) {
		for _, m := range []int{1, 5, 2*kdtree.LeafSize + 20} {
			centers := make([]int, m) // with repetitions
			for k := range centers {
				centers[k] = r.IntN(p.Len())
			}
			for _, f := range []Finite{p, scanned{p}} {
				nearest, dist, err := Assign(t.Context(), f, centers)
				if err != nil {
					t.Fatal(err)
				}
				for i := range p.Len() {
					want := 0
					for k, c := range centers {
						if p.Distance(i, c) < p.Distance(i, centers[want]) {
							want = k
						}
					}
					if nearest[i] != want || dist[i] != p.Distance(i, centers[want]) {
						t.Fatalf("%T m=%d: point %d to %d at %v, want %d", f, m, i, nearest[i], dist[i], want)
					}
				}
			}
		}
	})
}

// Centers in a speck of the space: the other points lie far outside the range
// that their tree is scaled to.
func TestAssign_FarFromCenters(t *testing.T) {
	pts, centers := gridPoints(10, 10), make([]int, 80)
	for i := range centers {
		centers[i] = i
		pts[i] = []float64{1e-200 * float64(i), 1e-190}
	}
	p := under(pts, normSpace{1, identity})
	nearest, _, err1 := Assign(t.Context(), p, centers)
	want, _, err2 := Assign(t.Context(), scanned{p}, centers)
	if err1 != nil || err2 != nil || !slices.Equal(nearest, want) {
		t.Errorf("%v, want %v; %v, %v", nearest, want, err1, err2)
	}
}

// Results do not depend on the number of workers.
func TestNet_WorkersDoNotMatter(t *testing.T) {
	run := func() string {
		p := planePoints(3000)
		grid := under(gridPoints(35, 35), normSpace{2, identity})
		out := ""
		for _, f := range []Finite{p, grid, scanned{grid}} {
			net, _ := Net(t.Context(), f, 0.2, nil)
			order, radii, _ := FarthestFirst(t.Context(), f, 20, 3)
			nearest, dist, _ := Assign(t.Context(), f, net[:min(len(net), 300)])
			near, _ := NewIndex(f).NearestNeighbors(t.Context(), 3)
			out += fmt.Sprint(net, order, radii, nearest, dist, near)
			out += fmt.Sprint(Diameter(t.Context(), f))
			out += fmt.Sprint(Radius(t.Context(), f))
			out += fmt.Sprint(NewIndex(f).MinDistance(t.Context()))
		}
		return out
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	one := run()
	runtime.GOMAXPROCS(5)
	if run() != one {
		t.Error("one worker and five differ")
	}
}

package metric

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/kdtree"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// byDistance is every point but i, by distance from i, then by index.
func byDistance(f Finite, i int) []int {
	var all []int
	for j := range f.Len() {
		if j != i {
			all = append(all, j)
		}
	}
	slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(f.Distance(i, a), f.Distance(i, b)) })
	return all
}

// within is -9 and the points at distances d(j) <= r.
func within(n int, r float64, d func(j int) float64) []int {
	ball := []int{-9}
	for j := range n {
		if d(j) <= r {
			ball = append(ball, j)
		}
	}
	return ball
}

// The answers of the tree and of the scan are those of the definition.
func TestIndex_EqualsDefinition(t *testing.T) {
	eachSpace(t, 70, func(t *testing.T, p *Points[[]float64]) {
		n := p.Len()
		d := testkit.Must(Densify(t.Context(), p))
		tree, scan := NewIndex(p), NewIndex(scanned{p})
		if tree.tree == nil || scan.tree != nil {
			t.Fatal("the tree is used in the wrong place")
		}
		for i := 0; i < n; i += 9 {
			order := byDistance(d, i)
			for _, ix := range []*Index{tree, scan} {
				for _, k := range []int{0, 1, 2, 7, n - 1, n + 5} {
					want := append([]int{-9}, order[:min(k, n-1)]...)
					if got := ix.Neighbors(i, k, []int{-9}); !slices.Equal(got, want) {
						t.Fatalf("Neighbors(%d, %d) = %v, want %v", i, k, got, want)
					}
				}
				if j, v := ix.Nearest(i); j != order[0] || v != d.Distance(i, j) {
					t.Fatalf("Nearest(%d) = %d, %v", i, j, v)
				}
				far := i
				for j := range n {
					if d.Distance(i, j) > d.Distance(i, far) || (d.Distance(i, j) == d.Distance(i, far) && j < far) {
						far = j
					}
				}
				if j, v := ix.Farthest(i); j != far || v != d.Distance(i, far) {
					t.Fatalf("Farthest(%d) = %d, %v, want %d", i, j, v, far)
				}
				// Radii that are distances put points on the very edge.
				for _, j := range []int{i, order[0], order[n/4], order[n-2]} {
					v := d.Distance(i, j)
					for _, r := range []float64{v, math.Nextafter(v, -1), math.Nextafter(v, math.Inf(1))} {
						want := within(n, r, func(j int) float64 { return d.Distance(i, j) })
						if got := ix.Ball(i, r, []int{-9}); !slices.Equal(got, want) {
							t.Fatalf("Ball(%d, %v) = %v, want %v", i, r, got, want)
						}
					}
				}
			}
		}
	})
}

// Large sets of duplicates, as many users at one place, must not make every
// query look at all of them.
func TestIndex_DuplicatesAreCheap(t *testing.T) {
	const n = 20000
	pts := make([][]float64, n)
	for i := range pts {
		pts[i] = []float64{float64(i % 2), 0}
	}
	count := &counter{Finite: under(pts, normSpace{2, identity})}
	ix := NewIndex(count)
	for i := range 100 {
		if got := ix.Neighbors(n-1-i, 3, nil); !slices.Equal(got, []int{(n - 1 - i) % 2, (n-1-i)%2 + 2, (n-1-i)%2 + 4}) {
			t.Fatalf("neighbors %v", got)
		}
	}
	if count.calls > 100*500 {
		t.Errorf("%d distances a query", count.calls/100)
	}
}

type counter struct {
	Finite
	calls int
}

func (c *counter) Distance(i, j int) float64 {
	c.calls++
	return c.Finite.Distance(i, j)
}
func (c *counter) Embed() (Embedding, bool) { return finite.Embed[Embedding](c.Finite) }

// The tree asks for few distances beside those it must return.
func TestIndex_Prunes(t *testing.T) {
	const n = 20000
	count := &counter{Finite: planePoints(n)}
	ix := NewIndex(count)
	found := 0
	for i := range 100 {
		found += len(ix.Ball(i, 0.03, nil))
	}
	if count.calls != found {
		t.Errorf("%d distances for %d points in balls", count.calls, found)
	}
	for name, query := range map[string]func(i int){
		"5 neighbors":        func(i int) { ix.Neighbors(i, 5, nil) },
		"the farthest point": func(i int) { ix.Farthest(i) },
	} {
		count.calls = 0
		for i := range 100 {
			query(i)
		}
		if count.calls > 100*20 {
			t.Errorf("%d distances for %s", count.calls/100, name)
		}
	}
}

func TestLocator_EqualsDefinition(t *testing.T) {
	r := random.Seeded(10)
	eachSpace(t, testkit.Sweep(45, 90), func(t *testing.T, p *Points[[]float64]) {
		// The same space without its embedding.
		scan := under(p.pts, Func[[]float64](p.space.Distance))
		for _, l := range []*Locator[[]float64]{NewLocator(p), NewLocator(scan)} {
			for trial := range testkit.Sweep(20, 40) {
				x := slices.Clone(p.At(r.IntN(p.Len())))
				for a := range x {
					switch trial % 4 {
					case 1: // near
						x[a] *= 1 + 1e-3*r.NormFloat64()
					case 2: // outside
						x[a] = 100 * (x[a] - r.Float64())
					case 3: // out of sight
						x[a] = min(max(x[a]*math.Pow(10, float64(r.IntN(300))), -1e150), 1e150)
					}
				}
				want := nobody
				for j := range p.Len() {
					if e := (entry{p.space.Distance(x, p.At(j)), j}); e.before(want) {
						want = e
					}
				}
				if i, d := l.Nearest(x); i != want.i || d != want.d {
					t.Fatalf("Nearest(%v) = %d, %v, want %v", x, i, d, want)
				}
				for _, radius := range []float64{want.d, math.Nextafter(want.d, -1), 2 * want.d} {
					ball := within(p.Len(), radius, func(j int) float64 { return p.space.Distance(x, p.At(j)) })
					if got := l.Within(x, radius, []int{-9}); !slices.Equal(got, ball) {
						t.Fatalf("Within(%v, %v) = %v, want %v", x, radius, got, ball)
					}
				}
			}
		}
	})
}

// u is in I(v) exactly where v is u or among its r-1 nearest others.
func TestReverseNeighbors_IsTheInverse(t *testing.T) {
	p := under(gridPoints(6, 6), normSpace{2, identity})
	n := p.Len()
	for _, r := range []int{1, 2, 5, n} {
		sets := testkit.Must(NewIndex(p).ReverseNeighbors(t.Context(), r))
		total := 0
		for v, set := range sets {
			total += len(set)
			if !slices.IsSorted(set) {
				t.Fatalf("I(%d) = %v is not sorted", v, set)
			}
			for u := range n {
				want := u == v || slices.Contains(byDistance(p, u)[:r-1], v)
				if _, got := slices.BinarySearch(set, u); got != want {
					t.Fatalf("r=%d: %d in I(%d): %v, want %v", r, u, v, got, want)
				}
			}
		}
		if total != n*r {
			t.Fatalf("r=%d: %d entries", r, total)
		}
		// The sets share memory, and must not run into one another.
		last := slices.Clone(sets[n-1])
		_ = append(sets[n-2], -1)
		if !slices.Equal(sets[n-1], last) {
			t.Fatal("an append to one set changed the next")
		}
	}
}

// gridPoints returns the w*h points of a grid of unit steps.
func gridPoints(w, h int) [][]float64 {
	var pts [][]float64
	for y := range h {
		for x := range w {
			pts = append(pts, []float64{float64(x), float64(y)})
		}
	}
	return pts
}

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

// extents are the diameter, the least distances, of all and the positive, and the radius of f.
func extents(t *testing.T, f Finite) (all [4]extremum) {
	t.Helper()
	var errs [4]error
	all[0].key, all[0].i, all[0].j, errs[0] = Diameter(t.Context(), f)
	all[1].key, all[1].i, all[1].j, errs[1] = NewIndex(f).MinDistance(t.Context())
	all[2].key, all[2].i, all[2].j, errs[2] = NewIndex(f).MinPositiveDistance(t.Context())
	all[3].key, all[3].i, errs[3] = Radius(t.Context(), f)
	if err := errors.Join(errs[:]...); err != nil {
		t.Error(err)
	}
	return all
}

func TestExtent_EqualsDefinition(t *testing.T) {
	eachSpace(t, 80, func(t *testing.T, p *Points[[]float64]) {
		want := [4]extremum{{-1, 0, 0}, nothing, nothing, nothing}
		for i := range p.Len() {
			far := 0.0
			for j := range p.Len() {
				d := p.Distance(i, j)
				far = max(far, d)
				if j >= i && d > want[0].key {
					want[0] = extremum{d, i, j}
				}
				if j > i && d < want[1].key {
					want[1] = extremum{d, i, j}
				}
				if j > i && d > 0 && d < want[2].key {
					want[2] = extremum{d, i, j}
				}
			}
			if far < want[3].key {
				want[3] = extremum{far, i, 0}
			}
		}
		for _, f := range []Finite{p, scanned{p}} {
			if got := extents(t, f); got != want {
				t.Errorf("%T: %v, want %v", f, got, want)
			}
		}
	})
}

// The chunks of several workers, where extremes tie, and spaces of few points.
func TestExtent_ClosedForms(t *testing.T) {
	grid := under(gridPoints(41, 41), normSpace{1, identity})
	one := under([][]float64{{5}}, normSpace{2, identity})
	ofGrid := [4]extremum{{80, 0, 41*41 - 1}, {1, 0, 1}, {1, 0, 1}, {40, 20*41 + 20, 0}}
	ofOne := [4]extremum{{0, 0, 0}, nothing, nothing, {0, 0, 0}}
	for f, want := range map[Finite][4]extremum{
		grid: ofGrid, scanned{grid}: ofGrid, one: ofOne, scanned{one}: ofOne,
		new(Dense): {{0, -1, -1}, nothing, nothing, {0, -1, 0}},
	} {
		if got := extents(t, f); got != want {
			t.Errorf("%T: %v, want %v", f, got, want)
		}
	}
}

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
						want = greedyNet(d, s, ascending(n))
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

// Results do not depend on the number of workers, nor which violation is found: of several bad
// pairs, in chunks far apart, the first.
func TestResults_WorkersDoNotMatter(t *testing.T) {
	r := random.Seeded(4)
	bad := symmetric(200, func() float64 { return 1 + r.Float64() })
	for range 20 {
		i, j := r.IntN(100), 100+r.IntN(100)
		bad[i][j], bad[j][i] = 2.5, 2.5
	}
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
		for _, o := range []*ValidateOptions{nil, {MaxTriples: 1, Samples: 1 << 18, Seed: 9}} {
			err := Validate(t.Context(), bad, o)
			if err == nil {
				t.Error("bad pairs pass")
			}
			out += fmt.Sprint(err)
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

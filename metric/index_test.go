package metric

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/finite"
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

// Great circles and angles bend the norm, flatly so at the antipode, and round
// their coordinates: the hardest case for pruning.
func TestIndex_Sphere(t *testing.T) {
	r := random.Seeded(12)
	var places []LatLon
	for len(places) < 400 {
		p := LatLon{math.Asin(2*r.Float64()-1) * 180 / math.Pi, 360*r.Float64() - 180}
		near := LatLon{p.Lat + 1e-13*r.NormFloat64(), p.Lon + 1e-13*r.NormFloat64()}
		antipode := LatLon{-near.Lat, near.Lon + 180}
		places = append(places, p, near, antipode, LatLon{p.Lat, 180}, LatLon{p.Lat, -180}, LatLon{90, p.Lon}, LatLon{-90, p.Lon})
	}
	sphere := testkit.Must(NewPoints(places, GreatCircle{}))
	vectors := make([][]float64, len(places))
	for i, p := range places {
		vectors[i] = GreatCircle{math.Exp(r.NormFloat64())}.Append(nil, p)
	}
	for _, f := range []Finite{sphere, under(vectors, Angular{})} {
		tree, scan := NewIndex(f), NewIndex(scanned{f})
		if tree.tree == nil {
			t.Fatal("no tree")
		}
		for i := range f.Len() {
			near := scan.Neighbors(i, 20, nil)
			if got := tree.Neighbors(i, 20, nil); !slices.Equal(got, near) {
				t.Fatalf("neighbors of %d: %v, want %v", i, got, near)
			}
			far, d := scan.Farthest(i)
			if j, got := tree.Farthest(i); j != far || got != d {
				t.Fatalf("farthest from %d: %d at %v, want %d at %v", i, j, got, far, d)
			}
			for _, j := range []int{near[0], near[2], near[19], far} {
				for _, s := range []float64{f.Distance(i, j), math.Nextafter(f.Distance(i, j), 0)} {
					want := scan.Ball(i, s, nil)
					if got := tree.Ball(i, s, nil); !slices.Equal(got, want) {
						t.Fatalf("ball of %d: %v, want %v", i, got, want)
					}
				}
			}
		}
	}
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

func BenchmarkIndex(b *testing.B) {
	for _, n := range []int{1000, 1000000} {
		ix := NewIndex(planePoints(n))
		r := random.Seeded(5)
		dst := make([]int, 0, 1000)
		radius := math.Sqrt(10 / (math.Pi * float64(n))) // about ten points
		for name, query := range map[string]func(i int){
			"Ball":      func(i int) { dst = ix.Ball(i, radius, dst[:0]) },
			"Neighbors": func(i int) { dst = ix.Neighbors(i, 10, dst[:0]) },
			"Farthest":  func(i int) { ix.Farthest(i) },
		} {
			testkit.Bench(b, fmt.Sprintf("%s/n=%d", name, n), func() { query(r.IntN(n)) })
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

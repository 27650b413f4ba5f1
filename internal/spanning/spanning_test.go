package spanning

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/random"
)

// matrix is a metric that has no rows to read, rows one that has.
type matrix [][]float64

func (m matrix) Len() int                  { return len(m) }
func (m matrix) Distance(i, j int) float64 { return m[i][j] }

type rows struct{ matrix }

func (m rows) DistancesFrom(i int, dst []float64) []float64 { return append(dst[:0], m.matrix[i]...) }

func arbitrary(n int, seed uint64) matrix {
	r := random.Seeded(seed)
	m := make(matrix, n)
	for i := range m {
		m[i] = make([]float64, n)
		for j := range i {
			m[i][j] = float64(r.IntN(20)) // with ties
			m[j][i] = m[i][j]
		}
	}
	return m
}

var errBad = errors.New("bad")

func refuse(i, j int, d float64) error { return errBad }

func TestPrim_EqualsKruskal(t *testing.T) {
	r := random.Seeded(1)
	for n := 1; n < 40; n++ {
		m := arbitrary(n, uint64(n))
		for _, p := range [][]float64{nil, make([]float64, n)} {
			for i := range p {
				p[i] = float64(r.IntN(9) - 4)
			}
			cost := func(e Edge) float64 {
				if p == nil {
					return m[e.I][e.J]
				}
				return Cost(m[e.I][e.J], p[e.I], p[e.J])
			}
			var all []Edge
			for i := range n {
				for j := range i {
					all = append(all, Edge{int32(i), int32(j)})
				}
			}
			slices.SortFunc(all, func(a, b Edge) int { return int(cost(a) - cost(b)) })
			want, trees := 0.0, NewForest(n)
			for _, e := range all {
				if trees.Join(int(e.I), int(e.J)) {
					want += cost(e)
				}
			}
			for _, f := range []finite.Metric{m, rows{m}} {
				tree, err := Prim(context.Background(), f, p, refuse)
				in, sum := make([]bool, n), 0.0
				in[0] = true
				for _, e := range tree {
					if !in[e.I] || in[e.J] {
						t.Fatalf("n=%d: %v does not join a point", n, e)
					}
					in[e.J] = true
					sum += cost(e)
				}
				if err != nil || len(tree) != n-1 || sum != want {
					t.Errorf("n=%d: %d edges of cost %v, want %v (%v)", n, len(tree), sum, want, err)
				}
			}
		}
	}
}

func TestPrim_Refuses(t *testing.T) {
	for _, d := range []float64{math.NaN(), math.Inf(1), -1} {
		for _, at := range [][2]int{{0, 1}, {3, 8}, {9, 8}} {
			m := arbitrary(10, 1)
			m[at[0]][at[1]], m[at[1]][at[0]] = d, d
			for _, f := range []finite.Metric{m, rows{m}} {
				var got [2]int
				_, err := Prim(context.Background(), f, nil, func(i, j int, x float64) error {
					got = [2]int{min(i, j), max(i, j)}
					return errBad
				})
				if err != errBad || got != [2]int{min(at[0], at[1]), max(at[0], at[1])} {
					t.Errorf("%v at %v: %v at %v", d, at, err, got)
				}
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Prim(ctx, arbitrary(3, 1), nil, refuse); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// The definition: labels, all of a class renamed when it is joined.
func TestForest_EqualsLabels(t *testing.T) {
	r := random.Seeded(2)
	for _, n := range []int{1, 2, 5, 100} {
		f, label := NewForest(n), make([]int, n)
		for i := range label {
			label[i] = i
		}
		for range 3 * n {
			i, j := r.IntN(n), r.IntN(n)
			joined := label[i] != label[j]
			if got := f.Join(i, j); got != joined {
				t.Fatalf("Join(%d, %d) = %v", i, j, got)
			}
			old := label[j]
			for k, l := range label {
				if l == old {
					label[k] = label[i]
				}
			}
			classes := map[int]int{}
			for k, l := range label {
				if root, seen := classes[l]; seen && root != f.Root(k) {
					t.Fatalf("the class of %d has two roots", k)
				}
				classes[l] = f.Root(k)
			}
			if f.Trees() != len(classes) {
				t.Fatalf("%d trees, want %d", f.Trees(), len(classes))
			}
		}
	}
}

// Every join unites two runs of positions, adjacent at its gap, at a height that
// is at least those within, and above them to the right; the last one has all.
func TestDendrogram_JoinsNeighboringRuns(t *testing.T) {
	r := random.Seeded(1)
	for n := range 30 {
		h := make([]float64, n)
		for i := range h {
			h[i] = float64(r.IntN(1 + n/2)) // with ties
		}
		type run struct{ lo, hi int }
		done := make(map[int]run)
		var last run
		Dendrogram(h, func(gap, left, right int) {
			side := func(k, point int) run {
				if k < 0 {
					return run{point, point}
				}
				part, ok := done[k]
				if !ok || h[k] > h[gap] || k < gap && h[k] == h[gap] {
					t.Errorf("%v: gap %d is joined at %d", h, k, gap)
				}
				return part
			}
			a, b := side(left, gap), side(right, gap+1)
			if a.hi != gap || b.lo != gap+1 {
				t.Errorf("%v: gap %d joins %v and %v", h, gap, a, b)
			}
			last = run{a.lo, b.hi}
			done[gap] = last
		})
		if len(done) != n || last != (run{0, n}) {
			t.Errorf("%v: %d joins, the last of %v", h, len(done), last)
		}
	}
}

package scale

import (
	"reflect"
	"testing"

	"github.com/metricdp/metricdp/entropy/internal/limit"
	"github.com/metricdp/metricdp/entropy/internal/spaces"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// checkEntropic verifies the witness of the lower end from the definition.
func checkEntropic(t *testing.T, b metric.Bimetric, s Scale) {
	t.Helper()
	if !(0 <= s.Lo && s.Lo <= s.Hi) {
		t.Fatalf("interval %v", s.Interval)
	}
	if s.Lo == 0 {
		if s.X != -1 || s.Set != nil {
			t.Fatalf("witness of 0: %+v", s)
		}
		return
	}
	for i, y := range s.Set {
		if d := b.Privacy.Distance(s.X, y); d > s.R {
			t.Fatalf("point %d at distance %v of %d, radius %v", y, d, s.X, s.R)
		}
		for _, z := range s.Set[:i] {
			if d := b.Utility.Distance(y, z); d < s.Lo {
				t.Fatalf("points %d, %d at distance %v, Lo %v", y, z, d, s.Lo)
			}
		}
	}
	if e := directed.ExpUp(directed.MulUp(s.Alpha, s.R)); float64(len(s.Set)) <= e && !limit.Exceeded(s.Alpha, s.R, len(s.Set)) {
		t.Fatalf("%d points, ball of radius %v may hold %v", len(s.Set), s.R, e)
	}
}

// The three ways of computing the scale agree where all apply.
func TestEntropicScale_UltrametricWays(t *testing.T) {
	for seed := range uint64(12) {
		n := 40 + int(seed)
		u := bigUltrametric(n, seed)
		b := metric.Bimetric{Privacy: u, Utility: bigUltrametric(n, seed+100)}
		if seed%3 == 0 {
			b = metric.Same(u)
		}
		for _, alpha := range []float64{0.5, 2, 5, 30} {
			tree := testkit.Must(Entropic(t.Context(), b, []float64{alpha}, nil))[0]
			checkEntropic(t, b, tree)
			rows := testkit.Must(entropicRows(t.Context(), b, b.Utility.(*metric.Ultrametric), alpha, &Options{}))
			checkEntropic(t, b, rows)
			cells := testkit.Must(entropicCells(t.Context(), b, []float64{alpha}, &Options{}))
			checkEntropic(t, b, cells[0])
			if !tree.Exact() || rows.Interval != tree.Interval || cells[0].Interval != tree.Interval {
				t.Fatalf("seed %d, alpha %v: tree %v, rows %v, cells %v", seed, alpha, tree.Interval, rows.Interval, cells[0].Interval)
			}
		}
	}
}

// At distance 0 in rho1 and 3 in rho2.
func TestScales_Indistinguishable(t *testing.T) {
	b := metric.Bimetric{Privacy: space.Simplex(3, 0), Utility: space.Euclidean([][]float64{{0}, {3}, {3}})}
	e := testkit.Must(Entropic(t.Context(), b, []float64{1e9}, nil))[0]
	d := testkit.Must(Diametric(t.Context(), b, []float64{1e9}, nil))[0]
	for _, s := range []Scale{e, d} {
		if s.Lo != 3 || s.Hi != 3 || s.R != 0 {
			t.Errorf("%+v", s)
		}
	}
}

// No ball holds too many points more than Hi apart: Packing, which is exact
// here or a lower bound, finds none.
func TestEntropicScale_NoBallExceeds(t *testing.T) {
	testkit.Slow(t)
	for seed := range uint64(testkit.Sweep(2, 8)) {
		n := 32
		b := randomBimetric(n, seed)
		for _, alpha := range []float64{0.4, 3} {
			for _, nodes := range []int{0, -1} {
				s := testkit.Must(Entropic(t.Context(), b, []float64{alpha}, &Options{Nodes: nodes}))[0]
				checkEntropic(t, b, s)
				for x := range n {
					row := finite.Row(b.Privacy, x, nil)
					for _, r := range row {
						c := testkit.Must(Packing(t.Context(), b.Utility, bruteBall(b.Privacy, x, r), s.Hi, nil))
						if c.Lo >= limit.Least(alpha, r, n) {
							t.Fatalf("seed %d, alpha %v: %d points more than %v apart within %v of %d", seed, alpha, c.Lo, s.Hi, r, x)
						}
					}
				}
			}
		}
	}
}

// The bits of a result depend on Nodes, not on Workers.
func TestEntropicScale_Workers(t *testing.T) {
	points := planePoints(300, 8)
	other := testkit.Must(metric.Subset(planePoints(300, 9), spaces.AllPoints(300)))
	for _, b := range []metric.Bimetric{metric.Same(points), {Privacy: points, Utility: other}} {
		alphas := []float64{6, 40, 100}
		one := testkit.Must(Entropic(t.Context(), b, alphas, &Options{Nodes: 200, Workers: 1}))
		four := testkit.Must(Entropic(t.Context(), b, alphas, &Options{Nodes: 200, Workers: 4}))
		for k, s := range one {
			checkEntropic(t, b, s)
			if !reflect.DeepEqual(s, four[k]) {
				t.Errorf("one worker: %+v\nfour: %+v", s, four[k])
			}
			if k > 0 && (s.Lo > one[k-1].Lo || s.Hi > one[k-1].Hi) {
				t.Errorf("alpha %v: %v after %v", s.Alpha, s.Interval, one[k-1].Interval)
			}
		}
	}
}

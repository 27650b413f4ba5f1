package simplex

import (
	"context"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// No proper subset of the nodes balances, and all of them do.
func TestToUnits_AreInGeneralPosition(t *testing.T) {
	r := random.Seeded(1)
	for range 300 {
		n, m := 1+r.IntN(5), 1+r.IntN(5)
		src, dst := make([]exact.DD, n), make([]exact.DD, m)
		for range 12 { // integers, so that ties abound
			src[r.IntN(n)].Hi++
			dst[r.IntN(m)].Hi++
		}
		for _, side := range [2][]exact.DD{src, dst} {
			for i := range side {
				if side[i].Hi == 0 { // as if rounding had left it: the totals differ
					side[i].Hi = 0x1p-52
				}
			}
		}
		units := toUnits(src, dst)
		for set := 1; set < 1<<(n+m); set++ {
			sum := int64(0)
			for v, u := range units {
				if u <= 0 || u >= 1<<62 {
					t.Fatalf("%v, %v: units %v", src, dst, units)
				}
				if set>>v&1 == 1 {
					if v < n {
						sum += u
					} else {
						sum -= u
					}
				}
			}
			if (sum == 0) != (set == 1<<(n+m)-1) {
				t.Fatalf("%v, %v: units %v, subset %b has %d too much", src, dst, units, set, sum)
			}
		}
	}
}

// On a line the optimum is known, the flows have the marginals and the
// potentials the optimum's value and slack.
func TestSolve_OnALine(t *testing.T) {
	r := random.Seeded(2)
	for range 40 {
		n, m := 1+r.IntN(200), 1+r.IntN(200)
		x, y := make([]float64, n), make([]float64, m)
		src, dst := make([]exact.DD, n), make([]exact.DD, m)
		for i := range x {
			x[i], src[i].Hi = r.Float64(), float64(m)
		}
		for j := range y {
			y[j], dst[j].Hi = r.Float64(), float64(n)
		}
		b := testkit.Must(Solve(context.Background(), &Problem{Src: src, Dst: dst, Costs: func(i int, buf []float64) []float64 {
			for j := range buf {
				buf[j] = math.Abs(x[i] - y[j])
			}
			return buf
		}}))
		cost, dual := 0.0, 0.0
		out, in := make([]float64, n), make([]float64, m)
		b.Flows(func(i, j int, mass float64) {
			cost += mass * math.Abs(x[i]-y[j])
			out[i] += mass
			in[j] += mass
		})
		for i := range x {
			dual += b.U(i) * float64(m)
			if out[i] != float64(m) {
				t.Fatalf("source %d gives %v of %d", i, out[i], m)
			}
			for j := range y {
				if s := math.Abs(x[i]-y[j]) - b.U(i) - b.V(j); s < -1e-13 {
					t.Fatalf("reduced cost %v", s)
				}
			}
		}
		for j := range y {
			dual += b.V(j) * float64(n)
			if in[j] != float64(n) {
				t.Fatalf("sink %d takes %v of %d", j, in[j], n)
			}
		}
		// Between the points the distribution functions differ by what must pass.
		want := 0.0
		for k := range 4000 {
			at, d := (float64(k)+.5)/4000, 0.0
			for _, p := range x {
				if p <= at {
					d += float64(m)
				}
			}
			for _, p := range y {
				if p <= at {
					d -= float64(n)
				}
			}
			want += math.Abs(d) / 4000
		}
		// Each of the n+m steps is half a cell off at most.
		if total := float64(n * m); math.Abs(cost-dual) > 1e-11*total || math.Abs(cost-want) > 2*total/4000 {
			t.Fatalf("%d x %d: cost %v, dual %v, want about %v", n, m, cost, dual, want)
		}
	}
}

// A gain far below the rounding of a plain sum around a long cycle is seen, and a
// loss is not taken for one.
func TestPivot_SeesSmallGains(t *testing.T) {
	const n = 20_000
	r := random.Seeded(3)
	for _, gain := range []float64{1e-9, -1e-9, 1e-13, -1e-13, 1e-13, -1e-13, 1e-13, -1e-13} {
		edges := make([]edge, 0, 2*n-1)
		var path exact.DD // from the first source to the last sink, alternately + and -
		for k := range int32(2*n - 1) {
			e := edge{(k + 1) / 2, n + k/2, int64(1 + r.IntN(1000)), 1 + r.Float64()}
			edges = append(edges, e)
			path = path.AddFloat(e.cost * float64(1-2*(k%2)))
		}
		tree := newTree(n, 2*n, edges)
		tree.refresh()
		c := path.Hi - gain
		reduced := path.Neg().AddFloat(c).Hi
		if math.Abs(reduced+gain) > 5e-14 {
			t.Fatalf("reduced cost %v, want %v", reduced, -gain)
		}
		if got := tree.pivot(0, 2*n-1, c); got != (reduced < 0) {
			t.Errorf("reduced cost %v: entered %v", reduced, got)
		}
	}
}

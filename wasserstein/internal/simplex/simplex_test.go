package simplex

import (
	"errors"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/random"
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

// A gain far below the rounding of a plain sum around a long cycle is seen, and a
// loss is not taken for one.
func TestPivot_SeesSmallGains(t *testing.T) {
	const n = 20_000
	r := random.Seeded(3)
	for _, gain := range []float64{1e-9, -1e-9, 1e-13, -1e-13, 1e-13, -1e-13, 1e-13, -1e-13} {
		edges := make([]edge, 0, 2*n-1)
		units := make([]int64, 2*n)
		var path exact.DD // from the first source to the last sink, alternately + and -
		for k := range int32(2*n - 1) {
			e, flow := edge{(k + 1) / 2, n + k/2, 1 + r.Float64()}, int64(1+r.IntN(1000))
			edges = append(edges, e)
			units[e.i], units[e.j] = units[e.i]+flow, units[e.j]+flow
			path = path.AddFloat(e.cost * float64(1-2*(k%2)))
		}
		tree := newTree(n, units, edges)
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

// Where reduced costs are next to the tolerance, price and run round them to different sides of it.
func TestSolve_EndsWherePricesRound(t *testing.T) {
	r := random.Seeded(9)
	endless := errors.New("50 passes")
	ones := []exact.DD{{Hi: 1}, {Hi: 1}}
	for trial := range 10_000 {
		a, b, c := [2]float64{r.Float64(), r.Float64()}, [2]float64{r.Float64(), r.Float64()}, [2][2]float64{}
		for i := range c {
			for j := range c[i] {
				c[i][j] = a[i] + b[j] + float64(r.Float64()*0x1p-49)
			}
		}
		if trial == 0 {
			c = [2][2]float64{{0x1.cd754002739a3p-01, 0x1.af253a54ca36cp-01}, {0x1.124b436b1a2dcp+00, 0x1.03234094457bcp+00}}
		}
		passes := 0
		_, err := Solve(t.Context(), &Problem{Src: ones, Dst: ones, Costs: func(i int, _ []float64) []float64 { return c[i][:] },
			Progress: func(*Basis) error {
				if passes++; passes > 50 {
					return endless
				}
				return nil
			}})
		if err != nil {
			t.Fatalf("costs %x: %v", c, err)
		}
	}
}

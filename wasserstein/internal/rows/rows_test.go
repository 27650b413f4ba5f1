package rows

import (
	"context"
	"errors"
	"math"
	"math/big"
	"sync/atomic"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// Reference: math/big.
func TestSlack_IsTheLargestBelow(t *testing.T) {
	r := random.Seeded(1)
	for trial := range 2000 {
		n := 1 + r.IntN(6)
		c, v := make([]float64, n), make([]float64, n)
		for j := range c {
			c[j] = math.Ldexp(r.NormFloat64(), r.IntN(60)-30)
			v[j] = math.Ldexp(r.NormFloat64(), r.IntN(60)-30)
			if trial%3 == 0 && j > 0 { // differences that round to one float64
				v[j] = v[0] + float64(r.IntN(3))*0x1p-80
				c[j] = c[0]
			}
		}
		fits := func(u float64) bool { // u <= c-v
			for j := range c {
				var d big.Float
				d.SetPrec(2000).Sub(big.NewFloat(c[j]), big.NewFloat(v[j]))
				if d.Cmp(big.NewFloat(u)) < 0 {
					return false
				}
			}
			return true
		}
		u := Slack(c, v)
		if !fits(u) || fits(math.Nextafter(u, math.Inf(1))) {
			t.Fatalf("Slack(%v, %v) = %v", c, v, u)
		}
	}
}

// Rows selected, and stored, are those of the matrix; a context that ended ends the work.
func TestStore_KeepsRows(t *testing.T) {
	const n, m = 150, 9
	costs := func(i int, buf []float64) []float64 {
		for j := range buf {
			buf[j] = float64(100*i + j)
		}
		return buf
	}
	src, dst := []int{149, 3, 3, 70}, []int{8, 0, 2}
	some := Select(costs, m, src, dst)
	stored := Stored(testkit.Must(Store(context.Background(), some, len(src), len(dst), 2)), len(dst))
	all := Stored(testkit.Must(Store(context.Background(), costs, n, m, 0)), m)
	asked := make([]atomic.Int32, n*n)
	sym := testkit.Must(StoreSymmetric(context.Background(), func(i, j int) float64 {
		asked[i*n+j].Add(1)
		return float64(i*j + i + j)
	}, n, 2))
	for i := range n {
		for j := range n {
			if sym[i*n+j] != float64(i*j+i+j) || i < j && asked[i*n+j].Load()+asked[j*n+i].Load() != 1 {
				t.Fatalf("(%d, %d) is %v, asked for %d and %d times", i, j, sym[i*n+j], asked[i*n+j].Load(), asked[j*n+i].Load())
			}
		}
	}
	for k, i := range src {
		for q, j := range dst {
			want := float64(100*i + j)
			if got := stored(k, nil)[q]; got != want || some(k, make([]float64, 3))[q] != want || all(i, nil)[j] != want {
				t.Fatalf("row %d, column %d: %v, want %v", i, j, got, want)
			}
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Store(ctx, costs, n, m, 0)
	if _, err := StoreSymmetric(ctx, nil, n, 0); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if each := Each(ctx, costs, n, m, 0, nil); !errors.Is(err, context.Canceled) || !errors.Is(each, context.Canceled) {
		t.Error(err, each)
	}
}

func TestLargest_FindsTheFirstBad(t *testing.T) {
	for _, c := range []struct {
		row     []float64
		largest float64
		bad     int
	}{
		{[]float64{0, 3, 2, 3}, 3, -1},
		{[]float64{Max}, Max, -1},
		{[]float64{1, -1, math.NaN()}, 0, 1},
		{[]float64{1, 1, math.NaN()}, 0, 2},
		{[]float64{0x1p961, 1}, 0, 0},
		{[]float64{1, math.Inf(1)}, 0, 1},
	} {
		if largest, bad := Largest(c.row); largest != c.largest || bad != c.bad {
			t.Errorf("Largest(%v) = %v, %d", c.row, largest, bad)
		}
	}
}

package wasserstein

import (
	"math"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// counted counts the distances that are asked for.
type counted struct {
	metric.Euclidean
	asked *atomic.Int64
}

func (c counted) Distance(x, y []float64) float64 {
	c.asked.Add(1)
	return c.Euclidean.Distance(x, y)
}

// Distances of vectors too few for products are asked for once, and all results are those of
// costs that are not stored, to the bit: of some that lie apart, of some that nearly
// coincide and of some whose differences are lost in products of theirs.
func TestStore_ChangesNoBit(t *testing.T) {
	const n, dim = 60, 9
	for seed, apart := range []struct{ offset, size float64 }{{0, 1}, {0, 1e-150}, {1e8, 1e-7}, {1e8, 1e-8}} {
		r := random.Seeded(uint64(seed))
		x := make([][]float64, 2*n)
		for i := range x {
			x[i] = make([]float64, dim)
			for k := range x[i] {
				x[i][k] = apart.offset + apart.size*r.NormFloat64()
			}
			if i%5 == 4 { // next to its neighbor, or at it
				copy(x[i], x[i-1])
				x[i][0] = math.Nextafter(x[i][0], float64(i%2*1000))
			}
		}
		var asked atomic.Int64
		s := counted{asked: &asked}
		f := testkit.Must(metric.NewPoints(x, s))
		mu, nu := w1Weights(r, 2*n, true), w1Weights(r, 2*n, true)
		check := func(what string, most int, c Cost, mu, nu []float64, call func(lazy bool) (*Result, error)) {
			t.Helper()
			asked.Store(0)
			stored := testkit.Must(call(false))
			if a := int(asked.Load()); a > most {
				t.Errorf("%s: %d distances", what, a)
			}
			lazy := testkit.Must(call(true))
			if !reflect.DeepEqual(stored, lazy) {
				t.Errorf("%+v: %s: %v, lazily %v", apart, what, stored, lazy)
			}
			w1Verify(t, c, mu, nu, stored, w1Tol)
		}
		check("W1", n*(2*n+1), metricCost{f}, mu, nu, func(lazy bool) (*Result, error) {
			return W1(t.Context(), f, mu, nu, &Options{Lazy: lazy})
		})
		c := testkit.Must(Distances(f, identity(n), identity(2 * n)[n:]))
		equal := slices.Repeat([]float64{1. / n}, n)
		check("W1Points", n*n, c, equal, equal, func(lazy bool) (*Result, error) {
			return W1Points(t.Context(), s, x[:n], nil, x[n:], nil, &Options{Lazy: lazy})
		})
		asked.Store(0)
		m := testkit.Must(Assignment(t.Context(), c, nil))
		if a := asked.Load(); a != n*n {
			t.Errorf("Assignment: %d distances", a)
		}
		if again := testkit.Must(Assignment(t.Context(), w1Matrix(n, n, costsOf(c)), nil)); !reflect.DeepEqual(m, again) {
			t.Errorf("%+v: Assignment: %v, of the matrix %v", apart, m, again)
		}
	}
}

// Costs are stored up to the limit with what the solver copies of them, and only where the
// solver reads a good part of them.
func TestWorthStoring_UpToTheLimit(t *testing.T) {
	const half = 1 << 13
	for _, c := range []struct {
		n, m, src, dst int
		want           bool
	}{
		{half, 2 * half, half, 2 * half, true},
		{half, 2*half + 1, half, 2*half + 1, false},
		{2*half - 1, half, half, half, false},
		{half, half, half, half - 1, true},
		{2 * half, half / 2, half, half, true},
		{100, 100, 25, 25, true},
		{100, 100, 25, 24, false},
	} {
		if got := worthStoring(c.n, c.m, c.src, c.dst); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

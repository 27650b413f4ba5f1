package wasserstein

import (
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein/internal/rows"
)

// productKinds are vectors with coordinates of one kind, and the share of the pairs whose
// distances products cannot tell.
var productKinds = []struct {
	name string
	at   func(r *rand.Rand, i, k int) float64
	most float64
}{
	{"normal", func(r *rand.Rand, _, _ int) float64 { return r.NormFloat64() }, 0.001},
	{"huge offset", func(r *rand.Rand, _, _ int) float64 { return 1e8 + 1e-3*r.NormFloat64() }, 0.001},
	{"mixed scales", func(r *rand.Rand, _, k int) float64 { return math.Ldexp(r.NormFloat64(), k-20) }, 0.2},
	{"an outlier", func(r *rand.Rand, i, _ int) float64 {
		if i == 7 {
			return 1e3
		}
		return r.NormFloat64()
	}, 0.02},
	{"near each other in fives", func(r *rand.Rand, i, k int) float64 {
		return random.Seeded(uint64(i/5*100+k)).NormFloat64() + [2]float64{0.05, 1e-9}[i%2]*r.NormFloat64()
	}, 0.03},
	{"integers", func(r *rand.Rand, _, _ int) float64 { return float64(1_000_000 + r.IntN(20)) }, 0.001},
	{"coinciding", func(*rand.Rand, int, int) float64 { return 1 }, 1},
	{"a huge coordinate in common", func(r *rand.Rand, _, k int) float64 {
		if k == 0 {
			return 1.6e18
		}
		return r.NormFloat64()
	}, 1},
	{"some tiny", func(r *rand.Rand, i, _ int) float64 { return math.Ldexp(r.NormFloat64(), -600*(i%2)) }, 0.6},
	{"tiny", func(r *rand.Rand, _, _ int) float64 { return 1e-155 * r.NormFloat64() }, 1},
	{"huge", func(r *rand.Rand, _, _ int) float64 { return 1e150 * r.NormFloat64() }, 1},
}

// Rows from products are the distances up to their rounding, to the bit where these are roots of
// integers; the certificate rests on the distances, the plan is as good as theirs; and few of them
// are asked for.
func TestProducts_AreDistancesUpToRounding(t *testing.T) {
	const n, m, dim = 200, 210, 30
	for seed, kind := range productKinds {
		r := random.Seeded(uint64(seed))
		x := make([][]float64, n+m)
		for i := range x {
			for k := range dim {
				x[i] = append(x[i], kind.at(r, i%n, k))
			}
		}
		var asked atomic.Int64
		few := func(what string) {
			t.Helper()
			if a := float64(asked.Swap(0)) / (n * m); runtime.GOARCH == "amd64" && a > kind.most {
				t.Errorf("%s: %s: %v of the distances", kind.name, what, a)
			}
		}
		f := metric.Finite(testkit.Must(metric.NewPoints(x, counted{asked: &asked})))
		if kind.name == "mixed scales" {
			f = testkit.Must(metric.Scaled(f, 1e-3))
		}
		all := identity(n + m)
		c := testkit.Must(Distances(f, all[:n], all[n:]))
		if p, ok := productsOf(c).(*products); ok {
			p = testkit.Must(store(t.Context(), p, 3)).(*products)
			few("rows")
			v := make([]float64, m)
			for i := range n {
				row := p.CostsFrom(i, nil)
				for j, got := range row {
					want := c.At(i, j)
					if e := math.Abs(got - want); e > p.err || e > (8*dim+40)*0x1p-53*want || kind.name == "integers" && e > 0 {
						t.Fatalf("%s: %v for %v, bound %v", kind.name, got, want, p.err)
					}
				}
				exact := costRows(c)(i, make([]float64, m))
				for j := range v { // as of a basis, and where all costs tie
					if v[j] = -r.Float64(); i%2 == 0 {
						v[j] = exact[j]
					}
				}
				if got, want := slackOf(p, i, row, v), rows.Slack(exact, v); math.Float64bits(got) != math.Float64bits(want) {
					t.Fatalf("%s: slack %v, of the distances %v", kind.name, got, want)
				}
			}
		}
		mu, nu := w1Weights(r, n, true), w1Weights(r, m, true)
		asked.Store(0)
		stored := testkit.Must(Between(t.Context(), c, mu, nu, &Options{Workers: 1}))
		kind.most += 0.05
		few("Between")
		w1Verify(t, c, mu, nu, stored, w1Tol)
		if lazy := testkit.Must(Between(t.Context(), c, mu, nu, &Options{Workers: 3, Lazy: true})); !reflect.DeepEqual(stored, lazy) {
			t.Errorf("%s: %v, lazily %v", kind.name, stored, lazy)
		}
		plain := testkit.Must(Between(t.Context(), w1Matrix(n, m, costsOf(c)), mu, nu, nil))
		if stored.Lower > plain.Upper || plain.Lower > stored.Upper || stored.Gap() > 2*plain.Gap()+1e-14*plain.Cost {
			t.Errorf("%s: %v, of a matrix %v", kind.name, stored, plain)
		}
		match := testkit.Must(Assignment(t.Context(), c, nil))
		if equal := testkit.Must(Assignment(t.Context(), w1Matrix(n, m, costsOf(c)), nil)); match.Lower > equal.Upper || equal.Lower > match.Upper || match.Gap() > 1e-13*equal.Cost {
			t.Errorf("%s: %v, of a matrix %v", kind.name, match, equal)
		}
		for i, u := range match.U {
			if s := rows.Slack(costRows(c)(i, make([]float64, m)), match.V); u != s || !slices.Contains(all[:m], match.Column[i]) {
				t.Fatalf("%s: potential %v of row %d, slack %v", kind.name, u, i, s)
			}
		}
	}
}

// Where factors of distances take them among numbers of few digits on the way, the potentials are
// those of what is left of them.
func TestProducts_ScaledTwice(t *testing.T) {
	const n, m, dim = 200, 210, 7
	r, x := random.Seeded(5), make([][]float64, n+m)
	for i := range x {
		for range dim {
			x[i] = append(x[i], 1e-23*r.NormFloat64())
		}
	}
	f := metric.Finite(testkit.Must(metric.NewPoints(x, metric.Euclidean{})))
	for _, s := range []float64{1e-300, 1e300} {
		f = testkit.Must(metric.Scaled(f, s))
	}
	all := identity(n + m)
	c := testkit.Must(Distances(f, all[:n], all[n:]))
	mu, nu := w1Weights(r, n, true), w1Weights(r, m, true)
	w1Verify(t, c, mu, nu, testkit.Must(Between(t.Context(), c, mu, nu, nil)), w1Tol)
}

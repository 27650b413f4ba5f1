package wasserstein

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein/internal/rows"
)

// assignKinds are families of costs: in general position, with ties, with
// structure that is hard for price wars, and at the ends of the range.
var assignKinds = []struct {
	name string
	cost func(r *rand.Rand, i, j int) float64
}{
	{"uniform", func(r *rand.Rand, _, _ int) float64 { return r.Float64() }},
	{"signed", func(r *rand.Rand, _, _ int) float64 { return r.NormFloat64() }},
	{"equal", func(*rand.Rand, int, int) float64 { return -3 }},
	{"bits", func(r *rand.Rand, _, _ int) float64 { return float64(r.IntN(2)) }},
	{"integers", func(r *rand.Rand, _, _ int) float64 { return float64(r.IntN(50) - 25) }},
	{"product", func(_ *rand.Rand, i, j int) float64 { return float64((i + 1) * (j + 1)) }},
	{"line", func(_ *rand.Rand, i, j int) float64 { return math.Abs(float64(3*i - 2*j)) }},
	{"farthest", func(_ *rand.Rand, i, j int) float64 { return -math.Abs(float64(3*i - 2*j)) }},
	{"triangle", func(r *rand.Rand, i, j int) float64 {
		if j <= i {
			return r.Float64()
		}
		return 1000 + r.Float64()
	}},
	{"heavy", func(r *rand.Rand, _, _ int) float64 { return math.Exp(30 * r.NormFloat64()) }},
	{"huge", func(r *rand.Rand, _, _ int) float64 { return (r.Float64() - 0.5) * rows.Max }},
	{"tiny", func(r *rand.Rand, _, _ int) float64 { return r.Float64() * 1e-300 }},
	{"subnormal", func(r *rand.Rand, _, _ int) float64 { return float64(r.IntN(9)) * 5e-324 }},
}

func assignMatrix(n, m int, r *rand.Rand, cost func(r *rand.Rand, i, j int) float64) []float64 {
	c := make([]float64, n*m)
	for k := range c {
		c[k] = cost(r, k/m, k%m)
	}
	return c
}

// assignHungarian is the textbook O(n^2 m) algorithm, row after row from zero
// potentials, without lists, reductions or a heap.
func assignHungarian(c []float64, n, m int) float64 {
	u, v := make([]float64, n+1), make([]float64, m+1)
	p, way := make([]int, m+1), make([]int, m+1)
	for i := 1; i <= n; i++ {
		p[0] = i
		j0 := 0
		least := make([]float64, m+1)
		used := make([]bool, m+1)
		for j := range least {
			least[j] = math.Inf(1)
		}
		for p[j0] != 0 {
			used[j0] = true
			i0, delta, j1 := p[j0], math.Inf(1), 0
			for j := 1; j <= m; j++ {
				if used[j] {
					continue
				}
				if d := c[(i0-1)*m+j-1] - u[i0] - v[j]; d < least[j] {
					least[j], way[j] = d, j0
				}
				if least[j] < delta {
					delta, j1 = least[j], j
				}
			}
			for j := 0; j <= m; j++ {
				if used[j] {
					u[p[j]] += delta
					v[j] -= delta
				} else {
					least[j] -= delta
				}
			}
			j0 = j1
		}
		for j0 != 0 {
			p[j0], j0 = p[way[j0]], way[j0]
		}
	}
	sum := 0.0
	for j := 1; j <= m; j++ {
		if p[j] > 0 {
			sum += c[(p[j]-1)*m+j-1]
		}
	}
	return sum
}

// assignVerify checks everything that a Matching claims against the costs, and
// that the gap is rounding: size bounds the potentials and costs.
func assignVerify(t *testing.T, c []float64, n, m int, r *Matching) {
	t.Helper()
	seen := make([]bool, m)
	size, upper := 0.0, 0.0
	for i, j := range r.Column {
		if seen[j] {
			t.Fatalf("column %d is used twice", j)
		}
		seen[j] = true
		upper = directed.AddUp(upper, c[i*m+j])
		size += math.Abs(c[i*m+j]) + math.Abs(r.U[i])
	}
	if r.Cost > r.Upper || r.Lower > r.Cost || r.Upper > upper {
		t.Fatalf("Lower %v, Cost %v, Upper %v, summed up %v", r.Lower, r.Cost, r.Upper, upper)
	}
	lower := 0.0
	for _, u := range r.U {
		lower += u
	}
	for j, v := range r.V {
		size += math.Abs(v)
		lower += v
		if n < m && (v > 0 || (v != 0 && !seen[j])) {
			t.Fatalf("V[%d] = %v, matched: %v", j, v, seen[j])
		}
		for i, u := range r.U {
			// The exact sum is at most the float64 c exactly where the rounded
			// one is, or is equal with an error that is not positive.
			if s, e := directed.TwoSum(u, v); s > c[i*m+j] || (s == c[i*m+j] && e > 0) {
				t.Fatalf("U[%d] + V[%d] = %v + %v > %v", i, j, u, v, c[i*m+j])
			}
		}
	}
	// Complementary slackness: the gap is the slack of the matched pairs, each some ulps of the
	// numbers it is a difference of. Potentials are sums along paths, whence the factor n.
	tol := float64(n) * 0x1p-50 * size
	if !(r.Gap() <= tol) || math.Abs(lower-r.Lower) > tol {
		t.Fatalf("gap %v, tolerance %v; sum of potentials %v, Lower %v", r.Gap(), tol, lower, r.Lower)
	}
}

func assignSolve(t testing.TB, c []float64, n, m int) *Matching {
	return testkit.Must(Assignment(t.Context(), testkit.Must(Matrix(n, m, c)), nil))
}

// All small sizes, and large ones: from 96 columns on there are short lists, and they grow.
func TestAssignment_EqualsHungarian(t *testing.T) {
	testkit.Slow(t)
	r, small := random.Seeded(2), random.Seeded(1)
	sizes := [][2]int{{60, 60}, {40, 200}, {149, 150}, {150, 150}, {199, 200}, {300, 300}}[:testkit.Sweep(3, 6)]
	for k := range 5 * 6 * 3 {
		n := 1 + k/3%6
		sizes = append(sizes, [2]int{n, n + k%3})
	}
	for _, kind := range assignKinds {
		for _, size := range sizes {
			n, m := size[0], size[1]
			rng := r
			if n <= 6 {
				rng = small
			}
			c := assignMatrix(n, m, rng, kind.cost)
			got := assignSolve(t, c, n, m)
			assignVerify(t, c, n, m, got)
			want := assignHungarian(c, n, m)
			if math.Abs(want-got.Cost) > 1e-12*math.Abs(want)+got.Gap() {
				t.Fatalf("%s %dx%d: %v, want %v", kind.name, n, m, got.Cost, want)
			}
		}
	}
	for _, n := range []int{100, 400}[:testkit.Sweep(1, 2)] {
		c := assignEuclid(n, n, 7)
		got := assignSolve(t, c, n, n)
		assignVerify(t, c, n, n, got)
		if want := assignHungarian(c, n, n); math.Abs(want-got.Cost) > 1e-12*want {
			t.Fatalf("euclid %d: %v, want %v", n, got.Cost, want)
		}
	}
}

func TestAssignment_WorkersAgree(t *testing.T) {
	n := 500
	c := testkit.Must(Matrix(n, n, assignEuclid(n, n, 5)))
	one := testkit.Must(Assignment(t.Context(), c, &AssignmentOptions{Workers: 1}))
	many := testkit.Must(Assignment(t.Context(), assignAt{c}, &AssignmentOptions{Workers: 7}))
	if fmt.Sprint(one) != fmt.Sprint(many) {
		t.Error("the result depends on the number of workers, or on how costs are read")
	}
}

// The proof does not trust the solver: a wrong matching gets an Upper above the
// optimum, wrong potentials a Lower below it.
func TestProveMatching_CatchesWrongAnswers(t *testing.T) {
	r := random.Seeded(6)
	n := 120
	c := assignMatrix(n, n, random.Seeded(6), assignKinds[0].cost)
	costs := w1Matrix(n, n, c)
	good := assignSolve(t, c, n, n)
	col := make([]int32, n)
	for i, j := range good.Column {
		col[i] = int32(j)
	}
	col[3], col[70] = col[70], col[3]
	bad := testkit.Must(proveMatching(t.Context(), costs, col, good.V, 0))
	if bad.Lower != good.Lower || !(bad.Gap() > 1e-4) || bad.Upper <= good.Upper {
		t.Errorf("swapped: [%v, %v], optimum %v", bad.Lower, bad.Upper, good.Cost)
	}
	v := slices.Clone(good.V)
	for range 20 {
		v[r.IntN(n)] += r.NormFloat64()
		bad = testkit.Must(proveMatching(t.Context(), costs, col, v, 0))
		if bad.Lower >= good.Lower {
			t.Errorf("lower bound %v of wrong potentials, optimum %v", bad.Lower, good.Cost)
		}
	}
}

// assignAt is a Cost without rows.
type assignAt struct{ Cost }

// multisetSlow repeats the items to one size and matches them all.
func multisetSlow(f metric.Finite, a, b []int) float64 {
	x, y := slices.Repeat(a, len(b)), slices.Repeat(b, len(a))
	c := make([]float64, 0, len(x)*len(y))
	for _, i := range x {
		for _, j := range y {
			c = append(c, f.Distance(i, j))
		}
	}
	return assignHungarian(c, len(x), len(y)) / float64(len(x))
}

func TestDistanceEM_EqualsHungarian(t *testing.T) {
	r := random.Seeded(2)
	f := w1Plane(r, 9)
	items := func(size int) (a []int) {
		for range size {
			a = append(a, r.IntN(9))
		}
		return a
	}
	for trial := range 300 {
		a := items(1 + r.IntN(9))
		b := items(1 + r.IntN(9))
		if trial%3 == 0 {
			b = items(len(a))
		}
		got, want := testkit.Must(DistanceEM(t.Context(), f, a, b)), multisetSlow(f, a, b)
		if math.Abs(got-want) > 1e-13*(1+want) {
			t.Fatalf("%v, %v: %v, want %v", a, b, got, want)
		}
	}
}

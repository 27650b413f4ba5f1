package wasserstein

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/rng"
	"github.com/metricdp/metricdp/metric"
)

// w1Plane returns n uniform points of the unit square.
func w1Plane(r *rand.Rand, n int) *metric.Points[[]float64] {
	pts := make([][]float64, n)
	for i := range pts {
		pts[i] = []float64{r.Float64(), r.Float64()}
	}
	f, err := metric.NewPoints(pts, metric.Euclidean{})
	if err != nil {
		panic(err)
	}
	return f
}

// w1Weights returns n weights with total 1, about a third of them 0 if sparse.
func w1Weights(r *rand.Rand, n int, sparse bool) []float64 {
	w, sum := make([]float64, n), 0.0
	for i := range w {
		if !sparse || i == 0 || r.IntN(3) > 0 {
			w[i] = r.ExpFloat64()
		}
		sum += w[i]
	}
	for i := range w {
		w[i] /= sum
	}
	return w
}

// w1Random is a cost of one of several kinds, ties and outliers among them.
func w1Random(r *rand.Rand, n, m int) []float64 {
	c := make([]float64, n*m)
	kind := r.IntN(6)
	for k := range c {
		switch kind {
		case 0:
			c[k] = r.Float64()
		case 1:
			c[k] = float64(r.IntN(3))
		case 2:
			c[k] = math.Exp(10 * r.NormFloat64())
		case 3:
			c[k] = 1 + 1e-12*r.Float64()
		case 4:
			c[k] = math.Abs(float64(k/m)/float64(n) - float64(k%m)/float64(m))
		}
	}
	return c
}

func w1Rows(c []float64, n, m int) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = c[i*m : (i+1)*m]
	}
	return rows
}

func w1Matrix(t testing.TB, n, m int, c []float64) Cost {
	t.Helper()
	cost, err := Matrix(n, m, c)
	if err != nil {
		t.Fatal(err)
	}
	return cost
}

// w1Tol is the gap that tests grant, relative to the largest cost times the mass.
const w1Tol = 1e-13

// w1Verify checks a result against the definitions: marginals, dual feasibility
// without any rounding, and the order and width of the certificate.
func w1Verify(t testing.TB, c Cost, mu, nu []float64, r *Result, tol float64) {
	t.Helper()
	n, m := c.Dims()
	out, in := make([]exact.DD, n), make([]exact.DD, m)
	if len(r.Plan) > n+m-1 {
		t.Fatalf("%d flows for %d x %d", len(r.Plan), n, m)
	}
	cost, mass, dearest := 0.0, total(mu), 0.0
	for k, p := range r.Plan {
		if !(p.Mass > 0) || k > 0 && (p.I < r.Plan[k-1].I || p.I == r.Plan[k-1].I && p.J <= r.Plan[k-1].J) {
			t.Fatalf("flow %d: %+v", k, p)
		}
		out[p.I], in[p.J] = out[p.I].AddFloat(p.Mass), in[p.J].AddFloat(p.Mass)
		cost += p.Mass * c.At(p.I, p.J)
	}
	for side, w := range [][]float64{mu, nu} {
		for i, s := range [][]exact.DD{out, in}[side] {
			if math.Abs(s.Hi-w[i]) > 1e-14*mass {
				t.Fatalf("side %d: point %d has flows of %v and mass %v", side, i, s.Hi, w[i])
			}
		}
	}
	for i := range n {
		for j := range m {
			x := c.At(i, j)
			dearest = max(dearest, x)
			if s := (exact.DD{Hi: r.U[i]}).AddFloat(r.V[j]).AddFloat(-x); s.Hi > 0 {
				t.Fatalf("U[%d]+V[%d] passes the cost by %v", i, j, s.Hi)
			}
		}
	}
	if !(r.Lower <= r.Cost && r.Cost <= r.Upper) || r.Gap() > tol*mass*dearest {
		t.Fatalf("[%v, %v] around %v, mass %v, largest cost %v", r.Lower, r.Upper, r.Cost, mass, dearest)
	}
	if math.Abs(cost-r.Cost) > 1e-13*(cost+mass*dearest) {
		t.Fatalf("the plan costs %v, Cost is %v", cost, r.Cost)
	}
}

// w1Vertices is the least cost over all bases: every set of n+m-1 cells that is
// a tree has one flow, found by stripping leaves; those >= 0 are the vertices of
// the transport polytope.
func w1Vertices(c []float64, mu, nu []float64) float64 {
	n, m := len(mu), len(nu)
	best := math.Inf(1)
	for set := range 1 << (n * m) {
		var cells []int
		for k := range n * m {
			if set>>k&1 == 1 {
				cells = append(cells, k)
			}
		}
		if len(cells) != n+m-1 {
			continue
		}
		left := append(slices.Clone(mu), nu...)
		cost, ok := 0.0, true
		for ok && len(cells) > 0 {
			deg := make([]int, n+m)
			for _, k := range cells {
				deg[k/m]++
				deg[n+k%m]++
			}
			at := slices.IndexFunc(cells, func(k int) bool { return deg[k/m] == 1 || deg[n+k%m] == 1 })
			if ok = at >= 0; !ok {
				break
			}
			i, j := cells[at]/m, n+cells[at]%m
			if deg[i] != 1 {
				i, j = j, i
			}
			f := left[i]
			left[i], left[j] = 0, left[j]-f
			cost += f * c[cells[at]]
			ok = f >= 0
			cells = slices.Delete(cells, at, at+1)
		}
		for _, x := range left {
			ok = ok && x == 0
		}
		if ok {
			best = min(best, cost)
		}
	}
	return best
}

// Weights are small integers, so that stripping is exact and ties abound.
func TestBetween_AllVertices(t *testing.T) {
	r := rng.Seeded(1)
	for range 400 {
		n, m := 1+r.IntN(3), 1+r.IntN(4)
		mu, nu := make([]float64, n), make([]float64, m)
		for range 12 {
			mu[r.IntN(n)]++
			nu[r.IntN(m)]++
		}
		c := w1Random(r, n, m)
		got, err := Between(w1Matrix(t, n, m, c), mu, nu, nil)
		if err != nil {
			t.Fatal(err)
		}
		w1Verify(t, w1Matrix(t, n, m, c), mu, nu, got, w1Tol)
		if want := w1Vertices(c, mu, nu); math.Abs(got.Cost-want) > 1e-13*want {
			t.Fatalf("%v -> %v at %v: %v, want %v", mu, nu, c, got.Cost, want)
		}
	}
}

func TestBetween_SlowReference(t *testing.T) {
	r := rng.Seeded(2)
	for k := range 150 {
		n, m := 1+r.IntN(25), 1+r.IntN(25)
		if k%5 == 0 {
			m = n
		}
		mu, nu := w1Weights(r, n, k%2 == 0), w1Weights(r, m, k%3 == 0)
		if k%5 == 0 { // Birkhoff: all masses equal
			for i := range mu {
				mu[i], nu[i] = 1/float64(n), 1/float64(n)
			}
		}
		c := w1Random(r, n, m)
		got, err := Between(w1Matrix(t, n, m, c), mu, nu, nil)
		if err != nil {
			t.Fatal(err)
		}
		w1Verify(t, w1Matrix(t, n, m, c), mu, nu, got, w1Tol)
		if k%5 == 0 && len(got.Plan) != n {
			t.Errorf("equal masses, %d points, %d flows", n, len(got.Plan))
		}
		want := refTransport(w1Rows(c, n, m), mu, nu)
		if math.Abs(got.Cost-want) > 1e-13*slices.Max(c) {
			t.Fatalf("%d x %d: %v, want %v", n, m, got.Cost, want)
		}
	}
}

func TestW1_SlowReference(t *testing.T) {
	r := rng.Seeded(3)
	for range 60 {
		n := 1 + r.IntN(40)
		f := w1Plane(r, n)
		mu, nu := w1Weights(r, n, true), w1Weights(r, n, true)
		got, err := W1(f, mu, nu, nil)
		if err != nil {
			t.Fatal(err)
		}
		w1Verify(t, metricCost{f}, mu, nu, got, w1Tol)
		if want := refSigned(f.Distance, mu, nu); math.Abs(got.Cost-want) > 1e-13 {
			t.Fatalf("n = %d: %v, want %v", n, got.Cost, want)
		}
		if got.Gap() > 1e-12*got.Cost {
			t.Errorf("n = %d: gap %v, cost %v", n, got.Gap(), got.Cost)
		}
	}
}

func TestW1_Line(t *testing.T) {
	r := rng.Seeded(4)
	for range 20 {
		n := 2 + r.IntN(300)
		x, pts := make([]float64, n), make([][]float64, n)
		for i := range x {
			x[i] = math.Round(50*r.NormFloat64()) / 8
			pts[i] = []float64{x[i]}
		}
		f, _ := metric.NewPoints(pts, metric.Euclidean{})
		mu, nu := w1Weights(r, n, false), w1Weights(r, n, true)
		got, err := W1(f, mu, nu, nil)
		if err != nil {
			t.Fatal(err)
		}
		if want, _ := W1Line(x, mu, nu); math.Abs(got.Cost-want) > 1e-12*want {
			t.Fatalf("n = %d: %v, want %v", n, got.Cost, want)
		}
	}
}

// Identity, symmetry and the triangle inequality, and W1 of point masses.
func TestW1_MetricAxioms(t *testing.T) {
	r := rng.Seeded(5)
	f := w1Plane(r, 60)
	d := func(a, b []float64) float64 {
		res, err := W1(f, a, b, nil)
		if err != nil {
			t.Fatal(err)
		}
		return res.Cost
	}
	for range 10 {
		a, b, c := w1Weights(r, 60, true), w1Weights(r, 60, true), w1Weights(r, 60, false)
		if d(a, a) != 0 {
			t.Errorf("d(a,a) = %v", d(a, a))
		}
		if x, y := d(a, b), d(b, a); math.Abs(x-y) > 1e-14 || !(x > 0) {
			t.Errorf("d(a,b) = %v, d(b,a) = %v", x, y)
		}
		if x := d(a, b) + d(b, c) - d(a, c); x < -1e-14 {
			t.Errorf("triangle inequality broken by %v", -x)
		}
	}
	for i := range 5 {
		a, b := make([]float64, 60), make([]float64, 60)
		a[i], b[59-i] = 1, 1
		if got, want := d(a, b), f.Distance(i, 59-i); got != want {
			t.Errorf("point masses: %v, want %v", got, want)
		}
	}
}

// Powers of two change nothing but the exponent, across the range of float64.
func TestW1_ScaleEquivariance(t *testing.T) {
	r := rng.Seeded(6)
	f := w1Plane(r, 80)
	mu, nu := w1Weights(r, 80, true), w1Weights(r, 80, true)
	want, err := W1(f, mu, nu, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range [][2]int{{0, 40}, {0, -40}, {40, 0}, {-40, 0}, {900, 0}, {-900, 90}, {100, -900}, {-100, 900}} {
		g, _ := metric.Scaled(f, math.Ldexp(1, e[0]))
		a, b := make([]float64, 80), make([]float64, 80)
		for i := range a {
			a[i], b[i] = math.Ldexp(mu[i], e[1]), math.Ldexp(nu[i], e[1])
		}
		got, err := W1(g, a, b, nil)
		if err != nil {
			t.Fatal(e, err)
		}
		if x := math.Ldexp(want.Cost, e[0]+e[1]); math.Abs(got.Cost-x) > 1e-12*x || !(got.Lower <= x && x <= got.Upper) {
			t.Errorf("%v: %v in [%v, %v], want %v", e, got.Cost, got.Lower, got.Upper, x)
		}
	}
}

// Costs and masses over 24 orders of magnitude in one problem.
func TestBetween_MixedScales(t *testing.T) {
	r := rng.Seeded(7)
	for range 40 {
		n, m := 1+r.IntN(12), 1+r.IntN(12)
		c := make([]float64, n*m)
		for k := range c {
			c[k] = math.Pow(10, 24*r.Float64()-12)
		}
		mu, nu := make([]float64, n), make([]float64, m)
		for range 50 { // dyadic, so that totals agree to the bit
			w := math.Ldexp(1, -r.IntN(45))
			mu[r.IntN(n)] += w
			nu[r.IntN(m)] += w
		}
		got, err := Between(w1Matrix(t, n, m, c), mu, nu, nil)
		if err != nil {
			t.Fatal(err)
		}
		w1Verify(t, w1Matrix(t, n, m, c), mu, nu, got, w1Tol)
		if want := refTransport(w1Rows(c, n, m), mu, nu); math.Abs(got.Cost-want) > 1e-12*want+1e-14*slices.Max(c) {
			t.Fatalf("%d x %d: %v, want %v", n, m, got.Cost, want)
		}
	}
}

func TestW1_DuplicatesAndZeros(t *testing.T) {
	r := rng.Seeded(8)
	base := w1Plane(r, 7)
	idx := make([]int, 50)
	for i := range idx {
		idx[i] = r.IntN(7)
	}
	f, _ := metric.Subset(base, idx)
	mu, nu := w1Weights(r, 50, true), w1Weights(r, 50, true)
	got, err := W1(f, mu, nu, nil)
	if err != nil {
		t.Fatal(err)
	}
	w1Verify(t, metricCost{f}, mu, nu, got, w1Tol)
	a, b := make([]float64, 7), make([]float64, 7)
	for i, p := range idx {
		a[p] += mu[i]
		b[p] += nu[i]
	}
	want, err := W1(base, a, b, nil)
	if err != nil || math.Abs(want.Cost-got.Cost) > 1e-14 {
		t.Errorf("with duplicates %v, merged %v, %v", got.Cost, want.Cost, err)
	}
	zero, err := W1(base, make([]float64, 7), make([]float64, 7), nil)
	if err != nil || zero.Cost != 0 || zero.Gap() != 0 || len(zero.Plan) != 0 {
		t.Errorf("no mass at all: %+v, %v", zero, err)
	}
	one, err := W1(w1Plane(r, 1), []float64{3}, []float64{3}, nil)
	if err != nil || one.Cost != 0 || one.Gap() != 0 || len(one.Plan) != 1 {
		t.Errorf("one point: %+v, %v", one, err)
	}
}

// Measures that differ by rounding alone, and more on one side than on the
// other: what is left to move need not balance.
func TestW1_NothingButRounding(t *testing.T) {
	r := rng.Seeded(12)
	for range 20 {
		n := 2 + r.IntN(200)
		f, mu := w1Plane(r, n), w1Weights(r, n, false)
		nu := slices.Clone(mu)
		for i := range nu {
			nu[i] *= 1 + 0x1p-52*float64(r.IntN(4)/2*(r.IntN(4)-1))
		}
		got, err := W1(f, mu, nu, nil)
		if err != nil {
			t.Fatal(err)
		}
		w1Verify(t, metricCost{f}, mu, nu, got, w1Tol)
		if got.Upper > 1e-15 {
			t.Errorf("n = %d: Upper = %v", n, got.Upper)
		}
	}
}

// w1Shifted is the cost between uniform points of a square and of another one
// shift to the right of it.
func w1Shifted(r *rand.Rand, n, m int, shift float64) Cost {
	x, y := w1Plane(r, n), w1Plane(r, m)
	return CostFunc(n, m, func(i, j int) float64 {
		p, q := x.At(i), y.At(j)
		return math.Hypot(p[0]-q[0]-shift, p[1]-q[1])
	})
}

// Measures far apart make the short lists useless, and sampling starts; a warm
// start, few workers and costs computed anew change nothing but the work.
func TestBetween_SameAnswerEveryWay(t *testing.T) {
	r := rng.Seeded(9)
	n, m := 300, 240
	for _, shift := range []float64{0, 3} {
		c := w1Shifted(r, n, m, shift)
		mu, nu := w1Weights(r, n, false), w1Weights(r, m, true)
		want, err := Between(c, mu, nu, nil)
		if err != nil {
			t.Fatal(err)
		}
		w1Verify(t, c, mu, nu, want, w1Tol)
		for _, o := range []Options{{Lazy: true}, {Workers: 1}, {Workers: 5, Lazy: true}} {
			got, err := Between(c, mu, nu, &o)
			if err != nil {
				t.Fatal(err)
			}
			if got.Cost != want.Cost || got.Lower != want.Lower || got.Upper != want.Upper || got.Pivots != want.Pivots ||
				!slices.Equal(got.Plan, want.Plan) || !slices.Equal(got.U, want.U) || !slices.Equal(got.V, want.V) {
				t.Errorf("%+v: %v after %d pivots, want %v after %d", o, got.Cost, got.Pivots, want.Cost, want.Pivots)
			}
		}
		warm, err := Between(c, mu, nu, &Options{U: want.U, V: want.V})
		if err != nil {
			t.Fatal(err)
		}
		w1Verify(t, c, mu, nu, warm, w1Tol)
		if 2*warm.Pivots > want.Pivots || math.Abs(warm.Cost-want.Cost) > 1e-13*want.Cost {
			t.Errorf("warm start: %v after %d pivots, want %v after %d", warm.Cost, warm.Pivots, want.Cost, want.Pivots)
		}
	}
}

// A start from nonsense gets there as well.
func TestBetween_BadWarmStart(t *testing.T) {
	r := rng.Seeded(10)
	n := 90
	c := w1Shifted(r, n, n, 1)
	mu, nu := w1Weights(r, n, false), w1Weights(r, n, false)
	want, err := Between(c, mu, nu, nil)
	if err != nil {
		t.Fatal(err)
	}
	o := &Options{U: make([]float64, n), V: make([]float64, n)}
	for i := range n {
		o.U[i], o.V[i] = 1e200*r.NormFloat64(), 1e200*r.NormFloat64()
	}
	got, err := Between(c, mu, nu, o)
	if err != nil || math.Abs(got.Cost-want.Cost) > 1e-13 {
		t.Fatalf("%v, want %v, %v", got, want.Cost, err)
	}
}

func TestW1_MaxPivotsAndContext(t *testing.T) {
	r := rng.Seeded(11)
	n := 400
	f := w1Plane(r, n)
	mu, nu := w1Weights(r, n, false), w1Weights(r, n, false)
	want, err := W1(f, mu, nu, nil)
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	got, err := W1(f, mu, nu, &Options{MaxPivots: 20, Progress: func(_ int, cost float64) {
		calls++
		if !(cost >= want.Lower*(1-1e-9)) {
			t.Errorf("cost %v on the way to %v", cost, want.Cost)
		}
	}})
	if err != nil || got.Pivots != 20 || calls == 0 {
		t.Fatalf("%+v, %d calls, %v", got, calls, err)
	}
	if !(got.Lower <= want.Upper && want.Lower <= got.Upper) || got.Cost <= want.Cost {
		t.Errorf("[%v, %v] after 20 pivots, optimum %v", got.Lower, got.Upper, want.Cost)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := W1(f, mu, nu, &Options{Context: ctx, Progress: func(int, float64) { cancel() }}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

func TestBetween_Errors(t *testing.T) {
	half, fine := []float64{.5, .5}, []float64{0, 1, 1, 1}
	value := func(arg string, index int) func(error) bool {
		return func(err error) bool {
			var v *fault.ValueError
			return errors.As(err, &v) && v.Arg == arg && v.Index == index
		}
	}
	size := func(err error) bool { var s *fault.SizeError; return errors.As(err, &s) }
	mass := func(err error) bool { var m *MassError; return errors.As(err, &m) }
	empty := func(err error) bool { return errors.Is(err, ErrEmpty) }
	for _, k := range []struct {
		name   string
		c      []float64
		mu, nu []float64
		o      *Options
		want   func(error) bool
	}{
		{"NaN cost", []float64{0, 1, math.NaN(), 1}, half, half, nil, value("cost[1]", 0)},
		{"negative cost", []float64{0, -1, 1, 1}, half, half, nil, value("cost[0]", 1)},
		{"infinite cost", []float64{0, 1, 1, math.Inf(1)}, half, half, nil, value("cost[1]", 1)},
		{"bad cost where no mass is", []float64{0, 1, 1, math.NaN()}, []float64{1, 0}, []float64{1, 0}, nil, value("cost[1]", 1)},
		{"overflow", []float64{0, 0x1p900, 1, 1}, []float64{0x1p200, 0}, []float64{0x1p200, 0}, nil, value("largest cost times total mass", -1)},
		{"negative mass", fine, []float64{2, -1}, half, nil, value("mu", 1)},
		{"NaN mass", fine, half, []float64{math.NaN(), 1}, nil, value("nu", 0)},
		{"unequal masses", fine, half, []float64{.5, .6}, nil, mass},
		{"length", fine, half, []float64{1}, nil, size},
		{"empty", fine, nil, half, nil, empty},
		{"U without V", fine, half, half, &Options{U: half}, size},
		{"infinite V", fine, half, half, &Options{U: half, V: []float64{1, math.Inf(1)}}, value("V", 1)},
	} {
		if _, err := Between(w1Matrix(t, 2, 2, k.c), k.mu, k.nu, k.o); !k.want(err) {
			t.Errorf("%s: %v", k.name, err)
		}
	}
	if _, err := Matrix(2, 2, half); !size(err) {
		t.Error(err)
	}
	if _, err := Matrix(0, 2, nil); !empty(err) {
		t.Error(err)
	}
	if _, err := Distances(w1Plane(rng.Seeded(1), 2), []int{0, 2}, []int{1}); !value("a", 1)(err) {
		t.Error(err)
	}
}

// Any finite input gives a certified optimum or an error.
func FuzzW1(f *testing.F) {
	f.Add([]byte{3, 3, 1, 2, 3, 1, 2, 3, 9, 8, 7, 6, 5, 4, 3, 2, 1})
	f.Add([]byte{1, 5, 200, 1, 1, 1, 1, 196, 0, 0, 255, 255, 17})
	f.Add([]byte{8, 8, 0x80, 0x91, 0xa2})
	f.Fuzz(func(t *testing.T, data []byte) {
		wide := false
		next := func() float64 { // small integers, and powers of two far apart
			if len(data) == 0 {
				return 1
			}
			b := data[0]
			data = data[1:]
			if b < 128 {
				return float64(b)
			}
			wide = true
			return math.Ldexp(1+float64(b&7), int(b&0x78)-60)
		}
		n, m := 1+int(math.Mod(next(), 9)), 1+int(math.Mod(next(), 9))
		mu, nu := make([]float64, n), make([]float64, m)
		for i := range mu {
			mu[i] = next()
		}
		left := total(mu)
		for j := range nu[:m-1] {
			nu[j] = min(left, next())
			left -= nu[j]
		}
		nu[m-1] = left
		c := make([]float64, n*m)
		for k := range c {
			c[k] = next()
		}
		cost := w1Matrix(t, n, m, c)
		got, err := Between(cost, mu, nu, nil)
		if err != nil {
			if mass := (*MassError)(nil); !errors.As(err, &mass) {
				t.Fatal(err)
			}
			return
		}
		w1Verify(t, cost, mu, nu, got, w1Tol)
		if wide {
			return // too many scales for the reference, which is plain float64; the certificate was checked
		}
		want := refTransport(w1Rows(c, n, m), mu, nu)
		if slack := 1e-13 * total(mu) * slices.Max(c); want < got.Lower-slack || want > got.Upper+slack {
			t.Fatalf("reference %v outside [%v, %v]", want, got.Lower, got.Upper)
		}
	})
}

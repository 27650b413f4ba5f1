package lp

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// simplexOptimum solves the dual program by the plain simplex method:
//
//	maximize sum y  subject to  y_u + (G'lambda_w)_u - (D_w z)_u <= 0,  sum z <= 1,
//
// lambda, z >= 0, y free, one constraint for every entry of the channel. The
// origin is feasible. It shares nothing with the kernel: rows are in the plain
// scaling x_w[v] - x_w[u] exp(-e) >= 0. With a prior z is fixed. The optimum lies in the
// interval returned, whatever the rounding: see reference.
func simplexOptimum(t testing.TB, b metric.Bimetric, alpha float64, outputs []int, prior []float64) (lo, hi float64) {
	t.Helper()
	n, m := b.Privacy.Len(), len(outputs)
	type column struct {
		cost float64
		at   map[int]float64
	}
	var cols []column
	row := func(w, u int) int { return w*n + u }
	last := n * m
	for u := range n {
		for _, sign := range []float64{1, -1} {
			c := column{sign, map[int]float64{}}
			for w := range m {
				c.at[row(w, u)] = sign
			}
			cols = append(cols, c)
		}
	}
	for w := range m {
		for u := range n {
			for v := range n {
				if u != v {
					e := math.Exp(alpha * b.Privacy.Distance(u, v))
					cols = append(cols, column{0, map[int]float64{row(w, v): 1, row(w, u): -1 / e}})
				}
			}
		}
	}
	rhs := make([]float64, last+1)
	rhs[last] = 1
	for u := range n {
		c := column{0, map[int]float64{last: 1}}
		for w, y := range outputs {
			c.at[row(w, u)] = -b.Utility.Distance(u, y)
			if prior != nil {
				rhs[row(w, u)] = prior[u] * b.Utility.Distance(u, y)
			}
		}
		if prior == nil {
			cols = append(cols, c)
		}
	}
	rows, k := last+1, len(cols)
	c, a := make([]float64, k), make([][]float64, rows)
	r := random.Seeded(7)
	for i := range rows {
		a[i] = make([]float64, k)
		rhs[i] += 1e-10 * (1 + r.Float64()) // against cycling
	}
	for j, col := range cols {
		c[j] = col.cost
		for i, v := range col.at {
			a[i][j] = v
		}
	}
	tab, basis := testkit.Simplex(c, a, rhs)
	if tab == nil {
		t.Fatal("the simplex method finds no end")
	}
	// At the optimum the slacks' prices are the channel.
	ref := reference{b: b, alpha: alpha, outputs: outputs, prior: prior,
		x: tab[rows][k : k+last], lambda: make([]float64, m*n*n), z: make([]float64, n)}
	value := make([]float64, k+rows)
	for i, j := range basis {
		value[j] = tab[i][k+rows]
	}
	j := 2 * n
	for i := range ref.lambda {
		if i/n%n != i%n {
			ref.lambda[i] = value[j]
			j++
		}
	}
	if prior == nil {
		copy(ref.z, value[j:k])
	}
	return ref.enclose()
}

// randomMetric is the shortest-path metric of random lengths.
func randomMetric(t testing.TB, r *rand.Rand, n int) metric.Finite {
	t.Helper()
	d := make([][]float64, n)
	for i := range d {
		d[i] = make([]float64, n)
		for j := range i {
			d[i][j] = .1 + r.ExpFloat64()
			d[j][i] = d[i][j]
		}
	}
	for k := range n {
		for i := range n {
			for j := range n {
				d[i][j] = min(d[i][j], d[i][k]+d[k][j])
			}
		}
	}
	return testkit.Must(metric.NewMatrix(d))
}

// lossTable is a loss that is no metric: by inputs, then labels.
type lossTable [][]float64

func (l lossTable) Len() int                  { return len(l[0]) }
func (l lossTable) Distance(x, y int) float64 { return l[x][y] }

// Losses that are no metric, on outputs that are no points: random ones, many of
// them 0, and squares of distances.
func TestOptimal_LossAgainstSimplex(t *testing.T) {
	r := random.Seeded(3)
	const labels = 12
	for i := range 60 {
		n := 2 + i%6
		private := randomMetric(t, r, n)
		loss := make(lossTable, n)
		for x := range loss {
			loss[x] = make([]float64, labels)
			for y := range loss[x] {
				if loss[x][y] = max(0, 2*r.Float64()-.5); i%2 == 0 {
					d := private.Distance(x, y%n)
					loss[x][y] = d * d
				}
			}
		}
		d, _, _, _ := metric.Diameter(t.Context(), private)
		alpha := math.Exp(-2+4*r.Float64()) / d
		o := Options{Loss: loss.Distance, Outputs: r.Perm(labels)[:1+r.IntN(6)]}
		if i%3 == 1 {
			o.Prior = testkit.Distribution(r, n, nil)
		}
		b := metric.Bimetric{Privacy: private, Utility: loss}
		lo, hi := simplexOptimum(t, b, alpha, o.Outputs, o.Prior)
		s := testkit.Must(Optimal(t.Context(), metric.Bimetric{Privacy: private}, alpha, &o))
		exact := testkit.Must(Spanner(t.Context(), metric.Bimetric{Privacy: private}, alpha, &SpannerOptions{
			Options: Options{Loss: o.Loss, Outputs: o.Outputs, Prior: o.Prior}, Stretch: 1}))
		for _, s := range []*Solution{s, &exact.Solution} {
			checkAdversary(t, s.Adversary, s.Channel, nil, nil) // there is no metric for it
			s.Adversary = adversary(t.Context(), s.Channel, o.Prior, loss)
			certified(t, b, alpha, o.Prior, s)
			if s.Status != StatusOptimal || s.DualBound > hi || s.Objective < lo {
				t.Errorf("space %d, n=%d, alpha=%v, outputs %v, prior %v: %v, simplex method [%v, %v]", i, n, alpha, o.Outputs, o.Prior, s, lo, hi)
			}
		}
	}
}

// 60 random spaces, 200 with METRICDP_LONG, two metrics, some with a prior, some with
// other outputs.
func TestOptimal_AgainstSimplex(t *testing.T) {
	r, width, spaces := random.Seeded(1), 0.0, testkit.Sweep(60, 200)
	for i := range spaces {
		n := 2 + i%7
		extra := 0
		if i%5 == 4 {
			extra = 1 + r.IntN(2)
		}
		b := metric.Bimetric{Privacy: randomMetric(t, r, n), Utility: randomMetric(t, r, n+extra)}
		if i%3 == 0 && extra == 0 {
			b = metric.Same(b.Privacy)
		}
		d, _, _, _ := metric.Diameter(t.Context(), b.Privacy)
		alpha := math.Exp(-2+4*r.Float64()) / d // alpha*diameter from .14 to 7.4
		var o Options
		outputs := r.Perm(n + extra)
		if extra > 0 || i%7 == 3 {
			outputs = outputs[:1+r.IntN(n+extra)]
			o.Outputs = outputs
		}
		if i%4 == 1 {
			o.Prior = testkit.Distribution(r, n, func(u int) bool { return r.IntN(4) == 0 && u > 0 })
		}
		lo, hi := simplexOptimum(t, b, alpha, outputs, o.Prior)
		s, err := Optimal(t.Context(), b, alpha, &o)
		if err != nil {
			t.Fatalf("space %d: %v", i, err)
		}
		certified(t, b, alpha, o.Prior, s)
		if s.Status != StatusOptimal || s.DualBound > hi || s.Objective < lo || !(lo <= hi && hi-lo < 1e-7) {
			t.Errorf("space %d, n=%d, alpha=%v, %d outputs, prior %v: %v, simplex method [%v, %v]", i, n, alpha, len(outputs), o.Prior, s, lo, hi)
		}
		width = max(width, hi-lo)
	}
	t.Logf("optima known to %.2g", width)
}

// solveKnown checks a solution against a known optimum, to a relative 1e-6 and
// the digits that it was printed with.
func solveKnown(t *testing.T, b metric.Bimetric, alpha, want, digits float64) {
	t.Helper()
	s := testkit.Must(Optimal(t.Context(), b, alpha, &Options{Tolerance: fineTolerance}))
	certified(t, b, alpha, nil, s)
	if s.Status != StatusOptimal || s.Gap > fineTolerance {
		t.Errorf("%v", s)
	}
	if s.DualBound > want+digits || s.Objective < want-digits {
		t.Errorf("[%v, %v] does not hold the known optimum %v", s.DualBound, s.Objective, want)
	}
}

// solverDigits is how exact the printed optima are, relative: the solver that
// found them accepts constraints broken by 1e-7, which lowers them.
const solverDigits = 1e-6

// Least worst losses A(Z, alpha) by HiGHS, or in closed form.
func TestOptimal_KnownAccuracies(t *testing.T) {
	testkit.Rounding(t)
	for _, c := range []struct {
		name        string
		f           metric.Finite
		alpha, want float64
	}{
		{"path 5", space.Path(5, 1), .5, 1.00897714},
		{"path 5", space.Path(5, 1), 1, .637582264},
		{"path 5", space.Path(5, 1), 2, .260630630},
		{"path 50", space.Path(50, 1), 1, .850908003},
		{"path 50", space.Path(50, 1), .5, 1.89556756},
		{"simplex 4", space.Simplex(4, 1), 1, 3 / (3 + math.E)},
		{"simplex 7", space.Simplex(7, 2), .3, 2 * 6 / (6 + math.Exp(.6))},
		{"halton 8", space.Halton(8), 1, .418945416},
		{"halton 8", space.Halton(8), 3, .275763386},
		{"halton 8", space.Halton(8), 10, .0543902960},
		{"two points", space.Path(2, 3), .7, 3 / (1 + math.Exp(2.1))},
		{"one point", space.Path(1, 1), 1, 0},
	} {
		t.Run(fmt.Sprintf("%s alpha=%v", c.name, c.alpha), func(t *testing.T) {
			solveKnown(t, metric.Same(c.f), c.alpha, c.want, max(6e-9, solverDigits*c.want))
		})
	}
}

// The optima of the reference points, found by HiGHS; the last digits of the larger
// ones are cut off.
func TestOptimal_ReferencePoints(t *testing.T) {
	testkit.Slow(t)
	for _, c := range []struct {
		n                   int
		alpha, want, digits float64
	}{
		{20, .5, 2.1647218392, 0}, {30, .5, 2.2694031809, 0}, {50, .5, 2.5000294118, 0},
		{20, 1, 1.0730172247, 0}, {30, 1, 1.1670064581, 0}, {50, 1, 1.3303994495, 0},
		{20, 3, .142583427, 0}, {30, 3, .235381804, 0}, {50, 3, .292060963, 0},
		{20, 6, .0459923231, 0}, {30, 6, .0673938179, 0}, {50, 6, .0685109196, 0},
		{75, .5, 2.5407986291, 2e-7}, {100, .5, 2.61534903, 3e-7}, {150, .5, 2.61263, 1e-5}, {200, .5, 2.67587, 1e-5},
	} {
		t.Run(fmt.Sprintf("n=%d alpha=%v", c.n, c.alpha), func(t *testing.T) {
			if c.n > 30 || c.n > 20 && c.alpha != .5 {
				testkit.Swept(t)
			}
			solveKnown(t, metric.Same(referencePoints(t, c.n)), c.alpha, c.want, max(c.digits, solverDigits*c.want))
		})
	}
}

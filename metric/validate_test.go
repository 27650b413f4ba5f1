package metric

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// table is a Finite with any numbers at all in it.
type table [][]float64

func (t table) Len() int                  { return len(t) }
func (t table) Distance(i, j int) float64 { return t[i][j] }

func newTable(n int, d func(i, j int) float64) table {
	t := make(table, n)
	for i := range t {
		t[i] = make([]float64, n)
		for j := range t {
			t[i][j] = d(i, j)
		}
	}
	return t
}

// symmetric has 0 on the diagonal and draws the rest.
func symmetric(n int, draw func() float64) table {
	t := newTable(n, func(i, j int) float64 { return 0 })
	for i := range t {
		for j := range i {
			t[i][j] = draw()
			t[j][i] = t[i][j]
		}
	}
	return t
}

// sampling makes Validate draw triples at any size.
func sampling(o ValidateOptions) *ValidateOptions {
	o.MaxTriples, o.Samples = 1, 1<<14
	return &o
}

func TestValidate_NamesEachLaw(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	type change struct {
		i, j int
		d    float64
	}
	for _, c := range []struct {
		name   string
		strict bool
		change []change
		want   Violation
	}{
		{"NaN", false, []change{{1, 3, nan}, {3, 1, nan}}, Violation{"metric: Validate", FiniteValue, 1, 3, -1, nan}},
		{"Inf", false, []change{{1, 3, inf}, {3, 1, inf}}, Violation{"metric: Validate", FiniteValue, 1, 3, -1, inf}},
		{"-Inf", false, []change{{1, 3, -inf}, {3, 1, -inf}}, Violation{"metric: Validate", FiniteValue, 1, 3, -1, inf}},
		{"negative", false, []change{{1, 3, -2}, {3, 1, -2}}, Violation{"metric: Validate", FiniteValue, 1, 3, -1, 2}},
		{"NaN below the diagonal", false, []change{{3, 1, nan}}, Violation{"metric: Validate", FiniteValue, 3, 1, -1, nan}},
		{"NaN on the diagonal", false, []change{{2, 2, nan}}, Violation{"metric: Validate", FiniteValue, 2, 2, -1, nan}},
		{"diagonal", false, []change{{2, 2, 0.5}}, Violation{"metric: Validate", ZeroSelf, 2, 2, -1, 0.5}},
		{"asymmetric", false, []change{{1, 3, 1 + 0x1p-52}}, Violation{"metric: Validate", Symmetry, 1, 3, -1, 0x1p-52}},
		{"asymmetric", false, []change{{3, 1, 1 + 0x1p-52}}, Violation{"metric: Validate", Symmetry, 1, 3, -1, 0x1p-52}},
		{"identity", true, []change{{4, 5, 0}, {5, 4, 0}}, Violation{"metric: Validate", Identity, 4, 5, -1, 0}},
		{"triangle", false, []change{{0, 4, 2.5}, {4, 0, 2.5}, {0, 2, 0.75}, {2, 0, 0.75}}, Violation{"metric: Validate", Triangle, 0, 4, 2, 0.75}},
	} {
		f := newTable(6, func(i, j int) float64 { return float64(min(1, max(i-j, j-i))) })
		for _, ch := range c.change {
			f[ch.i][ch.j] = ch.d
		}
		opts := ValidateOptions{Strict: c.strict}
		var v *Violation
		if err := Validate(t.Context(), f, &opts); !errors.As(err, &v) {
			t.Errorf("%s: %v", c.name, err)
		} else if fmt.Sprint(*v) != fmt.Sprint(c.want) {
			t.Errorf("%s: got %v, want %v", c.name, *v, c.want)
		}
		// A sample of 2^14 of the 60 triples misses one with probability below
		// 1e-100, but any of them may come first.
		if err := Validate(t.Context(), f, sampling(opts)); !errors.As(err, &v) {
			t.Errorf("%s, sampled: %v", c.name, err)
		} else if v.K >= 0 {
			if e := f[v.I][v.J] - (f[v.I][v.K] + f[v.K][v.J]); v.Axiom != Triangle || v.Excess != e || !(e > 0) {
				t.Errorf("%s, sampled: %v", c.name, v)
			}
		} else if fmt.Sprint(*v) != fmt.Sprint(c.want) {
			t.Errorf("%s, sampled: got %v, want %v", c.name, *v, c.want)
		}
		if c.strict {
			if err := Validate(t.Context(), f, nil); err != nil {
				t.Errorf("%s: reported without Strict: %v", c.name, err)
			}
		}
	}
}

// The pair is the first of all that fail, the third point the best detour.
func TestValidate_FirstPairLeastSum(t *testing.T) {
	r := random.Seeded(3)
	failed := 0
	for range 300 {
		n := 3 + r.IntN(11)
		f := symmetric(n, func() float64 { return 1 + 1.4*r.Float64() })
		var want *Violation
		for i := 0; i < n && want == nil; i++ {
			for j := i + 1; j < n && want == nil; j++ {
				for k := range n {
					if e := f[i][j] - (f[i][k] + f[k][j]); e > 0 && (want == nil || e > want.Excess) {
						want = &Violation{"metric: Validate", Triangle, i, j, k, e}
					}
				}
			}
		}
		err := Validate(t.Context(), f, nil)
		if (err == nil) != (want == nil) || want != nil && *err.(*Violation) != *want {
			t.Fatalf("n=%d: got %v, want %v", n, err, want)
		}
		if want != nil {
			failed++
		}
	}
	if failed < 50 || failed > 290 {
		t.Errorf("%d of 300 tables fail: the test has lost its point", failed)
	}
}

func TestValidate_Tolerance(t *testing.T) {
	f := func(rel float64) table { return table{{0, 1, 2 * (1 + rel)}, {1, 0, 1}, {2 * (1 + rel), 1, 0}} }
	for _, c := range []struct {
		rel, tol float64
		ok       bool
	}{
		{0x1p-41, 0, true}, {0x1p-40, 0, true}, {0x1p-39, 0, false}, {-0.5, 0, true},
		{0x1p-52, 1e-300, false}, {0, 1e-300, true}, {0.25, 0.5, true}, {0.75, 0.5, false},
	} {
		o := ValidateOptions{Tolerance: c.tol}
		for _, o := range []*ValidateOptions{&o, sampling(o)} {
			if err := Validate(t.Context(), f(c.rel), o); (err == nil) != c.ok {
				t.Errorf("excess %g, %+v: %v", c.rel, o, err)
			}
		}
	}
	// Sums that overflow are no violation.
	big := symmetric(4, func() float64 { return math.MaxFloat64 })
	if err := Validate(t.Context(), big, nil); err != nil {
		t.Error(err)
	}
}

// The 60 ordered triples of 5 points come equally often. False-reject probability 1e-6.
func TestDistinct_Uniform(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 0))
	count := make([]int, 125)
	p := make([]float64, 125)
	for i := range p {
		if a, b, c := i/25, i/5%5, i%5; a != b && b != c && a != c {
			p[i] = 1.0 / 60
		}
	}
	for range 60000 {
		d := distinct(r, 5)
		count[d[0]*25+d[1]*5+d[2]]++
	}
	testkit.ChiSquare(t, count, p, 1e-6)
}

// normSpace is from(p-norm) on R^d, computed in the plain way.
type normSpace struct {
	p    float64
	from func(float64) float64
}

func (s normSpace) Distance(x, y []float64) float64 {
	sum, top := 0.0, 0.0
	for a := range x {
		top = max(top, math.Abs(x[a]-y[a]))
	}
	for a := range x {
		switch g := math.Abs(x[a] - y[a]); s.p {
		case 1:
			sum += g
		case 2:
			sum += g * g
		default:
			sum += math.Pow(g/top, s.p)
		}
	}
	switch {
	case top == 0 || math.IsInf(s.p, 1):
		return s.from(top)
	case s.p == 1:
		return s.from(sum)
	case s.p == 2:
		return s.from(math.Sqrt(sum))
	}
	return s.from(top * math.Pow(sum, 1/s.p))
}

func (s normSpace) Append(dst, x []float64) []float64      { return append(dst, x...) }
func (s normSpace) Norm() (float64, func(float64) float64) { return s.p, s.from }
func plateau(v float64) float64                            { return math.Floor(v * 4) }
func flatten(v float64) float64                            { return 1 - math.Exp(-1e3*v) }
func capped(v float64) float64                             { return min(math.Sqrt(v), 0.6) }
func under(pts [][]float64, s Space[[]float64]) *Points[[]float64] {
	p, err := NewPoints(pts, s)
	if err != nil {
		panic(err)
	}
	return p
}

// SameDistances checks that got has the points of want, at its distances, also in
// the rows that it may have.
func SameDistances(t *testing.T, got, want Finite) {
	t.Helper()
	if got.Len() != want.Len() {
		t.Fatalf("%d points, want %d", got.Len(), want.Len())
	}
	for i := range want.Len() {
		row := finite.Row(got, i, nil)
		for j := range want.Len() {
			if d, e := got.Distance(i, j), want.Distance(i, j); d != e || row[j] != e {
				t.Fatalf("d(%d, %d) = %v, in a row %v, want %v", i, j, d, row[j], e)
			}
		}
	}
}

// scanned hides every optional capability, so that all is scanned.
type scanned struct{ Finite }

// shapes are point sets that are hard in different ways.
func shapes(rng *rand.Rand, n, dim int) map[string][][]float64 {
	gen := func(f func(k int) float64) [][]float64 {
		pts := make([][]float64, n)
		for i := range pts {
			pts[i] = make([]float64, dim)
			for a := range pts[i] {
				pts[i][a] = f(i)
			}
		}
		return pts
	}
	clusters := gen(func(int) float64 { return rng.Float64() })
	for i := range clusters {
		for a := range clusters[i] {
			clusters[i][a] = clusters[i%4][a] + 1e-9*rng.NormFloat64()
		}
	}
	line := gen(func(i int) float64 { return float64(i*7%n) / 3 })
	dups := gen(func(int) float64 { return 0.25 })
	for i, x := range gen(func(int) float64 { return rng.Float64() }) {
		if i%5 == 0 {
			dups[i] = x
		}
	}
	return map[string][][]float64{
		"uniform":  gen(func(int) float64 { return rng.Float64() }),
		"grid":     gen(func(int) float64 { return float64(rng.IntN(6)) }),
		"clusters": clusters,
		"line":     line,
		"dups":     dups,
		"same":     gen(func(int) float64 { return -3 }),
		"far":      gen(func(int) float64 { return 1e8 + 1e-7*float64(rng.IntN(30)) }),
		"huge":     gen(func(int) float64 { return 1e150 * rng.NormFloat64() }),
		"tiny":     gen(func(int) float64 { return 1e-150 * rng.NormFloat64() }),
	}
}

// eachSpace calls f with embedded spaces of many kinds.
func eachSpace(t *testing.T, n int, f func(t *testing.T, p *Points[[]float64])) {
	r := random.Seeded(1)
	each := func(name string, s Space[[]float64], dim int) {
		for shape, pts := range shapes(r, n, dim) {
			t.Run(fmt.Sprintf("%s/d=%d/%s", name, dim, shape), func(t *testing.T) {
				f(t, under(pts, s))
			})
		}
	}
	for _, dim := range []int{1, 2, 3, 5} {
		for _, p := range []float64{1, 2, 3, math.Inf(1)} {
			each(fmt.Sprintf("p=%v", p), normSpace{p, identity}, dim)
		}
	}
	each("sqrt", normSpace{2, math.Sqrt}, 2)
	each("plateau", normSpace{2, plateau}, 2)
	each("capped", normSpace{1, capped}, 3)
	each("noisy", noisy{normSpace{2, identity}}, 2)
	each("flat", noisy{normSpace{2, flatten}}, 2)
}

// noisy is a space whose embedding and distances are both off by as
// much as a careful implementation can be: coordinates by 8 ulps of the
// largest magnitude, distances by 8 ulps, in a way that hides the order.
type noisy struct{ normSpace }

func hash(v ...float64) float64 { // in [-1, 1]
	h := uint64(99)
	for _, x := range v {
		h = (h ^ math.Float64bits(x)) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	return float64(int64(h)) / (1 << 63)
}

func (s noisy) Append(dst, x []float64) []float64 {
	top := 0.0
	for _, v := range x {
		top = max(top, math.Abs(v))
	}
	for _, v := range x {
		dst = append(dst, v+hash(v)*8*0x1p-53*top)
	}
	return dst
}

func (s noisy) Distance(x, y []float64) float64 {
	d := s.normSpace.Distance(x, y)
	return d * (1 + 8*0x1p-53*hash(d))
}

// planePoints returns n uniform points of the unit square.
func planePoints(n int) *Points[[]float64] {
	r := random.Seeded(4)
	flat := make([]float64, 2*n)
	pts := make([][]float64, n)
	for i := range pts {
		pts[i] = flat[2*i : 2*i+2 : 2*i+2]
		pts[i][0], pts[i][1] = r.Float64(), r.Float64()
	}
	return under(pts, normSpace{2, identity})
}

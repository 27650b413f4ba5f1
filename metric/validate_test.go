package metric

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

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

func TestValidate_SameForAnyWorkers(t *testing.T) {
	r := random.Seeded(4)
	for _, one := range []bool{false, true} {
		f := symmetric(200, func() float64 { return 1 + r.Float64() })
		if one {
			for range 20 { // several bad pairs, in chunks far apart
				i, j := r.IntN(200), 100+r.IntN(100)
				if i != j {
					f[i][j] = 2.5
					f[j][i] = 2.5
				}
			}
		}
		for _, o := range []ValidateOptions{{}, {MaxTriples: 1, Samples: 1 << 18, Seed: 9}} {
			o.Workers = 1
			first := fmt.Sprint(Validate(t.Context(), f, &o))
			for _, w := range []int{2, 3, 8} {
				o.Workers = w
				if got := fmt.Sprint(Validate(t.Context(), f, &o)); got != first {
					t.Errorf("%d workers: %s, one: %s", w, got, first)
				}
			}
			if (first == "<nil>") == one {
				t.Errorf("bad pairs %v: %s", one, first)
			}
		}
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

func TestValidate_Progress(t *testing.T) {
	f := planePoints(50)
	for _, o := range []*ValidateOptions{{}, sampling(ValidateOptions{})} {
		last, total := 0, 0
		o.Progress = func(d, n int) {
			if d != last+1 {
				t.Fatalf("progress %d after %d", d, last)
			}
			last, total = d, n
		}
		if err := Validate(t.Context(), f, o); err != nil || last != total || total == 0 {
			t.Errorf("progress ended at %d of %d: %v", last, total, err)
		}
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

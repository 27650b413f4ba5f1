package entropy

import (
	"context"
	"errors"
	"math"
	"math/bits"
	"reflect"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/entropy/internal/limit"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// checkEntropic verifies the witness of the lower end from the definition.
func checkEntropic(t *testing.T, b metric.Bimetric, s Scale) {
	t.Helper()
	if !(0 <= s.Lo && s.Lo <= s.Hi) {
		t.Fatalf("interval %v", s.Interval)
	}
	if s.Lo == 0 {
		if s.X != -1 || s.Set != nil {
			t.Fatalf("witness of 0: %+v", s)
		}
		return
	}
	for i, y := range s.Set {
		if d := b.Privacy.Distance(s.X, y); d > s.R {
			t.Fatalf("point %d at distance %v of %d, radius %v", y, d, s.X, s.R)
		}
		for _, z := range s.Set[:i] {
			if d := b.Utility.Distance(y, z); d < s.Lo {
				t.Fatalf("points %d, %d at distance %v, Lo %v", y, z, d, s.Lo)
			}
		}
	}
	if e := directed.ExpUp(directed.MulUp(s.Alpha, s.R)); float64(len(s.Set)) <= e && !limit.Exceeded(s.Alpha, s.R, len(s.Set)) {
		t.Fatalf("%d points, ball of radius %v may hold %v", len(s.Set), s.R, e)
	}
}

func TestEntropicScale_BruteForce(t *testing.T) {
	for seed := range uint64(200) {
		b := randomBimetric(2+int(seed%11), seed)
		last := math.Inf(1)
		for _, alpha := range []float64{0.1, 0.7, 2, 9} {
			s := testkit.Must(EntropicScale(t.Context(), b, alpha, nil))
			checkEntropic(t, b, s)
			if want := bruteEntropic(b, alpha); s.Lo != want || s.Hi != want {
				t.Fatalf("seed %d, alpha %v: %v, want %v", seed, alpha, s.Interval, want)
			}
			if s.Hi > last {
				t.Fatalf("seed %d, alpha %v: %v after %v", seed, alpha, s.Hi, last)
			}
			last = s.Hi
			g := testkit.Must(EntropicScale(t.Context(), b, alpha, &Options{Nodes: -1}))
			checkEntropic(t, b, g)
			if !g.Contains(s.Lo) {
				t.Fatalf("seed %d, alpha %v: %v without search, want %v", seed, alpha, g.Interval, s.Lo)
			}
		}
	}
}

func TestEntropicScale_KnownAnswers(t *testing.T) {
	b := metric.Same(space.Halton(12))
	for _, c := range []struct{ alpha, greedy, exact, partition float64 }{
		{1, .707140881, 1.038072503, 1.038072503},
		{3, .391114662, .461688059, .600925213},
	} {
		s, err := EntropicScale(t.Context(), b, c.alpha, nil)
		if err != nil || math.Abs(s.Lo-c.exact) > 1e-9 || !s.Exact() {
			t.Errorf("alpha %v: %v, %v, want %v", c.alpha, s, err, c.exact)
		}
		s, err = EntropicScale(t.Context(), b, c.alpha, &Options{Nodes: -1})
		if err != nil || s.Lo < c.greedy-1e-9 || s.Hi > c.partition+1e-9 {
			t.Errorf("alpha %v: %v, %v, want [%v, %v]", c.alpha, s, err, c.greedy, c.partition)
		}
	}
}

// The three ways of computing the scale agree where all apply.
func TestEntropicScale_UltrametricWays(t *testing.T) {
	for seed := range uint64(12) {
		n := 40 + int(seed)
		u := bigUltrametric(n, seed)
		b := metric.Bimetric{Privacy: u, Utility: bigUltrametric(n, seed+100)}
		if seed%3 == 0 {
			b = metric.Same(u)
		}
		for _, alpha := range []float64{0.5, 2, 5, 30} {
			tree := testkit.Must(EntropicScale(t.Context(), b, alpha, nil))
			checkEntropic(t, b, tree)
			rows := testkit.Must(entropicRows(t.Context(), b, b.Utility.(*metric.Ultrametric), alpha, &Options{}))
			checkEntropic(t, b, rows)
			cells := testkit.Must(entropicCells(t.Context(), b, []float64{alpha}, &Options{}))
			checkEntropic(t, b, cells[0])
			if !tree.Exact() || rows.Interval != tree.Interval || cells[0].Interval != tree.Interval {
				t.Fatalf("seed %d, alpha %v: tree %v, rows %v, cells %v", seed, alpha, tree.Interval, rows.Interval, cells[0].Interval)
			}
		}
	}
}

// General rho1, ultrametric rho2.
func TestEntropicScale_Rows(t *testing.T) {
	b := metric.Bimetric{Privacy: planePoints(300, 3), Utility: bigUltrametric(300, 4)}
	for _, alpha := range []float64{1, 10, 100} {
		s := testkit.Must(EntropicScale(t.Context(), b, alpha, &Options{Workers: 1}))
		checkEntropic(t, b, s)
		p, err := EntropicScale(t.Context(), b, alpha, &Options{Workers: 4})
		if err != nil || !s.Exact() || p.Interval != s.Interval || p.X != s.X || !slices.Equal(p.Set, s.Set) {
			t.Fatalf("alpha %v: %+v, %+v, %v", alpha, s, p, err)
		}
		for x := range 20 { // no ball is exceeded at s
			for y := range 300 {
				r := b.Privacy.Distance(x, y)
				c, err := Packing(t.Context(), b.Utility, metric.NewIndex(b.Privacy).Ball(x, r, nil), s.Hi, nil)
				if err != nil || c.Hi >= limit.Least(alpha, r, 300) {
					t.Fatalf("alpha %v, ball of %d to %d: %v, %v", alpha, x, y, c.Hi, err)
				}
			}
		}
	}
}

// baireTree is the sequences of depth coordinates, each 0 or 1, at the distance
// f(k) where they first differ at coordinate k = 1, 2, ...
func baireTree(depth int, f func(k float64) float64) *metric.Ultrametric {
	h := make([]float64, 1<<depth-1)
	for i := range h {
		h[i] = f(float64(depth - bits.TrailingZeros(uint(i+1))))
	}
	u, err := metric.NewUltrametric(allPoints(len(h)+1), h)
	if err != nil {
		panic(err)
	}
	return u
}

// Theorem 6.4 of BSV24, truncated.
func TestScales_Baire(t *testing.T) {
	half := func(k float64) float64 { return math.Exp2(-k) }
	third := func(k float64) float64 { return math.Pow(3, -k) }
	inverse := func(k float64) float64 { return 1 / k }
	for _, c := range []struct {
		f, g        func(float64) float64
		alpha       float64
		depth       int
		scale, diam float64
	}{
		{half, half, 1, 6, .5, .303265330},
		{half, half, 4, 8, .125, .0919698603},
		{half, half, 10, 6, .0625, .0358130996},
		{half, half, 10, 10, .0625, .0358130996},
		{half, half, 50, 6, 0, .00715364628},
		{half, half, 50, 8, .0078125, .00715364628},
		{half, half, 50, 10, .0078125, .00715364628},
		{half, half, 200, 6, 0, .000686514588},
		{half, half, 200, 8, 0, .00178841157},
		{half, half, 200, 10, .001953125, .00178841157},
		{half, third, 4, 8, 1. / 27, .0451117611},
		{inverse, half, 4, 8, .0625, .0338338208},
	} {
		u := baireTree(c.depth, c.f)
		b := metric.Same(u)
		if c.g(2) != c.f(2) {
			b.Utility = baireTree(c.depth, c.g)
		}
		s, err := EntropicScale(t.Context(), b, c.alpha, nil)
		if err != nil || !s.Exact() || math.Abs(s.Lo-c.scale) > 1e-9 {
			t.Errorf("alpha %v, depth %d: s = %v, %v, want %v", c.alpha, c.depth, s, err, c.scale)
		}
		checkEntropic(t, b, s)
		d, err := DiametricScale(t.Context(), b, c.alpha, nil)
		if err != nil || math.Abs(d.Lo-c.diam) > 1e-9 || math.Abs(d.Hi-c.diam) > 1e-9 {
			t.Errorf("alpha %v, depth %d: s_o = %v, %v, want %v", c.alpha, c.depth, d, err, c.diam)
		}
		checkDiametric(t, b, d)
	}
}

// The bits of a result depend on Nodes, not on Workers.
func TestEntropicScales_Workers(t *testing.T) {
	points := planePoints(900, 8)
	other := testkit.Must(metric.Permuted(planePoints(900, 9), allPoints(900)))
	for _, b := range []metric.Bimetric{metric.Same(points), {Privacy: points, Utility: other}} {
		alphas := []float64{2, 6, 40}
		one := testkit.Must(EntropicScales(t.Context(), b, alphas, &Options{Nodes: 1500, Workers: 1}))
		four := testkit.Must(EntropicScales(t.Context(), b, alphas, &Options{Nodes: 1500, Workers: 4}))
		for k, s := range one {
			checkEntropic(t, b, s)
			if !reflect.DeepEqual(s, four[k]) {
				t.Errorf("one worker: %+v\nfour: %+v", s, four[k])
			}
			if k > 0 && (s.Lo > one[k-1].Lo || s.Hi > one[k-1].Hi) {
				t.Errorf("alpha %v: %v after %v", s.Alpha, s.Interval, one[k-1].Interval)
			}
		}
	}
}

func TestScales_Trivial(t *testing.T) {
	one := planePoints(1, 1)
	same := testkit.Must(metric.NewPoints([][]float64{{1, 2}, {1, 2}, {1, 2}}, metric.Euclidean{}))
	for _, f := range []metric.Finite{one, same} {
		for name, scale := range scales {
			s, err := scale(t.Context(), metric.Same(f), 1)
			if err != nil || s.Lo != 0 || s.Hi != 0 || s.X != -1 {
				t.Errorf("%s: %+v, %v", name, s, err)
			}
		}
	}
	// At distance 0 in rho1 and 3 in rho2.
	apart := testkit.Must(metric.NewPoints([][]float64{{0}, {3}, {3}}, metric.Euclidean{}))
	for name, scale := range scales {
		s, err := scale(t.Context(), metric.Bimetric{Privacy: same, Utility: apart}, 1e9)
		if err != nil || s.Lo != 3 || s.Hi != 3 || s.R != 0 {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
}

var scales = map[string]func(context.Context, metric.Bimetric, float64) (Scale, error){
	"entropic": func(ctx context.Context, b metric.Bimetric, alpha float64) (Scale, error) {
		return EntropicScale(ctx, b, alpha, nil)
	},
	"diametric": func(ctx context.Context, b metric.Bimetric, alpha float64) (Scale, error) {
		return DiametricScale(ctx, b, alpha, nil)
	},
}

func TestScales_Errors(t *testing.T) {
	b := metric.Same(planePoints(5, 1))
	var value *fault.ValueError
	for name, scale := range scales {
		for _, alpha := range []float64{0, -1, math.NaN(), math.Inf(1)} {
			if _, err := scale(t.Context(), b, alpha); !errors.As(err, &value) || value.Arg != "alpha" {
				t.Errorf("%s, alpha %v: %v", name, alpha, err)
			}
		}
		if _, err := scale(t.Context(), metric.Bimetric{Privacy: b.Privacy, Utility: planePoints(6, 1)}, 1); err == nil {
			t.Errorf("%s takes metrics of 5 and 6 points", name)
		}
		if _, err := scale(t.Context(), metric.Bimetric{}, 1); err == nil {
			t.Errorf("%s takes no metric", name)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := scale(ctx, metric.Same(planePoints(800, 1)), 5); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, f := range []func(ctx context.Context, b metric.Bimetric, alphas []float64) ([]Scale, error){
		func(ctx context.Context, b metric.Bimetric, alphas []float64) ([]Scale, error) {
			return EntropicScales(ctx, b, alphas, nil)
		},
		func(ctx context.Context, b metric.Bimetric, alphas []float64) ([]Scale, error) {
			return DiametricScales(ctx, b, alphas, nil)
		},
	} {
		if _, err := f(t.Context(), b, []float64{2, 1}); !errors.As(err, &value) || value.Index != 1 {
			t.Errorf("descending: %v", err)
		}
		if _, err := f(t.Context(), b, []float64{1, math.NaN()}); !errors.As(err, &value) || value.Index != 1 {
			t.Errorf("NaN: %v", err)
		}
		if _, err := f(t.Context(), b, nil); !errors.Is(err, fault.ErrEmpty) {
			t.Errorf("no levels: %v", err)
		}
	}
}

// No ball holds too many points more than Hi apart: Packing, which is exact
// here or a lower bound, finds none.
func TestEntropicScale_NoBallExceeds(t *testing.T) {
	testkit.Slow(t)
	for seed := range uint64(8) {
		n := 50
		b := randomBimetric(n, seed)
		for _, alpha := range []float64{0.4, 3} {
			for _, nodes := range []int{0, -1} {
				s := testkit.Must(EntropicScale(t.Context(), b, alpha, &Options{Nodes: nodes}))
				checkEntropic(t, b, s)
				for x := range n {
					row := finite.Row(b.Privacy, x, nil)
					for _, r := range row {
						c := testkit.Must(Packing(t.Context(), b.Utility, bruteBall(b.Privacy, x, r), s.Hi, nil))
						if c.Lo >= limit.Least(alpha, r, n) {
							t.Fatalf("seed %d, alpha %v: %d points more than %v apart within %v of %d", seed, alpha, c.Lo, s.Hi, r, x)
						}
					}
				}
			}
		}
	}
}

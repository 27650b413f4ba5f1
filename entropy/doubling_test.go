package entropy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/rng"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// checkDoubling fails unless the witness proves the lower end.
func checkDoubling(t *testing.T, f metric.Finite, d Doubling) {
	t.Helper()
	if !(d.Lo >= 0 && d.Lo <= d.Hi) {
		t.Fatalf("interval %v", d.Interval)
	}
	if d.Lo == 0 {
		if d.X != -1 || d.Set != nil {
			t.Fatalf("a witness of nothing: %+v", d)
		}
		return
	}
	if !(d.R/2 < d.Lo) || float64(len(d.Set)) < math.Exp(2*d.Alpha*d.Lo)*(1-1e-12) {
		t.Fatalf("%+v", d)
	}
	for a, i := range d.Set {
		if f.Distance(d.X, i) > d.R {
			t.Fatalf("%d outside the ball", i)
		}
		for _, j := range d.Set[:a] {
			if f.Distance(i, j) < d.Lo {
				t.Fatalf("%d, %d at %v, below Lo = %v", i, j, f.Distance(i, j), d.Lo)
			}
		}
	}
}

func TestDoubling_BruteForce(t *testing.T) {
	for seed := range uint64(200) {
		r := rng.Seeded(seed)
		n := 1 + r.IntN(12)
		f := randomSpace(n, seed)
		alphas := []float64{.1, .7, 1.5, 3, 20}
		ds, err := DoublingScales(f, alphas, nil)
		if err != nil {
			t.Fatal(err)
		}
		for k, d := range ds {
			want := bruteDoubling(f, alphas[k])
			checkDoubling(t, f, d)
			if d.Lo > want*(1+1e-14) || d.Hi < want*(1-1e-14) || d.Width() > 1e-12*want {
				t.Fatalf("seed %d, n %d, alpha %v: [%.17g, %.17g], want %.17g", seed, n, alphas[k], d.Lo, d.Hi, want)
			}
			greedy, err := DoublingScale(f, alphas[k], &Options{Nodes: -1})
			if err != nil {
				t.Fatal(err)
			}
			checkDoubling(t, f, greedy)
			if greedy.Lo > want*(1+1e-14) || greedy.Hi < want*(1-1e-14) {
				t.Fatalf("seed %d, alpha %v, no nodes: %v, want %v", seed, alphas[k], greedy.Interval, want)
			}
		}
	}
}

// TestDoubling_Entropic: s(f, 4 alpha)/2 <= doubling scale <= s(f, alpha).
func TestDoubling_Entropic(t *testing.T) {
	for seed := range uint64(24) {
		f := randomSpace(7, seed)
		for _, alpha := range []float64{.2, 1, 4} {
			d := bruteDoubling(f, alpha)
			if hi := bruteEntropic(metric.Same(f), alpha); d > hi*(1+1e-12) {
				t.Errorf("seed %d, alpha %v: doubling %v above entropic %v", seed, alpha, d, hi)
			}
			if lo := bruteEntropic(metric.Same(f), 4*alpha) / 2; d < lo*(1-1e-12) {
				t.Errorf("seed %d, alpha %v: doubling %v below %v", seed, alpha, d, lo)
			}
		}
	}
}

// TestDoubling_Net: the bounds through a net enclose those from all points, and
// the workers do not matter.
func TestDoubling_Net(t *testing.T) {
	testkit.Slow(t)
	f := planePoints(300, 1)
	for _, alpha := range []float64{2, 30} {
		d, err := DoublingScale(f, alpha, &Options{Nodes: 20, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		checkDoubling(t, f, d)
		e, err := DoublingScale(f, alpha, &Options{Nodes: 20, Workers: 3})
		if err != nil || d.Interval != e.Interval || d.X != e.X {
			t.Errorf("alpha %v: %v with one worker, %v with three (%v)", alpha, d.Interval, e.Interval, err)
		}
	}
	// Lo of a subset of the points bounds nothing, but Lo and Hi of one space
	// by two sets of cells must overlap.
	g := planePoints(200, 2)
	for _, alpha := range []float64{1, 5, 25} {
		d, err := DoublingScale(g, alpha, &Options{Nodes: 100})
		if err != nil {
			t.Fatal(err)
		}
		search, err := newDoublingSearch(g, (&Options{Nodes: 50}).orDefault())
		if err != nil {
			t.Fatal(err)
		}
		search.crowd = 60
		e, err := search.scale(alpha)
		if err != nil {
			t.Fatal(err)
		}
		checkDoubling(t, g, e)
		if alpha == 1 && search.largest == 0 {
			t.Error("no net was used")
		}
		if e.Lo > d.Hi || d.Lo > e.Hi {
			t.Errorf("alpha %v: all points %v, cells %v", alpha, d.Interval, e.Interval)
		}
	}
}

// TestDoubling_Extremes: levels at the ends of the floats.
func TestDoubling_Extremes(t *testing.T) {
	f := space.Halton(6)
	diam, _, _ := metric.Diameter(f)
	for _, alpha := range []float64{5e-324, 1e-300, 1e300, math.MaxFloat64} {
		d, err := DoublingScale(f, alpha, nil)
		if err != nil {
			t.Fatal(err)
		}
		o, err := OuterScale(f, alpha, nil)
		if err != nil {
			t.Fatal(err)
		}
		checkDoubling(t, f, d)
		checkOuter(t, f, o)
		if alpha < 1 { // any two points are too many, and so is any logarithm
			if d.Interval != (Interval{diam, diam}) || o.Hi != diam || o.Lo < diam*(1-1e-11) {
				t.Errorf("alpha %v: doubling %v, outer %v, diameter %v", alpha, d.Interval, o.Interval, diam)
			}
		} else if d.Interval != (Interval{}) || o.Hi > 1e-299 {
			t.Errorf("alpha %v: doubling %v, outer %v", alpha, d.Interval, o.Interval)
		}
	}
}

func TestDoubling_Trivial(t *testing.T) {
	one := space.Halton(1)
	same, err := metric.NewPoints([][]float64{{1}, {1}, {1}}, metric.Euclidean{})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []metric.Finite{one, same} {
		d, err := DoublingScale(f, 1, nil)
		if err != nil || d.Interval != (Interval{}) {
			t.Errorf("%v, %v", d, err)
		}
		g, err := OuterScale(f, 1, nil)
		if err != nil || g.Interval != (Interval{}) {
			t.Errorf("%v, %v", g, err)
		}
	}
	var value *fault.ValueError
	for _, alpha := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, err := DoublingScale(one, alpha, nil); !errors.As(err, &value) || value.Arg != "alpha" {
			t.Error(err)
		}
		if _, err := OuterScales(one, []float64{1, alpha}, nil); !errors.As(err, &value) || value.Index != 1 {
			t.Error(err)
		}
	}
	if _, err := DoublingScale(nil, 1, nil); !errors.Is(err, fault.ErrEmpty) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := DoublingScale(planePoints(500, 1), 1, &Options{Context: ctx}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if _, err := OuterScale(planePoints(500, 1), 1, &Options{Context: ctx}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func BenchmarkDoublingScale(b *testing.B) {
	for _, n := range []int{300, 2000, 10000} {
		f := planePoints(n, 1)
		for _, alpha := range []float64{2, 30} {
			b.Run(fmt.Sprintf("n=%d/alpha=%v", n, alpha), func(b *testing.B) {
				var d Doubling
				for b.Loop() {
					var err error
					if d, err = DoublingScale(f, alpha, nil); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(d.Lo, "lo")
				b.ReportMetric(d.Hi, "hi")
			})
		}
	}
	r := rng.Seeded(1)
	h := make([]float64, 99999)
	for i := range h {
		h[i] = math.Pow(r.Float64(), 4)
	}
	u, err := metric.NewUltrametric(r.Perm(100000), h)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("ultrametric/n=100000", func(b *testing.B) {
		for b.Loop() {
			if _, err := DoublingScale(u, 3, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}

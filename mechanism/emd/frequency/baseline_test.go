package frequency

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/mechanismtest"
	"github.com/metricdp/metricdp/metric"
)

func TestHadamard_AuditsAtItsLevel(t *testing.T) {
	for _, k := range []int{1, 2, 3, 4, 7, 8, 30} {
		for _, eps := range []float64{1e-4, .0075, 1, 20, 800} {
			h := testkit.Must(NewHadamard(k, eps))
			if want := 1 << int(math.Ceil(math.Log2(float64(k+1)))); h.Outputs() != want {
				t.Errorf("k=%d: %d outputs, want %d", k, h.Outputs(), want)
			}
			c := testkit.Must(h.Channel(t.Context()))
			a := testkit.Must(c.Audit(t.Context(), space.Constant(k, 1), nil))
			level := h.Guarantee().Alpha()
			if a.Hi > eps || a.Lo > level || level > eps || k > 1 && a.Hi < eps*(1-1e-9) {
				t.Errorf("k=%d eps=%v: audit %v, level %v", k, eps, a, level)
			}
		}
	}
}

func TestRandomizers_DoNotAllocate(t *testing.T) {
	r := random.Seeded(1)
	for _, m := range []mechanism.Mechanism[int, int]{testkit.Must(NewHadamard(12, 1)), mustGKRR(t, testkit.Must(metric.NewClustered(3, 4, .3)), 1.5)} {
		if n := testing.AllocsPerRun(100, func() { m.Release(r, 3) }); n != 0 {
			t.Errorf("%v allocations a release", n)
		}
	}
}

// The per-item budget of the baseline, by exact composition: known answers.
func TestNewHadamardBaseline_Budget(t *testing.T) {
	for _, c := range []struct{ delta, want float64 }{{1e-12, .004838732781}, {1e-6, .007495100134}} {
		f := testkit.Must(NewHadamardBaseline(t.Context(), space.Constant(5, 1), emd.Model{Trust: emd.Local, Items: 1000, Diameter: 1}, emd.DP{Eps: 1, Delta: c.delta}, nil))
		if got := f.inv.(*Hadamard).eps; math.Abs(got/c.want-1) > 1e-9 {
			t.Errorf("delta %v: %v, want %v", c.delta, got, c.want)
		}
	}
}

// The bound is that of the second moments, summed over the law: sum over y of
// P(y|x) ||R[y,.]-unit(x)||^2 is k gain^2-1 for every x.
func TestHadamard_ErrorBoundIsTheSumOfVariances(t *testing.T) {
	space := testkit.Must(metric.NewClustered(7, 1, 1))
	f := testkit.Must(NewHadamardBaseline(t.Context(), space, emd.Model{Trust: emd.Local, Items: 2, Diameter: 3}, emd.DP{Eps: 2}, nil))
	for x := range 7 {
		moment := 0.0
		for y, p := range lawOf(t, f, nil, x) {
			for j, r := range oneOf(t, f, y) {
				if j == x {
					r--
				}
				moment += p * r * r
			}
		}
		want := 3. / 2 * math.Sqrt(7*moment/100)
		if got := f.ErrorBound(100); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("item %d: bound %v, summed %v", x, got, want)
		}
	}
}

// The simulated error of both baselines, their totals spread as Project does,
// is within their bounds and above half of them: the mean of 100 is within a
// few percent of the expected error.
func TestBaselines_ErrorWithinTheBound(t *testing.T) {
	space := testkit.Must(metric.NewClustered(16, 1, 1))
	model := emd.Model{Trust: emd.Central, Users: 50, Items: 10, Diameter: 1}
	data := usersOf(1, testkit.Distribution(random.Seeded(1), 16, nil), 50, 10)
	truth := histogram(16, data)
	for name, f := range map[string]*Estimator{
		"Hadamard": testkit.Must(NewHadamardBaseline(t.Context(), space, model, emd.DP{Eps: 10}, nil)),
		"Laplace":  testkit.Must(NewLaplaceBaseline(t.Context(), space, model, 1)),
	} {
		r, mean, bound := random.Seeded(3), 0.0, f.ErrorBound(500)
		const reps = 100
		for range reps {
			mean += errorOn(t, space, withTotalOne(estimateOf(t, f, r, data).Mean), truth) / reps
		}
		if mean > bound || mean < bound/2 {
			t.Errorf("%s: error %v, bound %v", name, mean, bound)
		}
	}
}

// The scale is Lap(2/(n eps)), twice the paper's; the noise on integer counts
// has the stated deviation. 16*4000 draws: the sum of squares is within 6 % but
// with probability below 1e-9 (deviation of a squared Laplace variable: sqrt(5)
// times its mean, 0.9 % of the sum), and a parameter 10 % too large takes off
// 17 %.
func TestLaplaceBaseline_Scale(t *testing.T) {
	const n, m, eps = 40, 25, .8
	f := testkit.Must(NewLaplaceBaseline(t.Context(), space.Constant(16, 1), emd.Model{Trust: emd.Central, Users: n, Items: m, Diameter: 1}, eps))
	if g := f.Guarantee().UserLevel(); g != (emd.DP{Eps: eps}) || f.noise*2*m > eps {
		t.Errorf("guarantee %v at parameter %v", g, f.noise)
	}
	data := usersOf(4, testkit.Distribution(random.Seeded(5), 16, nil), n, m)
	truth := histogram(16, data)
	r := random.Seeded(6)
	squares, said := 0.0, 0.0
	const reps = 4000
	for range reps {
		e := estimateOf(t, f, r, data)
		for x, v := range e.Mean {
			squares += (v - truth[x]) * (v - truth[x])
			said += e.StdErr[x] * e.StdErr[x]
		}
		if want := math.Sqrt2 * 2 / (n * eps); math.Abs(e.StdErr[0]/want-1) > 1e-3 {
			t.Fatalf("deviation %v, of Lap(2/(n eps)) %v", e.StdErr[0], want)
		}
	}
	if q := squares / said; math.Abs(q-1) > .06 {
		t.Errorf("variance %v times what is said", q)
	}
}

// The two randomizers of items keep the laws of mechanisms, with the law and the level of the channels
// they stand for.
func TestRandomizers_Conform(t *testing.T) {
	clusters := testkit.Must(testkit.Must(metric.NewClustered(4, 3, 0.3)).Scaled(2, "km"))
	for _, c := range []struct {
		m interface {
			mechanism.Mechanism[int, int]
			Channel(context.Context) (*mechanism.Channel, error)
		}
		rho metric.Finite
	}{{testkit.Must(NewGKRR(clusters, 1.5)), clusters}, {testkit.Must(NewHadamard(5, 1)), space.Constant(5, 1)}} {
		n := c.rho.Len()
		o := &mechanismtest.Options[int, int]{Refused: []int{-1, n}, Samples: 1 << 15}
		channel := testkit.Must(c.m.Channel(t.Context()))
		law := map[int]float64{}
		for y, p := range channel.Row(1, nil) {
			law[channel.Output(y)] += p
		}
		e, err := mechanismtest.TestLevel(t.Context(), c.m, 0, n-1, c.rho.Distance(0, n-1), o)
		if err := errors.Join(err, mechanismtest.TestMechanism(t.Context(), c.m, []int{0, 1, n - 1}, o),
			mechanismtest.TestChannel(t.Context(), channel, c.rho, o), mechanismtest.TestDistribution(t.Context(), c.m, 1, law, o)); err != nil {
			t.Errorf("%T: %v", c.m, err)
		}
		if e.Level < 0.8*c.m.Guarantee().Alpha() {
			t.Errorf("%T: the test sees %v, less than 0.8 of %v", c.m, e, c.m.Guarantee())
		}
	}
}

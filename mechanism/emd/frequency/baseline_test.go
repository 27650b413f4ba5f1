package frequency

import (
	"errors"
	"math"
	"math/bits"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/mechanismtest"
	"github.com/metricdp/metricdp/metric"
)

// channelOf is the law of h on k items, written down.
func channelOf(t testing.TB, h *hadamard, k int) *mechanism.Channel {
	return testkit.Must(mechanism.NewChannel(t.Context(), mechanism.Rows{Inputs: k, Outputs: h.size, Log: true, Fill: func(x int, dst []float64) {
		for y := range dst {
			dst[y] = -h.eps * float64(bits.OnesCount(uint(x+1)&uint(y))&1)
		}
	}}, nil))
}

func TestHadamard_AuditsAtItsLevel(t *testing.T) {
	for _, k := range []int{1, 2, 3, 4, 7, 8, 30} {
		for _, eps := range []float64{1e-4, .0075, 1, 20, 800} {
			h := testkit.Must(newHadamard("", k, eps))
			if want := 1 << int(math.Ceil(math.Log2(float64(k+1)))); h.size != want {
				t.Errorf("k=%d: %d outputs, want %d", k, h.size, want)
			}
			a := testkit.Must(channelOf(t, h, k).Audit(t.Context(), space.Constant(k, 1), nil))
			if a.Hi > eps || a.Lo > h.eps || h.eps > eps || k > 1 && a.Hi < eps*(1-1e-9) {
				t.Errorf("k=%d eps=%v: audit %v, level %v", k, eps, a, h.eps)
			}
		}
	}
}

// Draws have that law: chi-square at level 1e-7.
func TestHadamard_Law(t *testing.T) {
	h, r := testkit.Must(newHadamard("", 5, 1)), random.Seeded(3)
	for x := range 5 {
		seen := make([]int, h.size)
		for range 20_000 {
			seen[h.draw(r, x)]++
		}
		testkit.ChiSquare(t, seen, channelOf(t, h, 5).Row(x, nil), 1e-7)
	}
}

// The per-item budget of the baseline, by exact composition: known answers.
func TestNewHadamardBaseline_Budget(t *testing.T) {
	for _, c := range []struct{ delta, want float64 }{{1e-12, .004838732781}, {1e-6, .007495100134}} {
		f := testkit.Must(NewHadamardBaseline(t.Context(), space.Constant(5, 1), emd.Model{Trust: emd.Local, Items: 1000, Diameter: 1}, emd.DP{Eps: 1, Delta: c.delta}, nil))
		if got := f.inv.(*hadamard).eps; math.Abs(got/c.want-1) > 1e-9 {
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

// The randomizer of items keeps the laws of mechanisms, with the law and the level of its channel.
func TestGKRR_Conforms(t *testing.T) {
	rho := testkit.Must(testkit.Must(metric.NewClustered(4, 3, 0.3)).Scaled(2, "km"))
	m, n := testkit.Must(NewGKRR(rho, 1.5)), rho.Len()
	o := &mechanismtest.Options[int, int]{Refused: []int{-1, n}, Samples: 1 << 15}
	channel := testkit.Must(m.Channel(t.Context()))
	law := map[int]float64{}
	for y, p := range channel.Row(1, nil) {
		law[channel.Output(y)] += p
	}
	e, err := mechanismtest.TestLevel(t.Context(), m, 0, n-1, rho.Distance(0, n-1), o)
	if err := errors.Join(err, mechanismtest.TestMechanism(t.Context(), m, []int{0, 1, n - 1}, o),
		mechanismtest.TestChannel(t.Context(), channel, rho, o), mechanismtest.TestDistribution(t.Context(), m, 1, law, o)); err != nil {
		t.Error(err)
	}
	if e.Level < 0.8*m.Guarantee().Alpha() {
		t.Errorf("the test sees %v, less than 0.8 of %v", e, m.Guarantee())
	}
}

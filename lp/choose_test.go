package lp

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// checkChoice checks what every choice promises.
func checkChoice(t *testing.T, b metric.Bimetric, alpha float64, prior []float64, s *exponential.Choice) {
	t.Helper()
	a, err := s.Audit(t.Context(), b.Privacy, nil)
	// The constant mechanism needs no audit, whose rounding is some 1e-24.
	if err != nil || a.Hi > alpha && s.Method != exponential.MethodConstant || s.Channel.Guarantee().Alpha() > alpha {
		t.Errorf("audit %v, guarantee %v, alpha %v: %v", a, s.Channel.Guarantee(), alpha, err)
	}
	loss := lossOf(t, s.Channel, b.Utility, prior)
	// What the channel says is 0 may be a probability below 2^-1022.
	far := max(1, s.Candidates[0].Loss) // the constant's: as large as distances, but for a factor
	if !(loss <= s.Objective && s.Objective <= loss*(1+1e-8)+1e-300*far) || s.LowerBound > s.Objective {
		t.Errorf("loss %v, objective %v, bound %v by %q", loss, s.Objective, s.LowerBound, s.BoundBy)
	}
	checkAdversary(t, s.Adversary, s.Channel, b.Utility, prior)
	taken := 0
	for _, k := range s.Candidates {
		if k.Loss < s.Objective || k.Level > alpha {
			t.Errorf("%+v passed over for %v", k, s.Objective)
		}
		if math.IsInf(k.Loss, 1) != (k.Err != nil) {
			t.Errorf("%+v: a loss or an error", k)
		}
		if k.Method == s.Method {
			if k.Adversary != s.Adversary && prior != nil {
				t.Errorf("%+v, an adversary's error of %v", k, s.Adversary)
			}
			taken++
		}
	}
	if taken != 1 {
		t.Errorf("%q is %d times among the candidates", s.Method, taken)
	}
}

// Whatever method fails, on spaces on which rounding shows, Choose has a mechanism that loses
// no more than the standard one.
func TestChoose_WorksWhereStandardDoes(t *testing.T) {
	r := random.Seeded(31)
	for i := range testkit.Sweep(12, 400) {
		f, alpha := space.Hard(r)
		b := metric.Same(f)
		if i%4 == 3 {
			b.Utility = space.Uniform(f.Len(), r)
		}
		c, err := Choose(t.Context(), b, alpha, &Options{TimeLimit: 100 * time.Millisecond})
		if err != nil {
			t.Fatalf("%d: %v, alpha %v: %v", i, f, alpha, err)
		}
		checkChoice(t, b, alpha, nil, c)
		far := max(1, c.Candidates[0].Loss)
		if m, err := exponential.Standard(t.Context(), f, alpha, nil); err == nil {
			if loss := lossOf(t, m.Channel, b.Utility, nil); !(c.Objective <= loss*(1+1e-9)+1e-300*far) {
				t.Errorf("%d: %v, alpha %v: %v, the standard mechanism loses %v", i, f, alpha, c, loss)
			}
		}
	}
}

func candidate(t *testing.T, s *exponential.Choice, method exponential.Method) exponential.Candidate {
	t.Helper()
	for _, k := range s.Candidates {
		if k.Method == method {
			return k
		}
	}
	t.Fatalf("no %q among %+v", method, s.Candidates)
	return exponential.Candidate{}
}

func TestChoose_Optimal(t *testing.T) {
	for alpha, optimum := range map[float64]float64{.5: 1.00897714, 1: .637582264, 2: .260630630} {
		b := metric.Same(space.Path(5, 1))
		s := testkit.Must(Choose(t.Context(), b, alpha, nil))
		checkChoice(t, b, alpha, nil, s)
		if math.Abs(s.Objective-optimum) > 2e-6*optimum || s.Gap > 2e-6 || s.BoundBy != boundByProgram {
			t.Errorf("alpha %v: %+v, want %v", alpha, s, optimum)
		}
		if k := candidate(t, s, MethodSpanner); !errors.Is(k.Err, errNeedless) {
			t.Errorf("spanner: %+v", k)
		}
		if k := candidate(t, s, MethodConstOPT); k.Err != nil || k.Took <= 0 {
			t.Errorf("%+v", k)
		}
	}
}

func TestChoose_Prior(t *testing.T) {
	b := metric.Same(space.Path(5, 1))
	prior := []float64{.5, .3, .1, .05, .05}
	want := testkit.Must(Optimal(t.Context(), b, 1, &Options{Prior: prior}))
	s := testkit.Must(Choose(t.Context(), b, 1, &Options{Prior: prior}))
	checkChoice(t, b, 1, prior, s)
	if math.Abs(s.Objective-want.Objective) > 2e-6 || s.LowerBound != want.DualBound {
		t.Errorf("%v and bound %v, want %v", s.Objective, s.LowerBound, want)
	}
	// Little time, and no program.
	s = testkit.Must(Choose(t.Context(), b, 1, &Options{Prior: prior, TimeLimit: time.Nanosecond}))
	checkChoice(t, b, 1, prior, s)
	if s.LowerBound > want.Objective || s.BoundBy != boundByStar || !(s.Gap < .6) {
		t.Errorf("bound %v by %q, gap %v", s.LowerBound, s.BoundBy, s.Gap)
	}
}

// Without time the exponential family is left, and a bound that needs no
// program.
func TestChoose_NoTime(t *testing.T) {
	testkit.Slow(t)
	b := metric.Same(space.Halton(100))
	s := testkit.Must(Choose(t.Context(), b, 10, &Options{TimeLimit: time.Nanosecond, Unit: "km"}))
	checkChoice(t, b, 10, nil, s)
	late := new(TimeError)
	if k := candidate(t, s, MethodOptimal); !errors.As(k.Err, &late) || late.Needs < 100*time.Millisecond {
		t.Errorf("optimal: %+v", k)
	}
	if k := candidate(t, s, exponential.MethodSnapped); k.Err != nil || k.Level > 10 {
		t.Errorf("snapped: %+v", k)
	}
	if s.Method != exponential.MethodTuned && s.Method != exponential.MethodTight || s.BoundBy != "star" || !(s.Gap > 0 && s.Gap < 1) {
		t.Errorf("%s, bound by %q, gap %v", s.Method, s.BoundBy, s.Gap)
	}
	if u := s.Channel.Guarantee().Unit(); u != "km" {
		t.Errorf("unit %q", u)
	}
}

// Remapped noise loses less than snapped noise where tight weights do not exist; on few
// outputs it is allowed.
func TestChoose_RemappedNoise(t *testing.T) {
	testkit.Slow(t)
	b := metric.Same(space.Halton(40))
	for outputs, factor := range map[int]float64{40: .95, 6: 1 + 1e-6} {
		o := &Options{Outputs: make([]int, outputs)}
		for i := range o.Outputs {
			o.Outputs[i] = i
		}
		s := testkit.Must(Choose(t.Context(), b, 3, o))
		k := candidate(t, s, exponential.MethodRemapped)
		if k.Err != nil || k.Level > 3 || !(k.Loss < factor*candidate(t, s, exponential.MethodSnapped).Loss) || s.Objective > k.Loss {
			t.Errorf("%d outputs: %v", outputs, s)
		}
	}
}

// A program that the time ended found no optimal mechanism, after which nothing
// else would be tried.
func TestChoose_StoppedIsNotOptimal(t *testing.T) {
	testkit.Slow(t)
	c := testkit.Must(newChooser(t.Context(), "test", metric.Same(space.Halton(50)), 1, nil))
	if channel, err := c.best(t.Context(), 1); channel == nil || err != nil || c.optimal {
		t.Errorf("%v, %v, optimal: %v", channel, err, c.optimal)
	}
	if channel, err := c.best(t.Context(), time.Minute); channel == nil || err != nil || !c.optimal {
		t.Errorf("%v, %v, optimal: %v", channel, err, c.optimal)
	}
}

// What stops Optimal is the candidate's error, beside a mechanism where there is one.
func TestChoose_PassesOnWhyOptimalStopped(t *testing.T) {
	f := metric.Same(space.Halton(120))
	c := testkit.Must(newChooser(t.Context(), "test", f, 5, nil))
	c.o.MemoryLimit = 1
	var memory *metric.MemoryError
	if m, err := c.best(t.Context(), time.Minute); m != nil || !errors.As(err, &memory) || c.optimal {
		t.Errorf("with a byte of memory: %v, %v", m, err)
	}
	for _, after := range []time.Duration{0, 30 * time.Millisecond} {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(after, cancel)
		c := testkit.Must(newChooser(t.Context(), "test", f, 5, nil))
		m, err := c.best(ctx, time.Minute)
		if !errors.Is(err, context.Canceled) || c.optimal {
			t.Errorf("canceled after %v: %v, %v", after, m, err)
		}
	}
}

// The estimate follows the engines: dense factors, constraints as needed to 1e-6
// and to 1e-3, and sparse factors, each within a factor of 2 of what was measured.
func TestChoose_OptimalNeeds(t *testing.T) {
	testkit.Slow(t)
	for _, c := range []struct {
		f       metric.Finite
		outputs []int
		seconds float64
	}{
		{space.Halton(50), nil, .15}, {space.Halton(100), nil, .8}, {space.Halton(150), nil, 3.7}, {space.Halton(151), nil, 1.7}, {space.Halton(250), nil, 10},
		{space.Grid(20), nil, 6}, {tree(400), nil, 5.6}, {space.Grid(32), nil, 160},
		{space.Halton(500), make([]int, 20), 1.9}, {space.Halton(1000), make([]int, 20), 11}, {roads(t, 32, 32), make([]int, 20), 2.5}, {roads(t, 32, 32), make([]int, 50), 13},
	} {
		o := testkit.Must(newChooser(t.Context(), "test", metric.Same(c.f), 1, &Options{Outputs: c.outputs}))
		if needs := o.optimalNeeds().Seconds(); needs < c.seconds/2 || needs > 2*c.seconds {
			t.Errorf("n=%d: %.3g s, want %v s", c.f.Len(), needs, c.seconds)
		}
	}
}

// Every method releases the outputs that were asked for, points or not, and is valued
// by the loss that was; the best is the optimum of [Optimal] where there is time for it.
func TestChoose_OutputsAndLoss(t *testing.T) {
	f := space.Halton(40)
	squares := make(lossTable, 40)
	for x := range squares {
		squares[x] = make([]float64, 200)
		for y := range squares[x] {
			d := f.Distance(x, y%40)
			squares[x][y] = d * d
		}
	}
	b := metric.Same(f)
	for _, o := range []Options{
		{Outputs: []int{2, 11, 5, 30}},
		{Outputs: []int{102, 2, 11, 105, 130}, Loss: squares.Distance},
		{Outputs: []int{102, 111, 105, 130}, Loss: squares.Distance, Prior: testkit.Distribution(random.Seeded(2), 40, nil)},
	} {
		at := b
		if o.Loss != nil {
			at.Utility = squares
		}
		want := testkit.Must(Optimal(t.Context(), b, 4, &Options{Outputs: o.Outputs, Loss: o.Loss, Prior: o.Prior}))
		for _, o.TimeLimit = range []time.Duration{0, 1} {
			s := testkit.Must(Choose(t.Context(), metric.Bimetric{Privacy: f, Utility: at.Utility}, 4, &o))
			checkChoice(t, at, 4, o.Prior, s)
			if k := candidate(t, s, exponential.MethodRemapped); o.Loss != nil && k.Err != errLoss {
				t.Errorf("%+v", k)
			}
			for y := range s.Outputs() {
				if !slices.Contains(o.Outputs, s.Output(y)) {
					t.Errorf("%s releases %d", s.Method, s.Output(y))
				}
			}
			if s.LowerBound > want.Objective || s.Objective < want.DualBound || o.TimeLimit == 0 && s.Objective > want.Objective*(1+1e-5) || !(s.Gap < .5) {
				t.Errorf("%v, optimal %v", s, want)
			}
		}
	}
}

// One point, points together, two metrics, levels of any size; and two points far apart
// with a third one near to both: by the triangle inequality, which does not hold, no
// mechanism loses less than 47, but the third point loses 1.
func TestChoose_AnySpace(t *testing.T) {
	far := space.Formula(3, func(i, j int) float64 { return [3][3]float64{{0, 100, 1}, {100, 0, 1}, {1, 1, 0}}[i][j] })
	two := metric.Bimetric{Privacy: space.Path(12, 1), Utility: space.Simplex(12, 3)}
	for _, c := range []struct {
		b     metric.Bimetric
		alpha float64
		limit time.Duration
		free  bool // nothing need be lost
	}{
		{metric.Same(space.Path(1, 1)), 1, 0, true}, {metric.Same(space.Simplex(3, 0)), 1, 0, true}, {two, .7, 0, false},
		{metric.Bimetric{Privacy: space.Simplex(3, .1), Utility: far}, 1, 0, false}, {metric.Bimetric{Privacy: space.Simplex(3, .1), Utility: far}, 1, 1, false},
		{metric.Same(space.Path(4, 1)), 1e-300, 0, false}, {metric.Same(space.Path(4, 1)), 1e-20, 0, false}, {metric.Same(space.Path(4, 1)), 100, 0, false},
		{metric.Same(space.Path(4, 1)), 1e10, 0, false}, {metric.Same(space.Path(4, 1)), 1e300, 0, false},
	} {
		s := testkit.Must(Choose(t.Context(), c.b, c.alpha, &Options{TimeLimit: c.limit}))
		checkChoice(t, c.b, c.alpha, nil, s)
		if c.free && (s.Objective != 0 || s.Gap != 0) {
			t.Errorf("%d points: %v", c.b.Len(), s)
		}
		if !c.b.OneMetric() && c.limit == 0 && candidate(t, s, exponential.MethodRelaxedTuned).Err != nil {
			t.Errorf("%v", s)
		}
	}
}

func TestChoose_Canceled(t *testing.T) {
	// Stopped as the third method would begin: the first two stand.
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	b := metric.Same(space.Halton(20))
	s, err := Choose(ctx, b, 10, &Options{Progress: func(method int, gap float64, _ time.Duration) {
		if !(gap > 0 && gap <= 1) {
			t.Errorf("method %d: gap %v", method, gap)
		}
		if method == 2 {
			stop()
		}
	}})
	if !errors.Is(err, context.Canceled) || s == nil || len(s.Candidates) != 2 {
		t.Fatalf("%+v, %v", s, err)
	}
	checkChoice(t, b, 10, nil, s)
	// Stopped before anything began.
	if s, err := Choose(ctx, b, 10, nil); !errors.Is(err, context.Canceled) || s != nil {
		t.Errorf("%+v, %v", s, err)
	}
}

// What was left out says why, in few words.
func TestChoose_SaysWhatIsLeftOut(t *testing.T) {
	for want, err := range map[string]error{
		"ConstOPT: none: takes about 3s, and 1s is left":                        &TimeError{MethodConstOPT, 3 * time.Second, time.Second},
		"ConstOPT: none: takes about 40ms, and no time is left":                 &TimeError{MethodConstOPT, 37 * time.Millisecond, 0},
		"ConstOPT: none: an optimal mechanism was found before":                 errNeedless,
		"ConstOPT: none: not for a loss other than a metric between the inputs": errLoss,
	} {
		if got := (exponential.Candidate{Method: MethodConstOPT, Loss: math.Inf(1), Err: err}).String(); got != want {
			t.Error(got)
		}
	}
}

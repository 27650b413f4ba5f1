package lp

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// checkChoice checks what every choice promises.
func checkChoice(t *testing.T, b metric.Bimetric, alpha float64, prior []float64, s *Choice) {
	t.Helper()
	a, err := s.Audit(t.Context(), b.Privacy, nil)
	// The constant mechanism needs no audit, whose rounding is some 1e-24.
	if err != nil || a.Hi > alpha && s.Method != MethodConstant || s.Channel.Guarantee().Alpha() > alpha {
		t.Errorf("audit %v, guarantee %v, alpha %v: %v", a, s.Channel.Guarantee(), alpha, err)
	}
	loss := lossOf(t, s.Channel, b.Utility, prior)
	if !(loss <= s.Objective && s.Objective <= loss*(1+1e-8)) || s.LowerBound > s.Objective {
		t.Errorf("loss %v, objective %v, bound %v by %q", loss, s.Objective, s.LowerBound, s.BoundBy)
	}
	taken := 0
	for _, k := range s.Candidates {
		if k.Loss < s.Objective || k.Level > alpha {
			t.Errorf("%+v passed over for %v", k, s.Objective)
		}
		if math.IsInf(k.Loss, 1) != (k.Err != nil) {
			t.Errorf("%+v: a loss or an error", k)
		}
		if k.Method == s.Method {
			taken++
		}
	}
	if taken != 1 {
		t.Errorf("%q is %d times among the candidates", s.Method, taken)
	}
}

func candidate(t *testing.T, s *Choice, method Method) Candidate {
	t.Helper()
	for _, k := range s.Candidates {
		if k.Method == method {
			return k
		}
	}
	t.Fatalf("no %q among %+v", method, s.Candidates)
	return Candidate{}
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
	s := testkit.Must(Choose(t.Context(), b, 1, &ChooseOptions{Prior: prior}))
	checkChoice(t, b, 1, prior, s)
	if math.Abs(s.Objective-want.Objective) > 2e-6 || s.LowerBound != want.DualBound {
		t.Errorf("%v and bound %v, want %v", s.Objective, s.LowerBound, want)
	}
	// Little time, and no bound for a mean.
	s = testkit.Must(Choose(t.Context(), b, 1, &ChooseOptions{Prior: prior, TimeLimit: time.Nanosecond}))
	checkChoice(t, b, 1, prior, s)
	if s.LowerBound != 0 || s.BoundBy != "" || s.Gap != 1 {
		t.Errorf("bound %v by %q, gap %v", s.LowerBound, s.BoundBy, s.Gap)
	}
}

// Without time the exponential family is left, and a bound that needs no
// program.
func TestChoose_NoTime(t *testing.T) {
	b := metric.Same(space.Halton(100))
	s := testkit.Must(Choose(t.Context(), b, 10, &ChooseOptions{TimeLimit: time.Nanosecond, Unit: "km"}))
	checkChoice(t, b, 10, nil, s)
	late := new(TimeError)
	if k := candidate(t, s, MethodOptimal); !errors.As(k.Err, &late) || late.Needs < time.Second {
		t.Errorf("optimal: %+v", k)
	}
	if s.Method != MethodTuned && s.Method != MethodTight || s.BoundBy != "star" || !(s.Gap > 0 && s.Gap < 1) {
		t.Errorf("%s, bound by %q, gap %v", s.Method, s.BoundBy, s.Gap)
	}
	if u := s.Channel.Guarantee().Unit(); u != "km" {
		t.Errorf("unit %q", u)
	}
}

// A program that the time ended found no optimal mechanism, after which nothing
// else would be tried.
func TestChoose_StoppedIsNotOptimal(t *testing.T) {
	c := &chooser{b: metric.Same(space.Halton(50)), alpha: 1, choice: &Choice{}}
	if channel, err := c.best(t.Context(), 1); channel == nil || err != nil || c.optimal {
		t.Errorf("%v, %v, optimal: %v", channel, err, c.optimal)
	}
	if channel, err := c.best(t.Context(), time.Minute); channel == nil || err != nil || !c.optimal {
		t.Errorf("%v, %v, optimal: %v", channel, err, c.optimal)
	}
}

// The estimate follows the engines: dense factors, constraints as needed to 1e-6
// and to 1e-3, and sparse factors, each within a factor of 2 of what was measured.
func TestChoose_OptimalNeeds(t *testing.T) {
	for _, c := range []struct {
		f       metric.Finite
		seconds float64
	}{
		{space.Halton(50), .2}, {space.Halton(100), 4}, {space.Halton(150), 9}, {space.Halton(151), 6}, {space.Halton(400), 170},
		{space.Grid(20), 9}, {tree(400), 9}, {space.Grid(32), 160},
	} {
		o := chooser{b: metric.Same(c.f), alpha: 1, ChooseOptions: ChooseOptions{TimeLimit: time.Hour}}
		if needs := o.optimalNeeds(t.Context()).Seconds(); needs < c.seconds/2 || needs > 2*c.seconds {
			t.Errorf("n=%d: %.3g s, want %v s", c.f.Len(), needs, c.seconds)
		}
	}
}

func TestChoose_TwoMetrics(t *testing.T) {
	b := metric.Bimetric{Privacy: space.Path(12, 1), Utility: space.Simplex(12, 3)}
	s := testkit.Must(Choose(t.Context(), b, .7, nil))
	checkChoice(t, b, .7, nil, s)
	if k := candidate(t, s, MethodRelaxedTuned); k.Err != nil {
		t.Errorf("%+v", k)
	}
}

// Two points far apart and a third one near to both: by the triangle inequality,
// which does not hold, no mechanism loses less than 47, but the third point loses 1.
func TestChoose_NoMetric(t *testing.T) {
	far := space.Formula(3, func(i, j int) float64 { return [3][3]float64{{0, 100, 1}, {100, 0, 1}, {1, 1, 0}}[i][j] })
	b := metric.Bimetric{Privacy: space.Simplex(3, .1), Utility: far}
	for _, limit := range []time.Duration{1, 0} {
		s := testkit.Must(Choose(t.Context(), b, 1, &ChooseOptions{TimeLimit: limit}))
		checkChoice(t, b, 1, nil, s)
	}
}

func TestChoose_Trivial(t *testing.T) {
	for name, f := range map[string]metric.Finite{"one point": space.Path(1, 1), "coincident points": space.Simplex(3, 0)} {
		s := testkit.Must(Choose(t.Context(), metric.Same(f), 1, nil))
		checkChoice(t, metric.Same(f), 1, nil, s)
		if s.Objective != 0 || s.Gap != 0 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestChoose_HostileLevels(t *testing.T) {
	for _, alpha := range []float64{1e-300, 1e-20, 100, 1e10, 1e300} {
		b := metric.Same(space.Path(4, 1))
		checkChoice(t, b, alpha, nil, testkit.Must(Choose(t.Context(), b, alpha, nil)))
	}
}

func TestChoose_Canceled(t *testing.T) {
	// Stopped as the third method begins: the first two stand.
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	b, begun := metric.Same(space.Halton(20)), 0
	s, err := Choose(ctx, b, 10, &ChooseOptions{Progress: func(Method) {
		if begun++; begun == 3 {
			stop()
		}
	}})
	if !errors.Is(err, context.Canceled) || s == nil {
		t.Fatalf("%+v, %v", s, err)
	}
	checkChoice(t, b, 10, nil, s)
	// Stopped before anything began.
	if s, err := Choose(ctx, b, 10, nil); !errors.Is(err, context.Canceled) || s != nil {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestChoice_StringHasALineForEachCandidate(t *testing.T) {
	m := testkit.Must(exponential.Constant(3, 1, "km"))
	none := math.Inf(1)
	s := &Choice{LowerBound: 1.5, BoundBy: "star", Choice: exponential.Choice{Mechanism: *m, Objective: 2, Candidates: []Candidate{
		{Method: MethodConstant, Loss: 2},
		{Method: MethodTuned, Loss: 3, Level: 0.25, Err: context.Canceled},
		{Method: MethodTight, Loss: none, Level: math.NaN(), Err: &exponential.NegativeWeightError{Index: 1, Weight: -0.5}},
		{Method: MethodConstOPT, Loss: none, Level: math.NaN(), Err: &TimeError{MethodConstOPT, 3 * time.Second, time.Second}},
		{Method: MethodSpanner, Loss: none, Level: math.NaN(), Err: errNeedless},
	}}}
	const want = `loss 2, bound 1.5 (star), by constant: 3 x 1 channel, 0-private per km
  constant: loss 2 at level 0
  tuned: loss 3 at level 0.25 (context canceled)
  tight weights: none: tight weights do not exist: w[1] = -0.5; at larger alpha they do
  ConstOPT: none: needs about 3s, 1s is left
  spanner: none: an optimal mechanism was found before`
	if got := s.String(); got != want {
		t.Errorf("%s", got)
	}
}

// A choice in JSON has its bound beside what a choice of package exponential has.
func TestChoice_JSON(t *testing.T) {
	s := testkit.Must(Choose(t.Context(), metric.Same(space.Path(4, 1)), 1, nil))
	var have struct {
		Objective, LowerBound, Gap float64
		BoundBy                    string
		Method                     Method
		Channel                    json.RawMessage
	}
	if err := json.Unmarshal(testkit.Must(json.Marshal(s)), &have); err != nil {
		t.Fatal(err)
	}
	if have.Objective != s.Objective || have.LowerBound != s.LowerBound || have.Gap != s.Gap || have.BoundBy != s.BoundBy || have.Method != s.Method || len(have.Channel) < 16 {
		t.Errorf("%+v, want %v", have, s)
	}
	if err := json.Unmarshal([]byte("{}"), s); err == nil || !strings.Contains(err.Error(), "ReadChannel") {
		t.Error(err)
	}
}

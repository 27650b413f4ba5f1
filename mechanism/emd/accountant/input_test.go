package accountant

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// Every question refuses a bad Shuffle, and each what it is asked about.
func TestQuestions_Refuse(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	s := Shuffle{Records: 100, Items: 10, Alpha0: 1, Diameter: 1}
	two := testkit.Must(metric.NewMatrix([][]float64{{0, 1}, {1, 0}}))
	ch := func(w ...float64) *mechanism.Channel { return testkit.Must(mechanism.FromWeights(bg, 2, 2, w, nil)) }
	known := Shuffle{Records: 10, Items: 1, Randomizer: testkit.Must(NewRandomizer(bg, ch(2, 1, 1, 2), two))}
	moved := Moved{1, 1}
	check := func(want string, errs ...error) {
		t.Helper()
		for _, err := range errs {
			var v *fault.ValueError
			if !errors.As(err, &v) || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %s", err, want)
			}
		}
	}
	for want, set := range map[string]func(s *Shuffle){
		"Records = 0":               func(s *Shuffle) { s.Records = 0 },
		"Items = 0":                 func(s *Shuffle) { s.Items = 0 },
		"Items = 101":               func(s *Shuffle) { s.Items = 101 },
		"Items = 9.007199254740992": func(s *Shuffle) { s.Records, s.Items = math.MaxInt64, 1<<53+1 }, // no float64
		"Diameter = 0":              func(s *Shuffle) { s.Diameter = 0 },
		"Diameter = NaN":            func(s *Shuffle) { s.Diameter = nan },
		"Diameter = +Inf":           func(s *Shuffle) { s.Diameter = inf },
		"MinDistance = 2":           func(s *Shuffle) { s.MinDistance = 2 },
		"MinDistance = NaN":         func(s *Shuffle) { s.MinDistance = nan },
		"Clones = 2":                func(s *Shuffle) { s.Clones = 2 },
	} {
		s := s
		set(&s)
		check("Shuffle."+want, testkit.Err(s.Level(bg, 1e-6)), testkit.Err(s.Delta(bg, 1)), testkit.Err(s.Budget(bg, Promise{1, 1e-6})))
		if !strings.Contains(want, "Items") { // these do not read them
			check("Shuffle."+want, testkit.Err(s.MovedLevel(bg, moved, 1e-6)), testkit.Err(s.MovedDelta(bg, moved, 0.1)))
		}
	}
	for _, x := range []float64{nan, 0, inf, -1} {
		s, what := s, fmt.Sprint(" = ", x)
		check("p.Alpha"+what, testkit.Err(s.Budget(bg, Promise{x, 1e-9})))
		check("alpha"+what, testkit.Err(s.Delta(bg, x)), testkit.Err(known.Delta(bg, x)))
		check("eps"+what, testkit.Err(ComposeBudget(bg, 1, x, .1)))
		s.Alpha0 = x
		check("Shuffle.Alpha0"+what, testkit.Err(s.Level(bg, 0)), testkit.Err(s.Delta(bg, 1)), testkit.Err(s.MovedDelta(bg, moved, 0)))
	}
	for _, x := range []float64{1, nan, -1e-9, 1e-310} {
		what := fmt.Sprint(" = ", x)
		check("p.Delta"+what, testkit.Err(s.Budget(bg, Promise{1, x})))
		check("delta"+what, testkit.Err(s.Level(bg, x)), testkit.Err(s.MovedLevel(bg, moved, x)), testkit.Err(Composition{1, 1}.Level(bg, x)),
			testkit.Err(ComposeBudget(bg, 1, 1, x)), testkit.Err(known.Level(bg, x)))
	}
	for want, v := range map[string]Moved{"Items = 0": {0, 1}, "Items = 101": {101, 1}, "Distance = -1": {1, -1}, "Distance = 3.5": {3, 3.5}, "Distance = NaN": {1, nan}} {
		check("v."+want, testkit.Err(s.MovedDelta(bg, v, 0)), testkit.Err(s.MovedLevel(bg, v, 0)))
	}
	high := s
	high.Alpha0 = 701
	check("Shuffle.Alpha0 = 701", testkit.Err(high.MovedLevel(bg, moved, 0)))
	check("eps = NaN", testkit.Err(s.MovedDelta(bg, moved, nan)), testkit.Err(Composition{1, 1}.Delta(bg, nan)))
	check("eps = -1", testkit.Err(s.MovedDelta(bg, moved, -1)), testkit.Err(Composition{1, 1}.Delta(bg, -1)))
	check("Composition.Count = 0", testkit.Err(Composition{0, 1}.Delta(bg, 0)), testkit.Err(ComposeBudget(bg, 0, 1, .1)))
	check("Composition.Count = 9.2", testkit.Err(Composition{math.MaxInt64, 1}.Delta(bg, 0)))
	check("Composition.Item = 701", testkit.Err(Composition{1, 701}.Level(bg, 0)))
	check("the level of c = +Inf", testkit.Err(NewRandomizer(bg, ch(1, 0, 1, 2), two)))
	check("the level of c = 701", testkit.Err(NewRandomizer(bg, ch(1, math.Exp(-701), math.Exp(-701), 1), two)))
	check("the level of c = 0", testkit.Err(NewRandomizer(bg, ch(1, 1, 1, 1), two)))
	both := known
	both.Alpha0 = 1
	testkit.Refused(t, [][3]any{
		{testkit.Err(both.Level(bg, 0.1)), "a Randomizer, and a level", nil},
		{testkit.Err(known.Budget(bg, Promise{Alpha: 1, Delta: 0.1})), "there is a Randomizer", nil},
		{testkit.Err(Shuffle{Records: 10, Items: 1, Randomizer: new(Randomizer)}.Level(bg, 0.1)), "NewRandomizer", nil},
	})
}

// Levels that the joint bound has no digits for are those of pure composition.
func TestShuffleLevel_OutsideItsRange(t *testing.T) {
	for _, alpha0 := range []float64{1e-110, 1e-290, 701, 1e200} {
		s := ask{Records: 100, Items: 10, Diameter: 1, Alpha0: alpha0, Delta: 1e-6}
		if a, err := s.level(); err != nil || a.Theorem != PureComposition || a.Value < 10*alpha0 || a.Value > 10*alpha0*(1+1e-15) {
			t.Errorf("alpha0 = %g: %v, %v", alpha0, a, err)
		}
	}
}

// A question whose context is done ends, however long it would take.
func TestShuffle_EndsWithItsContext(t *testing.T) {
	s := Shuffle{Records: 1e9, Items: 1, Alpha0: 0.7, Diameter: 1, Clones: MetricRandomizer}
	many := Shuffle{Records: 4e9, Items: 20, Alpha0: 7.7, Diameter: 1}
	known := clustered(t, 4, 5, .1, 1, users{1e8, 1000})
	done, cancel := context.WithCancel(context.Background())
	cancel()
	for name, ask := range map[string]func(context.Context) error{
		"Level":  func(ctx context.Context) error { return testkit.Err(s.Level(ctx, 1e-30)) },
		"Budget": func(ctx context.Context) error { return testkit.Err(s.Budget(ctx, Promise{Alpha: 0.1, Delta: 1e-30})) },
		"known":  func(ctx context.Context) error { return testkit.Err(known.Level(ctx, 1e-9)) },
	} {
		ctx, stop := context.WithTimeout(context.Background(), 50*time.Millisecond)
		defer stop()
		clock := testkit.StartClock()
		if err := ask(ctx); !errors.Is(err, context.DeadlineExceeded) || clock.Took() > time.Second {
			t.Errorf("%s: %v after %v", name, err, clock.Took())
		}
	}
	c := Composition{Count: 1000, Item: 0.01}
	for _, err := range []error{
		testkit.Err(s.Level(done, 1e-30)), testkit.Err(s.Budget(done, Promise{Alpha: 0.1, Delta: 1e-30})),
		testkit.Err(many.Delta(done, 100)), testkit.Err(many.MovedDelta(done, Moved{20, 20}, 100)), testkit.Err(known.Level(done, 1e-9)),
		testkit.Err(c.Level(done, 1e-6)), testkit.Err(c.Delta(done, 1)), testkit.Err(ComposeBudget(done, 1000, 1, 1e-6)),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("a context that is done: %v", err)
		}
	}
}

// Budget/N=1e8 is the time in examples/README.md; the others are the slowest cases.
func BenchmarkShuffle(b *testing.B) {
	for name, s := range map[string]ask{
		"Budget/N=1e8":           {Records: 1e8, Items: 1000, Alpha: 25, Delta: 1e-12},
		"Level/N=1e9,m=1,varies": {Records: 1e9, Items: 1, Alpha0: 0.7, Delta: 1e-30, Clones: MetricRandomizer},
		"Level/N=4e5,m=20":       {Records: 4e5, Items: 20, Alpha0: 7.7, Delta: 1e-6},
		"Level/N=2^40,m=1000":    {Records: 1 << 40, Items: 1000, Alpha0: 0.7, Delta: 1e-12},
	} {
		s.Diameter = 1
		testkit.Bench(b, name, func() {
			if s.Alpha0 == 0 {
				testkit.Must(s.budget())
			} else {
				testkit.Must(s.level())
			}
		})
	}
}

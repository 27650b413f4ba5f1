package accountant

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/testkit"
)

// Each question refuses a bad Shuffle, and what it is asked about.
func TestQuestions_Refuse(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	questions := map[string]func(s Shuffle, alpha0, alpha, delta float64) error{
		"Shuffle.Level": func(s Shuffle, alpha0, _, delta float64) error {
			s.Alpha0 = alpha0
			return testkit.Err(s.Level(bg, delta))
		},
		"Shuffle.Delta": func(s Shuffle, alpha0, alpha, _ float64) error {
			s.Alpha0 = alpha0
			return testkit.Err(s.Delta(bg, alpha))
		},
		"Shuffle.Budget": func(s Shuffle, _, alpha, delta float64) error {
			return testkit.Err(s.Budget(bg, Promise{alpha, delta}))
		},
		"Shuffle.MovedLevel": func(s Shuffle, alpha0, _, delta float64) error {
			s.Alpha0 = alpha0
			return testkit.Err(s.MovedLevel(bg, Moved{1, 1}, delta))
		},
		"Shuffle.MovedDelta": func(s Shuffle, alpha0, _, _ float64) error {
			s.Alpha0 = alpha0
			return testkit.Err(s.MovedDelta(bg, Moved{1, 1}, 0.1))
		},
	}
	for want, set := range map[string]func(s *Shuffle){
		"Shuffle.Records = 0":                   func(s *Shuffle) { s.Records = 0 },
		"Shuffle.Items = 0":                     func(s *Shuffle) { s.Items = 0 },
		"Shuffle.Items = 101":                   func(s *Shuffle) { s.Items = 101 },
		"Shuffle.Items = 9.007199254740992e+15": func(s *Shuffle) { s.Records, s.Items = math.MaxInt64, 1<<53+1 }, // no float64
		"Shuffle.Diameter = 0":                  func(s *Shuffle) { s.Diameter = 0 },
		"Shuffle.Diameter = NaN":                func(s *Shuffle) { s.Diameter = nan },
		"Shuffle.Diameter = +Inf":               func(s *Shuffle) { s.Diameter = inf },
		"Shuffle.MinDistance = 2":               func(s *Shuffle) { s.MinDistance = 2 },
		"Shuffle.MinDistance = NaN":             func(s *Shuffle) { s.MinDistance = nan },
		"Shuffle.Clones = 2":                    func(s *Shuffle) { s.Clones = 2 },
	} {
		s := Shuffle{Records: 100, Items: 10, Diameter: 1}
		set(&s)
		for name, ask := range questions {
			if strings.HasPrefix(name, "Shuffle.Moved") && strings.Contains(want, "Items") {
				continue // they do not read them
			}
			if err := ask(s, 1, 1, 1e-6); err == nil || !strings.HasPrefix(err.Error(), "accountant: "+name+": "+want) {
				t.Errorf("%s: %v, want %s", name, err, want)
			}
		}
	}
	s := Shuffle{Records: 100, Items: 10, Diameter: 1}
	at := func(alpha0 float64) Shuffle {
		s := s
		s.Alpha0 = alpha0
		return s
	}
	c := Composition{1, 1}
	for _, r := range []struct {
		err  error
		want string
	}{
		{testkit.Err(at(nan).Level(bg, 0)), "Shuffle.Alpha0 = NaN"},
		{testkit.Err(at(0).Level(bg, 0)), "Shuffle.Alpha0 = 0"},
		{testkit.Err(at(inf).Level(bg, 0)), "Shuffle.Alpha0 = +Inf"},
		{testkit.Err(at(1).Level(bg, 1)), "delta = 1"},
		{testkit.Err(at(1).Level(bg, nan)), "delta = NaN"},
		{testkit.Err(at(-1).Delta(bg, 1)), "Shuffle.Alpha0 = -1"},
		{testkit.Err(at(1).Delta(bg, 0)), "alpha = 0"},
		{testkit.Err(at(1).Delta(bg, inf)), "alpha = +Inf"},
		{testkit.Err(s.Budget(bg, Promise{nan, 0})), "p.Alpha = NaN"},
		{testkit.Err(s.Budget(bg, Promise{1, -1e-9})), "p.Delta = -1e-09"},
		{testkit.Err(s.Budget(bg, Promise{1, 1e-310})), "p.Delta = 1e-310"},
		{testkit.Err(s.Budget(bg, Promise{0, 1e-9})), "p.Alpha = 0"},
		{testkit.Err(at(0).MovedDelta(bg, Moved{1, 1}, 0)), "Shuffle.Alpha0 = 0"},
		{testkit.Err(at(1).MovedDelta(bg, Moved{0, 1}, 0)), "v.Items = 0"},
		{testkit.Err(at(1).MovedDelta(bg, Moved{101, 1}, 0)), "v.Items = 101"},
		{testkit.Err(at(1).MovedDelta(bg, Moved{1, -1}, 0)), "v.Distance = -1"},
		{testkit.Err(at(1).MovedDelta(bg, Moved{3, 3.5}, 0)), "v.Distance = 3.5"},
		{testkit.Err(at(1).MovedDelta(bg, Moved{1, nan}, 0)), "v.Distance = NaN"},
		{testkit.Err(at(1).MovedDelta(bg, Moved{1, 1}, nan)), "eps = NaN"},
		{testkit.Err(at(1).MovedDelta(bg, Moved{1, 1}, -1)), "eps = -1"},
		{testkit.Err(at(701).MovedLevel(bg, Moved{1, 1}, 0)), "Shuffle.Alpha0 = 701"},
		{testkit.Err(at(1).MovedLevel(bg, Moved{1, 1}, 1)), "delta = 1"},
		{testkit.Err(at(1).MovedLevel(bg, Moved{1, 2}, 0)), "v.Distance = 2"},
		{testkit.Err(Composition{0, 1}.Delta(bg, 0)), "Composition.Count = 0"},
		{testkit.Err(Composition{math.MaxInt64, 1}.Delta(bg, 0)), "Composition.Count = 9.2"},
		{testkit.Err(Composition{1, nan}.Level(bg, 0)), "Composition.Item = NaN"},
		{testkit.Err(Composition{1, 701}.Level(bg, 0)), "Composition.Item = 701"},
		{testkit.Err(c.Delta(bg, -1)), "eps = -1"},
		{testkit.Err(c.Delta(bg, inf)), "eps = +Inf"},
		{testkit.Err(c.Level(bg, 1)), "delta = 1"},
		{testkit.Err(c.Level(bg, nan)), "delta = NaN"},
		{testkit.Err(ComposeBudget(bg, 0, 1, .1)), "Composition.Count = 0"},
		{testkit.Err(ComposeBudget(bg, 1, nan, .1)), "eps = NaN"},
		{testkit.Err(ComposeBudget(bg, 1, 0, .1)), "eps = 0"},
		{testkit.Err(ComposeBudget(bg, 1, 1, 1)), "delta = 1"},
	} {
		var v *fault.ValueError
		if !errors.As(r.err, &v) || !strings.Contains(r.err.Error(), r.want) {
			t.Errorf("%v, want %s", r.err, r.want)
		}
	}
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
	for name, ask := range map[string]func(context.Context) error{
		"Level":  func(ctx context.Context) error { return testkit.Err(s.Level(ctx, 1e-30)) },
		"Budget": func(ctx context.Context) error { return testkit.Err(s.Budget(ctx, Promise{Alpha: 0.1, Delta: 1e-30})) },
		"Delta":  func(ctx context.Context) error { return testkit.Err(many.Delta(ctx, 100)) },
		"Moved":  func(ctx context.Context) error { return testkit.Err(many.MovedDelta(ctx, Moved{20, 20}, 100)) },
	} {
		done, cancel := context.WithCancel(context.Background())
		cancel()
		if err := ask(done); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, a context that is done: %v", name, err)
		}
		if name == "Delta" || name == "Moved" {
			continue // too short
		}
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		clock := testkit.StartClock()
		err := ask(ctx)
		if took := clock.Took(); !errors.Is(err, context.DeadlineExceeded) || took > time.Second {
			t.Errorf("%s: %v after %v", name, err, took)
		}
		cancel()
	}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	c := Composition{Count: 1000, Item: 0.01}
	for _, err := range []error{
		testkit.Err(c.Level(done, 1e-6)), testkit.Err(c.Delta(done, 1)), testkit.Err(ComposeBudget(done, 1000, 1, 1e-6)),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("composition: %v", err)
		}
	}
}

// Any numbers give an error or a figure in its range.
func FuzzShuffle(f *testing.F) {
	f.Add(int64(1000), int64(10), 1.0, 1e-6, 1.0, 0.0, 0)
	f.Add(int64(1), int64(1), 1e-100, 1e-300, 1e100, 1e100, 1)
	f.Add(int64(math.MaxInt64), int64(1<<53), 700.0, 0.999999, 1.0, 0.5, 1)
	f.Add(int64(1e6-1), int64(1), 1e-17, 0.5, 3.0, 1e-5, 1)
	f.Add(int64(2), int64(2), 40.0, 1e-12, 1.0, 1.0, 0)
	f.Add(int64(1e5), int64(30), 1e-17, -51.5, 3.0, 1e-5, 1) // gains that do not change along a cell
	f.Fuzz(func(t *testing.T, n, m int64, level, delta, diam, least float64, clones int) {
		n %= 1e6 // more may take seconds, which go test -fuzz takes for a hang
		s := ask{n, m, level, level, delta, diam, least, Clones(clones)}
		in := func(what string, v, lo, hi float64) {
			if !(v >= lo && v <= hi) {
				t.Errorf("%s of %+v is %g", what, s, v)
			}
		}
		if v, err := s.level(); err == nil {
			in("level", v.Value, 0, float64(m)*level*(1+1e-12))
		}
		if v, err := s.delta(); err == nil {
			in("delta", v.Value, 0, 1)
		}
		if v, err := s.budget(); err == nil {
			in("budget", v.Value, level/float64(m)*(1-1e-12), math.MaxFloat64)
		}
		if v, err := (ask{Records: n, Alpha0: level, Clones: Clones(clones), Diameter: 1}).item(least, delta); err == nil {
			in("item's delta", v, 0, 1)
		}
		if v, err := s.shuffle().MovedLevel(bg, Moved{m, least}, delta); err == nil {
			in("change's level", v.Value, 0, least*level*(1+1e-12))
		}
	})
}

// Budget/N=1e8 is the time in examples/README.md; the others are the slowest cases, with
// the widest windows and the largest N that counts.
func BenchmarkShuffle(b *testing.B) {
	for name, s := range map[string]ask{
		"Budget/N=1e5":           {Records: 1e5, Items: 1000, Alpha: 25, Delta: 1e-12},
		"Budget/N=1e8":           {Records: 1e8, Items: 1000, Alpha: 25, Delta: 1e-12},
		"Budget/N=1e9":           {Records: 1e9, Items: 1000, Alpha: 25, Delta: 1e-12},
		"Level/N=1e8,m=1000":     {Records: 1e8, Items: 1000, Alpha0: 4, Delta: 1e-12},
		"Level/N=1e9,m=1":        {Records: 1e9, Items: 1, Alpha0: 0.7, Delta: 1e-30},
		"Level/N=1e9,m=1,varies": {Records: 1e9, Items: 1, Alpha0: 0.7, Delta: 1e-30, Clones: MetricRandomizer},
		"Level/N=4e5,m=20":       {Records: 4e5, Items: 20, Alpha0: 7.7, Delta: 1e-6},
		"Level/N=2^40,m=1000":    {Records: 1 << 40, Items: 1000, Alpha0: 0.7, Delta: 1e-12},
		"Delta/N=1e8,m=1000":     {Records: 1e8, Items: 1000, Alpha0: 4, Alpha: 20},
		"Delta/N=4e5,m=20":       {Records: 4e5, Items: 20, Alpha0: 7.7, Alpha: 120},
	} {
		s.Diameter = 1
		b.Run(name, func(b *testing.B) {
			if testing.Short() && (s.Records > 1e9 || s.Clones == MetricRandomizer) {
				b.Skip("long")
			}
			b.ReportAllocs()
			var err error
			for b.Loop() {
				switch {
				case s.Alpha0 == 0:
					_, err = s.budget()
				case s.Alpha == 0:
					_, err = s.level()
				default:
					_, err = s.delta()
				}
			}
			if err != nil {
				b.Fatal(err)
			}
		})
	}
}

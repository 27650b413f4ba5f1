package accountant

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/metricdp/metricdp/internal/fault"
)

func TestShuffle_BadInput(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		arg string
		set func(s *ask)
	}{
		{"Shuffle.Records", func(s *ask) { s.Records = 0 }},
		{"Shuffle.Records", func(s *ask) { s.Records = math.MinInt64 }},
		{"Shuffle.Items", func(s *ask) { s.Items = 0 }},
		{"Shuffle.Items", func(s *ask) { s.Items = 101 }},
		{"Shuffle.Items", func(s *ask) { s.Records, s.Items = math.MaxInt64, 1<<53+1 }}, // no float64
		{"Shuffle.Diameter", func(s *ask) { s.Diameter = 0 }},
		{"Shuffle.Diameter", func(s *ask) { s.Diameter = -1 }},
		{"Shuffle.Diameter", func(s *ask) { s.Diameter = nan }},
		{"Shuffle.Diameter", func(s *ask) { s.Diameter = inf }},
		{"Shuffle.MinDistance", func(s *ask) { s.MinDistance = 2 }},
		{"Shuffle.MinDistance", func(s *ask) { s.MinDistance = nan }},
		{"Shuffle.Clones", func(s *ask) { s.Clones = 2 }},
		{"Alpha0", func(s *ask) { s.Alpha0 = nan }},
		{"Alpha0", func(s *ask) { s.Alpha0 = -1 }},
		{"Alpha0", func(s *ask) { s.Alpha0 = 0 }},
		{"Alpha0", func(s *ask) { s.Alpha0 = inf }},
		{"Alpha", func(s *ask) { s.Alpha = inf }},
		{"Alpha", func(s *ask) { s.Alpha = 0 }},
		{"Alpha", func(s *ask) { s.Alpha = nan }},
		{"Delta", func(s *ask) { s.Delta = 1 }},
		{"Delta", func(s *ask) { s.Delta = nan }},
		{"Delta", func(s *ask) { s.Delta = -1e-9 }},
		{"Delta", func(s *ask) { s.Delta = 1e-310 }},
	} {
		s := ask{Records: 100, Items: 10, Diameter: 1, Alpha0: 1, Alpha: 1, Delta: 1e-6}
		c.set(&s)
		refused := func(question string, err error, reads ...string) {
			t.Helper()
			arg := c.arg
			if !strings.Contains(arg, ".") {
				if !slices.Contains(reads, arg) {
					return
				}
				arg = question + "." + arg
			}
			var v *fault.ValueError
			if !errors.As(err, &v) || v.Arg != arg {
				t.Errorf("%v, want one about %s", err, arg)
			}
		}
		_, err := s.level()
		refused("LevelAt", err, "Alpha0", "Delta")
		_, err = s.delta()
		refused("DeltaAt", err, "Alpha0", "Alpha")
		_, err = s.budget()
		refused("BudgetFor", err, "Alpha", "Delta")
		_, err = s.shuffle().Theorem44(BudgetFor{s.Alpha, s.Delta})
		refused("BudgetFor", err, "Alpha", "Delta")
		if c.arg != "Shuffle.Items" {
			_, err = s.item(1, 0.1)
			refused("Change", err, "Alpha0")
		}
	}
	for _, c := range [][2]float64{{-1, 0}, {2, 0}, {nan, 0}, {1, nan}, {1, -1}, {1, inf}} {
		if d, err := (ask{Records: 5, Alpha0: 1, Diameter: 1}).item(c[0], c[1]); err == nil {
			t.Errorf("%v: %g", c, d)
		}
	}
}

// Levels that the joint bound has no digits for are those of pure composition.
func TestShuffleLevel_OutsideItsRange(t *testing.T) {
	for _, alpha0 := range []float64{1e-110, 1e-290, 701, 1e200} {
		s := ask{Records: 100, Items: 10, Diameter: 1, Alpha0: alpha0, Delta: 1e-6}
		if a, err := s.level(); err != nil || a.Theorem != PureComposition || a.Alpha < 10*alpha0 || a.Alpha > 10*alpha0*(1+1e-15) {
			t.Errorf("alpha0 = %g: %v, %v", alpha0, a, err)
		}
	}
}

// A question whose context is done ends, however long it would take.
func TestShuffle_EndsWithItsContext(t *testing.T) {
	s := Shuffle{Records: 1e9, Items: 1, Diameter: 1, Clones: MetricRandomizer}
	many := Shuffle{Records: 4e9, Items: 20, Diameter: 1}
	for name, ask := range map[string]func(context.Context) error{
		"Level": func(ctx context.Context) error {
			_, err := s.Level(ctx, LevelAt{Alpha0: 0.7, Delta: 1e-30})
			return err
		},
		"Budget": func(ctx context.Context) error {
			_, err := s.Budget(ctx, BudgetFor{Alpha: 0.1, Delta: 1e-30})
			return err
		},
		"Delta": func(ctx context.Context) error {
			_, err := many.Delta(ctx, DeltaAt{Alpha0: 7.7, Alpha: 100})
			return err
		},
	} {
		done, cancel := context.WithCancel(context.Background())
		cancel()
		if err := ask(done); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, a context that is done: %v", name, err)
		}
		if name == "Delta" {
			continue // too short
		}
		ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
		start := time.Now()
		if err := ask(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) > time.Second {
			t.Errorf("%s: %v after %v", name, err, time.Since(start))
		}
		cancel()
	}
	done, cancel := context.WithCancel(context.Background())
	cancel()
	c := Composition{Count: 1000, Item: 0.01}
	_, level := c.Level(done, 1e-6)
	_, delta := c.Delta(done, 1)
	_, budget := ComposeBudget(done, 1000, ComposeFor{Eps: 1, Delta: 1e-6})
	for _, err := range []error{level, delta, budget} {
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
	f.Add(int64(1e9), int64(1), 1e-17, 0.5, 3.0, 1e-5, 1)
	f.Add(int64(2), int64(2), 40.0, 1e-12, 1.0, 1.0, 0)
	f.Fuzz(func(t *testing.T, n, m int64, level, delta, diam, least float64, clones int) {
		if m == 1 && clones == int(MetricRandomizer) && n > 1e7 {
			n %= 1e7 // more take seconds, which go test -fuzz takes for a hang
		}
		s := ask{Records: n, Items: m, Diameter: diam, MinDistance: least, Clones: Clones(clones)}
		in := func(what string, v, lo, hi float64) {
			if !(v >= lo && v <= hi) {
				t.Errorf("%s of %+v at level %g, delta %g is %g", what, s, level, delta, v)
			}
		}
		a, b, c := s, s, s
		a.Alpha0, a.Delta = level, delta
		if v, err := a.level(); err == nil {
			in("level", v.Alpha, 0, float64(m)*level*(1+1e-12))
		}
		b.Alpha0, b.Alpha = level, level
		if v, err := b.delta(); err == nil {
			in("delta", v.Delta, 0, 1)
		}
		c.Alpha, c.Delta = level, delta
		if v, err := c.budget(); err == nil {
			in("budget", v.Alpha0, level/float64(m)*(1-1e-12), math.MaxFloat64)
		}
		if v, err := (ask{Records: n, Alpha0: level, Clones: Clones(clones), Diameter: 1}).item(least, delta); err == nil {
			in("item's delta", v, 0, 1)
		}
	})
}

// BenchmarkShuffleBudget is the figure of the README: the largest alpha0 for a
// user of 1000 items among N.
func BenchmarkShuffleBudget(b *testing.B) {
	for _, c := range []struct {
		name string
		n    int64
	}{{"N=1e5", 1e5}, {"N=1e8", 1e8}, {"N=1e9", 1e9}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			v := Budget{}
			for b.Loop() {
				v, _ = ask{Records: c.n, Items: 1000, Alpha: 25, Delta: 1e-12, Diameter: 1}.budget()
			}
			b.ReportMetric(v.Alpha0, "alpha0")
		})
	}
}

// The slowest cases too: the widest windows, the largest N that counts.
func BenchmarkShuffleLevel(b *testing.B) {
	for _, c := range []struct {
		name string
		s    ask
	}{
		{"N=1e8,m=1000", ask{Records: 1e8, Items: 1000, Alpha0: 4, Delta: 1e-12, Diameter: 1}},
		{"N=1e9,m=1", ask{Records: 1e9, Items: 1, Alpha0: 0.7, Delta: 1e-30, Diameter: 1}},
		{"N=1e9,m=1,MetricRandomizer", ask{Records: 1e9, Items: 1, Alpha0: 0.7, Delta: 1e-30, Clones: MetricRandomizer, Diameter: 1}},
		{"N=4e5,m=20,beyond", ask{Records: 4e5, Items: 20, Alpha0: 7.7, Delta: 1e-6, Diameter: 1}},
		{"N=2^40,m=1000", ask{Records: 1 << 40, Items: 1000, Alpha0: 0.7, Delta: 1e-12, Diameter: 1}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			v := Level{}
			for b.Loop() {
				v, _ = c.s.level()
			}
			b.ReportMetric(v.Alpha, "alpha")
		})
	}
}

// At the level of a small delta and at one whose fixed threshold is below.
func BenchmarkShuffleDelta(b *testing.B) {
	for _, c := range []struct {
		name string
		s    ask
	}{
		{"N=1e8,m=1000", ask{Records: 1e8, Items: 1000, Alpha0: 4, Alpha: 20, Diameter: 1}},
		{"N=4e5,m=20,beyond", ask{Records: 4e5, Items: 20, Alpha0: 7.7, Alpha: 120, Diameter: 1}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			v := Slack{}
			for b.Loop() {
				v, _ = c.s.delta()
			}
			b.ReportMetric(math.Log10(v.Delta), "log10delta")
		})
	}
}

package emd

import (
	"errors"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/fault"
)

func TestShuffle_BadInput(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	good := Shuffle{Records: 100, Items: 10, Diameter: 1}
	for _, c := range []struct {
		arg string
		set func(s *Shuffle)
	}{
		{"Shuffle.Records", func(s *Shuffle) { s.Records = 0 }},
		{"Shuffle.Records", func(s *Shuffle) { s.Records = math.MinInt64 }},
		{"Shuffle.Items", func(s *Shuffle) { s.Items = 0 }},
		{"Shuffle.Items", func(s *Shuffle) { s.Items = 101 }},
		{"Shuffle.Items", func(s *Shuffle) { s.Records, s.Items = math.MaxInt64, 1<<53+1 }}, // no float64
		{"Shuffle.Diameter", func(s *Shuffle) { s.Diameter = 0 }},
		{"Shuffle.Diameter", func(s *Shuffle) { s.Diameter = -1 }},
		{"Shuffle.Diameter", func(s *Shuffle) { s.Diameter = nan }},
		{"Shuffle.Diameter", func(s *Shuffle) { s.Diameter = inf }},
		{"Shuffle.MinDistance", func(s *Shuffle) { s.MinDistance = 2 }},
		{"Shuffle.MinDistance", func(s *Shuffle) { s.MinDistance = nan }},
		{"Shuffle.Clones", func(s *Shuffle) { s.Clones = 2 }},
		{"Shuffle.Alpha0", func(s *Shuffle) { s.Alpha0 = nan }},
		{"Shuffle.Alpha0", func(s *Shuffle) { s.Alpha0 = -1 }},
		{"Shuffle.Alpha", func(s *Shuffle) { s.Alpha = inf }},
		{"Shuffle.Alpha", func(s *Shuffle) { s.Alpha = nan }},
		{"Shuffle.Delta", func(s *Shuffle) { s.Delta = 1 }},
		{"Shuffle.Delta", func(s *Shuffle) { s.Delta = nan }},
		{"Shuffle.Delta", func(s *Shuffle) { s.Delta = -1e-9 }},
	} {
		var v *fault.ValueError
		s := good
		s.Alpha0, s.Delta = 1, 1e-6
		c.set(&s)
		if _, err := ShuffleLevel(s); !errors.As(err, &v) || v.Arg != c.arg {
			t.Errorf("level, %s: %v", c.arg, err)
		}
		s = good
		s.Alpha0, s.Alpha = 1, 1
		c.set(&s)
		if _, err := ShuffleDelta(s); !errors.As(err, &v) || v.Arg != c.arg {
			t.Errorf("delta, %s: %v", c.arg, err)
		}
		s = good
		s.Alpha, s.Delta = 1, 1e-6
		c.set(&s)
		if _, err := ShuffleBudget(s); !errors.As(err, &v) || v.Arg != c.arg {
			t.Errorf("budget, %s: %v", c.arg, err)
		}
	}
	for _, c := range []Change{{-1, 0}, {2, 0}, {nan, 0}, {1, nan}, {1, -1}, {1, inf}} {
		if d, err := ItemDelta(Shuffle{Records: 5, Alpha0: 1, Diameter: 1}, c); err == nil {
			t.Errorf("%+v: %g", c, d)
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
		if m == 1 && clones == int(MetricRandomiser) && n > 1e7 {
			n %= 1e7 // more take seconds, which go test -fuzz takes for a hang
		}
		s := Shuffle{Records: n, Items: m, Diameter: diam, MinDistance: least, Clones: Clones(clones)}
		in := func(what string, v, lo, hi float64) {
			if !(v >= lo && v <= hi) {
				t.Errorf("%s of %+v at level %g, delta %g is %g", what, s, level, delta, v)
			}
		}
		a, b, c := s, s, s
		a.Alpha0, a.Delta = level, delta
		if v, err := ShuffleLevel(a); err == nil {
			in("level", v.Value, 0, float64(m)*level*(1+1e-12))
		}
		b.Alpha0, b.Alpha = level, level
		if v, err := ShuffleDelta(b); err == nil {
			in("delta", v.Value, 0, 1)
		}
		c.Alpha, c.Delta = level, delta
		if v, err := ShuffleBudget(c); err == nil {
			in("budget", v.Value, level/float64(m)*(1-1e-12), math.MaxFloat64)
		}
		if v, err := ItemDelta(Shuffle{Records: n, Alpha0: level, Clones: Clones(clones), Diameter: 1}, Change{least, delta}); err == nil {
			in("item's delta", v, 0, 1)
		}
	})
}

// BenchmarkShuffleBudget is the figure of the README: the largest alpha0 for a user
// of 1000 items among N.
func BenchmarkShuffleBudget(b *testing.B) {
	for _, c := range []struct {
		name string
		n    int64
	}{{"N=1e5", 1e5}, {"N=1e8", 1e8}, {"N=1e9", 1e9}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			v := Accounted{}
			for b.Loop() {
				v, _ = ShuffleBudget(Shuffle{Records: c.n, Items: 1000, Alpha: 25, Delta: 1e-12, Diameter: 1})
			}
			b.ReportMetric(v.Value, "alpha0")
		})
	}
}

// The slowest cases too: the widest windows, the largest N that counts.
func BenchmarkShuffleLevel(b *testing.B) {
	for _, c := range []struct {
		name string
		s    Shuffle
	}{
		{"N=1e8,m=1000", Shuffle{Records: 1e8, Items: 1000, Alpha0: 4, Delta: 1e-12, Diameter: 1}},
		{"N=1e9,m=1", Shuffle{Records: 1e9, Items: 1, Alpha0: 0.7, Delta: 1e-30, Diameter: 1}},
		{"N=1e9,m=1,MetricRandomiser", Shuffle{Records: 1e9, Items: 1, Alpha0: 0.7, Delta: 1e-30, Clones: MetricRandomiser, Diameter: 1}},
		{"N=4e5,m=20,beyond", Shuffle{Records: 4e5, Items: 20, Alpha0: 7.7, Delta: 1e-6, Diameter: 1}},
		{"N=2^40,m=1000", Shuffle{Records: 1 << 40, Items: 1000, Alpha0: 0.7, Delta: 1e-12, Diameter: 1}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			v := Accounted{}
			for b.Loop() {
				v, _ = ShuffleLevel(c.s)
			}
			b.ReportMetric(v.Value, "alpha")
		})
	}
}

// At the level of a small delta and at one whose fixed threshold is below.
func BenchmarkShuffleDelta(b *testing.B) {
	for _, c := range []struct {
		name string
		s    Shuffle
	}{
		{"N=1e8,m=1000", Shuffle{Records: 1e8, Items: 1000, Alpha0: 4, Alpha: 20, Diameter: 1}},
		{"N=4e5,m=20,beyond", Shuffle{Records: 4e5, Items: 20, Alpha0: 7.7, Alpha: 120, Diameter: 1}},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			v := Accounted{}
			for b.Loop() {
				v, _ = ShuffleDelta(c.s)
			}
			b.ReportMetric(math.Log10(v.Value), "log10delta")
		})
	}
}

package metrictest_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/metric/metrictest"
)

// laws are the names of the laws that err says fail.
func laws(err error) []string {
	var names []string
	var walk func(error)
	walk = func(err error) {
		var f *metrictest.Failure
		if j, ok := err.(interface{ Unwrap() []error }); ok {
			for _, e := range j.Unwrap() {
				walk(e)
			}
		} else if errors.As(err, &f) {
			names = append(names, f.Law)
		}
	}
	walk(err)
	return names
}

// only fails t where err is not about that law alone, or for want "" not nil.
func only(t *testing.T, name string, err error, want string) {
	t.Helper()
	got := laws(err)
	if want == "" && err != nil || want != "" && (len(got) != 1 || got[0] != want) {
		t.Errorf("%s: laws %q, want %q: %v", name, got, want, err)
	}
}

// line is 30 points of a line, with every capability, right but for the
// functions that a test replaces.
type line struct {
	n        func() int
	distance func(i, j int) float64
	rows     func(i int, dst []float64) []float64
	embed    func() (metric.Embedding, bool)
}

const size = 30

func (l *line) Len() int                                        { return l.n() }
func (l *line) Distance(i, j int) float64                       { return l.distance(i, j) }
func (l *line) DistancesFrom(i int, dst []float64) []float64    { return l.rows(i, dst) }
func (l *line) Embed() (metric.Embedding, bool)                 { return l.embed() }
func inside(i int) bool                                         { return i >= 0 && i < size }
func gap(i, j int) float64                                      { return math.Abs(float64(i - j)) }
func with(l *line, change func(l *line)) *line                  { change(l); return l }
func distance(f func(i, j int) float64) func(l *line)           { return func(l *line) { l.distance = f } }
func rows(f func(i int, dst []float64) []float64) func(l *line) { return func(l *line) { l.rows = f } }
func embed(f func(e *metric.Embedding)) func(l *line) {
	return func(l *line) {
		right := l.embed
		l.embed = func() (metric.Embedding, bool) {
			e, _ := right()
			f(&e)
			return e, true
		}
	}
}

func newLine() *line {
	l := &line{}
	l.n = func() int { return size }
	l.distance = func(i, j int) float64 {
		if !inside(i) || !inside(j) {
			panic("out of range")
		}
		return gap(i, j)
	}
	l.rows = func(i int, dst []float64) []float64 {
		return finite.Row(shown{l}, i, dst)
	}
	l.embed = func() (metric.Embedding, bool) {
		c := make([]float64, size)
		for i := range c {
			c[i] = float64(i)
		}
		return metric.Embedding{Coords: c, Dim: 1, P: 2, FromNorm: func(v float64) float64 { return v }}, true
	}
	return l
}

// Each liar breaks one law and is caught for that one alone.
func TestFinite_CatchesEachLiar(t *testing.T) {
	right := newLine()
	lie := func(at func(i, j int) bool, d float64) func(l *line) {
		return distance(func(i, j int) float64 {
			if at(i, j) {
				return d
			}
			return right.distance(i, j)
		})
	}
	pair := func(a, b int) func(i, j int) bool {
		return func(i, j int) bool { return i == a && j == b || i == b && j == a }
	}
	halves := func(i, j int) float64 { right.distance(i, j); return gap(i/2, j/2) }
	var calls, lens atomic.Int64
	asked := lengths(newLine()) // by one test
	scratch := make([]float64, size)
	var stored [size][]float64
	for i := range stored {
		stored[i] = right.rows(i, nil)
	}
	for _, c := range []struct {
		name   string
		change func(l *line)
		law    string
	}{
		{"right", func(*line) {}, ""},
		{"linear and is not", func(l *line) {
			embed := l.embed
			l.embed = func() (metric.Embedding, bool) {
				e, ok := embed()
				e.FromNorm, e.Linear = func(v float64) float64 { return v * v }, true
				return e, ok
			}
		}, "embedding"},
		{"no embedding after all", func(l *line) { l.embed = func() (metric.Embedding, bool) { return metric.Embedding{}, false } }, ""},
		{"negative length", func(l *line) { l.n = func() int { return -1 } }, "length"},
		{"growing at last", func(l *line) { l.n = func() int { return size + int(lens.Add(1)/asked) } }, "length"},
		{"range", distance(gap), "range"},
		{"range of one side", distance(func(i, j int) float64 {
			if !inside(i) {
				panic("out of range")
			}
			return gap(i, j)
		}), "range"},
		{"rows of points that are not there", rows(func(i int, dst []float64) []float64 {
			return newLine().rows(min(max(i, 0), size-1), dst)
		}), "range"},

		{"a row of other bits", rows(func(i int, dst []float64) []float64 {
			dst = right.rows(i, dst)
			dst[size-1] *= 1 + 0x1p-52
			return dst
		}), "rows"},
		{"a short row", rows(func(i int, dst []float64) []float64 { return right.rows(i, dst)[:size-1] }), "rows"},
		{"a row beside dst", rows(func(i int, dst []float64) []float64 { return right.rows(i, nil) }), "rows"},
		{"a row appended", rows(func(i int, dst []float64) []float64 { return append(dst, right.rows(i, nil)...) }), "rows"},
		{"a row beyond its end", rows(func(i int, dst []float64) []float64 {
			dst = right.rows(i, dst)
			if cap(dst) > size {
				dst[:size+1][size] = 0
			}
			return dst
		}), "rows"},
		{"stale entries", rows(func(i int, dst []float64) []float64 {
			if cap(dst) < size {
				return right.rows(i, dst)
			}
			dst = dst[:size]
			for j := range dst {
				if j != i {
					dst[j] = right.distance(i, j)
				}
			}
			return dst
		}), "rows"},
		{"one row for all", rows(func(i int, dst []float64) []float64 {
			if cap(dst) >= size {
				return right.rows(i, dst)
			}
			return right.rows(i, scratch)
		}), "rows"},
		{"rows given away", rows(func(i int, dst []float64) []float64 {
			if cap(dst) >= size {
				return right.rows(i, dst)
			}
			return stored[i]
		}), "rows"},

		{"too few coordinates", embed(func(e *metric.Embedding) { e.Coords = e.Coords[1:] }), "embedding"},
		{"NaN among coordinates", embed(func(e *metric.Embedding) { e.Coords[4] = math.NaN() }), "embedding"},
		{"no norm", embed(func(e *metric.Embedding) { e.P = 0.5 }), "embedding"},
		{"no FromNorm", embed(func(e *metric.Embedding) { e.FromNorm = nil }), "embedding"},
		{"a point elsewhere", embed(func(e *metric.Embedding) { e.Coords[4] += 1e-9 }), "embedding"},
		{"another unit", embed(func(e *metric.Embedding) { e.FromNorm = func(v float64) float64 { return v * (1 + 1e-9) } }), "embedding"},
		{"another embedding each time", embed(func(e *metric.Embedding) {
			for k := range e.Coords {
				e.Coords[k] += float64(calls.Add(1))
			}
		}), "embedding"},
	} {
		only(t, c.name, metrictest.TestFinite(t.Context(), with(newLine(), c.change), nil), c.law)
	}

	// These change distances, so only Len and Distance are shown.
	for _, c := range []struct {
		name   string
		change func(l *line)
		o      metrictest.Options
		law    string
		axiom  string
	}{
		{"NaN", lie(pair(3, 4), math.NaN()), metrictest.Options{}, "metric", metric.FiniteValue},
		{"infinite", lie(pair(3, 4), math.Inf(1)), metrictest.Options{}, "metric", metric.FiniteValue},
		{"negative", lie(pair(3, 4), -1), metrictest.Options{}, "metric", metric.FiniteValue},
		{"far from itself", lie(pair(5, 5), 1e-300), metrictest.Options{}, "metric", metric.ZeroSelf},
		{"one way", lie(func(i, j int) bool { return i == 2 && j == 9 }, 7+0x1p-50), metrictest.Options{}, "metric", metric.Symmetry},
		{"detour", lie(pair(2, 9), 7.5), metrictest.Options{}, "metric", metric.Triangle},
		{"detour by rounding", lie(pair(2, 9), 7*(1+0x1p-50)), metrictest.Options{}, "", ""},
		{"detour by an ulp", lie(pair(2, 9), 7*(1+0x1p-50)), metrictest.Options{Tolerance: 1e-17}, "metric", metric.Triangle},
		{"duplicates", distance(halves), metrictest.Options{}, "", ""},
		{"duplicates, strict", distance(halves), metrictest.Options{Strict: true}, "metric", metric.Identity},
		{"no ultrametric", func(*line) {}, metrictest.Options{Ultrametric: true}, "ultrametric", metric.UltrametricLaw},
		{"no ultrametric, sampled", func(*line) {}, metrictest.Options{Ultrametric: true, MaxPoints: 5}, "ultrametric", metric.UltrametricLaw},
		{"detour, sampled", lie(pair(2, 9), 7.5), metrictest.Options{MaxPoints: 3}, "metric", metric.Triangle},
		{"a panic", distance(func(i, j int) float64 {
			if i == 17 {
				panic("not yet")
			}
			return right.distance(i, j)
		}), metrictest.Options{}, "metric", ""},
	} {
		l := with(newLine(), c.change)
		err := metrictest.TestFinite(t.Context(), shown{l}, &c.o)
		only(t, c.name, err, c.law)
		var v *metric.Violation
		if c.axiom != "" && (!errors.As(err, &v) || v.Axiom != c.axiom) {
			t.Errorf("%s: %v, want a violation of %s", c.name, err, c.axiom)
		}
	}
}

// shown hides all but Len and Distance.
type shown struct{ l *line }

func (s shown) Len() int                  { return s.l.Len() }
func (s shown) Distance(i, j int) float64 { return s.l.Distance(i, j) }

// lengths counts the calls of Len in one test of l.
func lengths(l *line) int64 {
	var n atomic.Int64
	l.n = func() int { n.Add(1); return size }
	metrictest.TestFinite(context.Background(), l, nil)
	return n.Load()
}

// Distances that change break the laws of pairs too, but repeating is named.
func TestFinite_CatchesTheUnsteady(t *testing.T) {
	right := newLine()
	var calls, inside atomic.Int64
	for want, f := range map[string]func(i, j int) float64{
		"repeatable": func(i, j int) float64 {
			return right.distance(i, j) * (1 + 0x1p-50*float64(calls.Add(1)%7))
		},
		"concurrent use": func(i, j int) float64 {
			d := right.distance(i, j)
			alone := inside.Add(1) == 1
			runtime.Gosched()
			if inside.Add(-1); !alone {
				d *= 1 + 0x1p-50
			}
			return d
		},
	} {
		err := metrictest.TestFinite(t.Context(), shown{with(newLine(), distance(f))}, nil)
		if !slices.Contains(laws(err), want) {
			t.Errorf("laws %q, want %q among them: %v", laws(err), want, err)
		}
	}
}

func TestFinite_Refuses(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	none := with(newLine(), func(l *line) { l.n = func() int { return 0 } })
	for _, c := range []struct{ err, want error }{
		{metrictest.TestSpace(t.Context(), metric.Manhattan{}, nil, nil), metric.ErrEmpty},
		{metrictest.TestFinite(t.Context(), nil, nil), metric.ErrEmpty},
		{metrictest.TestFinite(t.Context(), none, nil), metric.ErrEmpty},
		{metrictest.TestFinite(ctx, newLine(), nil), context.Canceled},
	} {
		if !errors.Is(c.err, c.want) {
			t.Errorf("%v, want %v", c.err, c.want)
		}
	}
	for _, o := range []metrictest.Options{{Tolerance: -1}, {Tolerance: math.NaN()}, {MaxPoints: -1}} {
		finite := metrictest.TestFinite(t.Context(), newLine(), &o)
		space := metrictest.TestSpace(t.Context(), metric.Manhattan{}, [][]float64{{1}}, &o)
		if value := new(metric.ValueError); !errors.As(finite, &value) || !errors.As(space, &value) {
			t.Errorf("%+v: %v, %v", o, finite, space)
		}
	}
}

// bend is a Space on numbers, with every capability, right but for the
// functions that a test replaces.
type bend struct {
	distance func(x, y []float64) float64
	check    func(x, y []float64) error
	append   func(dst, p []float64) []float64
}

func (b *bend) Distance(x, y []float64) float64   { return b.distance(x, y) }
func (b *bend) Check(x, y []float64) error        { return b.check(x, y) }
func (b *bend) Append(dst, p []float64) []float64 { return b.append(dst, p) }
func (b *bend) Norm() (float64, func(float64) float64) {
	return 1, func(v float64) float64 { return v }
}

// Each lying Space is caught for the law it breaks.
func TestSpace_CatchesEachLiar(t *testing.T) {
	right := func(x, y []float64) float64 { return math.Abs(x[0] - y[0]) }
	var calls atomic.Int64
	for _, c := range []struct {
		name   string
		change func(b *bend)
		o      metrictest.Options
		want   string
	}{
		{"right", func(*bend) {}, metrictest.Options{}, ""},
		{"rounded one way", func(b *bend) {
			b.distance = func(x, y []float64) float64 {
				if x[0] < y[0] {
					return right(x, y) * (1 + 0x1p-52)
				}
				return right(x, y)
			}
		}, metrictest.Options{}, ""},
		{"longer one way", func(b *bend) {
			b.distance = func(x, y []float64) float64 {
				if x[0] == 9 && y[0] == 1 {
					return 8.5
				}
				return right(x, y)
			}
		}, metrictest.Options{}, "symmetry"},
		{"squared", func(b *bend) {
			b.distance = func(x, y []float64) float64 { return right(x, y) * right(x, y) }
			b.append = nil
		}, metrictest.Options{}, "metric"},
		{"no ultrametric", func(*bend) {}, metrictest.Options{Ultrametric: true}, "ultrametric"},
		{"duplicates", func(*bend) {}, metrictest.Options{Strict: true}, "metric"},
		{"refusing", func(b *bend) {
			b.check = func(x, y []float64) error {
				if y[0] > 8 {
					return errors.New("too large")
				}
				return nil
			}
		}, metrictest.Options{}, "check"},
		{"modifying its points", func(b *bend) {
			b.distance = func(x, y []float64) float64 {
				if x[0] == 9 && x[1] != 9 { // once, before there are goroutines
					x[1] = 9
				}
				return right(x, y)
			}
		}, metrictest.Options{}, "points"},
		{"overwriting dst", func(b *bend) {
			b.append = func(dst, p []float64) []float64 { return append(dst[:0], p[0]) }
		}, metrictest.Options{}, "coordinates"},
		{"of any dimension", func(b *bend) {
			b.append = func(dst, p []float64) []float64 { return append(dst, p[:1+int(p[0])/9]...) }
		}, metrictest.Options{}, "coordinates"},
		{"elsewhere", func(b *bend) {
			b.append = func(dst, p []float64) []float64 { return append(dst, p[0]*(1+1e-9)) }
		}, metrictest.Options{}, "embedding"},
		{"moving", func(b *bend) {
			b.append = func(dst, p []float64) []float64 { return append(dst, p[0]+float64(calls.Add(1))) }
		}, metrictest.Options{}, "coordinates"},
	} {
		b := &bend{right, func(x, y []float64) error { return nil }, func(dst, p []float64) []float64 { return append(dst, p[0]) }}
		c.change(b)
		var s metric.Space[[]float64] = b
		if b.append == nil {
			s = metric.Func[[]float64](b.distance)
		}
		pts := [][]float64{{0, 0}, {1, 0}, {1, 0}, {4, 0}, {9, 0}}
		only(t, c.name, metrictest.TestSpace(t.Context(), s, pts, &c.o), c.want)
	}
}

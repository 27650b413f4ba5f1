package metrictest_test

import (
	"errors"
	"math"
	"sync/atomic"
	"testing"

	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/metric/metrictest"
)

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

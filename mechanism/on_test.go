package mechanism

import (
	"errors"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

func TestOn_FindsPoints(t *testing.T) {
	pts := testkit.Must(metric.NewPoints([]string{"ab", "cd", "ab"}, metric.Func[string](func(x, y string) float64 {
		if x == y {
			return 0
		}
		return 1
	})))
	c := expo(t, pts, 1, false)
	m := On[string](c, pts)
	for range 20 {
		if y, err := m.Release(nil, "cd"); err != nil || y != "ab" && y != "cd" {
			t.Fatal(y, err)
		}
	}
	if _, err := m.Release(nil, "xy"); !errors.Is(err, ErrNotAPoint) {
		t.Errorf("a stranger: %v", err)
	}
	vec := testkit.Must(metric.NewPoints([][]float64{{0, 0}, {3, 4}}, metric.Space[[]float64](metric.Func[[]float64](func(x, y []float64) float64 {
		return math.Hypot(x[0]-y[0], x[1]-y[1])
	}))))
	v := On[[]float64](expo(t, vec, 1, false), vec)
	if _, err := v.Release(nil, []float64{3, 4}); err != nil {
		t.Error(err)
	}
	if _, err := v.Release(nil, []float64{3, 4.1}); !errors.Is(err, ErrNotAPoint) {
		t.Errorf("near a point is not at it: %v", err)
	}
}

// The least distance that there is makes an input another point, whether points are
// looked up or searched.
func TestOn_RefusesTheNearestOfAll(t *testing.T) {
	least := func(x, y float64) float64 {
		if x == y {
			return 0
		}
		return math.SmallestNonzeroFloat64
	}
	numbers := testkit.Must(metric.NewPoints([]float64{1, 2}, metric.Space[float64](metric.Func[float64](least))))
	vectors := testkit.Must(metric.NewPoints([][]float64{{1}, {2}}, metric.Space[[]float64](metric.Func[[]float64](func(x, y []float64) float64 { return least(x[0], y[0]) }))))
	c := expo(t, line(t, 2, 1), 1, false)
	for x, want := range map[float64]error{1: nil, 2: nil, 1.5: ErrNotAPoint} {
		if _, err := On[float64](c, numbers).Release(nil, x); !errors.Is(err, want) {
			t.Errorf("number %v: %v, want %v", x, err, want)
		}
		if _, err := On[[]float64](c, vectors).Release(nil, []float64{x}); !errors.Is(err, want) {
			t.Errorf("vector %v: %v, want %v", x, err, want)
		}
	}
}

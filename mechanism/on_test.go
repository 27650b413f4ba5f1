package mechanism

import (
	"errors"
	"math"
	"testing"

	"github.com/metricdp/metricdp/metric"
)

func TestOn_FindsPoints(t *testing.T) {
	pts, err := metric.NewPoints([]string{"ab", "cd", "ab"}, metric.Func[string](func(x, y string) float64 {
		if x == y {
			return 0
		}
		return 1
	}))
	if err != nil {
		t.Fatal(err)
	}
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
	vec, err := metric.NewPoints([][]float64{{0, 0}, {3, 4}}, metric.Space[[]float64](metric.Func[[]float64](func(x, y []float64) float64 {
		return math.Hypot(x[0]-y[0], x[1]-y[1])
	})))
	if err != nil {
		t.Fatal(err)
	}
	v := On[[]float64](expo(t, vec, 1, false), vec)
	if _, err := v.Release(nil, []float64{3, 4}); err != nil {
		t.Error(err)
	}
	if _, err := v.Release(nil, []float64{3, 4.1}); !errors.Is(err, ErrNotAPoint) {
		t.Errorf("near a point is not at it: %v", err)
	}
}

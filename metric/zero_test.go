package metric_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/law"
	"github.com/metricdp/metricdp/metric"
)

// A value that no constructor made has no points: it says so where a number is
// asked for, and no function takes it for a metric.
func TestZeroValues_AnswerNothing(t *testing.T) {
	pts := new(metric.Points[float64])
	for name, f := range map[string]metric.Finite{
		"Dense": new(metric.Dense), "Graph": new(metric.Graph), "Points": pts, "Ultrametric": new(metric.Ultrametric), "Clustered": new(metric.Clustered),
		"nil Dense": (*metric.Dense)(nil), "nil Graph": (*metric.Graph)(nil), "nil Points": (*metric.Points[float64])(nil),
		"nil Ultrametric": (*metric.Ultrametric)(nil), "nil Clustered": (*metric.Clustered)(nil),
	} {
		if err := metric.Validate(t.Context(), f, nil); !errors.Is(err, metric.ErrEmpty) {
			t.Errorf("Validate of %s: %v", name, err)
		}
		if _, err := metric.NewBimetric(f, f); !errors.Is(err, metric.ErrEmpty) {
			t.Errorf("NewBimetric of %s: %v", name, err)
		}
		if d, i, j, err := metric.Diameter(t.Context(), f); err != nil || d != 0 || i != -1 || j != -1 {
			t.Errorf("Diameter of %s: %v, %d, %d", name, d, i, j)
		}
	}
	if got := fmt.Sprint(new(metric.Ultrametric).Clusters(1), new(metric.Ultrametric).Heights(), new(metric.Graph), new(metric.Tree)); got != "[] [] shortest paths between 0 nodes " {
		t.Errorf("%q", got)
	}
	for name, call := range map[string]func(){
		"NewTree":       func() { new(metric.Tree).PathMetric() },
		"TreeFromPaths": func() { new(metric.Tree).Root() },
		"NewIndex":      func() { new(metric.Index).Nearest(0) },
		"NewLocator":    func() { new(metric.Locator[float64]).Nearest(0) },
	} {
		if err := law.Caught(func() error { call(); return nil }); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := new(metric.Index).Len(); n != 0 {
		t.Errorf("Index: %d points", n)
	}
}

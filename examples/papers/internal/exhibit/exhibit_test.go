package exhibit_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibittest"
)

// What Must finds ends the program as an error that is returned does.
func TestMust_EndsTheExhibit(t *testing.T) {
	exhibittest.Program(exhibit.Exhibit{Name: "X/y", Run: func(context.Context, *exhibit.Run) { exhibit.Must(0, errors.New("no number")) }}).
		Rejects(t, map[string][]string{"papers: X/y: no number\n": {"-out", t.TempDir()}})
}

func TestSlope_OfAPower(t *testing.T) {
	if b := exhibit.Slope([]float64{1, 4, 16}, []float64{3, 1.5, 0.75}); math.Abs(b+0.5) > 1e-12 {
		t.Errorf("3 x^-0.5 has the exponent %v", b)
	}
}

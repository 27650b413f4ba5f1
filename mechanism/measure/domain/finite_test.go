package domain

import (
	"math"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// The diameter of many points without coordinates is not too small, nor more
// than twice too large, whatever the shape of their tree says.
func TestDiameter_ManyPoints(t *testing.T) {
	const n = exactDiameter + 50
	far := make([]float64, n)
	for i := range far {
		far[i] = float64(i * i % n)
	}
	points := testkit.Must(metric.NewPoints(far, metric.Numbers[float64]{}))
	largest, _, _, _ := metric.Diameter(t.Context(), points)
	f := struct{ metric.Finite }{points} // nobody knows its coordinates
	for _, shape := range []float64{largest, 1e9} {
		if d, err := (&net{f: f}).largest(t.Context(), "", shape); err != nil || d < largest || d > 2*largest {
			t.Errorf("diameter %v, the largest distance is %v: %v", d, largest, err)
		}
	}
	none := space.Formula(n, func(i, j int) float64 { return []float64{1, math.NaN()}[j/(n-1)] })
	if _, err := (&net{f: none}).largest(t.Context(), "", 1); err == nil {
		t.Error("a distance that is NaN has a diameter")
	}
}

func TestNewFinite_CellsForManyPoints(t *testing.T) {
	r, at := random.Seeded(9), make([][]float64, cellTreeFrom)
	for i := range at {
		at[i] = []float64{r.Float64(), r.Float64()}
	}
	cloud := testkit.Must(metric.NewPoints(at, metric.Euclidean{}))
	d := testkit.Must(NewFinite(t.Context(), cloud, nil))
	if !strings.HasPrefix(d.String(), "cells") || d.Len() != cellTreeFrom || d.Height() > 8 {
		t.Error(d)
	}
	for i := range d.Len() {
		if d.Point(testkit.Must(d.Cell(i))) != i {
			t.Fatalf("point %d has no cell", i)
		}
	}
}

// Package cities has the places that several exhibits and tests are about.
package cities

import (
	"bytes"
	_ "embed"
	"fmt"

	"github.com/metricdp/metricdp/internal/csvfile"
	"github.com/metricdp/metricdp/metric"
)

// file is described in DATA.md.
//
//go:embed cities.csv
var file []byte

// Largest returns the n most populous places.
func Largest(n int) (*metric.Points[metric.LatLon], error) {
	var at []metric.LatLon
	err := csvfile.Read("cities.csv", bytes.NewReader(file), csvfile.Columns{Place: true},
		func(r *csvfile.Row) { at = append(at, r.LatLon()) })
	if err != nil {
		return nil, err
	}
	if n > len(at) {
		return nil, fmt.Errorf("%d cities: there are %d", n, len(at))
	}
	return metric.NewPoints(at[:n], metric.GreatCircle{})
}

package emd

import (
	"errors"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// oneBad has three points at distance 1/2 but for one pair.
type oneBad float64

func (oneBad) Len() int { return 3 }
func (f oneBad) Distance(i, j int) float64 {
	switch {
	case i == j:
		return 0
	case i+j == 3:
		return float64(f)
	}
	return .5
}

// A distance that is no number would be covered by no promise, and is not to be
// passed over in a search for the largest one.
func TestMeasured_RefusesBadDistances(t *testing.T) {
	weights := []float64{4, 3, 3, 3, 4, 3, 3, 3, 4}
	c := testkit.Must(mechanism.FromWeights(t.Context(), 3, 3, weights, nil))
	g := testkit.Must(mechanism.NewGuarantee(1, 0, ""))
	c = c.WithGuarantee(g)
	model := Model{Trust: Central, Users: 10, Items: 2, Diameter: 1}
	for _, d := range []float64{math.NaN(), -1, math.Inf(1)} {
		var value *metric.ValueError
		if _, err := NewFrequencies(t.Context(), c, oneBad(d), model, nil); !errors.As(err, &value) {
			t.Errorf("NewFrequencies with a distance %v: %v", d, err)
		}
		if _, err := NewItemWise(t.Context(), c, model, &ItemWiseOptions{Space: oneBad(d)}); !errors.As(err, &value) {
			t.Errorf("NewItemWise with a distance %v: %v", d, err)
		}
		if _, err := Shares(t.Context(), oneBad(d)); !errors.As(err, &value) {
			t.Errorf("Shares with a distance %v: %v", d, err)
		}
	}
	if e, err := distancesOf(t.Context(), "op", oneBad(0)); err != nil || e.diameter != .5 || e.least != 0 || e.zero != [2]int{1, 2} || e.positive != .5 {
		t.Errorf("%+v, %v", e, err)
	}
}

// oneOdd has three points at distance 1/2 but for one ordered pair.
type oneOdd struct {
	i, j int
	d    float64
}

func (oneOdd) Len() int { return 3 }
func (f oneOdd) Distance(i, j int) float64 {
	switch {
	case i == f.i && j == f.j:
		return f.d
	case i == j:
		return 0
	}
	return .5
}

func TestMeasured_LooksAtEveryDistance(t *testing.T) {
	for i := range 3 {
		for j := range 3 {
			for _, d := range []float64{math.NaN(), -1, math.Inf(1)} {
				if _, err := distancesOf(t.Context(), "op", oneOdd{i, j, d}); err == nil {
					t.Errorf("takes %v from %d to %d", d, i, j)
				}
			}
			if i == j {
				continue
			}
			long, err := distancesOf(t.Context(), "op", oneOdd{i, j, 9})
			short, err2 := distancesOf(t.Context(), "op", oneOdd{i, j, .1})
			if err = errors.Join(err, err2); err != nil || long.diameter != 9 || long.far != [2]int{i, j} || short.least != .1 || short.positive != .1 {
				t.Errorf("%d to %d: %+v, %+v, %v", i, j, long, short, err)
			}
		}
	}
}

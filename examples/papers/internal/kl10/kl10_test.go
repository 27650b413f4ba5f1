package kl10

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/examples/papers/internal/exhibittest"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/exponential/kl10"
	"github.com/metricdp/metricdp/metric"
)

func TestExhibits_Hold(t *testing.T) {
	exhibittest.Hold(t, Exhibits, []string{"KL10/compact"}, "kl10-def2.3.png")
}

// Two points at distance d have ln((1-delta)/delta)/d.
func TestLevel_TwoPoints(t *testing.T) {
	two := testkit.Must(line(2, 4))
	l := level(t.Context(), metric.Same(two), kl10.Target{Gamma: 1, Delta: 0.1})
	if want := math.Log(9) / 4; l.Lo > want*(1+1e-9) || l.Hi < want || l.Width() > 1e-3 {
		t.Errorf("%v, want %v", l, want)
	}
}

// Parts are metrics of n points. Those of compact spaces stay within their diameter,
// and in those of the others all points are farther than gamma from each other.
func TestParts(t *testing.T) {
	for _, s := range parts {
		b := testkit.Must(s.part(12))
		for _, f := range []metric.Finite{b.Privacy, b.Utility} {
			if err := metric.Validate(t.Context(), f, nil); err != nil {
				t.Errorf("%s: %v", s.name, err)
			}
		}
		far, _, _, err := metric.Diameter(t.Context(), b.Privacy)
		if err != nil || far > 2 {
			t.Errorf("%s: privacy distances up to %v, %v", s.name, far, err)
		}
		near, _, _, err := metric.NewIndex(b.Utility).MinDistance(t.Context())
		if err != nil || (near < 0.2) != s.compact {
			t.Errorf("%s: points %v apart, %v", s.name, near, err)
		}
	}
}

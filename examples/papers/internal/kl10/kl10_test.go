package kl10

import (
	"testing"

	"github.com/metricdp/metricdp/examples/papers/internal/exhibittest"
	"github.com/metricdp/metricdp/metric"
)

func TestExhibits_Hold(t *testing.T) {
	exhibittest.Hold(t, Exhibits, []string{"KL10/thm3.4", "KL10/sec3"})
}

// Parts are metrics of n points. Those of compact spaces stay within their diameter,
// and in those of the others all points are farther than gamma from each other.
func TestParts(t *testing.T) {
	for _, s := range parts {
		f := s.part(12)
		if err := metric.Validate(t.Context(), f, nil); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
		far, _, _, err := metric.Diameter(t.Context(), f)
		if err != nil || far > 1 {
			t.Errorf("%s: distances up to %v, %v", s.name, far, err)
		}
		near, _, _, err := metric.NewIndex(f).MinDistance(t.Context())
		if err != nil || (near < 0.2) != s.compact {
			t.Errorf("%s: points %v apart, %v", s.name, near, err)
		}
	}
}

// A middle of squared is near to the records between its two and to no other, and a
// database's answers are those of its counts.
func TestRanges(t *testing.T) {
	shares, answers := databases(2, 3)
	if len(shares) != 6 || len(answers) != 6 || answers[0][0] != 0 || answers[5][0] != 1 || answers[5][1] != 1 {
		t.Errorf("%v, %v", shares, answers)
	}
	const m, gamma = 26, .2 * (1 + 1e-9)
	b := squared(m, gamma)
	for y := m; y < b.Utility.Len(); y++ {
		for x := range m {
			if d := b.Utility.Distance(x, y); (d <= gamma) != (x >= y-m && x <= y-m+4) {
				t.Errorf("middle %d, record %d: %v", y-m, x, d)
			}
		}
	}
	if n := b.Utility.Len(); n != 2*m-4 {
		t.Errorf("%d outputs", n)
	}
}

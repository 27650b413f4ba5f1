package measure

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/internal/samples"
)

// The density of a region is its mass over its share of the cells, that of all others
// 0: over all cells the mean is 1.
func TestDensity_IsMassOverShare(t *testing.T) {
	r := random.Seeded(3)
	for name, d := range samples.Domains() {
		s := testkit.Must(NewSynthesizer(d, 1, nil))
		out := testkit.Must(s.Release(r, randomCounts(d, 100, r)))
		density := out.Density()
		of := make([]float64, d.Len()) // by cell
		for i, w := range out.Weights {
			lo, hi := samples.Inside(d).Regions.Cells(out.nodes[i])
			for c := lo; c < hi; c++ {
				of[c] = w * float64(d.Len()) / float64(hi-lo)
			}
		}
		mean := 0.0
		for c, want := range of {
			got := density(d.Point(c))
			if math.Abs(got-want) > 1e-12*want {
				t.Fatalf("%s: %v in cell %d, want %v", name, got, c, want)
			}
			mean += got / float64(len(of))
		}
		if math.Abs(mean-1) > 1e-9 {
			t.Errorf("%s: mean %v", name, mean)
		}
		if got := density(-1); !math.IsNaN(got) {
			t.Errorf("%s: %v where there is no cell", name, got)
		}
	}
}

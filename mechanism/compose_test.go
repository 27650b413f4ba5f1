package mechanism

import (
	"errors"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// The product channel has at most the sum of the levels.
func TestCompose_AddsAndReleases(t *testing.T) {
	f := space.Path(4, 1)
	a, b := certified(t, expo(t, f, 0.5, false), f, "m"), certified(t, expo(t, f, 1, false), f, "m")
	both := testkit.Must(Compose[int, int](a, b))
	w := make([]float64, 4*16)
	for x := range 4 {
		for y := range 16 {
			w[16*x+y] = a.w[4*x+y/4] + b.w[4*x+y%4]
		}
	}
	product := testkit.Must(testkit.Must(FromLogWeights(t.Context(), 4, 16, w, nil)).Audit(t.Context(), f, nil))
	if g := both.Guarantee().Alpha(); product.Lo > g || g < a.Guarantee().Alpha()+b.Guarantee().Alpha() {
		t.Errorf("the product has level %v, composed %v", product, both.Guarantee())
	}
	doubled := Then(both, func(y []int) (float64, error) { return 2 * float64(y[0]), nil })
	if y, err := doubled.Release(random.Seeded(1), 2); err != nil || doubled.Guarantee() != both.Guarantee() || y < 0 || y > 6 {
		t.Error(y, err)
	}
	for want, err := range map[error]error{
		ErrUnit:         testkit.Err(Compose[int, int](a, certified(t, expo(t, f, 1, false), f, "km"))),
		metric.ErrEmpty: testkit.Err(Compose[int, int](a, nil)),
	} {
		if !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
	if testkit.Err(Compose[int, int]()) == nil || testkit.Err(doubled.Release(nil, -1)) == nil {
		t.Error("composed nothing, or released an input outside the space")
	}
}

package mechanism

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

func TestCompose_AddsAndReleases(t *testing.T) {
	f := space.Path(4, 1)
	build := func(beta float64, unit metric.Unit) *Channel { return certified(t, expo(t, f, beta, false), f, unit) }
	a, b := build(0.5, "m"), build(1, "m")
	both := testkit.Must(Compose[int, int](a, b))
	if got := both.Guarantee().Alpha(); got < a.Guarantee().Alpha()+b.Guarantee().Alpha() {
		t.Errorf("level %v", got)
	}
	// The product channel, audited: composition is honest.
	w := make([]float64, 4*16)
	for x := range 4 {
		for y := range 16 {
			w[16*x+y] = a.w[4*x+y/4] + b.w[4*x+y%4]
		}
	}
	p := testkit.Must(FromLogWeights(t.Context(), 4, 16, w, nil))
	if au, _ := p.Audit(t.Context(), f, nil); au.Lo > both.Guarantee().Alpha() {
		t.Errorf("the product has level %v, composed %v", au, both.Guarantee())
	}
	if ys, err := both.Release(random.Seeded(1), 2); err != nil || len(ys) != 2 {
		t.Error(ys, err)
	}
	if _, err := both.Release(nil, 7); err == nil {
		t.Error("released an input outside the space")
	}
	if _, err := Compose[int, int](a, build(1, "km")); !errors.Is(err, ErrUnit) {
		t.Errorf("units: %v", err)
	}
	if _, err := Compose[int, int](); err == nil {
		t.Error("composed nothing")
	}
	if _, err := Compose[int, int](a, nil); !errors.Is(err, metric.ErrEmpty) {
		t.Errorf("a nil mechanism: %v", err)
	}
	doubled := Then[int, int, float64](a, func(y int) (float64, error) { return 2 * float64(y), nil })
	if y, err := doubled.Release(random.Seeded(1), 2); err != nil || doubled.Guarantee() != a.Guarantee() || y < 0 || y > 6 {
		t.Error(y, err)
	}
	if _, err := doubled.Release(nil, -1); err == nil {
		t.Error("released an input outside the space")
	}
	if got := fmt.Sprint(doubled); !strings.HasPrefix(got, "post-processed: 4 x 4 channel") {
		t.Error(got)
	}
}

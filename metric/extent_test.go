package metric

import (
	"errors"
	"fmt"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

// extents are the diameter, the least distances, of all and the positive, and the radius of f.
func extents(t *testing.T, f Finite) (all [4]pair) {
	t.Helper()
	var errs [4]error
	all[0].key, all[0].i, all[0].j, errs[0] = Diameter(t.Context(), f)
	all[1].key, all[1].i, all[1].j, errs[1] = NewIndex(f).MinDistance(t.Context())
	all[2].key, all[2].i, all[2].j, errs[2] = NewIndex(f).MinPositiveDistance(t.Context())
	all[3].key, all[3].i, errs[3] = Radius(t.Context(), f)
	if err := errors.Join(errs[:]...); err != nil {
		t.Error(err)
	}
	return all
}

func TestExtent_EqualsDefinition(t *testing.T) {
	eachSpace(t, 80, func(t *testing.T, p *Points[[]float64]) {
		want := [4]pair{{-1, 0, 0}, nothing, nothing, nothing}
		for i := range p.Len() {
			far := 0.0
			for j := range p.Len() {
				d := p.Distance(i, j)
				far = max(far, d)
				if j >= i && d > want[0].key {
					want[0] = pair{d, i, j}
				}
				if j > i && d < want[1].key {
					want[1] = pair{d, i, j}
				}
				if j > i && d > 0 && d < want[2].key {
					want[2] = pair{d, i, j}
				}
			}
			if far < want[3].key {
				want[3] = pair{far, i, 0}
			}
		}
		for _, f := range []Finite{p, scanned{p}} {
			if got := extents(t, f); got != want {
				t.Errorf("%T: %v, want %v", f, got, want)
			}
		}
	})
}

// The chunks of several workers, where extremes tie, and spaces of few points.
func TestExtent_ClosedForms(t *testing.T) {
	grid := under(gridPoints(41, 41), normSpace{1, identity})
	one := under([][]float64{{5}}, normSpace{2, identity})
	ofGrid := [4]pair{{80, 0, 41*41 - 1}, {1, 0, 1}, {1, 0, 1}, {40, 20*41 + 20, 0}}
	ofOne := [4]pair{{0, 0, 0}, nothing, nothing, {0, 0, 0}}
	for f, want := range map[Finite][4]pair{
		grid: ofGrid, scanned{grid}: ofGrid, one: ofOne, scanned{one}: ofOne,
		new(Dense): {{0, -1, -1}, nothing, nothing, {0, -1, 0}},
	} {
		if got := extents(t, f); got != want {
			t.Errorf("%T: %v, want %v", f, got, want)
		}
	}
}

func BenchmarkExtent(b *testing.B) {
	for _, n := range []int{1000, 1000000} {
		p := planePoints(n)
		for name, f := range map[string]func(){
			"Diameter":    func() { Diameter(b.Context(), p) },
			"Radius":      func() { Radius(b.Context(), p) },
			"MinDistance": func() { NewIndex(p).MinDistance(b.Context()) },
		} {
			testkit.Bench(b, fmt.Sprintf("%s/n=%d", name, n), f)
		}
	}
	p := scanned{planePoints(1000)}
	testkit.Bench(b, "Diameter/scan/n=1000", func() { Diameter(b.Context(), p) })
}

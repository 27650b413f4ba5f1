package metric

import (
	"fmt"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

func TestExtent_EqualsDefinition(t *testing.T) {
	eachSpace(t, 80, func(t *testing.T, p *Points[[]float64]) {
		n := p.Len()
		diam, least, positive := pair{-1, 0, 0}, pair{math.Inf(1), -1, -1}, pair{math.Inf(1), -1, -1}
		radius := entry{math.Inf(1), -1}
		for i := range n {
			far := 0.0
			for j := range n {
				d := p.Distance(i, j)
				far = max(far, d)
				if j >= i && d > diam.key {
					diam = pair{d, i, j}
				}
				if j > i && d < least.key {
					least = pair{d, i, j}
				}
				if j > i && d > 0 && d < positive.key {
					positive = pair{d, i, j}
				}
			}
			if far < radius.d {
				radius = entry{far, i}
			}
		}
		for _, f := range []Finite{p, scanned{p}} {
			if d, i, j, err := Diameter(t.Context(), f); err != nil || (pair{d, i, j}) != diam {
				t.Errorf("Diameter(%T) = %v (%d, %d), want %v", f, d, i, j, diam)
			}
			if d, i, j, err := MinDistance(t.Context(), f); err != nil || (pair{d, i, j}) != least {
				t.Errorf("MinDistance(%T) = %v (%d, %d), want %v", f, d, i, j, least)
			}
			if d, i, j, err := MinPositiveDistance(t.Context(), f); err != nil || (pair{d, i, j}) != positive {
				t.Errorf("MinPositiveDistance(%T) = %v (%d, %d), want %v", f, d, i, j, positive)
			}
			if r, c, err := Radius(t.Context(), f); err != nil || (entry{r, c}) != radius {
				t.Errorf("Radius(%T) = %v at %d, want %v", f, r, c, radius)
			}
		}
	})
}

// The chunks of several workers: closed forms on a grid, where extremes tie.
func TestExtent_Grid(t *testing.T) {
	p := under(gridPoints(41, 41), normSpace{1, identity})
	for _, f := range []Finite{p, scanned{p}} {
		if d, i, j, err := Diameter(t.Context(), f); err != nil || d != 80 || i != 0 || j != 41*41-1 {
			t.Errorf("diameter %v (%d, %d)", d, i, j)
		}
		if r, c, err := Radius(t.Context(), f); err != nil || r != 40 || c != 20*41+20 {
			t.Errorf("radius %v at %d", r, c)
		}
		if d, i, j, err := MinDistance(t.Context(), f); err != nil || d != 1 || i != 0 || j != 1 {
			t.Errorf("least distance %v (%d, %d)", d, i, j)
		}
	}
}

func TestExtent_FewPoints(t *testing.T) {
	inf, one := math.Inf(1), under([][]float64{{5}}, normSpace{2, identity})
	for f, want := range map[Finite]struct {
		diameter, radius, least pair
	}{
		one:          {pair{0, 0, 0}, pair{0, 0, 0}, pair{inf, -1, -1}},
		scanned{one}: {pair{0, 0, 0}, pair{0, 0, 0}, pair{inf, -1, -1}},
		noPoints{}:   {pair{0, -1, -1}, pair{0, -1, 0}, pair{inf, -1, -1}},
	} {
		if d, i, j, err := Diameter(t.Context(), f); err != nil || (pair{d, i, j}) != want.diameter {
			t.Errorf("diameter of %T: %v (%d, %d), %v", f, d, i, j, err)
		}
		if r, c, err := Radius(t.Context(), f); err != nil || (pair{r, c, 0}) != want.radius {
			t.Errorf("radius of %T: %v at %d, %v", f, r, c, err)
		}
		if d, i, j, err := MinDistance(t.Context(), f); err != nil || (pair{d, i, j}) != want.least {
			t.Errorf("least distance of %T: %v (%d, %d), %v", f, d, i, j, err)
		}
	}
}

func BenchmarkExtent(b *testing.B) {
	for _, n := range []int{1000, 1000000} {
		p := planePoints(n)
		for name, f := range map[string]func(){
			"Diameter":    func() { Diameter(b.Context(), p) },
			"Radius":      func() { Radius(b.Context(), p) },
			"MinDistance": func() { MinDistance(b.Context(), p) },
		} {
			testkit.Bench(b, fmt.Sprintf("%s/n=%d", name, n), f)
		}
	}
	p := scanned{planePoints(1000)}
	testkit.Bench(b, "Diameter/scan/n=1000", func() { Diameter(b.Context(), p) })
}

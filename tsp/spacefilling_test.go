package tsp

import (
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// far are points with coordinates of any size, which say nothing of their distances.
type far struct{ coords []float64 }

func (f far) Len() int                  { return len(f.coords) / 2 }
func (f far) Distance(i, j int) float64 { return 1 }
func (f far) Embed() (metric.Embedding, bool) {
	return metric.Embedding{Coords: f.coords, Dim: 2, P: 2, FromNorm: func(v float64) float64 { return v }}, true
}

// The order depends on the shape alone, up to the ends of float64.
func TestSpaceFilling_OfAnyScale(t *testing.T) {
	small, large := far{}, far{}
	r := random.Seeded(31)
	for range 200 {
		v := 3.9*r.Float64() - 1.95
		small.coords, large.coords = append(small.coords, v), append(large.coords, math.Ldexp(v, 1023))
	}
	a, b := testkit.Must(SpaceFilling(t.Context(), small, Open)), testkit.Must(SpaceFilling(t.Context(), large, Open))
	if !slices.Equal(a.Order, b.Order) {
		t.Errorf("%v and, scaled, %v", a.Order, b.Order)
	}
	corners := testkit.Must(SpaceFilling(t.Context(), far{[]float64{-1, -1, 1, 1, -1, 1, 1, -1}}, Open))
	if !slices.Equal(corners.Order, []int{0, 2, 1, 3}) {
		t.Errorf("the corners of a square are met in the order %v", corners.Order)
	}
}

// The curve meets every cell once, and goes from each to a neighbor.
func TestHilbert_IsACurveThroughAllCells(t *testing.T) {
	for _, c := range []struct{ d, bits int }{{1, 1}, {1, 8}, {2, 1}, {2, 2}, {2, 5}, {3, 1}, {3, 3}, {4, 1}, {4, 2}, {5, 2}, {11, 1}} {
		cells := 1 << (c.d * c.bits)
		at := make([][]uint32, cells)
		x, key := make([]uint32, c.d), make([]uint64, 1)
		for cell := range cells {
			for a := range x {
				x[a] = uint32(cell>>(a*c.bits)) & (1<<c.bits - 1)
			}
			cellAt := slices.Clone(x)
			hilbertKey(key, x, c.bits)
			h := key[0] >> (64 - c.d*c.bits)
			if h >= uint64(cells) || at[h] != nil {
				t.Fatalf("d=%d, bits=%d: place %d twice", c.d, c.bits, h)
			}
			at[h] = cellAt
		}
		for h := 1; h < cells; h++ {
			steps := 0
			for a := range c.d {
				steps += int(math.Abs(float64(at[h][a]) - float64(at[h-1][a])))
			}
			if steps != 1 {
				t.Fatalf("d=%d, bits=%d: from %v to %v", c.d, c.bits, at[h-1], at[h])
			}
		}
	}
}

package accountant

import (
	"context"
	"math"
)

// change is one item that moves from x to x', with what hides it.
type change struct {
	x, to    int
	distance float64
	veils    []veil          // the least bound counts
	nodes    map[int]float64 // ln D at nodeLevel, for the last number of records
}

// logDelta bounds ln D_{e^eps} among records records.
func (c *change) logDelta(ctx context.Context, records int64, eps float64) (float64, error) {
	least := 0.0
	for _, v := range c.veils {
		d, err := v.logDelta(ctx, records, eps)
		if err != nil {
			return 0, err
		}
		least = min(least, d)
	}
	return least, nil
}

// nodesPerOctave is how many levels of an octave have their own sum.
const nodesPerOctave = 64

func nodeLevel(i int) float64 { return math.Exp2(float64(i) / nodesPerOctave) } // 0 for math.MinInt

// interpolate bounds ln D_{e^eps} by the chord of the two nodes next to eps: D is convex in e^eps. Below all
// nodes it is D at 0, and a little beyond the next node that node's.
func (c *change) interpolate(ctx context.Context, records int64, eps float64) (float64, error) {
	i := math.MinInt
	if eps >= 0x1p-60 {
		i = int(math.Floor(float64(math.Log2(eps)*nodesPerOctave) - 0x1p-20))
	}
	lo, err := c.node(ctx, records, i)
	if err != nil || i == math.MinInt || math.IsInf(lo, -1) {
		return lo, err
	}
	hi, err := c.node(ctx, records, i+1)
	from := nodeLevel(i)
	return chord(lo, hi, math.Expm1(eps-from)/math.Expm1(nodeLevel(i+1)-from)), err
}

func (c *change) node(ctx context.Context, records int64, i int) (float64, error) {
	if v, ok := c.nodes[i]; ok {
		return v, nil
	}
	v, err := c.logDelta(ctx, records, nodeLevel(i))
	if err == nil {
		c.nodes[i] = v
	}
	return v, err
}

// chord bounds the logarithm of a convex function that falls from e^lo to e^hi, at share of the way.
func chord(lo, hi, share float64) float64 {
	share = min(1, max(0, share*(1-0x1p-40)))
	return min(0, lo+math.Log1p(share*math.Expm1(min(0, hi-lo)))+0x1p-40)
}

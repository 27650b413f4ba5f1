package accountant

import (
	"context"
	"math"
)

// change is one item that moves from x to x', with what hides it.
type change struct {
	x, to    int
	distance float64
	veils    []veil // the least bound counts
	nodes    map[int]float64
	chords   map[int]chord
}

// forget drops what was summed up for another number of records.
func (c *change) forget() {
	clear(c.nodes)
	clear(c.chords)
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

// chord is what bounds ln D between two nodes: D is convex in e^eps.
type chord struct {
	level, span float64 // eps of the lower node, and e^(next-level) - 1
	log, fall   float64 // ln D there, and 1 less the ratio of D at the next
}

// near bounds ln D_{e^eps} by the chord of the two nodes next to eps.
func (c *change) near(ctx context.Context, records int64, eps float64) (float64, error) {
	i := math.MinInt
	if eps >= 0x1p-60 {
		i = int(math.Floor(float64(math.Log2(eps)*nodesPerOctave) - 0x1p-20))
	}
	k, ok := c.chords[i]
	if !ok {
		var err error
		if k, err = c.chord(ctx, records, i); err != nil {
			return 0, err
		}
		c.chords[i] = k
	}
	if math.IsInf(k.log, -1) || k.fall == 0 {
		return k.log, nil
	}
	share := min(1, max(0, math.Expm1(eps-k.level)/k.span*(1-0x1p-40)))
	return min(0, k.log+math.Log1p(-share*k.fall)+0x1p-40), nil
}

// chord is the one from node i up; D at 0 where i is none. What near takes for a little beyond
// the next node is bounded by that node.
func (c *change) chord(ctx context.Context, records int64, i int) (chord, error) {
	if i == math.MinInt {
		log, err := c.logDelta(ctx, records, 0)
		return chord{log: log}, err
	}
	lo, err := c.node(ctx, records, i)
	if err != nil || math.IsInf(lo, -1) {
		return chord{log: lo}, err
	}
	hi, err := c.node(ctx, records, i+1)
	return chord{nodeLevel(i), math.Expm1(nodeLevel(i+1) - nodeLevel(i)), lo, max(0, -math.Expm1(hi-lo))}, err
}

func nodeLevel(i int) float64 { return math.Exp2(float64(i) / nodesPerOctave) }

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

package feature

import (
	"context"
	"math"

	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/mechanism/emd/internal/leastsquares"
)

// Centers is the map of a finite metric by a partition of unity: point x has the
// weight
//
//	prop. to max(0, radius - d(x, c))
//
// of center c, in quanta. Its constant is the exact maximum over all pairs.
type Centers struct {
	*Map
	leastsquares.Bounded
	Slope float64 // the constant, in quanta, rounded up
	tents *leastsquares.Sparse
}

// NewCenters returns the map; nil if points have more than entries centers each on the mean. Some center
// must be nearer than radius to every point. The constant in quanta is at most 1/quantum. noise is the
// expected size of the noise where the constant is 1. O(n k) distances for k centers, and O(n^2) merges.
func NewCenters(ctx context.Context, f finite.Metric, centers []int, radius, noise, quantum float64, entries int) (*Centers, error) {
	c := &Centers{Map: NewMap(len(centers))}
	c.Output = centers
	n := f.Len()
	weights, distances := make([]float64, 0, n), make([]float64, len(centers)) // of the entries
	for x := range n {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		sum, far := 0.0, 0.0
		for i, p := range centers {
			distances[i] = f.Distance(x, p)
			sum += max(0, 1-distances[i]/radius)
		}
		for i, d := range distances {
			if w := max(0, 1-d/radius) / sum; w > 0 {
				c.Set(i, 0)
				weights = append(weights, w)
				far += float64(w * d)
			}
		}
		c.Blur = max(c.Blur, 2*far) // of a point from its centers, on the mean, and back
		c.Close()
		if len(weights) > entries*n {
			return nil, nil
		}
	}
	if err := c.join(ctx, f, centers); err != nil {
		return nil, err
	}
	for c.Whole = 1 << 30; ; {
		c.fill(weights)
		slope, err := c.Steepest(ctx, f)
		if err != nil {
			return nil, err
		}
		if slope*quantum <= 1 || c.Whole == 1 {
			c.Slope = slope
			break
		}
		// Half as many at least: of a quotient just below a power of two, Log2 may be
		// rounded up.
		c.Whole = max(1, min(c.Whole/2, int64(math.Ldexp(1, int(math.Log2(float64(c.Whole)/(slope*quantum)))))))
	}
	c.Deviation = math.Sqrt2 * c.Slope / float64(c.Whole) * noise
	c.tents = leastsquares.NewSparse(c.Rows)
	for x := range n {
		rows, quanta := c.Of(x)
		for k, r := range rows {
			c.tents.Set(int(r), float64(quanta[k])/float64(c.Whole))
		}
		c.tents.Close()
	}
	return c, nil
}

// fill rounds weights to quanta that sum to c.Whole: the largest takes the rest.
func (c *Centers) fill(weights []float64) {
	for x := range c.Len() {
		_, quanta := c.Of(x)
		rest, largest := c.Whole, 0
		for k, w := range weights[:len(quanta)] {
			quanta[k] = int64(float64(w * float64(c.Whole)))
			rest -= quanta[k]
			if w > weights[largest] {
				largest = k
			}
		}
		weights = weights[len(quanta):]
		quanta[largest] += rest
	}
}

func (c *Centers) join(ctx context.Context, f finite.Metric, centers []int) error {
	for k, p := range centers {
		if err := ctx.Err(); err != nil {
			return err
		}
		at, least := -1, math.Inf(1)
		for i, q := range centers[:k] {
			if d := f.Distance(p, q); d < least {
				at, least = i, d
			}
		}
		c.Parent = append(c.Parent, at)
		c.Length = append(c.Length, least)
	}
	c.Length[0] = 0
	return nil
}

// Fit returns the weights of the points for a noisy mean y, in quanta.
func (c *Centers) Fit(ctx context.Context, y []float64) ([]float64, error) {
	return c.Bounded.Fit(ctx, c.tents, y)
}

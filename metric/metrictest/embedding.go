package metrictest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/kdtree"
	"github.com/metricdp/metricdp/internal/law"
	"github.com/metricdp/metricdp/metric"
)

// embedding checks the coordinates of f, if any, against the distances of idx.
func embedding(ctx context.Context, t *law.Trial, f metric.Finite, n int, idx []int) {
	t.Law("embedding", func() error {
		e, ok := finite.Embed[metric.Embedding](f)
		if !ok {
			return nil
		}
		if err := wellFormed(e, n); err != nil {
			return err
		}
		again, ok := finite.Embed[metric.Embedding](f)
		if !ok || again.Dim != e.Dim || again.P != e.P || !slices.EqualFunc(e.Coords, again.Coords, sameBits) {
			return errors.New("a second Embed gives another embedding")
		}
		return placement(ctx, f, e, idx)
	})
}

func wellFormed(e metric.Embedding, n int) error {
	switch {
	case e.Dim < 0 || len(e.Coords) != n*e.Dim:
		return fmt.Errorf("%d coordinates of %d points in %d dimensions", len(e.Coords), n, e.Dim)
	case !(e.P >= 1):
		return fmt.Errorf("exponent P = %v, want at least 1", e.P)
	case e.FromNorm == nil:
		return errors.New("FromNorm is nil")
	}
	return fault.AllFinite("embedding", "Coords", e.Coords)
}

// placement compares distances with FromNorm of the norms, each moved by the
// rounding that spatial trees grant it.
func placement(ctx context.Context, f metric.Finite, e metric.Embedding, idx []int) error {
	slack := float64(float64(e.Dim) * kdtree.SlackDim)
	big := float64(slack * floats.Norm(e.Coords, math.Inf(1)))
	at := func(i int) []float64 { return e.Coords[i*e.Dim : (i+1)*e.Dim] }
	for a, i := range idx {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, j := range idx[:a+1] {
			v := metric.Minkowski{P: e.P}.Distance(at(i), at(j))
			lo := (1 - kdtree.SlackOut) * e.FromNorm(max(0, float64(v*(1-slack))-big))
			hi := (1 + kdtree.SlackOut) * e.FromNorm(float64(v*(1+slack))+big)
			if line := float64(v * e.FromNorm(1)); e.Linear && !(math.Abs(e.FromNorm(v)-line) <= kdtree.SlackOut*line) {
				return fmt.Errorf("FromNorm(%v) = %v, not %v as Linear promises", v, e.FromNorm(v), line)
			}
			if d := f.Distance(i, j); !(lo <= d && d <= hi) {
				return fmt.Errorf("Distance(%d, %d) = %v, FromNorm of the norm %v is %v, beyond rounding", i, j, d, v, e.FromNorm(v))
			}
		}
	}
	return nil
}

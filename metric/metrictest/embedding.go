package metrictest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/kdtree"
	"github.com/metricdp/metricdp/internal/law"
	"github.com/metricdp/metricdp/metric"
)

// embedding checks the coordinates of f, where it has some, of n points against
// the distances between those of idx.
func embedding(t *law.Trial, f metric.Finite, n int, idx []int) {
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
		return placement(f, e, idx)
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
	for k, c := range e.Coords {
		if math.IsNaN(c) || math.IsInf(c, 0) {
			return fmt.Errorf("coordinate %d of point %d is %v", k%e.Dim, k/e.Dim, c)
		}
	}
	return nil
}

// placement compares distances with FromNorm of the norms, each moved by the
// rounding that spatial trees grant it.
func placement(f metric.Finite, e metric.Embedding, idx []int) error {
	big := 0.0
	for _, c := range e.Coords {
		big = max(big, math.Abs(c))
	}
	diff := make([]float64, e.Dim)
	slack := float64(float64(e.Dim) * kdtree.SlackDim)
	for a, i := range idx {
		for _, j := range idx[:a+1] {
			v := norm(floats.SubTo(diff, e.Coords[i*e.Dim:(i+1)*e.Dim], e.Coords[j*e.Dim:(j+1)*e.Dim]), e.P)
			lo := (1 - kdtree.SlackOut) * e.FromNorm(max(0, float64(v*(1-slack))-float64(slack*big)))
			hi := (1 + kdtree.SlackOut) * e.FromNorm(float64(v*(1+slack))+float64(slack*big))
			if d := f.Distance(i, j); !(lo <= d && d <= hi) {
				return fmt.Errorf("Distance(%d, %d) = %v, FromNorm of the norm %v is %v, beyond rounding", i, j, d, v, e.FromNorm(v))
			}
		}
	}
	return nil
}

// norm is the p-norm of x, which it scales so that no power overflows.
func norm(x []float64, p float64) float64 {
	if len(x) == 0 {
		return 0
	}
	most := floats.Norm(x, math.Inf(1))
	if most == 0 || math.IsInf(p, 1) {
		return most
	}
	for k := range x {
		x[k] /= most
	}
	return most * floats.Norm(x, p)
}

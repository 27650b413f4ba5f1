package lp

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/ipm"
	"github.com/metricdp/metricdp/metric"
)

// A program of mostCritical inputs, those whose rows have the largest prices in a relaxation, and of
// a net of some others proves a bound as good as one of all: few inputs are critical where outputs are
// few. criticalShare of the tolerance is its gap.
const (
	mostCritical, othersCritical = 128, 64
	criticalShare                = 0.1
)

// critical proves the bound of the inputs that are critical in res. Fewer inputs only lower the
// optimum, and all pairs of these are in the program, which a relaxation has not. There is no error
// where the context is done, or the program does not fit the memory.
func (g *merged) critical(s *Solution, res *ipm.Result) error {
	classes := make([]int, len(g.first))
	for c := range classes {
		classes[c] = c
	}
	slices.SortStableFunc(classes, func(c, d int) int { return cmp.Compare(math.Abs(res.Y[d]), math.Abs(res.Y[c])) })
	var inputs []int
	for _, c := range classes[:min(mostCritical, len(classes))] {
		inputs = append(inputs, g.first[c])
	}
	net, _, err := metric.FarthestFirst(g.ctx, bounded{g.budget}, min(othersCritical, g.n), inputs[0])
	if err == nil {
		inputs = append(inputs, net...)
		slices.Sort(inputs)
		err = g.prove(s, slices.Compact(inputs))
	}
	var most *metric.MemoryError
	if g.ctx.Err() != nil || errors.As(err, &most) {
		return nil
	}
	return err
}

// prove is critical for the inputs given.
func (g *merged) prove(s *Solution, inputs []int) error {
	e := &extension{problem: g.problem, s: s, anchors: len(inputs)}
	slack := 0.0
	if g.m > patchOutputs*len(inputs) {
		slack = patchSlack * s.Objective
	}
	outputs, slack := e.undominated(inputs, slack)
	if err := g.ctx.Err(); err != nil {
		return err
	}
	_, err := e.some(inputs, outputs, slack, criticalShare*g.o.Tolerance)
	return err
}

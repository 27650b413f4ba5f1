package mechanism

import (
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/rng"
)

// Sampler draws repeatedly from one row. It is immutable and safe for
// concurrent use. Nil and the zero value panic.
type Sampler struct {
	c     *Channel
	table *exact.Table
}

// Sampler prepares input x for repeated draws: O(Outputs()) time and memory,
// then O(1) expected a draw.
func (c *Channel) Sampler(x int) (*Sampler, error) {
	if err := c.checkInput(x); err != nil {
		return nil, err
	}
	var own []float64
	w, err := c.read(x, &own)
	if err != nil {
		return nil, err
	}
	return &Sampler{c, exact.NewTable(w.Weights)}, nil
}

// Draw returns the point of one output, with the law of [Channel.Release] and,
// for a seeded generator, the same draws.
func (s *Sampler) Draw(r *rand.Rand) int {
	if s == nil || s.table == nil {
		panic("mechanism: Sampler.Draw: the sampler was not made by Channel.Sampler")
	}
	if r != nil {
		return s.c.Output(s.table.Draw(r))
	}
	r, done := rng.Get(nil)
	defer done()
	return s.c.Output(s.table.Draw(r))
}

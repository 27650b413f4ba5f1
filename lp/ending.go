package lp

import (
	"context"
	"math"
	"sync/atomic"
	"time"

	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
)

// The contexts here end when they are asked, and only Err tells: each look at one is
// a look at that of the call, so that a test sees it, and nothing is to be canceled.

// limited is a context with less time. Its first error stays.
type limited struct {
	context.Context
	end   time.Time
	first atomic.Pointer[error]
}

func limit(ctx context.Context, left time.Duration) context.Context {
	return &limited{Context: ctx, end: time.Now().Add(left)}
}

func (c *limited) Err() error {
	err := c.Context.Err()
	if err == nil && time.Now().After(c.end) {
		err = context.DeadlineExceeded
	}
	if err != nil {
		c.first.CompareAndSwap(nil, &err)
	}
	if first := c.first.Load(); first != nil {
		return *first
	}
	return nil
}

// begin starts the clock of the time limit. Half of it at most is kept for what it
// takes to make private and audit what is found.
func (p *problem) begin() {
	if left := p.o.TimeLimit; left > 0 {
		p.end = time.Now().Add(left)
		p.late = limit(p.late, left+lateness)
		p.kept = min(left/2, p.needed())
		p.ctx = limit(p.ctx, left-p.kept)
	}
}

// left is what is left of the time limit: much where there is none.
func (p *problem) left() time.Duration {
	if p.o.TimeLimit <= 0 {
		return math.MaxInt64
	}
	return time.Until(p.end)
}

// What is kept: as many passes over all pairs and outputs as envelopes take by
// experiment, and an audit, as measured on sampledRows rows.
const (
	keptPasses  = 16 + 6
	sampledRows = 32
)

// needed is the time to keep.
func (p *problem) needed() time.Duration {
	start := time.Now()
	// The context of the limit has not begun; a few rows are quick.
	_ = parallel.Chunks(context.Background(), min(p.n, sampledRows), 4, p.o.Workers, nil, func(_, lo, hi int) {
		f, best, row := make([]float64, p.n), 0.0, []float64{}
		for u := lo; u < hi; u++ {
			row = finite.Row(p.budget, u, row)
			factors(row, f)
			for w := range p.m {
				for v, q := range p.scaled[w*p.n : (w+1)*p.n] {
					if t := f[v] * q; t > best {
						best = t
					}
				}
			}
		}
	})
	return keptPasses * time.Since(start) * time.Duration(p.n) / time.Duration(min(p.n, sampledRows))
}

// lateness is how long a call goes on where its context is done: enough for the
// audit of some 300 inputs on two cores.
const lateness = 200 * time.Millisecond

// lingering is a context that is done a little after another, from when it is first
// seen to be.
type lingering struct {
	context.Context
	end atomic.Pointer[time.Time]
}

func linger(ctx context.Context) context.Context { return &lingering{Context: ctx} }

func (c *lingering) Err() error {
	err := c.Context.Err()
	if err == nil {
		return nil
	}
	now := time.Now()
	end := now.Add(lateness)
	if c.end.CompareAndSwap(nil, &end) || now.Before(*c.end.Load()) {
		return nil
	}
	return err
}

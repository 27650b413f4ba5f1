package lp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// problem is a program as it was asked for, its numbers read once.
type problem struct {
	op    string
	b     metric.Bimetric
	alpha float64
	o     Options // with defaults
	// ctx is that of the call, and ends where the time limit leaves what it takes to
	// make private and audit what was found. late is done a little after the call's, or
	// after the limit.
	ctx, late context.Context
	end       time.Time     // of the time limit
	kept      time.Duration // before it
	bare      bool          // nothing is looked for beside the program
	n, m      int           // inputs, outputs

	// budget is alpha*rho1 of every pair of inputs, rounded up: a finite.Square where those fit.
	budget finite.Metric
	// loss[w*n+u] is that of output w at input u; scaled is the same
	// times 2^-exp, the largest being near 1.
	loss, scaled []float64
	exp          int
}

// lossUnit is that of the losses, where they are distances and have one.
func (p *problem) lossUnit() metric.Unit {
	if p.o.Loss != nil {
		return ""
	}
	return metric.UnitOf(p.b.Utility)
}

// bytes is what a problem of n inputs and m outputs keeps, besides an engine:
// losses and two channels, and where they are stored budgets, of classes too.
func bytes(n, m int, stored bool) float64 {
	if !stored {
		return float64(32 * float64(n) * float64(m))
	}
	return float64(16 * float64(n) * float64(n+2*m))
}

// leastComputed is the number of inputs from which on budgets that do not fit are computed
// when they are asked for. Tests lower it.
var leastComputed = 4096

// stores tells whether budgets are stored.
func (p *problem) stores() bool {
	_, is := p.budget.(finite.Square)
	return is
}

func (p *problem) bytes() float64 { return bytes(p.n, p.m, p.stores()) }

// computed are budgets that are not stored.
type computed struct {
	metric.Finite
	alpha float64
}

func (c computed) Distance(u, v int) float64 { return budgetOf(c.alpha, c.Finite.Distance(u, v)) }

// DistancesFrom writes those from u to dst.
func (c computed) DistancesFrom(u int, dst []float64) []float64 {
	dst = finite.Grow(dst, c.Len())
	for v, d := range finite.Row(c.Finite, u, dst) {
		dst[v] = budgetOf(c.alpha, d)
	}
	return dst
}

// budgetOf is alpha*rho1, rounded up.
func budgetOf(alpha, d float64) float64 { return directed.MulUp(alpha, d) }

// read takes the distances out of b.
func read(ctx context.Context, op string, b metric.Bimetric, alpha float64, o *Options) (*problem, error) {
	set, err := o.defaults(op, b, alpha)
	if err != nil {
		return nil, err
	}
	p := &problem{op: op, b: b, alpha: alpha, o: set, ctx: ctx, n: b.Privacy.Len(), m: len(set.Outputs)}
	if p.n < leastComputed || p.memory(bytes(p.n, p.m, true)) == nil {
		p.budget = finite.Square{N: p.n}
	} else {
		p.budget = computed{b.Privacy, alpha}
	}
	if err := p.memory(p.bytes()); err != nil {
		return nil, err
	}
	p.late = linger(ctx)
	if err := p.distances(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

// cause is err, or where that is for late what the context of the call says.
func (p *problem) cause(ctx context.Context, err error) error {
	if err != nil && p.late.Err() != nil {
		return fmt.Errorf("%s: stopped: %w", p.op, context.Cause(ctx))
	}
	return err
}

func (p *problem) distances(ctx context.Context) error {
	op, b, alpha := p.op, p.b, p.alpha
	budget, stored := p.budget.(finite.Square)
	if stored {
		budget.D = make([]float64, p.n*p.n)
		p.budget = budget
	}
	p.loss, p.scaled = make([]float64, p.m*p.n), make([]float64, p.m*p.n)
	bad := make([]error, p.n)
	err := parallel.Chunks(p.late, p.n, 8, p.o.Workers, nil, func(_, lo, hi int) {
		var row []float64
		for i := lo; i < hi; i++ {
			row, bad[i] = distances(op, "Privacy", b.Privacy, i, row)
			for j := i + 1; j < p.n && bad[i] == nil && stored; j++ {
				e := budgetOf(alpha, row[j])
				budget.D[i*p.n+j], budget.D[j*p.n+i] = e, e
			}
		}
	})
	if err := cmp.Or(p.cause(ctx, err), cmp.Or(bad...)); err != nil {
		return err
	}
	most, losses := 0.0, p.o.losses(op, b.Utility)
	at := make([]float64, p.m)
	for i := range p.n {
		if err := p.late.Err(); err != nil {
			return p.cause(ctx, err)
		}
		if err := losses(i, at); err != nil {
			return err
		}
		for w, l := range at {
			p.loss[w*p.n+i] = l
			most = max(most, l)
		}
	}
	// What underflows is less than what the kernel's bound gives away.
	_, p.exp = math.Frexp(most)
	for i, l := range p.loss {
		p.scaled[i] = math.Ldexp(l, -p.exp)
	}
	return nil
}

// distances are those from point i of f, in dst where it is long enough.
func distances(op, arg string, f metric.Finite, i int, dst []float64) ([]float64, error) {
	dst = finite.Row(f, i, dst)
	return dst, fault.AllNonNegative(op, fmt.Sprintf("%s[%d]", arg, i), dst)
}

func (p *problem) memory(bytes float64) error {
	if bytes > p.o.MemoryLimit {
		return &fault.MemoryError{Op: p.op, Bytes: bytes, Limit: p.o.MemoryLimit}
	}
	return nil
}

// released is a channel that was audited, and its loss.
type released struct {
	channel   *mechanism.Channel
	audit     mechanism.Audit
	objective float64
	method    exponential.Method
}

// release builds the channel of the weights, one row per input, audits it, and
// bounds its loss from above, until late ends.
func (p *problem) release(weight []float64) (*released, error) {
	c, err := mechanism.FromWeights(p.late, p.n, p.m, weight, &mechanism.ChannelOptions{Labels: p.o.Outputs, Workers: p.o.Workers})
	if err != nil {
		return nil, err
	}
	loss, err := p.objective(weight)
	if err != nil {
		return nil, err
	}
	return p.certify(c, loss, MethodProgram)
}

// certify audits a channel of that loss.
func (p *problem) certify(c *mechanism.Channel, loss float64, method exponential.Method) (*released, error) {
	c, audit, err := c.Certify(p.late, p.b.Privacy, p.o.Unit, &mechanism.AuditOptions{Workers: p.o.Workers})
	if err != nil {
		return nil, err
	}
	return &released{c, audit, loss, method}, nil
}

// objective is the loss of the weights, one row per input, rounded up.
func (p *problem) objective(weight []float64) (float64, error) {
	return p.total(func(i int) float64 {
		loss, sum := 0.0, 0.0
		for w, q := range weight[i*p.m : (i+1)*p.m] {
			loss = directed.AddUp(loss, directed.MulUp(q, p.loss[w*p.n+i]))
			sum = directed.AddDown(sum, q)
		}
		return directed.DivUp(loss, sum)
	})
}

// total is the largest loss, or the mean under the prior, rounded up.
func (p *problem) total(loss func(input int) float64) (float64, error) {
	worst, mean, mass := 0.0, 0.0, 0.0
	for i := range p.n {
		if err := p.late.Err(); err != nil {
			return 0, err
		}
		l := loss(i)
		worst = max(worst, l)
		if p.o.Prior != nil {
			mean = directed.AddUp(mean, directed.MulUp(p.o.Prior[i], l))
			mass = directed.AddDown(mass, p.o.Prior[i])
		}
	}
	if p.o.Prior != nil {
		worst = directed.DivUp(mean, mass)
	}
	return worst, nil
}

// constant releases the one best output. Its rows are equal: its level is 0.
func (p *problem) constant(ctx context.Context) (*released, error) {
	least, best := math.Inf(1), 0
	for w := range p.m {
		loss, err := p.total(func(i int) float64 { return p.loss[w*p.n+i] })
		if err != nil {
			return nil, p.cause(ctx, err)
		}
		if loss < least {
			least, best = loss, w
		}
	}
	m, err := exponential.Constant(p.n, 0, p.o.Unit)
	if err != nil {
		return nil, err
	}
	c, err := m.Relabel([]int{p.o.Outputs[best]}) // which may be no input
	if err != nil {
		return nil, err
	}
	return &released{c, m.Audited, least, exponential.MethodConstant}, nil
}

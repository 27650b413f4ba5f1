package lp

import (
	"context"
	"slices"
	"time"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

const (
	// startShare of the time limit may go by before the program: where that is much of
	// it, the program would not end.
	startShare = 0.5
	// Tight weights may take as many triples of inputs as startWork, startStep each, and
	// noise as many of two inputs and an output as noiseWork.
	startWork, noiseWork = 4e9, 2e11
	startStep            = 10 * time.Nanosecond
	// snapWork is the number of inputs times outputs from which on snapped noise, some
	// 10 milliseconds at least, takes little beside the program; remapWork is that for
	// remapped noise, at remapStep each.
	snapWork, remapWork = 1e4, 1e5
	remapStep           = 30 * time.Microsecond
)

// What proves a DualBound.
const (
	boundByProgram = "linear program"
	boundByNearest = "nearest outputs"
	boundByStar    = "closed star"
	boundByPatch   = "local program"
	boundByMean    = "mean under a prior"
)

// start improves s by bounds and a mechanism that cost little beside the program,
// so that its gap means something while that is solved, and where it is not. One that
// fails is passed over.
func (p *problem) start(s *Solution, began time.Time) {
	ctx := p.ctx
	if p.o.TimeLimit > 0 {
		ctx = limit(ctx, time.Duration(startShare*float64(p.o.TimeLimit)))
	}
	c := p.cells(p.m, p.loss)
	p.star(ctx, c, s)
	p.o.Progress(0, s.Gap, time.Since(began))
	for _, step := range []func(context.Context, *cells, *Solution){p.tight, p.noise} {
		if s.Gap > p.o.Tolerance && ctx.Err() == nil {
			step(ctx, c, s)
			p.o.Progress(0, s.Gap, time.Since(began))
		}
	}
}

// cheap tells whether so many outputs are few enough for a mechanism to start with.
func (p *problem) cheap(outputs int, work float64) bool {
	n, k := float64(p.n), float64(outputs)
	return n*n*k <= work && p.memory(p.bytes()+float64(24*n*n)+float64(16*n*k)) == nil
}

// tight is the mechanism of tight weights, where there is one, and after it the best
// output for the input that it names.
func (p *problem) tight(ctx context.Context, c *cells, s *Solution) {
	n, limit := float64(p.n), float64(p.o.TimeLimit)
	if !p.cheap(p.n, startWork) || limit > 0 && n*n*n*float64(startStep) > startShare*limit {
		return
	}
	m, err := exponential.Tight(ctx, p.b.Privacy, p.alpha, &exponential.Options{Unit: p.o.Unit, Workers: p.o.Workers})
	if err == nil {
		p.take(m, c, s)
	}
}

// noise is remapped or snapped noise, or where there is none the tuned exponential
// mechanism. It is for levels too small for tight weights, which lose least or nearly.
func (p *problem) noise(ctx context.Context, c *cells, s *Solution) {
	if s.Method == exponential.MethodTight || !p.cheap(p.m, noiseWork) {
		return
	}
	var m *exponential.Mechanism
	err, work, limit := exponential.ErrNoCells, float64(p.n)*float64(p.m), float64(p.o.TimeLimit)
	if work >= remapWork && p.ofInputs() && (limit == 0 || work*float64(remapStep) <= startShare*limit) {
		m, err = p.remapped(ctx, c)
	}
	if err != nil && work >= snapWork {
		m, err = p.family(ctx, c, exponential.Snapped)
	}
	if err != nil {
		m, err = p.family(ctx, c, exponential.Tuned)
	}
	if err == nil {
		p.take(m, c, s)
	}
}

// family builds an exponential mechanism on the privacy metric, for those outputs that
// are the best of some input: each stands at that one of them at which it costs least.
func (p *problem) family(ctx context.Context, c *cells, build func(context.Context, metric.Finite, float64, *exponential.Options) (*exponential.Mechanism, error)) (*exponential.Mechanism, error) {
	points := slices.DeleteFunc(c.centers(), func(u int) bool { return u < 0 })
	return build(ctx, p.b.Privacy, p.alpha, &exponential.Options{Unit: p.o.Unit, Outputs: points, Workers: p.o.Workers})
}

// ofInputs tells whether the loss is that of a metric between the inputs.
func (p *problem) ofInputs() bool { return p.o.Loss == nil && p.b.Check() == nil }

// remapped is remapped noise on the best outputs of the inputs.
func (p *problem) remapped(ctx context.Context, c *cells) (*exponential.Mechanism, error) {
	return p.family(ctx, c, func(ctx context.Context, _ metric.Finite, alpha float64, o *exponential.Options) (*exponential.Mechanism, error) {
		return exponential.Remapped(ctx, p.b, alpha, &exponential.RemappedOptions{Options: exponential.Options{Outputs: o.Outputs, Unit: o.Unit, Workers: o.Workers}, Prior: p.o.Prior, Cells: noiseCells(p.n, len(o.Outputs))})
	})
}

// noiseCells is how many cells remapped noise has here.
func noiseCells(n, outputs int) int { return min(n, max(1000, outputs)) }

// take keeps a mechanism that releases inputs, if it is better.
func (p *problem) take(m *exponential.Mechanism, c *cells, s *Solution) {
	channel, err := p.onOutputs(c, m.Channel)
	if err != nil || m.Audited.Hi > p.alpha {
		return
	}
	if loss, err := p.lossOf(channel); err == nil {
		s.keep(&released{channel, m.Audited, loss, m.Method})
	}
}

// onOutputs has a channel release the best output for the input that it names.
func (p *problem) onOutputs(c *cells, channel *mechanism.Channel) (*mechanism.Channel, error) {
	labels, same := make([]int, channel.Outputs()), true
	for y := range labels {
		x := channel.Output(y)
		labels[y] = p.o.Outputs[c.near[x]]
		same = same && labels[y] == x
	}
	if same {
		return channel, nil
	}
	return channel.Relabel(labels)
}

// lossOf is the loss of a channel that releases outputs of the problem, rounded up.
func (p *problem) lossOf(channel *mechanism.Channel) (float64, error) {
	losses, err := p.losses(channel)
	if err != nil {
		return 0, err
	}
	return p.total(func(x int) float64 { return losses[x] })
}

// losses are those of the inputs, rounded up.
func (p *problem) losses(channel *mechanism.Channel) ([]float64, error) {
	at, column := make(map[int]int, p.m), make([]int, channel.Outputs())
	for w, y := range p.o.Outputs {
		at[y] = w
	}
	for y := range column {
		column[y] = at[channel.Output(y)]
	}
	losses := make([]float64, p.n)
	err := parallel.Chunks(p.late, p.n, 8, p.o.Workers, nil, func(_, lo, hi int) {
		var row []float64
		for x := lo; x < hi; x++ {
			sum := 0.0
			row = channel.Row(x, row)
			for y, q := range row {
				// Prob reads what is below 2^-1022 as 0.
				sum = directed.AddUp(sum, directed.MulUp(max(q, 0x1p-1022), p.loss[column[y]*p.n+x]))
			}
			losses[x] = directed.MulUp(sum, 1+probErr)
		}
	})
	return losses, err
}

// probErr bounds the relative error of [mechanism.Channel.Prob].
const probErr = 0x1p-41

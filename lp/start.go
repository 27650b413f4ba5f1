package lp

import (
	"context"
	"slices"
	"time"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

const (
	// startShare of the time limit may go by before the program: where that is much of
	// it, the program would not end.
	startShare = 0.5
	// startWork bounds the triples of two inputs and an output that a mechanism to
	// start with may take, startStep each.
	startWork = 4e9
	startStep = 10 * time.Nanosecond
	// snapWork is the number of inputs times outputs from which on snapped noise, some
	// 10 milliseconds at least, takes little beside the program; remapWork is that for
	// remapped noise, at remapStep each.
	snapWork, remapWork = 1e4, 1e5
	remapStep           = 30 * time.Microsecond
	// A search for stars pays from searchWork triples on, and not for fewer outputs
	// than searchOutputs, where closed stars are as good.
	searchWork, searchOutputs = 3e7, 100
)

// What proves a DualBound.
const (
	boundByProgram = "linear program"
	boundByNearest = "nearest outputs"
	boundByStar    = "closed star"
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
	many := p.m >= searchOutputs && float64(p.n)*float64(p.n)*float64(p.m) >= searchWork
	search := func(ctx context.Context, _ *cells, s *Solution) {
		if many && p.inputs() {
			p.searched(ctx, s)
		}
	}
	for _, step := range []func(context.Context, *cells, *Solution){p.tight, p.noise, search} {
		if s.Gap > p.o.Tolerance && ctx.Err() == nil {
			step(ctx, c, s)
			p.o.Progress(0, s.Gap, time.Since(began))
		}
	}
}

// cheap tells whether so many outputs are few enough for a mechanism to start with.
func (p *problem) cheap(outputs int) bool {
	n, k := float64(p.n), float64(outputs)
	if limit := float64(p.o.TimeLimit); limit > 0 && n*n*k*float64(startStep) > startShare*limit {
		return false
	}
	return n*n*k <= startWork && p.memory(bytes(p.n, p.m)+float64(24*n*n)+float64(16*n*k)) == nil
}

// tight is the mechanism of tight weights, where there is one, and after it the best
// output for the input that it names.
func (p *problem) tight(ctx context.Context, c *cells, s *Solution) {
	if !p.cheap(p.n) {
		return
	}
	m, err := exponential.Tight(ctx, p.b.Privacy, p.alpha, &exponential.TightOptions{Unit: p.o.Unit, Workers: p.o.Workers})
	if err == nil {
		p.take(m, c, s)
	}
}

// noise is remapped or snapped noise, or where there is none the tuned exponential
// mechanism. It is for levels too small for tight weights, which lose least or nearly.
func (p *problem) noise(ctx context.Context, c *cells, s *Solution) {
	if s.Method == exponential.MethodTight || !p.cheap(p.m) {
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
	column := make(map[int]int, p.m)
	for w, y := range p.o.Outputs {
		column[y] = w
	}
	var row []float64
	return p.total(func(x int) float64 {
		sum := 0.0
		row = channel.Row(x, row)
		for y, q := range row {
			// Prob reads what is below 2^-1022 as 0.
			sum = directed.AddUp(sum, directed.MulUp(max(q, 0x1p-1022), p.loss[column[channel.Output(y)]*p.n+x]))
		}
		return directed.MulUp(sum, 1+probErr)
	})
}

// probErr bounds the relative error of [mechanism.Channel.Prob].
const probErr = 0x1p-41

// inputs tells whether a bound for mechanisms that release inputs, in the worst case, is
// one here.
func (p *problem) inputs() bool {
	return p.o.Prior == nil && p.ofInputs()
}

// searched takes the bound of [entropy.LowerBounds], which is about inputs.
func (p *problem) searched(ctx context.Context, s *Solution) {
	bounds, err := entropy.LowerBounds(ctx, p.b, p.alpha, &entropy.Options{Workers: p.o.Workers})
	if err != nil {
		return
	}
	star := bounds[0].Witness.(entropy.Star)
	prior := make([]float64, p.n)
	for i, y := range star.Points {
		prior[y] += float64(star.Weights[i] * exact.Exp(-p.budget[star.X*p.n+y]))
	}
	s.prove(bounds[0].Value, bounds[0].Name, prior)
}

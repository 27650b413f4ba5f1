package demo

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// Report is told how much of long work is done.
type Report = func(done, total int)

// Method is one way to build a mechanism with a matrix at a level.
type Method struct {
	Name  string
	Build func(ctx context.Context, alpha float64, report Report) (Built, error)
}

// Built is a matrix, with what there is to say about it.
type Built struct {
	Channel *mechanism.Channel
	Remark  string
	Bound   float64 // that a linear program proved beside it, or 0
}

// Matrix is the result of a [Method] that calls package exponential.
func Matrix(m *exponential.Mechanism, err error) (Built, error) {
	if err != nil {
		return Built{}, err
	}
	return Built{Channel: m.Channel}, nil
}

// Family is a Method of the exponential family on f.
func Family(name string, f metric.Finite, unit metric.Unit, build func(context.Context, metric.Finite, float64, *exponential.Options) (*exponential.Mechanism, error)) Method {
	return Method{name, func(ctx context.Context, alpha float64, report Report) (Built, error) {
		return Matrix(build(ctx, f, alpha, &exponential.Options{Unit: unit, Progress: report}))
	}}
}

// Row is what was found of one mechanism.
type Row struct {
	Name  string
	Level float64
	Loss
	Adversary float64 // what the example shows of guesses from a release
	Took      time.Duration
	Remark    string
	Bound     float64
	Err       error                         // why the mechanism does not exist here
	Mech      mechanism.Mechanism[int, int] // nil where Err is set
}

// Comparison builds mechanisms on a space and measures them.
type Comparison struct {
	Space metric.Finite // of losses
	Prior []float64     // of mean losses; nil: uniform
	// Measure, where not nil, fills in what an example shows beside the losses and the
	// stated level.
	Measure func(ctx context.Context, r *Row, c *mechanism.Channel) error
	Rows    []Row
}

var errNone = errors.New("nothing private was found: alpha times the distances is too small")

// Try builds a mechanism and measures it. Where there is none Row.Err says why, and losses
// are NaN; an error is that of the measurement or of ctx.
func (c *Comparison) Try(ctx context.Context, m Method, alpha float64, report Report) (Row, error) {
	start := time.Now()
	b, err := m.Build(ctx, alpha, report)
	took := time.Since(start)
	if err == nil && (b.Channel == nil || b.Channel.Guarantee().Alpha() > alpha) {
		err = errNone
	}
	if err != nil {
		nan := math.NaN()
		return Row{Name: m.Name, Loss: Loss{nan, nan, nan}, Err: err}, ctx.Err()
	}
	r, err := c.Of(ctx, m.Name, b.Channel)
	r.Took, r.Remark, r.Bound = took, b.Remark, b.Bound
	return r, err
}

// Of measures a matrix.
func (c *Comparison) Of(ctx context.Context, name string, m *mechanism.Channel) (Row, error) {
	r := Row{Name: name, Level: m.Guarantee().Alpha(), Mech: m}
	losses, err := m.Loss(ctx, c.Space)
	if err != nil {
		return r, err
	}
	if c.Measure != nil {
		if err := c.Measure(ctx, &r, m); err != nil {
			return r, err
		}
	}
	r.Loss, err = LossOf(losses, c.Prior)
	return r, err
}

// Run adds a row for every method, each with a progress bar.
func (c *Comparison) Run(ctx context.Context, p *Program, alpha float64, methods []Method) error {
	for _, m := range methods {
		report, wipe := p.Progress(m.Name)
		r, err := c.Try(ctx, m, alpha, report)
		wipe()
		if err != nil {
			return err
		}
		c.Rows = append(c.Rows, r)
	}
	return nil
}

// Explain prints what there is to say about single rows; why puts an error into words.
func (c *Comparison) Explain(p *Program, why func(error) string) {
	for _, r := range c.Rows {
		if r.Err != nil {
			p.Remark("no %s: %s", r.Name, why(r.Err))
		} else if r.Remark != "" {
			p.Remark("%s: %s", r.Name, r.Remark)
		}
	}
}

// Release draws one release of every input by every mechanism. The seed makes them repeat;
// a real release would pass a nil generator.
func (c *Comparison) Release(seed uint64, each func(r Row, x, y int)) error {
	rng := random.Seeded(seed)
	for _, r := range c.Rows {
		if r.Err != nil {
			continue
		}
		for x := range c.Space.Len() {
			y, err := r.Mech.Release(rng, x)
			if err != nil {
				return err
			}
			each(r, x, y)
		}
	}
	return nil
}

// Levels returns so many levels from lo to hi, of equal ratios.
func Levels(lo, hi float64, steps int) []float64 {
	levels := make([]float64, steps)
	for i := range levels {
		levels[i] = lo * math.Pow(hi/lo, float64(i)/float64(steps-1))
	}
	return levels
}

// Line is a series of a picture: a point for every level.
type Line struct {
	Name string
	At   func(alpha float64) (x, y float64, err error)
}

// AddLines computes the points of lines at the levels and adds them to the chart.
func (c *Chart) AddLines(ctx context.Context, p *Program, levels []float64, lines []Line) error {
	report, wipe := p.Progress("picture")
	defer wipe()
	for k, l := range lines {
		series := Series{Name: l.Name}
		for i, alpha := range levels {
			x, y, err := l.At(alpha)
			if err := errors.Join(err, ctx.Err()); err != nil {
				return err
			}
			series.X, series.Y = append(series.X, x), append(series.Y, y)
			report(k*len(levels)+i+1, len(lines)*len(levels))
		}
		c.Series = append(c.Series, series)
	}
	return nil
}

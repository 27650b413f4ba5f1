package lp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/lp/internal/kernel"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// ExtendedOptions are the settings of [Extended]; nil and zeros mean the defaults.
type ExtendedOptions struct {
	// These are as in [Options].
	Outputs     []int
	TimeLimit   time.Duration
	MemoryLimit float64
	Unit        metric.Unit
	Workers     int

	// Patches is how many local programs are solved, the hardest place first; 0
	// means 2. Anchors is the most inputs that one of them has; 0 means 200.
	Patches, Anchors int

	// Progress, where not nil, is told what begins, with the loss and the bound
	// that are known by then, by the goroutine of the caller.
	Progress func(stage string, loss, bound float64, elapsed time.Duration)
}

// End says where one end of a bracket comes from, and what it took.
type End struct {
	Method  string        // "constant", "noise", "balanced kernel", "local program" or its extension
	Elapsed time.Duration // all that it took, an audit too
	Bytes   float64       // the largest arrays at one time, as counted
}

// The methods of the ends.
const (
	endConstant = "constant"
	endNoise    = "noise"
	endKernel   = "balanced kernel"
	endPatch    = "local program"
	// The channel of a local program for the whole space, extended to all inputs.
	endExtension = "extension of a local program"
)

// ExtendedSolution is a mechanism on many inputs and a bound for all others.
type ExtendedSolution struct {
	// The mechanism: its guarantee is the upper end of Audited, at most alpha.
	*mechanism.Channel
	Audited mechanism.Audit
	// Objective, DualBound and Gap are as in [Solution], for the worst case.
	Objective, DualBound, Gap float64
	// Upper is what Objective comes from, Lower what DualBound does.
	Upper, Lower End
	// Patch are the inputs of the local program that proves DualBound, and Prior
	// has a weight for each: an adversary who draws inputs from it causes at
	// least that loss.
	Patch   []int
	Prior   []float64
	Status  Status
	Elapsed time.Duration

	lossUnit metric.Unit // of Objective and DualBound, "" where it is not known
}

// StatusExtended is that of a bracket whose two ends were computed as asked.
const StatusExtended Status = "both ends computed"

// String gives the figures in a line.
func (s *ExtendedSolution) String() string {
	return fmt.Sprintf("loss %s (%s, %v), bound %s (%s, %v), gap %s: %s", fault.Quantity(s.Objective, 6, s.lossUnit), s.Upper.Method, s.Upper.Elapsed.Round(time.Millisecond),
		fault.Quantity(s.DualBound, 6, s.lossUnit), s.Lower.Method, s.Lower.Elapsed.Round(time.Millisecond), fault.AtMost(s.Gap, 2), s.Status)
}

// Extended returns an alpha-private mechanism on more inputs than [Optimal] takes, some ten
// thousand, of small worst-case loss max_x E rho2(x, M(x)), with a proof of how small that
// of any other can be. Arguments are those of Optimal; there is no Prior.
//
// The mechanism is the best of several, audited over all pairs: [exponential.Remapped]; the
// balanced kernel, a sum of weighted columns exp(-r*rho1(x, S)) whose row sums are nearly
// 1; and the channel of a local program that sees the whole space, extended to all inputs.
//
// The bound is that of a program with few of the inputs, in a ball around the one where the
// mechanism loses most, and some of the outputs: fewer inputs only lower the optimum, and
// every other output is priced by multipliers, rounded outward.
//
// Within half a second after ctx is done both results are set: the best mechanism so far and
// an error that wraps the context's. The TimeLimit is no error; it begins to count when the
// distances have been read, and a mechanism that is not audited by then is lost. Errors:
// those of Optimal.
//
// The gap is .01 to .1 where outputs are farther apart than 2/alpha or a local program sees
// the whole space, and wider where outputs are dense. O(n^2 m) time for n inputs and m
// outputs, O(n^2 + n m) memory: on two cores 10,000 cities take some 4 minutes with 100
// outputs, 5 and 3.4 GiB with 1,000.
func Extended(ctx context.Context, b metric.Bimetric, alpha float64, o *ExtendedOptions) (*ExtendedSolution, error) {
	const op = "lp: Extended"
	e := &extension{op: op, b: b, given: b, alpha: alpha, ctx: ctx, began: time.Now(), s: &ExtendedSolution{Status: StatusExtended}}
	if err := e.defaults(o); err != nil {
		return nil, err
	}
	e.late = linger(ctx)
	e.s.lossUnit = metric.UnitOf(b.Utility)
	if err := e.read(); err != nil {
		return nil, err
	}
	if err := e.constant(); err != nil {
		return nil, err
	}
	if e.o.TimeLimit > 0 {
		e.ctx = limit(ctx, e.o.TimeLimit)
		e.late = linger(e.ctx)
	}
	if e.s.Objective > 0 {
		if err := e.run(); err != nil && !e.over() {
			return nil, err
		}
	}
	s := e.s
	s.Elapsed = time.Since(e.began)
	if ctx.Err() != nil {
		s.Status = StatusCanceled
		return s, fmt.Errorf("%s: stopped at a relative gap of %.2g: %w", op, s.Gap, context.Cause(ctx))
	}
	return s, nil
}

// extension is the state of Extended.
type extension struct {
	op    string
	b     metric.Bimetric
	alpha float64
	o     ExtendedOptions
	// ctx is that of the call; late is done a little after it.
	ctx, late context.Context
	began     time.Time
	n         int
	s         *ExtendedSolution
	given     metric.Bimetric // b as it was given, with its embedding
	whole     *kernel.Base    // of a local program for the whole space, nil where there was none
}

const (
	defaultPatches = 2
	defaultAnchors = 200
	// smallAnchors is the size of the first program: a tenth of a second.
	smallAnchors = 40
)

// baseShares are the shares of a local program's channel that are tried.
var baseShares = []float64{1, .92, .84}

func (e *extension) defaults(o *ExtendedOptions) error {
	if o != nil {
		e.o = *o
	}
	set, err := (&Options{Outputs: e.o.Outputs, TimeLimit: e.o.TimeLimit, MemoryLimit: e.o.MemoryLimit, Unit: e.o.Unit}).defaults(e.op, e.b, e.alpha)
	if err != nil {
		return err
	}
	e.o.Outputs, e.o.MemoryLimit, e.o.Unit = set.Outputs, set.MemoryLimit, set.Unit
	e.n = e.b.Privacy.Len()
	for _, c := range []struct {
		arg      string
		at       *int
		standard int
	}{{"Patches", &e.o.Patches, defaultPatches}, {"Anchors", &e.o.Anchors, defaultAnchors}} {
		if *c.at < 0 {
			return fault.Value(e.op, c.arg, float64(*c.at), "an integer >= 0")
		}
		*c.at = cmp.Or(*c.at, c.standard)
	}
	if e.o.Progress == nil {
		e.o.Progress = func(string, float64, float64, time.Duration) {}
	}
	return nil
}

// over tells whether no other stage is to begin.
func (e *extension) over() bool {
	if e.ctx.Err() != nil {
		e.s.Status = StatusTimeLimit
	}
	return e.ctx.Err() != nil
}

func (e *extension) begin(stage string) time.Time {
	e.o.Progress(stage, e.s.Objective, e.s.DualBound, time.Since(e.began))
	return time.Now()
}

func (e *extension) memory(bytes float64) error {
	if bytes > e.o.MemoryLimit {
		return &fault.MemoryError{Op: e.op, Bytes: bytes, Limit: e.o.MemoryLimit}
	}
	return nil
}

func (e *extension) kernel() *kernel.Problem {
	return &kernel.Problem{Space: e.b, Alpha: e.alpha, Outputs: e.o.Outputs, Unit: e.o.Unit, Workers: e.o.Workers, Memory: e.memory}
}

// run finds the mechanism's weights, the bounds where it loses most, and then the
// mechanism.
func (e *extension) run() error {
	if err := e.small(); err != nil {
		return err
	}
	if !e.over() {
		e.noise()
	}
	start := e.begin(endKernel)
	k, err := kernel.New(e.ctx, e.kernel(), nil, 0)
	if err != nil {
		return err
	}
	losses, err := k.Losses()
	if err != nil {
		return err
	}
	built, worst := time.Since(start), slices.Max(losses)
	if !(worst < e.s.Objective) { // NaN where weights overflow, as rho1 is no metric
		worst = math.Inf(1)
		if losses, err = e.losses(e.s.Channel); err != nil { // of what is kept so far
			return err
		}
	}
	for range e.o.Patches {
		if e.over() {
			break
		}
		center := -1
		for x, l := range losses {
			if l >= 0 && (center < 0 || l > losses[center]) {
				center = x
			}
		}
		if center < 0 {
			break
		}
		if err := e.patch(center, losses); err != nil {
			return err
		}
	}
	method := endKernel
	if e.whole != nil && !e.over() {
		start = e.begin(endExtension)
		for _, share := range baseShares {
			over, err := kernel.New(e.ctx, e.kernel(), e.whole, share)
			if err != nil {
				return err
			}
			lost, err := over.Losses()
			if err != nil {
				return err
			}
			if l := slices.Max(lost); l < worst {
				k, worst, method = over, l, endExtension
			}
		}
		built += time.Since(start)
	}
	if e.over() || worst >= e.s.Objective {
		return nil
	}
	start = e.begin("audit")
	c, audit, err := k.Channel()
	if err != nil {
		return err
	}
	losses, err = e.losses(c)
	if err != nil {
		return err
	}
	if loss := slices.Max(losses); audit.Hi <= e.alpha && loss < e.s.Objective {
		e.s.Channel, e.s.Audited, e.s.Objective = c, audit, loss
		e.s.Upper = End{method, built + time.Since(start), k.Bytes()}
	}
	e.settle()
	return nil
}

// small proves a first bound by a local program of few inputs.
func (e *extension) small() error {
	if e.n <= smallAnchors {
		return nil
	}
	anchors := e.o.Anchors
	defer func() { e.o.Anchors, e.whole = anchors, nil }()
	e.o.Anchors = min(anchors, smallAnchors)
	losses := finite.Row(e.b.Utility, e.s.Channel.Output(0), nil)[:e.n]
	return e.patch(slices.Index(losses, slices.Max(losses)), losses)
}

// noise takes remapped noise, near 2/alpha on planes and spheres where outputs are dense. One
// that fails is passed over.
func (e *extension) noise() {
	start, ctx := e.begin(endNoise), e.ctx
	if slices.Max(e.o.Outputs) >= e.n {
		return
	}
	if e.o.TimeLimit > 0 {
		ctx = limit(ctx, time.Duration(startShare*float64(e.o.TimeLimit)))
	}
	n, m, c := float64(e.n), float64(len(e.o.Outputs)), noiseCells(e.n, len(e.o.Outputs))
	// The masses of cells, distances, the game's answers, and the channel.
	size := float64(12*n*float64(c)) + float64(20*n*m) + float64(16*float64(c)*m)
	if e.memory(size) != nil {
		return
	}
	noisy, err := exponential.Remapped(ctx, e.given, e.alpha, &exponential.RemappedOptions{Options: exponential.Options{Outputs: e.o.Outputs, Unit: e.o.Unit, Workers: e.o.Workers}, Cells: c})
	if err != nil || noisy.Audited.Hi > e.alpha {
		return
	}
	if losses, err := e.losses(noisy.Channel); err == nil && slices.Max(losses) < e.s.Objective {
		e.s.Channel, e.s.Audited, e.s.Objective = noisy.Channel, noisy.Audited, slices.Max(losses)
		e.s.Upper = End{endNoise, time.Since(start), size}
		e.settle()
	}
}

func (e *extension) settle() { e.s.Gap = max(0, gap(e.s.Objective, e.s.DualBound)) }

// losses are those of the inputs under c, rounded up.
func (e *extension) losses(c *mechanism.Channel) ([]float64, error) {
	losses := make([]float64, e.n)
	err := parallel.Chunks(e.late, e.n, 8, e.o.Workers, nil, func(_, lo, hi int) {
		var row, from []float64
		for x := lo; x < hi; x++ {
			row, from = c.Row(x, row), finite.Row(e.b.Utility, x, from)
			sum := 0.0
			for y, q := range row {
				// Prob reads what is below 2^-1022 as 0.
				sum = directed.AddUp(sum, directed.MulUp(max(q, 0x1p-1022), from[c.Output(y)]))
			}
			losses[x] = directed.MulUp(sum, 1+probErr)
		}
	})
	return losses, err
}

// read takes the distances out of the metrics, and checks them.
func (e *extension) read() error {
	same := e.b.OneMetric()
	privacy, err := e.dense("Privacy", e.b.Privacy)
	if err != nil {
		return err
	}
	utility := privacy
	if !same {
		if utility, err = e.dense("Utility", e.b.Utility); err != nil {
			return err
		}
	}
	e.b = metric.Bimetric{Privacy: privacy, Utility: utility}
	return nil
}

// dense stores the distances of f. A graph has them already, and its audit is quick.
func (e *extension) dense(arg string, f metric.Finite) (metric.Finite, error) {
	if g, ok := f.(*metric.Graph); ok {
		return g, nil
	}
	n := f.Len()
	size := n * (n - 1) / 2
	if err := e.memory(float64(8 * float64(size))); err != nil {
		return nil, err
	}
	upper, bad := make([]float64, size), make([]error, n)
	err := parallel.Chunks(e.ctx, n, 8, e.o.Workers, nil, func(_, lo, hi int) {
		var row []float64
		for i := lo; i < hi; i++ {
			row, bad[i] = distances(e.op, arg, f, i, row)
			copy(upper[i*(2*n-i-1)/2:], row[i+1:])
		}
	})
	if err != nil {
		return nil, fmt.Errorf("%s: stopped: %w", e.op, context.Cause(e.ctx))
	}
	if err := cmp.Or(bad...); err != nil {
		return nil, err
	}
	return metric.NewDense(n, upper)
}

// constant releases the output whose largest distance is least.
func (e *extension) constant() error {
	start := e.begin(endConstant)
	most := make([]float64, len(e.o.Outputs))
	var row []float64
	for x := range e.n {
		if err := e.ctx.Err(); err != nil {
			return fmt.Errorf("%s: stopped: %w", e.op, context.Cause(e.ctx))
		}
		row = finite.Row(e.b.Utility, x, row)
		for w, y := range e.o.Outputs {
			most[w] = max(most[w], row[y])
		}
	}
	best := slices.Index(most, slices.Min(most))
	m, err := exponential.Constant(e.n, 0, e.o.Unit)
	if err != nil {
		return err
	}
	c, err := m.Relabel([]int{e.o.Outputs[best]})
	if err != nil {
		return err
	}
	e.s.Channel, e.s.Audited, e.s.Objective = c, m.Audited, most[best]
	e.s.Upper = End{Method: endConstant, Elapsed: time.Since(start), Bytes: float64(8 * (len(most) + len(row)))}
	e.settle()
	return nil
}

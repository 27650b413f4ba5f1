package mechanism

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/metric"
)

// Channel is a mechanism from the points 0, ..., Len()-1 to Outputs() outputs: a row of weights per input.
// The probability of output y at input x is its weight over the sum of its row, as real numbers:
// [Channel.Release] draws from it exactly, and [Channel.Audit] bounds its privacy level. Output y stands
// for the point Output(y), which Release and Sampler return: y itself unless the channel has labels.
// Immutable and safe for concurrent use. Nil and the zero value are refused.
type Channel struct {
	n, m   int
	log    bool
	w      []float64                  // n*m weights, row by row; nil in a lazy channel
	scale  []float64                  // per row, as exact.Weights.Scale
	total  []float64                  // per row, over the scale
	fill   func(x int, dst []float64) // lazy channels only
	labels []int                      // nil: output y is point y
	kept   *keptRows
	g      Guarantee
}

var _ Mechanism[int, int] = (*Channel)(nil)

// Rows describes a channel's weights a row at a time.
type Rows struct {
	Inputs, Outputs int  // the number of rows, and of weights in each
	Log             bool // weights are given by natural logarithms, -Inf for weight 0
	// Fill writes the Outputs weights of input x to dst. It must be a
	// function of x alone and safe for concurrent use.
	Fill func(x int, dst []float64)
}

// ChannelOptions tune [NewChannel]. Nil and the zero value mean the defaults.
type ChannelOptions struct {
	Labels []int // the point that each output y stands for; nil: point y
	// Lazy keeps Fill and computes rows, without a matrix, when they are needed. A
	// bad weight is then found when its row is first used, and Release reports it.
	Lazy    bool
	Workers int // 0: all processors
}

// NewChannel builds the channel of r. A NaN, a +Inf or a negative weight is a [*metric.ValueError], a row
// without a positive weight [metric.ErrEmpty], more than 16 GiB a [*metric.MemoryError]. The channel
// promises nothing yet: see [Channel.Certify]. O(Inputs*Outputs), O(1) if lazy.
func NewChannel(ctx context.Context, r Rows, o *ChannelOptions) (*Channel, error) {
	return newChannel(ctx, "mechanism: NewChannel", r, o)
}

func newChannel(ctx context.Context, op string, r Rows, o *ChannelOptions) (*Channel, error) {
	if o == nil {
		o = &ChannelOptions{}
	}
	if err := errors.Join(fault.Empty(op, "Inputs", max(r.Inputs, 0)), fault.Empty(op, "Outputs", max(r.Outputs, 0))); err != nil {
		return nil, err
	}
	if r.Fill == nil {
		return nil, fmt.Errorf("%s: Fill is nil: %w", op, fault.ErrEmpty)
	}
	c := &Channel{n: r.Inputs, m: r.Outputs, log: r.Log, kept: new(keptRows)}
	c.kept.left.Store(keptBytes)
	if o.Labels != nil {
		if err := c.label(op, "Labels", o.Labels); err != nil {
			return nil, err
		}
	}
	if parallel.Done(ctx) {
		return nil, ctx.Err()
	}
	if o.Lazy {
		c.fill = r.Fill
		return c, nil
	}
	if err := fault.Memory(op, float64(c.n)*float64(c.m), 8); err != nil {
		return nil, err
	}
	c.w = make([]float64, c.n*c.m)
	c.scale, c.total = make([]float64, c.n), make([]float64, c.n)
	bad := make([]error, c.n)
	err := parallel.Chunks(ctx, c.n, 8, o.Workers, nil, func(_, lo, hi int) {
		for x := lo; x < hi && !parallel.Done(ctx); x++ {
			dst := c.w[x*c.m : (x+1)*c.m]
			r.Fill(x, dst)
			if bad[x] = c.checkRow(op, x, dst); bad[x] == nil {
				c.sum(x)
			}
		}
	})
	if err = cmp.Or(cmp.Or(bad...), err); err != nil {
		return nil, err
	}
	return c, nil
}

// sum computes what the weights of row x, which are known to be right, add up to.
func (c *Channel) sum(x int) {
	w := exact.Weights{W: c.w[x*c.m : (x+1)*c.m], Log: c.log}
	c.scale[x] = w.Scale()
	c.total[x] = w.Total(c.scale[x])
}

// FromWeights returns the channel of an n x m matrix of weights >= 0, given
// row by row. Rows need not add up to 1: for what claims to be probabilities see
// [FromProbabilities]. w is copied. See [NewChannel] for the errors.
func FromWeights(ctx context.Context, n, m int, w []float64, o *ChannelOptions) (*Channel, error) {
	return fromSlice(ctx, "mechanism: FromWeights", n, m, w, false, o)
}

// FromProbabilities is [FromWeights] for a matrix that claims to hold probabilities, as one
// that is to be audited: a row whose sum is not 1 within the tolerance, in [0, 1), is a
// [*metric.ValueError], as in a matrix given column by column. The channel is that of the rows
// over their sums; printed to 6 digits, m probabilities are within m*5e-7 of 1.
func FromProbabilities(ctx context.Context, n, m int, p []float64, tolerance float64, o *ChannelOptions) (*Channel, error) {
	const op = "mechanism: FromProbabilities"
	if !(tolerance >= 0 && tolerance < 1) {
		return nil, fault.Value(op, "tolerance", tolerance, "a number in [0, 1)")
	}
	if o == nil {
		o = &ChannelOptions{}
	}
	c, err := fromSlice(ctx, op, n, m, p, false, o)
	if err != nil {
		return nil, err
	}
	off := make([]float64, n) // of the sums from 1
	err = c.eachRow(ctx, op, o.Workers, nil, func(x int, r row, _ []float64) {
		sum := r.TotalDD(r.scale) // which is a power of two
		off[x] = float64(sum.Hi*r.scale) - 1 + float64(sum.Lo*r.scale)
	})
	if err != nil {
		return nil, err
	}
	for x, v := range off {
		if !(math.Abs(v) <= tolerance) {
			return nil, &fault.ValueError{Op: op, Arg: "row sums", Index: x, Value: 1 + v, Want: fmt.Sprintf("1 within %v", tolerance)}
		}
	}
	return c, nil
}

// FromLogWeights returns the channel whose weights have the logarithms w,
// -Inf for weight 0. w is copied. See [NewChannel] for the errors.
func FromLogWeights(ctx context.Context, n, m int, w []float64, o *ChannelOptions) (*Channel, error) {
	return fromSlice(ctx, "mechanism: FromLogWeights", n, m, w, true, o)
}

func fromSlice(ctx context.Context, op string, n, m int, w []float64, log bool, o *ChannelOptions) (*Channel, error) {
	if n <= 0 || m <= 0 || len(w)/m != n || len(w)%m != 0 {
		return nil, &fault.SizeError{Op: op, Arg: "w", Got: len(w), Want: fmt.Sprintf("%d x %d, both positive", n, m)}
	}
	if o != nil && o.Lazy {
		w = slices.Clone(w)
	}
	return newChannel(ctx, op, Rows{n, m, log, func(x int, dst []float64) { copy(dst, w[x*m:]) }}, o)
}

// privateRow stands for the number of a row that is chosen by a private input.
const privateRow = -1

// checkRow reports a weight outside its domain, or a row without weight.
func (c *Channel) checkRow(op string, x int, row []float64) error {
	name := func() string {
		if x == privateRow {
			return "x"
		}
		return strconv.Itoa(x)
	}
	zero, want := 0.0, "a finite weight >= 0"
	if c.log {
		zero, want = math.Inf(-1), "a finite log-weight or -Inf"
	}
	for y, v := range row {
		if !(v >= zero && v <= math.MaxFloat64) {
			return &fault.ValueError{Op: op, Arg: "rows[" + name() + "]", Index: y, Value: v, Want: want, Private: x == privateRow}
		}
	}
	if slices.Max(row) == zero {
		return fmt.Errorf("%s: row %s has no positive weight: %w", op, name(), fault.ErrEmpty)
	}
	return nil
}

// Len returns the number of inputs, 0 for a nil channel.
func (c *Channel) Len() int {
	if c == nil {
		return 0
	}
	return c.n
}

// Outputs returns the number of outputs, 0 for a nil channel.
func (c *Channel) Outputs() int {
	if c == nil {
		return 0
	}
	return c.m
}

// Output returns the point that output y stands for.
func (c *Channel) Output(y int) int {
	if c.labels == nil {
		if uint(y) >= uint(c.m) {
			panic(fmt.Sprintf("mechanism: output %d out of range [0, %d)", y, c.m))
		}
		return y
	}
	return c.labels[y]
}

// String is for people: "5 x 5 channel, 0.5-private per km".
func (c *Channel) String() string {
	kind := "channel"
	if c.fill != nil {
		kind = "lazy channel"
	}
	return fmt.Sprintf("%d x %d %s, %v", c.n, c.m, kind, c.g)
}

// Guarantee returns what [Channel.Certify] proved or [Channel.WithGuarantee]
// claimed; a channel as built promises nothing.
func (c *Channel) Guarantee() Guarantee {
	if c == nil {
		return Guarantee{}
	}
	return c.g
}

// WithGuarantee returns the same channel with the promise g. It is a claim of the
// caller, who has a proof for the weights as they are; [Channel.Certify] computes one.
func (c *Channel) WithGuarantee(g Guarantee) *Channel {
	d := *c
	d.g = g
	return &d
}

// Relabel returns the same channel with output y standing for point labels[y]:
// post-processing, so the guarantee stays. labels is copied; another number of them than
// Outputs() is a [*metric.SizeError], a negative one a [*metric.ValueError].
func (c *Channel) Relabel(labels []int) (*Channel, error) {
	const op = "mechanism: Channel.Relabel"
	if err := c.built(op); err != nil {
		return nil, err
	}
	d := *c
	if err := d.label(op, "labels", labels); err != nil {
		return nil, err
	}
	return &d, nil
}

// label sets the labels to a copy.
func (c *Channel) label(op, arg string, labels []int) error {
	// A space has no more points than the largest int.
	if err := cmp.Or(fault.Size(op, arg, len(labels), c.m), fault.Indices(op, arg, labels, math.MaxInt)); err != nil {
		return err
	}
	c.labels = slices.Clone(labels)
	return nil
}

// row is one input's weights, with what the sums need.
type row struct {
	exact.Weights
	scale, total float64
}

// read returns the weights of input x: a view, or for a lazy channel in buf.
func (c *Channel) read(op string, x int, buf *[]float64) (row, error) {
	if c.w != nil {
		return row{exact.Weights{W: c.w[x*c.m : (x+1)*c.m], Log: c.log}, c.scale[x], c.total[x]}, nil
	}
	*buf = slices.Grow((*buf)[:0], c.m)[:c.m]
	c.fill(x, *buf)
	if err := c.checkRow(op, x, *buf); err != nil {
		return row{}, err
	}
	w := exact.Weights{W: *buf, Log: c.log}
	s := w.Scale()
	return row{w, s, w.Total(s)}, nil
}

// eachRow calls f for every input, with its distances under rho if not nil.
func (c *Channel) eachRow(ctx context.Context, op string, workers int, rho metric.Finite,
	f func(x int, r row, dist []float64)) error {
	bad := make([]error, c.n)
	err := parallel.Chunks(ctx, c.n, 8, workers, nil, func(_, lo, hi int) {
		var buf, dist []float64
		for x := lo; x < hi && !parallel.Done(ctx); x++ {
			r, err := c.read(op, x, &buf)
			if err == nil && rho != nil {
				dist, err = distances(op, rho, x, dist)
			}
			if bad[x] = err; err == nil {
				f(x, r, dist)
			}
		}
	})
	return cmp.Or(cmp.Or(bad...), err)
}

// distances is the row of x under rho, or a *metric.Violation.
func distances(op string, rho metric.Finite, x int, dst []float64) ([]float64, error) {
	dst = finite.Row(rho, x, dst)
	for j, d := range dst {
		if !(d >= 0 && d <= math.MaxFloat64) {
			return dst, fmt.Errorf("%s: %w", op, &metric.Violation{Axiom: metric.FiniteValue, I: x, J: j, K: -1, Excess: math.Abs(d)})
		}
	}
	return dst, nil
}

// prob is the probability of output y, with relative error below probErr (and 0 below about 1e-308).
func (r row) prob(y int) float64 {
	if r.Log {
		return exact.Exp(r.W[y]-r.scale) / r.total
	}
	return r.W[y] / r.scale / r.total
}

// probErr bounds the relative error of row.prob: the argument of the
// exponential is at most 746 before underflow and rounds by 2^-53 of that
// (2^-43.4); the exponential, the total and the quotient add less than 2^-46.
const probErr = 0x1p-42

func (c *Channel) checkInput(op string, x int) error {
	if err := c.built(op); err != nil {
		return err
	}
	return fault.Private(fault.Index(op, "x", x, c.n))
}

// built refuses nil and the zero value.
func (c *Channel) built(op string) error {
	if c == nil || c.n == 0 {
		return fmt.Errorf("%s: the channel was not made by NewChannel: %w", op, fault.ErrEmpty)
	}
	return nil
}

// Prob returns the probability of output y at input x to a relative 2^-42 (0 below about 1e-308), NaN for
// a bad row of a lazy channel. y is a number below Outputs(), not the point Output(y): the two differ
// where a channel has labels. O(1), O(Outputs()) if lazy.
func (c *Channel) Prob(x, y int) float64 {
	buf := buffers.Get().(*[]float64)
	defer buffers.Put(buf)
	r, err := c.read("", x, buf)
	if err != nil {
		return math.NaN()
	}
	return r.prob(y)
}

// Row returns all probabilities at input x, as Prob gives them, in dst where its
// capacity allows: entry y is that of the point Output(y). O(Outputs()).
func (c *Channel) Row(x int, dst []float64) []float64 {
	dst = slices.Grow(dst[:0], c.m)[:c.m]
	buf := buffers.Get().(*[]float64)
	defer buffers.Put(buf)
	r, err := c.read("", x, buf)
	for y := range dst {
		if err != nil {
			dst[y] = math.NaN()
		} else {
			dst[y] = r.prob(y)
		}
	}
	return dst
}

var buffers = sync.Pool{New: func() any { return new([]float64) }}

// keptRows are the tables of rows that were drawn from more than once, shared by all channels
// of the same weights.
type keptRows struct {
	rows sync.Map     // from the input to its *exact.Table, nil for one draw
	left atomic.Int64 // bytes for more
}

// keptBytes is what tables may take, of all channels of the same weights.
const keptBytes = 1 << 26

// table returns that of row x, or nil where there is none.
func (k *keptRows) table(x int) *exact.Table {
	t, _ := k.rows.Load(x)
	table, _ := t.(*exact.Table)
	return table
}

// drawn keeps the table of row x at its second draw, while there is memory. buf says that the
// weights must be copied.
func (k *keptRows) drawn(x int, w exact.Weights, buf bool) {
	const entry = 128 // bytes in the map
	need := int64(entry)
	if _, seen := k.rows.Load(x); seen {
		need = 24 * int64(len(w.W))
	}
	if k.left.Add(-need) < 0 {
		k.left.Add(need)
		return
	}
	if need == entry {
		k.rows.LoadOrStore(x, (*exact.Table)(nil))
		return
	}
	if buf {
		w.W = slices.Clone(w.W)
	}
	if !k.rows.CompareAndSwap(x, (*exact.Table)(nil), exact.NewTable(w)) {
		k.left.Add(need) // another draw's is kept
	}
}

func (c *Channel) inDomain(x int) error { return c.checkInput("mechanism: Channel.Release", x) }

// Release draws the output of input x, with its exact probability, and returns its point. O(Outputs()) at
// first, and O(1) expected from the third draw of an input on, while what is kept of rows takes at most 64
// MiB. An x outside [0, Len()) is a [*metric.ValueError]. The time taken depends on the row and on whether
// it was drawn from before: who must hide timing must pad it.
func (c *Channel) Release(rng *rand.Rand, x int) (int, error) {
	const op = "mechanism: Channel.Release"
	if err := c.inDomain(x); err != nil {
		return 0, err
	}
	rng, done := random.Get(rng)
	defer done()
	if t := c.kept.table(x); t != nil {
		return c.Output(t.Draw(rng)), nil
	}
	buf := buffers.Get().(*[]float64)
	defer buffers.Put(buf)
	w, err := c.read(op, x, buf)
	if err != nil {
		return 0, c.checkRow(op, privateRow, *buf)
	}
	c.kept.drawn(x, w.Weights, c.w == nil)
	return c.Output(exact.Draw(rng, w.Weights)), nil
}

// Sampler draws repeatedly from one row. It is safe for concurrent use. Nil and the zero value panic.
type Sampler struct {
	c     *Channel
	table *exact.Table
}

// Sampler prepares input x for repeated draws: O(Outputs()) time and memory, then O(1) expected a draw.
func (c *Channel) Sampler(x int) (*Sampler, error) {
	const op = "mechanism: Channel.Sampler"
	if err := c.checkInput(op, x); err != nil {
		return nil, err
	}
	var own []float64
	w, err := c.read(op, x, &own)
	if err != nil {
		return nil, c.checkRow(op, privateRow, own)
	}
	return &Sampler{c, exact.NewTable(w.Weights)}, nil
}

// Draw returns the point of one output, with the distribution of [Channel.Release] and,
// for a seeded generator, the same draws.
func (s *Sampler) Draw(rng *rand.Rand) int {
	if s == nil || s.table == nil {
		panic("mechanism: Sampler.Draw: the sampler was not made by Channel.Sampler")
	}
	if rng != nil {
		return s.c.Output(s.table.Draw(rng))
	}
	rng, done := random.Get(nil)
	defer done()
	return s.c.Output(s.table.Draw(rng))
}

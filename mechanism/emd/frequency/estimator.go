package frequency

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/accountant"
	"github.com/metricdp/metricdp/mechanism/emd/internal/check"
	"github.com/metricdp/metricdp/metric"
)

// Estimator estimates how the items of many users are distributed: every item goes through a
// randomizer, and how often each output came up is published as a [emd.Report]. The inverse of the
// randomizer's matrix makes of these an unbiased estimate of the mean of the users' distributions.
// All users hold the same number of items.
//
// In the Local trust each user releases a Report of its own, which anyone may [emd.Report.Merge];
// in the others the promise is for one release of all users' items. Immutable and safe for
// concurrent use. O(k) memory for k items and outputs, besides the inverse. Source: IRC24, Algorithm 4.
type Estimator struct {
	space     metric.Finite
	g         emd.Guarantee
	inv       inverter
	condition float64
	outputs   int
	draw      drawer
	noise     float64 // in place of a randomizer: the level of noise on the counts
	bound     func(items int64) float64
	workers   int
}

// inverter sets mean and variance, from the frequencies f of N outputs, to the
// estimate and N times its variances. It may overwrite f.
type inverter interface {
	estimate(f, mean, variance []float64)
}

// Options tune the constructors of an [Estimator]; nil and zero are the defaults.
type Options struct {
	Delta  float64           // as in [ItemWiseOptions]
	Clones accountant.Clones // as in [ItemWiseOptions]
	// Audit, which [New] alone reads, makes space the [ItemWiseOptions].Space. Without it the channel's
	// promise is taken to be about the distances of the space.
	Audit   bool
	Workers int // as in [ItemWiseOptions]
}

// New returns the estimator with a pure channel whose inputs are the points of space, and its inverse
// of the least variance where all inputs are equally likely. A [Estimator.Condition] above
// 2^20 is a [*ConditionError]. Promise and other errors are those of [NewItemWise]; a
// Model.Diameter of 0 stands for that of the space, and a smaller one is an error. O(n^2 m) for n
// inputs and m outputs. Once ctx ends the call returns, but a decomposition under way goes on.
//
// In the Central trust package distribution errs less, and serves users of any number of items.
func New(ctx context.Context, c *mechanism.Channel, space metric.Finite, model emd.Model, o *Options) (*Estimator, error) {
	const op = "frequency: New"
	o = cmp.Or(o, &Options{})
	n := fault.Len(space)
	if c == nil || n == 0 {
		return nil, fault.Empty(op, "c or space", 0)
	}
	if err := fault.Size(op, "space", n, c.Len()); err != nil {
		return nil, err
	}
	io := &ItemWiseOptions{Delta: o.Delta, Clones: o.Clones, Workers: o.Workers}
	if o.Audit {
		io.Space = space
	}
	f, w, diameter, err := onItems(ctx, op, c, space, model, io, nil)
	if err != nil {
		return nil, err
	}
	inv, err := newInverse(ctx, op, c, maxCondition)
	if err != nil {
		return nil, err
	}
	f.inv, f.condition, f.outputs, f.draw = inv, inv.condition, c.Outputs(), w.drawRun
	one := inv.errorBound(space, diameter)
	f.bound = func(items int64) float64 { return one / math.Sqrt(float64(items)) }
	return f, nil
}

// NewClustered returns the estimator with randomized response on clusters, in O(k). Where a shuffler
// or curator is trusted the level is that by its own probabilities ([accountant.Randomizer]). Errors
// are those of [New], but no condition number is refused: confusing near items costs little distance.
func NewClustered(ctx context.Context, g *GKRR, model emd.Model, o *Options) (*Estimator, error) {
	const op = "frequency: NewClustered"
	o = cmp.Or(o, &Options{})
	if err := g.made(op); err != nil {
		return nil, err
	}
	c, err := g.Channel(ctx)
	if err != nil {
		return nil, err
	}
	kinds, err := g.kinds(ctx)
	if err != nil {
		return nil, err
	}
	f, _, _, err := onItems(ctx, op, c, g.space, model, &ItemWiseOptions{Delta: o.Delta, Clones: o.Clones, Workers: o.Workers}, kinds)
	if err != nil {
		return nil, err
	}
	f.inv, f.condition, f.outputs, f.draw, f.bound = g, g.conditionNumber(), g.space.Len(), eachBy(g.draw), g.errorBound
	return f, nil
}

// onItems is what both share; it also returns the diameter.
func onItems(ctx context.Context, op string, c *mechanism.Channel, space metric.Finite, model emd.Model, o *ItemWiseOptions, own *onSpace) (*Estimator, *ItemWise, float64, error) {
	model, e, err := checkOn(ctx, op, model, space)
	if err != nil {
		return nil, nil, 0, err
	}
	w, err := buildItemWise(ctx, op, c, model, o, own)
	return &Estimator{space: space, g: w.Guarantee(), workers: o.Workers}, w, e.Diameter, err
}

// Guarantee is the promise of one [Estimator.Release].
func (f *Estimator) Guarantee() emd.Guarantee {
	if f == nil {
		return emd.Guarantee{}
	}
	return f.g
}

func (f *Estimator) made(op string) error {
	return fault.Made(f != nil && f.outputs > 0, op, "Estimator", "New, NewClustered, NewHadamardBaseline or NewLaplaceBaseline")
}

// Condition is the condition number of the randomizer: by about how much more the estimate of some
// combination of frequencies errs than without privacy.
func (f *Estimator) Condition() float64 {
	return fault.Must(f, f.made("frequency: Estimator.Condition")).condition
}

// ErrorBound bounds the expected earth mover's distance between the Mean of an [Estimate] from that
// many items in all and the mean of these users' distributions, whatever it is; +Inf for no items. It
// is never above the diameter. The distribution made of the estimate errs by at most twice as much.
//
// For clusters it is that of IRC24, Theorems 6.5 and 6.6, with exact constants; for any other channel
// the sum of the items' standard deviations at the worst distribution, weighted by half the diameter
// or by the distances from a central point. Where the total errs, the Mean is first shifted to sum to 1.
func (f *Estimator) ErrorBound(items int64) float64 {
	fault.Must(f, f.made("frequency: Estimator.ErrorBound"))
	if items < 1 {
		return math.Inf(1)
	}
	return min(f.bound(items), f.g.Model().Diameter)
}

// Release publishes the items of all users of the model. Items are indices of points; one outside
// the space, and data that do not fit the model, are errors.
func (f *Estimator) Release(rng *rand.Rand, data emd.Users[int]) (*emd.Report, error) {
	return f.release(context.Background(), "frequency: Estimator.Release", f.Guarantee().Model(), rng, data)
}

// Collect runs one release for each user, any number of them, and returns the sum: in the Local
// trust, what a collector merges. In the others it is [Estimator.Release].
func (f *Estimator) Collect(ctx context.Context, rng *rand.Rand, data emd.Users[int]) (*emd.Report, error) {
	model := f.Guarantee().Model()
	if model.Trust == emd.Local {
		model.Users = check.AnyNumber
	}
	return f.release(ctx, "frequency: Estimator.Collect", model, rng, data)
}

func (f *Estimator) release(ctx context.Context, op string, model emd.Model, rng *rand.Rand, data emd.Users[int]) (*emd.Report, error) {
	if err := f.made(op); err != nil {
		return nil, err
	}
	in, users, err := tally(ctx, op, model, f.space.Len(), data)
	if err != nil {
		return nil, err
	}
	r := &emd.Report{Users: users, Reports: 1, Items: users * int64(f.g.Model().Items), Level: f.noise}
	if model.Trust == emd.Local {
		r.Reports = users
	}
	if f.noise > 0 {
		r.Sums = f.noisy(rng, in)
		return r, nil
	}
	r.Sums, err = drawRuns(ctx, rng, in, f.outputs, f.workers, f.draw)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// Estimate is an unbiased estimate of the mean of the users' distributions.
type Estimate struct {
	// Mean[x] estimates the frequency of item x. It may be negative or above 1.
	Mean []float64
	// StdErr[x] estimates its standard deviation over the draws; its square is
	// unbiased but for cutting off at 0.
	StdErr []float64
	// Users and Items are how many there were.
	Users, Items int64
}

// Estimate inverts the randomizer. A report of nobody, of another number of outputs or of another
// level of noise is an error. O(k) for clusters, O(K log K) for Hadamard response, else O(n m).
func (f *Estimator) Estimate(r *emd.Report) (*Estimate, error) {
	const op = "frequency: Estimator.Estimate"
	if err := f.made(op); err != nil {
		return nil, err
	}
	if r == nil || r.Users == 0 {
		return nil, fault.Empty(op, "Report", 0)
	}
	if err := r.Check(); err != nil {
		return nil, fault.Within(op, err)
	}
	if err := fault.Size(op, "Report", len(r.Sums), f.outputs); err != nil {
		return nil, err
	}
	if !check.SameLevel(r.Level, f.noise) || r.Items == 0 || r.Plan != 0 {
		return nil, fault.Value(op, "Level of the Report", r.Level, fmt.Sprintf("%v, as all of these Estimator", f.noise))
	}
	q := make([]float64, len(r.Sums))
	for y, n := range r.Sums {
		q[y] = float64(n) / float64(r.Items)
	}
	k := f.space.Len()
	e := &Estimate{Mean: q, StdErr: make([]float64, k), Users: r.Users, Items: r.Items}
	if f.noise > 0 {
		for x := range e.StdErr { // Var = 2 q/(1-q)^2 for q = e^-noise
			e.StdErr[x] = math.Sqrt(0.5*float64(r.Reports)) / math.Sinh(f.noise/2) / float64(r.Items)
		}
		return e, nil
	}
	e.Mean = make([]float64, k)
	f.inv.estimate(q, e.Mean, e.StdErr)
	for x, v := range e.StdErr {
		e.StdErr[x] = math.Sqrt(v / float64(r.Items))
	}
	return e, nil
}

// Distribution returns the distribution on the space nearest to the estimate
// ([Project]), and its distance from it.
func (f *Estimator) Distribution(ctx context.Context, e *Estimate) (p []float64, dist float64, err error) {
	const op = "frequency: Estimator.Distribution"
	if err := cmp.Or(f.made(op), fault.Made(e != nil, op, "Estimate", "Estimator.Estimate")); err != nil {
		return nil, 0, err
	}
	return Project(ctx, f.space, e.Mean)
}

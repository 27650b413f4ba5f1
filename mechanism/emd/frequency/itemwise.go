package frequency

import (
	"cmp"
	"context"
	"errors"
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

// ErrNotPure reports a channel whose guarantee is not pure: a finite level with delta 0,
// for all distances up to the model's diameter.
var ErrNotPure = errors.New("the channel has no pure guarantee over the whole space")

// ItemWise releases every item through one pure channel, independently, and publishes how often each
// output came up. Being one of many hides an item, so the promise per user is far better than m times
// that per item. In the Local trust a user shuffles its own m items, in the Shuffled trust a shuffler
// those of all users, who draw from [ItemWise.Channel] themselves, and in the Central trust a curator
// may do it: Release is the work of all. Immutable and safe for concurrent use.
//
// Source: IRC24, Algorithm 2 and Theorem 4.4, with the tighter [accountant.Shuffle].
type ItemWise struct {
	channel *mechanism.Channel // outputs unlabeled, so that they can be counted
	g       emd.Guarantee
	bound   accountant.Theorem
	workers int
}

var _ emd.Releaser[int, []int64] = (*ItemWise)(nil)

// ItemWiseOptions tune [NewItemWise]. Nil and the zero value mean the defaults.
type ItemWiseOptions struct {
	// Delta is the slack of the promise, in [0, 1). With 0 there is pure composition only.
	Delta float64
	// Clones says how the accountant counts the items among which one is hidden.
	Clones accountant.Clones
	// Space is the metric of the channel's inputs. If given, its diameter is the model's where that is 0
	// and must not exceed it elsewhere, its least distance helps the accountant, and the audited level of
	// the channel, or better its probabilities, are accounted for.
	Space metric.Finite
	// Workers is the number of goroutines of a release, 0 for all processors. No result depends on it.
	Workers int
}

// BudgetOptions tune [ItemWiseBudget]; nil and zero are the defaults.
type BudgetOptions struct {
	Clones accountant.Clones // as in [ItemWiseOptions]
	Space  metric.Finite     // as in [ItemWiseOptions], for its distances
}

// NewItemWise returns the release of all items of the model's users through c. Refused are an
// unbounded model (see [emd.NewReduced]), a c without a pure guarantee ([ErrNotPure]), one in another
// unit ([mechanism.ErrUnit]) and, with a Space, one that does not keep what it claims
// ([mechanism.ErrClaim]). Without a Space the promise rests on this: that the guarantee of c is about
// the distance d_EM is made of, and that no two items are farther apart than Model.Diameter.
//
// The promise is [accountant.Shuffle.Level]'s for N = m records in the Local trust and N = m*n in the
// others; its delta is 0 where pure composition is as good. In the others, with a Space of at most 16
// points, c's own probabilities count ([accountant.Randomizer]). Up to ten seconds, and the audit of c.
func NewItemWise(ctx context.Context, c *mechanism.Channel, model emd.Model, o *ItemWiseOptions) (*ItemWise, error) {
	return buildItemWise(ctx, "frequency: NewItemWise", c, model, o, nil)
}

// onSpace is a channel by whose probabilities a level is found, on a space.
type onSpace struct {
	c     *mechanism.Channel
	space metric.Finite
}

// buildItemWise is NewItemWise for the constructor op, by the probabilities of own where it is not
// nil, or of c on a small Space.
func buildItemWise(ctx context.Context, op string, c *mechanism.Channel, model emd.Model, o *ItemWiseOptions, own *onSpace) (*ItemWise, error) {
	o = cmp.Or(o, &ItemWiseOptions{})
	if c == nil {
		return nil, fault.Empty(op, "c", 0)
	}
	model, s, err := shuffleOf(ctx, op, model, o.Space, o.Clones)
	if err := cmp.Or(err, fault.Delta(op, "Delta", o.Delta)); err != nil {
		return nil, err
	}
	g := c.Guarantee()
	if math.IsInf(g.Alpha(), 1) || g.Delta() != 0 || g.Reach() < model.Diameter {
		return nil, fmt.Errorf("%s: %w: %v", op, ErrNotPure, g)
	}
	if g.Unit() != model.Unit {
		return nil, check.OtherUnit(op, "channel", g.Unit(), model.Unit)
	}
	alpha0 := g.Alpha()
	if o.Space != nil {
		if alpha0, err = o.audit(ctx, op, c); err != nil {
			return nil, err
		}
	}
	level := accountant.Bound{Theorem: accountant.PureComposition}
	if s.Alpha0 = alpha0; alpha0 > 0 {
		if own == nil && o.Space != nil && c.Len() <= maxOwn {
			own = &onSpace{c, o.Space}
		}
		if level, err = s.Level(ctx, o.Delta); err == nil && own != nil && model.Trust != emd.Local {
			level, err = own.level(ctx, s, o.Delta, level)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", op, err)
		}
	}
	delta := o.Delta
	if level.Theorem == accountant.PureComposition {
		delta = 0
	}
	w := &ItemWise{bound: level.Theorem, workers: o.Workers}
	promise, err := mechanism.NewGuarantee(level.Value, delta, model.Unit)
	if err != nil {
		return nil, err
	}
	if w.g, err = emd.NewGuarantee(model, promise); err != nil {
		return nil, err
	}
	labels := make([]int, c.Outputs())
	for y := range labels {
		labels[y] = y
	}
	w.channel, err = c.Relabel(labels)
	return w, err
}

// maxOwn is up to how many inputs a channel's own probabilities are looked at: each of the
// maxOwn(maxOwn-1) kinds of changes takes some hundredths of a second.
const maxOwn = 16

// level is the level of the channel's own probabilities, or s's where that is no more or
// [accountant.NewRandomizer] does not take the channel.
func (k *onSpace) level(ctx context.Context, s accountant.Shuffle, delta float64, level accountant.Bound) (accountant.Bound, error) {
	if delta == 0 {
		return level, nil
	}
	own, err := accountant.NewRandomizer(ctx, k.c, k.space)
	var value *metric.ValueError
	if errors.As(err, &value) {
		return level, nil
	} else if err != nil {
		return level, err
	}
	b, err := accountant.Shuffle{Records: s.Records, Items: s.Items, Randomizer: own}.Level(ctx, delta)
	if err == nil && b.Value < level.Value {
		level = b
	}
	return level, err
}

// ItemWiseBudget returns the largest level alpha0 per unit of distance between items, rounded down,
// with which [NewItemWise] promises the target, at its Delta and the same options, and the theorem
// that proves it. See [accountant.Shuffle.Budget].
func ItemWiseBudget(ctx context.Context, model emd.Model, target emd.Promise, o *BudgetOptions) (accountant.Bound, error) {
	const op = "frequency: ItemWiseBudget"
	o = cmp.Or(o, &BudgetOptions{})
	_, s, err := shuffleOf(ctx, op, model, o.Space, o.Clones)
	if err := cmp.Or(err, target.Check(op)); err != nil {
		return accountant.Bound{}, err
	}
	return s.Budget(ctx, target)
}

// shuffleOf checks a model, on space if given, and says what is shuffled.
func shuffleOf(ctx context.Context, op string, model emd.Model, space metric.Finite, clones accountant.Clones) (emd.Model, accountant.Shuffle, error) {
	var err error
	var e check.Distances
	if space == nil {
		model, err = model.Check(op)
	} else if model, e, err = checkOn(ctx, op, model, space); math.IsInf(e.Positive, 1) {
		e.Positive = 0 // unknown
	}
	return model, accountant.Shuffle{
		Records: int64(model.Items) * int64(model.Users), Items: int64(model.Items),
		Diameter: model.Diameter, MinDistance: e.Positive, Clones: clones,
	}, cmp.Or(err, model.CheckBounded(op))
}

// checkOn checks a model on space, whose distances it returns: see [emd.Model].Diameter.
func checkOn(ctx context.Context, op string, m emd.Model, space metric.Finite) (emd.Model, check.Distances, error) {
	filled := m
	if m.Diameter == 0 {
		filled.Diameter = 1 // as good as any, until the distances are read
	}
	if _, err := filled.Check(op); err != nil {
		return m, check.Distances{}, err
	}
	e, err := check.DistancesOf(ctx, op, space)
	if err != nil {
		return m, e, err
	}
	if m.Unit, err = fault.Unit(op, m.Unit, metric.UnitOf(space)); err != nil {
		return m, e, err
	}
	if m.Diameter == 0 {
		m.Diameter = e.Diameter
	}
	if m, err = m.Check(op); err == nil && e.Diameter > m.Diameter {
		err = check.TooNarrow(op, e.Diameter, e.Far[0], e.Far[1], m.Diameter)
	}
	return m, e, err
}

// audit returns the level of c proved under o.Space.
func (o *ItemWiseOptions) audit(ctx context.Context, op string, c *mechanism.Channel) (float64, error) {
	if err := fault.Size(op, "Space", o.Space.Len(), c.Len()); err != nil {
		return 0, err
	}
	a, err := c.Audit(ctx, o.Space, &mechanism.AuditOptions{Workers: o.Workers})
	if err != nil {
		return 0, err
	}
	if claim := c.Guarantee().Alpha(); a.Lo > claim || math.IsInf(a.Hi, 1) {
		return 0, fmt.Errorf("%s: %w: level %v, audited %v", op, mechanism.ErrClaim, claim, a)
	}
	return a.Hi, nil
}

func (w *ItemWise) made(op string) error {
	return fault.Made(w != nil && w.channel != nil, op, "ItemWise", "NewItemWise")
}

// Guarantee is the promise per unit of d_EM.
func (w *ItemWise) Guarantee() emd.Guarantee {
	if w == nil {
		return emd.Guarantee{}
	}
	return w.g
}

// Theorem names what proves the promise.
func (w *ItemWise) Theorem() accountant.Theorem { return w.bound }

// Channel is what every item goes through. Its outputs are numbered as counts are, without labels.
func (w *ItemWise) Channel() *mechanism.Channel {
	return fault.Must(w, w.made("frequency: ItemWise.Channel")).channel
}

// Release draws an output for every item and returns counts[y], how often output y of the channel
// came up. The distribution is exact, as [mechanism.Channel]'s is. Items are indices of inputs; one
// outside is an error that names its user. O(items + inputs + outputs); data are read once, in order.
func (w *ItemWise) Release(rng *rand.Rand, data emd.Users[int]) ([]int64, error) {
	const op = "frequency: ItemWise.Release"
	if err := w.made(op); err != nil {
		return nil, err
	}
	in, _, err := tally(context.Background(), op, w.g.Model(), w.channel.Len(), data)
	if err != nil {
		return nil, err
	}
	return drawRuns(context.Background(), rng, in, w.channel.Outputs(), w.workers, w.drawRun)
}

// tableDraws is the number of draws from which a table beats a pass a draw.
const tableDraws = 4

// drawRun adds n.count outputs of input n.x to sum.
func (w *ItemWise) drawRun(rng *rand.Rand, n run, sum []int64) error {
	if n.count < tableDraws {
		for range n.count {
			y, err := w.channel.Release(rng, n.x)
			if err != nil {
				return err
			}
			sum[y]++
		}
		return nil
	}
	s, err := w.channel.Sampler(n.x)
	if err != nil {
		return err
	}
	for range n.count {
		sum[s.Draw(rng)]++
	}
	return nil
}

package emd

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/emd/accountant"
	"github.com/metricdp/metricdp/mechanism/emd/internal/check"
)

// Guarantee is the promise of (alpha, delta)-privacy under the earth mover's distance in a [Model]:
// for all data sets that differ in one user, whose distributions of items are mu and mu', and all
// measurable sets S,
//
//	P{M(x) in S} <= exp(alpha*d_EM(mu,mu')) P{M(x') in S} + delta.
//
// A discrete promise ([Guarantee.Radius] > 0) instead gives one pair (eps, delta) for all mu, mu' at
// a distance up to the radius, and by steps of that length for those farther apart. The zero value
// promises nothing. Guarantees are comparable values.
type Guarantee struct {
	level  mechanism.Guarantee // per unit; per radius in a discrete promise
	model  Model
	radius float64
}

// ErrModel reports guarantees for different models, which do not compose.
var ErrModel = errors.New("guarantees are for different models")

// NewGuarantee returns the promise of level (alpha, delta) in the model; another unit is [mechanism.ErrUnit].
func NewGuarantee(model Model, level mechanism.Guarantee) (Guarantee, error) {
	const op = "emd: NewGuarantee"
	model, err := model.Check(op)
	if err != nil {
		return Guarantee{}, err
	}
	if level.Unit() != model.Unit {
		return Guarantee{}, check.OtherUnit(op, "level", level.Unit(), model.Unit)
	}
	return Guarantee{level: level, model: model}, nil
}

// perUnit is the promise of level (alpha, delta) in a checked model.
func perUnit(model Model, alpha, delta float64) (Guarantee, error) {
	level, err := mechanism.NewGuarantee(alpha, delta, model.Unit)
	return Guarantee{level: level, model: model}, err
}

// NewDiscrete returns the promise of the pair (eps, delta) between users at a distance up to
// radius > 0, eps >= 0 and 0 <= delta < 1, not both 0.
func NewDiscrete(model Model, radius float64, pair DP) (Guarantee, error) {
	const op = "emd: NewDiscrete"
	if err := pair.stated(op, "pair"); err != nil {
		return Guarantee{}, err
	}
	return newDiscrete(op, model, radius, pair)
}

func newDiscrete(op string, model Model, radius float64, pair DP) (Guarantee, error) {
	model, err := model.Check(op)
	if err != nil {
		return Guarantee{}, err
	}
	if err := cmp.Or(fault.Positive(op, "radius", radius), pair.check(op, "pair")); err != nil {
		return Guarantee{}, err
	}
	level, err := mechanism.NewGuarantee(pair.Eps, pair.Delta, "")
	return Guarantee{level: level, model: model, radius: radius}, err
}

// Promise is what a mechanism is built to keep: Alpha > 0 per unit of d_EM, and Delta
// in [0, 1).
type Promise = accountant.Promise

// DP is a level (Eps, Delta) of ordinary differential privacy, without a distance: no
// result is more than e^Eps times as likely, up to a probability Delta.
type DP struct{ Eps, Delta float64 }

// check refuses what is no level.
func (p DP) check(op, arg string) error {
	if !(p.Eps >= 0) {
		return fault.Value(op, arg+".Eps", p.Eps, "a number >= 0")
	}
	return fault.Delta(op, arg+".Delta", p.Delta)
}

// stated refuses a pair that was left out: a promise without any loss.
func (p DP) stated(op, arg string) error {
	if p != (DP{}) {
		return nil
	}
	return fault.Value(op, arg+".Eps", 0, "a number > 0 where Delta is 0")
}

// Model is the setting that the promise holds in.
func (g Guarantee) Model() Model { return g.model }

// Radius is the distance of a discrete promise, 0 for one per unit of distance.
func (g Guarantee) Radius() float64 { return g.radius }

// Alpha is the level per unit of d_EM; +Inf for a discrete promise, and where nothing is promised.
func (g Guarantee) Alpha() float64 {
	if g.radius > 0 {
		return math.Inf(1)
	}
	return g.level.Alpha()
}

// Delta is the additive slack, that of the pair for a discrete promise.
func (g Guarantee) Delta() float64 { return g.level.Delta() }

// At returns the pair of differential privacy between users at d_EM = d >= 0, rounded up; no two are
// farther apart than Model.Diameter. One of m items that is replaced at a distance D moves its user by
// D/m. Where d is no distance Eps is +Inf: nothing is promised.
//
// A discrete promise reaches beyond its radius r in k = ceil(d/r) steps, over mixtures of the two
// users' distributions: (k*eps, delta*(e^(k*eps)-1)/(e^eps-1)). In a bounded model users cannot have
// these, and beyond the radius Eps is +Inf.
func (g Guarantee) At(d float64) DP {
	var p DP
	d = min(d, g.model.Diameter)
	switch {
	case !(d >= 0):
		return DP{math.Inf(1), 1}
	case g.radius == 0:
		p.Eps, p.Delta = g.level.At(d)
	case d <= g.radius:
		p.Eps, p.Delta = g.level.At(1)
	case g.model.Bounded():
		p = DP{math.Inf(1), 1}
	default:
		k := math.Ceil(directed.DivUp(d, g.radius))
		if !(k < math.MaxInt32) {
			return DP{math.Inf(1), 1}
		}
		p.Eps, p.Delta = g.level.Group(int(k), 1)
	}
	return p
}

// UserLevel is the ordinary user-level differential privacy in the promise: At the diameter.
func (g Guarantee) UserLevel() DP { return g.At(g.model.Diameter) }

// Discrete weakens the promise to its pair at the radius, to compose with a discrete one.
func (g Guarantee) Discrete(radius float64) (Guarantee, error) {
	return newDiscrete("emd: Guarantee.Discrete", g.model, radius, g.At(radius))
}

// Plus is sequential composition, the promise of publishing both results about the same users: levels
// and deltas add. Many pure ones have less together at a delta (accountant.Composition). Different
// models or radii are [ErrModel]; [Guarantee.Discrete] brings promises to one radius.
func (g Guarantee) Plus(h Guarantee) (Guarantee, error) {
	if g.model != h.model || g.radius != h.radius {
		return Guarantee{}, fmt.Errorf("emd: Guarantee.Plus: %w: %v, radius %g; %v, radius %g", ErrModel, g.model, g.radius, h.model, h.radius)
	}
	var err error
	if g.level, err = g.level.Plus(h.level); err != nil {
		return Guarantee{}, err
	}
	return g, nil
}

// String is for people: the level, and the model it holds in.
func (g Guarantee) String() string {
	if math.IsInf(g.level.Alpha(), 1) {
		return "no guarantee"
	}
	if g.radius > 0 {
		return fmt.Sprintf("(%.6g, %.3g)-private between users up to d_EM %s (%v)",
			g.level.Alpha(), g.level.Delta(), fault.Quantity(g.radius, 6, g.model.Unit), g.model)
	}
	return fmt.Sprintf("%v under d_EM (%v)", g.level, g.model)
}

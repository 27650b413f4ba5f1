package emd

import (
	"cmp"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
)

// Population describes users whose items are drawn independently, each user's
// from a distribution of its own, any two of which are at an earth mover's
// distance of at most Distance.
type Population struct {
	Distance float64 // between the distributions of two users, > 0
	Items    int     // of each user; 0: Model.Items
	// Points is the number of different items that there are, >= 1. It is not
	// read where Spread is given.
	Points int
	// Spread bounds the mean d_EM of two samples of Items items from one
	// distribution. 0 is diameter*sqrt((Points-1)/(2*Items)), true on any
	// Points points; a bound for the space at hand can be far better.
	Spread float64
	// Beta is the probability, in (0, 1), with which the data may be untypical.
	Beta float64
}

// check returns p with its defaults for g filled in.
func (p Population) check(op string, g Guarantee) (Population, error) {
	var err error
	p.Items, err = g.model.itemsOf(op, "Items", p.Items)
	err = cmp.Or(err, fault.Positive(op, "Distance", p.Distance), inside(op, "Beta", p.Beta))
	if err == nil && math.IsInf(g.Alpha(), 1) && g.Radius() == 0 {
		err = fmt.Errorf("%s: the guarantee promises nothing", op)
	}
	return p, err
}

// Typical is a pair of user-level privacy that holds for typical users.
type Typical struct {
	DP
	// Distance is how far apart two typical users may be: the pair is the
	// guarantee at this distance.
	Distance float64
}

// TypicalUsers turns a promise under d_EM into ordinary user-level privacy for users like
// those of p: with probability at least 1-Beta over the items of two users, replacing the
// one by the other changes the data by d_EM at most
//
//	Distance + Spread + diameter*sqrt(ln(1/Beta)/Items),
//
// and the guarantee at this distance, which is far better than at the diameter, protects
// the one from being told from the other.
//
// Proof. Pair the first user's items with a sample from the second user's distribution, as
// the shortest way between the two distributions does. The mean d_EM of this sample from
// the first user's is at most Distance, from the second user's at most Spread. One of the
// 2*Items independent items moves the d_EM of the users by at most diameter/Items, so that
// it passes its mean by t with probability at most exp(-Items*t^2/diameter^2) (McDiarmid).
// The default Spread bounds d_EM by diameter times the total variation of two samples,
// whose mean is (1/2) sum E|p_x-q_x| <= (1/2) sum sqrt(2 p_x(1-p_x)/Items) <=
// sqrt((Points-1)/(2*Items)) by Cauchy-Schwarz, for the sum of p_x(1-p_x) is at most
// 1-1/Points.
//
// Loss: it says nothing about untypical users, often those in danger; between them
// [Guarantee.UserLevel] holds. Beta is a probability of the data and is not to be added to
// a delta: see [HiddenItems].
//
// Source: IRC24, Section 8.
func TypicalUsers(g Guarantee, p Population) (Typical, error) {
	const op = "emd: TypicalUsers"
	p, err := p.check(op, g)
	if err != nil {
		return Typical{}, err
	}
	diam, items := g.model.Diameter, float64(p.Items)
	spread := p.Spread
	switch {
	case spread == 0 && p.Points < 1:
		return Typical{}, fault.Value(op, "Points", float64(p.Points), "a number >= 1, or a Spread")
	case spread == 0:
		spread = directed.MulUp(diam, sqrtUp(directed.DivUp(float64(p.Points-1), 2*items)))
	}
	if err := fault.NonNegative(op, "Spread", spread); err != nil {
		return Typical{}, err
	}
	tail := directed.MulUp(diam, sqrtUp(directed.DivUp(-directed.LogDown(p.Beta), items)))
	d := min(diam, directed.AddUp(directed.AddUp(p.Distance, spread), tail))
	return Typical{DP: g.At(d), Distance: d}, nil
}

// HiddenItems turns a promise per unit of d_EM into one about the distributions behind the
// users of p. It is against someone who knows two of them, and all other users' items, but
// not which items were drawn, and wants to tell which of the two a user has. The pair
// (alpha*c, delta + Beta) holds then, c being Typical.Distance: the mean distance of Items
// independent pairs, Distance on average, passes c with a probability that Beta covers. No
// Spread enters, so that c is near Distance for many items. The proof is that of [Reduced],
// the world drawing the items in place of the mechanism. Points and Spread are not read.
//
// Loss: Beta is part of delta, and nothing is said about those whose items are known;
// between such users [TypicalUsers] holds.
func HiddenItems(g Guarantee, p Population) (Typical, error) {
	const op = "emd: HiddenItems"
	p, err := p.check(op, g)
	if err != nil {
		return Typical{}, err
	}
	g.model.Items = p.Items
	h, distance, err := reduced(op, g, Sampling{Radius: p.Distance, Delta: p.Beta})
	if err != nil {
		return Typical{}, err
	}
	return Typical{DP: h.At(p.Distance), Distance: distance}, nil
}

// sqrtUp is an upper bound of the square root, which is correctly rounded.
func sqrtUp(x float64) float64 { return directed.Next(math.Sqrt(x)) }

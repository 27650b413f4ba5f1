package anywhere

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// Grid are the points Low + Step*i, 0 <= i[k] < Count[k], numbered by their last coordinate first.
type Grid struct {
	Low   []float64
	Step  float64
	Count []int
}

func (g Grid) check(op string) error {
	if err := cmp.Or(fault.Empty(op, "Low", len(g.Low)), fault.Size(op, "Count", len(g.Count), len(g.Low)), fault.AllFinite(op, "Low", g.Low), fault.Positive(op, "Step", g.Step)); err != nil {
		return err
	}
	n := 1.0
	for k, c := range g.Count {
		if c < 1 {
			return &fault.ValueError{Op: op, Arg: "Count", Index: k, Value: float64(c), Want: "an integer >= 1"}
		}
		n *= float64(c)
	}
	return fault.Memory(op, n*float64(len(g.Low)), 8)
}

// ExtendLevel is the largest level per unit, rounded down, of a channel between points at distances
// step that [Extend] takes to all points at level alpha: ln(2 e^(alpha*step/2) - 1)/step, about
// alpha (1 - alpha*step/4). NaN where a number is not positive.
func ExtendLevel(alpha, step float64) float64 {
	if !(alpha > 0 && step > 0) {
		return math.NaN()
	}
	return directed.DivDown(stepLevel(alpha, step), step)
}

// stepLevel is ExtendLevel for one step: ln(1 + 2(e^(a/2) - 1)), which for large a is nearly a/2 + ln 2.
func stepLevel(alpha, step float64) float64 {
	half := directed.MulDown(alpha, step) / 2
	if half > 700 {
		return directed.AddDown(half, directed.SubDown(math.Ln2, 0x1p-50))
	}
	return directed.Log1pDown(2 * directed.Expm1Down(half))
}

// Extend takes a channel between the points of a line, or of a grid under the l1 distance, to all
// points: coordinate by coordinate it moves at random to one of the two next points of the grid,
// and releases what the channel does there. Points beyond the grid move onto it first. It is
// alpha-private per unit of the l1 distance, for all bits. A channel whose level between neighbors
// is above [ExtendLevel] is a [*metric.ValueError].
//
// alpha is positive; the channel has an input for every point of the grid; unit is that of
// coordinates. O(points^2 * outputs) for the audit; a release takes some 10 microseconds.
func Extend(ctx context.Context, c *mechanism.Channel, grid Grid, alpha float64, unit metric.Unit) (*Extended, error) {
	const op = "anywhere: Extend"
	if err := cmp.Or(grid.check(op), fault.Positive(op, "alpha", alpha)); err != nil {
		return nil, err
	}
	var points [][]float64
	for at := range lattice(grid.Count, 0) {
		x := make([]float64, len(at))
		for k, i := range at {
			x[k] = float64(i)
		}
		points = append(points, x)
	}
	if err := fault.Size(op, "c", fault.Len(c), len(points)); err != nil {
		return nil, err
	}
	steps, err := metric.NewPoints(points, metric.Manhattan{})
	if err != nil {
		return nil, fault.Within(op, err)
	}
	audit, err := c.Audit(ctx, steps, nil)
	if err != nil {
		return nil, fault.Within(op, err)
	}
	// Privacy: on a line let E = 2 e^(alpha h/2) - 1, which is at least the largest ratio of an output's
	// probabilities at two neighboring points, and lambda = (e^(alpha s) - 1)/(E - 1) the probability of
	// the farther one at distance s <= h/2 from the nearer; it is 1/2 at s = h/2, and symmetric beyond.
	// With r in [1/E, E] an output's ratio, the logarithm of 1 + lambda (r-1) has the derivative lambda'
	// (r-1)/(1 + lambda (r-1)), monotone in r: at r = E it is lambda'/(1/(E-1) + lambda) = alpha, at r =
	// 1/E, as lambda' = alpha (1/(E-1) + lambda), in size alpha (1 + lambda (E-1))/(E - lambda (E-1)),
	// at most alpha as lambda <= 1/2. In l1 one coordinate moves after another: given the others, the
	// outputs at the points along it are a channel of the same level.
	//
	// No larger E will do: an output of probabilities 1/(1+E) and E/(1+E), with its complement, passes
	// 1/2 on the way; from both ends that takes ln((1+E)/2)/alpha, which is more than h/2 then.
	if most := stepLevel(alpha, grid.Step); !(audit.Hi <= most) {
		return nil, fault.Value(op, "the channel's level per step", audit.Hi, fmt.Sprintf("at most %v, that of ExtendLevel", most))
	}
	g, err := mechanism.NewGuarantee(alpha, 0, unit)
	grid.Low, grid.Count = slices.Clone(grid.Low), slices.Clone(grid.Count)
	return &Extended{c, grid, alpha, g}, err
}

// Extended is a channel that [Extend] took to all points, immutable and safe for concurrent use.
type Extended struct {
	c     *mechanism.Channel
	grid  Grid
	alpha float64
	g     mechanism.Guarantee
}

func (e *Extended) check(op string) error {
	return fault.Made(e != nil && e.c != nil, op, "Extended", "Extend")
}

// Guarantee is alpha per unit of the l1 distance, delta 0.
func (e *Extended) Guarantee() mechanism.Guarantee {
	if e == nil {
		return mechanism.Guarantee{}
	}
	return e.g
}

// String gives the guarantee.
func (e *Extended) String() string {
	if err := e.check("anywhere"); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("a channel between %d points, extended, %v", e.c.Len(), e.g)
}

// Release draws an output for a point, of finite coordinates.
func (e *Extended) Release(rng *rand.Rand, x []float64) (int, error) {
	const op = "anywhere: Extended.Release"
	if err := e.check(op); err != nil {
		return 0, err
	}
	if err := cmp.Or(fault.Size(op, "x", len(x), len(e.grid.Low)), fault.AllFinite(op, "x", x)); err != nil {
		return 0, fault.Private(err)
	}
	rng, done := random.Get(rng)
	defer done()
	at := 0
	for k, v := range x {
		at = at*e.grid.Count[k] + e.move(rng, k, v)
	}
	return e.c.Release(rng, at)
}

// move returns the point of an axis to which a coordinate moves.
func (e *Extended) move(rng *rand.Rand, axis int, x float64) int {
	// In sums and products of float64s nothing is rounded at this precision.
	exactly := func() *big.Float { return new(big.Float).SetPrec(4300) }
	step, last := big.NewFloat(e.grid.Step), e.grid.Count[axis]-1
	over := exactly().Set(exact.BigSum([]float64{x, -e.grid.Low[axis]}))
	if end := exactly().Mul(step, big.NewFloat(float64(last))); over.Sign() <= 0 {
		return 0
	} else if over.Cmp(end) >= 0 {
		return last
	}
	quotient, _ := new(big.Float).SetPrec(200).Quo(over, step).Float64()
	near := min(int(quotient), last-1)
	rest := func(i int) *big.Float {
		return exactly().Sub(over, exactly().Mul(step, big.NewFloat(float64(i))))
	}
	// The quotient is rounded, and near may be one too many.
	s := rest(near)
	if s.Sign() < 0 {
		near--
		s = rest(near)
	}
	far := near + 1
	if twice := exactly().Add(s, s); twice.Cmp(step) > 0 {
		near, far = far, near
		s.Sub(step, s)
	}
	rate := big.NewFloat(e.alpha)
	half := exactly().Mul(rate, step)
	half.SetMantExp(half, -1)
	if exact.BernoulliGrowth(rng, exactly().Mul(rate, s), half) {
		return far
	}
	return near
}

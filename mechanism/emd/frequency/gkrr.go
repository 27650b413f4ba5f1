package frequency

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// GKRR is generalized k-ary randomized response on a clustered space: item x is released as y with
// probability exp(-alpha0*d(x,y))/Z. Z does not depend on x, so this exponential mechanism keeps the
// whole level alpha0. On clusters of one item it is ordinary randomized response.
// O(k) memory for k items. Immutable and safe for concurrent use.
//
// Its distribution is exact: log-weights are float64 numbers 0, -in and -out, in <= alpha0*Intra and
// out <= alpha0*Inter by rounding down, and the sum over a row is the same real number for all rows.
// Two rows of one cluster differ by at most in, of different clusters by out: these over the
// distances, rounded up, are the guarantee. Source: IRC24, Section 6.2.1.
type GKRR struct {
	space   *metric.Clustered
	in, out float64
	g       mechanism.Guarantee
	table   *exact.Table // of item 0
	// The inverse of its matrix A is A^-1 = a*I + b*B + c*J, B[x,y] = 1 where x
	// and y share a cluster and J[x,y] = 1 everywhere; a + Size*b + k*c = 1 for
	// k items.
	a, b, c float64
	// The inverse lengthens vectors that sum to 0 over every cluster by 1+item,
	// and those constant on clusters that sum to 0 by 1+cluster.
	item, cluster float64
}

var _ mechanism.Mechanism[int, int] = (*GKRR)(nil)

// auditMargin lowers the levels here, relatively, so that the audit of the channel, which cannot know
// that normalizers are equal, stays at or below the level asked for.
const auditMargin = 0x1p-35

// NewGKRR returns randomized response on c at the level alpha0 > 0 per unit of its metric. O(k). An
// alpha0 so small that two rows do not differ in float64 is a [*metric.ValueError].
func NewGKRR(c *metric.Clustered, alpha0 float64) (*GKRR, error) {
	const op = "frequency: NewGKRR"
	n := fault.Len(c)
	if err := cmp.Or(fault.Empty(op, "c", n), fault.Memory(op, float64(n), mostItemBytes), fault.Positive(op, "alpha0", alpha0)); err != nil {
		return nil, err
	}
	level := directed.MulDown(alpha0, 1-auditMargin)
	g := &GKRR{space: c, in: directed.MulDown(level, c.Intra()), out: directed.MulDown(level, c.Inter())}
	if math.IsInf(directed.MulUp(level, c.Inter()), 1) {
		return nil, fault.Value(op, "alpha0", alpha0, "a number with a finite product with the diameter")
	}
	worst := 0.0
	if c.Size() > 1 {
		worst = directed.DivUp(g.in, c.Intra())
	} else {
		g.in = g.out // no two items share a cluster
	}
	if c.Clusters() > 1 {
		worst = max(worst, directed.DivUp(g.out, c.Inter()))
	}
	var err error
	if g.g, err = mechanism.NewGuarantee(worst, 0, c.Unit()); err != nil {
		return nil, err
	}
	g.invert()
	if s := g.a + g.b + g.c; math.IsInf(s, 0) || math.IsNaN(s) {
		return nil, fault.Value(op, "alpha0", alpha0, "a level at which two items differ")
	}
	g.table = exact.NewTable(exact.Weights{W: g.row(0, make([]float64, c.Len())), Log: true})
	return g, nil
}

// row writes the log-weights of item x.
func (g *GKRR) row(x int, dst []float64) []float64 {
	lo := x - x%g.space.Size()
	for y := range dst {
		dst[y] = -g.out
	}
	for y := lo; y < lo+g.space.Size(); y++ {
		dst[y] = -g.in
	}
	dst[x] = 0
	return dst
}

// invert finds the inverse. With weights 1, e and f, the matrix is A = ((1-e)I + (e-f)B + fJ)/Z, B
// the blocks of ones and J all ones. They commute, and on the three common eigenspaces, t items to a
// cluster and k in all, A has the eigenvalues (1-e)/Z, (1-e+t(e-f))/Z and 1. Differences taken by
// hand leave no cancellation.
func (g *GKRR) invert() {
	t, k := float64(g.space.Size()), float64(g.space.Len())
	e, f := math.Exp(-g.in), math.Exp(-g.out)
	own := -math.Expm1(-g.in)                // 1-e
	step := e * -math.Expm1(-(g.out - g.in)) // e-f
	block := own + float64(t*step)
	g.item, g.cluster = (float64(t*e)+float64((k-t)*f))/own, k*f/block // Z/own-1, Z/block-1
	g.a, g.b, g.c = 1+g.item, -(1+g.item)*(step/block), -f/block
}

// estimate implements inverter: A^-1 f = a f + b P f + c, and for item x the
// squares of the entries of column x of A^-1, of which there are three.
func (g *GKRR) estimate(f, mean, variance []float64) {
	t := g.space.Size()
	other, cluster := g.c*g.c, (g.b+g.c)*(g.b+g.c)
	own := (g.a + g.b + g.c) * (g.a + g.b + g.c)
	for lo := 0; lo < len(f); lo += t {
		sum := floats.Sum(f[lo : lo+t])
		for x := lo; x < lo+t; x++ {
			mean[x] = float64(g.a*f[x]) + float64(g.b*sum) + g.c
			variance[x] = max(0, float64(own*f[x])+float64(cluster*(sum-f[x]))+float64(other*(1-sum))-mean[x])
		}
	}
}

// Guarantee is the pure level, at most alpha0 and less than a relative 2^-34 below it.
func (g *GKRR) Guarantee() mechanism.Guarantee {
	if g == nil {
		return mechanism.Guarantee{}
	}
	return g.g
}

func (g *GKRR) made(op string) error {
	return fault.Made(g != nil && g.table != nil, op, "GKRR", "NewGKRR")
}

// conditionNumber is that of A in the Euclidean norm.
func (g *GKRR) conditionNumber() float64 {
	switch {
	case g.space.Size() > 1:
		return 1 + g.item
	case g.space.Clusters() > 1:
		return 1 + g.cluster
	}
	return 1
}

// Release draws what item x is released as; an x outside [0, k) is a [*metric.ValueError].
// O(1).
func (g *GKRR) Release(rng *rand.Rand, x int) (int, error) {
	const op = "frequency: GKRR.Release"
	if err := g.made(op); err != nil {
		return 0, err
	}
	if err := fault.Private(fault.Index(op, "x", x, g.space.Len())); err != nil {
		return 0, err
	}
	rng, done := random.Get(rng)
	defer done()
	return g.draw(rng, x), nil
}

func (g *GKRR) draw(rng *rand.Rand, x int) int { return g.move(x, g.table.Draw(rng)) }

// move applies a symmetry of the space that takes item 0 to x.
func (g *GKRR) move(x, y int) int {
	t := g.space.Size()
	place := x % t
	if y < t {
		if y += place; y >= t {
			y -= t
		}
	}
	if y += x - place; y >= g.table.Len() {
		y -= g.table.Len()
	}
	return y
}

// Channel returns the mechanism as a channel: a matrix of k x k weights for up to 1,024
// items, lazy beyond.
func (g *GKRR) Channel(ctx context.Context) (*mechanism.Channel, error) {
	if err := g.made("frequency: GKRR.Channel"); err != nil {
		return nil, err
	}
	k := g.space.Len()
	rows := mechanism.Rows{Inputs: k, Outputs: k, Log: true, Fill: func(x int, dst []float64) { g.row(x, dst) }}
	c, err := mechanism.NewChannel(ctx, rows, &mechanism.ChannelOptions{Lazy: k > denseItems})
	if err != nil {
		return nil, err
	}
	return c.WithGuarantee(g.g), nil
}

const denseItems = 1024 // 8 MB

// kinds is the mechanism on three of the items, which have all kinds of changes: within a cluster and
// out of it. Every output is as seldom of one of the three as of any item, so that they hide a
// change as little as all do.
func (g *GKRR) kinds(ctx context.Context) (*onSpace, error) {
	items := []int{0, 1, 2}
	if t := g.space.Size(); t > 1 && g.space.Clusters() > 1 {
		items[2] = t
	}
	k := g.space.Len()
	items = items[:min(k, 3)]
	space, err := metric.Subset(g.space, items)
	if err != nil {
		return nil, err
	}
	c, err := mechanism.NewChannel(ctx, mechanism.Rows{Inputs: len(items), Outputs: k, Log: true, Fill: func(i int, dst []float64) { g.row(items[i], dst) }}, nil)
	return &onSpace{c, space}, err
}

// mostItemBytes is the memory for an item, in the table and while it is made.
const mostItemBytes = 64

// errorBound bounds the expected earth mover's distance between the unbiased estimate from N items
// released by g and the distribution of these items, whatever it is: (8) and (9) of IRC24, with the
// constants of A and halved. With s clusters of t items, u = a and v = a+t*b of the inverse
// a*I + b*B + c*J of A,
//
//	(Intra sqrt(C + s(t-1)(u^2-1)) + (Inter-Intra) sqrt C) / (2 sqrt N),  C = (s-1)(v^2-1).
//
// Proof. W1 is Intra/2 times the sum of errors' sizes and (Inter-Intra)/2 times that of the errors of
// whole clusters, and by Cauchy and Schwarz E||err||_1 <= sqrt(k * sum of Var). With R = A^-1, the
// items being fixed, N times the sum of variances is the mean over items x of sum_y A[x,y]
// ||R[y,.]||^2 - 1. All rows of R have the squared norm trace(R^2)/k = (1 + (s-1)v^2 + s(t-1)u^2)/k.
// The sums over clusters are randomized response on s clusters with the inverse v*I + t*c*J.
func (g *GKRR) errorBound(items int64) float64 {
	s, t, in := float64(g.space.Clusters()), float64(g.space.Size()), g.space.Intra()
	var clusters, rest float64
	if s > 1 {
		clusters = (s - 1) * g.cluster * (2 + g.cluster)
	}
	if t > 1 {
		rest = s * (t - 1) * g.item * (2 + g.item)
	}
	return (float64(in*math.Sqrt(clusters+rest)) + float64((g.space.Inter()-in)*math.Sqrt(clusters))) / (2 * math.Sqrt(float64(items)))
}

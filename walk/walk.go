package walk

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
)

// Walk is noise on the leaves of a tree: its increments are the noise of single leaves, its partial
// sums that of the leaves up to one. Every node adds noise, at its level's scale, to the division
// of its count among its children. It is immutable and safe for concurrent use. The zero value is
// refused.
type Walk struct {
	tree   *Tree
	dist   Distribution
	scales Scales
	total  Noise // a single number; not valid where scales.Total is 0
	level  []Noise
}

// String is for people: "KNorm walk on a tree of 1000 leaves, height 3".
func (w *Walk) String() string {
	if w.check("") != nil {
		return "no walk"
	}
	return fmt.Sprintf("%v walk on a %v", w.dist, w.tree)
}

func (w *Walk) check(op string) error {
	return fault.Made(w != nil && w.tree != nil, op, "Walk", "New or Superregular")
}

// New returns the walk of the given distribution and scales on t. DiscreteHaar needs a binary tree.
// Scales must be as [NewNoise] takes them, one a level; a Total of 0 leaves the total as it is.
func New(t *Tree, dist Distribution, s Scales) (*Walk, error) {
	const op = "walk: New"
	if err := cmp.Or(t.check(op), dist.check(op)); err != nil {
		return nil, err
	}
	if dist == DiscreteHaar {
		if err := t.checkBinary(op); err != nil {
			return nil, err
		}
	}
	if err := s.check(op, t.Height()); err != nil {
		return nil, err
	}
	s.Level = slices.Clone(s.Level)
	w := &Walk{tree: t, dist: dist, scales: s, level: make([]Noise, len(s.Level))}
	for l, b := range s.Level {
		w.level[l] = newNoise(dist, b)
	}
	if s.Total > 0 {
		w.total = newNoise(dist, s.Total)
	}
	return w, nil
}

// Superregular returns the random walk of n steps of BSV22, Theorem 3.1: Laplace noise of scale L+1
// on the Haar coefficients of the balanced binary tree of n leaves and of height L = log2 n rounded
// up, the total included. (The paper takes L+2; L+1 is enough.)
//
// The increments Z have a joint density prop. to e^-V(z) and V, [Walk.Potential], is 1-Lipschitz in
// the l1 norm. Each partial sum is within a multiple of (log n)^(3/2) of 0 on the mean. Added to a
// measure and scaled by 2/alpha it is alpha-private per unit of total variation. [ReplaceOne] with
// scales of 2L does better.
func Superregular(n int) (*Walk, error) {
	t, err := balanced("walk: Superregular", n, 2)
	if err != nil {
		return nil, err
	}
	return New(t, KNorm, t.allScales(AddRemoveOne, float64(t.Height()+1)))
}

// Tree returns the tree.
func (w *Walk) Tree() *Tree { return fault.Must(w, w.check("walk: Walk.Tree")).tree }

// Scales returns a copy of the scales.
func (w *Walk) Scales() Scales {
	fault.Must(w, w.check("walk: Walk.Scales"))
	return Scales{w.scales.Total, slices.Clone(w.scales.Level)}
}

func (w *Walk) totalVariance() float64 {
	if w.scales.Total == 0 {
		return 0
	}
	return w.total.singleVariance()
}

// Increments writes a sample of the noise of each leaf, in floating point, to dst, of length Len():
// from the root down, each node divides its noise equally among its children and adds theirs. It is
// for simulation: to release data use [Walk.AddShares], [Walk.AddCounts] or [Walk.AddHaar], whose
// noise has the same distribution but for the rounding of AddShares. O(nodes).
func (w *Walk) Increments(rng *rand.Rand, dst []float64) error {
	const op = "walk: Walk.Increments"
	if err := w.check(op); err != nil {
		return err
	}
	t := w.tree
	if err := fault.Size(op, "dst", len(dst), t.Len()); err != nil {
		return err
	}
	rng, done := random.Get(rng)
	defer done()
	dst[0] = 0
	if w.scales.Total > 0 {
		dst[0] = w.total.single(rng)
	}
	// What a node has stands at its first leaf until its children take over.
	noise := make([]float64, t.arity)
	for l := range w.level {
		n := &w.level[l]
		lo, hi := t.Level(l)
		for v := lo; v < hi; v++ {
			c, end := t.first[v], t.first[v+1]
			if c == end {
				continue
			}
			e := noise[:end-c]
			n.draw(rng, e)
			at := t.lo[c:end]
			share := dst[at[0]] / float64(len(e))
			for i, x := range e {
				dst[at[i]] = share + x
			}
		}
	}
	return nil
}

// AddShares writes to dst, of length Nodes(), what each node has of a measure, with the noise of
// the distributions Laplace and KNorm (another is a [*ValueError]). The measure is weights, a
// number >= 0 a leaf, divided by their sum, which must be positive and finite, as exact reals: so
// weights may be counts of records. dst[0] is 1, with noise where Total is positive. The share of
// an only child is that of its parent. With KNorm only differences of siblings are known: the first
// of them gets 0.
//
// What it leaves may be published: each number is that of the ideal release, rounded once, to a
// multiple of [Noise.Step]. So [Tree.Loss] holds for the bits, per unit of total variation of the
// exact measures, half the l1 distance. Then [Tree.Center] makes shares that add up. Time depends
// on weights a little. O(nodes).
func (w *Walk) AddShares(rng *rand.Rand, dst, weights []float64) error {
	const op = "walk: Walk.AddShares"
	if err := w.check(op); err != nil {
		return err
	}
	if w.dist.Discrete() {
		return fault.Value(op, "dist", float64(w.dist), "Laplace or KNorm")
	}
	t := w.tree
	if err := cmp.Or(fault.Size(op, "dst", len(dst), t.Nodes()), fault.Size(op, "weights", len(weights), t.Len()), fault.Private(fault.AllNonNegative(op, "weights", weights))); err != nil {
		return err
	}
	near, err := t.shares(op, weights)
	if err != nil {
		return err
	}
	rng, done := random.Get(rng)
	defer done()
	// Draws replace shares, and go to dst when weights, which it may overlap, are read no more.
	var total *big.Float
	c := int32(0) // the first child
	v := exact.Values{Err: t.sharesErr(near[0]), Enclose: func(i int, prec uint) exact.Enclosure {
		if total == nil {
			total = exact.BigSum(weights)
		}
		return exact.Share(weights[t.lo[int(c)+i]:t.hi[int(c)+i]], total, prec)
	}}
	near[0] = exact.DD{Hi: 1}
	if w.scales.Total > 0 {
		near[0].Hi = w.total.lattice().AddLaplace(rng, 1, w.total.rate)
	}
	drawn := make([]float64, t.arity)
	for l := range w.level {
		n := &w.level[l]
		add := n.lattice().AddLaplaces
		if w.dist == KNorm {
			add = n.lattice().AddDifferences
		}
		lo, hi := t.Level(l)
		for u := lo; u < hi; u++ {
			var end int32
			switch c, end = t.first[u], t.first[u+1]; end - c {
			case 0:
			case 1:
				near[c] = near[u]
			default:
				v.Near = near[c:end]
				add(drawn[:end-c], rng, v, n.rate)
				for i, y := range drawn[:end-c] {
					v.Near[i] = exact.DD{Hi: y}
				}
			}
		}
	}
	for v, y := range near {
		dst[v] = y.Hi
	}
	return nil
}

// shares returns the sum of weights below the root, and below the other nodes the quotient
// of the sum and that of the root, within sharesErr.
func (t *Tree) shares(op string, weights []float64) ([]exact.DD, error) {
	near := make([]exact.DD, t.Nodes())
	for v := len(near) - 1; v >= 0; v-- {
		lo, hi := t.first[v], t.first[v+1]
		if lo == hi {
			near[v].Hi = weights[t.lo[v]]
		}
		for _, y := range near[lo:hi] {
			near[v] = near[v].Add(y)
		}
	}
	total := near[0]
	if !(total.Hi > 0 && total.Hi <= math.MaxFloat64) {
		return nil, fault.Private(fault.Value(op, "sum of weights", total.Hi, "a finite number > 0"))
	}
	for v := range near[1:] {
		near[v+1] = near[v+1].Quo(total)
	}
	return near, nil
}

// sharesErr bounds the errors of shares: sums of terms of one sign err by 2^-103 an addition,
// of which a node is behind Arity() a level at most, and quotients by 2^-101.
func (t *Tree) sharesErr(total exact.DD) float64 {
	if total.Hi < 0x1p-500 {
		return math.Inf(1)
	}
	return (float64(float64(t.arity)*float64(t.Height())) + 4) * 0x1p-101
}

func (w *Walk) checkAdd(op string, dist Distribution, arg string, got int, want func(*Tree) int) error {
	if err := w.check(op); err != nil {
		return err
	}
	if w.dist != dist {
		return fault.Value(op, "dist", float64(w.dist), dist.String())
	}
	return fault.Size(op, arg, got, want(w.tree))
}

// AddCounts adds the noise of distribution DiscreteLaplace (another is a [*ValueError]) to counts
// of all nodes, as [Tree.CountsInt] makes them, in place. What it leaves may be published: the
// count of an only child becomes that of its parent; that of the root is noisy where Total is
// positive and else remains, because it is public. The probabilities are exact. Sums outside int64
// become the nearest int64, which is post-processing. O(nodes).
//
// What is then private is the counts of all nodes; cell i is at [Tree.LeafNode](i). Then
// [Tree.Center], in float64: without it partial sums have far more noise.
func (w *Walk) AddCounts(rng *rand.Rand, counts []int64) error {
	if err := w.checkAdd("walk: Walk.AddCounts", DiscreteLaplace, "counts", len(counts), (*Tree).Nodes); err != nil {
		return err
	}
	t := w.tree
	w.addIntegers(rng, counts, func(v int, add func(x *int64)) {
		below := counts[t.first[v]:t.first[v+1]]
		if len(below) == 1 {
			below[0] = counts[v]
			return
		}
		for i := range below {
			add(&below[i])
		}
	})
	return nil
}

// addIntegers adds the noise of the total to x[0], and has node add that of every node's children,
// level by level.
func (w *Walk) addIntegers(rng *rand.Rand, x []int64, node func(v int, add func(x *int64))) {
	rng, done := random.Get(rng)
	defer done()
	adder := func(n Noise) func(x *int64) {
		return func(x *int64) { *x = exact.AddDiscreteLaplace(rng, *x, n.rate) }
	}
	if w.scales.Total > 0 {
		adder(w.total)(&x[0])
	}
	for l, n := range w.level {
		lo, hi := w.tree.Level(l)
		for v, add := lo, adder(n); v < hi; v++ {
			node(v, add)
		}
	}
}

// AddHaar adds the noise of distribution DiscreteHaar (another is a [*ValueError]) to the integer
// Haar coefficients that [Tree.HaarInt] makes, in place. The total, x[0], remains where the walk
// has no noise for it. Exact and saturating as [Walk.AddCounts]. O(n).
func (w *Walk) AddHaar(rng *rand.Rand, x []int64) error {
	if err := w.checkAdd("walk: Walk.AddHaar", DiscreteHaar, "x", len(x), (*Tree).Len); err != nil {
		return err
	}
	t := w.tree
	w.addIntegers(rng, x, func(v int, add func(x *int64)) {
		if c := t.first[v]; c != t.first[v+1] {
			add(&x[t.lo[c+1]])
		}
	})
	return nil
}

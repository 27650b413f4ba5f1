// Package adaptive releases counts on a tree of regions, where noisy counts
// themselves decide which regions are divided further, how finely, and with how
// much of the privacy budget. What records avoid stays coarse and cheap; where
// they crowd the tree grows deep.
//
// Every node carries what is left of the budget of its path. A node is divided
// by a [Rule], which reads noisy counts alone; all parts are counted with noise,
// and the budget spent on that is taken off what is left to each. What is not
// divided further is counted once more with all that is left to it. Then counts
// are averaged from the bottom up, by their variances, and masses given to the
// parts of a node from the top down, nonnegative and nearest in l2.
//
// # Privacy
//
// Let o be a complete output: the tree and all its noisy counts. Each budget e_v
// is a function of counts in o that were drawn before, so
//
//	P(o | data) = prod over v of P{K_v = o_v - c_v(data)},
//
// K_v discrete Laplace of rate e_v, c_v the count, v running over all counts
// taken (a final node may be counted twice). One record more changes the counts
// by 1 in the nodes that contain it: one for each division on its path, and the
// second count of the last. They change P by at most e^(sum of their e_v), and the
// sum is that of a path, at most the budget of a path. One record replaced is one
// less and one more: twice that. The counts that are added up are those of the
// final tree, which is the same for both data sets, so that nothing else changes.
// Budgets are whole numbers of quanta whose product with the quantum is exact in
// float64, so the sums are those of the integers. Masses are post-processing.
package adaptive

import (
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/walk"
)

// Tree is a public tree of regions, read as far as it is asked for.
type Tree[V any] interface {
	Root() V
	// Height is the number of levels below v, 0 where v is a cell.
	Height(v V) int
	// Width is the number of nodes r levels below v, where 1 <= r <= Height(v). A
	// cell that is not so far below counts as one of them.
	Width(v V, r int) int
	// Below appends those nodes to dst.
	Below(dst []V, v V, r int) []V
	// Side is the size of v, such as its diameter, in any unit.
	Side(v V) float64
}

// quanta is into how many parts the budget of a path is divided.
const quanta = 1 << 30

// Budget is what the counts of one path may spend.
type Budget struct {
	rel   walk.Relation
	unit  float64 // of a quantum
	total int64   // quanta for the number of all records
}

// totalShare is the part of the budget that a private number of records gets.
const totalShare = 1.0 / 16

// NewBudget returns the budget of level eps in [1e-50, 1e50].
func NewBudget(rel walk.Relation, eps float64) Budget {
	b := Budget{rel: rel}
	if rel == walk.ReplaceOne {
		eps /= 2 // a record leaves one path and enters another
	} else {
		b.total = quanta * totalShare
	}
	// With 23 bits, times up to 2^30 quanta, all products are exact.
	b.unit = math.Float64frombits(math.Float64bits(eps)&^(1<<30-1)) / quanta
	return b
}

// Loss is the level per record replaced, or added or removed, exactly.
func (b Budget) Loss() float64 {
	if b.rel == walk.ReplaceOne {
		return 2 * b.rate(quanta)
	}
	return b.rate(quanta)
}

// rate is exact.
func (b Budget) rate(q int64) float64 { return float64(q) * b.unit }

// Variance of a count that gets q quanta; +Inf for none.
func (b Budget) Variance(q int64) float64 {
	s := math.Sinh(b.rate(q) / 2)
	return 1 / (2 * s * s)
}

// Node is a node of a [Release].
type Node[V any] struct {
	V V
	// Its parts are Nodes[First : First+Parts]; a leaf has none.
	First, Parts int
	// Quanta were spent on Count, and in a leaf Again on Recount, if not 0. The
	// root's Count is exact where Quanta are 0.
	Quanta, Again  int64
	Count, Recount int64
	// Mass is the estimate.
	Mass float64
}

// Release is the output: public, all of it.
type Release[V any] struct {
	Budget Budget
	Nodes  []Node[V] // the root first, parts after what they are parts of
}

// Draw releases the tree of counts under a rule. count reads private data and
// may be called again for a node; it must be additive. Where more than most nodes
// would be made, no node but the root is divided any more.
func Draw[V any](rng *rand.Rand, t Tree[V], count func(v V) int64, b Budget, rule Rule, most int) *Release[V] {
	return draw(t, b, rule, most, func(v V, q int64) int64 {
		if q == 0 {
			return count(v)
		}
		return exact.AddDiscreteLaplace(rng, count(v), b.rate(q))
	})
}

// draw reads data by ask alone, which returns a count with the noise of q quanta,
// and without noise for the root where the number of records is public.
func draw[V any](t Tree[V], b Budget, rule Rule, most int, ask func(v V, q int64) int64) *Release[V] {
	root := t.Root()
	out := &Release[V]{b, []Node[V]{{V: root, Quanta: b.total, Count: ask(root, b.total)}}}
	states := []State{{Left: quanta - b.total, Spread: rule.spread(), Mass: max(1, float64(out.Nodes[0].Count))}}
	var below []V
	var mass, buf []float64
	for i := 0; i < len(states); i++ {
		v, s := out.Nodes[i].V, states[i]
		s.unit = b.unit
		levels := 0
		if s.Height = t.Height(v); s.Height > 0 && s.Left > 0 {
			levels = rule.Levels(&s, func(r int) int { return t.Width(v, r) })
		}
		if levels > 0 && i > 0 && t.Width(v, levels) > most-len(out.Nodes) {
			levels = 0
		}
		if levels == 0 {
			if n := &out.Nodes[i]; s.Left > 0 && (i > 0 || b.total > 0) {
				n.Again = s.Left
				n.Recount = ask(v, n.Again)
			}
			continue
		}
		below = t.Below(below[:0], v, levels)
		q := min(s.Left, max(1, rule.Quanta(&s, shapeOf(t, v, levels, below))))
		out.Nodes[i].First, out.Nodes[i].Parts = len(out.Nodes), len(below)
		mass = mass[:0]
		for _, w := range below {
			n := ask(w, q)
			mass = append(mass, float64(n))
			out.Nodes = append(out.Nodes, Node[V]{V: w, Quanta: q, Count: n})
		}
		buf = project(mass, s.Mass, buf)
		spread := spreadBelow(s.Spread, buf, s.Mass)
		for _, m := range buf {
			states = append(states, State{Mass: m, Left: s.Left - q, Spread: spread, Divisions: s.Divisions + 1})
		}
	}
	out.estimate()
	return out
}

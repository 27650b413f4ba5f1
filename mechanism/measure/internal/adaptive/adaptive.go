// Package adaptive releases counts on a tree of regions, where noisy counts themselves decide which
// regions are divided further, how finely, and with how much of the privacy budget. What records
// avoid stays coarse and cheap; where they crowd the tree grows deep.
//
// Every node carries what is left of the budget of its path. A node is divided by a [Rule], which
// reads noisy counts alone; all parts are counted with noise, and the budget spent on that is taken
// off what is left to each. What is not divided further is counted once more with all that is left
// to it. Then counts are averaged from the bottom up, by their variances, and masses given to the
// parts of a node from the top down, nonnegative and nearest in l2.
//
// # Refinement
//
// A count that was drawn with little budget is refined with all that is left,
// at no loss against one draw with the sum (Koufogiannis, Han, Pappas 2016, for
// Laplace noise). With p(s) = tanh(s/2) e^(-s|k|), a < b, u = e^-a and v = e^-b,
//
//	p(a) = p(b) * (w [k = 0] + (1-w) p(a)),  w = e^-(b-a) ((1-u)/(1-v))^2,
//
// * the convolution: in generating functions p(s) is (1-v)^2/((1-vz)(1-v/z)), and (1-vz)(1-v/z) =
// (v/u)(1-uz)(1-u/z) + (1-v/u)(1-uv). So the coarse count is the fine one plus noise that does not
// depend on data: the fine one is drawn first, and forgotten where it is not needed.
//
// # Privacy
//
// Let o be a complete output: the tree, the coarse counts of its inner nodes, and of its leaves the
// coarse and the fine ones. Budgets are functions of coarse counts in o that came before, so
//
//	P(o | data) = prod P{K_v = o_v - c_v(data)} prod T(coarse | fine),
//
// where K_v is discrete Laplace of the rate of the coarse count in an inner node v and of the fine
// one in a leaf, c_v is the count, and T, the noise between the two, has nothing of the data. One
// record more changes c_v by 1 in the nodes of one path, and P by at most e to the sum of their
// rates: at most the budget of a path. One record replaced is one less and one more: twice that.
// Budgets are whole numbers of quanta whose product with the quantum is exact in float64, so the
// sums are those of the integers. Sums of integers wrap around, which like all that follows, masses
// included, is post-processing.
//
// A [Gradual] release takes its noise from package gradual, whose counts may be refined
// later, by what is public then: its budget is a part of a ledger.
package adaptive

import (
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
	"github.com/metricdp/metricdp/walk"
)

// quanta is into how many parts the budget of a path is divided.
const quanta = 1 << 30

// Budget is what the counts of one path may spend.
type Budget struct {
	rel   walk.Relation
	unit  float64 // of a quantum
	path  int64   // quanta of a path, of which
	total int64   // are for the number of all records
}

// totalShare is the part of the budget that a private number of records gets.
const totalShare = 1.0 / 8 // by simulation; from 1/16 to 1/5 it is within 4 %

// NewBudget returns the budget of level eps in [1e-50, 1e50].
func NewBudget(rel walk.Relation, eps float64) Budget {
	b := Budget{rel: rel, path: quanta}
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
func (b Budget) rate(q int64) float64 { return float64(float64(q) * b.unit) }

// Variance of a count that gets q quanta; +Inf for none.
func (b Budget) Variance(q int64) float64 {
	s := math.Sinh(b.rate(q) / 2)
	return 1 / (2 * s * s)
}

// Node is a node of a [Release].
type Node struct {
	At region.Node
	// Its parts are Nodes[First : First+Parts]; a leaf has none.
	First, Parts int
	// Quanta were spent on Count, in a leaf all that were left; 0 in a root whose count is public.
	Quanta int64
	Count  int64
	// Mass is the estimate.
	Mass float64
}

// Release is the output: public, all of it.
type Release struct {
	Budget Budget
	Nodes  []Node // the root first, parts after what they are parts of
}

// Draw releases the tree of counts under a rule. Where more than most nodes would be
// made, no node but the root is divided any more.
func Draw(rng *rand.Rand, t region.Tree, c *Counts, b Budget, rule Rule, most int) *Release {
	return draw(t, b, rule, most, func(v region.Node, q, all int64) (coarse, fine int64) {
		n := c.Between(t.Cells(v))
		if q == 0 {
			return n, 0
		}
		return b.counts(rng, n, q, all)
	})
}

// draw reads data by ask alone, which returns a count with the noise of q quanta,
// and refined with that of all of them, which stays private but in a leaf. Without
// quanta it is the root's and public.
func draw(t region.Tree, b Budget, rule Rule, most int, ask func(v region.Node, q, all int64) (coarse, fine int64)) *Release {
	root := region.Node{}
	coarse, fine := ask(root, b.total, b.path)
	out := &Release{b, []Node{{At: root, Quanta: b.total, Count: coarse}}}
	states := []State{{Left: b.path - b.total, Above: b.total, Mass: max(1, float64(coarse))}}
	fines := []int64{fine} // private, but those of leaves: no rule sees them
	if t.Height(root) > 0 {
		states[0].Spread = rootSpread(shapeOf(t, root, 1, t.Below(nil, root, 1)))
	}
	var below []region.Node
	var mass, buf []float64
	for i := 0; i < len(states); i++ {
		v, s := out.Nodes[i].At, states[i]
		s.unit = b.unit
		levels := 0
		if s.Height = t.Height(v); s.Height > 0 && s.Left > 0 {
			levels = rule.Levels(&s, func(r int) int { return t.Width(v, r) })
		}
		if levels > 0 && i > 0 && t.Width(v, levels) > most-len(out.Nodes) {
			levels = 0
		}
		if levels == 0 {
			if n := &out.Nodes[i]; n.Quanta > 0 {
				n.Quanta, n.Count = n.Quanta+s.Left, fines[i]
			}
			continue
		}
		below = t.Below(below[:0], v, levels)
		q := min(s.Left, max(1, rule.Quanta(&s, shapeOf(t, v, levels, below))))
		out.Nodes[i].First, out.Nodes[i].Parts = len(out.Nodes), len(below)
		mass = mass[:0]
		for _, w := range below {
			coarse, fine := ask(w, q, s.Left)
			mass = append(mass, float64(coarse))
			out.Nodes = append(out.Nodes, Node{At: w, Quanta: q, Count: coarse})
			states = append(states, State{Left: s.Left - q, Above: q, Divisions: s.Divisions + 1})
			fines = append(fines, fine)
		}
		buf = project(mass, s.Mass, buf)
		spread := spreadBelow(s.Spread, buf, s.Mass)
		for j, m := range buf {
			c := &states[out.Nodes[i].First+j]
			c.Mass, c.Spread = m, spread
		}
	}
	out.estimate(nil)
	return out
}

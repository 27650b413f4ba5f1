package adaptive

import (
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
	"github.com/metricdp/metricdp/walk"
)

// uneven is a tree with cells on all levels.
func uneven() *region.Given {
	//          0
	//      1       2
	//    3   4    cell
	//   5 6 cell
	t, _, err := walk.NewTree([]int{-1, 0, 0, 1, 1, 3, 3})
	if err != nil {
		panic(err)
	}
	return region.NewGiven(t, func(v int) float64 { return math.Exp2(-float64(t.Depth(v))) })
}

func binary(levels int) *region.Grid {
	arities, side := make([]int, levels), []float64{1}
	for l := range arities {
		arities[l] = 2
		side = append(side, side[l]/2)
	}
	return region.NewGrid(arities, side)
}

// dyadic halves d coordinates at once, to depthOf(d).
func dyadic(d int) *region.Grid {
	arities, side := slices.Repeat([]int{1 << d}, depthOf(d)), make([]float64, depthOf(d)+1)
	for l := range side {
		side[l] = math.Exp2(-float64(l))
	}
	return region.NewGrid(arities, side)
}

func depthOf(d int) int { return min([]int{0, 30, 30, 20}[d], (bits.UintSize-2)/d) }

// crowded are n records, more of them in the first cells.
func crowded(r *rand.Rand, n, d int) *Counts {
	var at []int
	for range n {
		at = append(at, int(math.Pow(r.Float64(), 4)*math.Exp2(float64(d*depthOf(d)))))
	}
	slices.Sort(at)
	at = slices.Compact(at)
	return NewCounts(at, slices.Repeat([]int64{1}, len(at)))
}

// holed is a binary grid of eight cells of which 2, 4, 6 and 7 are impossible: a region with one
// possible part is passed over, so that parts leave out cells of what they are parts of, and may lie
// more than a level deeper.
func holed() region.Tree {
	possible := func(lo, hi []float64) bool {
		return slices.ContainsFunc([]float64{0, 1, 3, 5}, func(c float64) bool { return lo[0] < c+1 && hi[0] > c })
	}
	d := testkit.Must(domain.NewBox([]domain.Column{{Hi: 8}}, &domain.BoxOptions{Splits: [][]int{{2}, {2}, {2}}, Possible: possible}))
	return testkit.Must(region.Of[[]float64]("", d)).Regions
}

// eager divides whatever it may, at rates that depend on the masses.
type eager struct{}

func (eager) Levels(s *State, _ func(int) int) int {
	if s.Mass < 1 {
		return 0
	}
	return 1
}

func (eager) Quanta(s *State, shape Shape) int64 { return s.Left/3 + int64(s.Mass) }

// forced runs the mechanism on data with given outputs, the coarse and then the
// fine count of every question. It returns the rates, in quanta, and true counts of
// all that is published: coarse counts of inner nodes and fine ones of leaves.
func forced(t region.Tree, b Budget, rule Rule, count func(region.Node) int64, outputs func() int64) (release *Release, truth []int64) {
	type asked struct{ coarse, fine int64 }
	var rates []asked // in the order of nodes
	release = draw(t, b, rule, 1<<20, func(v region.Node, q, all int64) (coarse, fine int64) {
		rates = append(rates, asked{q, all})
		if q == 0 {
			return count(v), 0
		}
		return outputs(), outputs()
	})
	for i, n := range release.Nodes {
		truth = append(truth, count(n.At))
		drawn := rates[i].coarse
		if n.Parts == 0 && drawn > 0 {
			drawn = rates[i].fine
		}
		if n.Quanta != drawn {
			panic("a count with other noise than is said")
		}
	}
	return release, truth
}

// logRatio is log P(o|x)/P(o|y) in quanta, exactly; the noise between fine and
// coarse counts cancels.
func logRatio(r *Release, x, y []int64) int64 {
	sum := int64(0)
	for i, n := range r.Nodes {
		if n.Quanta == 0 && x[i] != y[i] {
			return math.MaxInt64
		}
		sum += n.Quanta * (max(n.Count-y[i], y[i]-n.Count) - max(n.Count-x[i], x[i]-n.Count))
	}
	return sum
}

// checkLevel runs all neighbors among data sets of up to three records on the same
// outputs, and returns the largest log ratio that was seen. Where records are added
// or removed they may be up to most at once, in any cells: a person's.
func checkLevel(t *testing.T, tree region.Tree, n int, rel walk.Relation, most int64, rule Rule, outputs func() func() int64) int64 {
	b := NewBudget(rel, 1)
	type run struct {
		x, truth []int64
		total    int64
	}
	var runs []run
	var first *Release
	fresh := outputs()
	var tape []int64
	for _, x := range dataSets(n, 3) {
		count := func(v region.Node) (sum int64) {
			lo, hi := tree.Cells(v)
			for _, k := range x[lo:hi] {
				sum += k
			}
			return sum
		}
		total := count(region.Node{})
		if rel == walk.ReplaceOne && total != 3 {
			continue
		}
		at := 0
		r, truth := forced(tree, b, rule, count, func() int64 {
			if at == len(tape) {
				tape = append(tape, fresh())
			}
			at++
			return tape[at-1]
		})
		if first == nil {
			first = r
		}
		// The structure and all budgets are functions of outputs.
		if len(r.Nodes) != len(first.Nodes) {
			t.Fatal("the tree depends on more than outputs")
		}
		for i, v := range r.Nodes {
			if w := first.Nodes[i]; v.Quanta != w.Quanta || v.Parts != w.Parts || v.Count != w.Count || v.Mass != w.Mass {
				t.Fatal("budgets or masses depend on more than outputs")
			}
		}
		runs = append(runs, run{x, truth, total})
	}
	worst := int64(0)
	for _, p := range runs {
		for _, q := range runs {
			apart := int64(0)
			for i := range p.x {
				apart += max(p.x[i]-q.x[i], q.x[i]-p.x[i])
			}
			added := apart == max(p.total-q.total, q.total-p.total) // or removed, but not both
			if rel == walk.ReplaceOne && apart == 2 && p.total == q.total || rel == walk.AddRemoveOne && added && apart <= most {
				worst = max(worst, logRatio(first, p.truth, q.truth))
			}
		}
	}
	return worst
}

// dataSets lists all ways to put up to most records into n cells.
func dataSets(n, most int) [][]int64 {
	all := [][]int64{{}}
	for range n {
		var next [][]int64
		for _, x := range all {
			sum := int64(0)
			for _, k := range x {
				sum += k
			}
			for k := range int64(most) - sum + 1 {
				next = append(next, append(x[:len(x):len(x)], k))
			}
		}
		all = next
	}
	return all
}

func limit(rel walk.Relation) int64 {
	if rel == walk.ReplaceOne {
		return 2 * quanta
	}
	return quanta
}

// On small trees, for all neighbors of up to three records and all outputs from a
// grid around them, the probability of a complete output changes by at most the
// stated level, and by that much for some: sums of whole quanta, without rounding.
func TestDraw_ExactLevel(t *testing.T) {
	for _, rel := range []walk.Relation{walk.ReplaceOne, walk.AddRemoveOne} {
		for name, rule := range map[string]Rule{"adaptive": Adaptive{}, "eager": eager{}, "fixed": Fixed{Steps: []int{1, 1}, Shares: []float64{.3, .7}, Prune: .1}} {
			worst := int64(0)
			// All outputs in {-1, 1, 4} of a tree of two cells, and of two levels
			// the first questions' outputs.
			for _, levels := range []int{1, 2} {
				grid := binary(levels)
				const values, asked = 3, 7
				for code := 0; code < 2187; code += testkit.Sweep(4, 1) { // 3^7
					outputs := func() func() int64 {
						rest, at := code, 0
						return func() int64 {
							if at++; at > asked {
								return 0
							}
							d := rest % values
							rest /= values
							return []int64{-1, 1, 4}[d]
						}
					}
					worst = max(worst, checkLevel(t, grid, 1<<levels, rel, 1, rule, outputs))
				}
			}
			given := uneven()
			for seed := range testkit.Sweep(100, 300) {
				r := random.Seeded(uint64(seed))
				outputs := func() func() int64 { return func() int64 { return r.Int64N(60) - 5 } }
				worst = max(worst, checkLevel(t, given, 4, rel, 1, rule, outputs))
			}
			// Records of all cells, also where there can be none.
			masked := int64(0)
			for seed := range 20 {
				r := random.Seeded(uint64(seed))
				outputs := func() func() int64 { return func() int64 { return r.Int64N(60) - 5 } }
				masked = max(masked, checkLevel(t, holed(), 8, rel, 1, rule, outputs))
			}
			if masked != limit(rel) {
				t.Errorf("%v, %s: largest log ratio %d quanta with impossible cells, want %d", rel, name, masked, limit(rel))
			}
			if worst != limit(rel) {
				t.Errorf("%v, %s: largest log ratio %d quanta, want %d", rel, name, worst, limit(rel))
			}
		}
	}
}

// A person with up to most records, in cells near and far, changes the probability of an output by
// at most that many times the level of a record, and by that much for some.
func TestDraw_ExactLevelOfPersons(t *testing.T) {
	for most := int64(1); most <= 3; most++ {
		worst := int64(0)
		for seed := range 60 {
			r := random.Seeded(uint64(seed))
			outputs := func() func() int64 { return func() int64 { return r.Int64N(60) - 5 } }
			for _, rule := range []Rule{Adaptive{}, eager{}} {
				worst = max(worst, checkLevel(t, uneven(), 4, walk.AddRemoveOne, most, rule, outputs))
				worst = max(worst, checkLevel(t, binary(2), 4, walk.AddRemoveOne, most, rule, outputs))
			}
		}
		if worst != most*quanta {
			t.Errorf("%d records of a person: largest log ratio %d quanta, want %d", most, worst, most*quanta)
		}
	}
}

// Whatever the outputs, what is spent on the way to a leaf is the budget of a path.
func TestDraw_PathsSpendAll(t *testing.T) {
	r := random.Seeded(1)
	grid := dyadic(2)
	for _, rel := range []walk.Relation{walk.ReplaceOne, walk.AddRemoveOne} {
		for _, size := range []int64{1, 100, 1e6} {
			for _, rule := range []Rule{Adaptive{}, Fixed{Steps: []int{2, 2, 2}, Shares: []float64{.2, .3, .5}, Prune: 3}} {
				out, _ := forced(grid, NewBudget(rel, 1), rule, func(region.Node) int64 { return size }, func() int64 { return r.Int64N(size+9) - 8 })
				spent := make([]int64, len(out.Nodes))
				for i, n := range out.Nodes {
					spent[i] += n.Quanta
					if n.Parts == 0 && spent[i] != quanta {
						t.Fatalf("%v: a leaf after %d quanta, want %d", rel, spent[i], quanta)
					}
					for j := n.First; j < n.First+n.Parts; j++ {
						spent[j] = spent[i]
					}
				}
			}
		}
	}
}

// Trees and budgets do not depend on the refined counts, of which those of inner
// nodes are never published.
func TestDraw_RefinedCountsDecideNothing(t *testing.T) {
	grid, b := dyadic(2), NewBudget(walk.AddRemoveOne, 1)
	run := func(fine int64, most int) *Release {
		r := random.Seeded(8)
		return draw(grid, b, Adaptive{}, most, func(region.Node, int64, int64) (int64, int64) { return r.Int64N(2000) - 500, fine })
	}
	for _, most := range []int{1 << 20, 120} {
		x, y := run(0, most), run(1e6, most)
		if len(x.Nodes) != len(y.Nodes) || len(x.Nodes) < 100 || len(x.Nodes) > most {
			t.Fatalf("%d and %d nodes", len(x.Nodes), len(y.Nodes))
		}
		for i, n := range x.Nodes {
			if m := y.Nodes[i]; n.At != m.At || n.Parts != m.Parts || n.Quanta != m.Quanta || n.Parts > 0 && n.Count != m.Count {
				t.Fatalf("node %d: %v, and %v with other refined counts", i, n, m)
			}
		}
	}
}

// Rates are exact multiples of the quantum, and the level is at most what was
// asked for, but nearly that.
func TestBudget_IsExact(t *testing.T) {
	for _, rel := range []walk.Relation{walk.ReplaceOne, walk.AddRemoveOne} {
		for _, eps := range []float64{1e-50, 1e-9, .1, 1. / 3, 1, math.Pi, 50, 1e50} {
			b := NewBudget(rel, eps)
			if loss := b.Loss(); loss > eps || loss < eps*(1-1e-6) {
				t.Errorf("level %v for %v", loss, eps)
			}
			for _, q := range []int64{1, 3, quanta/3 + 1, quanta - 1, quanta} {
				want := new(big.Float).Mul(big.NewFloat(b.unit), new(big.Float).SetInt64(q))
				if want.Cmp(big.NewFloat(b.rate(q))) != 0 {
					t.Errorf("%d quanta are %v, want %v", q, b.rate(q), want)
				}
			}
		}
	}
}

// discreteLaplace is the probability of k at rate s.
func discreteLaplace(s float64, k int64) float64 {
	return math.Tanh(s/2) * math.Exp(-s*math.Abs(float64(k)))
}

// The coarse count has the noise of its own rate, and what is between it and the
// fine one is independent of that: the identity of the package's doc.
func TestCounts_Identity(t *testing.T) {
	for _, r := range [][2]float64{{.1, .2}, {.5, 3}, {1, 1.01}, {.01, 5}} {
		a, b := r[0], r[1]
		w := math.Exp(a-b) * math.Pow(math.Expm1(-a)/math.Expm1(-b), 2)
		for _, k := range []int64{0, 1, -3, 20} {
			sum := w * discreteLaplace(b, k)
			for j := int64(-4000); j <= 4000; j++ {
				sum += (1 - w) * discreteLaplace(b, j) * discreteLaplace(a, k-j)
			}
			if want := discreteLaplace(a, k); math.Abs(sum/want-1) > 1e-10 {
				t.Errorf("rates %v: P{%d} = %v, want %v", r, k, sum, want)
			}
		}
	}
}

// Draws of both counts have the joint distribution: false-reject probability 1e-7 each.
func TestCounts_Joint(t *testing.T) {
	r := random.Seeded(3)
	for _, eps := range []float64{.7, 4} {
		b := NewBudget(walk.AddRemoveOne, eps)
		for _, q := range []int64{quanta / 5, quanta / 2} {
			s, f := b.rate(q), b.rate(quanta)
			w := math.Exp(s-f) * math.Pow(math.Expm1(-s)/math.Expm1(-f), 2)
			const side = 4 // fine and coarse - fine in [-4, 4], or not
			cell := func(fine, between int64) int {
				if max(fine, -fine, between, -between) > side {
					return 81
				}
				return int((fine+side)*9 + between + side)
			}
			p, sum := make([]float64, 82), 0.0
			for x := int64(-side); x <= side; x++ {
				for y := int64(-side); y <= side; y++ {
					v := (1 - w) * discreteLaplace(s, y)
					if y == 0 {
						v += w
					}
					p[cell(x, y)] = discreteLaplace(f, x) * v
					sum += p[cell(x, y)]
				}
			}
			p[81] = 1 - sum
			n := make([]int, 82)
			for range 40_000 {
				coarse, fine := b.counts(r, 100, q, quanta)
				n[cell(fine-100, coarse-fine)]++
			}
			testkit.ChiSquare(t, n, p, 1e-7)
		}
	}
}

// Rates too small to tell anything still end, on either side of leastRate, and
// noise past an end of int64 goes on without memory.
func TestCounts_TinyRates(t *testing.T) {
	r := random.Seeded(4)
	for _, eps := range []float64{1e-50, 1e-12, 1e-3, 1e50} {
		b := NewBudget(walk.ReplaceOne, eps)
		for _, q := range []int64{1, quanta / 2, quanta} {
			b.counts(r, 5, q, quanta)
		}
	}
	// Under leastRate the two have the noise of their own quanta: half of it is
	// within log(2)/rate. 6.7 standard deviations.
	b := NewBudget(walk.AddRemoveOne, 1e-13)
	for _, q := range []int64{quanta / 4, quanta} {
		var coarse, fine int
		for range 2000 {
			x, y := b.counts(r, 5, q, quanta)
			if math.Abs(float64(x-5))*b.rate(q) < math.Ln2 {
				coarse++
			}
			if rest := max(quanta-q, q); math.Abs(float64(y-5))*b.rate(rest) < math.Ln2 {
				fine++
			}
		}
		if max(coarse, fine) > 1150 || min(coarse, fine) < 850 {
			t.Errorf("%d quanta: %d and %d of 2000 are within the median", q, coarse, fine)
		}
	}
	high := 0
	for range 1000 {
		if k := noise(r, 0x1p-63); k < 0 {
			high++
		}
	}
	// Modulo 2^64 at this rate: symmetric.
	if high < 400 || high > 600 { // 6.3 standard deviations
		t.Errorf("%d of 1000 are negative", high)
	}
}

// With a large budget the release is the data.
func TestDraw_LargeBudget(t *testing.T) {
	r := random.Seeded(5)
	for d := 1; d <= testkit.Sweep(2, 3); d++ {
		c, grid := crowded(r, 500, d), dyadic(d)
		for _, rel := range []walk.Relation{walk.ReplaceOne, walk.AddRemoveOne} {
			out := Draw(r, grid, c, NewBudget(rel, 1e9), Adaptive{}, 1<<20)
			for _, n := range out.Nodes {
				if want := c.Between(grid.Cells(n.At)); n.Count != want || math.Abs(n.Mass-float64(want)) > 1e-9 {
					t.Fatalf("d=%d: %v has count %d and mass %v, want %d", d, n.At, n.Count, n.Mass, want)
				}
				if n.Parts == 0 && n.Count > 0 && n.At.Level < depthOf(d) {
					t.Fatalf("d=%d: %d records left in a leaf of level %d", d, n.Count, n.At.Level)
				}
			}
		}
	}
}

// Levels that divide nothing, and nodes without size, are gone through.
func TestDraw_LevelsThatDivideNothing(t *testing.T) {
	r := random.Seeded(7)
	for _, arities := range [][]int{{1, 1}, {1, 3, 1, 1}, {3, 1, 1}} {
		for _, rel := range []walk.Relation{walk.ReplaceOne, walk.AddRemoveOne} {
			tree := region.NewGrid(arities, make([]float64, len(arities)+1))
			out := Draw(r, tree, NewCounts([]int{0}, []int64{1000}), NewBudget(rel, 1), Adaptive{}, 1<<20)
			if mass := out.Nodes[0].Mass; math.Abs(mass-1000) > 500 {
				t.Errorf("%v, arities %v: mass %v", rel, arities, mass)
			}
		}
	}
}

// Masses are >= 0 and add up; memory is bounded by public numbers on any output.
func TestDraw_MassesAndMemory(t *testing.T) {
	r := random.Seeded(6)
	for d := 1; d <= 3; d++ {
		grid := dyadic(d)
		for _, size := range []int64{0, 1, 50, 5000} {
			b := NewBudget(walk.ReplaceOne, 1)
			for _, most := range []int64{2, 2 * (size + 2), 1e15} { // counts up to
				out, _ := forced(grid, b, Adaptive{}, func(region.Node) int64 { return size }, func() int64 { return r.Int64N(most) - most/3 })
				divisions := 0
				for _, n := range out.Nodes {
					sum := 0.0
					for _, p := range out.Nodes[n.First : n.First+n.Parts] {
						sum += p.Mass
					}
					if n.Parts > 0 {
						divisions++
						if math.Abs(sum-n.Mass) > 1e-9*(1+n.Mass) {
							t.Fatalf("parts of %v sum to %v, want %v", n.At, sum, n.Mass)
						}
					}
					if !(n.Mass >= 0) {
						t.Fatalf("mass %v", n.Mass)
					}
				}
				if bound := 1 + float64(max(1, size))*b.rate(quanta)/threshold/leastShare; float64(divisions) > bound {
					t.Errorf("d=%d, N=%d: %d divisions, want at most %v", d, size, divisions, bound)
				}
				capped := draw(grid, b, Adaptive{}, 70, func(region.Node, int64, int64) (int64, int64) { return size, size })
				if len(capped.Nodes) > 70 {
					t.Errorf("%d nodes, want at most 70", len(capped.Nodes))
				}
			}
		}
	}
}

// Again keeps the tree and what is public, and noise has the variance of budgets.
func TestRelease_Again(t *testing.T) {
	r := random.Seeded(6)
	c := crowded(r, 200, 2)
	for _, rel := range []walk.Relation{walk.ReplaceOne, walk.AddRemoveOne} {
		out := Draw(r, dyadic(2), c, NewBudget(rel, 1), Adaptive{}, 1<<20)
		const draws = 4000
		square, wider := make([]float64, len(out.Nodes)), out.wider()
		for range draws {
			again := out.Again(r)
			sum := 0.0
			for i, n := range again.Nodes {
				old := out.Nodes[i]
				square[i] += float64(n.Count-old.Count) * float64(n.Count-old.Count) / draws
				if n.Parts == 0 {
					sum += n.Mass
				}
				if n.Count, n.Mass = old.Count, old.Mass; n != old {
					t.Fatalf("%v has become %v", old, n)
				}
			}
			if math.Abs(sum-again.Nodes[0].Mass) > 1e-6 {
				t.Fatalf("leaves of mass %v, in all %v", sum, again.Nodes[0].Mass)
			}
		}
		for i, v := range square {
			// The squares of Laplace noise have a standard deviation of 2.3 times their
			// mean, .036 of it for the mean of 4,000.
			dev := out.Deviation(i) * wider[i]
			if want := dev * dev; math.Abs(v-want) > .36*want {
				t.Errorf("node %d: variance %v, want %v", i, v, want)
			}
		}
		if least, most := slices.Min(wider), slices.Max(wider); least != 1 || most <= 1 || most > 2 {
			t.Errorf("noise is %v to %v times wider", least, most)
		}
	}
}

// A fixed tree spends its shares in their order, and ends where a node has at most
// Prune times the scale of its parts' noise.
func TestFixed_SharesAndPrune(t *testing.T) {
	const size = 64 // records in the left cell of every division, none in the other
	b := NewBudget(walk.ReplaceOne, 1)
	run := func(f Fixed) *Release {
		return draw(binary(2), b, f, 100, func(v region.Node, _, _ int64) (int64, int64) {
			if v.Index == 0 {
				return size, size
			}
			return 0, 0
		})
	}
	f := Fixed{Steps: []int{1, 1}, Shares: []float64{1, 3}}
	r := run(f)
	if n := r.Nodes[1]; len(r.Nodes) != 7 || n.Quanta != quanta/4 || r.Nodes[3].Quanta != quanta-quanta/4 {
		t.Errorf("%+v", r.Nodes)
	}
	rate := size * b.rate(quanta-quanta/4) // of the second division
	for prune, nodes := range map[float64]int{rate * 0.99: 5, rate * 1.01: 3} {
		if f.Prune = prune; len(run(f).Nodes) != nodes {
			t.Errorf("Prune = %v: %d nodes, want %d", prune, len(run(f).Nodes), nodes)
		}
	}
}

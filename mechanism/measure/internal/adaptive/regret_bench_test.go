package adaptive

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/internal/records"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/walk"
	"github.com/metricdp/metricdp/wasserstein"
)

// BenchmarkRegret compares W1 under the adaptive rule with others at the best
// depth in hindsight, on N records at eps = 1: ratios of means over seeds of data
// and noise. /hist is a Laplace histogram, /fixed a tree of fixed depth, whole or
// pruned, with arity and budgets as in package measure, and /refined one that is
// pruned and whose counts are then refined with what is left.
//
// W1 (largest difference) is exact on the line, and up to 1,000 records elsewhere.
// From there it is that of dyadic trees, shifted at random against the cells: an
// upper bound, 3 to 6 times W1, whose ratios are about those of W1. More than 1,000
// records need METRICDP_LONG.
func BenchmarkRegret(b *testing.B) {
	for _, d := range []int{1, 2, 3} {
		for _, f := range records.Families(d) {
			for _, n := range []int{1e2, 1e3, 1e4, 1e5, 1e6} {
				if n > 1e2 && testing.Short() || n > 1e3 && os.Getenv("METRICDP_LONG") == "" {
					continue // minutes
				}
				b.Run(fmt.Sprintf("d=%d/data=%s/N=%d", d, f.Name, n), func(b *testing.B) {
					for b.Loop() {
						r := regret(d, f.Draw, n, walk.ReplaceOne, Adaptive{})
						b.ReportMetric(r.w1, "W1")
						b.ReportMetric(r.fixed, "/fixed")
						b.ReportMetric(r.refined, "/refined")
						b.ReportMetric(r.histogram, "/hist")
						b.ReportMetric(r.nodes, "nodes")
					}
				})
			}
		}
	}
}

// depthOf is that of a grid whose cells can be numbered.
func depthOf(d int) int { return min([]int{0, 30, 30, 20}[d], (bits.UintSize-2)/d) }

func dyadic(d int) *region.Grid {
	k := depthOf(d)
	arities, side := slices.Repeat([]int{1 << d}, k), make([]float64, k+1)
	for l := range side {
		side[l] = math.Exp2(-float64(l))
	}
	return region.NewGrid(arities, side)
}

// interleave makes a cell's number of the leading bits of coordinates in [0, 1).
func interleave(x []float64, depth int) int {
	c := 0
	for a, v := range x {
		c |= spread(uint64(v*float64(int(1)<<depth)), len(x)) << (len(x) - 1 - a)
	}
	return c
}

func spread(v uint64, d int) int {
	c := 0
	for ; v > 0; v &= v - 1 {
		c |= 1 << (bits.TrailingZeros64(v) * d)
	}
	return c
}

// center is that of a node.
func center(v region.Node, d int) []float64 {
	x := make([]float64, d)
	for a := range x {
		q := 0
		for b := range v.Level {
			q |= v.Index >> (b*d + d - 1 - a) & 1 << b
		}
		x[a] = math.Ldexp(float64(q)+.5, -v.Level)
	}
	return x
}

func count(x [][]float64, d int) *Counts {
	cells := make([]int, len(x))
	for i, p := range x {
		cells[i] = interleave(p, depthOf(d))
	}
	slices.Sort(cells)
	var at []int
	var n []int64
	for i, c := range cells {
		if i > 0 && c == cells[i-1] {
			n[len(n)-1]++
		} else {
			at, n = append(at, c), append(n, 1)
		}
	}
	return NewCounts(at, n)
}

type signed struct {
	key  int
	mass float64
}

// judge has the records in the order in which distances are computed.
type judge struct {
	d       int
	shifts  [][]float64
	records [][]signed
	line    []float64
	few     [][]float64
}

const judgeDepth = 18 // of the trees; twice the box is their root

func newJudge(r *rand.Rand, x [][]float64, d int) *judge {
	j := &judge{d: d}
	if d > 1 && len(x) <= 1000 {
		j.few = x
		return j
	}
	if d == 1 {
		for _, p := range x {
			j.line = append(j.line, p[0])
		}
		slices.Sort(j.line)
		return j
	}
	for range 2 {
		shift := records.Anywhere(r, d)
		j.shifts = append(j.shifts, shift)
		j.records = append(j.records, j.keys(x, func(int) float64 { return 1 / float64(len(x)) }, shift))
	}
	return j
}

func (j *judge) keys(x [][]float64, mass func(i int) float64, shift []float64) []signed {
	out, y := make([]signed, len(x)), make([]float64, j.d)
	for i, p := range x {
		for a := range y {
			y[a] = (p[a] + shift[a]) / 2
		}
		out[i] = signed{interleave(y, judgeDepth), mass(i)}
	}
	slices.SortFunc(out, func(a, b signed) int { return cmp.Compare(a.key, b.key) })
	return collapse(out, 0)
}

// collapse merges equal keys after a shift, in place.
func collapse(x []signed, shift int) []signed {
	n := 0
	for _, s := range x {
		s.key >>= shift
		if n > 0 && x[n-1].key == s.key {
			x[n-1].mass += s.mass
		} else {
			x[n] = s
			n++
		}
	}
	return x[:n]
}

// w1 is the distance from the records to a release.
func (j *judge) w1(r *Release) float64 {
	var at [][]float64
	var mass []float64
	total := r.Nodes[0].Mass
	for _, n := range r.Nodes {
		if n.Parts == 0 && n.Mass > 0 {
			at, mass = append(at, center(n.At, j.d)), append(mass, n.Mass/total)
		}
	}
	if j.d == 1 {
		even := slices.Repeat([]float64{1 / float64(len(j.line))}, len(j.line))
		return testkit.Must(wasserstein.W1LineBetween(j.line, even, slices.Concat(at...), mass))
	}
	if j.few != nil {
		n := len(j.few)
		from, to := make([]float64, n+len(at)), make([]float64, n+len(at))
		for i := range j.few {
			from[i] = 1 / float64(n)
		}
		copy(to[n:], mass)
		points := testkit.Must(metric.NewPoints(slices.Concat(j.few, at), metric.Chebyshev{}))
		return testkit.Must(wasserstein.W1(context.Background(), points, from, to, nil)).Cost
	}
	w := 0.0
	for k, shift := range j.shifts {
		y := j.keys(at, func(i int) float64 { return -mass[i] }, shift)
		all := make([]signed, 0, len(y)+len(j.records[k]))
		i := 0
		for _, s := range j.records[k] {
			for ; i < len(y) && y[i].key < s.key; i++ {
				all = append(all, y[i])
			}
			all = append(all, s)
		}
		all = append(all, y[i:]...)
		all = collapse(all, 0)
		for l := judgeDepth; l >= 1; l-- {
			edge := math.Exp2(float64(1-l)) / 2
			for _, s := range all {
				w += math.Abs(s.mass) * edge
			}
			all = collapse(all, j.d)
		}
	}
	return w / float64(len(j.shifts))
}

// today is a release by a pruned tree without refinements and averages.
func today(rng *rand.Rand, g *region.Grid, c *Counts, b Budget, rule Rule) *Release {
	r := draw(g, b, rule, 1<<22, func(v region.Node, q, _ int64) (coarse, fine int64) {
		if q == 0 {
			return c.Between(g.Cells(v)), 0
		}
		n := c.Between(g.Cells(v)) + noise(rng, b.rate(q))
		return n, n
	})
	r.Nodes[0].Mass = float64(r.Nodes[0].Count)
	for _, n := range r.Nodes {
		var y []float64
		for _, p := range r.Nodes[n.First : n.First+n.Parts] {
			y = append(y, float64(p.Count))
		}
		if n.Parts > 0 {
			for j, m := range project(y, n.Mass, nil) {
				r.Nodes[n.First+j].Mass = m
			}
		}
	}
	return r
}

// fixedRules are whole and pruned trees of fixed depth.
func fixedRules(d, n int) []Rule {
	var rules []Rule
	most := min(1<<17, max(64, 16*n))
	step := []int{0, 4, 2, 2}[d]
	for depth := 1; depth <= []int{0, 24, 16, 11}[d]; depth++ {
		if d == 1 && depth%2 == 1 {
			continue
		}
		h := (depth + step - 1) / step
		f := Fixed{}
		sum := 0.0
		for l := 1; l <= h; l++ {
			before := depth * (l - 1) / h
			f.Steps = append(f.Steps, depth*l/h-before)
			w := 1.0
			if d > 1 {
				w = math.Exp2(float64(before) / 4)
			}
			f.Shares = append(f.Shares, w)
			sum += w
		}
		for l := range f.Shares {
			f.Shares[l] /= sum
		}
		if math.Exp2(float64(d*depth)) <= float64(most) {
			rules = append(rules, f)
		}
		f.Prune = 2
		rules = append(rules, f)
	}
	return rules
}

func histogramRules(d, n int) []Rule {
	var rules []Rule
	most := min(1<<18, max(64, 64*n))
	for depth := 1; 1<<(depth*d) <= most; depth++ {
		rules = append(rules, Fixed{Steps: []int{depth}, Shares: []float64{1}})
	}
	return rules
}

type regrets struct{ w1, fixed, refined, histogram, nodes float64 }

// seedsOf are more where distances are cheap.
func seedsOf(d, n int) int {
	if d == 1 {
		return max(6, min(40, 480_000/n))
	}
	return max(1, min(12, 120_000/n))
}

// regret is W1 of a rule, also relative to the least of others on the same data.
func regret(d int, records func(*rand.Rand, int) [][]float64, n int, rel walk.Relation, rule Rule) (out regrets) {
	grid, b := dyadic(d), NewBudget(rel, 1)
	fixed, histogram := fixedRules(d, n), histogramRules(d, n)
	old, refined, flat := make([]float64, len(fixed)), make([]float64, len(fixed)), make([]float64, len(histogram))
	for seed := range seedsOf(d, n) {
		r := random.Seeded(uint64(seed + 1))
		x := records(r, n)
		j, c := newJudge(r, x, d), count(x, d)
		release := Draw(r, grid, c, b, rule, 1<<22)
		out.w1 += j.w1(release)
		out.nodes += float64(len(release.Nodes)) / float64(seedsOf(d, n))
		for i, f := range fixed {
			w := j.w1(Draw(r, grid, c, b, f, 1<<22))
			refined[i] += w
			if f.(Fixed).Prune > 0 {
				w = j.w1(today(r, grid, c, b, f))
			}
			old[i] += w
		}
		for i, f := range histogram {
			flat[i] += j.w1(Draw(r, grid, c, b, f, 1<<22))
		}
	}
	out.fixed, out.refined, out.histogram = out.w1/slices.Min(old), out.w1/slices.Min(refined), out.w1/slices.Min(flat)
	out.w1 /= float64(seedsOf(d, n))
	return out
}

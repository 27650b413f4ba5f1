package adaptive

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
	"github.com/metricdp/metricdp/walk"
)

// star has n cells at mutual distance 1.
func star(n int) *region.Grid { return region.NewGrid([]int{n}, []float64{1, 0}) }

// On trees of a few cells at mutual distance 1 the error is computed for all data and all noise
// but tails, which are left out. The bound is no lower than the worst of them, nor much higher.
func TestUpper_HoldsForAllDataExactly(t *testing.T) {
	for _, c := range []struct {
		name     string
		t        region.Tree
		rule     Fixed
		eps      float64
		n, tails int
		rel      walk.Relation
		tight    float64
	}{
		{"pair", star(2), Fixed{Steps: []int{1}, Shares: []float64{1}}, 1.4, 30, 14, walk.ReplaceOne, .8},
		{"three", star(3), Fixed{Steps: []int{1}, Shares: []float64{1}}, 3, 6, 6, walk.ReplaceOne, .8},
		{"four", star(4), Fixed{Steps: []int{1}, Shares: []float64{1}}, 5, 4, 2, walk.ReplaceOne, .4},
		{"two levels", binary(2), Fixed{Steps: []int{1, 1}, Shares: []float64{1, 2}}, 8, 2, 1, walk.ReplaceOne, .1},
		{"uneven", uneven(), Fixed{Steps: []int{1, 1}, Shares: []float64{1, 1}}, 8, 2, 1, walk.ReplaceOne, .1},
		{"private total", star(2), Fixed{Steps: []int{1}, Shares: []float64{1}}, 3, 4, 7, walk.AddRemoveOne, .1},
	} {
		b := NewBudget(c.rel, c.eps)
		nodes := draw(c.t, b, c.rule, 100, func(region.Node, int64, int64) (int64, int64) { return 0, 0 }).Nodes
		apart := func(v region.Node) (float64, float64) { return 1, 0 }
		upper := Upper(c.t, b, c.rule, 100, float64(c.n), apart, false)
		_, cells := c.t.Cells(region.Node{})
		worst := 0.0
		for _, x := range dataSets(cells, c.n) {
			list := make([]int, len(x))
			for i := range list {
				list[i] = i
			}
			counts, mean := NewCounts(list, x), 0.0
			if counts.Between(0, cells) < int64(c.n) {
				continue
			}
			noises(b, nodes, c.tails, nil, 1, func(z []int64, p float64) {
				i := -1
				r := draw(c.t, b, c.rule, 100, func(v region.Node, q, all int64) (int64, int64) {
					i++
					n := counts.Between(c.t.Cells(v)) + z[i]
					return n, n
				})
				moved := 0.0
				for _, v := range r.Nodes {
					if v.Parts == 0 {
						moved += math.Abs(v.Mass/r.Nodes[0].Mass-float64(counts.Between(c.t.Cells(v.At)))/float64(c.n)) / 2
					}
				}
				mean += p * moved
			})
			worst = max(worst, mean)
		}
		if !(worst <= upper && worst >= c.tight*upper) {
			t.Errorf("%s: the worst mean error is %v, the bound %v", c.name, worst, upper)
		}
	}
}

// noises yields all noise of nodes up to tails, and its probability.
func noises(b Budget, nodes []Node, tails int, z []int64, p float64, yield func([]int64, float64)) {
	if len(z) == len(nodes) {
		yield(z, p)
		return
	}
	q := nodes[len(z)].Quanta
	if q == 0 {
		noises(b, nodes, tails, append(z, 0), p, yield)
		return
	}
	rate := b.rate(q)
	for k := -tails; k <= tails; k++ {
		noises(b, nodes, tails, append(z[:len(z):len(z)], int64(k)), p*math.Tanh(rate/2)*math.Exp(-rate*math.Abs(float64(k))), yield)
	}
}

// The proof's facts of discrete Laplace noise: its excess over any number is below that of
// Laplace noise of the same rate, on the mean.
func TestUpper_LaplaceIsLarger(t *testing.T) {
	for _, r := range []float64{1e-4, .01, .1, .5, 1, 2, 5, 20, 100} {
		q := math.Exp(-r)
		if 1-q > 1e-3 && -q*math.Log(q)/(1-q)-1 > math.Log((1+q)/2)+1e-15 {
			t.Errorf("rate %v: the proof's inequality is false", r)
		}
		for x := 0.; x <= 3; x += 1. / 64 {
			m := math.Floor(x)
			own := math.Exp(-r*m) * (1 - (x-m)*(1-q)) / (2 * math.Sinh(r))
			if laplace := math.Exp(-r*x) / (2 * r); own > laplace*(1+1e-12) {
				t.Errorf("rate %v: excess %v over %v, Laplace %v", r, own, x, laplace)
			}
		}
	}
}

// A bound on cells that stand in a row is no higher than that on any others, and lower where
// there are many; where levels are cut short by the number of regions it counts what is left.
func TestUpper_Rows(t *testing.T) {
	testkit.Rounding(t)
	b := NewBudget(walk.ReplaceOne, 1)
	size := func(v region.Node) (float64, float64) {
		d := math.Exp2(-float64(v.Level))
		return d, d / 2
	}
	for _, steps := range [][]int{{1}, {2, 2}, {6}, {4, 4}} {
		rule := Fixed{Steps: steps, Shares: make([]float64, len(steps))}
		for i := range steps {
			rule.Shares[i] = 1
		}
		row, any := Upper(binary(8), b, rule, 1000, 1e4, size, true), Upper(binary(8), b, rule, 1000, 1e4, size, false)
		if row > any || steps[0] >= 4 && row > .9*any {
			t.Errorf("%v: %v in a row, %v else", steps, row, any)
		}
		if few := Upper(binary(8), b, rule, 3, 1e12, size, true); len(steps) > 1 && few < math.Exp2(-float64(steps[0])-1) {
			t.Errorf("%v: %v, of regions that are not divided", steps, few)
		}
	}
	// Five of the sixteen parts are divided, and the counts of parts have two distributions.
	unlike := Fixed{Steps: []int{4, 1}, Shares: []float64{1, 1}}
	if row, any := Upper(binary(8), b, unlike, 27, 1e4, size, true), Upper(binary(8), b, unlike, 27, 1e4, size, false); row != any {
		t.Errorf("parts of two kinds: %v in a row, %v else", row, any)
	}
	if got := Upper(binary(8), NewBudget(walk.ReplaceOne, 1e-20), Fixed{Steps: []int{8}, Shares: []float64{1}}, 1000, 10, size, true); got != 1 {
		t.Errorf("next to no budget: %v, want the diameter", got)
	}
	if got := Upper(binary(8), NewBudget(walk.ReplaceOne, 1e50), Fixed{Steps: []int{8}, Shares: []float64{1}}, 1000, 10, size, true); !(got >= 0x1p-9 && got < 0x1p-9+1e-9) {
		t.Errorf("no noise: %v, want half a cell", got)
	}
}

// In closed form: two cells at distance 1, the number of records private. Their counts have the
// variance v at rate r, the total's average the variance u.
func TestUpper_CountsThePrivateTotal(t *testing.T) {
	const eps, n = .8, 1000.
	b := NewBudget(walk.AddRemoveOne, eps)
	rate := eps * (1 - totalShare)
	v, total := 1/(2*math.Pow(math.Sinh(rate/2), 2)), 1/(2*math.Pow(math.Sinh(eps*totalShare/2), 2))
	u := 1 / (1/total + 1/(2*v))
	a := math.Sqrt(v)/2 + math.Exp(-math.Sqrt(v)*rate)/(2*rate)
	got := Upper(star(2), b, Fixed{Steps: []int{1}, Shares: []float64{1}}, 100, n, func(region.Node) (float64, float64) { return 1, 0 }, false)
	if want := (a + math.Sqrt(u)) / n; math.Abs(got/want-1) > 1e-6 {
		t.Errorf("%v, want %v", got, want)
	}
}

// The mean of A over the noise, summed over the nodes, is less than what Upper takes for it, by as
// much as it should be (1 % is 6 deviations of the draws): on trees where the shift of leaves, the
// own noise of a part and that of what is below it all count.
func TestUpper_SurplusIsTight(t *testing.T) {
	const draws = 20000
	parents := append([]int{-1}, make([]int, 16)...) // eight cells, and eight nodes of two
	for v := 9; v <= 16; v++ {
		parents = append(parents, v, v)
	}
	mixed, _, err := walk.NewTree(parents)
	testkit.Check(t, err)
	for _, c := range []struct {
		name        string
		t           region.Tree
		steps       []int
		least, most float64 // of the bound over the mean: what Jensen's inequality costs
	}{
		{"pair", star(2), []int{1}, 1.1, 1.14}, {"sixteen", star(16), []int{1}, 1.01, 1.03},
		{"three levels", binary(3), []int{1, 1, 1}, 1.1, 1.13}, {"uneven", uneven(), []int{1, 1, 1}, 1.11, 1.135}, {"holed", holed(), []int{1, 1, 1}, 1.11, 1.135},
		{"mixed", region.NewGiven(mixed, func(int) float64 { return 1 }), []int{1, 1}, 1.068, 1.085},
	} {
		b := NewBudget(walk.ReplaceOne, 1)
		rule := Fixed{Steps: c.steps, Shares: []float64{1, 1, 1}[:len(c.steps)]}
		r := draw(c.t, b, rule, 100, func(region.Node, int64, int64) (int64, int64) { return 0, 0 })
		// The sum over the nodes: so many records that the diameter, 1, is no limit.
		const n = 1e6
		bound := n * Upper(c.t, b, rule, 100, n, func(region.Node) (float64, float64) { return 1, 0 }, false)
		rng, mean := random.Seeded(3), 0.0
		z, variance := make([]float64, len(r.Nodes)), make([]float64, len(r.Nodes))
		for range draws {
			for i := len(r.Nodes) - 1; i >= 0; i-- {
				v, sum, s, k := r.Nodes[i], 0.0, 0.0, float64(r.Nodes[i].Parts)
				if z[i], variance[i] = 0, 0; v.Quanta > 0 {
					z[i], variance[i] = float64(noise(rng, b.rate(v.Quanta))), b.Variance(v.Quanta)
				}
				if v.Parts == 0 {
					continue
				}
				at := z[v.First : v.First+v.Parts]
				for j := range at {
					sum, s = sum+at[j], s+variance[v.First+j]
				}
				if i > 0 {
					z[i], variance[i] = average(z[i], variance[i], sum, s)
				}
				middle := sum / k
				for j := range at {
					if r.Nodes[v.First+j].Parts == 0 {
						at[j] -= math.Sqrt(variance[v.First+j])
						middle -= math.Sqrt(variance[v.First+j]) / k
					}
				}
				for _, x := range at {
					mean += math.Abs(x-middle) / 2 / draws
				}
			}
		}
		if q := bound / mean; q < c.least || q > c.most {
			t.Errorf("%s: mean %v, bound %v", c.name, mean, bound)
		}
	}
}

// In closed form: k cells in a row on an interval of length 1, whose counts have the variance v.
func TestUpper_RowInClosedForm(t *testing.T) {
	const eps, n, k = .8, 1e5, 64.
	rate := eps / 2
	v := 1 / (2 * math.Pow(math.Sinh(rate/2), 2))
	dev, scale := math.Sqrt(v*(k-1))/k, (1-1/k)/rate
	a := k / 2 * (dev + scale*math.Exp(-dev/scale))
	want := ((1+1/k)/2*a + math.Sqrt(v*(k*k-1)/(12*k))) / n
	got := Upper(star(k), NewBudget(walk.ReplaceOne, eps), Fixed{Steps: []int{1}, Shares: []float64{1}}, 100, n, func(region.Node) (float64, float64) { return 1, 0 }, true)
	if math.Abs(got/want-1) > 1e-6 {
		t.Errorf("%v, want %v", got, want)
	}
}

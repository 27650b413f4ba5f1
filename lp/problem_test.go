package lp

import (
	"errors"
	"math"
	"math/big"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// wide is v in 400 bits.
func wide(v float64) *big.Float { return new(big.Float).SetPrec(400).SetFloat64(v) }

// What the bound speaks of is no less than alpha times the distances, and hardly
// more.
func TestRead_BudgetsRoundUp(t *testing.T) {
	testkit.Rounding(t)
	r := random.Seeded(6)
	for range 50 {
		alpha := r.ExpFloat64()
		f := randomMetric(t, r, 6)
		p := testkit.Must(read(t.Context(), "lp: Optimal", metric.Same(f), alpha, nil))
		for u := range 6 {
			for v := range 6 {
				want := wide(0).Mul(wide(alpha), wide(f.Distance(u, v)))
				low, _ := want.Float64()
				if e := p.budget.Distance(u, v); wide(e).Cmp(want) < 0 || e-low > 1e-15*low {
					t.Errorf("(%d, %d): %v, exactly %v", u, v, e, want)
				}
			}
		}
	}
}

// Two points that are merged lose 1/2 in the program, 1/(1+exp(e)) apart.
func TestMerge_BoundIsOfPointsApart(t *testing.T) {
	for _, e := range []float64{1e-3, .05, .3, 2} {
		b := metric.Bimetric{Privacy: space.Path(2, e), Utility: space.Path(2, 1)}
		p := testkit.Must(read(t.Context(), "lp: Optimal", b, 1, &Options{Tolerance: 1e-7}))
		g := p.merge(2 * e)
		if err := g.prepare(); err != nil {
			t.Fatal(err)
		}
		s := &Solution{}
		if err := g.solve(s, time.Now()); err != nil {
			t.Fatal(err)
		}
		certified(t, b, 1, nil, s)
		if want := 1 / (1 + math.Exp(e)); len(g.first) != 1 || s.DualBound > want || s.DualBound < .5*math.Exp(-e)*(1-1e-6) {
			t.Errorf("e=%v: %v, optimum %v", e, s, want)
		}
	}
}

// What is stated covers what a problem, its budgets and a channel keep on the heap.
func TestBytes_AgainstTheHeap(t *testing.T) {
	const n = 300
	b := metric.Same(space.Simplex(n, 1))
	before := testkit.Heap()
	p := testkit.Must(read(t.Context(), "lp: Optimal", b, 1, nil))
	g := p.merge(0)
	if err := g.impose(); err != nil {
		t.Fatal(err)
	}
	r := testkit.Must(p.constant(t.Context()))
	took, stated := testkit.Heap()-before, bytes(n, n, true)
	if took > stated || took < stated/2 {
		t.Errorf("%.3g bytes kept, %.3g stated", took, stated)
	}
	runtime.KeepAlive(p)
	runtime.KeepAlive(g)
	runtime.KeepAlive(r)
}

// exactLoss is the loss of n x n weights, the mean under a prior or the worst, in
// 400 bits.
func exactLoss(weight []float64, n int, utility metric.Finite, prior []float64) *big.Float {
	worst, mean, mass := wide(0), wide(0), wide(0)
	for u := range n {
		loss, sum := wide(0), wide(0)
		for w := range n {
			q := wide(weight[u*n+w])
			loss.Add(loss, wide(0).Mul(q, wide(utility.Distance(u, w))))
			sum.Add(sum, q)
		}
		if loss.Quo(loss, sum).Cmp(worst) > 0 {
			worst.Set(loss)
		}
		if prior != nil {
			mean.Add(mean, loss.Mul(loss, wide(prior[u])))
			mass.Add(mass, wide(prior[u]))
		}
	}
	if prior != nil {
		return mean.Quo(mean, mass)
	}
	return worst
}

// What is said of a channel's loss is at least that, and close to it: Objective,
// and what Choose compares.
func TestRelease_ObjectiveRoundsUp(t *testing.T) {
	testkit.Rounding(t)
	const n = 5
	r := random.Seeded(9)
	for i := range 200 {
		b := metric.Bimetric{Privacy: space.Simplex(n, 0), Utility: randomMetric(t, r, n)}
		o := &Options{}
		if i%2 == 1 {
			o.Prior = []float64{.1, .2, .3, .25, .15 + 5e-10*float64(r.IntN(3)-1)}
		}
		p := testkit.Must(read(t.Context(), "lp: Optimal", b, 1, o))
		weight := make([]float64, n*n)
		for i := range weight {
			weight[i] = r.Float64()
		}
		got := testkit.Must(p.release(weight))
		chosen := testkit.Must(p.lossOf(got.channel))
		want := exactLoss(weight, n, b.Utility, o.Prior)
		low, _ := want.Float64()
		if wide(got.objective).Cmp(want) < 0 || got.objective > low*(1+1e-14) || wide(chosen).Cmp(want) < 0 || chosen > low*(1+1e-12) {
			t.Errorf("objective %v, of the channel %v, exactly %v", got.objective, chosen, want)
		}
	}
}

// Every rounding on the way counts: of the loss, of the sum of a row, and of the
// quotient.
func TestRelease_EachStepRoundsUp(t *testing.T) {
	const half = 0x1.8p-53 // 1 + half rounds up to 1 + 2^-52, 1 + 2^-54 down to 1
	for _, c := range []struct{ row, from []float64 }{
		{[]float64{0, 1, 1, 1, 1, 1}, []float64{0, 1, 0x1p-54, 0x1p-54, 0x1p-54, 0x1p-54}},
		{[]float64{0, 1, half, half, half, half}, []float64{0, 1, 0, 0, 0, 0}},
		{[]float64{0, 1, 1, 1, 0, 0}, []float64{0, 1, 0, 0, 0, 0}},
	} {
		b := metric.Bimetric{Privacy: space.Simplex(6, 1), Utility: space.Formula(6, func(i, j int) float64 {
			if min(i, j) > 0 {
				return 0
			}
			return c.from[max(i, j)]
		})}
		p := testkit.Must(read(t.Context(), "lp: Optimal", b, 1, nil))
		r := testkit.Must(p.release(slices.Repeat(c.row, 6)))
		loss, sum := wide(0), wide(0)
		for w, q := range c.row {
			loss.Add(loss, wide(0).Mul(wide(q), wide(c.from[w])))
			sum.Add(sum, wide(q))
		}
		if wide(0).Mul(wide(r.objective), sum).Cmp(loss) < 0 {
			t.Errorf("weights %v: objective %v", c.row, r.objective)
		}
	}
}

// On n points pairwise 1 apart: at least the closed form, and at most the
// optimum, (n-1)/(n-1+e^alpha).
func TestLowerBound_EquidistantPoints(t *testing.T) {
	const n, alpha = 6, .7
	got := testkit.Must(LowerBound(t.Context(), metric.Same(space.Simplex(n, 1)), alpha, []int{0, 1, 2, 3, 4, 5}))
	form, most := .5*(1-1/(1+2*(n-1)*math.Exp(-alpha))), (n-1)/(n-1+math.Exp(alpha))
	if !(got.Value <= most) || got.Value < form*(1-1e-9) {
		t.Errorf("%v, want in [%v, %v]", got, form, most)
	}
}

// Theorem 3 may say more from a point outside the packing: the hub of a star of n leaves, at
// distance 1 from each, 2 from one another.
func TestLowerBound_FromOutside(t *testing.T) {
	const n, alpha = 60, 3.
	hub := metric.Same(space.Func(n+1, func(i, j int) float64 {
		if i == 0 || j == 0 {
			return 1
		}
		return 2
	}))
	leaves := make([]int, n)
	for i := range leaves {
		leaves[i] = i + 1
	}
	got := testkit.Must(LowerBound(t.Context(), hub, alpha, leaves))
	if want := 1 - 1/(n*math.Exp(-alpha)); got.Value < want {
		t.Errorf("%v, want at least %v", got, want)
	}
	if s := testkit.Must(Optimal(t.Context(), hub, alpha, nil)); s.Objective < got.Value {
		t.Errorf("%v above the optimum %v", got, s.Objective)
	}
}

// The bound is proved by its witness and lies below the optimum; what is searched
// is at least what a greedy packing proves.
func TestLowerBound_BelowTheOptimum(t *testing.T) {
	b := metric.Same(referencePoints(t, 20))
	for _, alpha := range []float64{.1, .5, 1, 3} {
		s := testkit.Must(Optimal(t.Context(), b, alpha, nil))
		searched := testkit.Must(entropy.LowerBounds(t.Context(), b, alpha, nil))[0]
		for _, separation := range []float64{.5, 1, 2, 4, 8} {
			net := testkit.Must(metric.Net(t.Context(), b.Utility, separation, nil))
			given := testkit.Must(LowerBound(t.Context(), b, alpha, net))
			if given.Value > searched.Value || given.Value > s.Objective {
				t.Errorf("alpha=%v: a packing of %d proves %v, the search %v, optimum %v", alpha, len(net), given, searched, s)
			}
			if proved, err := given.Witness.Prove(t.Context(), b, alpha); err != nil || proved != given.Value {
				t.Errorf("alpha=%v: %v, its witness %v %v", alpha, given, proved, err)
			}
		}
	}
}

// Budgets that are computed are those stored, to the bit, between classes of several inputs too.
func TestBudgets_ComputedToTheBit(t *testing.T) {
	r := random.Seeded(62)
	points := make([][]float64, 30)
	for u := range points {
		points[u] = []float64{6 * r.Float64(), 6 * r.Float64()}
	}
	f := space.Euclidean(points)
	p := testkit.Must(read(t.Context(), "lp: Optimal", metric.Same(f), .3, nil))
	q := *p
	q.budget = computed{f, .3}
	for _, threshold := range []float64{0, .2} {
		stored, other := p.merge(threshold).budgets(), q.merge(threshold).budgets()
		if k := stored.Len(); k != other.Len() || (k < p.n) != (threshold > 0) {
			t.Fatalf("threshold %v: %d classes, %d computed", threshold, k, other.Len())
		}
		for c := range stored.Len() {
			row := finite.Row(other, c, nil)
			for d, e := range finite.Row(stored, c, nil) {
				if row[d] != e || other.Distance(c, d) != e {
					t.Fatalf("threshold %v: (%d, %d): %v, %v in its row, stored %v", threshold, c, d, other.Distance(c, d), row[d], e)
				}
			}
		}
	}
}

// Where budgets do not fit they are computed, and all that is solved is the same.
func TestBudgets_ComputedAreThoseStored(t *testing.T) {
	lower(t, 30, 30)
	least := leastComputed
	leastComputed = 30
	t.Cleanup(func() { leastComputed = least })
	r, iterations := random.Seeded(61), 0
	for i := range testkit.Sweep(4, 40) {
		n := 40 + r.IntN(20)
		points := make([][]float64, n)
		for u := range points {
			points[u] = []float64{6 * r.Float64(), 6 * r.Float64()}
		}
		points[0] = points[n/2] // a class of two
		f, alpha := space.Euclidean(points), []float64{.5, 1, 2}[i%3]
		outputs := r.Perm(n)[:4]
		solved := func(limit float64) *Solution {
			p := testkit.Must(read(t.Context(), "lp: Optimal", metric.Same(f), alpha, &Options{Outputs: outputs, MemoryLimit: limit}))
			if _, stored := p.budget.(finite.Square); stored != (limit == 0) || stored != p.stores() {
				t.Fatalf("limit %v: stored %v", limit, stored)
			}
			p.o.MemoryLimit = 1e9
			p.begin()
			s := p.solution()
			s.keep(testkit.Must(p.constant(t.Context())))
			p.start(s, time.Now())
			testkit.Check(t, p.improve(t.Context(), s, time.Now()))
			return s
		}
		want := solved(0)
		got := solved(bytes(n, 4, false))
		if got.Objective != want.Objective || got.DualBound != want.DualBound || got.Iterations != want.Iterations {
			t.Errorf("space %d: %v computed, %v stored", i, got, want)
		}
		iterations += got.Iterations
		_, err := read(t.Context(), "lp: Optimal", metric.Same(f), alpha, &Options{Outputs: []int{0, 1, 2, 3}, MemoryLimit: bytes(n, 4, false) - 1})
		if most := (*metric.MemoryError)(nil); !errors.As(err, &most) {
			t.Errorf("space %d: error %v", i, err)
		}
	}
	if iterations == 0 {
		t.Error("no program was solved")
	}
}

package lp

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/ipm"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// Whatever columns leave out, and wherever the program ends, what the mean proves is below the optimum,
// and at the end near it.
func TestMean_ProvesABound(t *testing.T) {
	r := random.Seeded(57)
	for i := range testkit.Sweep(3, 12) {
		n, alpha := 50+r.IntN(30), []float64{1.2, 2.5}[i%2]
		points := make([][]float64, n)
		for u := range points {
			points[u] = []float64{float64(n) / 4 * r.Float64(), 4 * r.Float64()}
			if i%4 == 1 && u > n-9 { // some lie at one place
				points[u] = points[0]
			}
		}
		b, o := metric.Same(space.Euclidean(points)), &Options{}
		if i%4 > 1 {
			o.Outputs = r.Perm(n)[:n*2/3]
		}
		best := testkit.Must(Optimal(t.Context(), b, alpha, &Options{Outputs: o.Outputs, Tolerance: .01}))
		whole := endAfter(t.Context(), math.MaxInt64)
		for round := range 3 {
			p := testkit.Must(read(t.Context(), "test", b, alpha, o))
			s := p.solution()
			s.keep(testkit.Must(p.constant(t.Context())))
			s.Objective = best.Objective
			e := &extension{problem: p, s: s, stage: func() {}}
			k, _, err := e.newKernel(nil, 0)
			testkit.Check(t, err)
			prog, _, err := e.meanProgram(upTo(n), testkit.Must(k.Prior()))
			testkit.Check(t, err)
			if size := prog.LazySize(); size.Entries > float64(n*p.m*2/3) {
				t.Errorf("space %d: %v of %d entries", i, size.Entries, n*p.m)
			}
			p.ctx = whole
			err = e.mean(k)
			looks := max(1, math.MaxInt64-whole.left.Load())
			least := 0.0
			if o.Outputs == nil && round == 0 {
				least = .7
			}
			if s.DualBound > best.Objective || s.DualBound < least*best.DualBound || round == 0 && (err != nil || s.BoundBy != boundByMean) {
				t.Errorf("space %d: n=%d, alpha=%v: bound %v, optimum %v", i, n, alpha, s.DualBound, best)
			}
			held(t, b, alpha, o, s)
			whole = endAfter(t.Context(), r.Int64N(looks))
		}
	}
}

// In exact arithmetic what is added to a cost takes no more than is above the ceiling of the input that
// pays, and the bound is no more than the prices prove.
func TestMean_RoundsDown(t *testing.T) {
	r, exact, paid := random.Seeded(58), testkit.Ratio, 0
	for i := range 600 {
		far, objective, loss := 3*r.Float64(), 1+r.Float64()/4, []float64{0, r.Float64(), 2 + r.Float64()}
		prior := []float64{r.Float64(), r.Float64(), r.Float64()}
		switch i % 5 {
		case 0: // other roundings hide none of what is to spare
			far, loss[1], prior[1], loss[2] = 0, 0, 1, 9*loss[2]
		case 1: // the cost is about its ceiling
			loss[2] = meanCeiling * objective
		}
		f := space.Formula(3, func(i, j int) float64 {
			return []float64{4, 7, far}[i+j-1] // input 2 is left out, and pays to 1
		})
		p := testkit.Must(read(t.Context(), "test", metric.Same(f), 1, &Options{Outputs: []int{0}, Loss: func(x, _ int) float64 { return loss[x] }}))
		e := &extension{problem: p, s: &Solution{Objective: objective}}
		prog, ceiling, err := e.meanProgram(upTo(3), prior)
		testkit.Check(t, err)
		if !slices.Equal(prog.Support[0], []int32{0, 1}) {
			continue // there is nothing above the ceiling
		}
		spare := new(big.Rat).Mul(exact(prior[2]), exact(p.scaled[2]))
		if spare.Sub(spare, exact(ceiling[2])).Sign() < 0 {
			t.Errorf("a cost of %v is below its ceiling", prior[2]*p.scaled[2])
		}
		more := new(big.Rat).Sub(exact(prog.Loss[1]), exact(p.scaled[1]))
		if more.Sign() > 0 {
			paid++
		}
		more.Mul(more, exact(prior[1]))
		if more.Mul(more, exact(directed.ExpUp(p.budget.Distance(1, 2)))).Cmp(spare) > 0 {
			t.Errorf("%v is paid of %v", more.FloatString(20), spare.FloatString(20))
		}
		prices := []float64{r.Float64(), r.Float64(), r.Float64()}
		sum, mass := new(big.Rat), new(big.Rat)
		for u, y := range prices {
			sum.Add(sum, exact(min(y, ceiling[u])))
			mass.Add(mass, exact(prior[u]))
		}
		if got := proved(prices, ceiling, prior); exact(got).Cmp(sum.Quo(sum, mass)) > 0 || got < 1e-3 {
			t.Errorf("bound %v is more than %v", got, sum.FloatString(20))
		}
	}
	if paid < 300 {
		t.Errorf("%d of 600 pay", paid)
	}
}

// Where the whole program does not fit the memory, it is the bound of what Optimal begins with.
func TestExtended_MeanWhereAllIsTooMuch(t *testing.T) {
	const n = 160
	b := metric.Same(scattered(n))
	p := testkit.Must(read(t.Context(), "test", b, 1, &Options{}))
	s := p.solution()
	s.keep(testkit.Must(p.constant(t.Context())))
	p.o.MemoryLimit = p.bytes() + ipm.WholeSize(n, n, n).Bytes() - 1
	testkit.Check(t, (&extension{problem: p, s: s, anchors: 30, stage: func() {}}).run())
	if s.BoundBy != boundByMean || s.Method != MethodKernel || s.Gap > .15 || s.Iterations == 0 {
		t.Error(s)
	}
	certified(t, b, 1, nil, s)
}

package lp

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// What a problem starts with encloses the optimum of the simplex method: two metrics
// or a loss that is none, some outputs or all, the worst case or a prior. In the worst
// case no mechanism has a mean loss below the bound under the prior that comes with it.
func TestStart_HoldsTheOptimum(t *testing.T) {
	r := random.Seeded(18)
	by, shares := map[string]int{}, 0.0
	const spaces = 120
	for i := range spaces {
		n := 2 + i%5
		m := 1 + r.IntN(n+2)
		private := randomMetric(t, r, n)
		loss := make(lossTable, n)
		for x := range loss {
			loss[x] = make([]float64, n+2)
			for y := range loss[x] {
				loss[x][y] = max(0, 2*r.Float64()-.5)
			}
		}
		b := metric.Bimetric{Privacy: private, Utility: loss}
		o := Options{Outputs: r.Perm(n + 2)[:m], Loss: loss.Distance}
		if i%3 == 0 {
			b, o = metric.Same(private), Options{Outputs: r.Perm(n)}
		}
		if i%2 == 1 {
			o.Prior = testkit.Distribution(r, n, func(u int) bool { return u > 0 && r.IntN(4) == 0 })
		}
		d, _, _, _ := metric.Diameter(t.Context(), private)
		alpha := math.Exp(-2+5*r.Float64()) / d
		p := testkit.Must(read(t.Context(), "test", b, alpha, &o))
		s := &Solution{Prior: distribution(o.Prior, n)}
		s.keep(testkit.Must(p.constant(t.Context())))
		p.start(s, time.Now())
		certified(t, b, alpha, o.Prior, s)
		lo, hi := simplexOptimum(t, b, alpha, o.Outputs, o.Prior)
		if s.DualBound > hi || s.Objective < lo {
			t.Errorf("space %d, n=%d, alpha=%v, outputs %v, prior %v: %v, simplex method [%v, %v]", i, n, alpha, o.Outputs, o.Prior, s, lo, hi)
		}
		by[s.BoundBy]++
		by[string(s.Method)]++
		shares += (s.DualBound + 1e-9) / (hi + 1e-9) / spaces
		if o.Prior != nil {
			continue
		}
		if _, hi := simplexOptimum(t, b, alpha, o.Outputs, s.Prior); s.DualBound > hi*(1+1e-12) {
			t.Errorf("space %d: %v, and a mean loss of %v under %v", i, s, hi, s.Prior)
		}
	}
	if shares < .75 || by[boundByNearest] == 0 || by[boundByStar] == 0 || by[string(exponential.MethodTuned)] == 0 || by["tight weights"] == 0 {
		t.Errorf("bounds are %v of the optimum on average, %v", shares, by)
	}
	t.Logf("bounds are %.3f of the optimum on average, %v", shares, by)
}

// On equidistant points stars prove the optimum, (k-1)/(k-1+e^alpha), and no ulp more, in
// the worst case and under the uniform prior.
func TestStart_StarsAreRoundedDown(t *testing.T) {
	testkit.Rounding(t)
	r := random.Seeded(19)
	for i := range 400 {
		k, alpha := 2+i%4, math.Exp(6*r.Float64()-4)
		o := &Options{}
		if i%8 > 3 {
			o.Prior = slices.Repeat([]float64{(1 + .99*priorTol) / float64(k)}, k) // as far from 1 as is allowed
		}
		p := testkit.Must(read(t.Context(), "test", metric.Same(space.Simplex(k, 1)), alpha, o))
		s := &Solution{Objective: 1}
		p.star(t.Context(), p.cells(p.m, p.loss), s)
		_, most := exact.ExpBounds(big.NewFloat(alpha), 200)
		others := wide(float64(k - 1))
		want := wide(0).Quo(others, wide(0).Add(others, most))
		if v, _ := want.Float64(); wide(s.DualBound).Cmp(want) > 0 || s.DualBound < v*(1-1e-8) {
			t.Fatalf("k = %d, alpha = %v, prior %v: %v, the optimum is %v", k, alpha, o.Prior, s.DualBound, want)
		}
	}
}

// The loss of a channel of logarithmic weights is no less than it is exactly, however
// small its probabilities.
func TestStart_LossIsRoundedUp(t *testing.T) {
	testkit.Rounding(t)
	r := random.Seeded(20)
	for i := range 100 {
		ratio := 8 * (r.Float64() - .5) // of the output that costs 1 to the other
		if i == 0 {
			ratio = -800 // below 2^-1022
		}
		p := testkit.Must(read(t.Context(), "test", metric.Bimetric{Privacy: space.Simplex(1, 1)}, 1, &Options{
			Outputs: []int{0, 1}, Loss: func(_, y int) float64 { return float64(y) }}))
		got := testkit.Must(p.lossOf(testkit.Must(mechanism.FromLogWeights(t.Context(), 1, 2, []float64{0, ratio}, nil))))
		least, _ := exact.ExpBounds(big.NewFloat(ratio), 200)
		want := wide(0).Quo(least, wide(0).Add(least, wide(1)))
		if v, _ := want.Float64(); wide(got).Cmp(want) < 0 || got > v*(1+1e-12)+0x1p-1021 {
			t.Fatalf("weights 0 and %v: %v, exactly %v", ratio, got, want)
		}
	}
}

// Canceled before it begins and after some iterations, and out of time, every search
// returns a certified mechanism and says why it ended.
func TestStopped_ReturnsWhatItHas(t *testing.T) {
	testkit.Slow(t)
	points := metric.Same(referencePoints(t, 30))
	optimal := func(b metric.Bimetric, alpha, tolerance float64) func(context.Context, Options) (*Solution, error) {
		return func(ctx context.Context, o Options) (*Solution, error) {
			o.Tolerance = tolerance
			s, err := Optimal(ctx, b, alpha, &o)
			if s != nil {
				certified(t, b, alpha, nil, s)
			}
			return s, err
		}
	}
	for _, c := range []struct {
		name   string
		counts bool // iterations, from 0
		solve  func(ctx context.Context, o Options) (*Solution, error)
	}{
		{"Optimal", true, optimal(points, .5, 0)},
		{"Optimal, lazy", false, optimal(metric.Same(space.Halton(70)), 5, 1e-9)},
		{"Spanner", false, func(ctx context.Context, o Options) (*Solution, error) {
			s, err := Spanner(ctx, points, .5, &SpannerOptions{Options: o})
			if s == nil {
				return nil, err
			}
			certified(t, points, .5, nil, &s.Solution)
			return &s.Solution, err
		}},
		{"ConstOPT", true, func(ctx context.Context, o Options) (*Solution, error) {
			s, err := ConstOPT(ctx, points, .5, &ConstOptions{Progress: o.Progress, TimeLimit: o.TimeLimit})
			if s == nil {
				return nil, err
			}
			constCertified(t, points, .5, s)
			return &Solution{Status: s.Status, Iterations: s.Iterations}, err
		}},
	} {
		for _, at := range []int{-1, 0, 5, 12} {
			if at < 0 && c.name == "Spanner" {
				continue // it has no graph yet
			}
			ctx, cancel := context.WithCancel(t.Context())
			if at < 0 {
				cancel()
			}
			gap := 1 - 1e-5 // one star proves something
			s, err := c.solve(ctx, Options{Progress: func(i int, g float64, _ time.Duration) {
				if gap = min(gap, g); i == at {
					cancel()
				}
			}})
			cancel()
			if !errors.Is(err, context.Canceled) || s == nil || s.Status != StatusCanceled {
				t.Fatalf("%s, canceled at %d: %v, %v", c.name, at, s, err)
			}
			if c.counts && s.Iterations != max(0, at) || c.name == "Optimal" && s.Gap > gap+1e-6 {
				t.Errorf("%s, canceled at %d with gap %v: %v", c.name, at, gap, s)
			}
		}
		if s, err := c.solve(t.Context(), Options{TimeLimit: 1}); err != nil || s.Status != StatusTimeLimit {
			t.Errorf("%s, time limit: %v, %v", c.name, s, err)
		}
	}
}

// A time limit ends whatever is under way within half a second, reading aside, and what
// comes back is certified and has a bound.
func TestTimeLimit_EndsWithinHalfASecond(t *testing.T) {
	type search func(b metric.Bimetric, o Options) (*Solution, error)
	optimal := func(b metric.Bimetric, o Options) (*Solution, error) { return Optimal(t.Context(), b, .5, &o) }
	choose := func(b metric.Bimetric, o Options) (*Solution, error) {
		c, err := Choose(t.Context(), b, .5, &o)
		if err != nil {
			return nil, err
		}
		return &Solution{Channel: c.Channel, Audited: c.Audited, Objective: c.Objective, DualBound: c.LowerBound, Gap: c.Gap, Prior: distribution(nil, b.Privacy.Len())}, nil
	}
	spanner := func(b metric.Bimetric, o Options) (*Solution, error) {
		s, err := Spanner(t.Context(), b, .5, &SpannerOptions{Options: o})
		return &s.Solution, err
	}
	constant := func(b metric.Bimetric, o Options) (*Solution, error) {
		c, err := ConstOPT(t.Context(), b, .5, &ConstOptions{TimeLimit: o.TimeLimit})
		return &Solution{Channel: c.Channel, Audited: c.Audited, Objective: c.Objective, DualBound: math.SmallestNonzeroFloat64, Gap: 1, Prior: distribution(nil, b.Privacy.Len())}, err
	}
	for _, c := range []struct {
		name    string
		n, k    int
		limit   time.Duration
		search  search
		reading int // of the distances, how often
	}{
		{"few outputs", 700, 10, 100 * time.Millisecond, optimal, 1},
		{"extended", 500, 60, 120 * time.Millisecond, optimal, 1},
		{"choice", 300, 30, 80 * time.Millisecond, choose, 3},
		{"spanner", 100, 100, 50 * time.Millisecond, spanner, 8},
		{"constant budget", 200, 200, 50 * time.Millisecond, constant, 1},
		{"few outputs of many", 5041, 20, 10 * time.Second, optimal, 1},
		{"many outputs of many", 5041, 100, 10 * time.Second, optimal, 1},
		{"choice of many", 3000, 300, 5 * time.Second, choose, 3},
	}[:testkit.Sweep(5, 8)] {
		f := scattered(c.n)
		outputs, _, err := metric.FarthestFirst(t.Context(), f, c.k, 0)
		testkit.Check(t, err)
		o := Options{Outputs: outputs, TimeLimit: c.limit}
		clock := testkit.StartClock()
		testkit.Must(testkit.Must(read(t.Context(), "test", metric.Same(f), .5, &o)).constant(t.Context()))
		reading := clock.Took() * time.Duration(c.reading)
		clock = testkit.StartClock()
		s := testkit.Must(c.search(metric.Same(f), o))
		if took := clock.Took(); took > c.limit+reading+500*time.Millisecond || !(s.DualBound > 0) || s.Audited.Hi > .5 {
			t.Errorf("%s: limit %v, reading %v, took %v: %v", c.name, c.limit, reading, took, s)
		}
		if c.k > 10 || c.n < 1000 {
			certified(t, metric.Same(f), .5, nil, s)
		}
	}
}

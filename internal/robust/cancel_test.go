package robust

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/internal/rng"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/tsp"
	"github.com/metricdp/metricdp/wasserstein"
)

// prompt is how soon a call returns once its context is done, on two cores that do
// nothing else.
const prompt = 500 * time.Millisecond

// longCall is a call that takes many seconds on the space that its field on names.
type longCall struct {
	name string
	on   func(n int) metric.Finite
	n    int
	call func(ctx context.Context, f metric.Finite) error
}

// Spaces of n points: in the plane, with an index; in 40 dimensions, without one,
// and on the globe; a tree; and equidistant points.
var (
	flat = space.Halton
	high = func(n int) metric.Finite {
		r, pts := rng.Seeded(1), make([][]float64, n)
		for i := range pts {
			pts[i] = make([]float64, 40)
			for k := range pts[i] {
				pts[i][k] = r.Float64()
			}
		}
		return must(metric.NewPoints(pts, metric.Manhattan{}))
	}
	globe = func(n int) metric.Finite {
		r, pts := rng.Seeded(2), make([]metric.LatLon, n)
		for i := range pts {
			pts[i] = metric.LatLon{Lat: 48 + r.Float64(), Lon: 2 + r.Float64()}
		}
		return must(metric.NewPoints(pts, metric.GreatCircle{}))
	}
	woods       = func(n int) metric.Finite { return space.Tree(n, 0.1, rng.Seeded(3)) }
	equidistant = func(n int) metric.Finite { return space.Constant(n, 1) }
)

func random(n int) []float64 { return testkit.Distribution(rng.Seeded(uint64(n)), n, nil) }

func uniformly(n int) []float64 { return slices.Repeat([]float64{1 / float64(n)}, n) }

// two is the second metric beside f.
func two(f metric.Finite) metric.Bimetric {
	return metric.Bimetric{Privacy: f, Utility: flat(f.Len())}
}

func err1[T any](_ T, err error) error                 { return err }
func err2[S, T any](_ S, _ T, err error) error         { return err }
func err3[R, S, T any](_ R, _ S, _ T, err error) error { return err }

var longCalls = []longCall{
	{"metric.DensifyContext", globe, 30_000, func(ctx context.Context, f metric.Finite) error { return err1(metric.DensifyContext(ctx, f)) }},
	{"metric.DiameterContext", high, 30_000, func(ctx context.Context, f metric.Finite) error { return err3(metric.DiameterContext(ctx, f)) }},
	{"metric.RadiusContext", high, 30_000, func(ctx context.Context, f metric.Finite) error { return err2(metric.RadiusContext(ctx, f)) }},
	{"metric.MinDistanceContext", high, 30_000, func(ctx context.Context, f metric.Finite) error { return err3(metric.MinDistanceContext(ctx, f)) }},
	{"metric.MinPositiveDistanceContext", equidistant, 50_000, func(ctx context.Context, f metric.Finite) error {
		return err3(metric.MinPositiveDistanceContext(ctx, f))
	}},
	{"metric.Bimetric.LipschitzContext", globe, 20_000, func(ctx context.Context, f metric.Finite) error { return err3(two(f).LipschitzContext(ctx)) }},
	{"metric.SubdominantContext", high, 20_000, func(ctx context.Context, f metric.Finite) error { return err1(metric.SubdominantContext(ctx, f)) }},
	{"metric.AsUltrametric", equidistant, 50_000, func(ctx context.Context, f metric.Finite) error { return err1(metric.AsUltrametric(ctx, f)) }},
	{"metric.ValidateUltrametricContext", equidistant, 50_000, func(ctx context.Context, f metric.Finite) error {
		return metric.ValidateUltrametricContext(ctx, f, 0)
	}},
	{"metric.Validate", globe, 4000, func(ctx context.Context, f metric.Finite) error {
		return metric.Validate(f, &metric.ValidateOptions{Context: ctx, MaxTriples: math.MaxInt})
	}},
	{"metric.NearestNeighborsContext", high, 20_000, func(ctx context.Context, f metric.Finite) error {
		return err1(metric.NearestNeighborsContext(ctx, f, 8))
	}},
	{"metric.ReverseNeighborsContext", high, 20_000, func(ctx context.Context, f metric.Finite) error {
		return err1(metric.ReverseNeighborsContext(ctx, f, 8))
	}},
	{"metric.Net", high, 20_000, func(ctx context.Context, f metric.Finite) error {
		return err1(metric.Net(f, 0.1, &metric.NetOptions{Context: ctx}))
	}},
	{"metric.FarthestFirstContext", high, 20_000, func(ctx context.Context, f metric.Finite) error {
		return err2(metric.FarthestFirstContext(ctx, f, f.Len(), 0))
	}},
	{"metric.AssignContext", high, 30_000, func(ctx context.Context, f metric.Finite) error {
		at := make([]int, f.Len()/2)
		for i := range at {
			at[i] = 2 * i
		}
		return err2(metric.AssignContext(ctx, f, at))
	}},
	{"metric.SpannerContext", globe, 3000, func(ctx context.Context, f metric.Finite) error { return err1(metric.SpannerContext(ctx, f, 1.5)) }},

	{"mechanism.NewChannel", globe, 10_000, func(ctx context.Context, f metric.Finite) error {
		return err1(mechanism.NewChannel(mechanism.Rows{Inputs: f.Len(), Outputs: f.Len(), Log: true,
			Fill: func(x int, dst []float64) { metric.Row(f, x, dst) }}, &mechanism.ChannelOptions{Context: ctx}))
	}},
	{"mechanism.Channel.Audit", flat, 2500, func(ctx context.Context, f metric.Finite) error {
		return err1(lazily(f).Audit(f, &mechanism.AuditOptions{Context: ctx}))
	}},
	{"mechanism.Channel.Audit, delta", flat, 1500, func(ctx context.Context, f metric.Finite) error {
		return err1(lazily(f).Audit(f, &mechanism.AuditOptions{Context: ctx, Delta: 1e-9}))
	}},
	{"mechanism.Channel.LossContext", flat, 20_000, func(ctx context.Context, f metric.Finite) error { return err1(lazily(f).LossContext(ctx, f)) }},
	{"mechanism.Channel.RemapContext", flat, 3000, func(ctx context.Context, f metric.Finite) error { return err1(lazily(f).RemapContext(ctx, nil, f)) }},

	{"exponential.Standard", flat, 4000, built(exponential.Standard)},
	{"exponential.Standard, lazy", equidistant, 50_000, func(ctx context.Context, f metric.Finite) error {
		return err1(exponential.Standard(f, 1, &exponential.Options{Context: ctx, Lazy: true}))
	}},
	{"exponential.Tuned", flat, 3000, built(exponential.Tuned)},
	{"exponential.Tight", flat, 6000, built(exponential.Tight)},
	{"exponential.Tight, by Gauss", high, 5000, built(exponential.Tight)},
	{"exponential.ConstantNormalizer", equidistant, 30_000, built(exponential.ConstantNormalizer)},
	{"exponential.Relaxed", flat, 3000, func(ctx context.Context, f metric.Finite) error {
		return err1(exponential.Relaxed(two(f), 5, &exponential.RelaxedOptions{Context: ctx, Tuned: true}))
	}},
	{"exponential.MostPrivate", flat, 2500, func(ctx context.Context, f metric.Finite) error {
		return err1(exponential.MostPrivate(two(f), uniformly(f.Len()), exponential.Target{Gamma: 0.1, Delta: 0.1}, &exponential.Options{Context: ctx}))
	}},
	{"exponential.Best", globe, 50_000, func(ctx context.Context, f metric.Finite) error {
		return err1(exponential.Best(metric.Same(f), 1, &exponential.BestOptions{Context: ctx}))
	}},
	{"exponential.Best, remapped", flat, 2500, func(ctx context.Context, f metric.Finite) error {
		return err1(exponential.Best(two(f), 1, &exponential.BestOptions{Context: ctx, Remap: true}))
	}},

	{"lp.Optimal", flat, 1500, func(ctx context.Context, f metric.Finite) error {
		return err1(lp.Optimal(metric.Same(f), 5, &lp.Options{Context: ctx}))
	}},
	{"lp.Optimal, all constraints", flat, 100, func(ctx context.Context, f metric.Finite) error {
		return err1(lp.Optimal(metric.Same(f), 5, &lp.Options{Context: ctx}))
	}},
	{"lp.Optimal, sparse", woods, 1200, func(ctx context.Context, f metric.Finite) error {
		return err1(lp.Optimal(metric.Same(f), 1, &lp.Options{Context: ctx}))
	}},
	{"lp.ConstOPT", flat, 1500, func(ctx context.Context, f metric.Finite) error {
		return err1(lp.ConstOPT(metric.Same(f), 5, &lp.ConstOptions{Context: ctx}))
	}},
	{"lp.Spanner", flat, 500, func(ctx context.Context, f metric.Finite) error {
		return err1(lp.Spanner(metric.Same(f), 5, &lp.SpannerOptions{Options: lp.Options{Context: ctx}}))
	}},
	{"lp.Choose", flat, 1500, func(ctx context.Context, f metric.Finite) error {
		return err1(lp.Choose(two(f), 5, &lp.ChooseOptions{Context: ctx}))
	}},

	{"entropy.Accuracy", flat, 1500, func(ctx context.Context, f metric.Finite) error {
		return err1(entropy.Accuracy(two(f), 5, &entropy.Options{Context: ctx}))
	}},
	{"entropy.LowerBounds", high, 1500, func(ctx context.Context, f metric.Finite) error {
		return err1(entropy.LowerBounds(metric.Same(f), 1, &entropy.Options{Context: ctx}))
	}},
	{"entropy.EntropicScale", high, 3000, func(ctx context.Context, f metric.Finite) error {
		return err1(entropy.EntropicScale(two(f), 1, &entropy.Options{Context: ctx}))
	}},
	{"entropy.DiametricScale", high, 4000, func(ctx context.Context, f metric.Finite) error {
		return err1(entropy.DiametricScale(two(f), 1, &entropy.Options{Context: ctx}))
	}},
	{"entropy.DoublingScale", flat, 3000, func(ctx context.Context, f metric.Finite) error {
		return err1(entropy.DoublingScale(f, 5, &entropy.Options{Context: ctx}))
	}},
	{"entropy.OuterScale", flat, 3000, func(ctx context.Context, f metric.Finite) error {
		return err1(entropy.OuterScale(f, 5, &entropy.Options{Context: ctx}))
	}},
	{"entropy.Packing", flat, 3000, func(ctx context.Context, f metric.Finite) error {
		return err1(entropy.Packing(f, nil, 0.05, &entropy.Options{Context: ctx, Nodes: math.MaxInt}))
	}},
	{"entropy.Covering", flat, 3000, func(ctx context.Context, f metric.Finite) error {
		return err1(entropy.Covering(f, nil, 0.05, &entropy.Options{Context: ctx, Nodes: math.MaxInt}))
	}},
	{"entropy.PositiveMeasure", high, 8000, func(ctx context.Context, f metric.Finite) error {
		return err1(entropy.PositiveMeasure(f, &entropy.Options{Context: ctx}))
	}},
	{"entropy.BallMass", high, 15_000, func(ctx context.Context, f metric.Finite) error {
		return err2(entropy.BallMass(f, uniformly(f.Len()), 1, &entropy.Options{Context: ctx}))
	}},
	{"entropy.PrivateMeasureBound", flat, 20_000, func(ctx context.Context, f metric.Finite) error {
		return err1(entropy.PrivateMeasureBound(f, 5, &entropy.Options{Context: ctx}))
	}},

	{"tsp.Solve", flat, 50_000, func(ctx context.Context, f metric.Finite) error {
		return err1(tsp.Solve(f, &tsp.Options{Context: ctx}))
	}},
	{"tsp.Solve, without an index", high, 4000, func(ctx context.Context, f metric.Finite) error {
		return err1(tsp.Solve(f, &tsp.Options{Context: ctx}))
	}},
	{"tsp.DoubleTree", high, 15_000, func(ctx context.Context, f metric.Finite) error {
		return err1(tsp.DoubleTree(f, &tsp.Options{Context: ctx}))
	}},
	{"tsp.Greedy", high, 10_000, func(ctx context.Context, f metric.Finite) error {
		return err1(tsp.Greedy(f, &tsp.Options{Context: ctx}))
	}},
	{"tsp.MSTContext", high, 20_000, func(ctx context.Context, f metric.Finite) error { return err1(tsp.MSTContext(ctx, f)) }},
	{"tsp.CoveringIntegralContext", high, 10_000, func(ctx context.Context, f metric.Finite) error { return err1(tsp.CoveringIntegralContext(ctx, f)) }},
	{"tsp.HeldKarpBound", flat, 20_000, func(ctx context.Context, f metric.Finite) error {
		return err1(tsp.HeldKarpBound(f, &tsp.BoundOptions{Context: ctx}))
	}},

	{"wasserstein.W1", flat, 12_000, func(ctx context.Context, f metric.Finite) error {
		return err1(wasserstein.W1(f, random(f.Len()), uniformly(f.Len()), &wasserstein.Options{Context: ctx}))
	}},
	{"wasserstein.W1, lazy", globe, 8000, func(ctx context.Context, f metric.Finite) error {
		return err1(wasserstein.W1(f, random(f.Len()), uniformly(f.Len()), &wasserstein.Options{Context: ctx, Lazy: true}))
	}},
	{"wasserstein.Assignment", high, 6000, func(ctx context.Context, f metric.Finite) error {
		half := make([][]int, 2)
		for i := range f.Len() {
			half[i%2] = append(half[i%2], i)
		}
		c, err := wasserstein.Distances(f, half[0], half[1])
		if err != nil {
			return err
		}
		return err1(wasserstein.Assignment(c, &wasserstein.Options{Context: ctx}))
	}},
	{"wasserstein.Project", flat, 12_000, func(ctx context.Context, f metric.Finite) error {
		g := random(f.Len())
		for i := range g {
			g[i] = 2*g[i] - 1/float64(len(g))
		}
		return err1(wasserstein.Project(f, g, &wasserstein.Options{Context: ctx}))
	}},

	{"measure.NewFinite", high, 40_000, func(ctx context.Context, f metric.Finite) error {
		return err1(measure.NewFinite(f, &measure.FiniteOptions{Context: ctx}))
	}},
	{"measure.NewFolded", high, 8000, func(ctx context.Context, f metric.Finite) error {
		return err1(measure.NewFolded(f, &measure.FiniteOptions{Context: ctx, Tour: true}))
	}},
	{"measure.Measure.Bound", flat, 1000, func(ctx context.Context, f metric.Finite) error {
		m, err := measure.NewMeasure(must(measure.NewFinite(f, nil)), 1, nil)
		if err != nil {
			return err
		}
		return err1(m.Bound(&measure.BoundOptions{Context: ctx, Draws: 1 << 20}))
	}},
	{"emd.LipschitzAtLeast", high, 10_000, func(ctx context.Context, f metric.Finite) error {
		return err1(emd.LipschitzAtLeast(ctx, steep(), f.(*metric.Points[[]float64])))
	}},
}

func steep() emd.Query[[]float64] { return emd.Average(additive.Norm{P: 1, Dim: 40}) }

func built(build func(metric.Finite, float64, *exponential.Options) (*exponential.Mechanism, error)) func(context.Context, metric.Finite) error {
	return func(ctx context.Context, f metric.Finite) error {
		return err1(build(f, 20, &exponential.Options{Context: ctx}))
	}
}

// lazily is a channel that is computed as it is read.
func lazily(f metric.Finite) *mechanism.Channel {
	return must(mechanism.NewChannel(mechanism.Rows{Inputs: f.Len(), Outputs: f.Len(), Log: true, Fill: func(x int, dst []float64) {
		for y, d := range metric.Row(f, x, dst) {
			dst[y] = -d
		}
	}}, &mechanism.ChannelOptions{Lazy: true}))
}

// busy is how many times longer than on an idle machine work takes: the time of a
// fixed amount of it on every core, over the least that it ever took here.
var busy = func() func() float64 {
	least := time.Hour
	return func() float64 {
		began := time.Now()
		var wg sync.WaitGroup
		for range runtime.GOMAXPROCS(0) {
			wg.Go(func() {
				s := uint64(1)
				for range 5_000_000 {
					s = s*6364136223846793005 + 1442695040888963407
				}
				runtime.KeepAlive(s)
			})
		}
		wg.Wait()
		took := time.Since(began)
		least = min(least, took)
		return float64(took) / float64(least)
	}
}()

// TestCalls_ReturnPromptly cancels every long call at random moments: it returns the
// context's error within prompt, and leaves no goroutine behind. METRICDP_LONG takes
// the sizes at which calls last for many seconds, and cancels anywhere in them; by
// default spaces have a quarter of the points, and calls are canceled at the start.
func TestCalls_ReturnPromptly(t *testing.T) {
	long := os.Getenv("METRICDP_LONG") != ""
	shrink, moments, latest := 4, 1, 30*time.Millisecond
	if long {
		shrink, moments, latest = 1, 3, 4*time.Second
	} else if testing.Short() || testkit.Race {
		t.Skip("some seconds, and slower under the race detector")
	}
	r := rng.Seeded(14)
	for _, c := range longCalls {
		t.Run(c.name, func(t *testing.T) {
			f := c.on(c.n / shrink)
			for range moments {
				at := time.Duration(r.Float64() * r.Float64() * float64(latest))
				var late []string
				for range 3 { // a machine with other work to do has hiccups
					took, where, err := c.canceled(f, at)
					if err != nil {
						t.Fatalf("canceled after %v: %v", at, err)
					}
					if slow := busy(); took > time.Duration(2*slow*float64(prompt)) || took > prompt && slow < 1.5 {
						late = append(late, fmt.Sprintf("%v (busy: %.1f)\n%s", took, slow, where))
						continue
					}
					late = nil
					break
				}
				if late != nil {
					t.Errorf("canceled after %v: returned %v later", at, late)
				}
			}
		})
	}
}

// canceled makes the call and cancels it after a while. It returns how long the call
// then took, negative where it had ended before, where it was when it should have
// returned, and what is wrong.
func (c longCall) canceled(f metric.Finite, after time.Duration) (took time.Duration, where string, wrong error) {
	before := runtime.NumGoroutine()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var at time.Time
	stacks := make(chan string, 1)
	var overdue *time.Timer
	timer := time.AfterFunc(after, func() {
		at = time.Now()
		overdue = time.AfterFunc(prompt, func() {
			all := make([]byte, 1<<20)
			stacks <- frames(all[:runtime.Stack(all, true)])
		})
		cancel()
	})
	err := c.call(ctx, f)
	end := time.Now()
	if timer.Stop() {
		return -1, "", err
	}
	<-ctx.Done()
	if !overdue.Stop() {
		where = <-stacks
	}
	took = end.Sub(at)
	if err != nil && !errors.Is(err, context.Canceled) {
		return took, where, err
	}
	for patience := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(patience) {
			return took, where, fmt.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
		}
	}
	return took, where, nil
}

package robust

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/entropy/families"
	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/distribution"
	"github.com/metricdp/metricdp/mechanism/emd/frequency"
	"github.com/metricdp/metricdp/mechanism/emd/query"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/mechanism/exponential/kl10"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/mechanismtest"
	"github.com/metricdp/metricdp/mechanism/words"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/metric/metrictest"
	"github.com/metricdp/metricdp/tsp"
	"github.com/metricdp/metricdp/wasserstein"
)

// prompt is how soon a call returns once its context is done, as testkit.Clock measures.
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
		r, pts := random.Seeded(1), make([][]float64, n)
		for i := range pts {
			pts[i] = make([]float64, 40)
			for k := range pts[i] {
				pts[i][k] = r.Float64()
			}
		}
		return testkit.Must(metric.NewPoints(pts, metric.Manhattan{}))
	}
	globe = func(n int) metric.Finite {
		r, pts := random.Seeded(2), make([]metric.LatLon, n)
		for i := range pts {
			pts[i] = metric.LatLon{Lat: 48 + r.Float64(), Lon: 2 + r.Float64()}
		}
		return testkit.Must(metric.NewPoints(pts, metric.GreatCircle{}))
	}
	woods       = func(n int) metric.Finite { return space.Tree(n, 0.1, random.Seeded(3)) }
	equidistant = func(n int) metric.Finite { return space.Constant(n, 1) }
)

func arbitrary(n int) []float64 { return testkit.Distribution(random.Seeded(uint64(n)), n, nil) }

// signed adds up to 1 and is negative at some points.
func signed(n int) []float64 {
	g := arbitrary(n)
	for i := range g {
		g[i] = 2*g[i] - 1/float64(n)
	}
	return g
}

func uniformly(n int) []float64 { return slices.Repeat([]float64{1 / float64(n)}, n) }

// two is the second metric beside f.
func two(f metric.Finite) metric.Bimetric {
	return metric.Bimetric{Privacy: f, Utility: flat(f.Len())}
}

func err1[T any](_ T, err error) error         { return err }
func err2[S, T any](_ S, _ T, err error) error { return err }

var tinyDelta = &mechanism.AuditOptions{Delta: 1e-9}

// Arguments that a call makes of the space: itself, it as both metrics, or with a second one.
var (
	here   = func(f metric.Finite) any { return f }
	alone  = func(f metric.Finite) any { return metric.Same(f) }
	beside = func(f metric.Finite) any { return two(f) }
)

// on calls fn with a context, args and the zero values of what they leave out. What is made of the
// space, or for each of its points, is given as the function that makes it, fn too.
func on(fn any, args ...any) func(context.Context, metric.Finite) error {
	return func(ctx context.Context, f metric.Finite) error {
		made := func(v any) reflect.Value {
			switch of := v.(type) {
			case func(metric.Finite) any:
				v = of(f)
			case func(int) []float64:
				v = of(f.Len())
			}
			return reflect.ValueOf(v)
		}
		call := made(fn)
		in := []reflect.Value{reflect.ValueOf(ctx)}
		for i := 1; i < call.Type().NumIn(); i++ {
			a := reflect.New(call.Type().In(i)).Elem()
			if i <= len(args) && args[i-1] != nil {
				a.Set(made(args[i-1]).Convert(a.Type()))
			}
			in = append(in, a)
		}
		out := call.Call(in)
		err, _ := out[len(out)-1].Interface().(error)
		return err
	}
}

var longCalls = []longCall{
	{"metric.Densify", globe, 30_000, on(metric.Densify, here)},
	{"metric.Diameter", high, 30_000, on(metric.Diameter, here)},
	{"metric.Radius", high, 30_000, on(metric.Radius, here)},
	{"metric.Index.MinDistance", high, 30_000, on(func(f metric.Finite) any { return metric.NewIndex(f).MinDistance })},
	{"metric.Index.MinPositiveDistance", equidistant, 50_000,
		on(func(f metric.Finite) any { return metric.NewIndex(f).MinPositiveDistance })},
	{"metric.Bimetric.Lipschitz", globe, 20_000, on(func(f metric.Finite) any { return two(f).Lipschitz })},
	{"metric.Subdominant", high, 20_000, on(metric.Subdominant, here)},
	{"metric.AsUltrametric", equidistant, 50_000, on(metric.AsUltrametric, here)},
	{"metric.ValidateUltrametric", equidistant, 50_000, on(metric.ValidateUltrametric, here, 0)},
	{"metric.Validate", globe, 4000, on(metric.Validate, here, &metric.ValidateOptions{MaxTriples: math.MaxInt})},
	{"metric.Index.NearestNeighbors", high, 20_000,
		on(func(f metric.Finite) any { return metric.NewIndex(f).NearestNeighbors }, 8)},
	{"metric.Index.ReverseNeighbors", high, 20_000,
		on(func(f metric.Finite) any { return metric.NewIndex(f).ReverseNeighbors }, 8)},
	{"metric.Net", high, 20_000, on(metric.Net, here, 0.1)},
	{"metric.FarthestFirst", high, 20_000, on(metric.FarthestFirst, here, func(f metric.Finite) any { return f.Len() }, 0)},
	{"metric.Assign", high, 30_000, on(metric.Assign, here, func(f metric.Finite) any {
		even, _ := parity(f.Len())
		return even
	})},
	{"metric.Spanner", globe, 3000, on(metric.Spanner, here, 1.5)},

	{"mechanism.NewChannel", globe, 10_000, func(ctx context.Context, f metric.Finite) error {
		return err1(mechanism.NewChannel(ctx, mechanism.Rows{Inputs: f.Len(), Outputs: f.Len(), Log: true,
			Fill: func(x int, dst []float64) { finite.Row(f, x, dst) }}, nil))
	}},
	{"mechanism.Channel.Audit", flat, 2500, on(func(f metric.Finite) any { return lazily(f).Audit }, here)},
	{"mechanism.Channel.Audit, delta", flat, 1500, on(func(f metric.Finite) any { return lazily(f).Audit }, here, tinyDelta)},
	{"mechanism.Composition.Audit", flat, 1500, on(func(f metric.Finite) any { return twice(f).Audit }, here, tinyDelta)},
	{"mechanism.Composition.Certify", flat, 1500,
		on(func(f metric.Finite) any { return twice(f).Certify }, here, "", tinyDelta)},
	{"mechanism.Channel.Loss", flat, 20_000, on(func(f metric.Finite) any { return lazily(f).Loss }, here)},
	{"mechanism.Channel.AdversaryError", flat, 3000,
		on(func(f metric.Finite) any { return lazily(f).AdversaryError }, nil, here)},
	{"mechanism.Channel.Remap", flat, 3000, on(func(f metric.Finite) any { return lazily(f).Remap }, nil, here)},

	{"mechanism.AtLevel", flat, 3000, func(ctx context.Context, f metric.Finite) error {
		build := func(context.Context, float64) (*mechanism.Channel, error) { return lazily(f), nil }
		return err2(mechanism.AtLevel(ctx, f, 1, build, tinyDelta))
	}},
	{"words.Vocabulary.ChooseAlpha", flat, 10,
		on(func(metric.Finite) any { return manyWords().ChooseAlpha }, .5, &words.ChooseOptions{Draws: 1e6})},

	{"exponential.Standard", flat, 4000, on(exponential.Standard, here, 20)},
	{"exponential.Lazy", equidistant, 50_000, on(exponential.Lazy, here, 1)},
	{"exponential.Tuned", flat, 3000, on(exponential.Tuned, here, 20)},
	{"exponential.Tight", flat, 6000, on(exponential.Tight, here, 20)},
	{"exponential.Tight, by Gauss", high, 5000, on(exponential.Tight, here, 20)},
	{"exponential.Snapped", globe, 3000, on(exponential.Snapped, here, 20)},
	{"exponential.Remapped", flat, 3000, on(exponential.Remapped, alone, 5)},
	{"exponential.Relaxed", flat, 3000, on(exponential.Relaxed, beside, 5, &exponential.RelaxedOptions{Tuned: true})},
	{"kl10.MostPrivate", flat, 2500, on(kl10.MostPrivate, beside, uniformly, kl10.Target{Gamma: 0.1, Delta: 0.1})},
	{"exponential.Best", globe, 50_000, on(exponential.Best, alone, 1)},
	{"exponential.Best, remapped", flat, 2500, func(ctx context.Context, f metric.Finite) error {
		return err1(exponential.Best(ctx, two(f), 1, &exponential.BestOptions{Prior: uniformly(f.Len()), Remap: true}))
	}},

	{"lp.Optimal", flat, 1500, on(lp.Optimal, alone, 5)},
	{"lp.Optimal, all constraints", flat, 100, on(lp.Optimal, alone, 5)},
	{"lp.Optimal, sparse", woods, 1200, on(lp.Optimal, alone, 1)},
	{"lp.ConstOPT", flat, 1500, on(lp.ConstOPT, alone, 5)},
	{"lp.Spanner", flat, 500, on(lp.Spanner, alone, 5)},
	{"lp.MostPrivate", flat, 1000, on(lp.MostPrivate, beside, kl10.Target{Gamma: 0.1, Delta: 0.1})},
	{"lp.LevelLowerBound", high, 8000, on(lp.LevelLowerBound, alone, kl10.Target{Gamma: 0.1, Delta: 0.1})},
	{"lp.Choose", flat, 1500, on(lp.Choose, beside, 5)},

	{"entropy.Accuracy", flat, 1500, on(entropy.Accuracy, beside, []float64{5})},
	{"entropy.LowerBounds", high, 1500, on(entropy.LowerBounds, alone, 1)},
	{"scale.Entropic", high, 3000, on(scale.Entropic, beside, []float64{1})},
	{"scale.Diametric", high, 4000, on(scale.Diametric, beside, []float64{1})},
	{"scale.Doubling", flat, 3000, on(scale.Doubling, here, []float64{5})},
	{"scale.Outer", flat, 3000, on(scale.Outer, here, []float64{5})},
	{"scale.Packing", flat, 3000, on(scale.Packing, here, nil, 0.05, &scale.Options{Nodes: math.MaxInt})},
	{"scale.Dimension", high, 11_000, on(scale.Dimension, here)},
	{"scale.PositiveMeasure", high, 8000, on(scale.PositiveMeasure, here)},
	{"scale.BallMass", high, 15_000, on(scale.BallMass, here, uniformly, 1)},
	{"families.PrivateMeasureBound", flat, 20_000, on(families.PrivateMeasureBound, here, 5)},
	{"families.PrivateTransportBound", high, 8000, on(families.PrivateTransportBound, here, 1e6)},

	{"tsp.Solve", flat, 50_000, on(tsp.Solve, here)},
	{"tsp.Solve, without an index", high, 4000, on(tsp.Solve, here)},
	{"tsp.CoveringIntegral", high, 10_000, on(tsp.CoveringIntegral, here)},

	{"wasserstein.W1", flat, 12_000, on(wasserstein.W1, here, arbitrary, uniformly)},
	{"wasserstein.W1, lazy", globe, 8000, on(wasserstein.W1, here, arbitrary, uniformly, &wasserstein.Options{Lazy: true})},
	{"wasserstein.Assignment", high, 6000, on(wasserstein.Assignment, divided)},
	{"wasserstein.Project", flat, 12_000, on(wasserstein.Project, here, signed)},

	{"domain.NewFinite", high, 40_000, on(domain.NewFinite, here)},
	{"domain.NewFolded", high, 8000, on(domain.NewFolded, here, &domain.FoldedOptions{Tour: true})},
	{"measure.Release.Error", flat, 1000, func(ctx context.Context, f metric.Finite) error {
		return err1(releasedOn(f).Error(ctx, seeded(), 0.9, &measure.ErrorOptions{Draws: 1 << 20}))
	}},
	{"measure.Release.ErrorOf", flat, 1000, func(ctx context.Context, f metric.Finite) error {
		mass := func(r *measure.Release[int]) float64 { return r.Weights[0] }
		return err1(releasedOn(f).ErrorOf(ctx, seeded(), mass, 0.9, &measure.ErrorOptions{Draws: 1 << 20}))
	}},
	{"query.LipschitzAtLeast", high, 10_000, on(query.LipschitzAtLeast[[]float64], steep(), here)},

	{"metric.NewGraphEdges", flat, 12_000, func(ctx context.Context, f metric.Finite) error {
		edges := make([]metric.Edge, f.Len()-1)
		for i := range edges {
			edges[i] = metric.Edge{I: i, J: i + 1, Length: 1}
		}
		return err1(metric.NewGraphEdges(ctx, f.Len(), edges))
	}},
	{"metrictest.TestFinite", globe, 4000, on(metrictest.TestFinite, here, &metrictest.Options{MaxPoints: 10_000})},
	{"mechanism.Channel.Certify", flat, 2500, on(func(f metric.Finite) any { return lazily(f).Certify }, here)},
	{"mechanism.FromLogWeights", flat, 5000, func(ctx context.Context, f metric.Finite) error {
		return err1(mechanism.FromLogWeights(ctx, f.Len(), f.Len(), make([]float64, f.Len()*f.Len()), nil))
	}},
	{"mechanismtest.TestChannel", flat, 1000, func(ctx context.Context, f metric.Finite) error {
		return mechanismtest.TestChannel(ctx, lazily(f), f, &mechanismtest.Options[int, int]{Samples: math.MaxInt32})
	}},
	{"exponential.Weighted", flat, 6000, on(exponential.Weighted, here, 20, uniformly)},
	{"kl10.Misses", flat, 20_000, on(kl10.Misses, func(f metric.Finite) any { return lazily(f) }, here, .1)},
	{"lp.LowerBound", flat, 400, func(ctx context.Context, f metric.Finite) error {
		all := make([]int, f.Len())
		for i := range all {
			all[i] = i
		}
		return err1(lp.LowerBound(ctx, metric.Same(f), 1, all))
	}},
	{"entropy.LevelFor", flat, 1500, on(entropy.LevelFor, beside, .1)},
	{"wasserstein.DistanceEM", high, 8000, func(ctx context.Context, f metric.Finite) error {
		a, b := parity(f.Len())
		return err1(wasserstein.DistanceEM(ctx, f, a, b))
	}},
	{"frequency.Project", flat, 12_000, on(frequency.Project, here, signed)},
	{"distribution.New", high, 20_000, func(ctx context.Context, f metric.Finite) error {
		return err1(distribution.New(ctx, distribution.Finite(f), emd.Model{Trust: emd.Central, Users: 1000}, 1, nil))
	}},
	{"distribution.Histogram.Error", high, 20_000, on(func(metric.Finite) any { return sharp().Error }, seeded(), 0.5)},
	{"query.Shares", high, 20_000, on(query.Shares, here)},
	{"table.Synthesizer.Release", flat, 4, func(ctx context.Context, f metric.Finite) error {
		return err1(tables.Release(ctx, seeded(), slices.Repeat(records[:1], 5_000_000)))
	}},
	{"table.Release.Records", flat, 4, func(ctx context.Context, f metric.Finite) error {
		return err1(tableRelease.Records(ctx, seeded(), 10_000_000))
	}},
	{"measure.Count", flat, 4, func(ctx context.Context, f metric.Finite) error {
		return err1(measure.Count(ctx, smallBox, func(yield func([]float64, error) bool) {
			for range 100_000_000 {
				if !yield([]float64{.5}, nil) {
					return
				}
			}
		}, nil))
	}},
	{"measure.CountPersons", flat, 4, func(ctx context.Context, f metric.Finite) error {
		return err1(measure.CountPersons(ctx, smallBox, func(yield func(measure.Row[int, []float64], error) bool) {
			for range 100_000_000 { // all of one person, so that nearly none count
				if !yield(measure.Row[int, []float64]{Record: []float64{.5}}, nil) {
					return
				}
			}
		}, 1, nil))
	}},
}

var smallBox = testkit.Must(domain.NewBox([]domain.Column{{Lo: 0, Hi: 1}}, &domain.BoxOptions{Depth: 2}))

// shortCalls take a context and are not tried, with the reason.
var shortCalls = func() map[string]string {
	short := map[string]string{}
	for like, names := range map[string]string{
		"exponential.Lazy":                                             "exponential.Truncated",
		"a look at the vectors":                                        "words.Vocabulary.Reach",
		"its package stops it while it reads":                          "words.Read",
		"they are what entropy.Accuracy is made of, or made of that":   "entropy.UpperBounds entropy.Star.Prove entropy.Whole.Accuracy entropy.Whole.EntropicScale families.MeasureBound.Prove",
		"families.PrivateMeasureBound":                                 "families.PrivateDataBound measure.Synthesizer.LowerBound private.Measure.LowerBound",
		"a look at the distances, metric.Spanner or NearestNeighbors":  "lp.Options.Size lp.SpannerOptions.Size lp.ConstOptions.Size",
		"the distances of a net of measures are W1 of few points each": "families.MeasureNet families.Measures.TotalVariation families.Measures.Wasserstein",
		"mechanism.FromLogWeights":                                     "mechanism.FromWeights mechanism.FromProbabilities mechanism.ReadChannel",
		"mechanismtest.TestChannel":                                    "mechanismtest.LevelAtLeast mechanismtest.TestDistribution mechanismtest.TestLevel mechanismtest.TestMechanism",
		"metrictest.TestFinite":                                        "metrictest.TestSpace",
		"lp.Optimal, exponential.Remapped":                             "anywhere.Line anywhere.Plane anywhere.Manhattan anywhere.Earth",
		"mechanism.Channel.Audit":                                      "anywhere.Extend anywhere.TriangulatedLevel",
		"metric.NewGraphEdges":                                         "metric.NewGrid",
		"wasserstein.W1":                                               "wasserstein.Distance wasserstein.Between wasserstein.W1Points wasserstein.Certify",
		"table.Synthesizer.Release":                                    "table.Synthesizer.ReleasePersons table.Release.Error table.Release.Report",
		"tsp.Solve":                                                    "tsp.SpaceFilling",
		"measure.Count, domain.NewFinite":                              "measure.CountAll domain.NewTaxonomy domain.NewUltrametric domain.On measure.Synthesizer.Synthetic",
		"its package tests it: sizes are numbers of users and items, not points": "mechanism.Composition.AuditAt mechanism.Composition.CertifyAt accountant.ComposeBudget accountant.Composition.Delta accountant.Composition.Level " +
			"accountant.Shuffle.Budget accountant.Shuffle.Delta accountant.Shuffle.Level accountant.Shuffle.MovedDelta accountant.Shuffle.MovedLevel accountant.Shuffle.BudgetInterval accountant.Shuffle.DeltaInterval accountant.Shuffle.LevelInterval " +
			"accountant.NewRandomizer frequency.ItemWiseBudget frequency.NewItemWise emd.PlanReduction frequency.Estimator.Collect distribution.Distribution.Collect",
		"mechanism.NewChannel, metric.Diameter or frequency.Project are what takes its time": "additive.Madlib.LevelAt frequency.GKRR.Channel frequency.Estimator.Distribution frequency.New " +
			"frequency.NewClustered frequency.NewHadamardBaseline frequency.NewLaplaceBaseline query.NewLinear distribution.Distribution.Estimate",
	} {
		for _, name := range strings.Fields(names) {
			short[name] = like
		}
	}
	return short
}()

// manyWords are in clusters on a line of 25 dimensions.
var manyWords = sync.OnceValue(func() *words.Vocabulary {
	names, vectors := make([]string, 20_000), make([][]float32, 20_000)
	for i := range names {
		names[i], vectors[i] = fmt.Sprint(i), make([]float32, 25)
		vectors[i][i%25] = float32(i)
	}
	return testkit.Must(words.New(names, vectors))
})

// sharp is a histogram of which every draw takes a while.
var sharp = sync.OnceValue(func() *distribution.Histogram[float64] {
	d := testkit.Must(distribution.New(context.Background(), distribution.Line(0, 1), emd.Model{Trust: emd.Central, Users: 1}, 1e10, nil))
	r := testkit.Must(d.Release(seeded(), emd.One([]float64{0.5})))
	return testkit.Must(d.Estimate(context.Background(), r))
})

func steep() query.Query[[]float64] { return query.Average(additive.Norm{P: 1, Dim: 40}) }

func often(parts ...mechanism.Repeated) *mechanism.Composition {
	return testkit.Must(mechanism.NewComposition(parts...))
}

func twice(f metric.Finite) *mechanism.Composition {
	return often(mechanism.Repeated{Mechanism: lazily(f), Times: 2})
}

// lazily is a channel that is computed as it is read.
func lazily(f metric.Finite) *mechanism.Channel {
	return testkit.Must(mechanism.NewChannel(context.Background(), mechanism.Rows{Inputs: f.Len(), Outputs: f.Len(), Log: true, Fill: func(x int, dst []float64) {
		for y, d := range finite.Row(f, x, dst) {
			dst[y] = -d
		}
	}}, &mechanism.ChannelOptions{Lazy: true}))
}

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
	r := random.Seeded(14)
	for _, c := range longCalls {
		t.Run(c.name, func(t *testing.T) {
			f := c.on(c.n / shrink)
			for range moments {
				at := time.Duration(r.Float64() * r.Float64() * float64(latest))
				var late []string
				for range 3 { // a garbage collection may come between
					took, where, err := c.canceled(f, at)
					if err != nil {
						t.Fatalf("canceled after %v: %v", at, err)
					}
					if took <= prompt {
						late = nil
						break
					}
					late = append(late, fmt.Sprintf("%v\n%s", took, where))
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
	var clock testkit.Clock
	stacks := make(chan string, 1)
	var overdue *time.Timer
	timer := time.AfterFunc(after, func() {
		clock = testkit.StartClock()
		overdue = time.AfterFunc(prompt, func() {
			all := make([]byte, 1<<20)
			stacks <- frames(all[:runtime.Stack(all, true)])
		})
		cancel()
	})
	err := c.call(ctx, f)
	if timer.Stop() {
		return -1, "", err
	}
	<-ctx.Done()
	took = clock.Took()
	if !overdue.Stop() {
		where = <-stacks
	}
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

// releasedOn is a release of 10,000 records.
func releasedOn(f metric.Finite) *measure.Release[int] {
	d := testkit.Must(domain.NewFinite(context.Background(), f, nil))
	c := measure.NewCounts(d)
	for i := range f.Len() {
		if err := c.AddN(i, int64(10_000/f.Len())); err != nil {
			panic(err)
		}
	}
	return testkit.Must(testkit.Must(measure.NewSynthesizer(d, 1, nil)).Release(seeded(), c))
}

// ending cancels a context at a distance, and counts those asked for once it is done.
type ending struct {
	metric.Finite
	left, late *atomic.Int64
	cancel     context.CancelFunc
	done       *atomic.Bool
}

func (e ending) Distance(i, j int) float64 {
	if e.left.Add(-1) == 0 {
		e.cancel()
		e.done.Store(true)
	} else if e.done.Load() {
		e.late.Add(1)
	}
	return e.Finite.Distance(i, j)
}

// TestCalls_AskForFewDistancesOnceCanceled: a distance may take microseconds. Once its
// context is done, no long call of these packages asks for more than some rows of
// distances on every core, wherever it is.
func TestCalls_AskForFewDistancesOnceCanceled(t *testing.T) {
	const n = 200
	rows := 3 * runtime.GOMAXPROCS(0)
	for _, c := range longCalls {
		pkg, _, _ := strings.Cut(c.name, ".")
		if pkg != "metric" && pkg != "tsp" && pkg != "exponential" {
			continue
		}
		f := c.on(n)
		for _, after := range []int64{1, 3 * n, n * n / 8, n * n * 5 / 8, n * n * 9 / 8, n * n * 17 / 8, n * n * 6} {
			ctx, cancel := context.WithCancel(t.Context())
			e := ending{f, new(atomic.Int64), new(atomic.Int64), cancel, new(atomic.Bool)}
			e.left.Store(after)
			err := c.call(ctx, e)
			late := e.late.Load()
			if e.done.Load() && err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", c.name, err)
			}
			most := int64(rows * n)
			if pkg == "tsp" { // moves of a search ask for some distances each
				most += 1 << 13
			}
			if late > most {
				t.Errorf("%s: canceled at distance %d, asked for %d more, %.1f rows (%v)", c.name, after, late, float64(late)/n, err)
			}
			cancel()
			if !e.done.Load() {
				break
			}
		}
	}
}

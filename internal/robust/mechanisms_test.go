package robust

import (
	"bytes"
	"context"
	"io"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/lp/anywhere"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/accountant"
	"github.com/metricdp/metricdp/mechanism/emd/distribution"
	"github.com/metricdp/metricdp/mechanism/emd/frequency"
	"github.com/metricdp/metricdp/mechanism/emd/query"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/mechanism/exponential/kl10"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/private"
	"github.com/metricdp/metricdp/mechanism/measure/table"
	"github.com/metricdp/metricdp/mechanism/mechanismtest"
	"github.com/metricdp/metricdp/mechanism/words"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/walk"
)

var (
	levels    = testkit.Must(walk.Levels(2, 2))
	equal     = testkit.Must(levels.EqualScales(walk.ReplaceOne))
	noise     = testkit.Must(walk.New(levels, walk.KNorm, equal))
	wholeWalk = testkit.Must(walk.New(levels, walk.DiscreteLaplace, equal))
	haarWalk  = testkit.Must(walk.New(levels, walk.DiscreteHaar, equal))
)

var walkCalls = []call{
	{"walk.Balanced", walk.Balanced, []any{8, 2}},
	{"walk.Levels", walk.Levels, []any{[]int{2, 3}}},
	{"walk.NewTree", walk.NewTree, []any{[]int{-1, 0, 0, 1, 1}}},
	{"walk.Tree.CountsInt", levels.CountsInt, []any{make([]int64, 7), []int64{1, 2, 3, 4}}},
	{"walk.Tree.Center", levels.Center, []any{[]float64{10, 3, 7, 1, 2, 3, 4}}},
	{"walk.Tree.Haar", levels.Haar, []any{four}},
	{"walk.Tree.HaarInverse", levels.HaarInverse, []any{four}},
	{"walk.Tree.HaarInt", levels.HaarInt, []any{[]int64{1, 2, 3, 4}}},
	{"walk.NewNoise", walk.NewNoise, []any{walk.KNorm, 2.0}},
	{"walk.Scales.At", walk.Scales.At, []any{walk.Scales{Total: 1, Level: []float64{1, 2}}, 0.5}},
	{"walk.Tree.Loss", levels.Loss, []any{walk.ReplaceOne, equal}},
	{"walk.Walk.Potential", noise.Potential, []any{[]float64{1, -1, 2, -2}}},
	{"walk.Walk.Variances", noise.Variances, []any{make([]float64, 4)}},
	{"walk.Walk.RMS", noise.RMS, []any{[]float64{1, 1, 2, 1}}},
	{"walk.Walk.Increments", noise.Increments, []any{seeded(), make([]float64, 4)}},
	{"walk.Walk.AddShares", noise.AddShares, []any{seeded(), make([]float64, 7), four}},
	{"walk.Walk.AddCounts", wholeWalk.AddCounts, []any{seeded(), []int64{10, 3, 7, 1, 2, 3, 4}}},
	{"walk.Walk.AddHaar", haarWalk.AddHaar, []any{seeded(), []int64{10, 3, 7, 1}}},
	{"walk.Tree.EqualScales", levels.EqualScales, []any{walk.ReplaceOne}},
	{"walk.Tree.Normalize", levels.Normalize, []any{walk.ReplaceOne, equal}},
	{"walk.Superregular", walk.Superregular, []any{8}},
	{"walk.New", walk.New, []any{levels, walk.KNorm, equal}},
}

var (
	channel   = testkit.Must(exponential.Standard(context.Background(), path, 1, nil)).Channel
	guarantee = testkit.Must(mechanism.NewGuarantee(1, 1e-6, "km"))
	composed  = testkit.Must(mechanism.NewComposition(mechanism.Repeated{Mechanism: channel, Times: 3}))
	budget    = testkit.Must(mechanism.NewBudget(guarantee, nil))
	sticky    = testkit.Must(mechanism.NewSticky(mechanism.Mechanism[int, int](channel), nil))
	track     = testkit.Must(mechanism.NewTrack(sticky, nil))
	losses    = testkit.Must(channel.Loss(context.Background(), path))
	written   = func() string {
		var b bytes.Buffer
		if err := channel.WriteJSON(&b); err != nil {
			panic(err)
		}
		return b.String()
	}()
)

func ones(_ int, dst []float64) {
	for i := range dst {
		dst[i] = 1
	}
}

var mechanismCalls = []call{
	{"mechanism.NewGuarantee", mechanism.NewGuarantee, []any{1.0, 1e-6, metric.Unit("km")}},
	{"mechanism.Guarantee.Within", guarantee.Within, []any{2.0}},
	{"mechanism.Guarantee.UnmarshalJSON", func(b []byte) error { return new(mechanism.Guarantee).UnmarshalJSON(b) }, []any{[]byte(`{"alpha":1}`)}},
	{"mechanism.Guarantee.Plus", guarantee.Plus, []any{guarantee}},
	{"mechanism.NewChannel", mechanism.NewChannel, []any{mechanism.Rows{Inputs: 2, Outputs: 3, Fill: ones}, &mechanism.ChannelOptions{}}},
	{"mechanism.NewChannel", mechanism.NewChannel, []any{mechanism.Rows{Inputs: 2, Outputs: 3, Fill: ones, Log: true}, &mechanism.ChannelOptions{Labels: []int{0, 1, 1}}}},
	{"mechanism.NewChannel", mechanism.NewChannel, []any{mechanism.Rows{Inputs: 2, Outputs: 3, Fill: ones, Log: true}, &mechanism.ChannelOptions{Lazy: true}}},
	{"mechanism.FromWeights", mechanism.FromWeights, []any{2, 2, []float64{1, 2, 2, 1}, &mechanism.ChannelOptions{}}},
	{"mechanism.FromProbabilities", mechanism.FromProbabilities, []any{2, 2, []float64{.25, .75, .5, .5}, 1e-9, &mechanism.ChannelOptions{}}},
	{"mechanism.FromLogWeights", mechanism.FromLogWeights, []any{2, 2, []float64{1, 2, 2, 1}, &mechanism.ChannelOptions{}}},
	{"mechanism.Channel.Audit", channel.Audit, []any{path, &mechanism.AuditOptions{}}},
	{"mechanism.Channel.Audit", channel.Audit, []any{path, &mechanism.AuditOptions{Delta: 0.01}}},
	{"mechanism.Channel.Certify", channel.Certify, []any{path, metric.Unit("km"), &mechanism.AuditOptions{}}},
	{"mechanism.Channel.Release", channel.Release, []any{seeded(), 2}},
	{"mechanism.Channel.Sampler", channel.Sampler, []any{2}},
	{"mechanism.Channel.WriteJSON", channel.WriteJSON, []any{&bytes.Buffer{}}},
	{"mechanism.ReadChannel", func(text string, rho metric.Finite, o *mechanism.AuditOptions) (*mechanism.Channel, error) {
		return mechanism.ReadChannel(context.Background(), strings.NewReader(text), rho, o)
	}, []any{written, path, &mechanism.AuditOptions{}}},
	{"mechanism.Losses.Mean", losses.Mean, []any{uniform}},
	{"mechanism.Losses.Quantile", losses.Quantile, []any{0.5}},
	{"mechanism.Channel.Loss", channel.Loss, []any{path}},
	{"mechanism.Channel.LossAt", channel.LossAt, []any{2, path}},
	{"mechanism.Channel.AdversaryError", channel.AdversaryError, []any{uniform, path}},
	{"mechanism.Channel.Remap", channel.Remap, []any{uniform, path}},
	{"mechanism.Labels", mechanism.Labels[string, float64], []any{channel, []string{"a", "b", "c", "d", "e"}, []float64{5, 4, 3, 2, 1}}},
	{"mechanism.Channel.Relabel", channel.Relabel, []any{[]int{0, 1, 2, 3, 4}}},
	{"mechanism.AtLevel", func(f metric.Finite, level float64, o *mechanism.AuditOptions) (*mechanism.Channel, float64, error) {
		return mechanism.AtLevel(context.Background(), f, level, func(ctx context.Context, alpha float64) (*mechanism.Channel, error) {
			w := make([]float64, f.Len())
			w[0] = min(alpha, 1)
			return mechanism.FromLogWeights(ctx, f.Len(), 1, w, nil)
		}, o)
	}, []any{path, 0.5, &mechanism.AuditOptions{Delta: 0.01}}},
	{"mechanism.Compose", mechanism.Compose[int, int], []any{[]mechanism.Mechanism[int, int]{channel, channel}}},
	{"mechanism.NewComposition", mechanism.NewComposition, []any{[]mechanism.Repeated{{Mechanism: channel, Times: 3}}}},
	{"mechanism.Composition.Audit", composed.Audit, []any{path, &mechanism.AuditOptions{Delta: 0.01}}},
	{"mechanism.Composition.AuditAt", composed.AuditAt, []any{2.0, 0.01}},
	{"mechanism.Composition.CertifyAt", composed.CertifyAt, []any{2.0, 0.01}},
	{"mechanism.Composition.Certify", composed.Certify, []any{path, metric.Unit("km"), &mechanism.AuditOptions{}}},
	{"mechanism.Composition.Release", composed.Release, []any{seeded(), 2}},

	{"mechanism.NewBudget", mechanism.NewBudget, []any{guarantee, &mechanism.BudgetOptions{}}},
	{"mechanism.Budget.Spend", budget.Spend, []any{testkit.Must(mechanism.NewGuarantee(0, 0, "km"))}},
	{"mechanism.NewSticky", mechanism.NewSticky[int, int], []any{channel, &mechanism.StickyOptions[int]{Name: "a", Budget: testkit.Must(mechanism.NewBudget(level, nil))}}},
	{"mechanism.NewSticky", mechanism.NewSticky[int, int], []any{channel, &mechanism.StickyOptions[int]{Name: "a", Secret: make([]byte, 32)}}},
	{"mechanism.Sticky.Release", sticky.Release, []any{seeded(), 2}},
	{"mechanism.NewTrack", mechanism.NewTrack[int, int], []any{sticky, &mechanism.TrackOptions{Ends: 1}}},
	{"mechanism.NewTrack", mechanism.NewTrack[int, int], []any{channel, &mechanism.TrackOptions{Every: 2}}},
	{"mechanism.Track.Release", track.Release, []any{seeded(), []int{1, 2, 1}}},
	{"mechanism.Track.Level", track.Level, []any{[]int{1, 2, 1}}},

	{"mechanism.Guarantee.At", guarantee.At, []any{1.0}},
	{"mechanism.Guarantee.Times", guarantee.Times, []any{2}},
	{"mechanism.Guarantee.Group", guarantee.Group, []any{2, 1.0}},
}

var (
	laplace   = testkit.Must(additive.NewLaplace(1, nil))
	gridded   = testkit.Must(additive.NewLaplace(1, &additive.Options{Grid: 0.25}))
	knorm     = testkit.Must(additive.NewKNorm(additive.Norm{P: 2, Dim: 2}, 1, nil))
	knormGrid = testkit.Must(additive.NewKNorm(additive.Norm{P: 1, Dim: 2}, 1, &additive.Options{Grid: 0.25}))
	target    = additive.GaussianTarget{Alpha: 1, Delta: 1e-6, Diameter: 2}
	gaussian  = testkit.Must(additive.NewGaussian(2, target, nil))
	gaussGrid = testkit.Must(additive.NewGaussian(2, target, &additive.Options{Grid: 0.25}))
	whole     = testkit.Must(additive.NewDiscreteLaplace(1, nil))
	wholeG    = testkit.Must(additive.NewDiscreteGaussian(target, nil))
	truncated = testkit.Must(additive.NewTruncatedGeometric(additive.Range{Lo: 0, Hi: 10}, 1, nil))
	planar    = testkit.Must(additive.NewPlanarLaplace(1, nil))
	madlib    = testkit.Must(additive.NewMadlib(plane, 1, nil))
	sphere    = testkit.Must(additive.NewSphere(0.01, nil))
	place     = metric.LatLon{Lat: 1, Lon: 2}
	cells     = testkit.Must(additive.NewCells(metric.GreatCircle{}, 1))
	triangle  = [][]metric.LatLon{{{}, {Lat: 1}, {Lon: 1}}}
	region    = testkit.Must(additive.NewRegion(metric.GreatCircle{}, triangle, 10))

	knots      = testkit.Must(additive.NewKnots(1, nil))
	earthKnots = testkit.Must(additive.NewEarthKnots(1, place, nil))
	trail      = testkit.Must(additive.NewTrail(1, nil))
	earthTrail = testkit.Must(additive.NewEarthTrail(1, place, nil))
)

var (
	plane32  = [][]float32{{0, 0}, {1, 0}, {0, 2}}
	letters  = []string{"a", "b", "c"}
	lexicon  = testkit.Must(words.New(letters, plane32))
	lettered = testkit.Must(mechanism.Labels(testkit.Must(additive.NewMadlib(plane32, 1, nil)), letters, letters))
	letter   = testkit.Must(words.NewText(lettered, nil))
)

var wordsCalls = []call{
	{"words.New", words.New, []any{letters, plane32}},
	{"words.Read", func(text string, o *words.ReadOptions) (*words.Vocabulary, error) {
		return words.Read(context.Background(), strings.NewReader(text), o)
	}, []any{"2 2\na 1 2\nb 3 4\n", &words.ReadOptions{Max: 2}}},
	{"words.Vocabulary.Nearest", lexicon.Nearest, []any{"a", 1}},
	{"words.Vocabulary.Reach", lexicon.Reach, []any{}},
	{"words.Vocabulary.ChooseAlpha", lexicon.ChooseAlpha, []any{0.5, &words.ChooseOptions{Words: []int{0, 2}, Draws: 20}}},
	{"words.Vocabulary.ChooseAlpha", lexicon.ChooseAlpha, []any{0.5, &words.ChooseOptions{Reach: 1.5, Every: true}}},
	{"words.Vocabulary.Split", lexicon.Split, []any{"A letter", []string{"a"}}},
	{"words.NewText", words.NewText, []any{lettered, &words.TextOptions{Stop: []string{"the"}, Unknown: "a"}}},
	{"words.Text.Release", letter.Release, []any{seeded(), letters}},
	{"words.Text.Total", letter.Total, []any{letters}},
}

var additiveCalls = []call{
	{"additive.NewDiscreteGaussian", additive.NewDiscreteGaussian, []any{target, &additive.DiscreteOptions{}}},
	{"additive.DiscreteGaussian.Release", wholeG.Release, []any{seeded(), int64(3)}},
	{"additive.NewGaussian", additive.NewGaussian, []any{2, target, &additive.Options{}}},
	{"additive.NewGaussian", additive.NewGaussian, []any{2, target, &additive.Options{Grid: 0.25}}},
	{"additive.Gaussian.Release", gaussian.Release, []any{seeded(), []float64{1, 2}}},
	{"additive.Gaussian.Release", gaussGrid.Release, []any{seeded(), []float64{1, 2}}},
	{"additive.Gaussian.ReleaseTo", gaussian.ReleaseTo, []any{make([]float64, 2), seeded(), []float64{1, 2}}},
	{"additive.GaussianSigma", additive.GaussianSigma, []any{target}},
	{"additive.NewDiscreteLaplace", additive.NewDiscreteLaplace, []any{1.0, &additive.DiscreteOptions{}}},
	{"additive.DiscreteLaplace.Release", whole.Release, []any{seeded(), int64(3)}},
	{"additive.NewTruncatedGeometric", additive.NewTruncatedGeometric, []any{additive.Range{Lo: 0, Hi: 10}, 1.0, &additive.DiscreteOptions{}}},
	{"additive.TruncatedGeometric.Release", truncated.Release, []any{seeded(), int64(3)}},
	{"additive.Norm.AlphaFor", additive.Norm.AlphaFor, []any{additive.Norm{P: 2, Dim: 2}, 1.0, 0.5}},
	{"additive.Norm.AlphaForLevel", additive.Norm.AlphaForLevel, []any{additive.Norm{P: 1, Dim: 1}, 1.0, 0.5, 2.0}},
	{"additive.NewKNorm", additive.NewKNorm, []any{additive.Norm{P: 2, Dim: 2}, 1.0, &additive.Options{}}},
	{"additive.NewKNorm", additive.NewKNorm, []any{additive.Norm{P: 1, Dim: 2}, 1.0, &additive.Options{Grid: 0.25}}},
	{"additive.KNorm.Release", knorm.Release, []any{seeded(), []float64{1, 2}}},
	{"additive.KNorm.Release", knormGrid.Release, []any{seeded(), []float64{1, 2}}},
	{"additive.KNorm.ReleaseTo", knorm.ReleaseTo, []any{make([]float64, 2), seeded(), []float64{1, 2}}},
	{"additive.NewLaplace", additive.NewLaplace, []any{1.0, &additive.Options{}}},
	{"additive.NewLaplace", additive.NewLaplace, []any{1.0, &additive.Options{Grid: 0.25}}},
	{"additive.Laplace.Release", laplace.Release, []any{seeded(), 1.0}},
	{"additive.Laplace.Release", gridded.Release, []any{seeded(), 1.0}},
	{"additive.NewPlanarLaplace", additive.NewPlanarLaplace, []any{1.0, &additive.Options{}}},
	{"additive.PlanarAlpha", additive.PlanarAlpha, []any{1.0, 0.5}},
	{"additive.PlanarLaplace.Release", planar.Release, []any{seeded(), [2]float64{1, 2}}},
	{"additive.NewMadlib", additive.NewMadlib[float64], []any{plane, 1.0, &additive.DiscreteOptions{}}},
	{"additive.Madlib.LevelAt", madlib.LevelAt, []any{0.1}},
	{"additive.Madlib.Release", madlib.Release, []any{seeded(), 1}},
	{"additive.NewSphere", additive.NewSphere, []any{1.0, &additive.SphereOptions{}}},
	{"additive.NewSphereWithin", additive.NewSphereWithin, []any{1.0, 0.5, &additive.SphereOptions{}}},
	{"additive.SphereAlpha", additive.SphereAlpha, []any{1.0, 0.5, &additive.SphereOptions{}}},
	{"additive.Sphere.Release", sphere.Release, []any{seeded(), place}},
	{"additive.NewCells", additive.NewCells, []any{metric.GreatCircle{}, 1.0}},
	{"additive.Cells.Center", cells.Center, []any{place}},
	{"additive.NewRegion", additive.NewRegion, []any{metric.GreatCircle{}, triangle, 10.0}},
	{"additive.Region.Move", region.Move, []any{place}},
	{"additive.NewKnots", additive.NewKnots, []any{1.0, &additive.KnotsOptions{Every: 2}}},
	{"additive.NewEarthKnots", additive.NewEarthKnots, []any{1.0, place, &additive.KnotsOptions{Every: 2}}},
	{"additive.Knots.Release", knots.Release, []any{seeded(), [][2]float64{{1, 2}, {3, 4}}}},
	{"additive.Knots.Release", earthKnots.Release, []any{seeded(), []metric.LatLon{place, place}}},
	{"additive.NewTrail", additive.NewTrail, []any{1.0, &additive.TrailOptions{Steps: 20}}},
	{"additive.NewEarthTrail", additive.NewEarthTrail, []any{1.0, place, &additive.TrailOptions{Steps: 20}}},
	{"additive.Trail.Release", trail.Release, []any{seeded(), [][2]float64{{1, 2}, {3, 4}}}},
	{"additive.Trail.Release", earthTrail.Release, []any{seeded(), []metric.LatLon{place, place}}},
	{"additive.Trail.Start", func(rng *rand.Rand, x [2]float64) error {
		_, _, err := trail.Start(rng, x)
		return err
	}, []any{seeded(), [2]float64{1, 2}}},
	{"additive.LiveTrail.Next", func(rng *rand.Rand, x metric.LatLon) (metric.LatLon, error) {
		live, _, err := earthTrail.Start(rng, place)
		if err != nil {
			return place, err
		}
		return live.Next(rng, x)
	}, []any{seeded(), place}},

	{"additive.DiscreteGaussianDelta", additive.DiscreteGaussianDelta, []any{1.0, 1.0, int64(1)}},
	{"additive.GaussianDelta", additive.GaussianDelta, []any{1.0, 1.0, 1.0}},
	{"additive.Gaussian.RadiusQuantile", gaussian.RadiusQuantile, []any{0.5}},
	{"additive.DiscreteLaplace.RadiusQuantile", whole.RadiusQuantile, []any{0.5}},
	{"additive.KNorm.LevelAt", knorm.LevelAt, []any{0.1, 1.0}},
	{"additive.KNorm.LevelAt", testkit.Must(additive.NewKNorm(additive.Norm{P: 2, Dim: 9}, 1, nil)).LevelAt, []any{0.1, 1.0}},
	{"additive.KNorm.PrivacyLoss", knorm.PrivacyLoss, []any{2.0}},
	{"additive.Laplace.PrivacyLoss", laplace.PrivacyLoss, []any{2.0}},
	{"additive.PlanarLaplace.PrivacyLoss", planar.PrivacyLoss, []any{2.0}},
	{"additive.Sphere.PrivacyLoss", sphere.PrivacyLoss, []any{2.0}},
	{"additive.Knots.PrivacyLoss", knots.PrivacyLoss, []any{2.0}},
	{"additive.Trail.PrivacyLoss", trail.PrivacyLoss, []any{2.0}},
	{"additive.Madlib.PrivacyLoss", madlib.PrivacyLoss, []any{2.0}},
	{"additive.Gaussian.PrivacyLoss", gaussian.PrivacyLoss, []any{2.0}},
	{"additive.DiscreteGaussian.PrivacyLoss", testkit.Must(additive.NewDiscreteGaussian(additive.GaussianTarget{Alpha: 1, Delta: 1e-3, Diameter: 4}, nil)).PrivacyLoss, []any{2.0}},
	{"additive.DiscreteLaplace.PrivacyLoss", whole.PrivacyLoss, []any{2.0}},
	{"additive.TruncatedGeometric.PrivacyLoss", testkit.Must(additive.NewTruncatedGeometric(additive.Range{Hi: 9}, 1, nil)).PrivacyLoss, []any{2.0}},
	{"additive.KNorm.RadiusQuantile", knorm.RadiusQuantile, []any{0.5}},
	{"additive.KNorm.RadiusProb", knorm.RadiusProb, []any{0.5}},
	{"additive.Laplace.RadiusQuantile", laplace.RadiusQuantile, []any{0.5}},
	{"additive.PlanarLaplace.RadiusQuantile", planar.RadiusQuantile, []any{0.5}},
	{"additive.PlanarLaplace.RadiusProb", planar.RadiusProb, []any{0.5}},
	{"additive.Cells.Key", cells.Key, []any{place}},
	{"additive.Region.Contains", region.Contains, []any{place}},
	{"additive.Sphere.RadiusQuantile", sphere.RadiusQuantile, []any{0.5}},
	{"additive.Sphere.RadiusProb", sphere.RadiusProb, []any{0.5}},
	{"additive.Knots.RMS", knots.RMS, []any{5}},
	{"additive.Trail.RMS", trail.RMS, []any{5}},
	{"additive.Trail.Level", trail.Level, []any{5}},
}

var (
	local       = emd.Model{Trust: emd.Local, Items: 4, Diameter: 4}
	central     = emd.Model{Trust: emd.Central, Users: 3, Items: 4, Diameter: 4}
	unbounded   = emd.Model{Trust: emd.Central, Users: 3, Diameter: 6}
	level       = testkit.Must(mechanism.NewGuarantee(1, 0, ""))
	perUnit     = testkit.Must(emd.NewGuarantee(central, level))
	discrete    = testkit.Must(emd.NewDiscrete(central, 1, emd.DP{Eps: 1, Delta: 1e-6}))
	departments = testkit.Must(metric.NewClustered(2, 2, 0.2))
	gkrr        = testkit.Must(frequency.NewGKRR(departments, 3))
	modelOne    = emd.Model{Trust: emd.Central, Users: 3, Items: 4, Diameter: 1}
	aReport     = &emd.Report{Sums: []int64{3, 4, 3, 2}, Users: 3, Reports: 1, Items: 12}
	frequencies = testkit.Must(frequency.NewClustered(context.Background(), gkrr, modelOne, nil))
	threeUsers  = emd.Users[int](slices.Values([][]int{{0, 1, 2, 3}, {0, 0, 1, 1}, {3, 3, 3, 3}}))
	threePaths  = emd.Users[[]float64](slices.Values([][][]float64{{{0, 1}, {1, 2}}, {{1, 1}}, {{2, 0}}}))
	counted     = testkit.Must(frequencies.Release(seeded(), threeUsers))
	estimated   = testkit.Must(frequencies.Estimate(counted))
	curator     = testkit.Must(frequency.NewLaplaceBaseline(context.Background(), departments, modelOne, 1))
	itemwise    = testkit.Must(frequency.NewItemWise(context.Background(), channel, central, &frequency.ItemWiseOptions{Delta: 1e-6}))
	average     = query.Average(additive.Norm{P: 2, Dim: 2})
	linear      = testkit.Must(query.NewLinear(context.Background(), average, unbounded, emd.Promise{Alpha: 1}, nil))
	modelTwo    = emd.Model{Trust: emd.Central, Users: 3, Items: 2, Diameter: 4}
	pairsOf     = emd.Users[[]float64](slices.Values([][][]float64{{{0, 1}, {1, 2}}, {{1, 1}, {0, 0}}, {{2, 0}, {1, 1}}}))
	reduceModel = emd.Model{Trust: emd.Central, Users: 3, Items: 50, Diameter: 4}
	reduced     = testkit.Must(emd.NewReduced[[]float64, []float64](testkit.Must(query.NewLinear(context.Background(), average, reduceModel, emd.Promise{Alpha: 1}, nil)), reduceTo))
	reduceTo    = emd.Sampling{Radius: 0.5, Delta: 1e-6}
	shuffled    = accountant.Shuffle{Records: 1000, Items: 1, Randomizer: testkit.Must(accountant.NewRandomizer(context.Background(), channel, path))}
	bits        = accountant.Shuffle{Records: 20, Items: 1, Alpha0: 1, Diameter: 1, MinDistance: 1}
	shuffle     = accountant.Shuffle{Records: 50, Items: 3, Alpha0: 4, Diameter: 1}
	spread      = testkit.Must(distribution.New(context.Background(), distribution.Line(0, 4), unbounded, 2, nil))
	lengths     = emd.Users[float64](slices.Values([][]float64{{0, 1.5, 3}, {2}, {3.5, 4}}))
	reported    = testkit.Must(spread.Release(seeded(), lengths))
	histogram   = testkit.Must(spread.Estimate(context.Background(), reported))
)

var emdCalls = []call{
	{"frequency.NewHadamardBaseline", frequency.NewHadamardBaseline, []any{departments, modelOne, emd.DP{Eps: 3, Delta: 1e-6}, &frequency.Options{}}},
	{"frequency.NewLaplaceBaseline", frequency.NewLaplaceBaseline, []any{departments, modelOne, 1.0}},
	{"frequency.Estimator.Release", curator.Release, []any{seeded(), threeUsers}},
	{"emd.ChooseAlpha", emd.ChooseAlpha, []any{[]emd.Move{{Distance: 1, Fraction: 0.5, Eps: 1}, {Distance: 5, Fraction: 0.1, Eps: 2}}}},
	{"emd.Guarantee.Protects", perUnit.Protects, []any{[]emd.Move{{Distance: 1, Fraction: 0.5, Eps: 1}}}},
	{"accountant.Composition.Delta", accountant.Composition.Delta, []any{accountant.Composition{Count: 100, Item: 0.1}, 2.0}},
	{"accountant.Composition.Level", accountant.Composition.Level, []any{accountant.Composition{Count: 100, Item: 0.1}, 1e-6}},
	{"accountant.ComposeBudget", accountant.ComposeBudget, []any{int64(100), 2.0, 1e-6}},
	{"frequency.New", frequency.New, []any{channel, path, central, &frequency.Options{Delta: 1e-6}}},
	{"frequency.New", frequency.New, []any{channel, path, local, &frequency.Options{Audit: true}}},
	{"frequency.NewClustered", frequency.NewClustered, []any{gkrr, modelOne, &frequency.Options{}}},
	{"frequency.Estimator.Release", frequencies.Release, []any{seeded(), threeUsers}},
	{"frequency.Estimator.Collect", func(ctx context.Context, data emd.Users[int]) (*emd.Report, error) {
		f := testkit.Must(frequency.NewClustered(context.Background(), gkrr, emd.Model{Trust: emd.Local, Items: 4, Diameter: 1}, nil))
		return f.Collect(ctx, seeded(), data)
	}, []any{threeUsers}},
	{"frequency.Estimator.Estimate", frequencies.Estimate, []any{aReport}},
	{"distribution.New", func(ctx context.Context, lo, hi float64, m emd.Model, alpha float64, o *distribution.Options) (*distribution.Distribution[float64], error) {
		return distribution.New(ctx, distribution.Line(lo, hi), m, alpha, o)
	}, []any{0.0, 4.0, unbounded, 2.0, &distribution.Options{Spacing: 0.1}}},
	{"distribution.New", func(ctx context.Context, f metric.Finite, m emd.Model, alpha float64, o *distribution.Options) (*distribution.Distribution[int], error) {
		return distribution.New(ctx, distribution.Finite(f), m, alpha, o)
	}, []any{path, local, 2.0, &distribution.Options{Reports: 10}}},
	{"distribution.New", func(ctx context.Context, s metric.Space[[]float64], lo, hi []float64, m emd.Model, alpha float64, o *distribution.Options) (*distribution.Distribution[[]float64], error) {
		return distribution.New(ctx, distribution.Box(s, lo, hi), m, alpha, o)
	}, []any{metric.Euclidean{}, []float64{0, 0}, []float64{4, 1}, unbounded, 2.0, &distribution.Options{}}},
	{"distribution.New", func(ctx context.Context, s metric.GreatCircle, m emd.Model, alpha float64, o *distribution.Options) (*distribution.Distribution[metric.LatLon], error) {
		return distribution.New(ctx, distribution.Sphere(s), m, alpha, o)
	}, []any{metric.GreatCircle{Radius: 1}, unbounded, 2.0, &distribution.Options{Spacing: 0.5}}},
	{"distribution.New", func(ctx context.Context, c *metric.Clustered, m emd.Model, alpha float64) (*distribution.Distribution[int], error) {
		return distribution.New(ctx, distribution.Finite(c), m, alpha, nil)
	}, []any{departments, modelOne, 2.0}},
	{"distribution.Distribution.Release", spread.Release, []any{seeded(), lengths}},
	{"distribution.Distribution.Collect", spread.Collect, []any{seeded(), lengths}},
	{"distribution.Distribution.Estimate", spread.Estimate, []any{reported}},
	{"distribution.Histogram.Records", histogram.Records, []any{seeded(), 5}},
	{"distribution.Histogram.Error", histogram.Error, []any{seeded(), 0.5, &distribution.ErrorOptions{Draws: 10}}},
	{"emd.Report.Merge", func(s *emd.Report) error { return testkit.Must(spread.Release(seeded(), lengths)).Merge(s) }, []any{reported}},
	{"emd.Report.UnmarshalBinary", func(b []byte) error { return new(emd.Report).UnmarshalBinary(b) }, []any{testkit.Must(reported.MarshalBinary())}},
	{"frequency.Estimator.Distribution", frequencies.Distribution, []any{estimated}},
	{"emd.Guarantee.UnmarshalJSON", new(emd.Guarantee).UnmarshalJSON, []any{testkit.Must(perUnit.MarshalJSON())}},
	{"emd.Guarantee.UnmarshalJSON", func(b []byte) error { return new(emd.Guarantee).UnmarshalJSON(b) }, []any{testkit.Must(perUnit.MarshalJSON())}},
	{"frequency.NewGKRR", frequency.NewGKRR, []any{departments, 3.0}},
	{"frequency.GKRR.Channel", gkrr.Channel, nil},
	{"frequency.GKRR.Release", gkrr.Release, []any{seeded(), 1}},
	{"emd.Model.Check", func(m emd.Model) (emd.Model, error) { return m.Check("emd: Model.Check") }, []any{central}},
	{"emd.Model.CheckBounded", func(m emd.Model) error { return m.CheckBounded("emd: Model.CheckBounded") }, []any{central}},
	{"accountant.Promise.Check", func(p emd.Promise) error { return p.Check("accountant: Promise.Check") }, []any{emd.Promise{Alpha: 1, Delta: 1e-6}}},
	{"emd.NewGuarantee", emd.NewGuarantee, []any{central, level}},
	{"emd.NewDiscrete", emd.NewDiscrete, []any{central, 1.0, emd.DP{Eps: 1, Delta: 1e-6}}},
	{"emd.Guarantee.Discrete", perUnit.Discrete, []any{1.0}},
	{"emd.Guarantee.Plus", perUnit.Plus, []any{perUnit}},
	{"frequency.NewItemWise", frequency.NewItemWise, []any{channel, central, &frequency.ItemWiseOptions{Delta: 1e-6, Space: path}}},
	{"frequency.ItemWiseBudget", frequency.ItemWiseBudget, []any{central, emd.Promise{Alpha: 5, Delta: 1e-6}, &frequency.BudgetOptions{}}},
	{"frequency.ItemWise.Release", itemwise.Release, []any{seeded(), threeUsers}},
	{"query.NewLinear", query.NewLinear[[]float64], []any{average, unbounded, emd.Promise{Alpha: 1}, &query.LinearOptions[[]float64]{}}},
	{"query.NewLinear", query.NewLinear[[]float64], []any{average, unbounded, emd.Promise{Alpha: 1, Delta: 1e-6}, &query.LinearOptions[[]float64]{Sample: points, Step: 0.25}}},
	{"query.Linear.Release", linear.Release, []any{seeded(), threePaths}},
	{"query.Landmarks", query.Landmarks[[]float64], []any{metric.Euclidean{}, 2.0, plane}},
	{"query.Similarity", query.Similarity, []any{[]float64{0.6, 0.8}}},
	{"query.Shares", query.Shares, []any{path}},
	{"query.LipschitzAtLeast", query.LipschitzAtLeast[[]float64], []any{average, points}},
	{"query.LinearMap", query.LinearMap[[]float64], []any{[][]float64{{1, 1}, {2, 0}}, average}},
	{"query.Region", query.Region[float64], []any{math.Abs, query.Smoothing{Width: 2}}},
	{"query.Ball", query.Ball[[]float64], []any{metric.Euclidean{}, []float64{1, 2}, 1.0, query.Smoothing{Width: 2}}},
	{"frequency.Project", frequency.Project, []any{path, []float64{0.5, -0.1, 0.3, 0.2, 0.1}}},
	{"emd.NewReduced", func(o emd.Sampling, model emd.Model) (*emd.Reduced[[]float64, []float64], error) {
		l, err := query.NewLinear(context.Background(), average, model, emd.Promise{Alpha: 1}, nil)
		if err != nil {
			return nil, err
		}
		return emd.NewReduced[[]float64, []float64](l, o)
	}, []any{reduceTo, reduceModel}},
	{"emd.Reduced.Release", reduced.Release, []any{seeded(), threePaths}},
	{"emd.PlanReduction", emd.PlanReduction, []any{unbounded, 0.5, emd.DP{Eps: 1, Delta: 1e-6}, &emd.PlanOptions{}}},
	{"emd.PlanReduction", emd.PlanReduction, []any{unbounded, 0.5, emd.DP{Eps: 1, Delta: 1e-6}, &emd.PlanOptions{Samples: []int{10, 20}, Value: func(p emd.ReducePlan) float64 { return p.Alpha }}}},
	{"accountant.Shuffle.Level", accountant.Shuffle.Level, []any{shuffle, 1e-6}},
	{"accountant.Shuffle.Delta", accountant.Shuffle.Delta, []any{shuffle, 5.0}},
	{"accountant.Shuffle.Budget", accountant.Shuffle.Budget, []any{shuffle, accountant.Promise{Alpha: 5, Delta: 1e-6}}},
	{"accountant.Shuffle.LevelInterval", accountant.Shuffle.LevelInterval, []any{bits, 1e-6}},
	{"accountant.Shuffle.DeltaInterval", accountant.Shuffle.DeltaInterval, []any{bits, 0.2}},
	{"accountant.Shuffle.BudgetInterval", accountant.Shuffle.BudgetInterval, []any{bits, accountant.Promise{Alpha: 0.2, Delta: 1e-6}}},
	{"accountant.NewRandomizer", accountant.NewRandomizer, []any{channel, path}},
	{"accountant.Shuffle.Level", shuffled.Level, []any{1e-6}},
	{"accountant.Shuffle.Delta", shuffled.Delta, []any{0.1}},
	{"accountant.Shuffle.MovedLevel", shuffled.MovedLevel, []any{accountant.Moved{Items: 1, Distance: 0.5}, 1e-6}},
	{"accountant.Shuffle.MovedDelta", shuffled.MovedDelta, []any{accountant.Moved{Items: 1, Distance: 0.5}, 0.1}},
	{"accountant.Shuffle.LevelInterval", shuffled.LevelInterval, []any{1e-6}},
	{"accountant.Shuffle.DeltaInterval", shuffled.DeltaInterval, []any{0.1}},
	{"accountant.Shuffle.MovedLevel", accountant.Shuffle.MovedLevel, []any{shuffle, accountant.Moved{Items: 1, Distance: 0.5}, 1e-6}},
	{"accountant.Shuffle.MovedDelta", accountant.Shuffle.MovedDelta, []any{shuffle, accountant.Moved{Items: 1, Distance: 0.5}, 0.1}},
	{"emd.Model.FromUserLevel", central.FromUserLevel, []any{emd.DP{Eps: 1, Delta: 1e-6}, 0.5}},
	{"emd.Model.FromItems", central.FromItems, []any{level}},

	{"emd.Guarantee.At", perUnit.At, []any{1.0}},
	{"emd.Guarantee.At", discrete.At, []any{1.0}},
	{"frequency.Estimator.ErrorBound", frequencies.ErrorBound, []any{int64(10)}},
	{"query.Linear.RadiusQuantile", linear.RadiusQuantile, []any{0.5}},
}

var halves = testkit.Must(kl10.NewNets(12, func(i int) (kl10.Net[float64], error) {
	step := math.Ldexp(1, -i)
	return kl10.Net[float64]{Len: 1 << i, At: func(k int) float64 { return (float64(k) + 0.5) * step }, Radius: step / 2}, nil
}))

var exponentialCalls = []call{
	{"kl10.NewBaseMeasure", kl10.NewBaseMeasure[float64, float64], []any{kl10.BaseMeasure[float64, float64]{
		Map: func(x float64) (float64, error) { return x, nil }, Lipschitz: 1, Beta: 0.5,
		Sigma: metric.Func[float64](func(x, y float64) float64 { return math.Abs(x - y) }),
		Draw:  func(r *rand.Rand) (float64, error) { return 0.5, nil }, MaxDraws: 10, MinMass: 0.5,
	}}},
	{"kl10.NewBaseMeasure", func(b kl10.BaseMeasure[float64, float64], x float64) (float64, error) {
		m, err := kl10.NewBaseMeasure(b)
		if err != nil {
			return 0, err
		}
		return m.Release(seeded(), x)
	}, []any{kl10.BaseMeasure[float64, float64]{
		Map: func(x float64) (float64, error) { return x, nil }, Lipschitz: 1, Beta: 0.5,
		Sigma: metric.Func[float64](func(x, y float64) float64 { return math.Abs(x - y) }),
		Draw:  func(r *rand.Rand) (float64, error) { return 0.5, nil }, MaxDraws: 10, MinMass: 0.5,
	}, 0.5}},
	{"kl10.NewNets", func(depth int, c kl10.Net[int], beta float64) (float64, error) {
		n, err := kl10.NewNets(depth, func(int) (kl10.Net[int], error) { return c, nil })
		if err != nil {
			return 0, err
		}
		if _, err := n.Draw(seeded()); err != nil {
			return 0, err
		}
		return n.MinMass(beta)
	}, []any{3, kl10.Net[int]{Len: 2, At: func(k int) int { return k }, Radius: 1}, 0.5}},
	{"kl10.Nets.Draw", halves.Draw, []any{seeded()}},
	{"kl10.Nets.MinMass", halves.MinMass, []any{0.5}},
	{"kl10.Nets.Beta", halves.Beta, []any{kl10.Target{Gamma: 0.5, Delta: 0.1}}},
	{"exponential.Best", exponential.Best, []any{twoSided, 1.0, &exponential.BestOptions{Prior: uniform}}},
	{"exponential.Mechanism.Release", (&exponential.Mechanism{Channel: channel}).Release, []any{seeded(), 2}},
	{"exponential.Standard", exponential.Standard, []any{path, 1.0, &exponential.Options{}}},
	{"exponential.Truncated", exponential.Truncated, []any{path, 1.0, 2.0, &exponential.Options{Outputs: []int{0, 2}}}},
	{"exponential.Lazy", exponential.Lazy, []any{path, 1.0, &exponential.Options{Outputs: []int{0, 2}}}},
	{"exponential.Standard", exponential.Standard, []any{path, 1.0, &exponential.Options{Outputs: []int{0, 2}}}},
	{"exponential.Weighted", exponential.Weighted, []any{path, 1.0, uniform, &exponential.Options{}}},
	{"exponential.Constant", exponential.Constant, []any{3, 1, metric.Unit("km")}},
	{"exponential.Relaxed", exponential.Relaxed, []any{twoSided, 1.0, &exponential.RelaxedOptions{}}},
	{"exponential.Relaxed", exponential.Relaxed, []any{twoSided, 1.0, &exponential.RelaxedOptions{Separation: 3, Prior: uniform, Tuned: true, Accuracy: true}}},
	{"exponential.Tight", exponential.Tight, []any{path, 1.0, &exponential.Options{}}},
	{"exponential.Tuned", exponential.Tuned, []any{path, 1.0, &exponential.Options{}}},
	{"exponential.Snapped", exponential.Snapped, []any{testkit.Must(metric.NewPoints([][2]float64{{0, 0}, {1, 2}, {3, 1}}, metric.Plane{})), 1.0, &exponential.Options{Outputs: []int{0, 2}}}},
	{"exponential.Remapped", exponential.Remapped, []any{metric.Same(testkit.Must(metric.NewPoints([][2]float64{{0, 0}, {1, 2}, {3, 1}}, metric.Plane{}))), 1.0, &exponential.RemappedOptions{Options: exponential.Options{Outputs: []int{0, 2}}, Prior: []float64{.5, .25, .25}}}},
	{"kl10.Misses", kl10.Misses, []any{channel, path, 1.0}},
	{"kl10.MostPrivate", kl10.MostPrivate, []any{twoSided, uniform, kl10.Target{Gamma: 1, Delta: 0.1}, &kl10.Options{}}},
}

var (
	ages        = testkit.Must(domain.NewBox([]domain.Column{{Lo: 0, Hi: 100}, {Categories: 3}}, &domain.BoxOptions{Depth: 2}))
	stations    = testkit.Must(domain.NewFinite(context.Background(), path, nil))
	records     = [][]float64{{31, 0}, {34, 1}, {67, 2}}
	synthesizer = testkit.Must(measure.NewSynthesizer(ages, 1, nil))
	counts      = testkit.Must(measure.CountAll(context.Background(), ages, records, nil))
	released    = testkit.Must(synthesizer.Release(seeded(), counts))
	privateMass = testkit.Must(private.New(stations, 1, nil))
	marshalled  = testkit.Must(counts.MarshalBinary())
)

func sequence(records [][]float64) iter.Seq2[[]float64, error] {
	return func(yield func([]float64, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}
}

var measureCalls = []call{
	{"domain.NewBox", domain.NewBox, []any{[]domain.Column{{Lo: 0, Hi: 100, Weight: 0.5}, {Categories: 3}}, &domain.BoxOptions{Depth: 2}}},
	{"domain.NewBox", domain.NewBox, []any{[]domain.Column{{Lo: 0, Hi: 100, Weight: 0.01}, {Lo: 1, Hi: 2, Weight: 1}}, &domain.BoxOptions{}}},
	{"domain.NewBox", domain.NewBox, []any{[]domain.Column{{Lo: 0, Hi: 9, Whole: true, Missing: true}, {Radius: 1}, {Taxonomy: taxonomy}}, &domain.BoxOptions{P: 1}}},
	{"domain.NewBox", domain.NewBox, []any{[]domain.Column{{Lo: 0, Hi: 100}, {Lo: 1, Hi: 2}}, &domain.BoxOptions{Splits: [][]int{{2, 2}, {2, 1}}}}},
	{"domain.NewSphere", domain.NewSphere, []any{1.0, &domain.SphereOptions{Depth: 2}}},
	{"domain.NewFinite", domain.NewFinite, []any{path, &domain.FiniteOptions{}}},
	{"domain.NewFolded", domain.NewFolded, []any{path, &domain.FoldedOptions{}}},
	{"domain.NewUltrametric", domain.NewUltrametric, []any{testkit.Must(metric.NewUltrametric([]int{2, 0, 1}, []float64{1, 2})), &domain.HierarchyOptions{}}},
	{"domain.NewTaxonomy", domain.NewTaxonomy, []any{taxonomy, &domain.HierarchyOptions{}}},
	{"domain.On", domain.On[[]float64], []any{testkit.Must(domain.NewFinite(context.Background(), points, nil)), points}},
	{"domain.Labels", domain.Labels[string], []any{stations, []string{"a", "b", "c", "d", "e"}}},
	{"domain.Labels", domain.Labels[float64], []any{stations, []float64{1, 2, 3, 4, 5}}},
	{"domain.Domain.Cell", ages.Cell, []any{records[0]}},
	{"domain.Domain.Weights", ages.Weights, []any{records, []float64{1, 2, 3}}},
	{"private.New", private.New[int], []any{stations, 1.0, &private.Options{}}},
	{"private.Measure.Release", privateMass.Release, []any{seeded(), uniform}},
	{"private.Measure.LowerBound", privateMass.LowerBound, nil},
	{"measure.Count", func(records [][]float64, o *measure.CountOptions) (*measure.Counts[[]float64], error) {
		return measure.Count(context.Background(), ages, sequence(records), o)
	}, []any{records, &measure.CountOptions{}}},
	{"measure.CountPersons", func(records [][]float64, most int, o *measure.CountOptions) (*measure.Counts[[]float64], error) {
		return measure.CountPersons(context.Background(), ages, func(yield func(measure.Row[int, []float64], error) bool) {
			for i, r := range records {
				if !yield(measure.Row[int, []float64]{Person: i % 2, Record: r}, nil) {
					return
				}
			}
		}, most, o)
	}, []any{records, 2, &measure.CountOptions{}}},
	{"measure.Counts.AddPerson", func(records [][]float64, most int) error { return measure.NewCounts(ages).AddPerson(records, most) }, []any{records, 2}},
	{"measure.CountAll", measure.CountAll[[]float64], []any{ages, records, &measure.CountOptions{}}},
	{"measure.Counts.Add", func(p []float64) error { return measure.NewCounts(ages).Add(p) }, []any{records[0]}},
	{"measure.Counts.AddN", func(p []float64, n int64) error { return measure.NewCounts(ages).AddN(p, n) }, []any{records[0], int64(3)}},
	{"measure.Counts.Merge", func(records [][]float64) error {
		c, err := measure.CountAll(context.Background(), ages, records, nil)
		if err != nil {
			return err
		}
		return measure.NewCounts(ages).Merge(c)
	}, []any{records}},
	{"measure.Counts.UnmarshalBinary", func(b []byte) error { return measure.NewCounts(ages).UnmarshalBinary(b) }, []any{marshalled}},
	{"measure.NewSynthesizer", measure.NewSynthesizer[[]float64], []any{ages, 1.0, &measure.SynthesizerOptions{}}},
	{"measure.NewSynthesizer", measure.NewSynthesizer[[]float64], []any{ages, 1.0, &measure.SynthesizerOptions{Relation: walk.AddRemoveOne, Levels: []int{1}, Shares: []float64{1}, Prune: 2, MaxCells: 100}}},
	{"measure.Synthesizer.LowerBound", synthesizer.LowerBound, []any{100.0}},
	{"measure.Synthesizer.UpperBound", testkit.Must(measure.NewSynthesizer(ages, 1, &measure.SynthesizerOptions{Levels: []int{2}})).UpperBound, []any{100.0}},
	{"measure.Synthesizer.Release", synthesizer.Release, []any{seeded(), counts}},
	{"measure.Synthesizer.Synthetic", synthesizer.Synthetic, []any{seeded(), records, 5}},
	{"measure.NewStream", measure.NewStream[[]float64], []any{ages, 1.0, &measure.StreamOptions{Growth: 2, Least: 3, Halves: 0.5, Blocks: &measure.SynthesizerOptions{Levels: []int{1}}}}},
	{"measure.Stream.Add", func(rng *rand.Rand, records [][]float64) error {
		return testkit.Must(measure.NewStream(ages, 1, &measure.StreamOptions{Least: 2})).Add(rng, records)
	}, []any{seeded(), records}},
	{"measure.Stream.Tick", testkit.Must(measure.NewStream(ages, 1, &measure.StreamOptions{Blocks: &measure.SynthesizerOptions{Relation: walk.AddRemoveOne}})).Tick, []any{seeded()}},
	{"measure.Stream.UpperBound", testkit.Must(measure.NewStream(ages, 1, &measure.StreamOptions{Blocks: &measure.SynthesizerOptions{Levels: []int{2}}})).UpperBound, []any{200.0}},
	{"measure.Release.Records", released.Records, []any{seeded(), 5, &measure.RecordOptions{}}},
	{"measure.Release.Error", released.Error, []any{seeded(), 0.95, &measure.ErrorOptions{}}},
	{"measure.Release.ErrorOf", released.ErrorOf, []any{seeded(), func(r *measure.Release[[]float64]) float64 { return r.Weights[0] }, 0.95, &measure.ErrorOptions{Draws: 20}}},
}

var (
	remapped = testkit.Must(anywhere.Line(context.Background(), 1, []float64{0, 2}, &anywhere.Options[float64]{Cells: 8, Anchors: 3, TimeLimit: 1}))
	corners  = anywhere.Grid{Low: []float64{0}, Step: 1, Count: []int{5}}
	narrow   = testkit.Must(exponential.Standard(context.Background(), path, 0.5, nil)).Channel
	extended = testkit.Must(anywhere.Extend(context.Background(), narrow, corners, 1, ""))
)

var lpCalls = []call{
	{"anywhere.Line", anywhere.Line, []any{1.0, []float64{0, 2}, &anywhere.Options[float64]{Region: []float64{-1, 3}, Cells: 8, Anchors: 3, TimeLimit: 1}}},
	{"anywhere.Line", anywhere.Line, []any{1.0, []float64{0, 2}, &anywhere.Options[float64]{Places: []float64{0, 1}, Prior: []float64{.5, .5}, Cells: 8}}},
	{"anywhere.Plane", anywhere.Plane, []any{1.0, [][2]float64{{0, 0}, {2, 1}}, &anywhere.Options[[2]float64]{Cells: 64, Anchors: 4, TimeLimit: 1}}},
	{"anywhere.Manhattan", anywhere.Manhattan, []any{1.0, [][]float64{{0, 0}, {2, 1}}, &anywhere.Options[[]float64]{Cells: 64, Anchors: 4, TimeLimit: 1}}},
	{"anywhere.Earth", anywhere.Earth, []any{1.0, []metric.LatLon{place, {Lat: place.Lat + .01, Lon: place.Lon}}, &anywhere.Options[metric.LatLon]{Cells: 64, Anchors: 4, TimeLimit: 1}}},
	{"anywhere.Remap.LossAt", remapped.LossAt, []any{1.0}},
	{"anywhere.Remap.PrivacyLoss", remapped.PrivacyLoss, []any{2.0}},
	{"anywhere.Remap.Release", remapped.Release, []any{seeded(), 1.0}},
	{"anywhere.Extend", anywhere.Extend, []any{narrow, corners, 1.0, metric.Unit("")}},
	{"anywhere.Extended.Release", extended.Release, []any{seeded(), []float64{1.3}}},
	{"anywhere.TriangulatedLevel", anywhere.TriangulatedLevel, []any{[][2]float64{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 1}}, [][3]int{{0, 1, 2}, {1, 2, 3}, {1, 3, 4}}, narrow}},
	{"lp.Choose", lp.Choose, []any{twoSided, 1.0, &lp.Options{Prior: uniform}}},
	{"lp.Choose", lp.Choose, []any{twoSided, 1.0, &lp.Options{Outputs: []int{0, 4}}}},
	{"lp.ConstOPT", lp.ConstOPT, []any{twoSided, 1.0, &lp.ConstOptions{Lambdas: []float64{10}, Replacement: [][]int{{0, 1}, {0, 1, 2}, {1, 2, 3}, {2, 3, 4}, {3, 4}}}}},
	{"lp.ConstOPT", lp.ConstOPT, []any{twoSided, 1.0, &lp.ConstOptions{Neighbors: 2}}},
	{"lp.ConstOptions.Size", (&lp.ConstOptions{Neighbors: 2}).Size, []any{twoSided}},
	{"lp.LevelLowerBound", lp.LevelLowerBound, []any{twoSided, kl10.Target{Gamma: 1, Delta: 0.1}}},
	{"lp.LowerBound", lp.LowerBound, []any{twoSided, 1.0, []int{0, 2, 4}}},
	{"lp.MostPrivate", lp.MostPrivate, []any{twoSided, kl10.Target{Gamma: 1, Delta: 0.1}, &lp.MostPrivateOptions{}}},
	{"lp.MostPrivateSolution.RecordsFor", testkit.Must(lp.MostPrivate(context.Background(), twoSided, kl10.Target{Gamma: 1, Delta: 0.1}, nil)).RecordsFor,
		[]any{0.1, func(n int) float64 { return 1 / float64(n) }}},
	{"lp.Optimal", lp.Optimal, []any{twoSided, 1.0, &lp.Options{Prior: skew, Outputs: []int{0, 2, 4}}}},
	{"lp.Optimal", func(ctx context.Context, f metric.Finite, o *lp.Options) (*lp.Solution, error) {
		return lp.Optimal(ctx, metric.Bimetric{Privacy: f}, 1, o) // the utility metric is not read
	}, []any{path, &lp.Options{Loss: func(x, y int) float64 { return max(0, float64(x-y)) }, Outputs: []int{1, 7}}}},
	{"lp.Options.Size", (&lp.Options{Outputs: []int{0, 2}}).Size, []any{twoSided}},
	{"lp.Spanner", lp.Spanner, []any{twoSided, 1.0, &lp.SpannerOptions{Options: lp.Options{Prior: skew}, Stretch: 1.5}}},
	{"lp.SpannerOptions.Size", (&lp.SpannerOptions{Stretch: 1.5}).Size, []any{twoSided}},
}

var mechanismKitCalls = []call{
	{"mechanismtest.LevelAtLeast", mechanismtest.LevelAtLeast[int], []any{channel, path, 0.1, &mechanismtest.Options[int, int]{Samples: 1000}}},
	{"mechanismtest.TestChannel", mechanismtest.TestChannel, []any{channel, path, &mechanismtest.Options[int, int]{Samples: 1000}}},
	{"mechanismtest.TestDistribution", mechanismtest.TestDistribution[int, int], []any{channel, 2, lawOf(channel.Row(2, nil)), &mechanismtest.Options[int, int]{Samples: 1000}}},
	{"mechanismtest.TestLevel", mechanismtest.TestLevel[int, int], []any{channel, 2, 3, 1.0, &mechanismtest.Options[int, int]{Samples: 1000}}},
	{"mechanismtest.TestMechanism", mechanismtest.TestMechanism[int, int], []any{channel, []int{0, 1, 2}, &mechanismtest.Options[int, int]{Samples: 1000}}},
}

func lawOf(p []float64) map[int]float64 {
	out := map[int]float64{}
	for y, x := range p {
		out[y] = x
	}
	return out
}

var (
	schemaFields = []table.Field{
		{Name: "age", Column: domain.Column{Lo: 0, Hi: 120, Whole: true}, Absent: []string{""}},
		{Name: "city", Column: domain.Column{Share: 0.5}, Names: []string{"Paris", "London"}, Other: "Paris"},
	}
	schema = testkit.Must(table.NewSchema(schemaFields))

	tableColumns = []domain.Column{{Lo: 0, Hi: 100}, {Categories: 3}}
	tables       = testkit.Must(table.New(tableColumns, 1, nil))
	tablePersons = testkit.Must(table.New(tableColumns, 1, &table.Options{Relation: walk.AddRemoveOne, PerPerson: 2}))
	tableRelease = testkit.Must(tables.Release(context.Background(), seeded(), records))
)

var tableCalls = []call{
	{"table.NewSchema", table.NewSchema, []any{schemaFields}},
	{"table.ReadSchema", func(text []byte) (*table.Schema, error) { return table.ReadSchema(bytes.NewReader(text)) },
		[]any{[]byte(`[{"name": "age", "kind": "whole", "lo": 0, "hi": 120, "missing": [""]}]`)}},
	{"table.ParseSchema", table.ParseSchema, []any{"age:whole:0..120,city:category:Paris|London|*other"}},
	{"table.New", table.New, []any{tableColumns, 1.0, &table.Options{Possible: func(lo, hi []float64) bool { return true }}}},
	{"table.New", table.New, []any{tableColumns, 1.0, &table.Options{Relation: walk.AddRemoveOne}}},
	{"table.New", table.New, []any{tableColumns, 1.0, &table.Options{Relation: walk.AddRemoveOne, PerPerson: 2}}},
	{"table.Synthesizer.Release", tables.Release, []any{seeded(), records}},
	{"table.Synthesizer.ReleasePersons", tablePersons.ReleasePersons, []any{seeded(), []measure.Row[string, []float64]{{Person: "a", Record: records[0]}, {Person: "b", Record: records[1]}}}},
	{"table.Plan", table.Plan, []any{tableColumns, 300, 1.0, &table.Options{Relation: walk.AddRemoveOne, PerPerson: 2}}},
	{"table.Release.Records", tableRelease.Records, []any{seeded(), 5}},
	{"table.Release.Error", tableRelease.Error, []any{seeded(), 1}},
	{"table.Release.Report", tableRelease.Report, []any{seeded(), schema, 1}},
	{"table.Schema.Separated", schema.Separated, []any{';'}},
	{"table.Schema.Write", schema.Write, []any{io.Discard, records[:2]}},
}

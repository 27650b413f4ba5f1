package frequency

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/metric"
)

// unread is a space of that many points whose distances must not be asked for.
type unread int

func (s unread) Len() int                { return int(s) }
func (unread) Distance(_, _ int) float64 { panic("read before the cheap checks") }

// What no constructor accepts, beside the numbers that internal/robust tries
// on all of them.
func TestConstructors_Refuse(t *testing.T) {
	ctx, nan := t.Context(), math.NaN()
	c := testkit.Must(metric.NewClustered(2, 2, .5))
	g := mustGKRR(t, c, 1)
	ch := testkit.Must(g.Channel(ctx))
	own := geometricChannel(t, line(t, 4), 1)
	bare := testkit.Must(mechanism.FromWeights(ctx, 4, 4, []float64{4, 1, 1, 1, 1, 4, 1, 1, 1, 1, 4, 1, 1, 1, 1, 4}, nil))
	half := testkit.Must(mechanism.NewGuarantee(1, .5, ""))
	small := testkit.Must(g.Guarantee().Within(.95))
	good := emd.Model{Trust: emd.Central, Users: 2, Items: 3, Diameter: 1}
	open := emd.Model{Trust: emd.Local, Diameter: 1}
	km := emd.Model{Trust: emd.Local, Items: 3, Diameter: 1, Unit: "km"}
	narrow := emd.Model{Trust: emd.Local, Items: 1, Diameter: .9}
	one := testkit.Must(metric.NewClustered(1, 1, 1))
	itemWise := func(c *mechanism.Channel, m emd.Model, o *ItemWiseOptions) error {
		return testkit.Err(NewItemWise(ctx, c, m, o))
	}
	frequencies := func(c *mechanism.Channel, s metric.Finite, m emd.Model, o *Options) error {
		return testkit.Err(New(ctx, c, s, m, o))
	}
	project := func(s metric.Finite, g ...float64) error {
		_, _, err := Project(ctx, s, g)
		return err
	}
	testkit.Refused(t, [][3]any{
		{project(c, 1, 0, 0), "frequency: Project: g has size 3", nil},
		{project(new(metric.Clustered)), "frequency: Project: ", metric.ErrEmpty},
		{project(space.Constant(3, nan), 1, -1, 1), "", nil},
		{testkit.Err(NewGKRR(nil, 1)), "frequency: NewGKRR: ", metric.ErrEmpty},
		{testkit.Err(NewGKRR(testkit.Must(metric.NewClustered(1<<20, 1<<9, 1)), 1)), "the limit is", nil},
		{testkit.Err(NewGKRR(c, 5e-324)), "alpha0 = 5e-324", nil},
		{testkit.Err(NewGKRR(one, 5e-324)), "alpha0 = 5e-324", nil},
		{testkit.Err(NewGKRR(testkit.Must(testkit.Must(metric.NewClustered(2, 3, .2)).Scaled(1e300, "")), 1e300)), "alpha0 = 1e+300", nil},
		{testkit.Err(g.Release(nil, -1)), "frequency: GKRR.Release: x, want an index", nil},
		{itemWise(nil, good, nil), "frequency: NewItemWise: ", metric.ErrEmpty},
		{itemWise(ch.WithGuarantee(mechanism.Guarantee{}), good, nil), "no guarantee", ErrNotPure},
		{itemWise(ch.WithGuarantee(half), good, nil), "frequency: NewItemWise: ", ErrNotPure},
		{itemWise(ch.WithGuarantee(small), good, nil), "up to 0.95", ErrNotPure},
		{itemWise(own.WithGuarantee(pureLevel(t, .97*own.Guarantee().Alpha())), good, &ItemWiseOptions{Space: line(t, 4)}), "audited", mechanism.ErrClaim},
		{itemWise(identityChannel(t, 4, nil), good, &ItemWiseOptions{Space: c}), "audited", mechanism.ErrClaim},
		{itemWise(ch, open, nil), "frequency: NewItemWise: Model.Items = 0", nil},
		{itemWise(ch, emd.Model{Items: 3, Diameter: 1}, nil), "Model.Trust = 0", nil},
		{itemWise(ch, narrow, &ItemWiseOptions{Space: c}), "above the model's diameter 0.9", nil},
		{itemWise(ch, good, &ItemWiseOptions{Space: line(t, 5)}), "Space has size 5, want 4", nil},
		{itemWise(ch, good, &ItemWiseOptions{Delta: 1}), "frequency: NewItemWise: Delta = 1", nil},
		{testkit.Err(ItemWiseBudget(ctx, open, emd.Promise{Alpha: 1}, nil)), "frequency: ItemWiseBudget: Model.Items = 0", nil},
		{testkit.Err(NewClustered(ctx, nil, good, nil)), "frequency: NewClustered: a GKRR that is not from NewGKRR", nil},
		{testkit.Err(NewClustered(ctx, g, emd.Model{}, nil)), "frequency: NewClustered: Model.Trust = 0", nil},
		{frequencies(bare, c, good, &Options{Delta: 1e-6}), "frequency: New: ", ErrNotPure},
		{frequencies(nil, c, good, nil), "frequency: New: ", metric.ErrEmpty},
		{frequencies(ch, nil, good, nil), "frequency: New: ", metric.ErrEmpty},
		{frequencies(ch, one, good, nil), "space has size 1, want 4", nil},
		{frequencies(testkit.Must(mustGKRR(t, c, 1e-7).Channel(ctx)), c, good, nil), "is above 1.05e+06", nil},
		{testkit.Err(NewLaplaceBaseline(ctx, unread(4), emd.Model{Trust: emd.Central, Items: 1}, 1)), "Model.Users = 0", nil},
		{frequencies(ch, c, narrow, nil), "above the model's diameter 0.9", nil},
		{frequencies(ch, line(t, 4), narrow, nil), "points 0 and 3 of the space are at distance 1", nil},
		{testkit.Err(NewHadamardBaseline(ctx, c, open, emd.DP{Eps: 1}, nil)), "frequency: NewHadamardBaseline: Model.Items = 0", nil},
		{testkit.Err(NewHadamardBaseline(ctx, c, narrow, emd.DP{Eps: 1}, nil)), "above the model's diameter 0.9", nil},
		{testkit.Err(NewLaplaceBaseline(ctx, c, km, 1)), "frequency: NewLaplaceBaseline: Model.Trust = 1, want Central", nil},
		{testkit.Err(NewLaplaceBaseline(ctx, c, emd.Model{Trust: emd.Shuffled, Users: 1, Items: 1}, 1)), "Model.Trust = 2, want Central", nil},
		{testkit.Err(NewLaplaceBaseline(ctx, c, emd.Model{Trust: emd.Central, Users: 1}, 1)), "Model.Items = 0", nil},
		{testkit.Err(NewLaplaceBaseline(ctx, c, good, 1e-20)), "eps = 1e-20", nil},
	})
	if err := itemWise(ch, emd.Model{Trust: emd.Shuffled, Items: math.MaxInt, Users: 3, Diameter: 1}, nil); err == nil && strconv.IntSize == 64 {
		t.Error("too many items")
	}
}

// Every release refuses data that do not fit the model, which name the user.
func TestReleases_RefuseData(t *testing.T) {
	ctx := t.Context()
	c := testkit.Must(metric.NewClustered(2, 2, .5))
	good, local := emd.Model{Trust: emd.Shuffled, Users: 2, Items: 3, Diameter: 1}, emd.Model{Trust: emd.Local, Items: 3, Diameter: 1}
	w := newItemWise(t, testkit.Must(mustGKRR(t, c, 1).Channel(ctx)), good, nil)
	curated := good
	curated.Trust = emd.Central
	lap := testkit.Must(NewLaplaceBaseline(ctx, c, curated, 1))
	releases := map[string]func(emd.Users[int]) error{
		"ItemWise.Release": func(u emd.Users[int]) error { return testkit.Err(w.Release(nil, u)) },
		"Laplace.Release":  func(u emd.Users[int]) error { return testkit.Err(lap.Release(nil, u)) },
	}
	for kind, f := range estimators(t, c, good, 1) {
		releases[kind+".Release"] = func(u emd.Users[int]) error { return testkit.Err(f.Release(nil, u)) }
		releases[kind+".Collect"] = func(u emd.Users[int]) error { return testkit.Err(f.Collect(ctx, nil, u)) }
	}
	for _, d := range []struct {
		users [][]int
		want  string
	}{
		{nil, "empty input"},
		{[][]int{{0, 1, 2}}, "1 users, not the model's 2"},
		{[][]int{{0, 1, 2}, {0, 1, 2}, {0, 1, 2}}, "more users than the model's 2"},
		{[][]int{{0, 1, 2}, {0, 1}}, "user 1 has not the model's 3 items"},
		{[][]int{{0, 1, 2, 3}, {0, 1, 2}}, "user 0 has not the model's 3 items"},
		{[][]int{{0, 1, 2}, {}}, "user 1 has no items"},
		{[][]int{{0, 1, 2}, {0, 1, 4}}, "user 1[2], want an index"},
		{[][]int{{0, 1, -1}, {0, 1, 2}}, "user 0[2], want an index"},
	} {
		for name, release := range releases {
			if err := release(slices.Values(d.users)); err == nil || !strings.Contains(err.Error(), d.want) {
				t.Errorf("%s: %v, want %s", name, err, d.want)
			}
		}
	}
	f := estimators(t, c, local, 1)["clusters"]
	done, cancel := context.WithCancel(ctx)
	cancel()
	testkit.Refused(t, [][3]any{
		{testkit.Err(f.Collect(done, nil, emd.One([]int{0, 1, 2}))), "", context.Canceled},
		{testkit.Err(f.Release(nil, slices.Values([][]int{{0, 1, 2}, {0, 1, 2}}))), "more users than the model's 1", nil},
		{testkit.Err(f.Release(nil, nil)), "frequency: Estimator.Release: ", metric.ErrEmpty},
		{testkit.Err(f.Estimate(&emd.Report{})), "frequency: Estimator.Estimate: ", fault.ErrEmpty},
		{testkit.Err(f.Estimate(counted([]int64{1}, 1))), "Report has size 1, want 4", nil},
	})
	if !math.IsInf(f.ErrorBound(0), 1) {
		t.Error("bound without items")
	}
	// The bad row of a lazy channel is found when an item uses it.
	bad := testkit.Must(mechanism.NewChannel(ctx, mechanism.Rows{Inputs: 2, Outputs: 2, Fill: func(x int, dst []float64) {
		dst[0], dst[1] = 1, []float64{1, math.NaN()}[x]
	}}, &mechanism.ChannelOptions{Lazy: true}))
	for _, m := range []int{2, 200_000} {
		w = newItemWise(t, bad.WithGuarantee(pureLevel(t, 1)), emd.Model{Trust: emd.Local, Items: m, Diameter: 1}, nil)
		items := make([]int, m)
		if _, err := w.Release(nil, emd.One(items)); err != nil {
			t.Error(err)
		}
		items[0] = 1
		if counts, err := w.Release(nil, emd.One(items)); err == nil || counts != nil {
			t.Errorf("m=%d: NaN weights went through: %v, %v", m, counts, err)
		}
	}
}

// What no constructor made promises nothing, releases nothing and tells no
// numbers, but names the constructor: zero values and nil pointers.
func TestMechanisms_ZeroValuesRefuse(t *testing.T) {
	testkit.Unmade[Estimator](t, "New, NewClustered, NewHadamardBaseline or NewLaplaceBaseline", "Distribution")
	testkit.Unmade[GKRR](t, "NewGKRR")
	testkit.Unmade[ItemWise](t, "NewItemWise", "Theorem")
	for _, w := range []*ItemWise{nil, {}} {
		if _, err := emd.NewReduced(w, emd.Sampling{Radius: 1, Delta: .1}); err == nil {
			t.Errorf("a Reduced of %v", w)
		}
	}
}

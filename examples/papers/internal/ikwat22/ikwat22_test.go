package ikwat22

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/internal/demotest"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibittest"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	testspace "github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// all is a program that runs such an exhibit.
func all(name string, run func(ctx context.Context, r *exhibit.Run) error) demotest.Program {
	return exhibittest.Program(exhibit.Exhibit{Name: name, Run: run})
}

// Few points are enough for all claims but those about time.
func TestExhibits_HoldOnFewPoints(t *testing.T) {
	for name, run := range map[string]func(ctx context.Context, r *exhibit.Run) error{
		"fig1": func(ctx context.Context, r *exhibit.Run) error {
			return byLevel(ctx, r, "fig1", words, 12, []float64{.3, .6, 1.2})
		},
		"fig2": func(ctx context.Context, r *exhibit.Run) error { return bySize(ctx, r, []int{15, 20}) },
		"fig3": func(ctx context.Context, r *exhibit.Run) error { return byProgram(ctx, r, 25) },
		"fig4": func(ctx context.Context, r *exhibit.Run) error {
			return byLevel(ctx, r, "fig4", places, 12, []float64{.002, .01, .05})
		},
		"table1": func(ctx context.Context, r *exhibit.Run) error { return sizes(ctx, r, []int{50, 100}) },
		"table3": func(ctx context.Context, r *exhibit.Run) error { return prices(ctx, r, 40) },
		"table4": func(ctx context.Context, r *exhibit.Run) error { return locations(ctx, r, 15) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			all(name, run).Must(t, "-quiet", "-out", dir)
			if strings.HasPrefix(name, "fig") {
				demotest.Picture(t, dir, "ikwat22-"+name+".png")
			}
			if len(demotest.Table(t, dir, "verdicts.csv")) < 2 {
				t.Error("fewer than two claims")
			}
		})
	}
}

// What should not be is seen: a mechanism of the paper that loses more than others do, or
// one that loses less than any can.
func TestSayAll_Verdicts(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*result)
		want   string
	}{
		"as claimed":              {func(*result) {}, "4 holds"},
		"at an end":               {func(b *result) { b.loss[theirs[1]][0], b.loss[theirs[0]][3] = 2, 2 }, "4 holds"},
		"at the lowest place":     {func(b *result) { b.loss[theirs[1]][1] = 2 }, "3 holds, 1 differs"},
		"at a later place":        {func(b *result) { b.loss[theirs[1]][2] = 2 }, "3 holds, 1 FAILS"},
		"as far from the optimum": {func(b *result) { b.loss[theirs[0]][2] = 2.9 }, "3 holds, 1 FAILS"},
		"below the lower bound":   {func(b *result) { b.floor[2] = 2.05 }, "3 holds, 1 FAILS"},
		"no optimum there":        {func(b *result) { b.loss[optimum][2] = math.NaN() }, "4 holds"},
	} {
		b := result{floor: []float64{1, 1, 1, 1}, loss: map[string][]float64{
			theirs[0]: {5, 5, 5, 5}, theirs[1]: {4, 4, 4, 4}, ours: {2.5, 2.5, 2.5, 2.5}, optimum: {2, 2, 2, 2},
		}}
		c.change(&b)
		var out, stderr strings.Builder
		say := func(_ context.Context, r *exhibit.Run) error { b.sayAll(r, 1, 3, "here"); return nil }
		status := demo.Run(t.Context(), "papers", []string{"-quiet", "-out", t.TempDir()}, &out, &stderr, all("x", say).Main)
		if (status == 0) == strings.Contains(c.want, "FAILS") || !strings.Contains(out.String(), "claims: "+c.want+"\n") {
			t.Errorf("%s: status %d, want %q in\n%s", name, status, c.want, out.String())
		}
	}
}

func TestClusters_AreWhole(t *testing.T) {
	const size = 4
	f := testkit.Must(metric.NewClustered(6, size, .1))
	got := clusters(f, 3*size, size, random.Seeded(3))
	for k := range 3 {
		some := slices.Sorted(slices.Values(got[k*size : (k+1)*size]))
		for i, x := range some {
			if x != some[0]/size*size+i {
				t.Errorf("cluster %d is %v", k, some)
			}
		}
	}
	if less := clusters(f, 2*size-1, size, random.Seeded(3)); !slices.Equal(less, got[:2*size-1]) {
		t.Errorf("%v is no beginning of %v", less, got)
	}
	if every := slices.Sorted(slices.Values(clusters(f, f.Len(), 5, random.Seeded(4)))); len(slices.Compact(every)) != f.Len() {
		t.Errorf("not all %d points: %v", f.Len(), every)
	}
}

// On equidistant points the sum has the point x itself and n-1 others, or where k inputs
// need not keep the loss, n-k others.
func TestFloor_OfEquidistantPoints(t *testing.T) {
	const n, d, level = 20, 2., .4
	f, q := testspace.Simplex(n, d), math.Exp(-level*d)
	for _, c := range []struct{ delta, share, want float64 }{
		{0, 1, d / 2 * (1 - 1/(1+(n-1)*q))},
		{.01, 1, d / 2 * (1 - .01 - 1/(1+(n-1)*q))},
		{.01, .95, d / 2 * (1 - .01 - 1/((n-1)*q))},
		{0, .85, d / 2 * (1 - 1/((n-3)*q))},
	} {
		if got := testkit.Must(floor(t.Context(), f, level, c.delta, c.share)); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("delta %v, share %v: %v, want %v", c.delta, c.share, got, c.want)
		}
	}
}

// The floor is below what the optimal mechanism for delta = 0 loses, and is so at the
// level that this has at any delta.
func TestFloor_IsBelowTheOptimum(t *testing.T) {
	r := random.Seeded(5)
	for range 6 {
		f := testspace.Uniform(20, r)
		for _, alpha := range []float64{.5, 2, 8} {
			o := testkit.Must(lp.Optimal(t.Context(), metric.Same(f), alpha, nil))
			for _, delta := range []float64{0, .02} {
				a := testkit.Must(o.Audit(t.Context(), f, &mechanism.AuditOptions{Delta: delta}))
				for _, share := range []float64{1, .9} {
					loss := testkit.Must(testkit.Must(o.Loss(t.Context(), f)).Quantile(share))
					if least := testkit.Must(floor(t.Context(), f, a.Hi, delta, share)); least > loss {
						t.Errorf("alpha %v, delta %v, share %v: floor %v above %v", alpha, delta, share, least, loss)
					}
				}
			}
		}
	}
}

// Of two points at distance 1 the exponential mechanism keeps p, with the level l at
// delta where p - e^l (1-p) = delta, and loses 1-p.
func TestAt_TwoPoints(t *testing.T) {
	for _, l := range []float64{.1, 1, 5} {
		p := testkit.Must(exponentialMech().at(t.Context(), testspace.Path(2, 1), l))
		if want := (1 - delta) / (1 + math.Exp(p.level)); math.Abs(p.loss-want) > 1e-6 || math.Abs(p.level-l) > near*l {
			t.Errorf("level %v: %+v, want a loss of %v", l, p, want)
		}
	}
}

// Where levels jump, what is below the jump counts, and what is always above is an error.
func TestAt_Jumps(t *testing.T) {
	f, whole := testspace.Path(2, 1), exponentialMech().builds[0]
	jump := func(low float64) scheme {
		return scheme{name: "jump", builds: []build{func(ctx context.Context, f metric.Finite, alpha float64) (*mechanism.Channel, error) {
			if alpha < 3 {
				return whole(ctx, f, low)
			}
			return whole(ctx, f, 9)
		}}}
	}
	if p := testkit.Must(jump(1).at(t.Context(), f, 2)); p.level > 1 || p.level == 0 {
		t.Errorf("%+v", p)
	}
	if p, err := jump(8).at(t.Context(), f, 1); err == nil || !strings.Contains(err.Error(), "jump: nothing at a level of 1") {
		t.Errorf("%+v, %v", p, err)
	}
}

// Of several ways the one of least loss counts.
func TestAt_Best(t *testing.T) {
	f, whole := testspace.Path(2, 1), exponentialMech().builds[0]
	stuck := func(ctx context.Context, f metric.Finite, _ float64) (*mechanism.Channel, error) {
		return whole(ctx, f, .1)
	}
	want := testkit.Must(whole.at(t.Context(), f, 1))
	for _, builds := range [][]build{{whole, stuck}, {stuck, whole}} {
		if got := testkit.Must(scheme{builds: builds}.at(t.Context(), f, 1)); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

func TestUniform_OfEquidistantPoints(t *testing.T) {
	if got := testkit.Must(uniform(testspace.Simplex(5, 3))); math.Abs(got-3*.8) > 1e-12 {
		t.Error(got)
	}
}

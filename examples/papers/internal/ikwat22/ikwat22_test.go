package ikwat22

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibittest"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	testspace "github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// Few points are enough for all claims but those on sizes of programs.
func TestExhibits_HoldOnFewPoints(t *testing.T) {
	few := slices.Clone(Exhibits[:1])
	for name, run := range map[string]func(ctx context.Context, r *exhibit.Run){
		"thm2": func(ctx context.Context, r *exhibit.Run) { theorem2(ctx, r, 15) },
		"thm3": func(ctx context.Context, r *exhibit.Run) { theorem3(ctx, r, 15) },
		"thm4": func(ctx context.Context, r *exhibit.Run) { theorem4(ctx, r, 25) },
		"fig1": func(ctx context.Context, r *exhibit.Run) {
			byLevel(ctx, r, "1", panel{fastText, 20, []float64{1, 2, 7}, 1, 3.5, .15, .3}, panel{gloVe, 20, []float64{.5, 1}, .5, 1, .05, .1}, panel{geoLife, 20, []float64{.3, .8}, .3, .8, .15, .3})
		},
		"table2": func(ctx context.Context, r *exhibit.Run) {
			r.WriteCharts("ikwat22-fig2.png", bySize(ctx, r, "2", fastText, []int{20, 30}, .2))
		},
		"table3": func(ctx context.Context, r *exhibit.Run) { table3(ctx, r, 30) },
	} {
		few = append(few, exhibit.Exhibit{Name: "IKWAT22/" + name, Run: run})
	}
	exhibittest.Hold(t, few, nil, "ikwat22-fig1.png", "ikwat22-fig2.png")
}

// What a scheme saves against the best of others, written beside the paper's range.
func TestLess_AgainstTheBest(t *testing.T) {
	c := curves{x: []float64{1, 2, 3}, points: map[string][]point{
		constOPT10.name: {{loss: 9}, {loss: 7}, {loss: 12}}, spannerMech.name: {{loss: 20}, {loss: 20}, {loss: 20}}, exponentialMech.name: {{loss: 10}, {loss: math.NaN()}, {loss: 10}},
	}}
	for want, k := range map[string][4]float64{"10 to 65 % less holds": {1, 2, .1, .3}, "65 % less better": {2, 2, .1, .3}, "20 % more differs": {3, 3, .1, .3},
		"20 % more holds": {3, 3, -.2, .1}, "20 % more to 65 % less differs": {2, 3, .1, .3}, "10 % less differs": {1, 1, .3, .4}} {
		least, most := c.less(constOPT10, k[0], k[1], spannerMech, exponentialMech)
		if got, verdict := percent(least, most, k[2], k[3]); got+" "+string(verdict) != want {
			t.Errorf("%s, %s, want %s", got, verdict, want)
		}
	}
}

// Lemma 1's limits to six digits, and sizes that the paper prints: nonzeros of OPTMech,
// rows at r = 1, and to .2 % those on the cells of GeoLife.
func TestKnownAnswers(t *testing.T) {
	for _, k := range []struct {
		n         int
		eps, want float64
	}{{10, 5, .178541}, {100, 10, .0167263}} {
		plain, weighted, _ := holeLosses(t.Context(), hole(k.n, 1e-9), k.eps)
		if got := weighted / plain; math.Abs(got/k.want-1) > 5e-6 {
			t.Errorf("n = %d: %v, want %v", k.n, got, k.want)
		}
	}
	if _, ours := nonzeros(t.Context(), cells(t.Context(), 50, 0), optMech); ours != 250_000 {
		t.Errorf("OPTMech on 50 points: %d nonzeros", ours)
	}
	if _, ours := nonzeros(t.Context(), cells(t.Context(), 400, 0), constOPT5); math.Abs(float64(ours)/3.46e5-1) > .002 {
		t.Errorf("ConstOPT (5) on 400 cells: %d nonzeros, want 3.46e5", ours)
	}
}

// The words of a smaller sample are the first of a larger one, none twice; about half of the
// others are one of the nearest.
func TestSample_OfTheNearest(t *testing.T) {
	const n, near = 300, 4
	f := testspace.Formula(10_000, func(i, j int) float64 { return math.Abs(float64(i - j)) })
	all := sample(f, n, near, random.Seeded(3))
	if !slices.Equal(sample(f, n/2, near, random.Seeded(3)), all[:n/2]) || len(slices.Compact(slices.Sorted(slices.Values(all)))) != n {
		t.Errorf("no beginning, or one of them twice: %v", all)
	}
	close := 0
	for i, x := range all {
		if slices.ContainsFunc(all[:i], func(y int) bool { return max(x-y, y-x) <= near/2 }) {
			close++
		}
	}
	if close < n/3 || close > n*2/3 { // wrong with probability below 1e-6, over all seeds
		t.Errorf("%d of %d", close, n)
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
		if got := floor(t.Context(), f, level, c.delta, c.share); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("delta %v, share %v: %v, want %v", c.delta, c.share, got, c.want)
		}
	}
	if got := uniform(f); math.Abs(got-d*(n-1)/n) > 1e-12 {
		t.Errorf("uniform: %v", got)
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
					if least := floor(t.Context(), f, a.Hi, delta, share); least > loss {
						t.Errorf("alpha %v, delta %v, share %v: floor %v above %v", alpha, delta, share, least, loss)
					}
				}
			}
		}
	}
}

// Of two points at distance 1 the exponential mechanism keeps p, with the level l at
// delta where p - e^l (1-p) = delta, and loses 1-p. Of several ways the one of least loss
// counts, and where levels jump what is below the jump.
func TestAt_TwoPoints(t *testing.T) {
	two := space{testkit.Must(metric.Densify(t.Context(), testspace.Path(2, 1))), nil}
	whole := exponentialMech.builds[0]
	stuck := func(ctx context.Context, s space, _ float64) point { return whole(ctx, s, .1) }
	jump := func(ctx context.Context, s space, alpha float64) point {
		return whole(ctx, s, map[bool]float64{true: 1, false: 9}[alpha < 3])
	}
	for _, builds := range [][]build{{whole}, {whole, stuck}, {stuck, whole}} {
		for _, l := range []float64{.2, 1, 5} {
			p := scheme{name: "two", builds: builds}.at(t.Context(), two, l)
			if want := (1 - delta) / (1 + math.Exp(p.level)); math.Abs(p.loss-want) > 1e-6 || math.Abs(p.level-l) > near*l {
				t.Errorf("level %v: %+v, want a loss of %v", l, p, want)
			}
		}
	}
	if p := (scheme{name: "jump", builds: []build{jump}}).at(t.Context(), two, 2); p.level > 1 || p.level == 0 {
		t.Errorf("%+v", p)
	}
	exhibittest.Program(exhibit.Exhibit{Name: "X/y", Run: func(ctx context.Context, r *exhibit.Run) {
		scheme{name: "jump", builds: []build{jump}}.at(ctx, two, .1)
	}}).Rejects(t, map[string][]string{"papers: X/y: jump: nothing at a level of 0.1\n": {"-out", t.TempDir()}})
}

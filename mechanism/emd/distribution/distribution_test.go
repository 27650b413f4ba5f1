package distribution

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
)

// promise is level 1 in a model.
func promise(m emd.Model) emd.Guarantee {
	return testkit.Must(emd.NewGuarantee(m, testkit.Must(mechanism.NewGuarantee(1, 0, ""))))
}

// oneUser is a curator of a single user: noise of level alpha in all.
var oneUser = emd.Model{Trust: emd.Central, Users: 1}

// planAt is the domain's plan with a quantum chosen for the test, 0 for that of a
// release at level alpha.
func planAt[P any](t testing.TB, d *Domain[P], alpha, quantum, spacing float64) (plan[P], float64) {
	t.Helper()
	g, err := d.open(t.Context(), "test")
	testkit.Check(t, err)
	s := setting{noise: 1 / alpha, quantum: quantum, spacing: spacing}
	if quantum == 0 {
		s = testkit.Must((&Distribution[P]{diameter: g.diameter, planned: emd.Report{Users: 1, Reports: 1}}).setting("test", alpha, spacing))
	}
	return testkit.Must(g.plan(t.Context(), "test", s)), g.diameter
}

// part is a coordinate of a user's mean, k + f with 0 <= f < 1.
type part struct {
	k int64
	f float64
}

// meanOf is the mean of Phi over the items, where Phi is of integers.
func meanOf(p plan[int], items ...int) []part {
	acc := make([]int64, p.Work())
	for _, x := range items {
		p.add(acc, x, 1)
	}
	p.Finish(acc)
	mean, m := make([]part, p.Dim()), int64(len(items))
	for i := range mean {
		mean[i] = part{acc[i] / m, float64(acc[i]%m) / float64(m)}
	}
	return mean
}

// roundedMean is the mean of Phi over the items as given, by the words at which its
// coordinates are rounded up.
func roundedMean[P any](t testing.TB, p plan[P], items ...P) []part {
	t.Helper()
	round, dst, mean := p.rounder(), make([]int64, p.Dim()), make([]part, p.Dim())
	touched := make([]bool, p.Dim())
	for seed := range uint64(20) { // any that may be rounded up is, once
		testkit.Check(t, round(dst, random.Seeded(seed), items))
		for i, y := range dst {
			touched[i] = touched[i] || y > 0
		}
	}
	for i := range mean {
		if touched[i] {
			whole, up := testkit.Dithered(func(rng *rand.Rand) int64 {
				testkit.Check(t, round(dst, rng, items))
				return dst[i]
			})
			mean[i] = part{whole, float64(up) / 0x1p56}
		}
	}
	return mean
}

// chance is the probability that a coordinate of a user's mean becomes y, but for the
// factor of the noise: the exact law of the rounding and discrete Laplace.
func chance(v part, y int64, a float64) float64 {
	at := func(k int64) float64 { return math.Exp(-a * math.Abs(float64(y-k))) }
	return (1-v.f)*at(v.k) + v.f*at(v.k+1)
}

// worstLoss is the largest ln P{y}/P'{y} over all outcomes of two users' reports.
// Coordinates are independent. Away from the integers around both means the ratio
// of one is monotone or constant, so its largest value is taken near them.
func worstLoss(s, t []part, a float64) float64 {
	loss := 0.0
	for i := range s {
		worst := 0.0
		for _, c := range []int64{s[i].k, t[i].k} {
			for y := c - 3; y <= c+3; y++ {
				worst = max(worst, math.Log(chance(s[i], y, a)/chance(t[i], y, a)))
			}
		}
		loss += worst
	}
	return loss
}

// usersUpTo returns all multisets of 1 to m of k items.
func usersUpTo(k, m int) (list [][]int) {
	for n := range m {
		list = append(list, testkit.Multisets(k, n+1)...)
	}
	return list
}

// privateSpaces are small domains of indices with the distances that promises are
// about.
func privateSpaces(t testing.TB) map[string]struct {
	d     *Domain[int]
	space metric.Finite
} {
	tree := testkit.Must(metric.NewTree([]int{-1, 0, 0, 1, 1, 2, 3}, []float64{0, 1.4, 0.4, 0.7, 0, 2.2, 0.3}))
	ultra := testkit.Must(metric.NewUltrametric([]int{2, 0, 3, 1}, []float64{0.3, 2.7, 0.3}))
	clusters := testkit.Must(testkit.Must(metric.NewClustered(2, 2, 0.3)).Scaled(3, ""))
	clustered := testkit.Must(metric.NewClustered(2, 2, 0.3))
	points := testkit.Must(metric.NewPoints([]float64{0.1, 1, 0.3, 2.2}, metric.Func[float64](func(x, y float64) float64 { return math.Abs(x - y) })))
	plane := space.Euclidean([][]float64{{0, 0}, {0.3, 0}, {1, 1.1}, {0.2, 0.9}})
	return map[string]struct {
		d     *Domain[int]
		space metric.Finite
	}{
		"tree":        {Tree(tree), tree.PathMetric()},
		"ultrametric": {Finite(ultra), ultra},
		"clusters":    {Finite(clusters), clusters},
		"clustered":   {Finite(clustered), clustered},
		"points":      {Finite(points), points},
		"plane":       {Finite(plane), plane},
	}
}

// private checks the exact probabilities of all reports of any two users with the given means: no
// ratio exceeds e^(alpha d_EM), and one comes near, to tight.
func private(t *testing.T, what string, alpha, a, tight float64, means [][]part, d func(u, v int) float64) {
	t.Helper()
	nearest := 0.0
	for u := range means {
		for v := range means {
			if u == v {
				continue
			}
			d, loss := d(u, v), worstLoss(means[u], means[v], a)
			if loss > alpha*d*(1+1e-9)+1e-9 {
				t.Fatalf("%s, alpha %v: users %d and %d at d_EM %v: loss %v", what, alpha, u, v, d, loss)
			}
			if d > 1e-9 {
				nearest = max(nearest, loss/(alpha*d))
			}
		}
	}
	if nearest < tight {
		t.Errorf("%s, alpha %v: loss at most %v of what is promised", what, alpha, nearest)
	}
}

// Users of up to three items on small spaces; with coarse integers too, where the rounding of means
// matters: with a = alpha/L for ln(1 + alpha/L), a map not rounded down or a mean rounded to the
// nearest this fails.
func TestDistribution_IsPrivate(t *testing.T) {
	testkit.Slow(t)
	for name, c := range privateSpaces(t) {
		users := usersUpTo(c.space.Len(), 3)
		distance := distances(t, c.space, users)
		for _, quantum := range []float64{0, 0.25, 0.0625}[:testkit.Sweep(2, 3)] {
			for _, alpha := range []float64{0.5, 8} {
				for _, spacing := range []float64{1e-9, 0.8} {
					p, _ := planAt(t, c.d, alpha, quantum, spacing)
					means := make([][]part, len(users))
					for u, items := range users {
						means[u] = meanOf(p, items...)
					}
					tight := 0.99
					if quantum > 0 {
						tight = 0.2
					}
					private(t, fmt.Sprintf("%s, quantum %v, spacing %v", name, quantum, spacing), alpha, p.level(alpha), tight, means, distance)
				}
			}
		}
	}
}

// distances are those of users, by a solver.
func distances(t testing.TB, space metric.Finite, users [][]int) func(u, v int) float64 {
	all := make([][]float64, len(users))
	for u := range users {
		for v := range users {
			all[u] = append(all[u], testkit.Must(wasserstein.DistanceEM(t.Context(), space, users[u], users[v])))
		}
	}
	return func(u, v int) float64 { return all[u][v] }
}

// Items of a real line as they are given: the same.
func TestDistribution_LineIsPrivate(t *testing.T) {
	const alpha = 3.0
	at := []float64{-3, -0.9, -0.21, 0.4, 0.42, 1.3, 9}
	for _, quantum := range []float64{0, 0.25} {
		p, _ := planAt(t, Line(-1, 1.7), alpha, quantum, 0.5)
		var users [][]float64
		var means [][]part
		for _, u := range usersUpTo(len(at), 2) {
			var x []float64
			for _, i := range u {
				x = append(x, min(max(at[i], -1), 1.7))
			}
			users, means = append(users, x), append(means, roundedMean(t, p, x...))
		}
		private(t, fmt.Sprintf("quantum %v", quantum), alpha, p.level(alpha), 0.9, means, func(u, v int) float64 { return testkit.Must(wasserstein.W1Samples(users[u], users[v])) })
	}
}

// A report's numbers have the law that the promise is proved for. Pearson's
// statistic over the outcomes of both coordinates: with 20 to 60 cells the chance
// of exceeding 140 is below 1e-6.
func TestDistribution_ReleaseHasTheStatedLaw(t *testing.T) {
	c := testkit.Must(testkit.Must(metric.NewClustered(2, 1, 1)).Scaled(2, ""))
	for seed, items := range [][]int{{0, 0, 1}, {1}, {0, 1, 1, 1, 1}} {
		p, _ := planAt(t, Finite(c), 1, 0.5, 1e-9)
		d := &Distribution[int]{plan: p, a: p.level(1), g: promise(emd.Model{Trust: emd.Local, Diameter: 2}), planned: emd.Report{Users: 1, Reports: 1}}
		r := random.Seeded(uint64(seed))
		const draws = 20_000
		seen := map[[2]int64]int{}
		for range draws {
			report := testkit.Must(d.Release(r, emd.One(items)))
			seen[[2]int64{report.Sums[0], report.Sums[1]}]++
		}
		s := meanOf(p, items...)
		z := math.Pow(math.Tanh(d.a/2), 2)
		chi, rest, cells := 0.0, float64(draws), 0
		restSeen := draws
		for x := int64(-30); x <= 30; x++ {
			for y := int64(-30); y <= 30; y++ {
				want := draws * z * chance(s[0], x, d.a) * chance(s[1], y, d.a)
				if want < 200 {
					continue
				}
				got := seen[[2]int64{x, y}]
				chi += (float64(got) - want) * (float64(got) - want) / want
				rest -= want
				restSeen -= got
				cells++
			}
		}
		chi += (float64(restSeen) - rest) * (float64(restSeen) - rest) / rest
		if cells < 10 || cells > 60 || chi > 140 {
			t.Errorf("%v: chi-square %v of %d cells", items, chi, cells)
		}
	}
}

// lineDistributions are distributions on [0, 1], by quantiles at the middles of
// their shares.
var lineDistributions = map[string]func(u float64) float64{
	"uniform": func(u float64) float64 { return u },
	"atom":    func(float64) float64 { return 1 / math.Pi },
	"atoms":   func(u float64) float64 { return math.Floor(u*5)/5 + 0.013 },
	"skewed":  func(u float64) float64 { return u * u * u * u },
	"ends":    func(u float64) float64 { return math.Round(u) },
}

// On the line the error falls like 1/sqrt(alpha n): no more than 2.5 times the lower
// bound 0.363/sqrt(A) that pairs of near points give any mechanism, for A = alpha
// n (hi-lo) from 1e2 to 1e5, and below the proved bound. Means of 20 runs of a fixed
// seed.
func TestDistribution_LineHasTheOptimalRate(t *testing.T) {
	testkit.Slow(t)
	const k = 5000
	for name, quantile := range lineDistributions {
		items := make([]float64, k)
		share := slices.Repeat([]float64{1.0 / k}, k)
		for i := range items {
			items[i] = quantile((float64(i) + 0.5) / k)
		}
		for _, a := range []float64{1e2, 1e3, 1e4, 1e5} {
			d := testkit.Must(New(t.Context(), Line(0, 1), oneUser, a, nil))
			r := random.Seeded(1)
			const runs = 20
			mean := 0.0
			for range runs {
				h := testkit.Must(d.Estimate(t.Context(), testkit.Must(d.Release(r, emd.One(items)))))
				mean += testkit.Must(wasserstein.W1LineBetween(h.Points, h.Weights, items, share)) / runs
			}
			lower := 0.363 / math.Sqrt(a)
			t.Logf("%s, A = %v: %.5f, %.2f of the lower bound, proved %.5f", name, a, mean, mean/lower, d.ErrorBound())
			if mean > 2.5*lower || mean > d.ErrorBound() || d.ErrorBound() > 9*lower {
				t.Errorf("%s, A = %v: error %v, %v times the lower bound, proved %v", name, a, mean, mean/lower, d.ErrorBound())
			}
		}
	}
}

// The map that is chosen errs as little as it did, over the diameter, on spread and on concentrated
// items, and less than is proved.
func TestDistribution_FiniteErrors(t *testing.T) {
	clusters := testkit.Must(metric.NewClustered(20, 10, 0.1))
	for _, c := range []struct {
		space metric.Finite
		a     float64
		want  [2]float64 // of spread and of concentrated items
	}{
		{space.Formula(64, func(i, j int) float64 { return math.Abs(float64(i-j)) / 63 }), 1e4, [2]float64{0.0063, 0.0022}},
		{clusters, 1e5, [2]float64{0.0025, 0.00015}}, {clusters, 1e2, [2]float64{0.25, 0.17}},
	} {
		k := c.space.Len()
		spread := make([]int, 4*k)
		for i := range spread {
			spread[i] = []int{i % k, i * i % k}[i%2]
		}
		d := testkit.Must(New(t.Context(), Finite(c.space), oneUser, c.a, nil))
		for kind, items := range [][]int{spread, {k / 7, k / 2}} {
			p := make([]float64, k)
			for _, x := range items {
				p[x] += 1 / float64(len(items))
			}
			r, mean := random.Seeded(1), 0.0
			const runs = 40
			for range runs {
				h := testkit.Must(d.Estimate(t.Context(), testkit.Must(d.Release(r, emd.One(items)))))
				mean += testkit.Must(wasserstein.Distance(t.Context(), c.space, scaled(h.Weights), p)) / runs
			}
			if mean > c.want[kind] || mean > d.ErrorBound() {
				t.Errorf("%T, A = %v: error %v, want at most %v; proved %v", c.space, c.a, mean, c.want[kind], d.ErrorBound())
			}
		}
	}
}

// In the Local trust the errors are those of sqrt(n) users, and reports add up in
// any order, through their encoding too.
func TestDistribution_LocalReports(t *testing.T) {
	const n = 2000
	d := testkit.Must(New(t.Context(), Line(0, 1), emd.Model{Trust: emd.Local}, 20, &Options{Reports: n}))
	data := func(yield func([]float64) bool) {
		for u := range n {
			if !yield([]float64{float64(u) / n, 0.5}) {
				return
			}
		}
	}
	all := testkit.Must(d.Collect(t.Context(), random.Seeded(1), data))
	var sum emd.Report
	r := random.Seeded(1)
	for items := range data {
		one := testkit.Must(d.Release(r, emd.One(items)))
		var got emd.Report
		testkit.Check(t, got.UnmarshalBinary(testkit.Must(one.MarshalBinary())))
		testkit.Check(t, sum.Merge(&got))
	}
	if fmt.Sprint(*all) != fmt.Sprint(sum) || sum.Users != n || sum.Reports != n {
		t.Errorf("%v, %v", *all, sum)
	}
	h := testkit.Must(d.Estimate(t.Context(), &sum))
	items := []float64{}
	for own := range data {
		items = append(items, own...)
	}
	share := slices.Repeat([]float64{1 / float64(len(items))}, len(items))
	got := testkit.Must(wasserstein.W1LineBetween(h.Points, h.Weights, items, share))
	bar := testkit.Must(h.Error(t.Context(), r, 0.999, nil))
	t.Logf("error %v, bar %+v, bound %v", got, bar, d.ErrorBound())
	if got > d.ErrorBound() || got > 2*bar.Hi {
		t.Errorf("error %v, bar %+v, bound %v", got, bar, d.ErrorBound())
	}
}

// Reports of domains of equal shape, of other maps, units or places, do not mix, and
// those of equal arguments do.
func TestDistribution_RefusesReportsOfOthers(t *testing.T) {
	line := func(lo, hi float64, unit metric.Unit) *Distribution[float64] {
		return testkit.Must(New(t.Context(), Line(lo, hi), emd.Model{Trust: emd.Central, Users: 1, Unit: unit}, 64, nil))
	}
	first := line(0, 1, "")
	report := testkit.Must(first.Release(random.Seeded(1), emd.One([]float64{0.5})))
	for name, other := range map[string]*Distribution[float64]{"place": line(1, 2, ""), "unit": line(0, 1, "km")} {
		with := testkit.Must(other.Release(random.Seeded(1), emd.One([]float64{0.5})))
		if len(with.Sums) != len(report.Sums) || with.Level != report.Level {
			t.Fatalf("%s: %d sums, level %v", name, len(with.Sums), with.Level)
		}
		if report.Merge(with) == nil {
			t.Errorf("%s: merged", name)
		}
		if _, err := other.Estimate(t.Context(), report); err == nil {
			t.Errorf("%s: estimated", name)
		}
	}
	if err := report.Merge(testkit.Must(line(math.Copysign(0, -1), 1, "").Release(random.Seeded(2), emd.One([]float64{0.5})))); err != nil {
		t.Error(err)
	}
	marks := map[uint32]bool{}
	for _, order := range [][]int{{0, 1, 2, 3}, {2, 3, 0, 1}, {0, 2, 1, 3}} {
		var pts [][]float64
		for _, i := range order {
			pts = append(pts, [][]float64{{0, 0}, {0.3, 0}, {1, 1.1}, {0.2, 0.9}}[i])
		}
		d := testkit.Must(New(t.Context(), Finite(space.Euclidean(pts)), oneUser, 64, nil))
		marks[d.planned.Plan] = true
	}
	for _, norm := range []metric.Space[[]float64]{metric.Manhattan{}, metric.Euclidean{}, metric.Chebyshev{}} {
		d := testkit.Must(New(t.Context(), Box(norm, []float64{0}, []float64{1}), oneUser, 64, nil))
		marks[d.planned.Plan] = true
	}
	if len(marks) != 3+3 {
		t.Errorf("%d different plans", len(marks))
	}
}

// Sums that no honest report has still give a distribution.
func TestDistribution_EstimatesOfDamagedReports(t *testing.T) {
	for name, c := range privateSpaces(t) {
		damaged(t, name, c.d, 0)
	}
	damaged(t, "line", Line(0, 1), 0)
	damaged(t, "box", Box(metric.Euclidean{}, []float64{0, 0}, []float64{1, 2}), []float64{0, 0})
	damaged(t, "sphere", Sphere(metric.GreatCircle{Radius: 1}), metric.LatLon{})
}

func damaged[P any](t *testing.T, name string, domain *Domain[P], x P) {
	d := testkit.Must(New(t.Context(), domain, oneUser, 1e3, nil))
	r := testkit.Must(d.Release(nil, emd.One([]P{x})))
	for i := range r.Sums {
		r.Sums[i] = []int64{math.MaxInt64, 0, math.MinInt64, math.MinInt64, math.MaxInt64 / 3}[i%5]
	}
	h, err := d.Estimate(t.Context(), r)
	if err != nil || !(math.Abs(floats.Sum(h.Weights)-1) < 1e-9) || !(floats.Min(h.Weights) >= 0) {
		t.Errorf("%s: %v, %v", name, h, err)
	}
}

// Rounding to whole numbers adds up to 1/4 a user to the variance, none where every
// user has one item: seen where the noise itself is nearly none.
func TestDistribution_NoiseCountsRounding(t *testing.T) {
	for items, want := range []float64{0: 0.05, 1: 0, 2: 0.05} { // sqrt(100/4)/100
		d := &Distribution[int]{a: 60, plan: plan[int]{whole: true}, g: promise(emd.Model{Trust: emd.Local, Items: items, Diameter: 1})}
		for _, reports := range []int64{1, 100} {
			size, deviation := d.noise(&emd.Report{Users: 100, Reports: reports})
			if math.Abs(size-want) > 1e-9 || math.Abs(deviation-want) > 1e-9 {
				t.Errorf("%d items, %d reports: %v and %v, want %v", items, reports, size, deviation, want)
			}
		}
	}
}

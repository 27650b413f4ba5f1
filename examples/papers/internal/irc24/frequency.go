package irc24

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/accountant"
	"github.com/metricdp/metricdp/mechanism/emd/distribution"
	"github.com/metricdp/metricdp/mechanism/emd/frequency"
	"github.com/metricdp/metricdp/wasserstein"
)

// estimateAll estimates how the items of many users are distributed.
func estimateAll(ctx context.Context, r *exhibit.Run) error {
	rng, draws := r.Rand(), exhibit.Size(r, 2, 8)
	var n []float64
	curves := make([][]float64, len(estimators))
	for _, users := range exhibit.Size(r, []int{1000, 3000, 10_000, 30_000}, []int{1000, 3000, 10_000, 30_000, 100_000, 300_000}) {
		n = append(n, float64(users))
		people := newCrowd(rng, users)
		for i, e := range estimators {
			estimate := exhibit.Must(e.build(ctx, emd.Model{Trust: emd.Central, Users: users, Items: held, Diameter: 1}))
			mean := 0.0
			for range draws {
				w := people.error(ctx, rng, estimate)
				mean += w / float64(draws)
			}
			curves[i] = append(curves[i], mean)
		}
	}
	end := len(n) - 1
	var series []demo.Series
	for i, e := range estimators {
		series = append(series, demo.Series{Name: e.name, X: n, Y: curves[i]})
	}
	for _, c := range []struct {
		under, over int
		v           exhibit.Verdict
		why         string
	}{
		{clustered, hadamard, exhibit.Holds, "both send items through a channel of their own"},
		{fitted, laplace, exhibit.Better, "both see all items; the distribution is new here"},
		{fitted, clustered, exhibit.Better, "a curator who sees the items need not randomize each"},
	} {
		less, more := curves[c.under][end], curves[c.over][end]
		r.Say("", fmt.Sprintf("mean W1, %.0f users of %d: %s, below %s", n[end], held, estimators[c.under].name, estimators[c.over].name), "below",
			fmt.Sprintf("%.4f, %.4f", less, more), exhibit.If(less < more, c.v), c.why)
	}
	if err := sayBounds(ctx, r, int(n[end]), curves[clustered][end]); err != nil {
		return err
	}
	return r.WriteCharts("irc24-frequency.png", &demo.Chart{
		Title: "Frequencies of clustered items", X: "users", Y: "mean W1 / diameter", LogX: true, LogY: true, Series: series,
		Note: fmt.Sprintf("User level: eps = %g. d_EM: alpha = %d. Users of %d items, delta = %g.", eps, alpha, held, slack),
	})
}

// crowd is users of items near their own cluster.
type crowd struct {
	items [][]int
	truth []float64
}

func newCrowd(rng *rand.Rand, users int) crowd {
	c := crowd{truth: make([]float64, clusters.Len())}
	for range users {
		home := int(float64(clusters.Clusters()) * math.Pow(rng.Float64(), 2))
		items := make([]int, held)
		for i := range items {
			at := home
			if rng.IntN(5) == 0 {
				at = rng.IntN(clusters.Clusters())
			}
			items[i] = at*clusters.Size() + rng.IntN(clusters.Size())*rng.IntN(clusters.Size())/clusters.Size()
			c.truth[items[i]] += 1 / float64(users*held)
		}
		c.items = append(c.items, items)
	}
	return c
}

// error is how far an estimate is from the truth.
func (c crowd) error(ctx context.Context, rng *rand.Rand, estimate estimator) float64 {
	p := exhibit.Must(estimate(ctx, rng, slices.Values(c.items)))
	return exhibit.Must(wasserstein.Distance(ctx, clusters, p, c.truth))
}

// estimator is a release, and the distribution that is made of it.
type estimator func(ctx context.Context, rng *rand.Rand, data emd.Users[int]) ([]float64, error)

// The estimators by name; user level hides a user at eps, the others under d_EM at
// alpha.
const (
	laplace = iota
	hadamard
	clustered
	fitted
)

var estimators = []struct {
	name  string
	build func(ctx context.Context, m emd.Model) (estimator, error)
}{
	laplace: {"user DP, Laplace", func(ctx context.Context, m emd.Model) (estimator, error) {
		f, err := frequency.NewLaplaceBaseline(ctx, clusters, m, eps)
		return inverted(f), err
	}},
	hadamard: {"user DP, Hadamard", func(ctx context.Context, m emd.Model) (estimator, error) {
		f, err := frequency.NewHadamardBaseline(ctx, clusters, m, emd.DP{Eps: eps, Delta: slack}, nil)
		return inverted(f), err
	}},
	clustered: {"d_EM, clusters", func(ctx context.Context, m emd.Model) (estimator, error) {
		f, err := clusteredResponse(ctx, m)
		return inverted(f), err
	}},
	fitted: {"distribution", func(ctx context.Context, m emd.Model) (estimator, error) {
		d, err := distribution.New(ctx, distribution.Finite(clusters), m, alpha, nil)
		return func(ctx context.Context, rng *rand.Rand, data emd.Users[int]) ([]float64, error) {
			report, err := d.Release(rng, data)
			if err != nil {
				return nil, err
			}
			h, err := d.Estimate(ctx, report)
			if err != nil {
				return nil, err
			}
			p := make([]float64, clusters.Len())
			for i, x := range h.Points {
				p[x] += h.Weights[i]
			}
			return p, nil
		}, err
	}},
}

// clusteredResponse is Algorithm 4 at the largest level per item that hides a user
// under d_EM.
func clusteredResponse(ctx context.Context, m emd.Model) (*frequency.Estimator, error) {
	b, err := frequency.ItemWiseBudget(ctx, m, emd.Promise{Alpha: alpha, Delta: slack}, nil)
	if err != nil {
		return nil, err
	}
	g, err := frequency.NewGKRR(clusters, b.Value)
	if err != nil {
		return nil, err
	}
	return frequency.NewClustered(ctx, g, m, &frequency.Options{Delta: slack})
}

// inverted is the distribution nearest to the unbiased estimate.
func inverted(f *frequency.Estimator) estimator {
	return func(ctx context.Context, rng *rand.Rand, data emd.Users[int]) ([]float64, error) {
		counts, err := f.Release(rng, data)
		if err != nil {
			return nil, err
		}
		e, err := f.Estimate(counts)
		if err != nil {
			return nil, err
		}
		p, _, err := f.Distribution(ctx, e)
		return p, err
	}
}

// sayBounds compares the error of Algorithm 4 with its bound, and the baselines'
// parameters with those that are private.
func sayBounds(ctx context.Context, r *exhibit.Run, users int, measured float64) error {
	m := emd.Model{Trust: emd.Central, Users: users, Items: held, Diameter: 1}
	f := exhibit.Must(clusteredResponse(ctx, m))
	bound := 2 * f.ErrorBound(int64(users*held))
	r.Say("", "mean W1 of Algorithm 4 and its bounds (8), (9)", bound, measured, exhibit.If(measured <= bound, exhibit.Holds),
		"the bounds with exact constants, twice as the nearest distribution is taken")
	lap := exhibit.Must(frequency.NewLaplaceBaseline(ctx, clusters, m, eps))
	// All items of one user at x move to y: two frequencies change by 1/n each.
	printed := 1 / (float64(users) * eps)
	r.Say("", "user-level eps of Laplace noise of scale 1/(n eps) on frequencies", eps, 2/float64(users)/printed,
		exhibit.If(lap.Guarantee().UserLevel().Eps <= eps && 2/float64(users)/printed > eps, exhibit.Corrected),
		"one user can move two frequencies by 1/n each: the scale must be 2/(n eps)")
	const items, level, delta = 1000, 1, 1e-12
	share := level / math.Sqrt(items*math.Log(items/delta))
	real := exhibit.Must(accountant.Composition{Count: items, Item: share}.Delta(ctx, level))
	exact := exhibit.Must(accountant.ComposeBudget(ctx, items, level, delta))
	r.Say("", "delta of 1000 items at eps/sqrt(m ln(m/delta)) each, eps = 1", delta, real, exhibit.If(real > delta && exact < share, exhibit.Corrected),
		fmt.Sprintf("exact composition; %s an item is private, %s is printed", demo.Number(exact), demo.Number(share)))
	return nil
}

package irc24

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/query"
	"github.com/metricdp/metricdp/metric"
)

// linear releases the mean over users of the means of Lipschitz queries.
func linear(ctx context.Context, r *exhibit.Run) error {
	chosen := exhibit.Must(emd.ChooseAlpha(moves))
	r.Say("", "alpha that hides the moves of Section 3 at eps = 0.2", float64(alpha), chosen, exhibit.Near(chosen, alpha, 1e-9),
		"a thirtieth of the items by 0.08, or all of them by 0.008 of the diameter; below, user level hides everything at eps = 0.2")
	queries := linearQueries()
	rng := r.Rand()
	draws := exhibit.Size(r, 1000, 20_000)
	for _, q := range queries {
		for _, n := range []int{1, 1000} {
			if err := sayLinear(ctx, r, rng, q, n, draws); err != nil {
				return err
			}
		}
	}
	return drawLinear(ctx, r, rng, queries[0], draws)
}

// scaled is a query with a bound of how far apart its values at two items are.
type scaled struct {
	query.Query[[]float64]
	span float64
}

// atUserLevel is the query for user-level privacy at eps: whatever a user's items
// become moves its mean by the span, as if all items were at distance 1.
func (q scaled) atUserLevel() scaled {
	q.Lipschitz = q.span
	return q
}

// linearQueries are some of Section 4.1, on points of the disk of diameter 1.
func linearQueries() []scaled {
	plane := metric.Euclidean{}
	mean := query.Average(additive.Norm{P: 2, Dim: 2})
	mean.Name = "mean place"
	landmark := exhibit.Must(query.Landmarks(plane, 2, []float64{0.2, 0.1}))
	landmark.Name = "distance to a landmark"
	region := exhibit.Must(query.Ball(plane, []float64{0.1, -0.2}, 0.1, query.Smoothing{Width: 0.2}))
	region.Name = "share near a place"
	return []scaled{{mean, 1}, {landmark, 1}, {region, 1}}
}

// errorOf is the root mean square error, over all coordinates, of a query's mean
// over n users, from so many draws; and its noise's deviation by the theorem.
func errorOf(ctx context.Context, rng *rand.Rand, q scaled, n int, level float64, draws int) (measured, theory float64, err error) {
	model := emd.Model{Trust: emd.Local, Diameter: 1}
	if n > 1 {
		model.Trust, model.Users = emd.Central, n
	}
	m, err := query.NewLinear(ctx, q.Query, model, emd.Promise{Alpha: level}, nil)
	if err != nil {
		return 0, 0, err
	}
	// The noise does not depend on the items.
	truth := make([]float64, q.Norm.Dim)
	item := []float64{0.3, -0.1}
	q.Func(item, truth)
	same := slices.Values(slices.Repeat([][][]float64{{item}}, n))
	for range draws {
		y, err := m.Release(rng, same)
		if err != nil {
			return 0, 0, err
		}
		for k := range y {
			measured += (y[k] - truth[k]) * (y[k] - truth[k]) / float64(draws)
		}
	}
	// In R^d the length of a vector of density prop. to e^(-|z|/b) is Gamma(d)
	// distributed, of scale b: its mean square is d(d+1) b^2.
	d := float64(q.Norm.Dim)
	return math.Sqrt(measured), q.Lipschitz / (level * float64(n)) * math.Sqrt(d*(d+1)), nil
}

func sayLinear(ctx context.Context, r *exhibit.Run, rng *rand.Rand, q scaled, n, draws int) error {
	moved, theory, err := errorOf(ctx, rng, q, n, alpha, draws)
	if err != nil {
		return err
	}
	whole, _, err := errorOf(ctx, rng, q.atUserLevel(), n, eps, draws)
	if err != nil {
		return err
	}
	where := "central, 1000 users"
	if n == 1 {
		where = "local"
	}
	r.Say("", fmt.Sprintf("root mean square error under d_EM, %s, %s", q.Name, where), theory, moved, exhibit.Near(moved, theory, 0.15), "")
	share := q.Lipschitz / alpha / (q.span / eps)
	r.Say("", fmt.Sprintf("its share of that at user level, %s, %s", q.Name, where), share, moved/whole, exhibit.Near(moved/whole, share, 0.25), "")
	return nil
}

// drawLinear draws errors against the number of users.
func drawLinear(ctx context.Context, r *exhibit.Run, rng *rand.Rand, q scaled, draws int) error {
	var n, moved, whole []float64
	for _, k := range []int{10, 30, 100, 300, 1000} {
		e, _, err := errorOf(ctx, rng, q, k, alpha, draws/5)
		if err != nil {
			return err
		}
		f, _, err := errorOf(ctx, rng, q.atUserLevel(), k, eps, draws/5)
		if err != nil {
			return err
		}
		n, moved, whole = append(n, float64(k)), append(moved, e), append(whole, f)
	}
	return r.WriteCharts("irc24-linear.png", &demo.Chart{
		Title: "Mean place of all items", X: "users", Y: "root mean square error / diameter", LogX: true, LogY: true,
		Series: []demo.Series{{Name: "user DP, eps = 0.2", X: n, Y: whole}, {Name: "d_EM, alpha = 25", X: n, Y: moved}},
	})
}

package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/query"
	"github.com/metricdp/metricdp/metric"
)

const (
	quantile = 0.95 // of the releases have at most the error that is reported
	meanRuns = 1000 // releases that it is measured on
)

// question is a query on places, with the farthest that its values can be apart.
type question struct {
	query.Query[metric.LatLon]
	reach float64
}

// center is the place as a vector from the center of the Earth, in km. A straight
// line is no longer than the way on the ground, so that the constant is 1.
func center() question {
	const r = metric.EarthRadiusKm
	return question{query.Query[metric.LatLon]{
		Name: "place in space", Norm: additive.Norm{P: 2, Dim: 3}, Lipschitz: 1,
		Func: func(x metric.LatLon, dst []float64) {
			slat, clat := math.Sincos(x.Lat * math.Pi / 180)
			slon, clon := math.Sincos(x.Lon * math.Pi / 180)
			dst[0], dst[1], dst[2] = r*clat*clon, r*clat*slon, r*slat
		},
	}, 2 * r}
}

func (s *study) questions() ([2]question, error) {
	landmark, err := query.Landmarks(metric.GreatCircle{}, 2, s.points.At(0))
	return [2]question{center(), {landmark, halfway}}, err
}

// mean is the mechanism for a question at a level. The constant of the query is put
// to the test on the regions; the promise is for places anywhere on Earth.
func (s *study) mean(ctx context.Context, q question, l level) (*query.Linear[metric.LatLon], error) {
	model := emd.Model{Trust: emd.Central, Users: len(s.places), Diameter: halfway, Unit: km}
	return noisy(ctx, q.Query, q.reach, model, l, &query.LinearOptions[metric.LatLon]{Sample: s.points})
}

// exactly is the mean of per-user means without noise.
func exactly[P any](q query.Query[P], users [][]P) []float64 {
	mean, value := make([]float64, q.Norm.Dim), make([]float64, q.Norm.Dim)
	for _, items := range users {
		for _, x := range items {
			q.Func(x, value)
			for j, v := range value {
				mean[j] += v / float64(len(items)*len(users))
			}
		}
	}
	return mean
}

// errors returns the sizes of the errors of repeated releases, sorted, and the
// first release.
func (s *study) errors(ctx context.Context, l *query.Linear[metric.LatLon], q question, runs int) (sizes, first []float64, err error) {
	exact := exactly(q.Query, s.places)
	r := random.Seeded(s.seed)
	for range runs {
		if err := ctx.Err(); err != nil {
			return nil, nil, err
		}
		y, err := l.Release(r, slices.Values(s.places))
		if err != nil {
			return nil, nil, err
		}
		if first == nil {
			first = y
		}
		sizes = append(sizes, floats.Distance(y, exact, 2))
	}
	slices.Sort(sizes)
	return sizes, first, nil
}

// means releases the answers to the questions at every level.
func (s *study) means(ctx context.Context, p *demo.Program, levels [3]level) (*demo.Table, error) {
	questions, err := s.questions()
	if err != nil {
		return nil, err
	}
	p.Remark("1. Means over all users of each user's mean, noise added (query.Linear, any number of items). Two questions: where in")
	p.Remark("   space is the center of mass of the items, and how far are they from %s? %g %% of %d releases err by at most (km):\n",
		s.regions[0], 100*quantile, s.runs(meanRuns))
	t := demo.NewTable("privacy", "eps, moves", "eps, whole user", "center", "center, stated", "one release", "distance", "distance, stated")
	var stated [3][2]float64
	report, wipe := p.Progress("means")
	defer wipe()
	for k, l := range levels {
		var cells []any
		for i, q := range questions {
			report(2*k+i, 2*len(levels))
			mech, err := s.mean(ctx, q, l)
			if err != nil {
				return nil, err
			}
			sizes, release, err := s.errors(ctx, mech, q, s.runs(meanRuns))
			if err != nil {
				return nil, err
			}
			stated[k][i] = mech.RadiusQuantile(quantile)
			if i == 0 {
				moves, err := s.moves(mech.Guarantee(), l.alpha == 0)
				if err != nil {
					return nil, err
				}
				cells = append(cells, l.String(), moves, mech.Guarantee().UserLevel().Eps, at(sizes, quantile), stated[k][i], above(release))
			} else {
				cells = append(cells, at(sizes, quantile), stated[k][i])
			}
		}
		t.Row(cells...)
	}
	wipe()
	p.Print(t)
	p.Remark("\nstated: what the mechanism says of its own error. One release: the place above the center of mass; without noise it")
	p.Remark("is %s. For the same moves user DP errs %.3g and %.3g times as much as d_EM.", above(exactly(questions[0].Query, s.places)),
		stated[sameMoves][0]/stated[ours][0], stated[sameMoves][1]/stated[ours][1])
	p.Remark("The last two rows add nearly the same noise: on a mean, d_EM is no new noise, but the proof of what it hides of a move.\n")
	return t, nil
}

func at(sorted []float64, q float64) float64 {
	return sorted[max(0, int(math.Ceil(q*float64(len(sorted))))-1)]
}

// above names the place on the ground above a point inside the Earth.
func above(v []float64) string {
	lat := math.Atan2(v[2], math.Hypot(v[0], v[1])) * 180 / math.Pi
	lon := math.Atan2(v[1], v[0]) * 180 / math.Pi
	name := func(x float64, plus, minus string) string {
		if x < 0 {
			plus = minus
		}
		return fmt.Sprintf("%.1f %s", math.Abs(x), plus)
	}
	return name(lat, "N", "S") + " " + name(lon, "E", "W")
}

// Userlevel publishes how the places that users hold are distributed over public
// regions, with all that a user holds protected under the earth mover's distance,
// on any runner of Apache Beam. It needs no set-up:
//
//	go run ./userlevel
//	go run ./userlevel --input 'visits-*.csv' --regions regions.csv --users 1000000
//	go run ./userlevel --runner flink --endpoint localhost:8099 --input ... --output ...
//
// Every place becomes its nearest region, every user a sample of a fixed number
// of them; each goes through a channel that says another region now and then; the
// counts of what came out are all that is published, and the channel's inverse
// makes an unbiased estimate of them. Whoever reads all users on one machine they
// trust errs less with distribution.New, which streams them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/textio"
	"github.com/metricdp/metricdp/examples/beam/internal/table"
	"github.com/metricdp/metricdp/examples/beam/privatebeam"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/frequency"
	"github.com/metricdp/metricdp/metric"
)

const (
	name = "estimate.csv"
	km   = metric.Unit("km")
	// The estimate is cubic in the number of regions, the channel quadratic.
	maxRegions = 500
)

// request is what the flags ask for.
type request struct {
	table.Job
	input, regions   string
	users, samples   int
	move, eps, delta float64
	plan             emd.ReducePlan
	names            []string
	estimator        *regions
}

func main() {
	var q request
	q.Flags(name)
	flag.StringVar(&q.input, "input", "", "CSV with the columns user, lat and lon, a row a line: a file or a pattern, on any file system that Beam knows (default: made-up users)")
	flag.StringVar(&q.regions, "regions", "../userlevel/regions.csv", "CSV of the public regions: name, lat, lon; a place counts in the nearest")
	flag.IntVar(&q.users, "users", 0, fmt.Sprintf("how many users there are: public, and checked (%d made-up ones)", demoUsers))
	flag.IntVar(&q.samples, "samples", 256, "how many places are drawn of every user, with replacement, however many there are")
	flag.Float64Var(&q.move, "move", 200, "how far a user's places move, on average, in what is to stay hidden, in km")
	flag.Float64Var(&q.eps, "eps", 1, "privacy level of such a move")
	flag.Float64Var(&q.delta, "delta", 1e-6, "its slack")
	table.Main("userlevel", q.pipeline, &q.Job)
}

// pipeline builds what the request asks for.
func (q *request) pipeline(ctx context.Context) (*beam.Pipeline, error) {
	at, err := q.readRegions(ctx)
	if err != nil {
		return nil, err
	}
	if q.input == "" {
		if err := q.makeUp(at); err != nil {
			return nil, err
		}
	}
	if q.users < 1 {
		return nil, errors.New("--users is missing: the promise depends on how many there are, and so it is public")
	}
	header, err := table.ReadHeader(ctx, q.input, "user", "lat", "lon")
	if err != nil {
		return nil, err
	}
	release, err := q.choose(ctx, at)
	if err != nil {
		return nil, err
	}
	random, err := q.Prepare(ctx, name)
	if err != nil {
		return nil, err
	}
	p, s := beam.NewPipelineWithRoot()
	items := beam.ParDo(s, &readFn{Header: header, Regions: at}, textio.Read(s, q.input))
	users, err := privatebeam.Reduce(s, q.samples, privatebeam.Users(s, items), &random)
	if err != nil {
		return nil, err
	}
	counts, err := privatebeam.ItemWise(s, release, users, &random)
	if err != nil {
		return nil, err
	}
	estimate, err := privatebeam.Frequencies(s, *q.estimator, counts)
	if err != nil {
		return nil, err
	}
	lines := beam.ParDo(s, &formatFn{Names: q.names, Regions: at}, estimate)
	table.Write(s, q.Output, "region,lat,lon,share,standard error,estimate", lines)
	return p, nil
}

func (q *request) makeUp(at []metric.LatLon) (err error) {
	if !table.Local() {
		return errors.New("--input is missing: with this runner it has to be where the workers can read")
	}
	if q.users == 0 {
		q.users = demoUsers
	}
	f, err := os.CreateTemp("", "metricdp-users-*.csv")
	if err != nil {
		return err
	}
	q.input = f.Name()
	fmt.Printf("Made up: %s\n", q.input)
	return errors.Join(writeDemo(f, q.users, at), f.Close())
}

func (q *request) readRegions(ctx context.Context) ([]metric.LatLon, error) {
	rows, err := table.Read(ctx, q.regions, "name", "lat", "lon")
	if err != nil {
		return nil, err
	}
	if len(rows) < 2 || len(rows) > maxRegions {
		return nil, fmt.Errorf("%s: %d regions, want 2 to %d", q.regions, len(rows), maxRegions)
	}
	var at []metric.LatLon
	for i, row := range rows {
		p, err := parsePlace(row[1], row[2])
		if err != nil {
			return nil, fmt.Errorf("%s: region %d: %w", q.regions, i+1, err)
		}
		q.names, at = append(q.names, row[0]), append(at, p)
	}
	return at, nil
}

func parsePlace(lat, lon string) (metric.LatLon, error) {
	y, err1 := fault.Decimal(lat)
	x, err2 := fault.Decimal(lon)
	if err1 != nil || err2 != nil || !(math.Abs(y) <= 90 && math.Abs(x) <= 360) {
		return metric.LatLon{}, fmt.Errorf("%q, %q are no latitude and longitude", lat, lon)
	}
	return metric.LatLon{Lat: y, Lon: x}, nil
}

// choose finds the level of the channel that hides the moves asked for, and says
// what is promised.
func (q *request) choose(ctx context.Context, at []metric.LatLon) (*frequency.ItemWise, error) {
	space, err := metric.NewPoints(at, metric.GreatCircle{})
	if err != nil {
		return nil, err
	}
	diameter, _, _, err := metric.Diameter(ctx, space)
	if err != nil {
		return nil, err
	}
	model := emd.Model{Trust: emd.Central, Users: q.users, Diameter: diameter, Unit: km}
	budget := func(p emd.ReducePlan) float64 {
		b, err := frequency.ItemWiseBudget(ctx, p.Model, p.Promise, nil)
		if err != nil {
			return math.Inf(-1)
		}
		return b.Value
	}
	q.plan, err = emd.PlanReduction(ctx, model, q.move, emd.DP{Eps: q.eps, Delta: q.delta}, &emd.PlanOptions{Samples: []int{q.samples}, Value: budget})
	if err != nil {
		return nil, err
	}
	q.estimator = &regions{At: at, Model: q.plan.Model, Alpha0: q.plan.Value, Delta: q.plan.Delta}
	release, err := q.estimator.itemWise(ctx)
	if err != nil {
		return nil, err
	}
	reduced, err := emd.NewReduced(release, q.plan.Sampling)
	if err != nil {
		return nil, err
	}
	frequencies, err := q.estimator.Frequencies(ctx)
	if err != nil {
		return nil, err
	}
	fmt.Printf("The release is %v.\n", reduced.Guarantee())
	fmt.Printf("Each of %d places goes through a channel that is %.3g-private per km, 1/that is %.0f km.\n",
		q.samples, q.plan.Value, 1/q.plan.Value)
	fmt.Printf("The expected error of the estimate is at most %.3g km in the earth mover's distance.\n",
		min(diameter, 2*frequencies.ErrorBound(int64(q.users)*int64(q.samples))))
	return release, nil
}

// line writes what is known of a region.
func line(name string, at metric.LatLon, mean, stderr, share float64) string {
	f := func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
	return strings.Join([]string{table.Quote(name), f(at.Lat), f(at.Lon), f(share), f(stderr), f(mean)}, ",")
}

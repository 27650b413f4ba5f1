package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/testing/ptest"
	"github.com/metricdp/metricdp/examples/beam/internal/table"
	"github.com/metricdp/metricdp/examples/beam/privatebeam"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
)

func TestMain(m *testing.M) { ptest.Main(m) }

const cities = "../../userlevel/regions.csv"

// Made-up users and some bad rows: what is written is the direct estimate for the
// key, and its distance from the truth is below twice the bound on its mean.
func TestUserLevel_IsTheDirectRelease(t *testing.T) {
	const users, samples = 10_000, 64
	dir := t.TempDir()
	q := &request{
		Job:   table.Job{Seed: 3, Output: filepath.Join(dir, "out.csv")},
		input: filepath.Join(dir, "in.csv"), regions: cities,
		users: users, samples: samples, move: 200, eps: 5, delta: 1e-6,
	}
	at := testkit.Must(q.readRegions(t.Context()))
	q.names = nil // read again below
	var data bytes.Buffer
	testkit.Check(t, writeDemo(&data, users-1, at))
	data.WriteString("lost,somewhere,0\nlost,95,0\nlost,0x1p4,1_0\n,1,1\nu1\n") // three are places of a user, all are malformed
	testkit.Check(t, os.WriteFile(q.input, data.Bytes(), 0o600))
	p := testkit.Must(q.pipeline(t.Context()))
	var said bytes.Buffer
	testkit.Check(t, q.Run(t.Context(), p, &said))
	if !strings.Contains(said.String(), "Malformed rows: 5.") {
		t.Errorf("said %q, want 5 malformed rows", said.String())
	}

	space := testkit.Must(metric.NewPoints(at, metric.GreatCircle{}))
	nearest := metric.NewLocator(space)
	items := map[string][]int{"lost": {0, 0}}
	for _, line := range strings.Split(data.String(), "\n")[1:] {
		f := strings.Split(line, ",")
		if len(f) != 3 || f[0] == "" || f[0] == "lost" {
			continue
		}
		place := testkit.Must(parsePlace(f[1], f[2]))
		x, _ := nearest.Nearest(place)
		items[f[0]] = append(items[f[0]], x)
	}
	release := testkit.Must(q.estimator.itemWise(t.Context()))
	use := testkit.Must(privatebeam.ItemWiseUse(release))
	// What is promised is what was asked for, by the channel that is used.
	reduced := testkit.Must(emd.NewReduced(release, q.plan.Sampling))
	if pair := reduced.Guarantee().At(q.move); pair.Eps > q.eps || pair.Delta > q.delta || reduced.Samples() != samples {
		t.Errorf("a move of %v km has %+v, asked for %v, %v; %d samples", q.move, pair, q.eps, q.delta, reduced.Samples())
	}
	counts := make([]int64, len(at))
	truth := make([]float64, len(at))
	for id, held := range items {
		slices.Sort(held)
		for _, x := range held {
			truth[x] += 1 / float64(len(items)*len(held))
		}
		u := privatebeam.User{ID: id, Items: held}
		r, drawn := u.Stream(3, fmt.Sprintf("Reduce %d", samples)), make([]int, samples)
		for i := range drawn {
			drawn[i] = held[r.IntN(len(held))]
		}
		slices.Sort(drawn)
		u.Items = drawn
		r = u.Stream(3, use)
		for _, x := range drawn {
			y := testkit.Must(release.Channel().Release(r, x))
			counts[y]++
		}
	}
	f := testkit.Must(q.estimator.Frequencies(t.Context()))
	e := testkit.Must(f.Estimate(&emd.Report{Sums: counts, Users: int64(len(items)), Reports: 1, Items: int64(samples * len(items))}))
	share, _, err := f.Distribution(t.Context(), e)
	testkit.Check(t, err)
	var want []string
	for x, name := range q.names {
		want = append(want, line(name, at[x], e.Mean[x], e.StdErr[x], share[x]))
	}
	slices.Sort(want)
	got := testkit.Must(os.ReadFile(q.Output))
	if string(got) != "region,lat,lon,share,standard error,estimate\n"+strings.Join(want, "\n")+"\n" {
		t.Errorf("through Beam\n%s\ndirectly\n%s", got, strings.Join(want, "\n"))
	}

	if w, bound := testkit.Must(wasserstein.Distance(t.Context(), space, share, truth)), 2*f.ErrorBound(users*samples); w > 2*bound {
		t.Errorf("W1 %v km from the truth, expected at most %v", w, bound)
	}
}

// Another number of users than the promise is for publishes nothing.
func TestUserLevel_WrongNumberOfUsers(t *testing.T) {
	testkit.Slow(t) // and where a bundle fails Beam closes a channel that it still sends on
	dir := t.TempDir()
	q := &request{
		Job:   table.Job{Seed: -1, Output: filepath.Join(dir, "out.csv")},
		input: "../../userlevel/cities.csv", regions: cities,
		users: 10_000, samples: 8, move: 200, eps: 1, delta: 1e-6,
	}
	p := testkit.Must(q.pipeline(t.Context()))
	if err := q.Run(t.Context(), p, &bytes.Buffer{}); err == nil {
		t.Error("no error")
	}
	if _, err := os.Stat(q.Output); err == nil {
		b, _ := os.ReadFile(q.Output)
		t.Errorf("published nevertheless: %s", b)
	}
}

func TestUserLevel_BadRequests(t *testing.T) {
	good := request{
		Job:   table.Job{Seed: -1, Output: filepath.Join(t.TempDir(), "out.csv")},
		input: "../../userlevel/cities.csv", regions: cities,
		users: 209, samples: 8, move: 200, eps: 1, delta: 1e-6,
	}
	for name, spoil := range map[string]func(*request){
		"file":    func(q *request) { q.input = "nothing.csv" },
		"columns": func(q *request) { q.input = cities },
		"regions": func(q *request) { q.regions = "nothing.csv" },
		"places":  func(q *request) { q.regions = q.input },
		"users":   func(q *request) { q.users = 0 },
		"samples": func(q *request) { q.samples = 0 },
		"move":    func(q *request) { q.move = math.NaN() },
		"eps":     func(q *request) { q.eps = 0 },
		"delta":   func(q *request) { q.delta = 0 },
		"key":     func(q *request) { q.KeyFile = "nowhere://key" },
	} {
		q := good
		spoil(&q)
		if _, err := q.pipeline(t.Context()); err == nil {
			t.Errorf("bad %s: no error", name)
		}
	}
}

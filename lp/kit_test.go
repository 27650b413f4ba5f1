package lp

import (
	"encoding/csv"
	"errors"
	"math"
	"os"
	"strconv"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// points has the sets of n = 20, 30, 50, 75, 100, 150, 200, 300 and 400 reference
// points, uniform ones of [0, 10]^2 by numpy's default_rng(n).
const points = "testdata/points.csv"

// long asks for what takes minutes; CI does.
var long = os.Getenv("METRICDP_LONG") != ""

// referencePoints reads the set of n points.
func referencePoints(t testing.TB, n int) metric.Finite {
	t.Helper()
	f := testkit.Must(os.Open(points))
	defer f.Close()
	records := testkit.Must(csv.NewReader(f).ReadAll())
	var pts [][]float64
	for _, r := range records[1:] {
		if r[0] == strconv.Itoa(n) {
			x, errX := strconv.ParseFloat(r[2], 64)
			y, errY := strconv.ParseFloat(r[3], 64)
			if err := errors.Join(errX, errY); err != nil {
				t.Fatal(err)
			}
			pts = append(pts, []float64{x, y})
		}
	}
	if len(pts) != n {
		t.Fatalf("%s has %d points of the set of %d", points, len(pts), n)
	}
	return space.Euclidean(pts)
}

// tree is a random tree of n nodes, edges of lengths from .5 to 1.5.
func tree(n int) metric.Finite { return space.Tree(n, .5, random.Seeded(5)) }

// checkAdversary checks what a result says of the channel's Bayesian adversary.
func checkAdversary(t testing.TB, got float64, c *mechanism.Channel, utility metric.Finite, prior []float64) {
	t.Helper()
	if prior == nil {
		if !math.IsNaN(got) {
			t.Errorf("an adversary's error of %v without a prior", got)
		}
	} else if want := testkit.Must(c.AdversaryError(t.Context(), prior, utility)); got != want {
		t.Errorf("an adversary's error of %v, want %v", got, want)
	}
}

// lossOf is the mean loss of c under the prior, the worst where there is none.
func lossOf(t testing.TB, c *mechanism.Channel, utility metric.Finite, prior []float64) float64 {
	t.Helper()
	losses := testkit.Must(c.Loss(t.Context(), utility))
	if prior == nil {
		worst, _ := losses.Worst()
		return worst
	}
	return testkit.Must(losses.Mean(prior))
}

// certified checks what every solution promises.
func certified(t testing.TB, b metric.Bimetric, alpha float64, prior []float64, s *Solution) {
	t.Helper()
	audit, err := s.Audit(t.Context(), b.Privacy, nil)
	if err != nil || audit != s.Audited || audit.Hi > alpha || s.Channel.Guarantee().Alpha() != audit.Hi {
		t.Errorf("audited %v, reported %v, guarantee %v, alpha %v: %v", audit, s.Audited, s.Channel.Guarantee(), alpha, err)
	}
	if !(s.DualBound <= s.Objective && s.DualBound >= 0) {
		t.Errorf("bound %v, objective %v", s.DualBound, s.Objective)
	}
	if s.Objective > 0 && math.Abs(s.Gap-(s.Objective-s.DualBound)/s.Objective) > 1e-12 {
		t.Errorf("gap %v of %v and %v", s.Gap, s.Objective, s.DualBound)
	}
	if s.Elapsed > 0 { // what an engine alone has found has no such figure
		checkAdversary(t, s.Adversary, s.Channel, b.Utility, prior)
	}
	sum := 0.0
	for _, p := range s.Prior {
		sum += p
	}
	if math.Abs(sum-1) > 1e-9 || len(s.Prior) != b.Privacy.Len() {
		t.Errorf("prior of %d entries sums to %v", len(s.Prior), sum)
	}
	far := b.Privacy.Len()
	for y := range s.Channel.Outputs() {
		far = max(far, s.Channel.Output(y)+1)
	}
	var first []int
	for i := range far {
		first = append(first, i)
	}
	utility := testkit.Must(metric.Subset(b.Utility, first))
	loss := lossOf(t, s.Channel, utility, prior)
	// The sum in Losses rounds n times, and the prior's sum is 1 within 1e-9; what is
	// below 2^-1022 counts as 0 there, and as 2^-1022 in the objective.
	least := 0.0
	for y := range s.Channel.Outputs() {
		for x := range b.Privacy.Len() {
			least = max(least, 0x1p-1022*float64(s.Channel.Outputs())*utility.Distance(x, s.Channel.Output(y)))
		}
	}
	if math.Abs(loss-s.Objective) > 2e-9*s.Objective+least {
		t.Errorf("loss of the channel %v, objective %v", loss, s.Objective)
	}
}

package distribution

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/sample"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/metric"
)

// Histogram is the estimate of a [Distribution]: weights >= 0 of public points, whose sum is 1 up to
// rounding. It is as private as the report that it was made of, whatever is done with it.
type Histogram[P any] struct {
	Points  []P
	Weights []float64

	d              *Distribution[P]
	users, reports int64
}

func (h *Histogram[P]) check(op string) error {
	if err := fault.Made(h != nil && h.d != nil, op, "Histogram", "Distribution.Estimate"); err != nil {
		return err
	}
	return fault.Distribution(op, "Weights", h.Weights, h.d.plan.Len(), 1e-9)
}

// maxRecords bounds what a histogram is divided into.
const maxRecords = math.MaxInt32

// Records returns k synthetic items, in random order: a run of points gets its share of them to
// within 1. All lie on Points, on a line, in a box and on a sphere a grid nearer together than
// [Distribution.Resolution]. To spread each item evenly around its point costs no privacy; it errs a
// little less where items may lie anywhere and more where they lie in few places.
func (h *Histogram[P]) Records(rng *rand.Rand, k int) ([]P, error) {
	const op = "distribution: Histogram.Records"
	if err := h.check(op); err != nil {
		return nil, err
	}
	if k < 0 || k > maxRecords {
		return nil, fault.Value(op, "k", float64(k), fmt.Sprintf("an integer in [0, %d]", maxRecords))
	}
	if err := fault.Memory(op, float64(k), 40); err != nil {
		return nil, err
	}
	n := make([]int64, len(h.Weights))
	sample.Divide(h.Weights, int64(k), n)
	records := make([]P, 0, k)
	for i, c := range n {
		for range c {
			records = append(records, h.d.plan.point(i))
		}
	}
	rng, done := random.Get(rng)
	defer done()
	rng.Shuffle(k, func(i, j int) { records[i], records[j] = records[j], records[i] })
	return records, nil
}

// ErrorOptions tune [Histogram.Error]. Nil and the zero value mean the defaults.
type ErrorOptions struct {
	Draws int // how often the noise is simulated; 0 means 200
}

// ErrorBar is a quantile of an error, from simulations.
type ErrorBar struct {
	Quantile float64     // the simulations'
	Lo, Hi   float64     // enclose the quantile of the error, with probability 0.99 or more
	Mean     float64     // the simulations'
	Draws    int         // how many there were
	Prob     float64     // that of the quantile, as asked for
	Unit     metric.Unit // of the model
	// Resolution is that of the [Distribution], of which the simulations see nothing.
	Resolution float64
}

// String is for people: "noise: at most 0.13 km in 95 % of releases (0.127 to 0.138 km with 99 %
// confidence), 0.115 km on average, ...".
func (b ErrorBar) String() string {
	if b.Draws == 0 {
		return "no error bar"
	}
	digits := func(d float64) string {
		if d < 999.5 {
			return fmt.Sprintf("%.3g", d)
		}
		return fmt.Sprintf("%.6g", d)
	}
	words := func(d float64) string { return strings.TrimSpace(digits(d) + " " + string(b.Unit)) }
	return fmt.Sprintf("noise: at most %s in %.6g %% of releases (%s to %s with 99 %% confidence), %s on average, in %d simulations that take the estimate for the truth; resolution: up to %s besides",
		words(b.Quantile), 100*b.Prob, digits(b.Lo), words(b.Hi), words(b.Mean), b.Draws, words(b.Resolution))
}

// Error simulates the release on the estimate and returns how far, in d_EM, new estimates are from it
// with probability prob in (0, 1). Where the truth is like the estimate, so is the error. It is no
// bound: it does not see what is lost to [Distribution.Resolution], which can be more than the noise
// where all items lie in few places. It costs no privacy, and the time of Draws calls of Estimate:
// some 10 s for 2,000 points and 200 draws. Hi is the diameter where Draws are too few.
func (h *Histogram[P]) Error(ctx context.Context, rng *rand.Rand, prob float64, o *ErrorOptions) (ErrorBar, error) {
	const op = "distribution: Histogram.Error"
	if err := h.check(op); err != nil {
		return ErrorBar{}, err
	}
	if !(prob > 0 && prob < 1) {
		return ErrorBar{}, fault.Value(op, "prob", prob, "a number in (0, 1)")
	}
	draws := 200
	if o != nil && o.Draws != 0 {
		draws = o.Draws
	}
	if draws < 1 || draws > 1<<20 {
		return ErrorBar{}, fault.Value(op, "Draws", float64(draws), "a number in [1, 2^20]")
	}
	rng, done := random.Get(rng)
	defer done()
	y := h.d.plan.mean(h.Weights)
	d, n := h.d, float64(h.users)
	rounding := 0.0
	if !d.whole() {
		rounding = math.Sqrt(n / 6) // the mean of f(1-f), for parts f of an integer
	}
	bar := ErrorBar{Draws: draws, Prob: prob, Unit: d.g.Model().Unit, Resolution: d.plan.Resolution()}
	errs := make([]float64, draws)
	noisy := make([]float64, len(y))
	for t := range errs {
		if err := ctx.Err(); err != nil {
			return ErrorBar{}, err
		}
		for i, v := range y {
			z := 0.0
			if h.reports <= fewReports {
				for range h.reports {
					z += float64(exact.DiscreteLaplace(rng, d.a))
				}
			} else { // the sum is normal, nearly
				_, dev := d.noise(&emd.Report{Users: 1, Reports: h.reports})
				g, _ := random.Normals(rng)
				z = dev * g
			}
			if rounding > 0 {
				g, _ := random.Normals(rng)
				z += float64(rounding * g)
			}
			noisy[i] = v + z/n
		}
		p, err := d.plan.Fit(ctx, noisy)
		if err != nil {
			return ErrorBar{}, err
		}
		if errs[t], err = d.plan.W1(ctx, h.Weights, p); err != nil {
			return ErrorBar{}, err
		}
		bar.Mean += errs[t] / float64(draws)
	}
	slices.Sort(errs)
	at := func(k int) float64 {
		switch {
		case k < 0:
			return 0
		case k >= draws:
			return d.diameter
		}
		return errs[k]
	}
	lo, hi := sample.Ranks(draws, prob, 0.005)
	bar.Quantile = at(min(draws-1, int(math.Ceil(prob*float64(draws)))-1))
	bar.Lo, bar.Hi = at(lo), at(hi)
	return bar, nil
}

// fewReports is up to how many reports noise is simulated one by one.
const fewReports = 64

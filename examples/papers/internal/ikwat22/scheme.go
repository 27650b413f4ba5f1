package ikwat22

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// Section 5.1 compares mechanisms at equal eps_tight(delta), by the loss L_q that this share
// of the inputs does not exceed.
const (
	delta     = .001
	share     = .95
	near      = .01  // how far a level may be off what was asked for
	tolerance = 1e-3 // of the programs
)

// point is a mechanism as the paper has it in its figures and tables.
type point struct {
	alpha, level, loss float64
	took               time.Duration // to build it
}

// build makes the mechanism of an alpha and measures it.
type build func(ctx context.Context, s space, alpha float64) point

// scheme is one way to make mechanisms, or several of which the best counts, with the size
// of the program behind it, and r where that is ConstOPT's.
type scheme struct {
	name      string
	builds    []build
	size      func(ctx context.Context, b metric.Bimetric) (lp.Size, error)
	neighbors int
}

// channels builds mechanisms that have a matrix.
func channels(channel func(ctx context.Context, f metric.Finite, alpha float64) *mechanism.Channel) build {
	return func(ctx context.Context, s space, alpha float64) point {
		start := time.Now()
		c := channel(ctx, s.Dense, alpha)
		took := time.Since(start)
		audit := exhibit.Must(c.Audit(ctx, s, &mechanism.AuditOptions{Delta: delta}))
		return point{alpha, audit.Hi, exhibit.Must(exhibit.Must(c.Loss(ctx, s)).Quantile(share)), took}
	}
}

// The schemes of Section 5.1. Programs keep to the budget of the paper, that is alpha/3 for
// a 3-spanner and alpha/2 for ConstOPT.
var (
	exponentialMech = scheme{"exponential", []build{channels(func(ctx context.Context, f metric.Finite, alpha float64) *mechanism.Channel {
		return exhibit.Must(exponential.Standard(ctx, f, alpha, nil)).Channel
	})}, nil, 0}
	spannerMech = scheme{"Spanner", []build{channels(func(ctx context.Context, f metric.Finite, alpha float64) *mechanism.Channel {
		o := &lp.SpannerOptions{Options: lp.Options{Tolerance: tolerance}, KeepBudget: true}
		return exhibit.Must(lp.Spanner(ctx, metric.Same(f), alpha, o)).Channel
	})}, (*lp.SpannerOptions)(nil).Size, 0}
	optMech = scheme{"OPTMech", []build{channels(func(ctx context.Context, f metric.Finite, alpha float64) *mechanism.Channel {
		return exhibit.Must(lp.Optimal(ctx, metric.Same(f), alpha, &lp.Options{Tolerance: tolerance})).Channel
	})}, (*lp.Options)(nil).Size, 0}
	constOPT10 = constOPTMech(10, lambdas...)
	constOPT5  = constOPTMech(5, lambdas...)
	lambdas    = []float64{.001, .1, 1}
	madlib     = scheme{"Madlib (simulated)", []build{noise}, nil, 0}
)

// constOPTMech takes the best of some lambda.
func constOPTMech(r int, lambdas ...float64) scheme {
	m := scheme{name: fmt.Sprintf("ConstOPT (%d)", r), size: (&lp.ConstOptions{Neighbors: r}).Size, neighbors: r}
	for _, lambda := range lambdas {
		m.builds = append(m.builds, channels(func(ctx context.Context, f metric.Finite, alpha float64) *mechanism.Channel {
			o := &lp.ConstOptions{Neighbors: r, KeepBudget: true, Lambdas: []float64{lambda}, Tolerance: tolerance}
			return exhibit.Must(lp.ConstOPT(ctx, metric.Same(f), alpha, o)).Channel
		}))
	}
	return m
}

// noise is Madlib, which has no matrix: its level is that of its noise at delta, and its loss
// an estimate.
func noise(ctx context.Context, s space, alpha float64) point {
	const releases = 5_000 // of all inputs
	start := time.Now()
	m := exhibit.Must(additive.NewMadlib(s.vectors, alpha, nil))
	level := exhibit.Must(m.LevelAt(ctx, delta))
	loss := exhibit.Must(demo.Simulate(ctx, m, s, nil, 1, releases/s.Len()+1))
	return point{alpha, level, loss.Quantile, time.Since(start)}
}

// at is the point of least loss at a level, with the time that all ways to it took.
func (m scheme) at(ctx context.Context, s space, level float64) point {
	best, took, start := point{loss: math.Inf(1)}, time.Duration(0), level
	for _, b := range m.builds {
		p := b.at(ctx, s, level, start)
		if start = cmp.Or(p.alpha, start); p.loss < best.loss {
			best = p
		}
		took += p.took
	}
	if math.IsInf(best.loss, 1) {
		exhibit.Must(0, fmt.Errorf("%s: nothing at a level of %v", m.name, level))
	}
	best.took = took
	return best
}

// at looks for the alpha of a level from a first one on. Levels grow about as alpha does, so that a few steps
// find it; where they jump over it, the least loss that was met at a lower level counts.
func (b build) at(ctx context.Context, s space, level, alpha float64) point {
	const most = 12 // steps
	best, lo, hi := point{loss: math.Inf(1)}, 0., math.Inf(1)
	for step := 0; step < most && hi > (1+near)*lo; step++ {
		p := b(ctx, s, alpha)
		if math.Abs(p.level-level) <= near*level {
			return p
		}
		next := 2 * alpha
		if p.level > 0 { // no constant mechanism
			next = alpha * level / p.level
		}
		if p.level > level {
			hi = min(hi, alpha)
		} else if lo = max(lo, alpha); p.loss < best.loss {
			best = p
		}
		if next <= lo || next >= hi {
			next = math.Sqrt(lo) * math.Sqrt(hi)
		}
		alpha = next
	}
	return best
}

// floor is a bound below the loss that a share of the inputs does not exceed, whichever
// mechanism has that level at delta. Let S be points that are pairwise at least t apart,
// x any point, and L a loss that all but k inputs keep. The open balls B_y of radius t/2
// around the y in S are disjoint. A y that keeps L is released into B_y with probability
// at least 1 - 2L/t, by Markov, and hence x with at least (1 - 2L/t - delta)
// e^(-level*rho(x,y)). At worst the k terms that count most are those of the inputs that
// do not keep L. Over the others
//
//	1 >= (1 - 2L/t - delta) sum_y e^(-level*rho(x,y)),  so  L >= t/2 (1 - delta - 1/sum).
//
// With share = 1 and delta = 0 this is Theorem 3. S runs through the beginnings of a
// farthest-first order, x through all points.
func floor(ctx context.Context, f metric.Finite, level, delta, share float64) float64 {
	n := f.Len()
	order, radii := exhibit.Must2(metric.FarthestFirst(ctx, f, n, 0))
	spared := int(math.Floor((1-share)*float64(n) + 1e-9))
	best := 0.
	for x := range n {
		sum, most := 0., make([]float64, 0, spared+1) // most: the largest terms, which do not count
		for m, y := range order {
			most = append(most, math.Exp(-level*f.Distance(x, y)))
			if slices.Sort(most); len(most) > spared {
				sum += most[0]
				most = slices.Delete(most, 0, 1)
			}
			if m > 0 && sum > 0 {
				best = max(best, radii[m]/2*(1-delta-1/sum))
			}
		}
	}
	return best
}

// uniform is the loss that the share of the inputs does not exceed where all outputs are
// as likely, at the level 0.
func uniform(f metric.Finite) float64 {
	losses := make(mechanism.Losses, f.Len())
	for x := range losses {
		for y := range losses {
			losses[x] += f.Distance(x, y) / float64(len(losses))
		}
	}
	return exhibit.Must(losses.Quantile(share))
}

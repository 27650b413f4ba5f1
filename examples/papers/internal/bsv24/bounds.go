package bsv24

import (
	"context"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/entropy"
	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/metric"
)

// below compares a lower bound, a scale at 2 alpha over a constant, with the optimum.
type below struct {
	bound string
	over  float64
	scale func(f figures) float64
	why   string
}

func (b below) run(ctx context.Context, r *exhibit.Run) error {
	all, err := samples(ctx, r.Seed, exhibit.Size(r, 14, 40), exhibit.Size(r, 3, 20), [2]string{"plane", "plane"}, [2]string{"clusters", "clusters"},
		[2]string{"road", "road"}, [2]string{"ultrametric", "ultrametric"}, [2]string{"plane", "road"}, [2]string{"road", "ultrametric"})
	if err != nil {
		return err
	}
	under := 0
	most, sum, ours := 0.0, 0.0, 0.0 // shares of the optimum
	for _, s := range all {
		f := exhibit.Must(measure(ctx, s.Bimetric, s.alpha))
		best := exhibit.Must(s.optimum(ctx))
		stars := exhibit.Must(entropy.LowerBounds(ctx, s.Bimetric, s.alpha, nil))
		v := b.scale(f) / b.over
		if v <= best.DualBound {
			under++
		}
		most, sum, ours = max(most, v/best.DualBound), sum+v/best.Objective, ours+stars[0].Value/best.Objective
	}
	n := float64(len(all))
	r.Say("", b.bound+" <= A, random spaces of one and two metrics", "always", fmt.Sprintf("%d of %d, at most %.2f A", under, len(all), most),
		exhibit.If(under == len(all), exhibit.Holds), b.why)
	r.Say("", "share of A proved, on average: this bound, entropy.LowerBounds", sum/n, ours/n, exhibit.If(ours > 2*sum, exhibit.Better),
		"a star: whatever is likely at one point is not unlikely at the others")
	return nil
}

// bracket is what is known of one space at one level.
type bracket struct {
	figures
	least, most float64 // enclose the optimum
	loss        float64 // of the mechanism of the paper
	level       float64 // that it is audited at
	bound       float64 // of its loss, in the paper, with the constants made explicit
}

// exponentialOnNet is Lemma 4.1 at a sample of one metric: the exponential mechanism on a
// maximal s-separated net, s the entropic scale at alpha/3.
func exponentialOnNet(ctx context.Context, s sample) (b bracket, err error) {
	if b.figures, err = measure(ctx, s.Bimetric, s.alpha); err != nil {
		return b, err
	}
	net, err := metric.Net(ctx, s.Utility, b.entropic3.Hi, nil)
	if err != nil {
		return b, err
	}
	m, err := exponential.Standard(ctx, s.Privacy, s.alpha, &exponential.Options{Outputs: net})
	if err != nil {
		return b, err
	}
	if b.bound, err = entropy.StandardBound(s.alpha, b.entropic3.Hi); err != nil {
		return b, err
	}
	return b, b.of(ctx, s, m.Channel)
}

// relaxedOnNet is Theorem 5.1.
func relaxedOnNet(ctx context.Context, s sample) (b bracket, err error) {
	if b.figures, err = measure(ctx, s.Bimetric, s.alpha); err != nil {
		return b, err
	}
	separation := max(b.entropic3.Hi, math.SmallestNonzeroFloat64) // 0 would try many
	m, err := exponential.Relaxed(ctx, s.Bimetric, s.alpha, &exponential.RelaxedOptions{Separation: separation})
	if err != nil {
		return b, err
	}
	b.bound = b.upper()
	return b, b.of(ctx, s, m.Channel)
}

// of fills in the optimum and what a mechanism loses.
func (b *bracket) of(ctx context.Context, s sample, c *mechanism.Channel) error {
	losses, err := c.Loss(ctx, s.Utility)
	if err != nil {
		return err
	}
	b.loss, _ = losses.Worst()
	b.level = c.Guarantee().Alpha()
	best, err := s.optimum(ctx)
	if err != nil {
		return err
	}
	b.least, b.most = best.DualBound, best.Objective
	return nil
}

func oneMetric(ctx context.Context, r *exhibit.Run) error {
	return compare(ctx, r, mechanismOf{"exponential mechanism", "the bound of Lemma 4.1", "up to constants", exponentialOnNet,
		"min over u >= 2 of 3s + u/alpha + e^(-u/6) (9s + (3u+12)/alpha) is the lemma with its constants"}, "bsv24-lemma4.1.png",
		[2]string{"plane", "plane"}, [2]string{"road", "road"}, [2]string{"clusters", "clusters"})
}

func ultrametric(ctx context.Context, r *exhibit.Run) error {
	return compare(ctx, r, mechanismOf{"relaxed mechanism", "s(Z, alpha/3) + 14 s_o(Z, alpha/7)", "up to constants", relaxedOnNet,
		"the constants come from the paper's proof, by Abel summation"}, "bsv24-thm5.1.png",
		[2]string{"plane", "ultrametric"}, [2]string{"road", "ultrametric"}, [2]string{"ultrametric", "ultrametric"})
}

// mechanismOf is the mechanism of an upper bound.
type mechanismOf struct {
	name, bound, paper string
	at                 func(ctx context.Context, s sample) (bracket, error)
	why                string
}

// compare brackets A on random spaces, and draws the bracket of one against alpha.
func compare(ctx context.Context, r *exhibit.Run, m mechanismOf, file string, pairs ...[2]string) error {
	all := exhibit.Must(samples(ctx, r.Seed, exhibit.Size(r, 14, 40), exhibit.Size(r, 4, 20), pairs...))
	private, within, most, excess := 0, 0, 0.0, 0.0
	for _, s := range all {
		b := exhibit.Must(m.at(ctx, s))
		if b.level <= s.alpha {
			private++
		}
		if b.lower() <= b.least && b.least <= b.loss && b.loss <= b.bound {
			within++
		}
		most, excess = max(most, b.loss/b.bound), max(excess, b.loss/b.least)
	}
	r.Say("", "the "+m.name+" is alpha-private", "always", fmt.Sprintf("%d of %d", private, len(all)),
		exhibit.If(private == len(all), exhibit.Holds), "")
	r.Say("", "max(s/8, s_o/5) at 2 alpha <= A <= its loss <= "+m.bound, m.paper, fmt.Sprintf("%d of %d", within, len(all)),
		exhibit.If(within == len(all), exhibit.Holds), m.why)
	r.Say("", "its loss over that bound, and over A", "at most 1, at least 1", fmt.Sprintf("%.2f, %.2f at most", most, excess),
		exhibit.If(most <= 1 && excess >= 1, exhibit.Holds), "")
	return draw(ctx, r, m, file, pairs[0])
}

// draw draws the bracket of one space of n points against alpha.
func draw(ctx context.Context, r *exhibit.Run, m mechanismOf, file string, pair [2]string) error {
	spaces := exhibit.Must(samples(ctx, r.Seed, exhibit.Size(r, 30, 60), 1, pair))
	s := spaces[0]
	names := []string{"lower bound, Theorems 3.1 and 3.2", "optimal (linear program)", m.name, m.bound}
	series := make([]demo.Series, len(names))
	for _, s.alpha = range levels(s.alpha, 128*s.alpha, exhibit.Size(r, 2, math.Sqrt2)) {
		b := exhibit.Must(m.at(ctx, s))
		for i, v := range []float64{b.lower(), b.most, b.loss, b.bound} {
			series[i].Name = names[i]
			series[i].X, series[i].Y = append(series[i].X, s.alpha), append(series[i].Y, v)
		}
	}
	return r.WriteCharts(file, &demo.Chart{Title: fmt.Sprintf("%d random points (%s): the bracket of the optimal accuracy", s.Utility.Len(), s.kind),
		X: "alpha", Y: "worst expected loss", LogX: true, LogY: true, Series: series})
}

package bsv22

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/entropy/families"
	"github.com/metricdp/metricdp/examples/internal/cities"
	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/tsp"
	"github.com/metricdp/metricdp/walk"
	"github.com/metricdp/metricdp/wasserstein"
)

// space is one of those that private measures are made for.
type space struct {
	name string
	metric.Finite
}

// spaces are a line, a square and cities, of some n points each.
func spaces(n int) []space {
	towns := exhibit.Must(cities.Largest(min(n, 200)))
	return []space{{"line", points(1, n)}, {"square", points(2, int(math.Sqrt(float64(n))))}, {"cities", towns}}
}

// cube is the centers of side^d cells of the unit cube, and points that under the largest
// difference of a coordinate.
func cube(d, side int) [][]float64 {
	points := [][]float64{{}}
	for range d {
		var next [][]float64
		for _, p := range points {
			for k := range side {
				next = append(next, append(p[:len(p):len(p)], (float64(k)+0.5)/float64(side)))
			}
		}
		points = next
	}
	return points
}

func points(d, side int) metric.Finite {
	return exhibit.Must(metric.NewPoints(cube(d, side), metric.Chebyshev{}))
}

// tours bounds the shortest tours through some spaces, and folds the spaces along them.
func tours(ctx context.Context, r *exhibit.Run) {
	for _, s := range spaces(exhibit.Size(r, 256, 1024)) {
		tour := exhibit.Must(tsp.Solve(ctx, s, nil))
		c := exhibit.Must(tsp.CoveringIntegral(ctx, s))
		mst := floats.Sum(exhibit.Must(metric.Subdominant(ctx, s)).Heights())
		what := fmt.Sprintf(": %d points, %s", s.Len(), s.name)
		r.Say("Lemma 6.1", "TSP over MST is from 1 to 2"+what, "1 to 2", tour.Length/mst, exhibit.If(mst <= tour.Length && tour.Length <= 2*mst*(1+1e-12), exhibit.Holds), "")
		r.Say("Theorem 6.3", "TSP over the covering integral is at most 16"+what, 16.,
			fmt.Sprintf("%.2f to %.2f", tour.LowerBound/c.Integral, 2*tour.Length/c.Integral), exhibit.If(2*tour.Length <= 16*c.Integral, exhibit.Holds),
			"the integral is known up to a factor of 2; that of N(x) in Remark 6.4 is more by the diameter")
		fold, least := exhibit.Must(tsp.Fold(s, tour)), math.Inf(1) // a Hamiltonian cycle, Lemma 6.2
		for i := range s.Len() {
			for j := range i {
				least = min(least, math.Abs(fold.Position[fold.Rank[i]]-fold.Position[fold.Rank[j]])/s.Distance(i, j))
			}
		}
		r.Say("Proposition 6.5", "folding the line along the tour is 1-Lipschitz"+what, "1 at least", least, exhibit.If(least >= 1-1e-12 && fold.Length() <= tour.Length, exhibit.Holds), "the least distance on the line over that in the space")
	}
}

// asInPaper is the paper's private measure on a net: its points along the shortest tour that is
// found, cut open, noise of scale 2(L+2)/alpha on all Haar coefficients, the total's too, and
// the probability measure nearest on the line in W1.
type asInPaper struct {
	line  *tsp.Folding
	walk  *walk.Walk
	scale float64
	bound float64 // of the mean error of the signed measure: the sum of gaps times deviations
}

func newAsInPaper(ctx context.Context, s metric.Finite, alpha float64) *asInPaper {
	p := &asInPaper{
		line: exhibit.Must(tsp.Fold(s, exhibit.Must(tsp.Solve(ctx, s, &tsp.SolveOptions{Bound: tsp.BoundNone})))),
		walk: exhibit.Must(walk.Superregular(s.Len())),
	}
	l := float64(p.walk.Tree().Height())
	p.scale = 2 / alpha * (l + 2) / (l + 1) // Superregular has the scale L+1
	v := make([]float64, s.Len())
	exhibit.Check(p.walk.Variances(v))
	for k := range len(v) - 1 {
		p.bound += p.scale * p.gap(k) * math.Sqrt(v[k])
	}
	return p
}

func (p *asInPaper) gap(k int) float64 { return p.line.Position[k+1] - p.line.Position[k] }

// release returns the measure, and what the signed one before it errs on the line.
func (p *asInPaper) release(rng *rand.Rand, mu []float64) (nu []float64, signed float64) {
	g, sum := make([]float64, len(mu)), 0.0
	exhibit.Check(p.walk.Increments(rng, g))
	for k := range g {
		g[k] *= p.scale
		if sum += g[k]; k+1 < len(g) {
			signed += p.gap(k) * math.Abs(sum)
		}
		g[k] += mu[p.line.Order[k]]
	}
	on, _ := exhibit.Must2(wasserstein.ProjectLine(p.line.Position, g))
	nu = make([]float64, len(mu))
	for k, w := range on {
		nu[p.line.Order[k]] = w
	}
	return nu, signed
}

// errs returns the larger of the mean errors at two measures, all points alike and three of
// them, the mean of the signed one's, and whether none was more than twice that of its draw.
func (p *asInPaper) errs(ctx context.Context, rng *rand.Rand, s metric.Finite, draws int) (worst, signed float64, twice bool) {
	n := s.Len()
	twice = true
	for _, k := range []int{n, 3} {
		mu, mean := make([]float64, n), 0.0
		for i := range k {
			mu[i*(n-1)/(k-1)] = 1 / float64(k)
		}
		for range draws {
			nu, before := p.release(rng, mu)
			w := exhibit.Must(wasserstein.Distance(ctx, s, mu, nu))
			mean, signed, twice = mean+w/float64(draws), signed+before/float64(2*draws), twice && w <= 2*before*(1+1e-9)
		}
		worst = max(worst, mean)
	}
	return worst, signed, twice
}

// lines is about measures on [0,1].
func lines(ctx context.Context, r *exhibit.Run) {
	rng, draws := r.Rand(), exhibit.Size(r, 40, 200)
	a := exhibit.Must(metric.NewPoints([][]float64{{.25, .75}, {.5, .5}}, metric.TotalVariation{}))
	r.Say("Lemma 4.1", "replacing one of n = 4 records moves the measure by 1/n in TV", "1/n", a.Distance(0, 1), exhibit.Near(a.Distance(0, 1), .25, 1e-15), "so that alpha = eps n gives eps-differential privacy (Lemma 2.3)")
	tv := 0.0
	for range 200 {
		fine, coarse := weights(rng, 64, 64), make([]float64, 8)
		for i := range fine {
			fine[i] -= 1. / 64
			coarse[rng.IntN(8)] += fine[i]
		}
		tv = max(tv, floats.Norm(coarse, 1)/floats.Norm(fine, 1))
	}
	r.Say("Lemma 5.3", "quantizing a signed measure does not raise its TV norm: largest quotient", 1., tv, exhibit.If(tv <= 1, exhibit.Holds), "200 signed measures on random partitions")
	twice, signs, ends := true, true, true
	for _, alpha := range exhibit.Size(r, []float64{8, 32, 128, 512}, []float64{8, 32, 128, 512, 2048, 8192}) {
		net := points(1, int(alpha)) // n = floor(alpha)
		p := newAsInPaper(ctx, net, alpha)
		e, signed, ok := p.errs(ctx, rng, net, draws)
		e += 1 / (2 * alpha) // half a cell is the net's
		most, least := 2*p.bound+1/(2*alpha), exhibit.Must(families.PrivateCubeBound(1, 0, alpha))
		twice, signs, ends = twice && ok, signs && signed <= p.bound, ends && least <= e && e <= most
		if alpha < 512 {
			continue
		}
		at := fmt.Sprintf(", n = alpha = %.0f", alpha)
		r.Say("Proposition 5.1", "the signed measure errs by C log^(3/2) n/alpha"+at, "C log^(3/2) n/alpha", signed, exhibit.If(signs, exhibit.Holds), "at every alpha less than the gaps times deviations, here "+demo.Number(p.bound))
		r.Say("Theorem 5.4", "E W1 with n = floor(alpha) points"+at, "C log^(3/2) alpha/alpha", e, exhibit.If(ends, exhibit.Holds),
			fmt.Sprintf("proved %s, C = %.1f; nothing errs less than %s", demo.Number(most), most*alpha/math.Pow(math.Log(alpha), 1.5), demo.Number(least)))
	}
	r.Say("Proposition 5.2", "the nearest probability measure errs at most twice as much", 2., "at every draw", exhibit.If(twice, exhibit.Holds), "")
}

// measures compares private measures of some levels on some spaces with the
// paper's bounds of their error, above and below.
func measures(ctx context.Context, r *exhibit.Run) {
	rng, draws := r.Rand(), exhibit.Size(r, 4, 40)
	for _, s := range spaces(exhibit.Size(r, 144, 1024)) {
		c := exhibit.Must(tsp.CoveringIntegral(ctx, s))
		for _, alpha := range []float64{1e2, 1e4} {
			p, least := newAsInPaper(ctx, s, alpha), exhibit.Must(families.PrivateMeasureBound(ctx, s, alpha)).Value
			e, _, _ := p.errs(ctx, rng, s, draws)
			r.Say("Theorem 7.2", fmt.Sprintf("E W1 on the net, alpha = %.0f: %s", alpha, s.name), "C log^(3/2) N times the covering integral/alpha", e, exhibit.If(least <= e && e <= 2*p.bound, exhibit.Holds),
				fmt.Sprintf("between what Theorem 8.5 with constants proves, %s, and twice the gaps times deviations along the tour (Proposition 7.1), %s, where C is %.1f",
					demo.Number(least), demo.Number(2*p.bound), 2*p.bound*alpha/(c.Integral*math.Pow(math.Log(float64(s.Len())), 1.5))))
		}
		tree, most := exhibit.Must(domain.NewFinite(ctx, s, nil)), math.Inf(1)
		for h := 1; h <= tree.Height(); h++ {
			data := exhibit.Must(measure.NewSynthesizer(tree, 1, &measure.SynthesizerOptions{Levels: slices.Repeat([]int{1}, h)}))
			most = min(most, exhibit.Must(data.UpperBound(1e4)))
		}
		least := exhibit.Must(families.PrivateDataBound(ctx, s, 1e4, 1)).Value
		r.Say("Corollary 7.4", "eps-private data, eps = 1, n = 10000: "+s.name, "C log^(3/2) N times the covering integral/(eps n)", fmt.Sprintf("%s to %s", demo.Number(least), demo.Number(most)),
			exhibit.If(least <= most && most < tree.Diameter(), exhibit.Holds), "the worst E W1, between PrivateDataBound and Synthesizer.UpperBound at the best Levels of the net tree")
	}
	at, w := []float64{0, .2, .7, 1}, []float64{.3217, .1003, .4444, .1336} // in thousandths, what is left to the first
	far := exhibit.Must(wasserstein.W1LineBetween(at, w, at, []float64{.323, .1, .444, .133}))
	r.Say("Corollary 7.3", "rounding r = 4 weights down to multiples of 1/m costs r/m at most, m = 1000", "r/m", far, exhibit.If(far <= .004, exhibit.Holds), "on the line, of diameter 1")
}

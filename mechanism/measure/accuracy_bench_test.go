package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
)

// BenchmarkW1 measures E W1 between records and what is released of them, at
// eps = 1 and one record replaced, as the mean over seeds of noise and data: W1
// and its standard error, W1*N (in units of N for the line). One iteration is
// all seeds.
func BenchmarkW1(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		signal := float64(n)
		line := []Column{{Lo: 0, Hi: 1}}
		b.Run(fmt.Sprintf("data=line/N=%d", n), func(b *testing.B) {
			seeds := 100
			records := uniformRecords(1)
			exact := func(b *testing.B, x [][]float64, rel *Release[[]float64]) float64 { return lineW1(b, x, rel) }
			boxCase(b, "default", line, BoxOptions{Signal: signal}, nil, n, seeds, records, exact)
			boxCase(b, "pmm", line, pmmCells(1, signal), pmm(), n, seeds, records, exact)
			foldedCase(b, "paper", lineGrid(1<<ceilLog2(n)), 2, n, seeds, records)
			foldedCase(b, "wide", lineGrid(1<<ceilLog2(n)), 32, n, seeds, records)
		})
		plane := []Column{{Lo: 0, Hi: 1}, {Lo: 0, Hi: 1}}
		for name, records := range map[string]func(*rand.Rand, int) [][]float64{"square": uniformRecords(2), "mixture": mixture} {
			b.Run(fmt.Sprintf("data=%s/N=%d", name, n), func(b *testing.B) {
				seeds := 20
				if n > 1000 {
					seeds = 4
				}
				boxCase(b, "default", plane, BoxOptions{Signal: signal}, nil, n, seeds, records, transportW1)
				boxCase(b, "pmm", plane, pmmCells(2, signal), pmm(), n, seeds, records, transportW1)
				side := 1 << (ceilLog2(n) / 2)
				foldedCase(b, "paper", planeGrid(side), 2, n, seeds, records)
				foldedCase(b, "wide", planeGrid(side), 32, n, seeds, records)
			})
		}
		for _, set := range []struct {
			name string
			load func(testing.TB) (metric.Finite, []float64)
		}{{"cities", loadCities}, {"glove", loadGloVe}} {
			b.Run(fmt.Sprintf("data=%s/N=%d", set.name, n), func(b *testing.B) {
				f, prior := set.load(b)
				finiteCases(b, f, prior, n, 20)
			})
		}
	}
}

func ceilLog2(n int) int { return int(math.Ceil(math.Log2(float64(n)))) }

func pmm() *SynthesizerOptions {
	return &SynthesizerOptions{Distribution: DiscreteLaplace, Schedule: ByCost, Estimator: Clipped}
}

// pmmCells cuts one column after the other in two, log2(N eps) - 3 times: the
// log2(N eps) of its paper are too many for its own good (line, N = 10^4: 33.1
// in place of 26.2).
func pmmCells(d int, signal float64) BoxOptions {
	var splits [][]int
	for l := range int(math.Log2(signal)) - 3 {
		row := make([]int, d)
		for a := range row {
			row[a] = 1
		}
		row[l%d] = 2
		splits = append(splits, row)
	}
	return BoxOptions{Splits: splits}
}

func uniformRecords(d int) func(*rand.Rand, int) [][]float64 {
	return func(r *rand.Rand, n int) [][]float64 {
		x := make([][]float64, n)
		for i := range x {
			x[i] = make([]float64, d)
			for a := range x[i] {
				x[i][a] = r.Float64()
			}
		}
		return x
	}
}

// mixture is three round clusters in the square.
func mixture(r *rand.Rand, n int) [][]float64 {
	x := make([][]float64, n)
	for i := range x {
		c := [][3]float64{{.2, .3, .05}, {.7, .6, .1}, {.4, .8, .02}}[r.IntN(3)]
		x[i] = []float64{min(1, max(0, c[0]+c[2]*r.NormFloat64())), min(1, max(0, c[1]+c[2]*r.NormFloat64()))}
	}
	return x
}

func lineW1(b testing.TB, x [][]float64, rel *Release[[]float64]) float64 {
	at, mu := make([]float64, len(x)), make([]float64, len(x))
	for i := range x {
		at[i], mu[i] = x[i][0], 1/float64(len(x))
	}
	to := make([]float64, len(rel.Weights))
	for i := range to {
		to[i] = rel.Point(i)[0]
	}
	w := testkit.Must(wasserstein.W1LineBetween(at, mu, to, rel.Weights))
	return w
}

func transportW1(b *testing.B, x [][]float64, rel *Release[[]float64]) float64 {
	var y [][]float64
	var nu []float64
	for i, w := range rel.Weights {
		if w > 0 {
			y = append(y, rel.Point(i))
			nu = append(nu, w)
		}
	}
	return planeW1(b, x, y, nu)
}

func planeW1(b testing.TB, x, y [][]float64, nu []float64) float64 {
	pts := testkit.Must(metric.NewPoints(append(append([][]float64{}, x...), y...), metric.Chebyshev{}))
	mu := make([]float64, len(x)+len(y))
	to := make([]float64, len(x)+len(y))
	for i := range x {
		mu[i] = 1 / float64(len(x))
	}
	copy(to[len(x):], nu)
	res := testkit.Must(wasserstein.W1(b.Context(), pts, mu, to, nil))
	return res.Cost
}

func boxCase(b *testing.B, name string, cols []Column, cells BoxOptions, o *SynthesizerOptions, n, seeds int,
	records func(*rand.Rand, int) [][]float64, w1 func(*testing.B, [][]float64, *Release[[]float64]) float64) {
	b.Run("kind="+name, func(b *testing.B) {
		d := testkit.Must(NewBox(cols, &cells))
		s := testkit.Must(NewSynthesizer(d, 1, o))
		report(b, n, seeds, func(r *rand.Rand) float64 {
			x := records(r, n)
			return w1(b, x, releaseOf(b, s, r, x))
		})
	})
}

func releaseOf[P any](b testing.TB, s *Synthesizer[P], r *rand.Rand, x []P) *Release[P] {
	c := testkit.Must(CountAll(b.Context(), s.Domain(), x, nil))
	rel := testkit.Must(s.Release(r, c))
	return rel
}

func report(b *testing.B, n, seeds int, one func(*rand.Rand) float64) {
	w := make([]float64, seeds)
	for b.Loop() {
		for i := range w {
			w[i] = one(random.Seeded(uint64(i + 1)))
		}
	}
	mean, se := meanAndError(w)
	b.ReportMetric(mean, "W1")
	b.ReportMetric(se, "stderr")
	b.ReportMetric(mean*float64(n), "W1*N")
}

func lineGrid(n int) [][]float64 {
	pts := make([][]float64, n)
	for i := range pts {
		pts[i] = []float64{(float64(i) + .5) / float64(n)}
	}
	return pts
}

func planeGrid(side int) [][]float64 {
	var pts [][]float64
	for i := range side {
		for j := range side {
			pts = append(pts, []float64{(float64(i) + .5) / float64(side), (float64(j) + .5) / float64(side)})
		}
	}
	return pts
}

// foldedCase is the paper's private measure, with Haar noise of scale 2L, on a
// grid of about N cells, or the same with wide nodes.
func foldedCase(b *testing.B, name string, grid [][]float64, arity, n, seeds int, records func(*rand.Rand, int) [][]float64) {
	b.Run("kind="+name, func(b *testing.B) {
		pts := testkit.Must(metric.NewPoints(grid, metric.Chebyshev{}))
		folded := testkit.Must(NewFolded(b.Context(), pts, &FoldedOptions{Arity: arity}))
		d := testkit.Must(On(b.Context(), folded, pts))
		s := testkit.Must(NewSynthesizer(d, 1, &SynthesizerOptions{Estimator: Nearest}))
		report(b, n, seeds, func(r *rand.Rand) float64 {
			x := records(r, n)
			rel := releaseOf(b, s, r, x)
			if len(grid[0]) == 1 {
				return lineW1(b, x, rel)
			}
			return transportW1(b, x, rel)
		})
	})
}

// finiteCases draws records from the prior on the points of f.
func finiteCases(b *testing.B, f metric.Finite, prior []float64, n, seeds int) {
	run := func(name string, d *Domain[int], err error, o *SynthesizerOptions) {
		b.Run("kind="+name, func(b *testing.B) {
			if err != nil {
				b.Fatal(err)
			}
			s := testkit.Must(NewSynthesizer(d, 1, o))
			cum := append([]float64(nil), prior...)
			for i := 1; i < len(cum); i++ {
				cum[i] += cum[i-1]
			}
			report(b, n, seeds, func(r *rand.Rand) float64 {
				x := make([]int, n)
				mu, nu := make([]float64, f.Len()), make([]float64, f.Len())
				for i := range x {
					u := r.Float64() * cum[len(cum)-1]
					for cum[x[i]] < u {
						x[i]++
					}
					mu[x[i]] += 1 / float64(n)
				}
				rel := releaseOf(b, s, r, x)
				for i, w := range rel.Weights {
					nu[rel.Point(i)] += w
				}
				res := testkit.Must(wasserstein.W1(b.Context(), f, mu, nu, nil))
				return res.Cost
			})
		})
	}
	d, err := NewFinite(b.Context(), f, nil)
	run("default", d, err, nil)
	d, err = NewFinite(b.Context(), f, &FiniteOptions{Arity: 2})
	run("pmm", d, err, pmm())
	d, err = NewFolded(b.Context(), f, &FoldedOptions{Tour: true})
	run("paper", d, err, &SynthesizerOptions{Estimator: Nearest})
	d, err = NewFolded(b.Context(), f, &FoldedOptions{Tour: true, Arity: 32})
	run("wide", d, err, nil)
}

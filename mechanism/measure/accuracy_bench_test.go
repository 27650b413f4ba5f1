package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein"
)

// BenchmarkW1 measures E W1 between records and what is released of them, at
// eps = 1 and one record replaced, as the mean over seeds of noise and data: W1
// and its standard error, W1*N (in units of N for the line). One iteration is
// all seeds. The paper's private measure has Haar noise of scale 2L on a grid of
// about N cells; wide is the same with wide nodes.
func BenchmarkW1(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		signal, side := float64(n), 1<<(ceilLog2(n)/2)
		for _, set := range []struct {
			name    string
			records func(*rand.Rand, int) [][]float64
			grid    [][]float64
			seeds   int
		}{
			{"line", uniformRecords(1), lattice(1, 1<<ceilLog2(n)), 100},
			{"square", uniformRecords(2), lattice(2, side), max(4, 20_000/n)},
			{"mixture", mixture, lattice(2, side), max(4, 20_000/n)},
		} {
			b.Run(fmt.Sprintf("data=%s/N=%d", set.name, n), func(b *testing.B) {
				d := len(set.grid[0])
				run := func(name string, d *Domain[[]float64], o *SynthesizerOptions) {
					benchW1(b, name, d, o, n, set.seeds, set.records, w1)
				}
				run("default", unitBox(d, BoxOptions{Signal: signal}), nil)
				run("pmm", unitBox(d, pmmCells(d, signal)), pmm())
				pts := testkit.Must(metric.NewPoints(set.grid, metric.Chebyshev{}))
				for name, arity := range map[string]int{"paper": 2, "wide": 32} {
					folded := testkit.Must(NewFolded(b.Context(), pts, &FoldedOptions{Arity: arity}))
					run(name, testkit.Must(On(b.Context(), folded, pts)), &SynthesizerOptions{Estimator: Nearest})
				}
			})
		}
		for name, load := range map[string]func(testing.TB) (metric.Finite, []float64){"cities": loadCities, "glove": loadGloVe} {
			b.Run(fmt.Sprintf("data=%s/N=%d", name, n), func(b *testing.B) {
				f, prior := load(b)
				run := func(name string, d *Domain[int], o *SynthesizerOptions) {
					benchW1(b, name, d, o, n, 20, fromPrior(prior), finiteW1(f))
				}
				run("default", testkit.Must(NewFinite(b.Context(), f, nil)), nil)
				run("pmm", testkit.Must(NewFinite(b.Context(), f, &FiniteOptions{Arity: 2})), pmm())
				run("paper", testkit.Must(NewFolded(b.Context(), f, &FoldedOptions{Tour: true})), &SynthesizerOptions{Estimator: Nearest})
				run("wide", testkit.Must(NewFolded(b.Context(), f, &FoldedOptions{Tour: true, Arity: 32})), nil)
			})
		}
	}
}

// benchW1 releases n records with every seed.
func benchW1[P any](b *testing.B, name string, d *Domain[P], o *SynthesizerOptions, n, seeds int,
	records func(*rand.Rand, int) []P, w1 func(testing.TB, []P, *Release[P]) float64) {
	b.Run("kind="+name, func(b *testing.B) {
		s := testkit.Must(NewSynthesizer(d, 1, o))
		w := make([]float64, seeds)
		for b.Loop() {
			for i := range w {
				r := random.Seeded(uint64(i + 1))
				x := records(r, n)
				w[i] = w1(b, x, releaseOf(b, s, r, x))
			}
		}
		mean, se := meanAndError(w)
		b.ReportMetric(mean, "W1")
		b.ReportMetric(se, "stderr")
		b.ReportMetric(mean*float64(n), "W1*N")
	})
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
		row := slices.Repeat([]int{1}, d)
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

// fromPrior draws points of a finite metric.
func fromPrior(prior []float64) func(*rand.Rand, int) []int {
	t := exact.NewTable(exact.Weights{W: prior})
	return func(r *rand.Rand, n int) []int {
		x := make([]int, n)
		for i := range x {
			x[i] = t.Draw(r)
		}
		return x
	}
}

// w1 is the distance between records of a line, or of more dimensions under the
// largest difference, and what was released.
func w1(b testing.TB, x [][]float64, rel *Release[[]float64]) float64 {
	at, mu := slices.Clone(x), make([]float64, len(x))
	for i := range mu {
		mu[i] = 1 / float64(len(x))
	}
	var nu []float64
	for i, w := range rel.Weights {
		if w > 0 {
			at, nu = append(at, rel.Point(i)), append(nu, w)
		}
	}
	if len(at[0]) == 1 {
		line := make([]float64, len(at))
		for i := range line {
			line[i] = at[i][0]
		}
		return testkit.Must(wasserstein.W1LineBetween(line[:len(x)], mu, line[len(x):], nu))
	}
	pts := testkit.Must(metric.NewPoints(at, metric.Chebyshev{}))
	from, to := append(mu, make([]float64, len(nu))...), append(make([]float64, len(x)), nu...)
	return testkit.Must(wasserstein.W1(b.Context(), pts, from, to, nil)).Cost
}

func finiteW1(f metric.Finite) func(testing.TB, []int, *Release[int]) float64 {
	return func(b testing.TB, x []int, rel *Release[int]) float64 {
		mu, nu := make([]float64, f.Len()), make([]float64, f.Len())
		for _, i := range x {
			mu[i] += 1 / float64(len(x))
		}
		for i, w := range rel.Weights {
			nu[rel.Point(i)] += w
		}
		return testkit.Must(wasserstein.W1(b.Context(), f, mu, nu, nil)).Cost
	}
}

func releaseOf[P any](b testing.TB, s *Synthesizer[P], r *rand.Rand, x []P) *Release[P] {
	return testkit.Must(s.Release(r, testkit.Must(CountAll(b.Context(), s.Domain(), x, nil))))
}

// lattice has side points along each of d dimensions.
func lattice(d, side int) [][]float64 {
	pts := [][]float64{nil}
	for range d {
		var next [][]float64
		for _, p := range pts {
			for i := range side {
				next = append(next, append(slices.Clone(p), (float64(i)+.5)/float64(side)))
			}
		}
		pts = next
	}
	return pts
}

package measure

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/sample"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/samples"
	"github.com/metricdp/metricdp/mechanism/measure/private"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/walk"
	"github.com/metricdp/metricdp/wasserstein"
)

// BenchmarkW1 measures E W1 between records of five kinds and what is released of them at eps = 1,
// as the mean over seeds: W1 of the default with its standard error, and in units of others: /hist
// is a Laplace histogram and /fixed a tree of fixed depth, whole or pruned, both of the best depth
// in hindsight, /pmm the hierarchy of its paper, and /paper the private measure of BSV22.
func BenchmarkW1(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		for d := 1; d <= 3; d++ {
			seeds := 40
			if d > 1 {
				if seeds = 8; n > 1000 {
					continue // W1 would take minutes
				}
			}
			if testing.Short() {
				seeds = 1
			}
			for _, f := range samples.Families(d) {
				b.Run(fmt.Sprintf("d=%d/data=%s/N=%d", d, f.Name, n), func(b *testing.B) {
					deep := samples.Unit(d, domain.BoxOptions{})
					pts := testkit.Must(metric.NewPoints(lattice(d, 1<<(ceilLog2(n)/d)), metric.Chebyshev{}))
					folded := testkit.Must(domain.On(b.Context(), testkit.Must(domain.NewFolded(b.Context(), pts, nil)), pts))
					compare(b, n, seeds, f.Draw, w1, synthesized(b, deep, nil), map[string][]releaser[[]float64]{
						"/hist":  ofLevels(b, deep, histograms(d, ceilLog2(n)+2), 0),
						"/fixed": append(ofLevels(b, deep, trees(d, ceilLog2(n)+2), 0), ofLevels(b, deep, trees(d, 16*d), 2)...),
						"/pmm":   {onPMM(b, samples.Unit(d, pmmCells(d, float64(n))), float64(n))},
						"/paper": {measured(b, folded, float64(n), &private.Options{Estimator: private.Nearest})},
					})
				})
			}
		}
		b.Run(fmt.Sprintf("data=cities/N=%d", n), func(b *testing.B) {
			f, people := cities(b)
			net := testkit.Must(domain.NewFinite(b.Context(), f, nil))
			var all [][]int
			for h := 1; h <= net.Height(); h++ {
				all = append(all, []int{h}, slices.Repeat([]int{1}, h))
			}
			binary := testkit.Must(domain.NewFinite(b.Context(), f, &domain.FiniteOptions{Arity: 2}))
			folded := testkit.Must(domain.NewFolded(b.Context(), f, &domain.FoldedOptions{Tour: true}))
			compare(b, n, 20, fromPrior(people), finiteW1(f), synthesized(b, net, nil), map[string][]releaser[int]{
				"/hist":  ofLevels(b, net, [][]int{{net.Height()}}, 0),
				"/fixed": ofLevels(b, net, all, 0),
				"/pmm":   {onPMM(b, binary, float64(n))},
				"/paper": {measured(b, folded, float64(n), &private.Options{Estimator: private.Nearest})},
			})
		})
	}
}

// releaser makes a measure of records: points and their masses.
type releaser[P any] func(r *rand.Rand, x []P) (at []P, mass []float64)

// compare has all release the same records, with the noise of every seed.
func compare[P any](b *testing.B, n, seeds int, records func(*rand.Rand, int) []P, w1 func(testing.TB, []P, []P, []float64) float64,
	ours releaser[P], others map[string][]releaser[P]) {
	mean := func(f releaser[P]) (m, se float64) {
		w := make([]float64, seeds)
		for i := range w {
			r := random.Seeded(uint64(i + 1))
			x := records(r, n)
			at, mass := f(r, x)
			w[i] = w1(b, x, at, mass)
		}
		return sample.Mean(w)
	}
	for b.Loop() {
		m, se := mean(ours)
		b.ReportMetric(m, "W1")
		b.ReportMetric(se, "stderr")
		for name, all := range others {
			best := math.Inf(1)
			for _, f := range all {
				other, _ := mean(f)
				best = min(best, other)
			}
			b.ReportMetric(m/best, name)
		}
	}
}

// synthesized releases by a Synthesizer of level 1.
func synthesized[P any](b testing.TB, d *domain.Domain[P], o *SynthesizerOptions) releaser[P] {
	s := testkit.Must(NewSynthesizer(d, 1, o))
	return func(r *rand.Rand, x []P) (at []P, mass []float64) {
		out := releaseOf(b, s, r, x)
		for i := range out.Weights {
			at = append(at, out.Point(i))
		}
		return at, out.Weights
	}
}

// measured releases by a Measure; alpha is eps times the number of records.
func measured[P any](b testing.TB, d *domain.Domain[P], alpha float64, o *private.Options) releaser[P] {
	m := testkit.Must(private.New(d, alpha, o))
	return func(r *rand.Rand, x []P) (at []P, mass []float64) {
		for c, w := range testkit.Must(m.Release(r, testkit.Must(d.Weights(x, nil)))) {
			if w > 0 {
				at, mass = append(at, d.Point(c)), append(mass, w)
			}
		}
		return at, mass
	}
}

func ofLevels[P any](b testing.TB, d *domain.Domain[P], levels [][]int, prune float64) (all []releaser[P]) {
	for _, l := range levels {
		all = append(all, synthesized(b, d, &SynthesizerOptions{Levels: l, Prune: prune}))
	}
	return all
}

// histograms and trees are depths to choose from, by one division, and by as many as
// have some 16 parts.
func histograms(d, bits int) (all [][]int) {
	for depth := 1; depth*d <= bits; depth++ {
		all = append(all, []int{depth})
	}
	return all
}

func trees(d, bits int) (all [][]int) {
	for _, h := range histograms(d, bits) {
		var levels []int
		for step, rest := 4/d, h[0]; rest > 0; rest -= step {
			step = min(step, rest)
			levels = append(levels, step)
		}
		all = append(all, levels)
	}
	return all
}

func ceilLog2(n int) int { return int(math.Ceil(math.Log2(float64(n)))) }

// onPMM releases measures as PMM does, with negative noisy counts kept for the projection. Source:
// He, Vershynin, Zhu, "Algorithmically effective differentially private synthetic data", 2023.
func onPMM[P any](b testing.TB, d *domain.Domain[P], alpha float64) releaser[P] {
	return measured(b, d, alpha, &private.Options{Distribution: walk.Laplace, Scales: costScales(d)})
}

// costScales are those of least cost, which nets have by default.
func costScales[P any](d *domain.Domain[P]) (scales []float64) {
	for _, c := range testkit.Must(samples.Inside(d).Explicit("")).LevelCosts() {
		scales = append(scales, 1/math.Sqrt(c))
	}
	return scales
}

// pmmCells cuts one column after the other in two, log2(N eps) - 3 times: the log2(N eps) of its
// paper are too many for its own good (line, N = 10^4: 33.1 in place of 26.2).
func pmmCells(d int, signal float64) domain.BoxOptions {
	var splits [][]int
	for l := range int(math.Log2(signal)) - 3 {
		row := slices.Repeat([]int{1}, d)
		row[l%d] = 2
		splits = append(splits, row)
	}
	return domain.BoxOptions{Splits: splits}
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
func w1(b testing.TB, x, released [][]float64, nu []float64) float64 {
	at, mu := slices.Concat(x, released), make([]float64, len(x))
	for i := range mu {
		mu[i] = 1 / float64(len(x))
	}
	if len(at[0]) == 1 {
		line := make([]float64, len(at))
		for i := range line {
			line[i] = at[i][0]
		}
		return testkit.Must(wasserstein.W1LineBetween(line[:len(x)], mu, line[len(x):], nu))
	}
	return w1In(metric.Chebyshev{})(b, x, released, nu)
}

// w1In is the distance under any metric.
func w1In[P any](space metric.Space[P]) func(b testing.TB, x, released []P, nu []float64) float64 {
	return func(b testing.TB, x, released []P, nu []float64) float64 {
		from, to := make([]float64, len(x)+len(nu)), make([]float64, len(x)+len(nu))
		for i := range x {
			from[i] = 1 / float64(len(x))
		}
		copy(to[len(x):], nu)
		pts := testkit.Must(metric.NewPoints(slices.Concat(x, released), space))
		return testkit.Must(wasserstein.W1(b.Context(), pts, from, to, nil)).Cost
	}
}

func finiteW1(f metric.Finite) func(testing.TB, []int, []int, []float64) float64 {
	return func(b testing.TB, x, at []int, mass []float64) float64 {
		mu, nu := make([]float64, f.Len()), make([]float64, f.Len())
		for _, i := range x {
			mu[i] += 1 / float64(len(x))
		}
		for i, w := range mass {
			nu[at[i]] += w
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

// BenchmarkRelease releases counts of a net of n cells.
func BenchmarkRelease(b *testing.B) {
	for _, bits := range []int{12, 16, 20} {
		b.Run(fmt.Sprintf("n=%d", 1<<bits), func(b *testing.B) {
			d := samples.Unit(2, domain.BoxOptions{Depth: float64(bits) / 2})
			s := testkit.Must(NewSynthesizer(d, 1, nil))
			r := random.Seeded(1)
			c := NewCounts(d)
			for range 1 << bits {
				c.add(r.IntN(d.Len()), 1)
			}
			b.ReportAllocs()
			for b.Loop() {
				testkit.Must(s.Release(r, c))
			}
		})
	}
}

// cities are the 1,000 most populous places (testdata/DATA.md), and how many live there.
func cities(b testing.TB) (metric.Finite, []float64) {
	f := testkit.Must(os.Open("testdata/cities.csv"))
	defer f.Close()
	var at []metric.LatLon
	var people []float64
	for _, row := range testkit.Must(csv.NewReader(f).ReadAll())[1:] {
		var v [3]float64
		for i := range v {
			v[i] = testkit.Must(strconv.ParseFloat(row[2+i], 64))
		}
		at, people = append(at, metric.LatLon{Lat: v[0], Lon: v[1]}), append(people, v[2])
	}
	return testkit.Must(metric.Densify(b.Context(), testkit.Must(metric.NewPoints(at, metric.GreatCircle{})))), people
}

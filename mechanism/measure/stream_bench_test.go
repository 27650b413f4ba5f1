package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/samples"
	"github.com/metricdp/metricdp/wasserstein"
)

// BenchmarkStream measures the mean W1 error of a stream over that of one release of all its
// records, after about 10^5 at eps = 1, of five clusters, and of data of which half moves through
// the cube with the logarithm of time. In the plane W1 is that of dyadic trees. /add adds a million
// records of the line one by one.
func BenchmarkStream(b *testing.B) {
	times := []int{72_000, 100_000, 126_000}
	runs := 16
	if testing.Short() {
		times, runs = []int{2000}, 1
	}
	for d := 1; d <= 2; d++ {
		for _, drift := range []bool{false, true} {
			for _, o := range []StreamOptions{{}, {Growth: 1.1}, {Halves: 0.25}, {Growth: 2, Halves: 0.6}} {
				b.Run(fmt.Sprintf("d=%d/drift=%v/growth=%v/halves=%v", d, drift, o.Growth, o.Halves), func(b *testing.B) {
					space := samples.Unit(d, domain.BoxOptions{})
					one := testkit.Must(NewSynthesizer(space, 1, nil))
					r := random.Seeded(uint64(d))
					errs := [2]float64{}
					for b.Loop() {
						for range max(1, runs/(2*d-1)) {
							s := testkit.Must(NewStream(space, 1, &o))
							x := arriving(r, d, drift, times[len(times)-1])
							from := 0
							for _, n := range times {
								testkit.Check(b, s.Add(r, x[from:n]))
								from = n
								all := testkit.Must(one.Release(r, testkit.Must(CountAll(b.Context(), space, x[:n], nil))))
								errs[0] += distanceTo(b, x[:n], all)
								errs[1] += distanceTo(b, x[:n], testkit.Must(s.Release()))
							}
						}
					}
					b.ReportMetric(errs[1]/errs[0], "ratio")
				})
			}
		}
	}
	b.Run("add", func(b *testing.B) {
		r := random.Seeded(1)
		x := arriving(r, 1, false, 1<<20)
		for b.Loop() {
			s := testkit.Must(NewStream(samples.Unit(1, domain.BoxOptions{}), 1, nil))
			for i := range x {
				testkit.Check(b, s.Add(r, x[i:i+1]))
			}
		}
		b.ReportMetric(float64(b.N*len(x))/b.Elapsed().Seconds(), "records/s")
	})
}

// arriving are n records of the unit cube.
func arriving(r *rand.Rand, d int, drift bool, n int) [][]float64 {
	at, width := []float64{.2, .35, .5, .7, .9}, []float64{.01, .03, .1, .02, .05}
	out := make([][]float64, n)
	for i := range out {
		x := make([]float64, d)
		k := r.IntN(5)
		for a := range x {
			switch {
			case !drift:
				x[a] = at[(k*(a+1)+a)%5] + width[k]*r.NormFloat64()
			case k < 2:
				x[a] = r.Float64()
			default:
				x[a] = .5 + .4*math.Sin(1.3*math.Log(1+float64(i))+float64(a)) + .02*r.NormFloat64()
			}
			x[a] = min(max(x[a], 0), 1-1e-9)
		}
		out[i] = x
	}
	return out
}

// distanceTo is W1 from records to a release spread over its regions: exact on the line.
func distanceTo(b testing.TB, x [][]float64, rel *Release[[]float64]) float64 {
	const spread = 4
	r := random.Seeded(7)
	var at [][]float64
	var mass []float64
	for i, w := range rel.Weights {
		for range spread {
			at, mass = append(at, rel.at(r, i)), append(mass, w/spread)
		}
	}
	if len(x[0]) == 1 {
		line := func(p [][]float64) (out []float64) {
			for _, v := range p {
				out = append(out, v[0])
			}
			return out
		}
		even := make([]float64, len(x))
		for i := range even {
			even[i] = 1 / float64(len(x))
		}
		return testkit.Must(wasserstein.W1LineBetween(line(x), even, line(at), mass))
	}
	sum := 0.0
	const shifts, levels = 6, 10
	for range shifts {
		dx, dy := r.Float64(), r.Float64()
		for l := 1; l <= levels; l++ {
			cells := make([]float64, 1<<(2*l))
			side := math.Exp2(float64(l - 1)) // of [0, 2]^2
			add := func(p []float64, m float64) {
				cells[int((p[0]+dx)*side)<<l+int((p[1]+dy)*side)] += m
			}
			for _, p := range x {
				add(p, -1/float64(len(x)))
			}
			for i, p := range at {
				add(p, mass[i])
			}
			for _, c := range cells {
				sum += math.Abs(c) / (2 * side * shifts)
			}
		}
	}
	return sum
}

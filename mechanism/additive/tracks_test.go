package additive

import (
	"encoding/csv"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/metricdp/metricdp/internal/knots"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

type track = [][2]float64

// sessions are tracks with a position a minute, in meters: those of the CSV file METRICDP_TRACKS,
// whose columns are track, x and y, or made-up ones of 30 to 200 minutes, of stays and ways between
// them on foot, by bicycle and by car.
func sessions(rng *rand.Rand) (all []track) {
	if name := os.Getenv("METRICDP_TRACKS"); name != "" {
		f := testkit.Must(os.Open(name))
		defer f.Close()
		last := ""
		for _, row := range testkit.Must(csv.NewReader(f).ReadAll())[1:] {
			if row[0] != last {
				all, last = append(all, nil), row[0]
			}
			at := [2]float64{testkit.Must(strconv.ParseFloat(row[1], 64)), testkit.Must(strconv.ParseFloat(row[2], 64))}
			all[len(all)-1] = append(all[len(all)-1], at)
		}
		return all
	}
	for range 300 {
		x, bearing, speed, left := [2]float64{}, 0.0, 0.0, 0
		var t track
		for n := min(200, 30+int(39*rng.ExpFloat64())); len(t) < n; left-- {
			if left == 0 {
				left, bearing = 5+int(20*rng.ExpFloat64()), 2*math.Pi*rng.Float64()
				if speed > 0 {
					speed = 0
				} else {
					speed = []float64{70, 80, 200, 400, 600}[rng.IntN(5)]
				}
			}
			bearing += 0.3 * rng.NormFloat64()
			v := speed * (0.5 + rng.Float64())
			x = [2]float64{x[0] + v*math.Cos(bearing) + 3*rng.NormFloat64(), x[1] + v*math.Sin(bearing) + 3*rng.NormFloat64()}
			t = append(t, x)
		}
		all = append(all, t)
	}
	return all
}

func upTo(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

func thinned(t track, at []int) (xs track) {
	for _, i := range at {
		xs = append(xs, t[i])
	}
	return xs
}

// noticed releases a position anew where a noisy test says that it lies far from the last one
// released, c times at most, as far as alpha lasts: the predictive mechanism (Chatzikokolakis,
// Palamidessi, Stronati 2014), whose tests every so many minutes each cost, or sparse vector,
// where only those that say yes do. A choice is of c, the threshold in scales of the noise, the
// share of alpha for releases and the minutes between tests.
func noticed(sparse bool, at func(alpha float64) *PlanarLaplace) func(rng *rand.Rand, t track, alpha float64, choice int) track {
	return func(rng *rand.Rand, t track, alpha float64, choice int) (ys track) {
		laplace := func(scale float64) float64 { return scale * (rng.ExpFloat64() - rng.ExpFloat64()) }
		c := []float64{2, 4, 6, 10}[choice%4]
		far, share, minutes := []float64{1, 2, 4}[choice/4%3], []float64{0.6, 0.8}[choice/12%2], []int{5, 15, 30}[choice/24]
		noise, test := alpha*share/c, alpha*(1-share)/float64(max(1, (len(t)-1)/minutes))
		above, below := 1/test, 0.0
		if sparse { // the last release needs no test
			round := alpha / (c - 1 + share)
			noise = round * share
			threshold := (round - noise) / (1 + math.Cbrt(4))
			above, below = 2/(round-noise-threshold), 1/threshold
		}
		m := at(noise)
		y, used, border := testkit.Must(m.Release(rng, t[0])), 1.0, laplace(below)
		for i, x := range t {
			if i > 0 && used < c && i%minutes == 0 && math.Hypot(x[0]-y[0], x[1]-y[1])+laplace(above) > far/noise+border {
				y, border = testkit.Must(m.Release(rng, x)), laplace(below)
				used++
			}
			ys = append(ys, y)
		}
		return ys
	}
}

// BenchmarkTracks reports the mean error in meters of whole tracks at level ln 4 per 200 m, and per
// 20 m: the spacing of reports, or the side of cells, is chosen on one half of the tracks, and
// the error is that on the other.
func BenchmarkTracks(b *testing.B) {
	minutes := []int{1, 2, 3, 5, 8, 12, 20, 30, 45, 60, 90}
	planar := func(alpha float64) *PlanarLaplace {
		return testkit.Must(NewPlanarLaplace(alpha, nil))
	}
	each := func(rng *rand.Rand, xs track, alpha float64) (ys track) {
		m := planar(alpha / float64(len(xs)))
		for _, x := range xs {
			ys = append(ys, testkit.Must(m.Release(rng, x)))
		}
		return ys
	}
	mechanisms := []struct {
		name    string
		choices []int
		release func(rng *rand.Rand, t track, alpha float64, choice int) track
	}{
		{"independent", []int{1}, func(rng *rand.Rand, t track, alpha float64, _ int) track { return each(rng, t, alpha) }},
		{"sticky", []int{100, 300, 1000, 2000, 4000, 8000}, func(rng *rand.Rand, t track, alpha float64, side int) (ys track) {
			first := map[[2]float64]int{} // of the cells of this very track
			var of []int
			var xs track
			for _, x := range t {
				cell := [2]float64{math.Floor(x[0] / float64(side)), math.Floor(x[1] / float64(side))}
				if _, ok := first[cell]; !ok {
					first[cell] = len(xs)
					xs = append(xs, x)
				}
				of = append(of, first[cell])
			}
			answers := each(rng, xs, alpha)
			for _, k := range of {
				ys = append(ys, answers[k])
			}
			return ys
		}},
		{"predictive", upTo(72), noticed(false, planar)},
		{"sparse vector", upTo(72), noticed(true, planar)},
		{"knots, independent", minutes, func(rng *rand.Rand, t track, alpha float64, every int) track {
			at := knots.At(len(t), every)
			return flatMap(1).interpolate(len(t), at, each(rng, thinned(t, at), alpha))
		}},
		{"Knots", minutes, func(rng *rand.Rand, t track, alpha float64, every int) track {
			return testkit.Must(testkit.Must(NewKnots(alpha, &KnotsOptions{Every: every})).Release(rng, t))
		}},
		{"Trail", minutes, func(rng *rand.Rand, t track, alpha float64, every int) track {
			return testkit.Must(testkit.Must(NewTrail(alpha, &TrailOptions{Steps: 200, Every: every})).Release(rng, t))
		}},
	}
	all := sessions(random.Seeded(2))
	for _, meters := range []float64{200, 20} {
		for _, m := range mechanisms {
			b.Run(strconv.Itoa(int(meters))+"m/"+m.name, func(b *testing.B) {
				rng := random.Seeded(3)
				off := func(half, choice int) float64 {
					sum, n := 0.0, 0
					for k := half; k < len(all); k += 2 {
						for range 3 {
							s := 0.0
							for i, y := range m.release(rng, all[k], math.Log(4)/meters, choice) {
								s += math.Hypot(y[0]-all[k][i][0], y[1]-all[k][i][1])
							}
							sum += s / float64(len(all[k]))
							n++
						}
					}
					return sum / float64(n)
				}
				best, choice := math.Inf(1), 0
				for b.Loop() {
					best = math.Inf(1)
					for _, c := range m.choices {
						if v := off(0, c); v < best {
							best, choice = v, c
						}
					}
					best = off(1, choice)
				}
				b.ReportMetric(best, "m")
				b.ReportMetric(float64(choice), "choice")
			})
		}
	}
}

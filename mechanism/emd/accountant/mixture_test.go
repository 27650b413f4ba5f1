package accountant

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// secrecy is a random x and x' and others' rows that are as far from them as a level allows.
type secrecy struct {
	z, q []float64   // of outputs: u = q(1+zT), v = q(1-zT)
	rows [][]float64 // r_i
	e, t float64     // exp(-alpha0 D) and T
}

func newSecrecy(r *rand.Rand, others int, alpha0, d float64) secrecy {
	s := secrecy{e: math.Exp(-alpha0), t: math.Tanh(alpha0 * d / 2)}
	share := []float64{1, 1, 1, 1, r.Float64(), r.Float64()} // mirrored outputs are alike
	zs := []float64{1, -1, 1, -1, 0, 0}
	if r.IntN(2) == 0 {
		zs[2] = r.Float64()
		zs[3] = -zs[2]
	}
	share[2] = r.Float64()
	share[3] = share[2]
	total := 0.0
	for _, q := range share {
		total += q
	}
	for i, q := range share {
		s.z, s.q = append(s.z, zs[i]), append(s.q, q/total)
	}
	for range others {
		// All at the least, and then up in a random order until they sum to 1.
		row, left := make([]float64, len(s.q)), 1.0
		for y, q := range s.q {
			row[y] = s.e * q * (1 + math.Abs(s.z[y])*s.t)
			left -= row[y]
		}
		for _, y := range r.Perm(len(row)) {
			more := min(left, s.q[y]*(1-math.Abs(s.z[y])*s.t)/s.e-row[y])
			row[y], left = row[y]+more, left-more
		}
		s.rows = append(s.rows, row)
	}
	return s
}

// each calls f with all outputs of the records of rows and their probability.
func each(rows [][]float64, f func(outputs []int, p float64)) {
	outputs := make([]int, len(rows))
	var walk func(i int, p float64)
	walk = func(i int, p float64) {
		if i == len(rows) {
			f(outputs, p)
			return
		}
		for y, v := range rows[i] {
			outputs[i] = y
			walk(i+1, p*v)
		}
	}
	walk(0, 1)
}

func TestMixture_BoundsTheSumOfAnyRecords(t *testing.T) {
	r := random.Seeded(71)
	for range testkit.Sweep(15, 1000) {
		alpha0, d, others := 0.1+3*r.Float64(), r.Float64(), 1+r.IntN(4)
		s := newSecrecy(r, others, alpha0, d)
		x := newMixture(alpha0, d, int64(others))
		for _, tau := range []float64{0.02, 0.3, 0.9} {
			mean := 0.0
			each(s.rows, func(outputs []int, p float64) {
				sum := (1 - tau) / (s.e * (1 + s.t))
				for i, y := range outputs {
					sum += (s.z[y] - tau) * s.q[y] / s.rows[i][y]
				}
				mean += p * max(0, sum)
			})
			if got := math.Exp(x.sum(tau)); got < mean*(1-1e-12) || math.IsNaN(got) {
				t.Errorf("alpha0=%g d=%g tau=%g, %d others: %g, the mean is %g", alpha0, d, tau, others, got, mean)
			}
		}
	}
}

// The inequality that a mixture rests on, by all outcomes of few records.
func TestMixture_BoundsTheDivergence(t *testing.T) {
	r := random.Seeded(72)
	for range testkit.Sweep(40, 500) {
		alpha0, d, others := 0.1+2*r.Float64(), r.Float64(), 1+r.IntN(3)
		s := newSecrecy(r, others, alpha0, d)
		u, v, b := make([]float64, len(s.q)), make([]float64, len(s.q)), make([]float64, len(s.q))
		p := 0.0
		for y, q := range s.q {
			u[y], v[y] = q*(1+s.z[y]*s.t), q*(1-s.z[y]*s.t)
			b[y] = s.e * max(u[y], v[y])
			p += b[y]
		}
		for _, tau := range []float64{0.1, 0.5} {
			ee := (1 + tau*s.t) / (1 - tau*s.t)
			laws := map[string]float64{}
			for k, row := range [][]float64{u, v} {
				each(append([][]float64{row}, s.rows...), func(outputs []int, q float64) {
					count := make([]int, len(s.q))
					for _, y := range outputs {
						count[y]++
					}
					if k == 1 {
						q *= -ee
					}
					laws[fmt.Sprint(count)] += q
				})
			}
			divergence := 0.0
			for _, m := range laws {
				divergence += max(0, m)
			}
			top := 0.0
			for y := range u {
				for _, row := range s.rows {
					top = max(top, (u[y]-ee*v[y])/row[y])
				}
			}
			// K = 0 tells all: see there.
			bound, alone := 0.0, 0.0
			for y := range u {
				alone += max(0, u[y]-ee*v[y])
			}
			each(s.rows, func(outputs []int, q float64) {
				sum := top
				for i, y := range outputs {
					sum += (u[y] - ee*v[y]) / s.rows[i][y]
				}
				// Which of them draw from b.
				drawn := []float64{1}
				for i, y := range outputs {
					share := b[y] / s.rows[i][y]
					next := make([]float64, len(drawn)+1)
					for k, m := range drawn {
						next[k] += m * (1 - share)
						next[k+1] += m * share
					}
					drawn = next
				}
				for k, m := range drawn {
					bound += q * m * p / float64(k+1) * max(0, sum)
				}
			})
			bound += math.Pow(1-p, float64(others)) * alone
			if divergence > bound*(1+1e-12) {
				t.Errorf("alpha0=%g d=%g tau=%g, %d others: divergence %g, bound %g", alpha0, d, tau, others, divergence, bound)
			}
		}
	}
}

// What is not known of the randomizer costs little: both ends for all of one level.
func TestShuffle_IntervalsAreNarrow(t *testing.T) {
	for _, c := range intervals[:testkit.Sweep(1, len(intervals))] {
		i := testkit.Must(c.LevelInterval(bg, 1e-9))
		if !(i.Lo > 0 && i.Lo <= i.Hi && i.Hi <= c.most*i.Lo) {
			t.Errorf("%+v: %g to %g", c.Shuffle, i.Lo, i.Hi)
		}
		if plain := testkit.Must(testkit.Must(c.check("")).quick().levelOf(c.Alpha0, 1e-9)); !(i.Hi < 0.95*plain) {
			t.Errorf("%+v: %g, by clones %g", c.Shuffle, i.Hi, plain)
		}
	}
}

func (b joint) levelOf(alpha0, delta float64) (float64, error) {
	b.set(alpha0)
	return b.level(bg, math.Log(delta), b.pure())
}

var intervals = []struct {
	Shuffle
	most float64 // upper over lower end
}{
	{Shuffle{Records: 1e6, Items: 1, Alpha0: 1, Diameter: 1}, 1.1},
	{Shuffle{Records: 1e6, Items: 10, Alpha0: 1, Diameter: 1}, 1.1},
	{Shuffle{Records: 1e6, Items: 1000, Alpha0: 1, Diameter: 1}, 1.15},
	{Shuffle{Records: 1e9, Items: 1, Alpha0: 1, Diameter: 1}, 1.1},
	{Shuffle{Records: 1e9, Items: 10, Alpha0: 1, Diameter: 1}, 1.1},
	{Shuffle{Records: 1e9, Items: 1000, Alpha0: 1, Diameter: 1}, 1.15},
}

// BenchmarkInterval reports the upper over the lower end of levels at delta 1e-9.
func BenchmarkInterval(b *testing.B) {
	for _, c := range intervals {
		testkit.Bench(b, fmt.Sprintf("N=%.0e/m=%d", float64(c.Records), c.Items), func() {
			i := testkit.Must(c.LevelInterval(bg, 1e-9))
			b.Logf("N=%d, m=%d: upper/lower %.3f", c.Records, c.Items, i.Hi/i.Lo)
		})
	}
}

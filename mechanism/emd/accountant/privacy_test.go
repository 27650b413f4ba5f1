package accountant

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

// toy is a channel of a few inputs and outputs with the distances of its
// inputs, diameter 1, and its exact level.
type toy struct {
	name   string
	prob   [][]float64
	dist   [][]float64
	alpha0 float64
	near   float64 // least distance
}

// newToy normalizes the probabilities.
func newToy(name string, prob, dist [][]float64) toy {
	c := toy{name: name, prob: prob, dist: dist, near: 1}
	for _, p := range prob {
		floats.Scale(1/floats.Sum(p), p)
	}
	for x := range prob {
		for z := range prob {
			if x == z {
				continue
			}
			c.near = min(c.near, dist[x][z])
			for y := range prob[x] {
				c.alpha0 = max(c.alpha0, math.Abs(math.Log(prob[x][y]/prob[z][y]))/dist[x][z])
			}
		}
	}
	c.alpha0 *= 1 + 1e-12
	return c
}

// randomToy draws points of the line or the plane and a channel, whose level is
// whatever comes out.
func randomToy(r *rand.Rand, inputs, outputs int, spread float64) toy {
	pts := make([][2]float64, inputs)
	for i := range pts {
		pts[i] = [2]float64{r.Float64(), r.Float64() * float64(r.IntN(2))}
	}
	dist, diam := make([][]float64, inputs), 0.0
	for i := range dist {
		dist[i] = make([]float64, inputs)
		for j := range dist {
			dist[i][j] = math.Hypot(pts[i][0]-pts[j][0], pts[i][1]-pts[j][1]) + 0.02
			diam = max(diam, dist[i][j])
		}
		dist[i][i] = 0
	}
	prob := make([][]float64, inputs)
	for i := range prob {
		floats.Scale(1/diam, dist[i])
		prob[i] = make([]float64, outputs)
	}
	// Each output prefers one input, so that its logarithm is Lipschitz.
	for y := range outputs {
		home, s := r.IntN(inputs), spread*r.Float64()
		for i := range prob {
			prob[i][y] = math.Exp(-s * dist[i][home])
		}
	}
	return newToy("random", prob, dist)
}

// respond is randomized response generalized to a metric: P(y|x) prop. to e^(-a
// d(x,y)).
func respond(name string, a float64, dist [][]float64) toy {
	prob := make([][]float64, len(dist))
	for x := range dist {
		for y := range dist {
			prob[x] = append(prob[x], math.Exp(-a*dist[x][y]))
		}
	}
	return newToy(name, prob, dist)
}

// law is the exact law of the shuffled outputs of items: the probability of each vector of counts,
// coded in base n+1.
func (c toy) law(items []int) []float64 {
	base, size := len(items)+1, 1
	for range c.prob[0] {
		size *= base
	}
	cur := make([]float64, size)
	cur[0] = 1
	for _, x := range items {
		next, unit := make([]float64, size), 1
		for _, p := range c.prob[x] {
			for i, v := range cur {
				if v > 0 {
					next[i+unit] += v * p
				}
			}
			unit *= base
		}
		cur = next
	}
	return cur
}

func divergence(p, q []float64, eps float64) float64 {
	e, sum := math.Exp(eps), 0.0
	for i, v := range p {
		sum += max(0, v-e*q[i])
	}
	return sum
}

// moverCost is the earth mover's distance of two users' items, by all matchings.
func (c toy) moverCost(a, b []int) float64 {
	b, best := slices.Clone(b), math.Inf(1)
	var match func(i int, cost float64)
	match = func(i int, cost float64) {
		if i == len(a) {
			best = min(best, cost)
		}
		for j := i; j < len(a); j++ {
			b[i], b[j] = b[j], b[i]
			match(i+1, cost+c.dist[a[i]][b[i]])
			b[i], b[j] = b[j], b[i]
		}
	}
	match(0, 0)
	return best / float64(len(a))
}

// every calls f for all pairs of data sets of n records that differ in a user's m of them: their laws
// and distance.
func (c toy) every(n, m int, f func(p, q []float64, d float64)) {
	laws := map[[4]int][]float64{}
	at := func(user, others []int) []float64 {
		var key [4]int
		items := slices.Concat(user, others)
		for _, x := range items {
			key[x]++
		}
		if laws[key] == nil {
			laws[key] = c.law(items)
		}
		return laws[key]
	}
	users := testkit.Multisets(len(c.prob), m)
	for _, others := range testkit.Multisets(len(c.prob), n-m) {
		for _, u := range users {
			for _, v := range users {
				if d := c.moverCost(u, v); d > 0 {
					f(at(u, others), at(v, others), d)
				}
			}
		}
	}
}

func toys() []toy {
	r := random.Seeded(7)
	clusters := [][]float64{{0, 0.3, 1, 1}, {0.3, 0, 1, 1}, {1, 1, 0, 0.3}, {1, 1, 0.3, 0}}
	two := [][]float64{{0, 1}, {1, 0}}
	three := [][]float64{{0, 1, 1}, {1, 0, 1}, {1, 1, 0}}
	line := [][]float64{{0, 0.5, 1}, {0.5, 0, 0.5}, {1, 0.5, 0}}
	all := []toy{
		respond("binary", 0.5, two), respond("binary", 2, two), respond("ternary", 1.5, three),
		respond("line", 2, line), respond("clusters", 1, clusters),
	}
	for i := range 8 {
		all = append(all, randomToy(r, 2+i%2, 2+i%3, 3))
	}
	return all
}

// No figure of any accountant is violated by the exact divergence of any two
// neighboring data sets, whichever clones are assumed.
func TestShuffle_PrivateByBruteForce(t *testing.T) {
	useful, closest := 0, 0.0
	for _, c := range toys()[:testkit.Sweep(9, 13)] {
		for _, size := range [][2]int{{4, 1}, {6, 1}, {4, 2}, {5, 3}, {4, 4}, {7, 2}} {
			n, m := size[0], size[1]
			if len(c.prob) == 4 && n > 5 {
				continue
			}
			type promise struct{ alpha, delta float64 }
			var promises []promise
			s := ask{Records: int64(n), Items: int64(m), Diameter: 1}
			pure := c.alpha0 * float64(m)
			for _, s.Clones = range []Clones{Dominated, MetricRandomizer} {
				for _, s.MinDistance = range []float64{0, c.near * (1 - 1e-12)} {
					s.Alpha0 = c.alpha0
					for _, x := range []float64{0.3, 0.9, 0.1, 0.6, 0.01}[:testkit.Sweep(2, 5)] {
						s.Alpha = x * pure
						d := testkit.Must(s.delta())
						if d.Value < 1 {
							promises = append(promises, promise{s.Alpha, d.Value})
						}
					}
					s.Alpha = 0
					for _, s.Delta = range []float64{1e-4, 0.01, 0.1} {
						a := testkit.Must(s.level())
						promises = append(promises, promise{a.Value, s.Delta})
						if a.Value < 0.9*pure {
							useful++
						}
					}
					s.Delta = 0
				}
			}
			pairs := 0
			c.every(n, m, func(p, q []float64, d float64) {
				pairs++
				for _, g := range promises {
					exact := divergence(p, q, g.alpha*d)
					if exact > g.delta+1e-14 {
						t.Fatalf("%s, N=%d m=%d alpha0=%g: at alpha=%g, d=%g delta is %g, the promise %g", c.name, n, m, c.alpha0, g.alpha, d, exact, g.delta)
					}
					closest = max(closest, exact/g.delta)
				}
				if m > 1 || pairs%3 > 0 {
					return
				}
				s := ask{Records: int64(n), Alpha0: c.alpha0, Diameter: 1}
				for _, s.Clones = range []Clones{Dominated, MetricRandomizer} {
					for _, x := range []float64{0, 0.3, 0.95, 0.05, 0.7, 1}[:testkit.Sweep(3, 6)] {
						eps := x * c.alpha0 * d
						delta := testkit.Must(s.item(min(d, 1), eps))
						if exact := divergence(p, q, eps); exact > delta+1e-14 {
							t.Fatalf("%s, N=%d alpha0=%g, one item by %g: at eps=%g delta is %g, MovedDelta %g", c.name, n, c.alpha0, d, eps, exact, delta)
						}
					}
				}
			})
		}
	}
	// The test is worth something where promises are better than pure
	// composition's and nearly met.
	if useful < 50 || closest < 0.9 {
		t.Errorf("%d levels below pure composition, the nearest promise met to %g", useful, closest)
	}
}

// Nor by that of any two data sets of which k items differ, by d_i each: several, some by
// less than others, some not at all. Every figure is that of the items and the sum alone,
// of a Shuffle without and with a Randomizer.
func TestMoved_PrivateByBruteForce(t *testing.T) {
	useful, better, closest := 0, 0, 0.0
	for i, c := range toys() {
		if i > testkit.Sweep(2, 100) {
			break
		}
		for _, size := range [][2]int{{4, 1}, {4, 2}, {5, 3}, {4, 4}} {
			n, k := size[0], size[1]
			if len(c.prob) == 4 && n > 4 {
				continue
			}
			type promise struct{ eps, delta float64 }
			seen, known := map[float64][]promise{}, c.shuffled(t, users{int64(n), 1})
			promises := func(sum float64) []promise {
				if p, ok := seen[sum]; ok {
					return p
				}
				var all []promise
				v := Moved{int64(k), min(sum, float64(k))}
				s := Shuffle{Records: int64(n), Items: 1, Alpha0: c.alpha0, Diameter: 1}
				for _, s.Clones = range []Clones{Dominated, MetricRandomizer} {
					s.MinDistance = float64(s.Clones) * c.near * (1 - 1e-12)
					for _, x := range []float64{0, 0.1, 0.5, 0.9} {
						d := testkit.Must(s.MovedDelta(bg, v, x*c.alpha0*sum))
						all = append(all, promise{x * c.alpha0 * sum, d.Value})
					}
					for _, delta := range []float64{1e-4, 0.01, 0.1} {
						e := testkit.Must(s.MovedLevel(bg, v, delta))
						all = append(all, promise{e.Value, delta})
						if e.Value < 0.9*c.alpha0*sum {
							useful++
						}
					}
				}
				d := testkit.Must(known.MovedDelta(bg, v, 0.4*c.alpha0*sum))
				e := testkit.Must(known.MovedLevel(bg, v, 0.01))
				all = append(all, promise{0.4 * c.alpha0 * sum, d.Value}, promise{e.Value, 0.01})
				if e.Theorem > SingleItem {
					better++
				}
				seen[sum] = all
				return all
			}
			c.every(n, k, func(p, q []float64, d float64) {
				for _, g := range promises(d * float64(k)) {
					exact := divergence(p, q, g.eps)
					if exact > g.delta+1e-12 {
						t.Fatalf("%s, N=%d, %d items by %g, alpha0=%g: at eps=%g delta is %g, the promise %g", c.name, n, k, d, c.alpha0, g.eps, exact, g.delta)
					}
					closest = max(closest, exact/g.delta)
				}
			})
		}
	}
	if useful < 30 || better < 20 || closest < 0.9 {
		t.Errorf("%d levels below pure composition, %d by the probabilities, the nearest promise met to %g", useful, better, closest)
	}
}

// The least eps, of which logarithms would be wrong, have the delta of 0: it is at least the
// exact one, and no more than that of 0.
func TestMovedDelta_LeastLevels(t *testing.T) {
	const n, k = 100, 10
	p, q := binaryLaw(n, 45, 1), binaryLaw(n, 55, 1)
	known := clustered(t, 2, 1, 1, 1, users{n, k})
	for _, eps := range []float64{5e-324, 1e-320, 1e-310, 1e-308, 1e-300, 1e-101} {
		for _, v := range []Moved{{k, k}, {k, 3}, {1, 1}, {1, 1e-3}} {
			for _, s := range []Shuffle{known, known.byRows().alone} {
				got, at0 := testkit.Must(s.MovedDelta(bg, v, eps)).Value, testkit.Must(s.MovedDelta(bg, v, 0)).Value
				if v.Distance == k && got < divergence(p, q, eps) || !(got <= at0*(1+1e-7)) {
					t.Errorf("%+v, %+v: delta(%g) is %g, delta(0) %g", s, v, eps, got, at0)
				}
			}
		}
	}
}

// binaryLaw is the law of the number of ones that n records give by binary
// randomized response of level alpha0 when ones of them hold a one: the laws of
// its two parts convolved.
func binaryLaw(n, ones int, alpha0 float64) []float64 {
	p := math.Exp(-alpha0) / (1 + math.Exp(-alpha0))
	pmf := func(n int, p float64) []float64 {
		v := make([]float64, n+1)
		for k := range v {
			v[k] = math.Exp(logBinomial(int64(n), int64(k), p))
		}
		return v
	}
	a, b := pmf(ones, 1-p), pmf(n-ones, p)
	out := make([]float64, n+1)
	for i, x := range a {
		for j, y := range b {
			out[i+j] += x * y
		}
	}
	return out
}

// At a thousand records.
func TestShuffle_PrivateAmongManyBits(t *testing.T) {
	const n = 1000
	for _, alpha0 := range []float64{0.05, 0.3, 1, 3, 6} {
		for _, m := range []int{1, 5, 40} {
			for _, delta := range []float64{1e-3, 1e-6, 1e-10} {
				s := ask{Records: n, Items: int64(m), Alpha0: alpha0, Diameter: 1}
				u := s.joint(t)
				a := testkit.Must(u.level(bg, math.Log(delta), u.pure()))
				for _, others := range []int{0, (n - m) / 2, n - m} { // of which hold a one
					for _, moved := range []int{1, m} {
						p := binaryLaw(n, others, alpha0)
						q := binaryLaw(n, others+moved, alpha0)
						eps := a * float64(moved) / float64(m)
						if d := max(divergence(p, q, eps), divergence(q, p, eps)); d > delta*(1+1e-9) {
							t.Errorf("alpha0=%g m=%d, %d moved: promises (%g, %g), delta is %g", alpha0, m, moved, a, delta, d)
						}
					}
				}
			}
		}
	}
}

package wasserstein

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
	"gonum.org/v1/gonum/floats"
)

// w1Plane returns n uniform points of the unit square.
func w1Plane(r *rand.Rand, n int) *metric.Points[[]float64] {
	pts := make([][]float64, n)
	for i := range pts {
		pts[i] = []float64{r.Float64(), r.Float64()}
	}
	return testkit.Must(metric.NewPoints(pts, metric.Euclidean{}))
}

// w1Weights returns n weights with total 1, about a third of them 0 if sparse.
func w1Weights(r *rand.Rand, n int, sparse bool) []float64 {
	return testkit.Distribution(r, n, func(i int) bool { return sparse && i > 0 && r.IntN(3) == 0 })
}

// w1Random is a cost of one of several kinds, ties and outliers among them.
func w1Random(r *rand.Rand, n, m int) []float64 {
	c := make([]float64, n*m)
	kind := r.IntN(6)
	for k := range c {
		switch kind {
		case 0:
			c[k] = r.Float64()
		case 1:
			c[k] = float64(r.IntN(3))
		case 2:
			c[k] = math.Exp(10 * r.NormFloat64())
		case 3:
			c[k] = 1 + 1e-12*r.Float64()
		case 4:
			c[k] = math.Abs(float64(k/m)/float64(n) - float64(k%m)/float64(m))
		}
	}
	return c
}

func w1Matrix(n, m int, c []float64) Cost { return testkit.Must(Matrix(n, m, c)) }

// w1Tol is the gap that tests grant, relative to the largest cost times the mass.
const w1Tol = 1e-13

// w1Verify checks a result against the definitions: marginals, dual feasibility
// without any rounding, and the order and width of the certificate.
func w1Verify(t testing.TB, c Cost, mu, nu []float64, r *Result, tol float64) {
	t.Helper()
	n, m := c.Dims()
	out, in := make([]exact.DD, n), make([]exact.DD, m)
	if len(r.Plan) > n+m-1 {
		t.Fatalf("%d flows for %d x %d", len(r.Plan), n, m)
	}
	cost, mass, largest := 0.0, total(mu), 0.0
	for k, p := range r.Plan {
		if !(p.Mass > 0) || k > 0 && (p.I < r.Plan[k-1].I || p.I == r.Plan[k-1].I && p.J <= r.Plan[k-1].J) {
			t.Fatalf("flow %d: %+v", k, p)
		}
		out[p.I], in[p.J] = out[p.I].AddFloat(p.Mass), in[p.J].AddFloat(p.Mass)
		cost += p.Mass * c.At(p.I, p.J)
	}
	for side, w := range [][]float64{mu, nu} {
		for i, s := range [][]exact.DD{out, in}[side] {
			if math.Abs(s.Hi-w[i]) > 1e-14*mass {
				t.Fatalf("side %d: point %d has flows of %v and mass %v", side, i, s.Hi, w[i])
			}
		}
	}
	for i := range n {
		for j := range m {
			x := c.At(i, j)
			largest = max(largest, x)
			if s := (exact.DD{Hi: r.U[i]}).AddFloat(r.V[j]).AddFloat(-x); s.Hi > 0 {
				t.Fatalf("U[%d]+V[%d] passes the cost by %v", i, j, s.Hi)
			}
		}
	}
	if !(r.Lower <= r.Cost && r.Cost <= r.Upper) || r.Gap() > tol*mass*largest {
		t.Fatalf("[%v, %v] around %v, mass %v, largest cost %v", r.Lower, r.Upper, r.Cost, mass, largest)
	}
	if math.Abs(cost-r.Cost) > 1e-13*(cost+mass*largest) {
		t.Fatalf("the plan costs %v, Cost is %v", cost, r.Cost)
	}
}

// w1Shifted is the cost between uniform points of a square and of another one
// shift to the right of it.
func w1Shifted(r *rand.Rand, n, m int, shift float64) Cost {
	x, y := w1Plane(r, n), w1Plane(r, m)
	return CostFunc(n, m, func(i, j int) float64 {
		p, q := x.At(i), y.At(j)
		return math.Hypot(p[0]-q[0]-shift, p[1]-q[1])
	})
}

// assignEuclid is a matrix of distances between two sets of uniform points of the unit square.
func assignEuclid(n, m int, seed uint64) []float64 {
	return costsOf(w1Shifted(random.Seeded(seed), n, m, 0))
}

// costsOf lists the costs row by row.
func costsOf(c Cost) []float64 {
	n, m := c.Dims()
	out := make([]float64, n*m)
	for k := range out {
		out[k] = c.At(k/m, k%m)
	}
	return out
}

// onLine are points of the line as a metric.
func onLine(x []float64) metric.Finite {
	return testkit.Must(metric.NewPoints(x, metric.Numbers[float64]{}))
}

// distance is [Distance] without a context.
func distance(f metric.Finite, mu, nu []float64) (float64, error) {
	return Distance(context.Background(), f, mu, nu)
}

// refTransport is the slow reference of this package's tests: the least cost of
// moving mu onto nu, weights >= 0 of equal total, by successive shortest paths
// with Bellman-Ford on the residual graph. Costs may have any sign.
func refTransport(c Cost, mu, nu []float64) float64 {
	n, nodes := len(mu), len(mu)+len(nu)
	cost, room := make([][]float64, nodes), make([][]float64, nodes) // of arcs
	for u := range cost {
		cost[u], room[u] = make([]float64, nodes), make([]float64, nodes)
	}
	// A path is better by more than the rounding of sums of costs, so that no cycle of cost 0 looks
	// like a gain: the result errs by as much.
	gain := 0.0
	for i := range mu {
		for j := range nu {
			x := c.At(i, j)
			cost[i][n+j], cost[n+j][i], room[i][n+j] = x, -x, math.Inf(1)
			gain = max(gain, 4e-15*math.Abs(x))
		}
	}
	left := slices.Concat(mu, nu)
	eps := 1e-15 * floats.Sum(mu) // what rounding leaves over
	for {
		dist, pred := slices.Repeat([]float64{math.Inf(1)}, nodes), slices.Repeat([]int{-1}, nodes)
		for i, w := range left[:n] {
			if w > eps {
				dist[i] = 0
			}
		}
		for round, changed := 0, true; changed && round < nodes; round++ {
			changed = false
			for u := range nodes {
				for v, r := range room[u] {
					if d := dist[u] + cost[u][v]; r > eps && d < dist[v]-gain {
						dist[v], pred[v], changed = d, u, true
					}
				}
			}
		}
		end := -1
		for j := n; j < nodes; j++ {
			if left[j] > eps && !math.IsInf(dist[j], 1) && (end < 0 || dist[j] < dist[end]) {
				end = j
			}
		}
		if end < 0 {
			break
		}
		amount, start := left[end], end
		for steps := 0; pred[start] >= 0; start = pred[start] {
			if steps++; steps > nodes {
				panic("refTransport: a cycle of negative cost")
			}
			amount = min(amount, room[pred[start]][start])
		}
		amount = min(amount, left[start])
		left[start] -= amount
		left[end] -= amount
		for v := end; v != start; v = pred[v] {
			room[pred[v]][v] -= amount
			room[v][pred[v]] += amount
		}
	}
	sum := 0.0
	for i := range mu {
		for j := range nu {
			sum += room[n+j][i] * cost[i][n+j]
		}
	}
	return sum
}

// refSigned is the distance of two signed measures of equal mass on one finite space, and
// refNearest the least distance of a probability measure from g, whose total is 1: the positive
// part serves the negative part, and what is left of it, of mass 1, stays where it is.
func refSigned(d func(i, j int) float64, mu, nu []float64) float64 {
	plus, minus := make([]float64, len(mu)), make([]float64, len(mu))
	for i := range mu {
		plus[i] = max(0, mu[i]-nu[i])
		minus[i] = max(0, nu[i]-mu[i])
	}
	return refTransport(CostFunc(len(mu), len(mu), d), plus, minus)
}

func refNearest(d func(i, j int) float64, g []float64) float64 {
	return refFill(d, func(int) float64 { return 0 }, g)
}

// refFill is the least cost of serving the negative part of g by the positive one,
// whose rest, of mass 1, pays the cost stay.
func refFill(d func(i, j int) float64, stay func(i int) float64, g []float64) float64 {
	n := len(g)
	plus, minus := make([]float64, n), make([]float64, n+1)
	minus[n] = 1
	for i, w := range g {
		plus[i], minus[i] = max(0, w), max(0, -w)
	}
	return refTransport(CostFunc(n, n+1, func(i, j int) float64 {
		if j == n {
			return stay(i)
		}
		return d(i, j)
	}), plus, minus)
}

package wasserstein

import (
	"math"
)

// refTransport is the slow reference of this package's tests: the least cost of
// moving mu onto nu, weights >= 0 of equal total, by successive shortest paths
// with Bellman-Ford on the residual graph. Costs may have any sign.
func refTransport(c Cost, mu, nu []float64) float64 {
	n, m := len(mu), len(nu)
	cost := make([][]float64, n)
	for i := range cost {
		cost[i] = costRows(c)(i, make([]float64, m))
	}
	supply, demand := append([]float64(nil), mu...), append([]float64(nil), nu...)
	left := 0.0
	for _, w := range mu {
		left += w
	}
	eps := 1e-15 * left // what rounding leaves over
	// A path is better by more than the rounding of sums of costs, so that no
	// cycle of cost 0 looks like a gain: the result errs by as much.
	gain := 0.0
	for _, row := range cost {
		for _, c := range row {
			gain = max(gain, 4e-15*math.Abs(c))
		}
	}
	flow := make([][]float64, n)
	for i := range flow {
		flow[i] = make([]float64, m)
	}
	for {
		// dist[i] of source i, dist[n+j] of sink j; pred on the path.
		dist, pred := make([]float64, n+m), make([]int, n+m)
		for v := range dist {
			dist[v], pred[v] = math.Inf(1), -1
			if v < n && supply[v] > eps {
				dist[v] = 0
			}
		}
		for round, changed := 0, true; changed && round < n+m; round++ {
			changed = false
			relax := func(u, v int, c float64) {
				if d := dist[u] + c; d < dist[v]-gain {
					dist[v], pred[v], changed = d, u, true
				}
			}
			for i := range n {
				for j := range m {
					relax(i, n+j, cost[i][j])
					if flow[i][j] > eps {
						relax(n+j, i, -cost[i][j])
					}
				}
			}
		}
		end := -1
		for j := range m {
			if demand[j] > eps && !math.IsInf(dist[n+j], 1) && (end < 0 || dist[n+j] < dist[end]) {
				end = n + j
			}
		}
		if end < 0 {
			break
		}
		amount, v := demand[end-n], end
		for steps := 0; pred[v] >= 0; v = pred[v] {
			if steps++; steps > n+m {
				panic("refTransport: a cycle of negative cost")
			}
			if v < n { // the arc back from a sink
				amount = min(amount, flow[v][pred[v]-n])
			}
		}
		amount = min(amount, supply[v])
		supply[v] -= amount
		demand[end-n] -= amount
		for v = end; pred[v] >= 0; v = pred[v] {
			if v >= n {
				flow[pred[v]][v-n] += amount
			} else {
				flow[v][pred[v]-n] -= amount
			}
		}
	}
	sum := 0.0
	for i := range n {
		for j := range m {
			sum += flow[i][j] * cost[i][j]
		}
	}
	return sum
}

// refSigned is the distance of two signed measures of equal mass on one finite
// space, and refNearest the least distance of a probability measure from g,
// whose total is 1: the positive part serves the negative part, and what is
// left of it, of mass 1, stays where it is.
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

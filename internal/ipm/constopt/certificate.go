package constopt

import (
	"math"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/ipm"
)

// lower bounds the optimum from below. For any y, z, lambda >= 0 let
//
//	r_w = worth of output w under y and z, plus G'lambda_w.
//
// Summed over the columns of a channel of the program, sum(y) <= k sum(z) + sum_w
// r_w'x_w. Where r > 0 at an unknown its row to another one of the block can get
// as much more lambda as makes that 0; the other's r then grows by exp(e) times
// it. Every such r is moved once, to where it is least in units of the cost under
// z, or stays. If what has come together is at most rho times the cost everywhere,
// dividing y and lambda by 1+rho makes every r <= 0: the bound is
// sum(y)/(1+rho)/sum(z). Every r counts with a bound of its rounding.
func (s *solver) lower() (float64, error) {
	for i := range s.tasks {
		s.tasks[i].excess = 0
	}
	err := s.outputs(func(t *task, w int) {
		t.excess = max(t.excess, t.proof.excess(s, w)) // a NaN stays
	})
	if err != nil {
		return 0, err
	}
	excess := 0.0
	for i := range s.tasks {
		excess = max(excess, s.tasks[i].excess)
	}
	sum, mass := 0.0, 0.0
	for _, y := range s.y {
		if !(y >= 0) {
			return 0, nil
		}
		sum = directed.AddDown(sum, y)
	}
	for _, z := range s.z {
		if !(z >= 0) {
			return 0, nil
		}
		mass = directed.AddUp(mass, z)
	}
	bound := directed.DivDown(directed.DivDown(sum, directed.AddUp(1, excess)), mass)
	if !(bound >= 0) || math.IsInf(bound, 0) {
		return 0, nil
	}
	return bound, nil
}

// proof is the scratch space of excess.
type proof struct {
	byInput []float64 // costs
	unknown []int     // of every input
	// By unknown: the positive and the negative terms of r, and the cost among
	// the latter.
	gain, paid, cost []float64
	// What is left of r, the unknown that takes it, what it is worth there in
	// units of cost, and how much it then is.
	rest         []float64
	to           []int
	price, given []float64
}

func newProof(s *solver) *proof {
	k := 0
	for w := range s.blocks {
		k = max(k, s.blocks[w].size())
	}
	vec := func() []float64 { return make([]float64, k) }
	return &proof{make([]float64, s.n), make([]int, s.n), vec(), vec(), vec(), vec(), make([]int, k), vec(), vec()}
}

// excess returns the rho that output w needs: +Inf where none will do.
func (p *proof) excess(s *solver, w int) float64 {
	b := &s.blocks[w]
	k := b.size()
	clear(p.byInput)
	for i, l := range s.lossOf(w) {
		p.byInput[s.p.Class[i]] += float64((l + s.p.Lambda) * s.z[i])
	}
	for u := range p.unknown {
		p.unknown[u] = len(b.in)
	}
	for a, u := range b.in {
		p.unknown[u] = a
	}
	clear(p.gain)
	clear(p.cost)
	for u, c := range s.kappaOf(w) {
		a := p.unknown[u]
		p.gain[a] += float64(c * s.y[u])
		p.cost[a] += float64(c * p.byInput[u])
	}
	copy(p.paid, p.cost)
	for r := b.row; r < b.end; r++ {
		if !(s.lambda[r] >= 0) {
			return math.Inf(1)
		}
		g := &s.rows[r]
		if g.from == g.to {
			continue // x >= 0: r <= 0 will do
		}
		p.gain[g.to] += float64(g.beta * s.lambda[r])
		p.paid[g.from] += float64(g.alpha * s.lambda[r])
	}
	// A term is a product of at most four rounded factors. The exponential of a
	// budget of up to 3 MaxBudget, a sum of three rounded numbers, has a relative
	// error below 3 (3 MaxBudget + 3) u, u = 2^-53. The additions round once a
	// term: n + rows + 2k at most.
	ulps := float64(s.n+s.losses+2*k+9*ipm.MaxBudget+64) * 0x1p-53
	// Every r > 0 moves to where it costs least.
	worst := 0.0
	for a := range k {
		p.rest[a] = max(0, p.gain[a]-p.paid[a]+float64(ulps*(p.gain[a]+p.paid[a]))+0x1p-1000)
		p.to[a], p.price[a], p.given[a] = a, 1/p.cost[a], p.rest[a]
	}
	for _, g := range s.rows[b.row:b.end] {
		a, c := int(g.from), int(g.to)
		if ratio := g.beta / g.alpha; a != c && ratio/p.cost[c] < p.price[a] {
			p.to[a], p.price[a], p.given[a] = c, ratio/p.cost[c], ratio*p.rest[a]*(1+2*ulps)
		}
	}
	// What has come together, in units of the cost.
	clear(p.rest)
	for a := range k {
		p.rest[p.to[a]] += p.given[a]
	}
	for a, v := range p.rest[:k] {
		if v != 0 { // a cost may be 0
			worst = max(worst, v/p.cost[a])
		}
	}
	return worst * (1 + 4*ulps)
}

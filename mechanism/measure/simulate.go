package measure

import (
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/internal/rng"
	"github.com/metricdp/metricdp/walk"
	"github.com/metricdp/metricdp/wasserstein"
)

func (p *plan) simulateLine(o BoundOptions) (mean, stderr float64, err error) {
	s := p.walk.Scales()
	s.Total = 0
	w, err := walk.New(p.tree, p.law, s)
	if err != nil {
		return 0, 0, err
	}
	cost := make([]float64, o.Draws)
	err = parallel.Chunks(o.Context, o.Draws, 1, 0, nil, func(d, _, _ int) {
		z := make([]float64, p.cells)
		if w.Increments(rng.Seeded(o.Seed+uint64(d)), z) != nil {
			return // not reached: the length is right
		}
		sum := 0.0
		for k := range len(z) - 1 {
			sum += z[k]
			cost[d] += float64(math.Abs(sum) * (p.line[k+1] - p.line[k]))
		}
	})
	mean, stderr = meanAndError(cost)
	return mean, stderr, err
}

// simulatedNodes is how many nodes of a level of an irregular tree are
// simulated.
const simulatedNodes = 16

// simulateNodes adds, over the nodes, the expected W1 of their noise with every
// child at one point.
func (p *plan) simulateNodes(o BoundOptions) (mean, stderr float64, err error) {
	byDepth := make([][]int, p.height())
	for class, s := range p.shape {
		if s.arity > 1 {
			byDepth[s.depth] = append(byDepth[s.depth], class)
		}
	}
	// Draw d simulates every level, so that its sum is one sample of the whole.
	cost := make([]float64, o.Draws)
	fail := make([]error, o.Draws)
	err = parallel.Chunks(o.Context, o.Draws, 1, 0, nil, func(d, _, _ int) {
		r := rng.Seeded(o.Seed + uint64(d))
		for _, classes := range byDepth {
			step := (len(classes) + simulatedNodes - 1) / simulatedNodes
			for i := 0; i < len(classes); i += step {
				class := classes[i]
				s := p.shape[class]
				stand := min(step, len(classes)-i) * s.nodes // nodes that it stands for
				w, err := p.nodeCost(r, class, s)
				if err != nil {
					fail[d] = err
					return
				}
				cost[d] += float64(float64(stand) * w)
			}
		}
	})
	for _, e := range fail {
		if err == nil {
			err = e
		}
	}
	mean, stderr = meanAndError(cost)
	return mean, stderr, err
}

// nodeCost draws the noise of a node and returns its W1.
func (p *plan) nodeCost(r *rand.Rand, class int, s nodeShape) (float64, error) {
	z := make([]float64, s.arity)
	p.noise[s.depth].Draw(r, z)
	plus, minus := make([]float64, len(z)), make([]float64, len(z))
	sum := 0.0
	for i, x := range z {
		plus[i], minus[i] = max(x, 0), max(-x, 0)
		sum += x
	}
	if sum > 0 { // equal totals, up to rounding
		minus[0] += sum
	} else {
		plus[0] -= sum
	}
	res, err := wasserstein.W1(p.children(class), plus, minus, &wasserstein.Options{Workers: 1})
	if err != nil {
		return 0, err
	}
	return res.Cost, nil
}

func meanAndError(x []float64) (mean, stderr float64) {
	n := float64(len(x))
	for _, v := range x {
		mean += v / n
	}
	for _, v := range x {
		stderr += float64((v - mean) * (v - mean))
	}
	return mean, math.Sqrt(stderr / n / max(1, n-1))
}

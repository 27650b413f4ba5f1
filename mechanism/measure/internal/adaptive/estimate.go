package adaptive

import (
	"math"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/wasserstein"
)

// estimate turns counts into masses: the averages of each node's own count and the
// sum over its parts, weighted by the inverse variances (Hay et al. 2010), and from
// the root down the nearest masses >= 0 that sum to the node's. A leaf beside nodes
// that are divided holds few records, or none: its count is taken to be less by one
// standard deviation, as under an exponential prior of that mean. (With two, masses
// at one place gain another 10 %, and heavy tails lose 20 %.) The parts of the root are made
// smooth in place of that where smooth is not nil. It returns the variances of the averages.
func (r *Release) estimate(smooth func(y []float64, variance float64) []float64) (variance []float64) {
	variance = r.average()
	if r.Nodes[0].Quanta == 0 { // public
		r.Nodes[0].Mass = float64(r.Nodes[0].Count)
	}
	r.Nodes[0].Mass = max(1, r.Nodes[0].Mass)
	var y, buf []float64
	for i, n := range r.Nodes {
		if n.Parts == 0 {
			continue
		}
		parts := r.Nodes[n.First : n.First+n.Parts]
		y = y[:0]
		for j, p := range parts {
			if p.Parts == 0 && (i > 0 || smooth == nil) {
				p.Mass -= math.Sqrt(variance[n.First+j])
			}
			y = append(y, p.Mass)
		}
		if i == 0 && smooth != nil {
			mean := tiny
			for j := range parts {
				mean += variance[n.First+j] / float64(len(parts))
			}
			y = smooth(y, mean)
		}
		buf = project(y, n.Mass, buf)
		for j := range parts {
			parts[j].Mass = buf[j]
		}
	}
	return variance
}

// average combines two estimates; a variance may be 0 or +Inf.
func average(x, vx, y, vy float64) (z, vz float64) {
	switch {
	case vx == 0 || math.IsInf(vy, 1):
		return x, vx
	case vy == 0 || math.IsInf(vx, 1):
		return y, vy
	}
	w := vy / (vx + vy)
	return float64(w*x) + float64((1-w)*y), vx * w
}

// project returns the point of the simplex of sum total that is nearest to y.
func project(y []float64, total float64, buf []float64) []float64 {
	return fault.Must(wasserstein.ProjectSimplex(y, total, buf))
}

// average gives nodes the averages, and returns the variances. A root without quanta has that
// of its parts.
func (r *Release) average() []float64 {
	variance := make([]float64, len(r.Nodes))
	for i := len(r.Nodes) - 1; i >= 0; i-- {
		n := &r.Nodes[i]
		n.Mass, variance[i] = float64(n.Count), r.Budget.Variance(n.Quanta)
		if n.Parts > 0 {
			sum, s := 0.0, 0.0
			for j := n.First; j < n.First+n.Parts; j++ {
				sum += r.Nodes[j].Mass
				s += variance[j]
			}
			n.Mass, variance[i] = average(n.Mass, variance[i], sum, s)
		}
	}
	return variance
}

package entropy

import (
	"github.com/metricdp/metricdp/entropy/internal/cells"
	"github.com/metricdp/metricdp/metric"
)

// EntropicScale encloses the entropic scale of BSV24,
//
//	s(Z, alpha) = inf{s > 0 : N2(B1(x,r), s) <= exp(alpha r) for all x, r > 0},
//
// N2 the packing number with pairwise distances > s in rho2 and B1 a closed ball
// of rho1. It is 0 or a distance of rho2: the largest D for which some ball
// B1(x,r) has more than exp(alpha r) points pairwise D or more apart. For one
// point, or where rho2 is 0 throughout, that is 0.
//
// Packing numbers are NP-hard, so the result is an interval, of which Scale
// holds the proof. It is exact
//
//   - where rho2 is an ultrametric ([metric.Ultrametric], or small enough to be
//     checked): O(n log^2 n) if rho1 is one too, else O(n^2) with O(n) memory;
//   - in small spaces, mostly, up to some hundreds of points.
//
// Otherwise the lower end comes from sets improved by moves of single points,
// and the upper end from branch and bound: balls are covered by cells, a clique
// search bounds how many cells a separated set can meet, and cells and sets of
// centres are split where that is not enough, best where a ball of rho1 and rho2
// has a low dimension. Work is limited to some n*Nodes distances
// ([Options].Nodes), fewer of long vectors; memory is O(n), and distances are
// stored up to 2048 points.
// For 10,000 uniform points of the plane, Hi is some 10 percent above Lo. With
// Nodes < 0 no search is made, and partitions of the balls into cells prove Hi.
//
// Upper ends take the triangle inequality of both metrics to hold up to
// [metric.DefaultTolerance]; memberships of balls are decided exactly.
//
// alpha is positive, per unit of rho1 (*ValueError). Other errors are those of
// [metric.Bimetric.Check] and the context's.
func EntropicScale(b metric.Bimetric, alpha float64, o *Options) (Scale, error) {
	if err := checkScale("entropy: EntropicScale", b, alpha); err != nil {
		return Scale{}, err
	}
	s, err := entropic(b, []float64{alpha}, o.orDefault())
	if err != nil {
		return Scale{}, err
	}
	return s[0], nil
}

// EntropicScales is [EntropicScale] at every level of alphas, which ascend. The
// levels share the cells and what they find: s(Z, alpha) does not increase with
// alpha, so a separated set serves all smaller levels and an upper end all
// larger ones.
func EntropicScales(b metric.Bimetric, alphas []float64, o *Options) ([]Scale, error) {
	if err := checkScales("entropy: EntropicScales", b, alphas); err != nil {
		return nil, err
	}
	return entropic(b, alphas, o.orDefault())
}

func entropic(b metric.Bimetric, alphas []float64, o *Options) ([]Scale, error) {
	ctx := o.context()
	u2 := hierarchyOf(ctx, b.Utility)
	if u2 == nil {
		return entropicCells(b, alphas, o)
	}
	u1 := u2
	if !b.OneMetric() {
		u1 = hierarchyOf(ctx, b.Privacy)
	}
	if u1 != nil {
		return entropicTree(b, newDendrogram(u1), u2, alphas), ctx.Err()
	}
	s := make([]Scale, len(alphas))
	for k, a := range alphas {
		var err error
		if s[k], err = entropicRows(ctx, b, u2, a, o); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// entropicCells takes the levels from the largest down, so that each begins
// with the set of the one before.
func entropicCells(b metric.Bimetric, alphas []float64, o *Options) ([]Scale, error) {
	b, err := stored(o.context(), b)
	if err != nil {
		return nil, err
	}
	search, err := cells.New(o.context(), b, cells.Options{Nodes: o.nodes(), Workers: o.Workers, Progress: o.Progress})
	if err != nil {
		return nil, err
	}
	proofs := [...]Proof{cells.Diameter: ByDiameter, cells.Partition: ByPartition, cells.Branches: BySearch}
	s := make([]Scale, len(alphas))
	for k := len(alphas) - 1; k >= 0; k-- {
		r, err := search.Scale(alphas[k])
		if err != nil {
			return nil, err
		}
		s[k] = noWitness(alphas[k], proofs[r.By])
		if s[k].Lo, s[k].Hi = r.Lo, r.Hi; r.Lo > 0 {
			s[k].X, s[k].Set = r.X, r.Set
			s[k].R = farthest(b.Privacy, r.X, r.Set)
		}
	}
	nest(s)
	return s, nil
}

// farthest is the largest distance from x to a point of set, 0 for none.
func farthest(f metric.Finite, x int, set []int) float64 {
	r := 0.0
	for _, y := range set {
		r = max(r, f.Distance(x, y))
	}
	return r
}

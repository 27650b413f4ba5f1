package wasserstein

import (
	"context"
	"math"
	"runtime"
	"slices"

	"gonum.org/v1/gonum/blas"
	blasgonum "gonum.org/v1/gonum/blas/gonum"

	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/wasserstein/internal/rows"
)

// products is a Cost of Euclidean distances with rows from |x|^2 + |y|^2 - 2xy, which take a
// third of the time. Those are for solvers: proofs rest on At, which has the distances.
type products struct {
	Cost
	m, dim, first int       // numbers of sinks and coordinates, and the point that is sink 0
	x, norm       []float64 // coordinates of the points about a center, and squares of norms
	unit          float64   // of distance to one of the norm
	err           float64   // an entry of a row differs from At by less
	stored        []float64 // all rows, or nil
}

const (
	// blockedSinks is the number of sinks whose coordinates stay in the cache for some sources.
	blockedSinks = 128
	// centerSample is the number of points that the center is the median of.
	centerSample = 31
	// leastSquare is far above what underflows in products, and its inverse below what overflows.
	leastSquare = 0x1p-900
)

// productsOf returns c with rows from products where that saves time: there are many costs, also
// beside points that may be of no use, and room for coordinates.
func productsOf(c Cost) Cost {
	n, m := dims(c)
	f, at, first := pointsOf(c)
	if f == nil || runtime.GOARCH != "amd64" { // where gonum has assembly: else products take longer
		return c
	}
	numbers, least := float64(finite.Dim(f))*float64(f.Len()+len(at)), max(smallestPlaced*smallestPlaced, 16*f.Len())
	if numbers == 0 || 8*numbers > denseLimit || float64(n)*float64(m) < float64(least) {
		return c
	}
	e, ok := finite.Embed[metric.Embedding](f)
	if !ok || e.P != 2 || !e.Linear || e.FromNorm == nil || len(e.Coords) != f.Len()*e.Dim {
		return c
	}
	// A scaled metric of a scaled one may lose digits on the way to a distance that has all.
	const low, odd = 0x1p-450, 1 + 0x1p-52 // the root of leastSquare, and a number of all digits
	if e.FromNorm(low*odd) != low*e.FromNorm(odd) {
		return c
	}
	d := e.Dim
	p := &products{Cost: c, m: m, dim: d, first: first, x: make([]float64, len(at)*d), norm: make([]float64, len(at)), unit: e.FromNorm(1)}
	// The center is the median, coordinate by coordinate, of some points: outliers do not move it
	// far, and differences and products of integers stay exact.
	center, some := make([]float64, d), make([]float64, 0, centerSample)
	for a := range center {
		some = some[:0]
		for k := range centerSample {
			some = append(some, e.Coords[at[k*len(at)/centerSample]*d+a])
		}
		slices.Sort(some)
		center[a] = some[centerSample/2]
	}
	size, most := 0.0, 0.0
	for k, i := range at {
		for a, v := range e.Coords[i*d : (i+1)*d] {
			x := v - center[a]
			p.x[k*d+a] = x
			p.norm[k] += float64(x * x)
			size = max(size, math.Abs(v))
		}
		most = max(most, p.norm[k])
	}
	// In units of 2^-53, d numbers and the rounding of their squares, root and products make up
	// the following. By the contract of an embedding (see package kdtree) Distance is off by 128d
	// of size and (128d+64) of itself, which is at most twice the root of most; the center moves
	// differences by 4 sqrt(d) of size. The square of a distance is off by 2d+8 of the sum of two
	// squares of norms, which is at most four times as large (see fill), so its root by 4d+20 of
	// itself. 512d of size and the root of most are more than all that.
	p.err = float64(float64(d)*0x1p-44) * (size + math.Sqrt(most)) * p.unit
	// An err that is no small part of the distances, as where all points have a huge coordinate in
	// common, would spoil the bound of all costs, and tell few distances apart.
	if !(most >= leastSquare && most <= 1/leastSquare && p.unit >= 0x1p-100 && p.unit <= 0x1p100 && p.err <= math.Sqrt(most)*p.unit/8) {
		return c
	}
	return p
}

// fill sets dst to the rows from lo to hi. Products of points that are near each other lose
// digits, and some underflow: there it asks for the distance.
func (p *products) fill(ctx context.Context, lo, hi int, dst []float64) {
	bl := blasgonum.Implementation{} // whatever else a program uses
	for from := 0; from < p.m && ctx.Err() == nil; from += blockedSinks {
		to, d := min(p.m, from+blockedSinks), p.dim
		norms := p.norm[p.first+from : p.first+to]
		for i := lo; i < hi; i++ {
			row := dst[(i-lo)*p.m+from : (i-lo)*p.m+to]
			for j, s := range norms {
				row[j] = p.norm[i] + s
			}
			bl.Dgemv(blas.NoTrans, to-from, d, -2, p.x[(p.first+from)*d:], d, p.x[i*d:], 1, 1, row, 1)
			for j, s := range norms {
				if v := row[j]; 4*v >= p.norm[i]+s && v >= leastSquare {
					row[j] = math.Sqrt(v) * p.unit
				} else {
					row[j] = p.At(i, from+j)
				}
			}
		}
	}
}

// CostsFrom returns the distances from source i, up to err.
func (p *products) CostsFrom(i int, dst []float64) []float64 {
	if p.stored != nil {
		return p.stored[i*p.m : (i+1)*p.m]
	}
	p.fill(context.Background(), i, i+1, dst)
	return dst
}

// slackOf is rows.Slack of the costs from source i, of which row is what CostsFrom returned: only
// those near the least of row less v can be the least.
func slackOf(c Cost, i int, row, v []float64) float64 {
	p, ok := c.(*products)
	if !ok {
		return rows.Slack(row, v)
	}
	least, low := rows.Slack(row, v), math.Inf(1)
	// Beyond 2 err there is the rounding of two differences.
	limit := least + 2*p.err + float64(0x1p-50*math.Abs(least))
	for j, x := range row {
		if x-v[j] <= limit {
			low = min(low, rows.Slack([]float64{c.At(i, j)}, v[j:]))
		}
	}
	return low
}

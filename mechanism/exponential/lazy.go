package exponential

import (
	"context"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// LazyOptions tune [Lazy]. Nil and the zero value mean the defaults.
type LazyOptions struct {
	Unit    metric.Unit // as in [Options]
	Outputs []int       // as in [Options]
	Workers int         // 0: all processors
}

// Lazy returns the mechanism of [Standard] without a matrix or an audit, for spaces
// of any size: a row is computed at each release, O(n).
//
// The guarantee is alpha by proof. The proof needs that rho is a metric up to the
// relative rounding of 2^-40 that [metric.Validate] allows (more above some 4,000
// coordinates), and that points coincide or lie apart: the rate is lowered by the
// rounding of the largest distances over the least positive one, and where that
// is above 1/16, with points closer than some 2^-34 of the diameter (1 mm on the
// Earth), the error is a [*metric.ValueError] that names them and both distances.
// Construction finds them in O(n log n) time where the metric has coordinates,
// and from n^2 distances elsewhere.
func Lazy(ctx context.Context, f metric.Finite, alpha float64, o *LazyOptions) (*Mechanism, error) {
	const op = "exponential: Lazy"
	if o == nil {
		o = &LazyOptions{}
	}
	m, err := newFamily(op, MethodStandard, f, alpha, &Options{Unit: o.Unit, Outputs: o.Outputs, Workers: o.Workers})
	if err != nil {
		return nil, err
	}
	beta, err := m.lazyRate(ctx)
	if err != nil {
		return nil, err
	}
	c, err := mechanism.NewChannel(ctx, m.rows(beta, func(int, []float64) {}), &mechanism.ChannelOptions{Labels: m.net, Lazy: true})
	if err != nil {
		return nil, named(op, err)
	}
	g, err := mechanism.NewGuarantee(alpha, 0, m.unit)
	if err != nil {
		return nil, err
	}
	return &Mechanism{Channel: c.WithGuarantee(g), Method: MethodStandard, Beta: beta}, nil
}

// A lazy mechanism is not audited. Its level is proved here, for the float64
// distances d that releases read.
//
// The premise is that d is symmetric and 0 from a point to itself, and that
// d(x,z) <= (1+t) (d(x,y)+d(y,z)). Points at distance 0 are then an
// equivalence. Let p(x) be the first of those at distance 0 from x: the row of x
// is that of p(x), bit by bit. With u = 2^-53 and b the rate, the log-weight at y
// is b*d(p(x),y), rounded by a relative u (b times the least distance is a normal
// number, b times the largest finite). For points x and x' at distance r > 0
// and D above all distances, the log-weights at y differ by at most
//
//	b ((1+t) d(p(x),p(x')) + (t+2u) D) <= b ((1+t)^3 r + (t+2u) D),
//
// because d(p(x),p(x')) <= (1+t) d(x,p(x')) <= (1+t)^2 r. The logarithms of the
// normalizers differ by no more. So the level is at most 2b (1 + 4t + (t+2u) D/r),
// and alpha where b is alpha/2 over that factor. The code takes 2t for t+2u,
// which covers its own roundings and those of D too.
const (
	// maxSlack bounds that factor minus 1. With t = 2^-40 points may lie 2^-34
	// of the diameter apart (1 mm on the Earth). Nearer ones are refused: the
	// rounding of far distances shows between them, and no rate is safe that
	// is worth having.
	maxSlack = 0x1p-4
	// minLazy is a distance whose square is a normal number still: the premise
	// cannot be granted to nearer points.
	minLazy = 0x1p-500
)

// lazyRate returns the proof's largest rate; coincident points share a row.
func (m *family) lazyRate(ctx context.Context) (float64, error) {
	// 2^-40 is what metric.Validate grants to rounding. A norm in so many
	// dimensions that its sum errs by more needs more.
	t := metric.DefaultTolerance
	if e, ok := finite.Embed[metric.Embedding](m.f); ok {
		t = max(t, float64(2*e.Dim+64)*0x1p-53)
	}
	far := 0.0
	for y, d := range finite.Row(m.f, 0, nil) {
		if !(d >= 0 && d <= math.MaxFloat64/4) {
			return 0, fault.Value(m.op, fmt.Sprintf("rho.Distance(0, %d)", y), d, "a number in [0, 4e307]")
		}
		far = max(far, d)
	}
	diameter := 2 * far // but for a factor 1+t
	if err := m.share(ctx); err != nil {
		return 0, err
	}
	near, i, j, err := metric.MinPositiveDistance(ctx, m.f)
	if err != nil {
		return 0, err
	}
	slack := 2 * t * (2 + diameter/near)
	if slack > maxSlack || near < minLazy {
		least := max(minLazy, 2*t*diameter/(maxSlack-4*t))
		return 0, fault.Value(m.op, fmt.Sprintf("rho.Distance(%d, %d)", i, j), near, fmt.Sprintf("0 or at least %.3g, where distances of up to %.3g round: merge the points, or take Standard", least, diameter))
	}
	beta := directed.DivDown(m.alpha/2, directed.AddUp(1, slack))
	if beta*near < 0x1p-1000 || beta*(2*diameter) > math.MaxFloat64 {
		return 0, fault.Value(m.op, "alpha", m.alpha, fmt.Sprintf("a level whose products with distances from %.3g to %.3g float64 holds", near, diameter))
	}
	return beta, nil
}

// share finds, for every point, the first at distance 0.
func (m *family) share(ctx context.Context) error {
	n, ix := m.f.Len(), metric.NewIndex(m.f)
	first := make([]int, n)
	err := parallel.Chunks(ctx, n, 16, m.audit.Workers, nil, func(_, lo, hi int) {
		for x := lo; x < hi; x++ {
			first[x] = x
			if y, d := ix.Nearest(x); d == 0 {
				first[x] = min(x, y)
			}
		}
	})
	m.first = first
	return err
}

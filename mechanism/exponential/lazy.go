package exponential

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math"
	"math/bits"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/kdtree"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// Lazy returns the mechanism of [Standard] without a matrix or an audit, for spaces of any size: a row is
// computed at each release, O(n). The guarantee is alpha by proof, if rho is a metric up to the relative
// rounding of 2^-40 that [metric.Validate] allows (more above some 4,000 coordinates). Points closer than some
// 2^-34 of the diameter are a [*metric.ValueError] that names them.
//
// Construction finds the least positive distance: in O(n log n) up to 20 coordinates, in O(n) where there are
// more and they are multiples of a number above some 2^-30 of the largest, else from n^2 distances.
func Lazy(ctx context.Context, f metric.Finite, alpha float64, o *Options) (*Mechanism, error) {
	return lazy(ctx, "exponential: Lazy", MethodStandard, f, alpha, math.Inf(1), o)
}

// Truncated returns the mechanism of [Lazy] for the metric min(rho, reach), reach > 0: what lies farther
// out is as likely as what lies at reach. It is alpha-private, and no input at all is told from another by
// more than a factor exp(alpha*reach). Errors and costs are those of Lazy.
//
// Source: Carvalho, Vasiloudis, Feyisetan, "TEM: high utility metric differential privacy on text", 2021:
// the same distribution, drawn by one symbol for the words beyond reach.
func Truncated(ctx context.Context, f metric.Finite, alpha, reach float64, o *Options) (*Mechanism, error) {
	const op = "exponential: Truncated"
	if err := fault.Positive(op, "reach", reach); err != nil {
		return nil, err
	}
	return lazy(ctx, op, MethodTruncated, f, alpha, reach, o)
}

func lazy(ctx context.Context, op string, method Method, f metric.Finite, alpha, reach float64, o *Options) (*Mechanism, error) {
	fam, err := newFamily(op, method, f, alpha, o)
	if err != nil {
		return nil, err
	}
	beta, err := fam.lazyRate(ctx, reach)
	if err != nil {
		return nil, err
	}
	if reach < math.Inf(1) {
		whole := *fam
		fam.rho = func(x int, dst []float64) {
			whole.distances(x, dst)
			for y, d := range dst {
				dst[y] = min(d, reach)
			}
		}
	}
	c, err := mechanism.NewChannel(ctx, fam.rows(beta, func(int, []float64) {}), &mechanism.ChannelOptions{Labels: fam.net, Lazy: true})
	if err != nil {
		return nil, withOp(op, err)
	}
	g, err := mechanism.NewGuarantee(alpha, 0, fam.unit)
	if err != nil {
		return nil, err
	}
	return &Mechanism{Channel: c.WithGuarantee(g), Method: method, Beta: beta}, nil
}

// A lazy mechanism is not audited. Its level is proved here, for the float64
// distances d that releases read.
//
// The premise is that d is symmetric and 0 from a point to itself, and d(x,z) <= (1+t) (d(x,y)+d(y,z)). Points
// at distance 0 are then an equivalence; the row of x is that of p(x), the first at distance 0 from x, bit by
// bit. With u = 2^-53 and b the rate, the log-weight at y is b*d(p(x),y), rounded by a relative u. For points x
// and x' at distance r > 0 and D above all distances, the log-weights at y differ by at most
//
//	b ((1+t) d(p(x),p(x')) + (t+2u) D) <= b ((1+t)^3 r + (t+2u) D),
//
// as d(p(x),p(x')) <= (1+t) d(x,p(x')) <= (1+t)^2 r, and the logarithms of the normalizers by no more. So the
// level is at most 2b (1 + 4t + (t+2u) D/r), and alpha where b is alpha/2 over that factor. The code takes 2t
// for t+2u, which covers its own roundings and those of D too. Numbers cut at c differ by no more than the
// numbers, so that all holds with min(d, c) for d, and D may be c.
const (
	// maxSlack bounds that factor minus 1: with t = 2^-40 points may lie 2^-34 of the diameter apart (1 mm on
	// the Earth). Nearer ones are refused.
	maxSlack = 0x1p-4
	// minLazy is a distance whose square is a normal number still: the premise holds for no nearer points.
	minLazy = 0x1p-500
)

// lazyRate returns the proof's largest rate; coincident points share a row. Distances are cut at reach.
func (fam *family) lazyRate(ctx context.Context, reach float64) (float64, error) {
	// 2^-40 is what metric.Validate grants to rounding. A norm in so many
	// dimensions that its sum errs by more needs more.
	t := metric.DefaultTolerance
	e, ok := finite.Embed[metric.Embedding](fam.f)
	if ok {
		t = max(t, float64(2*e.Dim+64)*0x1p-53)
	}
	far := 0.0
	for y, d := range finite.Row(fam.f, 0, nil) {
		if !(d >= 0 && d <= math.MaxFloat64/4) {
			return 0, fault.Value(fam.op, fmt.Sprintf("rho.Distance(0, %d)", y), d, "a number in [0, 4e307]")
		}
		far = max(far, d)
	}
	diameter := min(2*far, reach) // but for a factor 1+t
	slackOf := func(near float64) float64 { return 2 * t * (2 + diameter/near) }
	near, i, j := fam.latticeGap(e), 0, 0
	if !(slackOf(near) <= maxSlack) {
		if err := fam.findFirst(ctx); err != nil {
			return 0, err
		}
		var err error
		if near, i, j, err = metric.NewIndex(fam.f).MinPositiveDistance(ctx); err != nil {
			return 0, err
		}
	}
	slack := slackOf(near)
	if slack > maxSlack || near < minLazy {
		least := max(minLazy, 2*t*diameter/(maxSlack-4*t))
		return 0, fault.Value(fam.op, fmt.Sprintf("rho.Distance(%d, %d)", i, j), near, fmt.Sprintf("0 or at least %.3g, where distances of up to %.3g round: merge the points, or take Standard", least, diameter))
	}
	beta := directed.DivDown(fam.alpha/2, directed.AddUp(1, slack))
	if beta*near < 0x1p-1000 || beta*(2*diameter) > math.MaxFloat64 {
		return 0, fault.Value(fam.op, "alpha", fam.alpha, fmt.Sprintf("a level whose products with distances from %.3g to %.3g float64 holds", near, diameter))
	}
	return beta, nil
}

// latticeGap returns a lower bound of the positive distances of points in many dimensions whose coordinates
// are multiples of a power of two, and has points of equal coordinates share a row; 0 where the points are
// not such. A search among them would take n^2 distances.
//
// Two points that differ do so by at least the step in some coordinate, and so in every
// norm. Both ways to it, the coordinates and the distance, are right to Dim*2^-46 of
// the largest coordinate ([kdtree.SlackDim]), 2^-7 of the step at most.
func (fam *family) latticeGap(e metric.Embedding) float64 {
	if e.Dim <= kdtree.MaxDim || len(e.Coords) != fam.f.Len()*e.Dim {
		return 0
	}
	step, most := math.Inf(1), 0.0
	for _, c := range e.Coords {
		if c == 0 {
			continue
		}
		frac, exp := math.Frexp(c)
		odd := bits.TrailingZeros64(uint64(math.Abs(frac) * 0x1p53))
		step, most = min(step, math.Ldexp(1, exp-53+odd)), max(most, math.Abs(c))
	}
	if !(most <= math.MaxFloat64 && step < math.Inf(1) && float64(e.Dim)*0x1p-39*most <= step) {
		return 0
	}
	first, seen, seed := make([]int, fam.f.Len()), make(map[uint64]int), maphash.MakeSeed()
	var key []byte
	for x := range first {
		key = key[:0]
		for _, c := range e.Coords[x*e.Dim : (x+1)*e.Dim] {
			key = binary.LittleEndian.AppendUint64(key, math.Float64bits(c+0)) // one zero
		}
		hash := maphash.Bytes(seed, key)
		y, ok := seen[hash]
		if !ok {
			y = x
			seen[hash] = x
		} else if fam.f.Distance(x, y) != 0 { // two that the hash does not tell apart
			return 0
		}
		first[x] = y
	}
	fam.first = first
	return e.FromNorm(step * (1 - 0x1p-6))
}

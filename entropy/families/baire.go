package families

import (
	"cmp"
	"fmt"
	"math"

	"github.com/metricdp/metricdp/entropy/internal/spaces"
	"github.com/metricdp/metricdp/entropy/scale"
	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/metric"
)

// Baire is the family of bimetric spaces of BSV24 Theorem 6.4: sequences of letters, of which two
// that differ first in place k = 1, 2, ... lie Privacy(k) apart under rho1 and Utility(k) under
// rho2, both ultrametrics. Privacy and Utility are non-increasing, finite and >= 0, and functions
// of k alone; what breaks that is a [*metric.ValueError] with k as Index, if it is met.
type Baire struct {
	Arity   int // letters; 0 is 2
	Depth   int // length of the sequences; 0 is infinite
	Privacy func(k int) float64
	Utility func(k int) float64
}

// maxPlaces bounds the places that an infinite space is searched to.
const maxPlaces = 1 << 24

// The proof of EntropicScale. The ball of radius Privacy(k) holds Arity^(j-k) sequences that
// differ pairwise before place j >= k, and no more, so that Utility(j) is an allowed separation
// when (j-k) ln(Arity) <= alpha*Privacy(k) for all k <= j. All sequences differ before place
// j = Depth+1, which stands for separation 0.

// EntropicScale returns the entropic scale of the space at alpha: with k0 the integer part of the
// least k + alpha*Privacy(k)/ln(Arity) over the places k, Utility(k0), or 0 where k0 exceeds Depth.
// It is a single number unless the expression lies within rounding of an integer. O(k0).
func (b Baire) EntropicScale(alpha float64) (scale.Interval, error) {
	const op = "families: Baire.EntropicScale"
	if err := b.check(op, alpha); err != nil {
		return scale.Interval{}, err
	}
	arity := float64(b.arity())
	lo, hi := math.Inf(1), math.Inf(1) // enclose the least value
	f := places{op, "Privacy", b.Privacy, math.MaxFloat64, nil}
	// From k = hi on no place has a smaller value.
	for k := 1; b.has(k) && float64(k) < hi && f.err == nil; k++ {
		v := f.at(k)
		lo = min(lo, directed.AddDown(float64(k), directed.DivDown(directed.MulDown(alpha, v), directed.LogUp(arity))))
		hi = min(hi, directed.AddUp(float64(k), directed.DivUp(directed.MulUp(alpha, v), directed.LogDown(arity))))
	}
	g := places{op, "Utility", b.Utility, math.MaxFloat64, f.err}
	value := func(k float64) float64 {
		if k = math.Floor(k); b.Depth > 0 && k > float64(b.Depth) {
			return 0
		}
		return g.at(int(k))
	}
	var s scale.Interval
	s.Hi = value(lo)
	s.Lo = value(hi)
	return s, g.err
}

// DiametricScale returns the diametric scale of the space at alpha: the largest Utility(k)
// exp(-alpha*Privacy(k)) over the places k, because the ball of radius Privacy(k) has the
// rho2-diameter Utility(k). The interval is as wide as rounding makes it. The places are searched
// until Utility(k) is below what was found; an infinite space in which that is far off is an error.
func (b Baire) DiametricScale(alpha float64) (scale.Interval, error) {
	const op = "families: Baire.DiametricScale"
	if err := b.check(op, alpha); err != nil {
		return scale.Interval{}, err
	}
	f, g := places{op, "Privacy", b.Privacy, math.MaxFloat64, nil}, places{op, "Utility", b.Utility, math.MaxFloat64, nil}
	var s scale.Interval
	for k := 1; b.has(k); k++ {
		r, d := f.at(k), g.at(k)
		if err := cmp.Or(f.err, g.err); err != nil {
			return scale.Interval{}, err
		}
		if d <= s.Lo {
			break
		}
		s.Lo, s.Hi = max(s.Lo, spaces.WorthDown(d, alpha, r)), max(s.Hi, spaces.WorthUp(d, alpha, r))
	}
	return s, nil
}

// Space returns the space itself: Arity^Depth points, sequences in lexicographic order, under two
// metrics of type [*metric.Ultrametric]. Depth must be positive. Memory is 16*n*log2(n) bytes for n
// points; too much is a [*metric.MemoryError].
func (b Baire) Space() (metric.Bimetric, error) {
	const op = "families: Baire.Space"
	if err := b.check(op, 1); err != nil {
		return metric.Bimetric{}, err
	}
	if b.Depth == 0 {
		return metric.Bimetric{}, fault.Value(op, "Depth", 0, "at least 1: a finite space")
	}
	arity := b.arity()
	size := math.Pow(float64(arity), float64(b.Depth))
	if err := fault.Memory(op, 2*size*max(1, math.Log2(size)), 8); err != nil {
		return metric.Bimetric{}, err
	}
	n := int(size)
	ultrametric := func(arg string, f func(int) float64) (*metric.Ultrametric, error) {
		height := make([]float64, b.Depth+1)
		p := places{op, arg, f, math.MaxFloat64, nil}
		for k := 1; k <= b.Depth; k++ {
			height[k] = p.at(k)
		}
		if p.err != nil {
			return nil, p.err
		}
		heights := make([]float64, n-1)
		for i := range heights { // i and i+1 differ first in front of i+1's trailing zeros
			k := b.Depth
			for v := i + 1; v%arity == 0; v /= arity {
				k--
			}
			heights[i] = height[k]
		}
		return metric.NewUltrametric(spaces.AllPoints(n), heights)
	}
	rho1, err := ultrametric("Privacy", b.Privacy)
	if err != nil {
		return metric.Bimetric{}, err
	}
	rho2, err := ultrametric("Utility", b.Utility)
	return metric.Bimetric{Privacy: rho1, Utility: rho2}, err
}

func (b Baire) arity() int {
	if b.Arity == 0 {
		return 2
	}
	return b.Arity
}

// has tells whether sequences have a place k.
func (b Baire) has(k int) bool { return b.Depth == 0 || k <= b.Depth }

func (b Baire) check(op string, alpha float64) error {
	if b.Privacy == nil || b.Utility == nil {
		return fmt.Errorf("%s: Privacy and Utility are required", op)
	}
	if b.Arity != 0 && b.Arity < 2 {
		return fault.Value(op, "Arity", float64(b.Arity), "at least 2")
	}
	if b.Depth < 0 {
		return fault.Value(op, "Depth", float64(b.Depth), "at least 0")
	}
	return fault.Positive(op, "alpha", alpha)
}

// places reads a metric's values place by place and keeps the first error.
type places struct {
	op, arg string
	f       func(k int) float64
	most    float64 // the value at the place before
	err     error
}

func (p *places) at(k int) float64 {
	if p.err != nil {
		return 0
	}
	if k > maxPlaces {
		p.err = fmt.Errorf("%s: %s decreases too slowly: undecided after %d places", p.op, p.arg, maxPlaces)
		return 0
	}
	v := p.f(k)
	if !(v >= 0 && v <= p.most) {
		p.err = &fault.ValueError{Op: p.op, Arg: p.arg, Index: k, Value: v,
			Want: fmt.Sprintf("a finite number >= 0, at most %v as at the place before", p.most)}
	}
	p.most = v
	return v
}

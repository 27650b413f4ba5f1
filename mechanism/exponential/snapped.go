package exponential

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/exponential/internal/cells"
	"github.com/metricdp/metricdp/metric"
)

// ErrNoCells reports a metric that is not that of points of the line, the plane or a
// sphere, where [Snapped] knows the cells of the outputs.
var ErrNoCells = errors.New("no points of the line, of the Euclidean plane or of a sphere")

// Snapped returns noise that is snapped to the points: the output is that nearest to x plus noise of
// density proportional to exp(-beta*||z||), as of additive.Snap, at the largest rate beta found whose
// audited level is at most alpha. The channel of the masses of Voronoi cells, computed to about 1e-13, is
// what is released and audited: errors of the integrals cost accuracy, never privacy.
//
// f must have the embedding of points of the line, of the Euclidean plane, or of a sphere under
// great-circle distances, its distances proportional to those; else the error is [ErrNoCells]. An output
// whose cell is too thin for float64 is left out. A level that rounding keeps above alpha is a
// [*LevelError]. O(n*k) integrals and O(n^2*k) time for the audits, for n points and k outputs; O(n*k)
// memory.
func Snapped(ctx context.Context, f metric.Finite, alpha float64, o *Options) (*Mechanism, error) {
	fam, err := newFamily("exponential: Snapped", MethodSnapped, f, alpha, o)
	if err != nil {
		return nil, err
	}
	s, err := fam.newSnapping(ctx)
	if err != nil {
		return nil, err
	}
	return s.best(ctx)
}

// snapping is the family of noise snapped to outputs.
type snapping struct {
	*family
	coords []float64 // of the points
	dim    int       // 1: the line, 2: the plane, 3: the sphere
	scale  float64   // of the metric against distances of coordinates, or angles
	law    cells.Law
	beta   float64   // the rate of w
	w      []float64 // n*k log-masses
}

// newSnapping finds the geometry of the points and the cells of the outputs. Of outputs at
// distance 0 the first stands for all.
func (fam *family) newSnapping(ctx context.Context) (*snapping, error) {
	if d := finite.Dim(fam.f); d < 1 || d > 3 {
		return nil, fmt.Errorf("%s: %w", fam.op, ErrNoCells)
	}
	e, ok := finite.Embed[metric.Embedding](fam.f)
	if !ok {
		return nil, fmt.Errorf("%s: %w", fam.op, ErrNoCells)
	}
	unit := normalize(&e)
	s := &snapping{family: fam, coords: e.Coords, dim: e.Dim, scale: e.FromNorm(unit)}
	// Where distances are proportional to norms, whatever rounding leaves of it.
	proportional := func(part float64) bool {
		return math.Abs(e.FromNorm(part*unit)/s.scale-part) <= 1e-9*part
	}
	switch {
	case e.Dim == 1 || e.Dim == 2 && e.P == 2:
		ok = proportional(0.5) && proportional(0x1p-10)
	case e.Dim == 3 && e.P == 2 && onSphere(e, unit):
		s.scale = e.FromNorm(math.Sqrt2*radius(e.Coords)*unit) / (math.Pi / 2)
	default:
		ok = false
	}
	if !ok {
		return nil, fmt.Errorf("%s: %w", fam.op, ErrNoCells)
	}
	if err := fam.findFirst(ctx); err != nil {
		return nil, err
	}
	outputs, seen := fam.net, make([]bool, fam.f.Len())
	if outputs == nil {
		outputs = indices(fam.f.Len())
	}
	fam.net = nil
	for _, y := range outputs {
		if x := fam.first[y]; !seen[x] {
			seen[x] = true
			fam.net = append(fam.net, y)
		}
	}
	return s, s.place(ctx)
}

// place finds the cells of the outputs.
func (s *snapping) place(ctx context.Context) (err error) {
	sites := make([]float64, 0, s.dim*len(s.net))
	for _, y := range s.net {
		sites = append(sites, s.coords[y*s.dim:(y+1)*s.dim]...)
	}
	switch s.dim {
	case 1:
		s.law = cells.Line(s.coords, sites)
	case 2:
		s.law, err = cells.Plane(ctx, s.coords, sites, s.audit.Workers)
	default:
		s.law, err = cells.Sphere(ctx, s.coords, sites, s.audit.Workers)
	}
	return err
}

// best is the member at the largest rate.
func (s *snapping) best(ctx context.Context) (*Mechanism, error) {
	beta, err := s.noiseRate(ctx)
	if err != nil {
		return nil, err
	}
	return s.certifyAs(ctx, beta, s.noiseChannel)
}

// normalize divides coordinates by about the extent of the points, a power of two that it
// returns, so that their squares are in range.
func normalize(e *metric.Embedding) (unit float64) {
	extent := 0.0
	for k := range e.Dim {
		lo, hi := e.Coords[k], e.Coords[k]
		for i := k; i < len(e.Coords); i += e.Dim {
			lo, hi = min(lo, e.Coords[i]), max(hi, e.Coords[i])
		}
		extent = max(extent, hi-lo)
	}
	_, exponent := math.Frexp(extent)
	e.Coords = slices.Clone(e.Coords)
	for i, v := range e.Coords {
		e.Coords[i] = math.Ldexp(v, -exponent)
	}
	return math.Ldexp(1, exponent)
}

// radius is the norm of the first of points of space.
func radius(coords []float64) float64 {
	return math.Hypot(math.Hypot(coords[0], coords[1]), coords[2])
}

// onSphere tells whether points of space are those of a sphere about the origin and
// their distances its arcs; unit is that of the coordinates.
func onSphere(e metric.Embedding, unit float64) bool {
	r := radius(e.Coords)
	for i := 0; i < len(e.Coords); i += 3 {
		if !(math.Abs(radius(e.Coords[i:])-r) <= 1e-12*r) {
			return false
		}
	}
	// Chords of a sixth and of a quarter of the circle.
	return math.Abs(e.FromNorm(r*unit)/e.FromNorm(math.Sqrt2*r*unit)-2./3) < 1e-9
}

// logMasses are those of every input's outputs at a rate, row by row.
func (s *snapping) logMasses(ctx context.Context, beta float64) ([]float64, error) {
	if beta == s.beta {
		return s.w, nil
	}
	n, k := s.f.Len(), len(s.net)
	if s.w == nil {
		if err := fault.Memory(s.op, float64(n)*float64(k), 16); err != nil { // and the channel's
			return nil, err
		}
		s.w = make([]float64, n*k)
	}
	s.beta = 0
	err := parallel.Chunks(ctx, n, 4, s.audit.Workers, nil, func(_, lo, hi int) {
		for x := lo; x < hi && ctx.Err() == nil; x++ {
			if s.first[x] == x {
				s.law.LogMasses(x, beta*s.scale, s.w[x*k:(x+1)*k])
			}
		}
	})
	if err = cmp.Or(err, ctx.Err()); err != nil {
		return nil, err
	}
	thin := make([]bool, k)
	for x, p := range s.first {
		row := s.w[x*k : (x+1)*k]
		copy(row, s.w[p*k:(p+1)*k])
		for y, v := range row {
			thin[y] = thin[y] || !(math.Abs(v) <= math.MaxFloat64)
		}
	}
	for i := range s.w {
		if thin[i%k] {
			s.w[i] = math.Inf(-1)
		}
	}
	s.beta = beta
	return s.w, nil
}

// noiseChannel is the channel of noise of rate beta.
func (s *snapping) noiseChannel(ctx context.Context, beta float64) (*mechanism.Channel, error) {
	w, err := s.logMasses(ctx, beta)
	if err != nil {
		return nil, err
	}
	return mechanism.FromLogWeights(ctx, s.f.Len(), len(s.net), w, &mechanism.ChannelOptions{Labels: s.net, Workers: s.audit.Workers})
}

// level is the tight level at rate beta, in plain float64: a guide for the search, not a proof.
func (s *snapping) level(ctx context.Context, beta float64) (float64, error) {
	w, err := s.logMasses(ctx, beta)
	if err != nil {
		return 0, err
	}
	n, k := s.f.Len(), len(s.net)
	levels := make([]float64, n)
	err = parallel.Chunks(ctx, n, 4, s.audit.Workers, nil, func(_, lo, hi int) {
		var row []float64
		for x := lo; x < hi; x++ {
			row = finite.Row(s.f, x, row)
			a := w[x*k : (x+1)*k]
			for xp := range x {
				if xp%64 == 0 && ctx.Err() != nil {
					return
				}
				up, down := 0.0, 0.0
				for y, v := range w[xp*k : (xp+1)*k][:len(a)] {
					d := a[y] - v // NaN for an output left out
					if d > up {
						up = d
					} else if d < down {
						down = d
					}
				}
				if l := max(up, -down) / row[xp]; l > levels[x] {
					levels[x] = l
				}
			}
		}
	})
	return slices.Max(levels), cmp.Or(err, ctx.Err())
}

const (
	// rateStep ends the search for a rate: its level is as near to alpha, or no
	// rate as much above is private.
	rateStep = 0x1p-10
	// rateTries bounds the search.
	rateTries = 20
	// mostScales bounds the extent of the points in terms of the noise, which is as good
	// as none there: float64 tells no finer noise from distances.
	mostScales = 1e9
)

// firstRate is alpha, where noise of that rate is not too fine.
func (s *snapping) firstRate() float64 { return min(s.alpha, mostScales/s.scale) }

// noiseRate finds a rate of level at most alpha, locally the largest: alpha at least,
// where post-processing proves it but for rounding. The level is nearly proportional to
// the rate, so that the ratio of the two finds the next rate.
func (s *snapping) noiseRate(ctx context.Context) (float64, error) {
	next := s.firstRate()
	held, fails := next, math.Inf(1)
	for range rateTries {
		level, err := s.level(ctx, next)
		if err != nil {
			return 0, err
		}
		if level <= s.alpha {
			held = next
		} else {
			fails = next
		}
		if held >= mostScales/s.scale || !(fails > held*(1+rateStep)) || level <= s.alpha && level >= s.alpha*(1-rateStep) {
			break
		}
		next = min(next*min(s.alpha/level, 8), mostScales/s.scale)
		if !(next > held && next < fails) {
			next = held + (min(fails, 2*held)-held)/2
		}
	}
	return held, nil
}

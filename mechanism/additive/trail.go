package additive

import (
	"cmp"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// TrailOptions are for [NewTrail] and [NewEarthTrail]. nil and the zero value are the defaults.
type TrailOptions struct {
	// Steps is the most reports of a trail, the start among them, up to 2^30; 0 means 1,440, one a
	// minute for a day. Noise grows like a power of its logarithm.
	Steps int
	// Every is how many positions there are for each report of [Trail.Release], as of
	// [KnotsOptions.Every], with straight lines between; 0 means 1. Slow or short moves err less with
	// fewer reports. It is public, and must be chosen without looking at the track.
	Every int
	// Unit names the unit of the coordinates, as in "km", which it is on the Earth.
	Unit metric.Unit
}

// Trail releases the positions of somebody who moves, x_0, x_1, ..., report by report as time passes
// ([Trail.Start]) or afterwards ([Trail.Release]). With delta_t = x_t - x'_t it is alpha-private per unit
// of
//
//	d_TV(x, x') = |delta_0| + sum over t >= 1 of |delta_t - delta_(t-1)|.
//
// A track that is moved by d as a whole costs alpha d, however long it is, and one stay or detour moved by
// d costs 2 alpha d; jitter in every report is not hidden. [Trail.Level] is the level for any two tracks.
// The number and times of reports are public, and must not depend on where somebody is.
//
// The start is released with noise of level alpha, as of [PlanarLaplace], and for each node of a tree over
// time, that of level l from s to e, the increment x_e - x_s with noise of level alpha_l, sum of alpha_l =
// alpha. A position is the start plus the increments of the few nodes that lead up to it. The noise is exact:
// each increment, as a real number, plus real noise is rounded once, to multiples of the largest power of two
// that is at most 2^-20/alpha. A Trail is immutable and safe for concurrent use.
type Trail[P any] struct {
	tracks[P]
	steps  int
	levels []trailLevel                                              // the coarsest first
	draw   func(rng *rand.Rand, to, from P, rate float64) [2]float64 // the increment, with noise
}

// trailLevel are nodes of equal width, which follow one another in time.
//
// Privacy: the increments of two tracks in a node differ by |delta_e - delta_s|, at most the sum of |delta_t
// - delta_(t-1)| over its times. The nodes of a level have no step in common, so that its increments together
// lose at most rate times that sum over all times, those of all levels alpha times it, and the start alpha
// |delta_0|: alpha d_TV. All else is a function of what is released.
//
// Noise: a live position uses m = (arity-1)/2 nodes of a level in the mean, and planar noise of a rate has the
// mean square 6/rate^2. The sum of m/rate^2 with a given sum of rates is least for rates prop. to m^(1/3).
type trailLevel struct {
	width, arity int     // steps of a node, and nodes in one of the level before
	rate         float64 // of the noise; alpha or less together
	variance     float64 // 6/rate^2 at alpha = 1
}

// NewTrail returns the mechanism of level alpha, a number in [1e-100, 1e100], for tracks on a
// flat map, both coordinates in one unit of length.
func NewTrail(alpha float64, o *TrailOptions) (*Trail[[2]float64], error) {
	const op = "additive: NewTrail"
	t, err := flatTracks(op, alpha, orZero(o).Every, orZero(o).Unit)
	return newTrail(op, t, err, orZero(o).Steps)
}

// NewEarthTrail returns the mechanism of level alpha per km for tracks of latitude and longitude about a
// public center, alpha in [1e-100, 1e5]. Positions farther than 60 degrees (6,672 km) from it are refused
// before anything is drawn.
//
// Positions fall straight onto the plane that touches the Earth, a sphere, at the center (orthographic
// projection), and d_TV is that of the tracks there. No two positions are farther apart there than on the
// Earth, so that a start moved by d km of great-circle distance costs at most alpha d, and a stay 2 alpha
// d. A track of length L that is moved by a turn of the Earth, of no place by more than d, costs at most
// alpha d (1 + L/R), R the Earth's radius. Noise is wider away from the center: by .3 % at 500 km. The
// projection is part of the exact draw, and so not rounded.
func NewEarthTrail(alpha float64, center metric.LatLon, o *TrailOptions) (*Trail[metric.LatLon], error) {
	const op = "additive: NewEarthTrail"
	// A turn by the angle d/R moves the step x_t - x_(t-1) by at most d/R times its length.
	t, err := earthTracks(op, alpha, center, orZero(o).Every, orZero(o).Unit)
	return newTrail(op, t, err, orZero(o).Steps)
}

// newTrail checks the steps and chooses the tree of live reports.
func newTrail[P any](op string, of tracks[P], err error, steps int) (*Trail[P], error) {
	if err != nil {
		return nil, err
	}
	if steps < 0 || steps > 1<<30 {
		return nil, fault.Value(op, "Steps", float64(steps), "an integer in [0, 2^30]")
	}
	t := &Trail[P]{tracks: of, steps: cmp.Or(steps, 1440)}
	t.draw = func(rng *rand.Rand, to, from P, rate float64) (y [2]float64) {
		t.out.AddPlanes(y[:], rng, t.on.difference(to, from), rate)
		return y
	}
	t.levels = t.bestLevels(t.steps, 1.0/3, func(levels []trailLevel) float64 { return liveSquare(levels, t.steps) })
	return t, nil
}

// bestLevels returns the levels of least error for n reports, among trees of all depths in which nodes
// have q children each, but for the first level.
func (t *Trail[P]) bestLevels(n int, power float64, square func([]trailLevel) float64) (best []trailLevel) {
	steps, least := float64(n-1), math.Inf(1)
	for depth := 1; n > 1; depth++ {
		root := math.Pow(steps, 1/float64(depth))
		if depth > 1 && root < 1.5 {
			break
		}
		for q := max(2, math.Floor(root)); q <= 2*root+1; q++ {
			if depth > 1 && math.Pow(q, float64(depth-1)) > steps/2 {
				break
			}
			levels := t.newLevels(n, depth, int(q), power)
			if v := square(levels); v < least {
				least, best = v, levels
			}
			if depth == 1 { // where q does not matter
				break
			}
		}
	}
	return best
}

// newLevels returns the levels of a tree for n reports, with rates prop. to a power of the nodes used.
func (t *Trail[P]) newLevels(n, depth, q int, power float64) []trailLevel {
	levels, shares := make([]trailLevel, depth), make([]float64, depth)
	width, sum := 1, 0.0
	for l := depth - 1; l >= 0; l-- {
		a := &levels[l]
		if a.width, a.arity = width, q; l == 0 {
			a.arity = (n-1)/width + 1
		}
		width *= q
		shares[l] = math.Pow(a.used(n), power)
		sum += shares[l]
	}
	rest := t.alpha
	for l := range levels {
		a := &levels[l]
		if a.rate = rest; l < depth-1 {
			a.rate = float64(t.alpha * (shares[l] / sum))
			rest = directed.SubDown(rest, a.rate)
		}
		a.variance = 6 * (t.alpha / a.rate) * (t.alpha / a.rate)
	}
	return levels
}

// used is how many nodes of a level lead up to a position, in the mean over the first n.
func (a trailLevel) used(n int) float64 {
	cycle := a.width * a.arity
	rest := n % cycle
	k := rest / a.width
	full := float64(float64(n-rest) * float64(a.arity-1))
	last := float64(float64(k*a.width)*float64(k-1)) + float64(2*float64(rest-k*a.width)*float64(k))
	return (full + last) / (2 * float64(n))
}

// liveSquare is the mean square of the live noise of the first n positions, at alpha = 1.
func liveSquare(levels []trailLevel, n int) float64 {
	sum, children := 6.0, math.Inf(1)
	for l := len(levels) - 1; l >= 0; l-- {
		a := levels[l]
		v := 1 / (1/a.variance + 1/children)
		sum += float64(a.used(n) * v)
		children = float64(a.arity) * v
	}
	return sum
}

// wholeSquare is about the mean square of the noise by least squares, at alpha = 1, and is it where all
// nodes are complete. From level to level it sums, over the positions within a node, their variances,
// covariances with the node's increment and the squares of these, given that and all below: for its
// children alone they are j z + those within the child, z the variance of a child's increment and j the
// children before; the node's own increment is one more observation.
func wholeSquare(levels []trailLevel) float64 {
	var z, vars, covs, squares float64
	for l := len(levels) - 1; l >= 0; l-- {
		v := levels[l].variance
		if l == len(levels)-1 {
			z = v
			continue
		}
		w, a := float64(levels[l+1].width), float64(levels[l+1].arity)
		js, sum := float64(a*(a-1)/2), float64(a*z)+v
		below := float64(a * covs)
		vars = float64(js*z*w) + float64(a*vars)
		squares = float64(2*js*(a-0.5)/3*z*z*w) + float64(2*z*js*covs) + float64(a*squares)
		covs = float64(js*z*w) + below
		vars -= squares / sum
		covs *= v / sum
		squares *= v / sum * (v / sum)
		z *= a * v / sum
	}
	w, a := float64(levels[0].width), float64(levels[0].arity)
	return 6 + float64((a-1)/2*z) + vars/w
}

func (t *Trail[P]) check(op string) error {
	return fault.Made(t != nil && t.steps != 0, op, "Trail", "NewTrail or NewEarthTrail")
}

// Guarantee is alpha per unit of d_TV, delta 0. It prints as "per km" alone: to compare it with
// the guarantee of [Knots], which is per km of the largest distance, take [Trail.Level].
func (t *Trail[P]) Guarantee() mechanism.Guarantee { return orZero(t).g }

// Level is the guarantee of n reports, live or of a whole track, the larger of both, per unit of the
// largest distance that any of them is moved by: alpha + 2 sum of alpha_l n_l, n_l the increments of level
// l that are released. It promises nothing where n is not in [1, Steps].
func (t *Trail[P]) Level(n int) mechanism.Guarantee {
	fault.Must(t, t.check("additive: Trail.Level"))
	if n < 1 || n > t.steps {
		return mechanism.Guarantee{}
	}
	live, whole := t.level(t.levels, n, false), t.level(t.wholeLevels(n), n, true)
	if live.Alpha() > whole.Alpha() {
		return live
	}
	return whole
}

// level is Level for a tree whose last nodes end with the track, or are left out. An increment is
// moved by at most twice the distance.
func (t *Trail[P]) level(levels []trailLevel, n int, cut bool) mechanism.Guarantee {
	times := 1.0
	for _, a := range levels {
		nodes := (n - 1) / a.width
		if cut && (n-1)%a.width > 0 {
			nodes++
		}
		times = directed.AddUp(times, directed.MulUp(directed.DivUp(a.rate, t.alpha), 2*float64(nodes)))
	}
	return fault.Must(mechanism.NewGuarantee(directed.MulUp(t.g.Alpha(), times), 0, t.g.Unit()))
}

// RMS is the root mean square distance of the first n positions that are released live from the
// true ones, on the Earth near the center, up to 1e-5 of it. [LiveTrail.Track] and
// [Trail.Release] err less. NaN where n is not in [1, Steps].
func (t *Trail[P]) RMS(n int) float64 {
	fault.Must(t, t.check("additive: Trail.RMS"))
	if n < 1 || n > t.steps {
		return math.NaN()
	}
	return math.Sqrt(liveSquare(t.levels, n)) / t.alpha * t.unit
}

// String gives the noise and its guarantee.
func (t *Trail[P]) String() string {
	z := orZero(t)
	return describe(t.check("additive"), z.g, "trail of up to %d reports", z.steps)
}

// Release returns a whole track, of one to Steps reports: all increments of a tree for their number, by
// least squares, nearer than live ones by a fifth to a quarter. An error is of the first wrong position,
// and nothing is drawn. A nil rng is secure, and the choice for private data. About a microsecond a
// position, on the Earth 20.
func (t *Trail[P]) Release(rng *rand.Rand, track []P) ([]P, error) {
	const op = "additive: Trail.Release"
	if err := t.check(op); err != nil {
		return nil, err
	}
	at, err := t.on.knotTimes(op, track, t.every, t.steps)
	if err != nil {
		return nil, err
	}
	rng, done := random.Get(rng)
	defer done()
	whole := *t
	whole.levels = t.wholeLevels(len(at))
	l := whole.start(rng, track[at[0]])
	for _, i := range at[1:] {
		l.next(rng, track[i])
	}
	for k := len(whole.levels) - 2; k >= 0; k-- {
		if l.open[k].kids < len(l.found[k+1]) { // the last one ends with the track
			l.complete(rng, k, track[at[len(at)-1]])
		}
	}
	return t.on.interpolate(len(track), at, l.positions()), nil
}

// wholeLevels returns the levels for whole tracks of n reports. By least squares nearly equal rates are
// best, and a short first level.
func (t *Trail[P]) wholeLevels(n int) []trailLevel { return t.bestLevels(n, 1.0/6, wholeSquare) }

// Start begins a trail at x and returns its first report too.
//
// A person's trails add up: after Steps reports, or where the LiveTrail is lost with its process,
// another one is started, and what differs in both costs alpha times the sum of its two d_TV.
func (t *Trail[P]) Start(rng *rand.Rand, x P) (*LiveTrail[P], P, error) {
	const op = "additive: Trail.Start"
	err := t.check(op)
	if err == nil {
		err = t.on.check(op, "x", x)
	}
	if err != nil {
		return nil, *new(P), err
	}
	rng, done := random.Get(rng)
	defer done()
	l := t.start(rng, x)
	return l, t.on.place(l.first), nil
}

func (t *Trail[P]) start(rng *rand.Rand, x P) *LiveTrail[P] {
	l := &LiveTrail[P]{t: t, n: 1, first: t.draw(rng, x, t.on.origin, t.alpha)}
	for range t.levels {
		l.open = append(l.open, openNode[P]{x, l.first, 0})
	}
	l.found = make([][]trailNode, len(t.levels))
	return l
}

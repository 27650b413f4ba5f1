package additive

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
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
	// Unit names the unit of the coordinates, as in "km", which it is on the Earth.
	Unit metric.Unit
}

// Trail releases the positions of somebody who moves, x_0, x_1, ..., report by report as time
// passes ([Trail.Start]) or afterwards ([Trail.Release]). It hides how a track differs from
// another as a whole: with delta_t = x_t - x'_t it is alpha-private per unit of
//
//	d_TV(x, x') = |delta_0| + sum over t >= 1 of |delta_t - delta_(t-1)|.
//
// A track that is moved by d as a whole costs alpha d, however long it is, and one stay or detour
// moved by d costs 2 alpha d; jitter in every report is not hidden. At a strength that hides a
// place within 200 m a track is known to about a kilometer, not to a street. [Trail.Level] is
// the level for any two tracks of so many reports. Tracks are compared with those of as many
// reports: their number and times are public, and must not depend on where somebody is.
//
// The start is released with noise of level alpha, as of [PlanarLaplace]. Over time there is a
// tree: a node of level l stands for the times from s to e, and its increment x_e - x_s is
// released with noise of level alpha_l, sum of alpha_l = alpha. A position is the start plus the
// increments of the few nodes that lead up to it, so that its noise does not grow with time;
// where a node is complete, its children's increments improve its own. The noise is exact: each
// increment, as a real number, plus real noise is rounded once, to multiples of the largest
// power of two that is at most 2^-20/alpha; inputs are not rounded.
//
// A Trail is immutable and safe for concurrent use.
type Trail[P any] struct {
	steps  int
	levels []trailLevel // the coarsest first
	alpha  float64      // per unit of the map
	unit   float64      // of the map
	out    exact.Lattice
	on     trailMap[P]
	g      mechanism.Guarantee
}

// trailMap is a map of the plane: of the plane itself, or of a part of the Earth.
type trailMap[P any] struct {
	origin     P // falls on (0, 0)
	check      func(op, arg string, x P) error
	difference func(to, from P) exact.Values // on the map
	place      func(at [2]float64) P
}

// flatMap takes coordinates of at most 2^51 steps, so that differences have 2^52.
func flatMap(step float64) trailMap[[2]float64] {
	limit := 0x1p51 * step
	return trailMap[[2]float64]{
		check: func(op, arg string, x [2]float64) error {
			for i, v := range x {
				if !(math.Abs(v) <= limit) {
					return &fault.ValueError{Op: op, Arg: arg, Index: i, Value: v, Want: fmt.Sprintf("a finite number, at most %.4g in size", limit), Private: true}
				}
			}
			return nil
		},
		difference: exact.Difference,
		place:      func(at [2]float64) [2]float64 { return at },
	}
}

// earthMap is the plane that touches the unit sphere at the center: |P(x) - P(y)| <= |x - y| in
// space, which is at most the great-circle distance.
func earthMap(op string, center metric.LatLon) (m trailMap[metric.LatLon], err error) {
	earth := metric.GreatCircle{}
	if err := earth.Check(center, center); err != nil {
		return m, fmt.Errorf("%s: center: %w", op, err)
	}
	chart := exact.NewChart(center.Lat, center.Lon)
	return trailMap[metric.LatLon]{
		origin: center,
		check: func(op, arg string, x metric.LatLon) error {
			if err := earth.Check(x, x); err != nil {
				return fmt.Errorf("%s: %s: %w", op, arg, fault.Private(err))
			}
			if _, cos := chart.Place(x.Lat, x.Lon); cos < 0.5 {
				return fault.Private(fault.Value(op, "the distance of "+arg+" from the center", math.Acos(cos)*180/math.Pi, "at most 60 degrees"))
			}
			return nil
		},
		difference: func(to, from metric.LatLon) exact.Values {
			return chart.Difference(to.Lat, to.Lon, from.Lat, from.Lon)
		},
		place: func(at [2]float64) metric.LatLon {
			lat, lon := chart.Lift(at)
			return metric.LatLon{Lat: lat, Lon: lon}
		},
	}, nil
}

// earthGuarantee is alpha, at most 1e5, per km.
func earthGuarantee(op string, alpha float64, unit metric.Unit) (mechanism.Guarantee, error) {
	unit, err := fault.Unit(op, unit, metric.GreatCircle{}.Unit())
	if err != nil {
		return mechanism.Guarantee{}, err
	}
	g, err := pure(op, alpha, unit)
	if err == nil && !(alpha <= 1e5) {
		err = fault.Value(op, "alpha", alpha, "at most 1e5 per km")
	}
	return g, err
}

// fineStep is the largest power of two that is at most 2^-20 of the noise's width 1/alpha.
func fineStep(alpha float64) float64 {
	_, e := math.Frexp(1 / alpha)
	return math.Ldexp(0x1p-20, e-1)
}

// trailLevel are nodes of equal width, which follow one another in time.
//
// Privacy: the increments of two tracks in a node differ by |delta_e - delta_s|, at most the
// sum of |delta_t - delta_(t-1)| over its times. The nodes of a level have no step in common, so
// that its increments together lose at most rate times that sum over all times, those of
// all levels alpha times it, and the start alpha |delta_0|: alpha d_TV. A shift changes the start only;
// where a stay is moved by d two steps differ by d, in nodes of their own at every level or in one,
// where they cancel. All else is a function of what is released.
//
// Noise: a live position uses (arity-1)/2 nodes of a level in the mean, call it m, and planar
// noise of a rate has the mean square 6/rate^2. sum of m/rate^2 with a given sum of rates is least
// for rates prop. to m^(1/3), where the mean square is 6/alpha^2 (1 + (sum of m^(1/3))^3).
type trailLevel struct {
	width, arity int     // steps of a node, and nodes in one of the level before
	rate         float64 // of the noise; alpha or less together
	own          float64 // weight of a node's own increment beside that of its children
	variance     float64 // of both, at alpha = 1
}

// NewTrail returns the mechanism of level alpha, a number in [1e-100, 1e100], for tracks on a
// flat map, both coordinates in one unit of length.
func NewTrail(alpha float64, o *TrailOptions) (*Trail[[2]float64], error) {
	const op = "additive: NewTrail"
	g, err := pure(op, alpha, orZero(o).Unit)
	if err != nil {
		return nil, err
	}
	t := &Trail[[2]float64]{alpha: alpha, unit: 1, g: g}
	t.out.Step = fineStep(t.alpha)
	t.on = flatMap(t.out.Step)
	return t, t.grow(op, orZero(o).Steps)
}

// NewEarthTrail returns the mechanism of level alpha per km for tracks of latitude and longitude
// about a public center, alpha in [1e-100, 1e5]. Positions farther than 60 degrees (6,671 km) from
// it are refused before anything is drawn.
//
// Positions fall straight onto the plane that touches the Earth at the center (orthographic
// projection), and d_TV is that of the tracks there. No two positions are farther apart
// there than on the Earth, so that alpha is the level per km of great-circle distance: of the
// start, and for a stay moved by d half of what it costs, 2 alpha d. A track of length L that is moved as a
// whole, by a turn of the Earth that moves nothing by more than d, costs at most alpha d (1 + L/R), R the
// Earth's radius. Noise is wider where distances shrink, away from the center: by .3 % at
// 500 km, 1.2 % at 1,000 km. The projection is part of the exact draw, and so not rounded.
//
// The Earth is a sphere, as in [metric.GreatCircle].
func NewEarthTrail(alpha float64, center metric.LatLon, o *TrailOptions) (*Trail[metric.LatLon], error) {
	const op = "additive: NewEarthTrail"
	g, err := earthGuarantee(op, alpha, orZero(o).Unit)
	if err != nil {
		return nil, err
	}
	on, err := earthMap(op, center)
	if err != nil {
		return nil, err
	}
	// A turn by the angle d/R moves the step x_t - x_(t-1) by at most d/R times its length.
	t := &Trail[metric.LatLon]{alpha: directed.MulDown(alpha, metric.EarthRadiusKm), unit: metric.EarthRadiusKm, on: on, g: g}
	t.out.Step = fineStep(t.alpha)
	return t, t.grow(op, orZero(o).Steps)
}

// grow makes the tree whose live noise is least: of as many levels as that takes, of nearly
// equal arities.
func (t *Trail[P]) grow(op string, steps int) error {
	t.steps = cmp.Or(steps, 1440)
	if t.steps < 0 || t.steps > 1<<30 {
		return fault.Value(op, "Steps", float64(steps), "an integer in [0, 2^30]")
	}
	best := math.Inf(1)
	for n := 1; t.steps > 1; n++ {
		arities := nearRoots(t.steps, n)
		if arities == nil {
			break
		}
		if s := (&Trail[P]{steps: t.steps, alpha: t.alpha}).plant(arities); s.meanSquare(t.steps) < best {
			best, t.levels = s.meanSquare(t.steps), s.levels
		}
	}
	return nil
}

// nearRoots returns n integers q or q+1 >= 2, the larger first, whose product is the least that
// is at least steps, or nil where there are none.
func nearRoots(steps, n int) []int {
	product := func(q, more int) int64 {
		p := int64(1)
		for i := range n {
			if p *= int64(q); i < more {
				p += p / int64(q)
			}
		}
		return p
	}
	q := int(math.Pow(float64(steps), 1/float64(n)) + 1e-9)
	if q < 2 {
		return nil
	}
	more := 0
	for more < n && product(q, more) < int64(steps) {
		more++
	}
	arities := make([]int, n)
	for i := range arities {
		if arities[i] = q; i < more {
			arities[i]++
		}
	}
	return arities
}

// plant sets levels of the given arities.
func (t *Trail[P]) plant(arities []int) *Trail[P] {
	width, sum := 1, 0.0
	t.levels = make([]trailLevel, len(arities))
	shares := make([]float64, len(arities))
	for l := len(arities) - 1; l >= 0; l-- {
		t.levels[l] = trailLevel{width: width, arity: arities[l], own: 1}
		shares[l] = math.Cbrt(t.levels[l].used(t.steps))
		sum += shares[l]
		width *= arities[l]
	}
	rest := t.alpha
	for l := range t.levels {
		a := &t.levels[l]
		if a.rate = rest; l < len(t.levels)-1 {
			a.rate = float64(t.alpha * (shares[l] / sum))
			rest = directed.SubDown(rest, a.rate)
		}
	}
	for l := len(t.levels) - 1; l >= 0; l-- {
		a := &t.levels[l]
		a.variance = 6 * (t.alpha / a.rate) * (t.alpha / a.rate)
		if l < len(t.levels)-1 {
			children := float64(t.levels[l+1].arity) * t.levels[l+1].variance
			a.own = children / (a.variance + children)
			a.variance *= a.own
		}
	}
	return t
}

// used is how many nodes of a level lead up to a position, in the mean over the first n.
func (a trailLevel) used(n int) float64 {
	cycle := a.width * a.arity
	sum := float64(n/cycle) * float64(cycle) * float64(a.arity-1) / 2
	rest := n % cycle
	k := rest / a.width
	sum += float64(a.width)*float64(k)*float64(k-1)/2 + float64(rest-k*a.width)*float64(k)
	return sum / float64(n)
}

// meanSquare is that of the live noise of the first n positions, at alpha = 1.
func (t *Trail[P]) meanSquare(n int) float64 {
	v := 6.0
	for _, a := range t.levels {
		v += float64(a.used(n) * a.variance)
	}
	return v
}

func (t *Trail[P]) check(op string) error {
	return fault.Made(t != nil && t.steps != 0, op, "Trail", "NewTrail or NewEarthTrail")
}

// Guarantee is alpha per unit of d_TV, delta 0.
func (t *Trail[P]) Guarantee() mechanism.Guarantee { return orZero(t).g }

// Level is the guarantee of the first n reports per unit of the largest distance that any of
// them is moved by, for all tracks: (alpha + 2 sum of alpha_l n_l), n_l the nodes of level l that
// n reports complete. It promises nothing where n is not in [1, Steps].
func (t *Trail[P]) Level(n int) mechanism.Guarantee {
	fault.Must(t, t.check("additive: Trail.Level"))
	if n < 1 || n > t.steps {
		return mechanism.Guarantee{}
	}
	// An increment is moved by at most twice the distance.
	times := 1.0
	for _, a := range t.levels {
		share := directed.DivUp(a.rate, t.alpha)
		times = directed.AddUp(times, directed.MulUp(share, float64(2*((n-1)/a.width))))
	}
	return fault.Must(mechanism.NewGuarantee(directed.MulUp(t.g.Alpha(), times), 0, t.g.Unit()))
}

// RMS is the root mean square distance of the first n positions that are released live from the
// true ones, on the Earth near the center, up to 1e-5 of it. What [LiveTrail.Track] returns is
// nearer. NaN where n is not in [1, Steps].
func (t *Trail[P]) RMS(n int) float64 {
	fault.Must(t, t.check("additive: Trail.RMS"))
	if n < 1 || n > t.steps {
		return math.NaN()
	}
	return math.Sqrt(t.meanSquare(n)) / t.alpha * t.unit
}

// String gives the noise and its guarantee.
func (t *Trail[P]) String() string {
	z := orZero(t)
	return describe(t.check("additive"), z.g, "trail of up to %d reports", z.steps)
}

// Release returns the track at the end of [Trail.Start] and [LiveTrail.Next]: see
// [LiveTrail.Track]. It takes one to Steps positions; an error is of the first wrong one, and nothing
// is drawn. A nil rng is secure, and the choice for private data.
func (t *Trail[P]) Release(rng *rand.Rand, track []P) ([]P, error) {
	const op = "additive: Trail.Release"
	if err := t.check(op); err != nil {
		return nil, err
	}
	if len(track) < 1 || len(track) > t.steps {
		return nil, &fault.SizeError{Op: op, Arg: "track", Got: len(track), Want: fmt.Sprintf("1 to %d", t.steps)}
	}
	for i, x := range track {
		if err := t.on.check(op, fmt.Sprintf("track[%d]", i), x); err != nil {
			return nil, err
		}
	}
	rng, done := random.Get(rng)
	defer done()
	live := t.start(rng, track[0])
	for _, x := range track[1:] {
		live.next(rng, x)
	}
	return live.Track(), nil
}

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
	l := &LiveTrail[P]{t: t, n: 1, first: t.out.AddPlanar(rng, t.on.difference(x, t.on.origin), t.alpha)}
	for range t.levels {
		l.open = append(l.open, openNode[P]{x, l.first})
	}
	l.found = make([][][2]float64, len(t.levels))
	return l
}

// LiveTrail is a trail under way. It holds a few true positions, those where nodes of its tree
// began, and is as private as they are. It serves one goroutine at a time, and is not safe to
// copy or to restore: what is reported twice from one state costs twice.
type LiveTrail[P any] struct {
	t     *Trail[P]
	n     int            // reports
	first [2]float64     // the start's
	open  []openNode[P]  // of each level
	found [][][2]float64 // increments of the complete nodes of each level
}

// openNode is where the node under way of a level began: the true position and the released one.
type openNode[P any] struct {
	x P
	y [2]float64
}

// Next reports the position x, one step after the last. It depends on positions up to now only.
// An error, of an x outside the domain or after Steps reports, draws nothing and leaves the trail
// as it was.
func (l *LiveTrail[P]) Next(rng *rand.Rand, x P) (y P, err error) {
	const op = "additive: LiveTrail.Next"
	if err := l.check(op); err != nil {
		return y, err
	}
	if l.n == l.t.steps {
		return y, fmt.Errorf("%s: all %d reports are made: start another trail, which adds to the level", op, l.n)
	}
	if err := l.t.on.check(op, "x", x); err != nil {
		return y, err
	}
	rng, done := random.Get(rng)
	defer done()
	return l.t.on.place(l.next(rng, x)), nil
}

func (l *LiveTrail[P]) next(rng *rand.Rand, x P) (y [2]float64) {
	levels := l.t.levels
	top := len(levels)
	for ; top > 0 && l.n%levels[top-1].width == 0; top-- {
		k := top - 1
		a := levels[k]
		z := l.t.out.AddPlanar(rng, l.t.on.difference(x, l.open[k].x), a.rate)
		if k+1 < len(levels) {
			children := l.found[k+1]
			s := total(children[len(children)-levels[k+1].arity:])
			for i := range z {
				z[i] = float64(a.own*z[i]) + float64((1-a.own)*s[i])
			}
		}
		l.found[k] = append(l.found[k], z)
		y = [2]float64{l.open[k].y[0] + z[0], l.open[k].y[1] + z[1]}
	}
	for k := top; k < len(levels); k++ {
		l.open[k] = openNode[P]{x, y}
	}
	l.n++
	return y
}

func total(zs [][2]float64) (s [2]float64) {
	for _, z := range zs {
		s[0] += z[0]
		s[1] += z[1]
	}
	return s
}

// Track returns all positions so far as all increments so far tell them together, by least
// squares: nearer than those reported as time passed, by a fifth for 64 reports, and free, as
// post-processing. O(n).
func (l *LiveTrail[P]) Track() []P {
	fault.Must(l, l.check("additive: LiveTrail.Track"))
	levels := l.t.levels
	// From above, a node's children share the difference of its increment and theirs equally,
	// as their variances are equal. An incomplete node has no increment of its own.
	var above, steps [][2]float64
	for k, found := range l.found {
		steps = append([][2]float64{}, found...)
		for j, up := range above {
			part := steps[j*levels[k].arity : (j+1)*levels[k].arity]
			s := total(part)
			for i := range part {
				part[i][0] += (up[0] - s[0]) / float64(len(part))
				part[i][1] += (up[1] - s[1]) / float64(len(part))
			}
		}
		above = steps
	}
	at := l.first
	track := []P{l.t.on.place(at)}
	for _, z := range steps {
		at[0] += z[0]
		at[1] += z[1]
		track = append(track, l.t.on.place(at))
	}
	return track
}

func (l *LiveTrail[P]) check(op string) error {
	return fault.Made(l != nil && l.t != nil, op, "LiveTrail", "Trail.Start")
}

// String says how many reports are made, and the guarantee.
func (l *LiveTrail[P]) String() string {
	if err := l.check("additive"); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("report %d of a %v", l.n, l.t)
}

package anywhere

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/game"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/lp"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/metric"
)

// Options are for mechanisms whose inputs are of type P; nil and zero mean the defaults.
type Options[P any] struct {
	// Region are two corners or more: little is to be lost in the smallest box of the map around
	// them; nil: the outputs, and Places. Inputs may lie anywhere.
	Region []P
	// Places, where not nil, are where inputs are expected: the mean loss over them is to be
	// small, by the weights Prior, of sum 1 within 1e-9; nil: equal ones.
	Places []P
	Prior  []float64
	// Cells is into how many cells noise is sorted at most; 0 means 4,000. They are no smaller
	// than a third of the noise's width 1/alpha, on the line a tenth.
	Cells int
	// Anchors is about how many places of the region Bound is of; 0 means 81. More raise it, at
	// the cost of [lp.Optimal].
	Anchors int
	// TimeLimit ends the searches for answers and for a bound after about that long, without an
	// error; 0 is no limit.
	TimeLimit time.Duration
	// Unit names the unit of the coordinates; on the Earth it is "km".
	Unit    metric.Unit
	Workers int // 0: all processors
	// Progress, where not nil, is told after every round how much less other answers might lose,
	// relatively, and the time since the start.
	Progress func(round int, gap float64, elapsed time.Duration)
}

// Remap is noise and the answers to it: it releases the index of an output. Immutable and safe for
// concurrent use.
type Remap[P any] struct {
	// Loss is proved: from no place of the region is the output farther on average, or where
	// places were given, it is the mean over them. In the unit of the space. Where answers do not
	// matter to the worst place they are best for the mean over the region.
	Loss float64
	// Bound is proved by [lp.Optimal] for some places: no alpha-private mechanism with these
	// outputs loses less in the region, or over the Places. A search that a TimeLimit ends proves
	// less.
	Bound float64
	// Worst is the place, of those looked at, that loses most.
	Worst P

	on      *ground[P]
	outputs []P
	cells   *cells
	law     *law
	answers *mechanism.Channel
	shares  [][]share // of the cells: what answers are
}

// share is the probability of an output in a cell.
type share struct {
	output int
	prob   float64
}

// ground is a flat map of the inputs, and noise on it.
type ground[P any] struct {
	dim   int
	flat  bool    // the Euclidean norm, otherwise the l1 norm
	rate  float64 // of the noise, per unit of the map
	pitch float64 // of the lattice on which the noise is released
	space metric.Space[P]
	place func(at []float64) P
	on    func(x P, dst []float64) []float64 // appends the coordinates of x
	// draw appends the noisy coordinates of x, or says why it is no input.
	draw func(rng *rand.Rand, x P, dst []float64) ([]float64, error)
	// Along an axis distances from an output are convex, or less so: by bend times the
	// square of a length over 8 they may lie above the chord. They err by at most blur.
	bend, blur float64
	near       func(x P) bool // where not nil, whether that holds at x
	g          mechanism.Guarantee
	noise      *additive.KNorm // in the unit of g: on the map inputs are no farther apart
}

const (
	priorTol       = 1e-9
	mostCells      = 4000
	mostRows       = 1600 // of the game
	halvings       = 3    // of the spacing of these rows, to the lattice of inputs
	defaultAnchors = 81
	gameGap        = 1e-3
	gameRounds     = 3000
	gameMean       = 0.1 // of what counts in the game: it costs the worst place next to nothing
	margin         = 5   // of cells around the region, in widths of the noise
	slack          = 1 + 1e-9
)

// sizes are spacings of the rows of a game and of the cells by dimension, in widths of the noise.
var sizes = map[int][2]float64{1: {0.05, 0.05}, 2: {0.35, 0.3}, 3: {0.7, 0.6}}

func build[P any](ctx context.Context, op string, on *ground[P], outputs []P, o *Options[P]) (*Remap[P], error) {
	began := time.Now()
	if o == nil {
		o = &Options[P]{}
	}
	if err := o.check(op, on.space, outputs); err != nil {
		return nil, err
	}
	m := &Remap[P]{on: on, outputs: slices.Clone(outputs)}
	lo, hi, err := on.box(op, o.region(outputs))
	if err != nil {
		return nil, err
	}
	size := m.lay(lo, hi, cmp.Or(o.Cells, mostCells))
	prior := o.prior()
	far := 0 // from a place of the region to the last cut
	for k, n := range m.cells.count {
		far = max(far, m.cells.cut(k, n-1))
	}
	if m.law, err = newLaw(ctx, float64(m.cells.step()*on.rate), on.flat, far, o.Workers); err != nil {
		return nil, err
	}
	answers, err := m.answer(ctx, op, m.rows(size, o, prior), o, began)
	if err != nil {
		return nil, err
	}
	if err := m.take(ctx, answers); err != nil {
		return nil, err
	}
	if err := m.certify(ctx, size, o, prior); err != nil {
		return nil, err
	}
	if m.Bound, err = m.bound(ctx, op, lo, hi, o, prior, began); err != nil {
		return nil, err
	}
	return m, nil
}

func (o *Options[P]) check(op string, space metric.Space[P], outputs []P) error {
	for _, list := range []struct {
		name string
		at   []P
	}{{"outputs", outputs}, {"Region", o.Region}, {"Places", o.Places}} {
		if list.at == nil && list.name != "outputs" {
			continue
		}
		if err := fault.Empty(op, list.name, len(list.at)); err != nil {
			return err
		}
		for i, x := range list.at {
			if err := space.(metric.Checker[P]).Check(outputs[0], x); err != nil {
				return fmt.Errorf("%s: %s[%d]: %w", op, list.name, i, err)
			}
		}
	}
	if o.Prior != nil {
		if err := cmp.Or(fault.Empty(op, "Places", len(o.Places)), fault.Distribution(op, "Prior", o.Prior, len(o.Places), priorTol)); err != nil {
			return err
		}
	}
	for _, n := range []struct {
		name string
		of   int
	}{{"Cells", o.Cells}, {"Anchors", o.Anchors}} {
		if n.of < 0 || n.of > 1<<24 {
			return fault.Value(op, n.name, float64(n.of), "an integer in [0, 2^24]")
		}
	}
	if o.TimeLimit < 0 {
		return fault.Value(op, "TimeLimit", o.TimeLimit.Seconds(), "a duration >= 0")
	}
	return nil
}

// prior are the weights of the places, or nil.
func (o *Options[P]) prior() []float64 {
	if o.Prior == nil && o.Places != nil {
		return slices.Repeat([]float64{1 / float64(len(o.Places))}, len(o.Places))
	}
	return o.Prior
}

func (o *Options[P]) region(outputs []P) []P {
	if o.Region != nil {
		return o.Region
	}
	return slices.Concat(outputs, o.Places)
}

// box is the smallest one around places.
func (on *ground[P]) box(op string, places []P) (lo, hi []float64, err error) {
	for i, x := range places {
		at := on.on(x, nil)
		for _, v := range at {
			if limit := 0x1p48 * on.pitch; !(math.Abs(v) <= limit) {
				return nil, nil, fault.Value(op, "a coordinate of the region", v, fmt.Sprintf("at most %.3g in size: take a nearer origin", limit))
			}
		}
		if i == 0 {
			lo, hi = at, slices.Clone(at)
		}
		for k, v := range at {
			lo[k], hi[k] = min(lo[k], v), max(hi[k], v)
		}
	}
	return lo, hi, nil
}

// lay makes the cells. The region has size steps of the lattice of inputs along each axis, which
// boxes of side 2^halvings cover.
func (m *Remap[P]) lay(lo, hi []float64, most int) (size []int) {
	on, c := m.on, &cells{pitch: m.on.pitch}
	row, cell := sizes[on.dim][0]/on.rate, sizes[on.dim][1]/on.rate
	size = make([]int, on.dim)
	c.base, c.first, c.count = make([]float64, on.dim), make([]int, on.dim), make([]int, on.dim)
	for k, v := range lo {
		c.base[k] = (math.Floor(v/c.pitch) - 1) * c.pitch
	}
	// Of a region in which all is nearly at one place the spacing is no less.
	for side, rows := row, math.Inf(1); rows > mostRows; side *= 1.05 {
		longest := row
		for k := range lo {
			longest = max(longest, hi[k]-c.base[k])
		}
		across := math.Ceil(longest / side) // the longest side is a whole number of boxes
		c.unit = int64(math.Ceil(longest / across / c.pitch / (1 << halvings)))
		rows = 1
		for k := range size {
			n := math.Ceil((hi[k] - c.base[k]) / c.step())
			rows *= math.Ceil(n/(1<<halvings)) + 1
			size[k] = int(min(n, everywhere)) // at first it may be beyond an int of 32 bits
		}
	}
	for c.side = max(1, int(cell/c.step())); ; c.side++ {
		total := 1.0
		for k, n := range size {
			pad := int(math.Ceil(margin / on.rate / c.step() / float64(c.side)))
			c.first[k] = -pad * c.side
			c.count[k] = 2*pad + n/c.side + 3
			total *= float64(c.count[k])
		}
		if total <= float64(max(most, 1<<on.dim)) || c.side >= 1<<20 {
			break
		}
	}
	m.cells = c
	return size
}

// across is how many boxes cover a size.
func across(size []int) []int {
	n := make([]int, len(size))
	for k, v := range size {
		n[k] = (v-1)>>halvings + 1
	}
	return n
}

// row is an input of the game, a point of the lattice.
type row struct {
	at     []int
	weight float64
}

// rows are the corners of the boxes, cut at the end of the region, or the points next to the places.
func (m *Remap[P]) rows(size []int, o *Options[P], prior []float64) (rows []row) {
	if prior == nil {
		for at := range lattice(across(size), 1) {
			for k := range at {
				at[k] = min(at[k]<<halvings, size[k])
			}
			rows = append(rows, row{at: at})
		}
		return rows
	}
	index := make(map[string]int)
	for i, x := range o.Places {
		at := make([]int, m.on.dim)
		for k, v := range m.on.on(x, nil) {
			n, rest := m.cells.floor(k, v)
			at[k] = n + int(math.Round(rest))
		}
		key := fmt.Sprint(at)
		if _, ok := index[key]; !ok {
			index[key] = len(rows)
			rows = append(rows, row{at: at})
		}
		rows[index[key]].weight += prior[i]
	}
	return rows
}

// lattice yields the points with coordinates from 0 to those of n less 1 plus more.
func lattice(n []int, more int) func(yield func(at []int) bool) {
	return func(yield func(at []int) bool) {
		at := make([]int, len(n))
		for {
			if !yield(slices.Clone(at)) {
				return
			}
			k := len(n) - 1
			for ; k >= 0; k-- {
				if at[k]++; at[k] < n[k]+more {
					break
				}
				at[k] = 0
			}
			if k < 0 {
				return
			}
		}
	}
}

// answer finds what the cells answer with: weights of the outputs.
func (m *Remap[P]) answer(ctx context.Context, op string, rows []row, o *Options[P], began time.Time) ([]float64, error) {
	n, c, k := len(rows), m.cells.len(), len(m.outputs)
	if err := fault.Memory(op, float64(float64(n)*float64(c+k))+float64(6*float64(c)*float64(k)), 4); err != nil {
		return nil, err
	}
	g := &game.Game{N: n, C: c, K: k, Mass: make([]float32, 0, n*c), Dist: make([]float32, 0, n*k), Rounds: gameRounds, Mean: gameMean, Workers: o.Workers}
	var mass, buf, dist []float64
	most := 0.0 // its unit: distances themselves may be beyond float32
	for _, r := range rows {
		dist = m.distances(r.at, dist)
		most = max(most, slices.Max(dist))
	}
	for x, r := range rows {
		if err := ctx.Err(); x%64 == 0 && err != nil {
			return nil, err
		}
		mass, buf = m.law.masses(m.cells, r.at, mass[:0], buf)
		for _, p := range mass {
			g.Mass = append(g.Mass, float32(p))
		}
		dist = m.distances(r.at, dist)
		for _, d := range dist {
			g.Dist = append(g.Dist, float32(d/cmp.Or(most, 1)))
		}
	}
	// To begin with, the output nearest to what the cell has of the region.
	first, at := make([]int, c), make([]int, m.on.dim)
	for y := range first {
		for k, rest := len(at)-1, y; k >= 0; k-- {
			i := rest % m.cells.count[k]
			rest /= m.cells.count[k]
			at[k] = m.cells.first[k] + min(max(0, i-1), m.cells.count[k]-2)*m.cells.side
			if 0 < i && i < m.cells.count[k]-1 {
				at[k] += m.cells.side / 2
			}
		}
		dist = m.distances(at, dist)
		first[y] = slices.Index(dist, slices.Min(dist))
	}
	if o.Places == nil {
		return g.Play(ctx, first, gameGap, func(round int, gap float64) bool {
			if o.Progress != nil {
				o.Progress(round, gap, time.Since(began))
			}
			return o.TimeLimit == 0 || time.Since(began) < o.TimeLimit/2
		})
	}
	prior := make([]float64, n)
	for x, r := range rows {
		prior[x] = r.weight
	}
	weights := make([]float64, c*k)
	err := g.Round(ctx, prior, first, make([]float64, n))
	for y, j := range first {
		weights[y*k+j] = 1
	}
	return weights, err
}

// take makes the weights the answers.
func (m *Remap[P]) take(ctx context.Context, weights []float64) (err error) {
	k := len(m.outputs)
	if m.answers, err = mechanism.FromWeights(ctx, m.cells.len(), k, weights, nil); err != nil {
		return err
	}
	m.shares = make([][]share, m.cells.len())
	for c := range m.shares {
		for y := range k {
			if p := m.answers.Prob(c, y); p > 0 {
				m.shares[c] = append(m.shares[c], share{y, p})
			}
		}
	}
	return nil
}

// point is that of the lattice of inputs.
func (m *Remap[P]) point(at []int) P {
	x := make([]float64, len(at))
	for k, i := range at {
		x[k] = m.cells.position(k, i)
	}
	return m.on.place(x)
}

// distances are those of a point of the lattice from the outputs.
func (m *Remap[P]) distances(at []int, dst []float64) []float64 {
	return m.from(m.point(at), dst)
}

func (m *Remap[P]) from(x P, dst []float64) []float64 {
	dst = dst[:0]
	for _, y := range m.outputs {
		dst = append(dst, m.on.space.Distance(x, y))
	}
	return dst
}

// bound is a loss that no mechanism of this level with these outputs goes below, at some places.
func (m *Remap[P]) bound(ctx context.Context, op string, lo, hi []float64, o *Options[P], prior []float64, began time.Time) (float64, error) {
	anchors, most := o.Places, cmp.Or(o.Anchors, defaultAnchors)
	lpo := &lp.Options{Tolerance: 1e-3, Workers: o.Workers}
	mass := 1.0
	if prior == nil {
		n := make([]int, m.on.dim)
		for k := range n {
			n[k] = max(1, int(math.Round(math.Pow(float64(most), 1/float64(m.on.dim)))))
		}
		for at := range lattice(n, 0) {
			x := make([]float64, len(n))
			for k, i := range at {
				x[k] = min(hi[k], lo[k]+float64((hi[k]-lo[k])*(float64(i)/float64(max(1, n[k]-1)))))
			}
			anchors = append(anchors, m.on.place(x))
		}
	} else {
		order := make([]int, len(prior))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(prior[b], prior[a]) })
		order = order[:min(most, len(order))]
		anchors, mass = nil, 0
		for _, i := range order {
			anchors, mass = append(anchors, o.Places[i]), mass+prior[i]
		}
		for _, i := range order {
			lpo.Prior = append(lpo.Prior, prior[i]/mass)
		}
	}
	inputs, err := metric.NewPoints(anchors, m.on.space)
	if err != nil {
		return 0, fault.Within(op, err)
	}
	both, err := metric.NewPoints(slices.Concat(anchors, m.outputs), m.on.space)
	if err != nil {
		return 0, fault.Within(op, err)
	}
	for y := range m.outputs {
		lpo.Outputs = append(lpo.Outputs, len(anchors)+y)
	}
	if o.TimeLimit > 0 {
		lpo.TimeLimit = max(time.Millisecond, o.TimeLimit-time.Since(began))
	}
	s, err := lp.Optimal(ctx, metric.Bimetric{Privacy: inputs, Utility: both}, m.on.g.Alpha(), lpo)
	if err != nil {
		return 0, fault.Within(op, err)
	}
	return max(0, s.DualBound*mass/slack/slack-m.on.blur), nil
}

// Guarantee is that of the noise: alpha per unit of the space, delta 0, for inputs anywhere.
func (m *Remap[P]) Guarantee() mechanism.Guarantee {
	if m == nil || m.on == nil {
		return mechanism.Guarantee{}
	}
	return m.on.g
}

// PrivacyLoss bounds the law of the privacy loss between two inputs at a distance > 0 by that of the
// noise, whatever the answers: see [mechanism.Composition.AuditAt].
func (m *Remap[P]) PrivacyLoss(distance float64) (mechanism.PrivacyLoss, error) {
	const op = "anywhere: Remap.PrivacyLoss"
	if err := m.check(op); err != nil {
		return mechanism.PrivacyLoss{}, err
	}
	law, err := m.on.noise.PrivacyLoss(distance)
	if err != nil {
		return mechanism.PrivacyLoss{}, fault.Within(op, err)
	}
	law.Bound, law.Below = true, nil
	return law, nil
}

func (m *Remap[P]) check(op string) error {
	return fault.Made(m != nil && m.on != nil, op, "Remap", "Line, Plane, Earth or Manhattan")
}

// String gives the figures.
func (m *Remap[P]) String() string {
	if err := m.check("anywhere"); err != nil {
		return err.Error()
	}
	unit := m.on.g.Unit()
	return fmt.Sprintf("noise and %d answers: loss %s, bound %s, %v", len(m.outputs), fault.Quantity(m.Loss, 4, unit), fault.Quantity(m.Bound, 4, unit), m.on.g)
}

// Release returns the index of an output for an input anywhere. An input that is no point of the
// space, or too far away for the noise of package additive, is an error before anything is drawn. A
// nil rng is secure, and the choice for private data. O(dimension), and O(outputs) where a cell
// answers for the first times.
func (m *Remap[P]) Release(rng *rand.Rand, x P) (int, error) {
	const op = "anywhere: Remap.Release"
	if err := m.check(op); err != nil {
		return 0, err
	}
	rng, done := random.Get(rng)
	defer done()
	y, err := m.on.draw(rng, x, make([]float64, 0, 3))
	if err != nil {
		return 0, fault.Within(op, err)
	}
	return m.answers.Release(rng, m.cells.find(y))
}

package accountant

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/lattice"
)

// veil is what hides one record that changes from x to x' among the others.
type veil interface {
	// logDelta bounds ln D_{e^eps} of the two multisets, whatever the other of the
	// records in all are.
	logDelta(ctx context.Context, records int64, eps float64) (float64, error)
	// key is equal for veils of equal bounds.
	key() string
}

const (
	// rowErr bounds the relative error of the probabilities that a channel reports.
	rowErr = 0x1p-41
	// massErr bounds that of sums and products of few of them.
	massErr = 0x1p-46
	// maxSummed is where more records stop to count: bounds decrease in N, and a
	// sum's error is N times that of a term.
	maxSummed = 1 << 40
)

// coarse rounds x >= 0 to 36 bits, so that equal numbers that were rounded differently are equal.
func coarse(x float64, up bool) float64 {
	const low = 1<<17 - 1
	b := math.Float64bits(x)
	if up {
		b += low
	}
	return math.Float64frombits(b &^ low)
}

// blanket is the veil of any randomizer. Each of the other records is, with probability b(y) = min
// over z of R_z(y), a draw y that says nothing of its value. Who knows which records are not, sees
// x's among draws of the blanket, and by Bayes' rule
//
//	D_{e^eps} <= (1/N) E (G_1 + .. + G_N)_+,
//
// the G_i independent, (R_x(y) - e^eps R_x'(y))/b(y) with probability b(y) and else 0. It is the
// divergence itself where all others are z and b is R_z. The mean is convex in each G_i: G moved to
// a lattice with its mean kept bounds it from above, and costs an order of the square of the spacing.
type blanket struct {
	outputs []output
	rest    float64 // 1 - sum of b, rounded up
	shown   float64 // the sum of R_x where b counts as 0, rounded up: it may show all
}

// output is one, or several of equal ratios.
type output struct {
	from, to float64 // R_x/b rounded up and R_x'/b rounded down
	mass     float64 // b, to massErr
}

// leastMass is where a probability counts as 0: a channel reports none below, or none
// that is right to rowErr.
const leastMass = 0x1p-1000

// newBlanket returns that of rows from and to, to rowErr; b is at most what every row
// has.
func newBlanket(from, to, b []float64) *blanket {
	parts := make([]output, 0, len(b))
	v := &blanket{}
	for y, m := range b {
		if m < leastMass {
			v.shown = directed.AddUp(v.shown, max(from[y]*(1+rowErr), 2*leastMass))
		} else {
			parts = append(parts, output{
				coarse(directed.DivUp(from[y]*(1+rowErr), m), true), coarse(directed.DivDown(to[y]*(1-rowErr), m), false), m})
		}
	}
	slices.SortFunc(parts, func(p, q output) int {
		return cmp.Or(cmp.Compare(p.from, q.from), cmp.Compare(p.to, q.to), cmp.Compare(p.mass, q.mass))
	})
	sum := 0.0
	for _, p := range parts {
		sum += p.mass
		if n := len(v.outputs); n > 0 && v.outputs[n-1].from == p.from && v.outputs[n-1].to == p.to {
			v.outputs[n-1].mass += p.mass
		} else {
			v.outputs = append(v.outputs, p)
		}
	}
	v.rest = max(0, 1-sum) + float64(float64(len(parts)+2)*0x1p-53)
	return v
}

func (v *blanket) key() string {
	var s strings.Builder
	fmt.Fprintf(&s, "%x ", coarse(v.shown, true))
	for _, o := range v.outputs {
		fmt.Fprintf(&s, "%x %x %x ", o.from, o.to, coarse(o.mass, false))
	}
	return s.String()
}

func (v *blanket) logDelta(ctx context.Context, records int64, eps float64) (float64, error) {
	const spread = 1e-4
	e := directed.ExpDown(min(eps, maxLevel))
	gains, masses, most := make([]float64, len(v.outputs)), make([]float64, len(v.outputs)), 0.0
	for i, o := range v.outputs {
		gains[i], masses[i] = directed.SubUp(o.from, directed.MulDown(e, o.to)), o.mass
		most = max(most, gains[i])
	}
	shown := math.Log(v.shown) // -Inf for 0
	if most <= 0 {
		return min(0, shown), nil
	}
	n := min(records, maxSummed)
	part, h := rounded(gains, masses, v.rest, n, spread)
	s, err := lattice.New(ctx, []lattice.Part{part}, 0)
	if err != nil {
		return 0, err
	}
	log := logAdd(s.Excess(0).Hi+math.Log(h)-math.Log(float64(n)), shown)
	if math.IsInf(log, -1) {
		return log, nil
	}
	return min(0, logUp(log)), nil
}

// rounded returns a variable with the values gains, of probabilities masses, and 0 of
// probability rest, over h and moved to integers with its mean kept, or a little more.
func rounded(gains, masses []float64, rest float64, records int64, spread float64) (lattice.Part, float64) {
	h := spacing(gains, masses, records, spread)
	return onLattice(gains, masses, rest, records, h), h * (1 + 0x1p-50)
}

// spacing makes an integer of one of the two gains that vary most, and is the largest found
// that widens the variance of their sum by no more than a share of spread.
func spacing(gains, masses []float64, records int64, spread float64) float64 {
	// The transform of few records falls slowly, and a fine lattice would be long.
	finest := float64(min(1<<16, max(1<<8, records)))
	variance, mean := 0.0, 0.0
	vary, order := make([]float64, len(gains)), make([]int, len(gains))
	for i, m := range masses {
		order[i], vary[i] = i, float64(m*gains[i]*gains[i])
		variance += vary[i]
		mean += float64(m * gains[i])
	}
	variance = max(variance-float64(mean*mean), variance*1e-9)
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(vary[j], vary[i]) })
	h, least := 0.0, math.Inf(1)
	for k := 1.0; k <= finest && least > spread; k = max(k+1, math.Floor(k*1.05)) {
		for _, i := range order[:min(2, len(order))] {
			try := math.Abs(gains[i]) / k
			if try == 0 || vary[i] < 1e-9*variance {
				continue
			}
			wider := 0.0
			for i, m := range masses {
				x := gains[i] / try
				f := x - math.Floor(x)
				wider += float64(m * f * (1 - f))
			}
			if wider *= try * try / variance; wider < least {
				h, least = try, wider
			}
		}
	}
	return h
}

// onLattice returns the variable of rounded for a spacing h.
func onLattice(gains, masses []float64, rest float64, records int64, h float64) lattice.Part {
	p := lattice.Part{Count: records, Err: massErr}
	moved := map[int64]float64{0: rest}
	for i, m := range masses {
		x := gains[i] / h
		lo := math.Floor(x)
		f := min(1, x-lo+float64(math.Abs(x)*0x1p-51)) // up, with which the mean grows
		moved[int64(lo)] += float64(m * (1 - f))
		moved[int64(lo)+1] += float64(m * f)
	}
	p.At, p.Mass = sorted(moved)
	return p
}

// sorted lists the positive masses by value.
func sorted(masses map[int64]float64) (at []int64, mass []float64) {
	for _, a := range slices.Sorted(maps.Keys(masses)) {
		if masses[a] > 0 {
			at, mass = append(at, a), append(mass, masses[a])
		}
	}
	return at, mass
}

// coins is the veil of randomizers with two outputs, of which the number S of ones
// among the others is a sum of Bernoullis, P{1} = R_z(1) in [lo, hi]. D is convex in
// each of these distributions, so that each is at an end. Of S, with a1 = R_x(1) -
// e^eps R_x'(1) > 0 and a0 = R_x(0) - e^eps R_x'(0),
//
//	D_{e^eps} = sum over s of (a1 P{S=s-1} + a0 P{S=s})_+ = max over t of a1 P{S>=t-1} + a0 P{S>=t},
//
// as P{S=s-1}/P{S=s} grows with s (Newton). How many of the others are at hi is not
// known; of any number the records are, but for one in ranges of them, j at hi and
// the rest at lo, and these hide no more than all.
type coins struct {
	from, to [2]float64 // P{1} of x and x', rounded down and up
	lo, hi   float64
}

// twoOutputs is the veil of a randomizer with two outputs, whose least and most
// probabilities are given.
func twoOutputs(from, to, least, most []float64) *coins {
	one := 1 // the output that x favors
	if from[1] < to[1] {
		one = 0
	}
	up := func(p float64) float64 { return min(1, coarse(p*(1+rowErr), true)) }
	down := func(p float64) float64 { return coarse(p*(1-rowErr), false) }
	return &coins{
		from: [2]float64{down(from[one]), up(from[one])}, to: [2]float64{down(to[one]), up(to[one])},
		lo: down(least[one]), hi: up(most[one]),
	}
}

// response is the veil of randomized response of level eps, of which every randomizer
// with two inputs and that level is a function.
func response(eps float64) *coins {
	wrong := coarse(directed.DivDown(1, directed.AddUp(1, directed.ExpUp(eps))), false)
	right := directed.SubUp(1, wrong)
	return &coins{[2]float64{right, right}, [2]float64{wrong, wrong}, wrong, right}
}

// ranges is how many numbers of others at hi are looked at: they cost a share of
// 1/ranges of the records, half of it in the level.
const ranges = 16

func (v *coins) key() string { return fmt.Sprintf("%x", *v) }

func (v *coins) logDelta(ctx context.Context, records int64, eps float64) (float64, error) {
	e := directed.ExpDown(min(eps, maxLevel))
	a1 := directed.SubUp(v.from[1], directed.MulDown(e, v.to[0]))
	if a1 <= 0 {
		return math.Inf(-1), nil
	}
	less := v.less(eps)
	others := min(records, maxSummed) - 1
	if others == 0 {
		return min(0, logUp(math.Log(a1))), nil
	}
	most, width := math.Inf(-1), others/ranges
	for j := int64(0); ; j += width + 1 {
		j = min(j, others-width)
		d, err := v.among(ctx, a1, less, j, others-width-j)
		if err != nil {
			return 0, err
		}
		if most = max(most, d); j == others-width {
			return min(0, most), nil
		}
	}
}

// less is -a0-a1, rounded down: e^eps-1 but for what the probabilities were rounded by.
func (v *coins) less(eps float64) float64 {
	return directed.SubDown(directed.MulDown(directed.ExpDown(eps), directed.SubDown(1, directed.SubUp(v.to[1], v.to[0]))),
		directed.AddUp(1, directed.SubUp(v.from[1], v.from[0])))
}

// among bounds the logarithm of the largest a1 P{S=t-1} - less P{S>=t}, which is what
// is wanted with less = -a0-a1, where high of the others are at hi and low at lo. It
// rises to one t, where P{S=t-1}/P{S=t} is -a0/a1, and falls from there.
func (v *coins) among(ctx context.Context, a1, less float64, high, low int64) (float64, error) {
	parts := []lattice.Part{
		{Count: high, At: []int64{0, 1}, Mass: []float64{1 - v.hi, v.hi}, Err: 0x1p-53},
		{Count: low, At: []int64{0, 1}, Mass: []float64{1 - v.lo, v.lo}, Err: 0x1p-53},
	}
	mean, _ := lattice.Moments(parts, math.Log1p(max(-0.5, less/a1)))
	center := int64(math.Round(mean)) + 1
	s, err := lattice.New(ctx, parts, center)
	if err != nil {
		return 0, err
	}
	unit := s.At(center - 1).Hi
	if math.IsInf(unit, 0) {
		unit = 0
	}
	at := func(t int64) (up, down float64) { // in units of e^unit
		p, q := s.At(t-1), s.Tail(t)
		far, near := float64(less*math.Exp(q.Lo-unit)), float64(less*math.Exp(min(0, q.Hi)-unit))
		return float64(a1*math.Exp(p.Hi-unit)) - min(far, near), float64(a1*math.Exp(p.Lo-unit)) - max(far, near)
	}
	most, sure := at(center)
	for _, step := range [...]int64{1, -1} {
		for t := center + step; t >= 0 && t <= high+low+2; t += step {
			up, down := at(t)
			most, sure = max(most, up), max(sure, down)
			if up < sure {
				break // and falls on this side
			}
		}
	}
	if most <= 0 {
		return math.Inf(-1), nil
	}
	return logUp(math.Log(most) + unit), nil
}

package demo

import (
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// maxShown is the largest magnitude that a chart shows.
const maxShown = 1e100

// onAxis says whether an axis has a place for v.
func onAxis(v float64, log bool) bool {
	if log {
		return v >= 1/maxShown && v <= maxShown
	}
	return math.Abs(v) <= maxShown // false for NaN
}

// wantTicks is about how many labels an axis should bear, where it is long enough.
const wantTicks = 7

// ticks marks an axis with as many labels as keep apart; nil takes all to do so.
func ticks(lo, hi float64, log bool, apart func([]plot.Tick) bool) []plot.Tick {
	var marks []plot.Tick
	for want := wantTicks; want >= 2; want-- {
		if log {
			marks = logTicks(lo, hi, want)
		} else {
			marks = linearTicks(lo, hi, want)
		}
		if apart == nil || apart(marks) {
			break
		}
	}
	return marks
}

// axisRange collects the values that an axis must show.
type axisRange struct {
	log    bool
	lo, hi float64
}

func newRange(log bool) *axisRange { return &axisRange{log, math.Inf(1), math.Inf(-1)} }

func (r *axisRange) add(v float64) { r.lo, r.hi = min(r.lo, v), max(r.hi, v) }

// apply sets the limits of a, with 4 % of air on either side. A single value
// gets room around it: a tenth of itself, or a factor of two.
func (r *axisRange) apply(a *plot.Axis) {
	const air = 0.04
	switch {
	case r.log && r.lo == r.hi:
		a.Min, a.Max = r.lo/2, r.hi*2
	case r.log:
		f := math.Pow(r.hi/r.lo, air)
		a.Min, a.Max = r.lo/f, r.hi*f
	case r.hi-r.lo <= 1/maxShown:
		d := max(math.Abs(r.lo)/10, 1/maxShown)
		a.Min, a.Max = r.lo-d, r.hi+d
	default:
		d := air * (r.hi - r.lo)
		a.Min, a.Max = r.lo-d, r.hi+d
	}
}

// linearTicks labels multiples of 1, 2 or 5 times a power of ten, about want of them.
func linearTicks(lo, hi float64, want int) []plot.Tick {
	raw := (hi - lo) / float64(want)
	power := math.Floor(math.Log10(raw))
	ten := math.Pow(10, power)
	step := ten
	switch m := raw / ten; {
	case m > 5:
		step, power = 10*ten, power+1
	case m > 2:
		step = 5 * ten
	case m > 1:
		step = 2 * ten
	}
	var ticks []plot.Tick
	first := math.Ceil(lo / step)
	for i := range 2 * wantTicks { // a fixed count: first+i may stand still
		v := (first + float64(i)) * step
		if v > hi {
			break
		}
		if v < lo { // rounded
			continue
		}
		ticks = append(ticks, plot.Tick{Value: v, Label: tickLabel(v, step, int(power))})
	}
	return ticks
}

// tickLabel writes a multiple of step, which is 1, 2 or 5 times 10^power,
// with no more decimals than the step needs.
func tickLabel(v, step float64, power int) string {
	if math.Abs(v) < step/2 {
		return "0"
	}
	if a := math.Abs(v); a >= 1e7 || a < 1e-4 {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	return strconv.FormatFloat(v, 'f', max(0, -power), 64)
}

// logTicks marks 1, 2, ..., 9 times every power of ten and labels as many of
// them as make about want labels. Less than a factor of 5 is labeled as a linear
// axis is.
func logTicks(lo, hi float64, want int) []plot.Tick {
	decades := math.Log10(hi) - math.Log10(lo)
	crowd := decades * wantTicks / float64(want)
	var labeled string
	switch {
	case decades < 0.7:
		return linearTicks(lo, hi, want)
	case crowd < 2.5:
		labeled = "125"
	case crowd < 4.5:
		labeled = "13"
	default:
		labeled = "1"
	}
	every := max(1, int(math.Ceil(crowd/(2*wantTicks))))
	var ticks []plot.Tick
	for e := int(math.Floor(math.Log10(lo))); e <= int(math.Ceil(math.Log10(hi))); e++ {
		for m := '1'; m <= '9'; m++ {
			// Parsed, so that a label reads 0.3 and not 0.30000000000000004.
			v, _ := strconv.ParseFloat(string(m)+"e"+strconv.Itoa(e), 64)
			if v < lo || v > hi {
				continue
			}
			t := plot.Tick{Value: v}
			if strings.ContainsRune(labeled, m) && e%every == 0 {
				t.Label = logLabel(v)
			}
			if t.Label != "" || every == 1 {
				ticks = append(ticks, t)
			}
		}
	}
	return ticks
}

func logLabel(v float64) string {
	if v >= 1e6 || v < 1e-4 {
		return strconv.FormatFloat(v, 'e', 0, 64)
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

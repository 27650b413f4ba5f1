package scale

import "fmt"

// Interval is a rigorous enclosure of a number: Lo <= it <= Hi, proved by the
// witnesses of the type around it, in arithmetic rounded outward.
type Interval struct{ Lo, Hi float64 }

// Exact reports whether the ends coincide.
func (i Interval) Exact() bool { return i.Lo == i.Hi }

// Width is Hi - Lo.
func (i Interval) Width() float64 { return i.Hi - i.Lo }

// Contains reports whether x lies in the closed interval.
func (i Interval) Contains(x float64) bool { return i.Lo <= x && x <= i.Hi }

// String is the interval in brackets, or one number where the ends agree in the six digits shown.
func (i Interval) String() string {
	lo, hi := fmt.Sprintf("%.6g", i.Lo), fmt.Sprintf("%.6g", i.Hi)
	if lo == hi {
		return lo
	}
	return "[" + lo + ", " + hi + "]"
}

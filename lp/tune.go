package lp

// A program whose mechanism is more private than its own budget says can be
// solved with a larger one. Tuning stops where the audited level is within
// tuneShare of alpha, where the budget is known to within tuneStep of alpha, or
// after tuneSolves programs.
const (
	tuneShare  = 0.01
	tuneStep   = 0.005
	tuneSolves = 8
	// tuneInside keeps guesses off the ends of the bracket, relative.
	tuneInside = 0.15
)

// tune looks for the largest fraction in [lo, 1] of alpha for which try finds
// an audited level of at most 1, in units of alpha. It begins at lo, where that
// holds; that levels grow is for speed only. try returns false to stop.
func tune(lo float64, try func(fraction float64) (level float64, more bool, err error)) error {
	level, more, err := try(lo)
	if err != nil {
		return err
	}
	hi, above := 1.0, 0.0 // above: the level at hi, 0 as long as it is unknown
	const aim = 1 - tuneShare/2
	for n := 1; n < tuneSolves && more && level < 1-tuneShare && hi-lo > tuneStep; n++ {
		next := 1.0
		if above > 0 {
			next = lo + (hi-lo)*(aim-level)/(above-level)
			next = min(max(next, lo+float64(tuneInside*(hi-lo))), hi-float64(tuneInside*(hi-lo)))
		} else if level > 0 {
			next = min(1, lo*aim/level)
		}
		var got float64
		if got, more, err = try(next); err != nil {
			return err
		}
		if got <= 1 {
			lo, level = next, got
		} else {
			hi, above = next, got
		}
	}
	return nil
}

package mechanism

import (
	"fmt"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/fault"
)

// Track releases sequences of inputs, such as the fixes of a walk, through a [Sticky]: an input
// that is new costs the level of the mechanism, one that comes back nothing. The guarantee is
// that of [Sticky], where many new inputs have less than the sum at a delta, and the pattern of equal inputs is public, as is the length.
//
// Where a track starts and ends may say most. [TrackOptions.Ends] leaves out a fixed number of
// inputs at both ends, on which the outputs then do not depend. Leaving out what lies within a
// radius of a secret place is no such rule: what is missing draws a circle around it. A Track
// is a [Memoizer], and is safe for concurrent use.
type Track[X, Y any] struct {
	sticky *Sticky[X, Y]
	ends   int
}

// TrackOptions are for [NewTrack]. nil and the zero value are the defaults.
type TrackOptions struct {
	// Ends is how many inputs are left out at the start, and as many at the end. The
	// number is public, and must be chosen without looking at the track.
	Ends int
}

// NewTrack returns the mechanism of tracks. Several tracks of one person share the Sticky,
// so that a place is drawn once for all of them. Negative Ends are a [*metric.ValueError].
func NewTrack[X, Y any](s *Sticky[X, Y], o *TrackOptions) (*Track[X, Y], error) {
	const op = "mechanism: NewTrack"
	if err := s.check(op); err != nil {
		return nil, err
	}
	t := &Track[X, Y]{sticky: s}
	if o != nil {
		t.ends = o.Ends
	}
	if t.ends < 0 {
		return nil, fault.Value(op, "Ends", float64(t.ends), "an integer >= 0")
	}
	return t, nil
}

func (t *Track[X, Y]) check(op string) error {
	return fault.Made(t != nil && t.sticky != nil, op, "Track", "NewTrack")
}

// part is the track without its ends.
func (t *Track[X, Y]) part(xs []X) []X {
	if t.ends >= len(xs)-t.ends {
		return nil
	}
	return xs[t.ends : len(xs)-t.ends]
}

// Guarantee is that of the mechanism, per unit of the sum of the distances of distinct
// inputs. [Track.Level] is the level of a whole track.
func (t *Track[X, Y]) Guarantee() Guarantee {
	if t == nil {
		return Guarantee{}
	}
	return t.sticky.Guarantee()
}

// Level is the guarantee of one track as a whole, per unit of the largest distance that one of
// its inputs is moved by: at a distance d it holds against every track of the same pattern
// whose inputs are each at most d from these. It is that of the mechanism times the number of
// distinct inputs but for the ends, those with answers from earlier tracks too.
func (t *Track[X, Y]) Level(xs []X) (Guarantee, error) {
	const op = "mechanism: Track.Level"
	if err := t.check(op); err != nil {
		return Guarantee{}, err
	}
	distinct := map[string]bool{}
	for i, x := range t.part(xs) {
		value, err := t.sticky.value(x)
		if err != nil {
			return Guarantee{}, fmt.Errorf("%s: xs[%d]: %w", op, t.ends+i, err)
		}
		distinct[string(value)] = true
	}
	return t.Guarantee().Times(len(distinct)), nil
}

// Memoized is true.
func (t *Track[X, Y]) Memoized() bool { return true }

// String gives the mechanism of the inputs.
func (t *Track[X, Y]) String() string {
	if err := t.check("mechanism: Track"); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("track without %d inputs at each end; %v", t.ends, t.sticky)
}

// Release returns an answer for every input but those at the ends, none where there are
// no others. After an error of [Sticky.Release], which names the position in xs, ys are
// the answers before it; what these cost is spent, and asked again they are the same.
func (t *Track[X, Y]) Release(rng *rand.Rand, xs []X) (ys []Y, err error) {
	const op = "mechanism: Track.Release"
	if err := t.check(op); err != nil {
		return nil, err
	}
	for i, x := range t.part(xs) {
		y, err := t.sticky.Release(rng, x)
		if err != nil {
			return ys, fault.Within(fmt.Sprintf("%s: xs[%d]", op, t.ends+i), err)
		}
		ys = append(ys, y)
	}
	return ys, nil
}

package mechanism

import (
	"cmp"
	"fmt"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/knots"
)

// Track releases sequences of inputs, such as the fixes of a walk, input by input. Through a [Sticky] an
// input that is new costs the level of the mechanism, one that comes back nothing; the pattern of equal
// inputs is public, as is the length. Through a mechanism that draws anew every input costs, and the
// guarantee is against every track of that length; then [TrackOptions.Every] keeps the sum small. For
// points of the plane and of the Earth NewTrail and NewKnots of package additive have less noise.
//
// Where a track starts and ends may say most. [TrackOptions.Ends] leaves out a fixed number of inputs at
// both ends, on which the outputs then do not depend. Leaving out what lies within a radius of a secret
// place draws a circle around it. A Track repeats draws where its mechanism does ([ErrMemoized]), and is
// as safe for concurrent use.
type Track[X, Y any] struct {
	m     Mechanism[X, Y]
	ends  int
	every int
}

// TrackOptions are for [NewTrack]. nil and the zero value are the defaults. All are public, and
// must be chosen without looking at the track.
type TrackOptions struct {
	// Ends is how many inputs are left out at the start, and as many at the end.
	Ends int
	// Every is how many of the other inputs there are for each that is released, those in the
	// middle of ceil(n/Every) parts of equal length, up to one; 0 means 1. The others get the answer
	// of the one that is nearest in time.
	Every int
}

// NewTrack returns the mechanism of tracks whose inputs m releases. Several tracks of one person share a
// Sticky, so that a place is drawn once for all of them. Without one, for a level a of whole tracks of n
// inputs, m has the level a/ceil(n/Every), and another m that repeats draws, as what [Then] makes of a
// Sticky, is [ErrMemoized]: the Sticky goes around it. Negative options are a [*metric.ValueError].
func NewTrack[X, Y any](m Mechanism[X, Y], o *TrackOptions) (*Track[X, Y], error) {
	const op = "mechanism: NewTrack"
	if s, ok := m.(*Sticky[X, Y]); ok {
		if err := s.check(op); err != nil {
			return nil, err
		}
	} else if err := fault.Independent(m); err != nil {
		return nil, fmt.Errorf("%s: m: %w", op, err)
	}
	if m == nil {
		return nil, fault.Empty(op, "m", 0)
	}
	t := &Track[X, Y]{m: m}
	if o != nil {
		t.ends, t.every = o.Ends, o.Every
	}
	if err := cmp.Or(whole(op, "Ends", t.ends), whole(op, "Every", t.every)); err != nil {
		return nil, err
	}
	return t, nil
}

func whole(op, arg string, n int) error {
	if n < 0 {
		return fault.Value(op, arg, float64(n), "an integer >= 0")
	}
	return nil
}

func (t *Track[X, Y]) check(op string) error {
	return fault.Made(t != nil && t.m != nil, op, "Track", "NewTrack")
}

// part is the track without its ends.
func (t *Track[X, Y]) part(xs []X) []X {
	if t.ends >= len(xs)-t.ends {
		return nil
	}
	return xs[t.ends : len(xs)-t.ends]
}

// Guarantee is that of the mechanism, per unit of the sum of the distances of the inputs that
// are released, of a Sticky the distinct ones. [Track.Level] is the level of a whole track.
func (t *Track[X, Y]) Guarantee() Guarantee {
	if t == nil || t.m == nil {
		return Guarantee{}
	}
	return t.m.Guarantee()
}

// Level is the guarantee of one track as a whole, per unit of the largest distance that one of its inputs
// is moved by, against every track of the same length, and of a Sticky the same pattern. It is that of the
// mechanism times the number of inputs that are released: of a Sticky the distinct ones, those with
// answers from earlier tracks too.
func (t *Track[X, Y]) Level(xs []X) (Guarantee, error) {
	const op = "mechanism: Track.Level"
	if err := t.check(op); err != nil {
		return Guarantee{}, err
	}
	part := t.part(xs)
	at := knots.At(len(part), t.every)
	s, ok := t.m.(*Sticky[X, Y])
	if !ok {
		return t.Guarantee().Times(len(at)), nil
	}
	distinct := map[string]bool{}
	for _, i := range at {
		value, err := s.value(part[i])
		if err != nil {
			return Guarantee{}, fmt.Errorf("%s: xs[%d]: %w", op, t.ends+i, err)
		}
		distinct[string(value)] = true
	}
	return t.Guarantee().Times(len(distinct)), nil
}

// Memoized tells whether the mechanism of the inputs repeats draws.
func (t *Track[X, Y]) Memoized() bool { return t != nil && memoized(t.m) }

// String gives the mechanism of the inputs.
func (t *Track[X, Y]) String() string {
	if err := t.check("mechanism: Track"); err != nil {
		return err.Error()
	}
	few := ""
	if t.every > 1 {
		few = fmt.Sprintf(", released by one of %d", t.every)
	}
	return fmt.Sprintf("track without %d inputs at each end%s; %s", t.ends, few, fault.Describe(t.m))
}

// Release returns an answer for every input but those at the ends, none where there are no others. After an
// error of the mechanism's Release, which names the position in xs, ys are the answers of inputs that were
// released before it; what these cost is spent, and a Sticky that is asked again answers the same.
func (t *Track[X, Y]) Release(rng *rand.Rand, xs []X) (ys []Y, err error) {
	const op = "mechanism: Track.Release"
	if err := t.check(op); err != nil {
		return nil, err
	}
	part := t.part(xs)
	at := knots.At(len(part), t.every)
	for j, i := range at {
		y, err := t.m.Release(rng, part[i])
		if err != nil {
			return ys, fault.Within(fmt.Sprintf("%s: xs[%d]", op, t.ends+i), err)
		}
		end := len(part) // of the answer
		if j+1 < len(at) {
			end = (i + at[j+1] + 1) / 2
		}
		for len(ys) < end {
			ys = append(ys, y)
		}
	}
	return ys, nil
}

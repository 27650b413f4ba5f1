package additive

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/knots"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism"
)

// LiveTrail is a trail under way. It holds a few true positions, those where nodes of its tree
// began, and is as private as they are. It serves one goroutine at a time, and is not safe to
// copy or to restore: what is reported twice from one state costs twice.
type LiveTrail[P any] struct {
	t     *Trail[P]
	n     int           // reports
	first [2]float64    // the start's
	open  []openNode[P] // of each level
	found [][]trailNode // of each level, those complete
}

// openNode is where the node under way of a level began: the true position, the released one, and
// how many nodes of the next level were complete.
type openNode[P any] struct {
	x    P
	y    [2]float64
	kids int
}

// trailNode is a node's increment, as its own observation and its children tell it, and its
// variance at alpha = 1.
type trailNode struct {
	z    [2]float64
	v    float64
	kids int // children
}

// Next reports the position x, one step after the last. It depends on positions up to now only. An error,
// of an x outside the domain or after Steps reports, draws nothing and leaves the trail as it was.
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
		z, from := l.complete(rng, top-1, x).z, l.open[top-1].y
		y = [2]float64{from[0] + z[0], from[1] + z[1]}
	}
	for k := top; k < len(levels); k++ {
		l.open[k] = openNode[P]{x: x, y: y}
		if k+1 < len(levels) {
			l.open[k].kids = len(l.found[k+1])
		}
	}
	l.n++
	return y
}

// complete ends the node of level k at x.
func (l *LiveTrail[P]) complete(rng *rand.Rand, k int, x P) trailNode {
	a := trailNode{z: l.t.draw(rng, x, l.open[k].x, l.t.levels[k].rate), v: l.t.levels[k].variance}
	if k+1 < len(l.found) {
		kids := l.found[k+1][l.open[k].kids:]
		s := total(kids)
		own := s.v / (a.v + s.v)
		for i := range a.z {
			a.z[i] = float64(own*a.z[i]) + float64((1-own)*s.z[i])
		}
		a.v *= own
		a.kids = len(kids)
	}
	l.found[k] = append(l.found[k], a)
	return a
}

func total(nodes []trailNode) (s trailNode) {
	for _, a := range nodes {
		s.z[0] += a.z[0]
		s.z[1] += a.z[1]
		s.v += a.v
	}
	return s
}

// Track returns all positions so far as all increments so far tell them together, by least squares: nearer
// than those reported as time passed, by a sixth for 64 reports, and free, as post-processing. O(n).
func (l *LiveTrail[P]) Track() []P {
	fault.Must(l, l.check("additive: LiveTrail.Track"))
	return l.t.on.interpolate(l.n, knots.At(l.n, 1), l.positions())
}

// positions is Track on the map.
func (l *LiveTrail[P]) positions() [][2]float64 {
	// From above, a node's children share the difference of its increment and theirs by their
	// variances. An incomplete node has no increment of its own.
	var above, nodes []trailNode
	for _, found := range l.found {
		nodes = slices.Clone(found)
		at := 0
		for _, up := range above {
			part := nodes[at : at+up.kids]
			at += up.kids
			s := total(part)
			for i := range part {
				for c, z := range s.z {
					part[i].z[c] += float64((up.z[c] - z) * (part[i].v / s.v))
				}
			}
		}
		above = nodes
	}
	at := l.first
	track := [][2]float64{at}
	for _, a := range nodes {
		at = [2]float64{at[0] + a.z[0], at[1] + a.z[1]}
		track = append(track, at)
	}
	return track
}

// Level is the guarantee of the reports so far per unit of the largest distance that any of them
// is moved by, as [Trail.Level].
func (l *LiveTrail[P]) Level() mechanism.Guarantee {
	fault.Must(l, l.check("additive: LiveTrail.Level"))
	return l.t.level(l.t.levels, l.n, false)
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

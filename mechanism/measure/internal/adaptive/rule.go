package adaptive

import (
	"math"

	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
)

// State is what a [Rule] knows of a node besides the shape of the tree: functions
// of noisy counts of nodes that were drawn before, and of its own.
type State struct {
	Mass      float64 // of the records, at least 0
	Left      int64   // quanta
	Above     int64   // quanta spent on its count
	Spread    float64 // see [Adaptive]
	Divisions int     // above the node
	Height    int     // of the tree below it
	unit      float64
}

// Shape is how a node is divided, by public knowledge.
type Shape struct {
	Levels int     // of the tree, that are taken at once
	Bits   float64 // the logarithm of the number of parts
	Shrink float64 // that of the node's size in sizes of parts which can be divided
	Last   bool    // all parts are cells
}

func shapeOf(t region.Tree, v region.Node, levels int, below []region.Node) Shape {
	s := Shape{Levels: levels, Bits: math.Log2(float64(len(below))), Last: true}
	sum, n := 0.0, 0
	for _, w := range below {
		if t.Height(w) > 0 {
			s.Last = false
			sum += t.Length(w)
			n++
		}
	}
	if length := t.Length(v); !s.Last && length > 0 {
		s.Shrink = math.Log2(length / (sum / float64(n)))
	}
	return s
}

// Rule divides nodes and the budget. It must be a function of its arguments and of
// public knowledge.
type Rule interface {
	// Levels is how many levels of the tree to take at once below a node, of which
	// there is at least one; 0 makes it a leaf. width is as region.Tree.Width.
	Levels(s *State, width func(r int) int) int
	// Quanta is what their counts get. It is raised to 1, and cut at what is left.
	Quanta(s *State, shape Shape) int64
}

// Adaptive is the rule whose constants were found by simulation of W1 in one to three dimensions for
// N eps from 10^2 to 10^4, on data other than those of BenchmarkW1 of package measure.
//
// Spread is about the share of the dimension that records fill: the mean of that of the node above
// and of the entropy of the masses of its parts, in units of that of even masses. A node of mass m
// and rate R left has room for log2(m R/threshold)/(Spread*bits of a level) more levels until too
// few records are left, made in divisions of about equal arity. What their noise costs in W1 goes
// with the number of occupied nodes and with their size; the budgets that minimize the sum are a
// geometric series, which never falls, and the division at hand gets its share.
//
// A node is divided where m e and m R pass the threshold, e the rate of its count; the root always.
// A twentieth of R is spent at least, so that there are at most 20 N R/threshold divisions below a
// root of mass N: over those with j others above them, the sum of m R is at most .95^j N R.
type Adaptive struct{}

const (
	threshold   = 2.0
	rootBits    = 1.4 // that records fill of a level which halves sizes
	leastSpread = 0.05
	leastShare  = 0.05 // of what is left
	mostShare   = 0.9
)

// rootSpread takes the first level.
func rootSpread(s Shape) float64 { return min(1, rootBits*max(s.Shrink, 1)/s.Bits) }

// mostLevels is how many levels may be taken at once: such that there are at most
// 16 parts, or two levels with at most 64.
func mostLevels(height int, width func(r int) int) int {
	r := 1
	for r < height && r < 4 {
		if w := width(r + 1); w > 16 && !(r == 1 && w <= 64) {
			break
		}
		r++
	}
	return r
}

// room is how many levels there are to go, of the given number of bits. On the
// line, whose noise adds up on the way, they are fewer.
func (s *State) room(bits float64) float64 {
	few := max(threshold, 2*threshold/bits)
	levels := math.Log2(max(2, s.Mass*float64(s.Left)*s.unit/few)) / max(s.Spread*bits, leastSpread)
	return min(levels, float64(s.Height))
}

func (Adaptive) Levels(s *State, width func(r int) int) int {
	if s.Divisions > 0 && s.Mass*float64(min(s.Left, s.Above))*s.unit <= threshold {
		return 0
	}
	most := mostLevels(s.Height, width)
	room := s.room(math.Log2(float64(width(most))) / float64(most))
	r := math.Round(room / max(1, math.Round(room/float64(most))))
	return int(min(max(r, 1), float64(most)))
}

func (Adaptive) Quanta(s *State, shape Shape) int64 {
	if shape.Last {
		return s.Left
	}
	left := s.room(shape.Bits/float64(shape.Levels)) / float64(shape.Levels) // divisions
	ratio := max(1, math.Exp2((float64(s.Spread*shape.Bits)-shape.Shrink)/2))
	sum, power := 0.0, 1.0
	for ; left > 0; left-- {
		sum += float64(power * min(1, left))
		power *= ratio
	}
	share := min(max(1/sum, leastShare), mostShare)
	return int64(math.Ceil(share * float64(s.Left)))
}

// spreadBelow is the spread of parts of the given masses, of sum m.
func spreadBelow(spread float64, masses []float64, m float64) float64 {
	if len(masses) < 2 || !(m > 0) {
		return spread
	}
	entropy := 0.0
	for _, x := range masses {
		if p := x / m; p > 0 {
			entropy -= float64(p * math.Log2(p))
		}
	}
	return min(max((spread+entropy/math.Log2(float64(len(masses))))/2, 0), 1)
}

// Fixed divides all nodes alike: Steps[j] levels at once below j divisions, with the
// part of what is left that Shares[j] is of it and those after it. A node ends where
// mass times the rate of its parts is at most Prune; with 0 none does.
type Fixed struct {
	Steps  []int
	Shares []float64 // > 0
	Prune  float64
}

func (f Fixed) Levels(s *State, _ func(int) int) int {
	j := s.Divisions
	if j >= len(f.Steps) || j > 0 && f.Prune > 0 && s.Mass*float64(f.Quanta(s, Shape{}))*s.unit <= f.Prune {
		return 0
	}
	return min(f.Steps[j], s.Height)
}

func (f Fixed) Quanta(s *State, shape Shape) int64 {
	rest := 0.0
	for _, x := range f.Shares[s.Divisions:] {
		rest += x
	}
	if x := f.Shares[s.Divisions]; x < rest && !shape.Last {
		return int64(x / rest * float64(s.Left))
	}
	return s.Left
}

package adaptive

import "math"

// State is what a [Rule] knows of a node besides the shape of the tree: functions
// of noisy counts.
type State struct {
	Mass      float64 // of the records, at least 0
	Left      int64   // quanta
	Above     int64   // quanta spent on the last count
	Spread    float64 // see [Adaptive]
	Divisions int     // above the node
	Height    int     // of the tree below it
	unit      float64
	fine      int64 // the refined count: private
}

// Shape is how a node is divided, by public knowledge.
type Shape struct {
	Levels int     // of the tree, that are taken at once
	Bits   float64 // the logarithm of the number of parts
	Shrink float64 // that of the node's size in sizes of parts which can be divided
	Last   bool    // all parts are cells
}

func shapeOf[V any](t Tree[V], v V, levels int, below []V) Shape {
	s := Shape{Levels: levels, Bits: math.Log2(float64(len(below))), Last: true}
	sum, n := 0.0, 0
	for _, w := range below {
		if t.Height(w) > 0 {
			s.Last = false
			sum += t.Side(w)
			n++
		}
	}
	if !s.Last {
		s.Shrink = math.Log2(t.Side(v) / (sum / float64(n)))
	}
	return s
}

// Rule divides nodes and the budget. It must be a function of its arguments, and
// of public knowledge.
type Rule interface {
	// Levels is how many levels of the tree to take at once below a node, of which
	// there is at least one; 0 makes it a leaf. width is as Tree.Width.
	Levels(s *State, width func(r int) int) int
	// Quanta is what their counts get. It is raised to 1, and cut at what is left.
	Quanta(s *State, shape Shape) int64
}

// Adaptive is the rule whose constants were found by simulation of W1 on uniform
// and clustered records, on a line, at atoms, of cities and of traces, in one to
// three dimensions and for N eps from 10^2 to 10^6.
//
// Spread is what part of the parts records were found in, so to speak: the mean
// of that of the node above and of the entropy of the masses of its parts, in
// units of that of even masses. With it a node of mass m and budget R has room for
// log2(m R/Threshold)/(Spread*bits of a level) more levels until too few records
// are left, which are divided among divisions of about equal arity. Their noise
// costs in W1 what the number of occupied nodes times their size says; the budgets
// of a geometric series minimize the sum, and the division at hand gets its share.
//
// A node is divided where m R > Threshold, and the root always. At least a tenth
// of R is spent, so that there are at most 10 m R/Threshold divisions below a node:
// the sum of m R over the divisions that have j others above them is at most .9^j
// that of the root.
type Adaptive struct{}

var (
	threshold   = 2.0
	kappa       = 1e9
	qmin        = 0.
	rootDim     = 1.4
	topExp      = 0.
	gBelow      = 0.
	shift       = 0.
	slope       = 1.
	decay       = 0.5
	leastSpread = 0.05 // for the number of levels
	leastShare  = 0.1  // of what is left
	mostShare   = 0.9
)

func rootSpread(width int) float64 { return min(1, rootDim/math.Log2(float64(width))) }

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

// room is how many levels there are to go, of the given number of bits.
func (s *State) room(bits float64) float64 {
	level := math.Log2(max(2, s.Mass*float64(s.Left)*s.unit/threshold)) / max(s.Spread*bits, leastSpread)
	return min(level, float64(s.Height))
}

// Levels implements [Rule].
func (Adaptive) Levels(s *State, width func(r int) int) int {
	if s.Divisions > 0 && s.Mass*min(float64(s.Left), kappa*float64(s.Above))*s.unit <= threshold {
		return 0
	}
	most := mostLevels(s.Height, width)
	room := s.room(math.Log2(float64(width(most))) / float64(most))
	r := math.Round(room / max(1, math.Round(room/float64(most))))
	return int(min(max(r, 1), float64(most)))
}

// Quanta implements [Rule].
func (Adaptive) Quanta(s *State, shape Shape) int64 {
	if shape.Last {
		return s.Left
	}
	left := s.room(shape.Bits/float64(shape.Levels)) / float64(shape.Levels) // divisions
	ratio := max(math.Exp2(slope*(s.Spread*shape.Bits-shape.Shrink+shift*float64(shape.Levels))/2), qmin)
	sum, power := 0.0, 1.0
	for ; left > 0; left-- {
		sum += power * min(1, left)
		power *= ratio
	}
	least := 1 - math.Pow(1-leastShare, float64(shape.Levels))
	share := min(max(1/sum, least), mostShare)
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
	return min(max(decay*spread+(1-decay)*entropy/math.Log2(float64(len(masses))), 0), 1)
}

// Fixed divides every node alike: Steps[j] levels at once below j divisions, with
// Shares[j] of the budget of a path. A node of less mass than Prune over the
// rate of its parts' noise ends; with Prune = 0 none does.
type Fixed struct {
	Steps  []int
	Shares []float64 // of sum 1 at most
	Prune  float64
}

func (f Fixed) quanta(s *State) int64 {
	return min(s.Left, int64(f.Shares[s.Divisions]*quanta))
}

// Levels implements [Rule].
func (f Fixed) Levels(s *State, _ func(int) int) int {
	j := s.Divisions
	if j >= len(f.Steps) || j > 0 && f.Prune > 0 && s.Mass*float64(f.quanta(s))*s.unit <= f.Prune {
		return 0
	}
	return min(f.Steps[j], s.Height)
}

// Quanta implements [Rule].
func (f Fixed) Quanta(s *State, shape Shape) int64 {
	if s.Divisions == len(f.Steps)-1 || shape.Last {
		return s.Left
	}
	return f.quanta(s)
}

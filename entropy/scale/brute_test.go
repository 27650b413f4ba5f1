package scale

import (
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/entropy/internal/spaces"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// This file is the slow reference of the package: packing and covering numbers from all subsets,
// and the four scales from their definitions, for spaces of at most 12 points or so.

// brutePacking is the largest number of points of pts with pairwise distances
// > s, from all subsets that have them.
func brutePacking(f metric.Finite, pts []int, s float64) int {
	best := 0
	var grow func(set []int, rest []int)
	grow = func(set, rest []int) {
		best = max(best, len(set))
		for k, i := range rest {
			ok := true
			for _, j := range set {
				ok = ok && f.Distance(i, j) > s
			}
			if ok {
				grow(append(set, i), rest[k+1:])
			}
		}
	}
	grow(make([]int, 0, len(pts)), pts)
	return best
}

// bruteBall is the closed ball of radius r around x.
func bruteBall(f metric.Finite, x int, r float64) []int {
	var ball []int
	for y := range f.Len() {
		if f.Distance(x, y) <= r {
			ball = append(ball, y)
		}
	}
	return ball
}

// bruteValues returns 0 and the distances of f, ascending, each once.
func bruteValues(f metric.Finite) []float64 {
	v := []float64{0}
	for i := range f.Len() {
		for j := range i {
			v = append(v, f.Distance(i, j))
		}
	}
	slices.Sort(v)
	return slices.Compact(v)
}

// packings remembers brute-force packing numbers by set and separation.
type packings struct {
	f    metric.Finite
	seen map[[2]uint64]int
}

func (p *packings) number(pts []int, s float64) int {
	var key [2]uint64
	for _, i := range pts {
		key[0] |= 1 << i
	}
	key[1] = math.Float64bits(s)
	v, ok := p.seen[key]
	if !ok {
		v = brutePacking(p.f, pts, s)
		p.seen[key] = v
	}
	return v
}

// bruteEntropic is inf{s : N2(B1(x,r), s) <= exp(alpha r) for all x and r}.
func bruteEntropic(b metric.Bimetric, alpha float64) float64 {
	p := packings{b.Utility, map[[2]uint64]int{}}
	values, radii := bruteValues(b.Utility), bruteValues(b.Privacy)
	k, _ := slices.BinarySearchFunc(values, true, func(s float64, _ bool) int {
		for x := range b.Len() {
			for _, r := range radii {
				if math.Log(float64(p.number(bruteBall(b.Privacy, x, r), s))) > alpha*r {
					return -1
				}
			}
		}
		return 0
	})
	return values[k]
}

// bruteDiametric is inf{s : diam2(B1(x,r)) <= exp(alpha r) s for all x and r}.
func bruteDiametric(b metric.Bimetric, alpha float64) float64 {
	s := 0.0
	for x := range b.Len() {
		for _, r := range bruteValues(b.Privacy) {
			ball := bruteBall(b.Privacy, x, r)
			for _, i := range ball {
				for _, j := range ball {
					s = max(s, b.Utility.Distance(i, j)*math.Exp(-alpha*r))
				}
			}
		}
	}
	return s
}

// bruteDoubling is sup{s : N(B(x,2s), s) > exp(2 alpha s) for some x}, 0 where
// there is none. Between two breakpoints N is constant.
func bruteDoubling(f metric.Finite, alpha float64) float64 {
	p := packings{f, map[[2]uint64]int{}}
	var cuts []float64
	for _, v := range bruteValues(f) {
		cuts = append(cuts, v, v/2)
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	top := 0.0
	for k, s := range cuts {
		end := math.Inf(1)
		if k+1 < len(cuts) {
			end = cuts[k+1]
		}
		for x := range f.Len() {
			n := p.number(bruteBall(f, x, 2*s), s)
			if t := math.Log(float64(n)) / (2 * alpha); t > s {
				top = max(top, min(t, end))
			}
		}
	}
	return top
}

// bruteOuter is the least g + ln N(Z, g)/alpha.
func bruteOuter(f metric.Finite, alpha float64) float64 {
	all := spaces.AllPoints(f.Len())
	best := math.Inf(1)
	for _, g := range bruteValues(f) {
		best = min(best, g+math.Log(float64(brutePacking(f, all, g)))/alpha)
	}
	return best
}

// The scales against their definitions: exact in small spaces, and true where
// no node may be searched.
func TestScales_BruteForce(t *testing.T) {
	testkit.Slow(t)
	alphas := []float64{.1, .7, 1.5, 3, 20}
	greedy := &Options{Nodes: -1}
	for seed := range uint64(testkit.Sweep(28, 100)) {
		b := randomBimetric(2+int(seed%11), seed)
		f := b.Utility
		within := func(what string, alpha float64, got, rough Interval, want, tol float64) {
			t.Helper()
			if math.Abs(got.Lo-want) > tol*want || math.Abs(got.Hi-want) > tol*want {
				t.Fatalf("seed %d, alpha %v: %s [%.17g, %.17g], want %.17g", seed, alpha, what, got.Lo, got.Hi, want)
			}
			if rough.Lo > want*(1+1e-14) || rough.Hi < want*(1-1e-14) {
				t.Fatalf("seed %d, alpha %v: %s %v without search, want %v", seed, alpha, what, rough, want)
			}
		}
		doublings := testkit.Must(Doubling(t.Context(), f, alphas, nil))
		outers := testkit.Must(Outer(t.Context(), f, alphas, nil))
		last := math.Inf(1)
		for k, alpha := range alphas {
			e := testkit.Must(Entropic(t.Context(), b, []float64{alpha}, nil))[0]
			rough := testkit.Must(Entropic(t.Context(), b, []float64{alpha}, greedy))[0]
			checkEntropic(t, b, e)
			checkEntropic(t, b, rough)
			within("entropic", alpha, e.Interval, rough.Interval, bruteEntropic(b, alpha), 0)
			if e.Hi > last {
				t.Fatalf("seed %d, alpha %v: %v after %v", seed, alpha, e.Hi, last)
			}
			last = e.Hi

			d := testkit.Must(Diametric(t.Context(), b, []float64{alpha}, nil))[0]
			checkDiametric(t, b, d)
			within("diametric", alpha, d.Interval, d.Interval, bruteDiametric(b, alpha), 1e-13)

			s := testkit.Must(Doubling(t.Context(), f, []float64{alpha}, greedy))[0]
			checkDoubling(t, f, doublings[k])
			checkDoubling(t, f, s)
			within("doubling", alpha, doublings[k].Interval, s.Interval, bruteDoubling(f, alpha), 1e-12)

			o := testkit.Must(Outer(t.Context(), f, []float64{alpha}, &Options{Nodes: -1}))[0]
			checkOuter(t, f, outers[k])
			checkOuter(t, f, o)
			within("outer", alpha, outers[k].Interval, o.Interval, bruteOuter(f, alpha), 1e-11)
		}
	}
}

// TestBrute_KnownAnswers holds the reference itself to answers that a program
// other than this one found for twelve points of the Halton sequence.
func TestBrute_KnownAnswers(t *testing.T) {
	b := metric.Same(space.Halton(12))
	for _, c := range []struct{ alpha, entropic, diametric float64 }{
		{1, 1.038072503, .583754707},
		{3, .461688059, .232068704},
	} {
		if s := bruteEntropic(b, c.alpha); math.Abs(s-c.entropic) > 1e-9 {
			t.Errorf("alpha %v: entropic %.10g, want %v", c.alpha, s, c.entropic)
		}
		if s := bruteDiametric(b, c.alpha); math.Abs(s-c.diametric) > 1e-9 {
			t.Errorf("alpha %v: diametric %.10g, want %v", c.alpha, s, c.diametric)
		}
	}
}

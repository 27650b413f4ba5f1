package main

import (
	"cmp"
	"math"
	"slices"
)

// Whoever is to tell a number in [0, 1] at the level b >= settled per unit errs by
// necessary/b or more at some of them, in expectation: entropy.Accuracy proves it at
// settled, and [0, 1] holds the interval of length settled/b.
const (
	settled   = 8.
	necessary = 0.7
)

// floor is an error that any mechanism with the promise has, in expectation, on some
// data that agree with these in what pairs of neighbors hold together.
//
// Let r(x) be half the distance from x to the nearest other region, and let all users
// hold the same shares, of the pair (x, y) a known w, t w of it at y for some t in
// [0, 1]: any t, where the mechanism takes users with any number of items. To change t by 1 moves every user by w d(x,y), so that t is told at the
// level b = alpha n w d(x,y). Mass that moves from x to y moves by r(x) + r(y) at
// least, so that W1 is at least the sum over regions of r times the error there, and
// the pair adds w (r(x) + r(y)) necessary/b. Independent t make it hold for all pairs
// at once.
func (s *study) floor() float64 {
	type pair struct {
		x, y       int
		d, touched float64 // how much of d is within r of x or of y
	}
	k := len(s.regions)
	var pairs []pair
	near := slices.Repeat([]float64{math.Inf(1)}, k)
	for x := range k {
		for y := range x {
			d := s.space.Distance(x, y)
			near[x], near[y] = min(near[x], d), min(near[y], d)
			pairs = append(pairs, pair{x: x, y: y, d: d})
		}
	}
	for i, p := range pairs {
		pairs[i].touched = (near[p.x] + near[p.y]) / 2 / p.d
	}
	slices.SortStableFunc(pairs, func(p, q pair) int { return cmp.Compare(q.touched, p.touched) })
	exact := exactly(s.indicators, s.items)
	rate := s.alpha * float64(len(s.items))
	used := make([]bool, k)
	sum := 0.0
	for _, p := range pairs {
		if !used[p.x] && !used[p.y] {
			used[p.x], used[p.y] = true, true
			if rate*(exact[p.x]+exact[p.y])*p.d >= settled {
				sum += necessary / rate * p.touched
			}
		}
	}
	return sum
}

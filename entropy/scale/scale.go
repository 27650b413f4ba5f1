package scale

import (
	"fmt"
	"slices"
)

// Scale encloses one of the scales of a bimetric space at a privacy level, in the unit of rho2,
// with what proves either end. The entropic scale s and the diametric scale s_o at 2*alpha bound
// the optimal accuracy at alpha from below, by s/8 and s_o/5 (BSV24 Theorems 3.1 and 3.2).
type Scale struct {
	Interval
	Alpha float64

	// X, R and Set prove Lo. Set are points of rho1's closed ball around X of radius R: for the
	// entropic scale more than exp(Alpha*R), pairwise at least Lo apart in rho2, for the diametric
	// scale two, with rho2 exp(-Alpha*R) at least Lo. Where Lo = 0, X is -1 and Set nil.
	X   int
	R   float64
	Set []int

	// Proof says what Hi rests on.
	Proof Proof
}

// String is the interval and where the witness of Lo is.
func (s Scale) String() string {
	if len(s.Set) == 0 {
		return s.Interval.String()
	}
	return fmt.Sprintf("%v, by %d points within %.4g of point %d", s.Interval, len(s.Set), s.R, s.X)
}

// noWitness is the scale 0 at alpha.
func noWitness(alpha float64, by Proof) Scale { return Scale{Alpha: alpha, X: -1, Proof: by} }

// nest makes the scales at ascending levels monotone, as the true ones are: a witness for the lower
// end at one level serves every smaller level, an upper end every larger one.
func nest(s []Scale) {
	for i := len(s) - 2; i >= 0; i-- {
		if n := s[i+1]; n.Lo > s[i].Lo {
			s[i].Lo, s[i].X, s[i].R, s[i].Set = n.Lo, n.X, n.R, slices.Clone(n.Set)
		}
	}
	for i := 1; i < len(s); i++ {
		if s[i-1].Hi < s[i].Hi {
			s[i].Hi, s[i].Proof = s[i-1].Hi, ByAlpha
		}
	}
}

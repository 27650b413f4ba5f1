package directed

import "math"

// Sum adds float64 numbers in about 106 bits and bounds what that loses. The
// zero value is the empty sum.
type Sum struct{ hi, lo, err float64 }

// Add adds x.
func (s *Sum) Add(x float64) {
	var e, f float64
	s.hi, e = TwoSum(s.hi, x)
	s.lo, f = TwoSum(s.lo, e)
	s.err = AddUp(s.err, math.Abs(f))
}

// AddProduct adds a*b, with what the product loses.
func (s *Sum) AddProduct(a, b float64) {
	p, e := TwoProd(a, b)
	s.Add(p)
	s.Add(e)
	// Below 2^-960 the error term may underflow, to a multiple of 2^-1074.
	if math.Abs(p) < 0x1p-960 && a != 0 && b != 0 {
		s.err = AddUp(s.err, 0x1p-1073)
	}
}

// Bounds returns numbers below, next to and above the exact sum, equal where it
// is a float64 and nothing was lost.
func (s *Sum) Bounds() (lower, near, upper float64) {
	lower = AddDown(s.hi, SubDown(s.lo, s.err))
	upper = AddUp(s.hi, AddUp(s.lo, s.err))
	return lower, min(max(s.hi+s.lo, lower), upper), upper
}

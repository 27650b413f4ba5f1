// Package spaces holds what the packages of entropy do with any space: they check it and the levels,
// store or read its distances by rows, and see whether it is an ultrametric; and what is known of
// the interval [0,1].
package spaces

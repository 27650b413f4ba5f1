// Package chain holds no code, only tests that set the packages of the library
// against one another, on one corpus of spaces.
//
// With A the optimal accuracy of a bimetric space at a level alpha:
//
//	every lower bound <= A <= every mechanism's exact loss <= its stated bound,
//	DualBound of lp.Optimal <= A <= Objective of lp.Optimal,
//	audited level <= stated level <= alpha.
//
// A private measure errs by no more than was foretold, nor is less foretold than
// is possible, and the accountants of item-wise release are ordered as their
// theorems are.
//
// The theorems of package entropy that bound A by scales hold for the optima of
// thousands of small spaces. The benchmark OpenProblems searches such spaces for the
// largest quotients of A and the scales where no theorem does.
//
// Spaces have six to a dozen points by default; with METRICDP_LONG set they are
// larger, there are more of them, and searches take minutes.
package chain

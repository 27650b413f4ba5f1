// Package chain holds no code, only tests that set the packages of the library
// against one another, on one corpus of spaces.
//
// With A the optimal accuracy of a bimetric space at a level alpha:
//
//	every lower bound <= A <= every mechanism's exact loss <= its stated bound,
//	DualBound of lp.Optimal <= A <= Objective of lp.Optimal,
//	audited level <= stated level <= alpha.
//
// A private measure errs by no more than was foretold, nor is less foretold than is
// possible. Spaces have two to a dozen points by default; with METRICDP_LONG set they are
// larger, there are more of them, and tests take minutes.
package chain

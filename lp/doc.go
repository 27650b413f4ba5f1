// Package lp computes the most accurate mechanism that a level of metric privacy allows on
// a finite space, with a proof of how accurate any other can be.
//
// A mechanism with n inputs and m outputs is a table of probabilities M[x,y]. It is
// alpha-private if M[x,y] <= exp(alpha*rho1(x,z)) M[z,y] for all inputs x, z and outputs
// y, so that near inputs are hard to tell apart. Its loss is the expected distance
// rho2(x,y) from input to output, at the worst input or on average. All of this is linear
// in M: the least loss is the value of a linear program.
//
// # The best mechanism
//
//   - [Choose] tries what a time limit allows, package exponential's mechanisms too,
//     and bounds what any other could gain. Begin here.
//   - [Optimal] solves the program itself. Its [Options] have a prior, outputs other
//     than the inputs, and losses that are no metric.
//   - [MostPrivate] finds the least level that reaches a wanted accuracy.
//
// # More inputs
//
//   - [ConstOPT], often close to the best, and [Spanner] solve smaller programs.
//   - [Extended] brackets the least loss on ten thousand inputs.
//
// # Without a program
//
//   - [LowerBound] bounds the loss of every mechanism, [LevelLowerBound] its level.
//   - [Options.Size] says how large a program is.
//
// Results release indices: [mechanism.On] and [mechanism.LabelBoth] lift them to points
// and to names.
//
// # What is guaranteed
//
// Nothing rests on the solver. The returned table is audited, over all pairs of inputs, to
// a level of at most alpha. Its loss is [Solution].Objective, rounded up; no mechanism
// loses less than DualBound, which is computed apart from the solver and rounded down. A
// search that its TimeLimit or ctx ends returns the best mechanism so far, as private and
// with a wider gap.
//
// # Cost
//
// The program has n*m unknowns and n^2*m constraints. For n outputs [Optimal] takes O(n^4)
// time an iteration and O(n^3) memory: a second for 100 points of the plane, half a minute
// for 400. Graphs and few outputs take much less.
//
// # Who should not use it
//
// For thousands of points package exponential has mechanisms that lose somewhat more. An
// optimal mechanism is optimal for one loss, and its table has to be shipped.
//
// # References
//
//   - IKWAT22: Imola et al., Balancing utility and scalability in metric differential
//     privacy.
//   - BCP14: Bordenabe et al., Optimal geo-indistinguishable mechanisms for location
//     privacy.
//   - KL10: Kleinberg, Ligett, Privacy-compatibility for general utility metrics.
package lp

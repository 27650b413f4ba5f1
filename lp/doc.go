// Package lp computes the most accurate mechanism that metric privacy allows on a finite
// space, with a proof of how accurate any other can be.
//
//	best, err := lp.Choose(ctx, metric.Same(points), alpha, &lp.Options{TimeLimit: time.Minute})
//	y, err := best.Release(nil, x) // best.LowerBound: what no mechanism can beat
//
// A mechanism with n inputs and m outputs is a table M[x,y] of probabilities. It is
// alpha-private if M[x,y] <= exp(alpha*rho1(x,z)) M[z,y] for all inputs x, z and outputs y. Its
// loss is the expected distance rho2(x,y) at the worst input or on average.
//
//   - [Choose] tries what a time limit allows, and package exponential.
//   - [Optimal] solves the program: a prior, outputs other than the inputs, losses that are
//     no metric. [Options.Size] says how large it is.
//   - [MostPrivate] finds the least level that reaches a wanted accuracy.
//   - [ConstOPT] and [Spanner] solve smaller programs; [Extended] brackets the least loss on
//     ten thousand inputs.
//   - [LowerBound] and [LevelLowerBound] prove bounds without a program.
//
// # What is guaranteed
//
// Nothing rests on the solver. The table is audited, over all pairs of inputs, to a level of at
// most alpha. Its loss is [Solution].Objective, rounded up; no mechanism loses less than
// DualBound, computed apart from the solver and rounded down.
//
// # Cost
//
// n*m unknowns, n^2*m constraints: for n outputs O(n^4) time an iteration and O(n^3) memory, a
// second for 100 points of the plane, half a minute for 400.
//
// # Who should not use it
//
// For thousands of points package exponential loses somewhat more. An optimal mechanism is
// optimal for one loss, and its table has to be shipped.
//
// # References
//
//   - IKWAT22: Imola et al., Balancing utility and scalability in metric differential
//     privacy.
//   - BCP14: Bordenabe et al., Optimal geo-indistinguishable mechanisms for location
//     privacy.
//   - KL10: Kleinberg, Ligett, Privacy-compatibility for general utility metrics.
package lp

// Package lp computes the most accurate mechanism that a level of metric privacy allows on
// a finite space, with a proof of how accurate any other can be.
//
//	best, err := lp.Optimal(ctx, b, 1, nil)
//	fmt.Printf("no mechanism at level 1 loses less than %.3f\n", best.DualBound)
//	place, err := best.Release(nil, 12) // nil: cryptographically secure
//
// A mechanism is a table of probabilities M[x,y], alpha-private if M[x,y] <=
// exp(alpha*rho1(x,z)) M[z,y] for all inputs x, z and outputs y. Its loss is the mean of
// rho2(x,y) at the worst input, or on average. The least loss is a linear program.
//
// # Which function
//
//   - [Choose] tries what a time limit allows, package exponential's mechanisms too.
//   - [Optimal] solves the program. Its [Options] have a prior, outputs other than the
//     inputs, and losses that are no metric.
//   - [MostPrivate] finds the least level that reaches a wanted accuracy.
//   - [ConstOPT], often close to the best, and [Spanner] solve smaller programs.
//   - [LowerBound] and [LevelLowerBound] solve none.
//
// # Guarantees
//
// Nothing rests on the solver. The table is audited to at most alpha; its loss is
// [Solution].Objective, rounded up; no mechanism loses less than DualBound, rounded down. A
// search that TimeLimit or ctx ends is as private, with a wider gap.
//
// # Cost
//
// For n outputs O(n^4) time an iteration and O(n^3) memory: a second for 100 points of the
// plane, half a minute for 400. Graphs and few outputs take less; for thousands of inputs
// give a TimeLimit.
//
// # Who should not use it
//
// For thousands of outputs take package exponential. A table is optimal for one loss.
//
// # References
//
// IKWAT22, Imola et al., Balancing utility and scalability in metric differential privacy;
// BCP14, Bordenabe et al., Optimal geo-indistinguishable mechanisms for location privacy; KL10,
// Kleinberg, Ligett, Privacy-compatibility for general utility metrics.
package lp

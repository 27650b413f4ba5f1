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
//   - [Optimal] solves the program, with a prior, other outputs, or a loss that is no metric.
//   - [MostPrivate] finds the least level that reaches a wanted accuracy.
//   - [ConstOPT], often nearly best, and [Spanner] solve smaller programs.
//   - [LowerBound] and [LevelLowerBound] solve none.
//
// Package lp/anywhere takes inputs from all of a line, a plane or the Earth; for thousands of
// outputs take package exponential.
//
// # Guarantees
//
// Nothing rests on the solver: the table is audited to at most alpha, [Solution].Objective is
// its loss, rounded up, and no mechanism loses less than DualBound, rounded down. An
// ended search is as private.
//
// # Cost
//
// O(n^4) an iteration and at most 8 n^3 numbers; O(n^3 log n) and 100 n^2 on graphs. To a gap of
// 1e-3, on two cores, 400 plane points take half a minute, 1,000 seven, 2,000 fifteen
// (1e-2), 10,000 twenty-two (4e-2, 21 GiB); 10,000 to 100 outputs six, 40,000 half an hour (2e-3).
//
// # References
//
// IKWAT22, Imola et al., Balancing utility and scalability in metric differential privacy;
// BCP14, Bordenabe et al., Optimal geo-indistinguishable mechanisms for location privacy; KL10,
// Kleinberg, Ligett, Privacy-compatibility for general utility metrics.
package lp

// Package entropy tells how accurate a private mechanism on a given space can be at best,
// also on spaces too large for package lp.
//
//	brackets, err := entropy.Accuracy(ctx, b, []float64{1}, nil)
//	bracket, err := brackets[0].With(tight(b.Privacy, 1))
//	fmt.Println("accuracy in km:", bracket.Interval)
//
// A bimetric space Z has a metric rho1 for privacy and a metric rho2 for loss, often the
// same ([metric.Bimetric]). A mechanism M is alpha-private if P{M(x) in S} <=
// exp(alpha*rho1(x,x')) P{M(x') in S} for all points x, x' and sets S of outputs. Its loss
// is E rho2(x, M(x)) at the worst x. The optimal accuracy A(Z, alpha) is the least loss of
// any alpha-private mechanism (BSV24).
//
//   - [Accuracy] brackets A and says what each bound rests on; [Bracket.With] adds
//     mechanisms of yours.
//   - [LowerBounds] and [UpperBounds] are its halves. Each [Bound] has a [Witness], such
//     as a [Star].
//   - [LevelFor] is the level that a wanted loss needs at least.
//   - [StandardBound] and [RelaxedBound] bound A by scales.
//   - [Whole] is what a finite space is a sample of, connected or not.
//
// Package scale has scales, package families closed forms and bounds on measures and data.
// The file THEOREMS.md has rules, and proofs of what BSV24 section 1.4 asks.
//
// # Guarantees
//
// The ends of a bracket are proofs, in arithmetic rounded outward. Results do not depend on chance,
// the clock or the number of workers. Bounds are for the worst input and for delta = 0. What uses
// the triangle inequality says so and grants it [metric.DefaultTolerance].
//
// # Cost
//
// O(n^2) distances, and O(n) memory beyond some thousand points. Up to a few hundred
// package lp gives A itself.
//
// # References
//
//   - BSV24: Boedihardjo et al., Metric geometry of the privacy-utility tradeoff.
//   - IKWAT22: Imola et al., Balancing utility and scalability in metric differential
//     privacy.
package entropy

// Package kl10 has the mechanisms of KL10, whose utility is a promise: at every input the
// output is far away with small probability.
//
//	m, err := kl10.MostPrivate(ctx, metric.Same(f), nil, kl10.Target{Gamma: 1, Delta: 0.05}, nil)
//
// The mechanism answers y with probability proportional to mu(y) exp(-beta*sigma(f(x),y))
// (Definition 2.6), where f(x) is the wanted answer, in the example x itself, and mu is a public
// base measure: without one, mass spread thinly over a large space outweighs what is near.
//
//   - [MostPrivate] takes the smallest rate at which a finite space reaches a [Target];
//     [Misses] is the promise of any channel.
//   - [NewBaseMeasure] samples the mechanism on spaces that need not be finite, by exact
//     rejection, for instance from public nets ([NewNets]).
//
// # Guarantees
//
// MostPrivate's channel is audited: its level bounds that of the exact distributions that
// are drawn from. NewBaseMeasure's level is 2*Lipschitz*Beta by Theorem 2.7, and rests
// on the Lipschitz constant that the caller states.
//
// # Who should not use it
//
// MostPrivate of package lp finds the least level of all mechanisms that reach a target,
// up to some hundred points. For a small loss rather than few misses see package exponential.
//
// # Reference
//
//   - KL10: Kleinberg, Ligett, "Privacy-compatibility for general utility metrics".
package kl10

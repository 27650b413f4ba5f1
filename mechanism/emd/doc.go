// Package emd protects whole users who hold many items each, such as places, words or
// measurements, by as much as their items change and how far.
//
// # The problem
//
// Often not all items of a user must be hidden, but where somebody went on a few evenings. The
// earth mover's distance d_EM between two users is the share of items that must be moved times
// how far, at the least. At level alpha a change of one user by d_EM makes no result more than
// exp(alpha*d_EM) times as likely, up to a probability delta.
//
// # How to begin
//
// Choose alpha: [ChooseAlpha] makes it from moves that must stay hidden, and [Guarantee.Protects] says in
// words what it means. State the [Model]: whom users trust, how many they are, how many items
// they hold, how far apart items can be.
//
// Release how items are distributed:
//   - [NewDistribution] for users of any size, with a curator who sees all items or without;
//     the first choice.
//   - [NewFrequencies] or [NewGKRRFrequencies] where a shuffler mixes items made private and
//     takes off the users' names.
//   - [NewItemWise] for the private items themselves; [ItemWiseBudget] finds their level.
//
// Release a mean:
//   - [NewLinear] of a [Query], such as [Average], [Region], [Landmarks] or [Shares].
//
// Serve users of any size with a mechanism for equal ones: [NewReduced].
//
// # Guarantees
//
// A [Guarantee] knows its model and refuses to compose with others. Draws are exact and
// accountants round upward, so promises hold for all bits of what is published, and for
// items as they are given; what a [Query] rounds is said there. The number of users is
// public: adding or removing one is not covered.
//
// # Cost
//
// Constructors say what they take. [Distribution] errs like (alpha n)^(-1/(d+1)) in d
// dimensions, as every mechanism must, and without a curator like (alpha sqrt(n))^(-1/(d+1)).
//
// # Who should not use it
//
// Items without a meaningful distance gain nothing over user-level privacy, which hides all
// items of a user at once. The distance must be public knowledge: a change that it calls far is
// protected less than one that it calls near. Errors about an item that does not fit depend on
// the data.
//
// # References
//
//   - IRC24: Imola, Roy Chowdhury, Chaudhuri, "Metric differential privacy at the user-level
//     via the earth mover's distance", 2024.
package emd

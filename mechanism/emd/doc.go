// Package emd says how private releases are that protect whole users who hold many items
// each, such as places, words or measurements, by as much as their items change and how far:
//
//	level, err := mechanism.NewGuarantee(alpha, 1e-9, "km")
//	g, err := emd.NewGuarantee(emd.Model{Trust: emd.Central, Users: 100, Unit: "km", Diameter: 1}, level)
//	promises, err := g.Protects([]emd.Move{{Distance: .08, Fraction: 1. / 3}, {Distance: .008, Fraction: 1}})
//
// The earth mover's distance d_EM between two users is the share of items that must be moved
// times how far, at the least. At level alpha a change of one user by d_EM makes no result
// more than exp(alpha*d_EM) times as likely, up to a probability delta.
//
// # What releases
//
//   - Package distribution: how items are distributed, for users of any size, with a curator
//     who sees all items or without; the first choice.
//   - Package frequency: the same from items made private one by one, which a shuffler mixes.
//   - Package query: means, of places, of shares, of any Lipschitz function.
//
// [NewReduced] serves users of any size with a mechanism for equal ones. Package accountant
// computes what a shuffler adds.
//
// # Guarantees
//
// A [Guarantee] knows its [Model] and refuses to compose with others. Draws are exact and
// accountants round upward, so promises hold for all bits of what is published. The number
// of users is public: adding or removing one is not covered.
//
// # Who should not use it
//
// Items without a meaningful distance gain nothing over user-level privacy, which hides all
// items of a user at once. The distance must be public knowledge. Errors about an item that
// does not fit depend on the data.
//
// # References
//
//   - IRC24: Imola, Roy Chowdhury, Chaudhuri, "Metric differential privacy at the user-level
//     via the earth mover's distance", 2024.
package emd

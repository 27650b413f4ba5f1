// Package words reads vocabularies of words with vectors, releases texts word by word, and
// finds the level at which a wanted share of words stays unchanged.
//
// # How to begin
//
// With up to some thousand words lp.Choose or exponential.Best lose less than what follows,
// which is for larger vocabularies:
//
//	v, err := words.Read(ctx, file, nil)                              // GloVe, word2vec, fastText
//	m, err := exponential.Truncated(ctx, v.Points(), alpha, 4, nil)   // or additive.NewMadlib(v.Vectors(), alpha, nil)
//	named, err := mechanism.Labels(m, v.Words())                      // takes and gives words
//	text, err := words.NewText(named, &words.TextOptions{Stop: stop}) // takes and gives texts
//	out, err := text.Release(nil, strings.Fields("..."))
//
// Make a vocabulary: [Read] a file, or [New].
//
// Choose the mechanism. additive.Madlib adds noise to a word's vector and takes the nearest
// word. exponential.Truncated draws among the words within a reach and treats all others alike,
// so that no two words are told apart by more than a factor exp(alpha*reach); it mostly needs a
// smaller level. exponential.Tuned and lp.Choose have a matrix, for some thousand words.
//
// Choose the level: [Vocabulary.MadlibKept] and [Vocabulary.TruncatedKept] find the one at
// which a wanted share of words stays.
//
// Release texts: [NewText].
//
// # Guarantees
//
// alpha, by proof, is the level of the words that come out, per unit of the Euclidean distance
// of their vectors: in 100 dimensions of GloVe the nearest words are 2 to 5 apart and most
// pairs 6 to 9. A text of n words has n times the level of one ([Text.Total]). For a level at a
// delta see additive.Norm.AlphaForLevel and mechanism.AtLevel.
//
// # Cost
//
// O(words * dimensions) for a release, some milliseconds for 50,000 words; 4 bytes a number of
// memory, twice as much more while Truncated is built.
//
// # Who should not use it
//
// A released text is not anonymous: who wrote it shows in its grammar, its length and what
// repeats, and words that stay unchanged are there to be read. The guarantee is about which of
// several near words was meant, and soon adds up to more than protects anything.
//
// The vocabulary and its vectors must be public and not be made from the texts.
//
// # References
//
//   - Feyisetan, Balle, Drake, Diethe, "Privacy- and utility-preserving textual analysis via
//     calibrated multivariate perturbations", 2020: Madlib.
//   - Carvalho, Vasiloudis, Feyisetan, "TEM", 2021: Truncated.
package words

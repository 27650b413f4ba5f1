// Package words reads vocabularies of words with vectors, releases texts word by word, and
// finds the level at which as many words change as wanted.
//
//	m, err := exponential.Truncated(ctx, v.Points(), alpha, reach, nil)
//	named, err := mechanism.Labels(m, v.Words(), v.Words())
//	text, err := words.NewText(named, &words.TextOptions{Stop: strings.Fields("on the saw with .")})
//	released, err := text.Release(seeded(), sentence)
//
// # Which function
//
//   - A vocabulary: [Read] a file of GloVe, word2vec or fastText, or [New].
//   - A mechanism: additive.Madlib adds noise to a word's vector and takes the nearest word.
//     exponential.Truncated draws among the words within a reach and treats all others alike,
//     so that a factor exp(alpha*reach) tells no two words apart; it mostly needs a smaller
//     level. Up to some thousand words lp.Choose and exponential.Best lose less.
//   - A level: [Vocabulary.ChooseAlpha], by how often a word may stay.
//   - Texts: [NewText], of the tokens of [Vocabulary.Split].
//
// # Guarantees
//
// alpha is the level of the words that come out, per unit of the Euclidean distance of their
// vectors: in 100 dimensions of GloVe the nearest words are 2 to 5 apart and most pairs 6 to
// 9. At alpha = 3 exponential.Lazy keeps 99 % of 200 nouns. A text of n words has n times the
// level of one ([Text.Total]).
//
// # Cost
//
// O(words * dimensions) for a release, some milliseconds for 50,000 words; 4 bytes a number of
// memory, twice as much more while Truncated is built.
//
// # Who should not use it
//
// A released text is not anonymous: grammar, length, repeats and unchanged words show. The
// guarantee is about which of several near words was meant. The vocabulary and its vectors
// must be public, not made from the texts.
//
// # References
//
// Madlib: Feyisetan, Balle, Drake, Diethe, "Privacy- and utility-preserving textual analysis
// via calibrated multivariate perturbations", 2020. Truncated: Carvalho, Vasiloudis,
// Feyisetan, "TEM", 2021.
package words

// Package words reads vocabularies of words with vectors and releases texts word by word.
//
//		v, err := words.Read(ctx, file, nil)                              // GloVe, word2vec, fastText
//		m, err := exponential.Truncated(ctx, v.Points(), alpha, 4, nil)   // or additive.NewMadlib(v.Vectors(), alpha, nil)
//		named, err := mechanism.Labels(m, v.Words())                      // takes and gives words
//		text, err := words.NewText(named, &words.TextOptions{Stop: stop}) // takes and gives texts
//		out, err := text.Release(nil, strings.Fields("..."))
//
//	  - [Read] and [New] make a vocabulary.
//	  - additive.Madlib adds noise to a vector and takes the nearest word;
//	    exponential.Truncated draws among the words within a reach and treats all others
//	    alike, and mostly needs a smaller level. Up to some thousand words exponential.Best
//	    and lp.Choose lose less.
//	  - [Vocabulary.MadlibKept] and [Vocabulary.TruncatedKept] find the level at which a
//	    wanted share of words stays; [NewText] releases texts.
//
// # Guarantees
//
// alpha is the level of the words that come out, by proof, per unit of the Euclidean distance
// of their vectors: in 100 dimensions of GloVe the nearest words are 2 to 5 apart, most pairs 6
// to 9. A text of n words has n times the level of one ([Text.Total]).
//
// # Cost
//
// O(words * dimensions) a release, milliseconds for 50,000 words; 4 bytes a number, thrice that
// while Truncated is built.
//
// # Who should not use it
//
// A released text is not anonymous: its grammar, length and repetitions remain, and words that
// stay can be read. The guarantee is about which of several near words was meant, and adds up.
// Vectors must be public, and not made from the texts.
//
// # References
//
//   - Feyisetan, Balle, Drake, Diethe, "Privacy- and utility-preserving textual analysis via
//     calibrated multivariate perturbations", 2020: Madlib.
//   - Carvalho, Vasiloudis, Feyisetan, "TEM", 2021: Truncated.
package words

// Package words reads vocabularies of words with vectors, releases texts word by word, and
// finds the level at which a wanted share of words stays unchanged.
//
// # From a file to a text
//
//	v, err := words.Read(file, nil)                                   // GloVe, word2vec, fastText
//	m, err := exponential.Truncated(ctx, v.Points(), alpha, 4, nil)   // or additive.NewMadlib(v.Vectors(), alpha, nil)
//	named, err := mechanism.Labels(m, v.Words())                      // takes and gives words
//	text, err := words.NewText(named, &words.TextOptions{Stop: stop}) // takes and gives texts
//	out, err := text.Release(nil, strings.Fields("..."))
//
// A word is a point, its vector; levels are per unit of the Euclidean distance of vectors, in
// which the nearest words of GloVe's 100 dimensions are 2 to 5 apart and most pairs 6 to 9.
//
// # Which mechanism
//
//	                              level of the bits that come out   a release of 50,000 words, d = 100, 300
//	additive.Madlib               alpha, by proof                   3 ms, 8 ms
//	exponential.Truncated         alpha, by proof                   7 ms, 20 ms
//	exponential.Tuned, lp.Choose  audited by the matrix             up to some thousand words
//
// Madlib adds noise of norm about d/alpha to the vector, and takes the nearest word. Truncated
// draws among the words within reach by their distance, and treats all others alike, so that
// no two words are told apart by more than a factor exp(alpha*reach). Of the 5,000 most frequent
// words of GloVe in 100 dimensions half stay as they are ([Vocabulary.MadlibKept],
// [Vocabulary.TruncatedKept]) at
//
//	                      alpha   eps of two words at a distance of 4, of 12
//	Madlib                8.1     32   97
//	Truncated, reach 4    4.3     17   17
//	Truncated, reach 6    2.9     12   18
//	exponential.Lazy      2.6     11   32
//
// Stated for a level at a delta, as papers compare mechanisms, alpha may be larger:
// additive.Norm.AlphaForLevel finds it for Madlib (8.1 keeps 5.6 at delta .001), mechanism.AtLevel
// for a matrix.
//
// # Memory and time
//
// Vectors are float32: 20 MB for 50,000 words in 100 dimensions, which are read in about a
// second. Truncated holds them as float64 while it is built. Nearest words in more than some
// 20 dimensions are found by looking at all vectors, see metric.Locator: no index helps there.
// The noise of Madlib moves a word as far as words are apart, and all are then about equally
// near; lower bounds from part of the coordinates save a third of the work at most.
//
// # Who should not use it
//
// A released text is not anonymous: who wrote it shows in its grammar, its length and what
// repeats, and a word that stays unchanged is there to be read. The guarantee
// is about which of several near words was meant. One word costs alpha times a distance, a text of n
// words n times as much ([Text.Total]), soon more than protects anything.
//
// The vocabulary and its vectors must be public and not be made from the texts.
//
// # References
//
// Feyisetan, Balle, Drake, Diethe, "Privacy- and utility-preserving textual analysis via
// calibrated multivariate perturbations", 2020. Carvalho, Vasiloudis, Feyisetan, "TEM: high
// utility metric differential privacy on text", 2021. Pennington, Socher, Manning, "GloVe:
// global vectors for word representation", 2014.
package words

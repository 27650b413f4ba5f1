// Words releases words privately, on a real vocabulary, and compares what there is to do it
// with.
//
//	go run ./examples/words
//	go run ./examples/words -n 200 -alpha 2 -time 2m
//	go run ./examples/words -in glove.6B.100d.txt -vocabulary 50000 -text "I saw a doctor on Friday." -n 100 -many 2000 -k 30 -out /tmp/words
//	go run ./examples/words -in crawl.vec -vocabulary 10000 -kept .8
//
// A word is a point, its GloVe vector; privacy and loss are measured by the Euclidean
// distance. First it releases a text. Then it builds every mechanism for such a space at
// one level alpha, audits them, prints a table with the proved lower bound and some
// releases, and draws loss against the audited level as in Figure 1 of IKWAT22. Last come
// the 1,000 most frequent words, of which few may be released.
package main

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"time"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/metric"
)

//go:embed words.txt
var nouns []byte

//go:embed common.txt.gz
var common []byte

func main() { demo.Main("words", run) }

const (
	maxAlpha = 1e50 // and one over it: levels that every mechanism takes
	maxWords = 1000 // mechanisms and audits compare all pairs of rows
	maxMany  = 2000
)

func run(ctx context.Context, p *demo.Program) error {
	alpha := p.Flags.Float64("alpha", 0.7, "privacy level, per unit of distance between vectors")
	n := p.Flags.Int("n", 50, "how many words to use, from the top")
	limit := p.Flags.Duration("time", 10*time.Second, "for each of Spanner, ConstOPT and OPTMech, which are stopped then, and four times as long for OPTMech on many words; 0 leaves them out")
	many := p.Flags.Int("many", 1000, "how many words, from the top, to do it for once more where few may be released; 0 leaves it out")
	k := p.Flags.Int("k", 20, "how many of -many words may be released")
	text := p.Flags.String("text", defaultText, "a text to release word by word")
	vocabulary := p.Flags.Int("vocabulary", 10_000, "how many words, from the top, a word of the text may become")
	kept := p.Flags.Float64("kept", 0.5, "the share of words that are to stay unchanged, by which the levels for the text are found; 0 leaves the text out")
	p.ReadsFile("a line `word v1 v2 ...` for each word, as GloVe, word2vec and fastText have, also packed by gzip")
	if err := p.Parse(); err != nil {
		return err
	}
	switch {
	case !(*alpha >= 1/maxAlpha && *alpha <= maxAlpha):
		return fmt.Errorf("-alpha %v: want a number in [%v, %v]", *alpha, 1/maxAlpha, maxAlpha)
	case *n < 2 || *n > maxWords:
		return fmt.Errorf("-n %d: want 2 to %d", *n, maxWords)
	case *many < 0 || *many > maxMany:
		return fmt.Errorf("-many %d: want 0 to %d", *many, maxMany)
	case *k < 1 || *k > maxWords:
		return fmt.Errorf("-k %d: want 1 to %d", *k, maxWords)
	case *vocabulary < 2 || *vocabulary > maxVocabulary:
		return fmt.Errorf("-vocabulary %d: want 2 to %d", *vocabulary, maxVocabulary)
	case !(*kept >= 0 && *kept < 1):
		return fmt.Errorf("-kept %v: want a number in [0, 1)", *kept)
	case *limit < 0:
		return fmt.Errorf("-time %v: want a duration >= 0", *limit)
	}
	s := &study{alpha: *alpha, limit: *limit, seed: p.Seed}
	if err := s.read(ctx, p, *n, "words.txt", nouns); err != nil {
		return err
	}
	if *kept > 0 {
		if err := releaseText(ctx, p, *text, *vocabulary, *kept); err != nil {
			return err
		}
	}
	wide, i, j, err := metric.Diameter(ctx, s.space)
	if err != nil {
		return err
	}
	if wide == 0 {
		fmt.Fprintf(p.Stdout, "%s: all %d words have one vector: the loss is 0 at every alpha\n", s.file, len(s.words))
		return nil
	}
	if err := s.introduce(ctx, p, wide, i, j); err != nil {
		return err
	}
	if err := s.compare(ctx, p); err != nil {
		return err
	}
	p.Print(s.table())
	s.explain(p)
	if err := s.atDelta(ctx, p); err != nil {
		return err
	}
	if err := s.samples(p); err != nil {
		return err
	}
	err = cmp.Or(p.WriteFile("table.csv", s.table().WriteCSV), p.WriteFile("released.csv", s.release))
	if err != nil {
		return err
	}
	if err := s.draw(ctx, p); err != nil || *many == 0 || *limit == 0 {
		return err
	}
	return s.many(ctx, p, *many, *k)
}

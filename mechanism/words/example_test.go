package words_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"
	"strings"

	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/mechanism/words"
)

// must keeps the examples short: a program handles its errors.
func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// A vocabulary of word2vec's format, the header line first.
const file = `8 3
doctor 4.1 0.2 0.0
nurse 4.0 0.9 0.1
surgeon 4.4 0.0 0.6
flu 0.1 3.9 0.3
cold 0.4 3.7 0.0
asthma 0.0 4.3 0.9
monday 0.2 0.1 4.0
friday 0.0 0.3 4.2
`

func vocabulary() *words.Vocabulary {
	v := must(words.Read(context.Background(), strings.NewReader(file), nil))
	return v
}

// seeded makes what an example prints repeat; for what is published pass nil.
func seeded() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// A sentence of which four words are private, released at the level at which about half
// of the words stay unchanged.
func Example() {
	ctx, v := context.Background(), vocabulary()
	const reach = 2 // farther words are all alike
	level, err := v.ChooseAlpha(ctx, .5, &words.ChooseOptions{Reach: reach})
	if err != nil {
		log.Fatal(err)
	}
	alpha := float64(int(level.Alpha))
	m, err := exponential.Truncated(ctx, v.Points(), alpha, reach, nil)
	if err != nil {
		log.Fatal(err)
	}
	named, err := mechanism.Labels(m, v.Words(), v.Words())
	if err != nil {
		log.Fatal(err)
	}
	text, err := words.NewText(named, &words.TextOptions{Stop: strings.Fields("on the saw with .")})
	if err != nil {
		log.Fatal(err)
	}
	sentence := strings.Fields("on monday the nurse with flu saw the surgeon .")
	released, err := text.Release(seeded(), sentence)
	if err != nil {
		log.Fatal(err)
	}
	n, total, err := text.Total(sentence)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Join(released, " "))
	fmt.Printf("a word: %v; all %d: %v\n", text.Guarantee(), n, total)
	// Output:
	// on friday the surgeon with asthma saw the cold .
	// a word: 2-private per unit; all 4: 8-private per unit
}

func ExampleRead() {
	v := must(words.Read(context.Background(), strings.NewReader(file), &words.ReadOptions{Max: 6}))
	near, err := v.Nearest("doctor", 2)
	fmt.Println(v, near, err)
	_, err = words.Read(context.Background(), strings.NewReader("flu 0.1 3.9\ncold 0.4 ?\n"), &words.ReadOptions{Name: "ill.vec"})
	fmt.Println(err)
	// Output:
	// 6 words in 3 dimensions [surgeon nurse] <nil>
	// ill.vec: line 2: number 2 of "cold" is no number of at most 1e30: "?"
}

func ExampleNew() {
	v := must(words.New([]string{"yes", "perhaps", "no"}, [][]float32{{1}, {0.4}, {-1}}))
	m := must(additive.NewMadlib(v.Vectors(), 3, nil))
	named := must(mechanism.Labels(m, v.Words(), v.Words()))
	y, err := named.Release(seeded(), "yes")
	fmt.Println(y, named.Guarantee(), err)
	// Output:
	// yes 3-private per unit <nil>
}

// Words that are not in the vocabulary are released as one that is.
func ExampleNewText() {
	v := vocabulary()
	m := must(additive.NewMadlib(v.Vectors(), 20, nil))
	named := must(mechanism.Labels(m, v.Words(), v.Words()))
	text := must(words.NewText(named, &words.TextOptions{Stop: []string{"and"}, Unknown: "flu"}))
	released, err := text.Release(seeded(), []string{"gout", "and", "asthma"})
	fmt.Println(released, err)
	// Output:
	// [flu and asthma] <nil>
}

// A chat is parted into words and phrases of the vocabulary and public marks. What is neither
// is released as an unknown word would be: an address does not pass.
func ExampleVocabulary_Split() {
	v := must(words.New([]string{"new_york", "london", "see", "someone"}, [][]float32{{0}, {1}, {5}, {4}}))
	stop := []string{"in", "you", "!"}
	tokens := v.Split("See you in NEW YORK!! https://example.org/?id=7", stop...)
	fmt.Printf("%q\n", tokens)
	named := must(mechanism.Labels(must(additive.NewMadlib(v.Vectors(), 2, nil)), v.Words(), v.Words()))
	text := must(words.NewText(named, &words.TextOptions{Stop: stop, Unknown: "someone"}))
	fmt.Printf("%q\n", must(text.Release(seeded(), tokens)))
	// Output:
	// ["see" "you" "in" "new_york" "!" "!" "https://example.org/?id=7"]
	// ["see" "you" "in" "new_york" "!" "!" "someone"]
}

// What a text costs: the levels of its words add, and at a delta noise has less.
func ExampleText_Total() {
	v := vocabulary()
	m := must(mechanism.Labels(must(additive.NewMadlib(v.Vectors(), 1, nil)), v.Words(), v.Words()))
	text := must(words.NewText(m, nil))
	n, total, err := text.Total(strings.Fields(strings.Repeat("flu asthma doctor nurse ", 10)))
	all := must(mechanism.NewComposition(mechanism.Repeated{Mechanism: m, Times: int64(n)}))
	a := must(all.AuditAt(context.Background(), 1, 1e-6)) // words up to 1 apart at every place
	fmt.Printf("%d words: %v; at delta = 1e-6 at most %.1f %v\n", n, total, a.Hi, err)
	// Output:
	// 40 words: 40-private per unit; at delta = 1e-6 at most 21.5 <nil>
}

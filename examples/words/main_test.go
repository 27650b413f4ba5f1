package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/examples/internal/demotest"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/mechanism/words"
)

var program = demotest.Program{Name: "words", Main: run, Ext: ".txt"}

// The table and the releases at the default seed. All but the losses of Madlib, a
// simulation, and its level, a bound, are exact to rounding.
const golden = `
mechanism                    level  worst loss  95 % loss  mean loss  guessed
exponential                 0.3972       3.861      3.861      3.722   0.3989
exponential, tuned          0.6998       1.390      1.390      1.047   0.8111
exponential, tight weights  0.6999       1.342      1.342     0.9068   0.8349
Spanner                     0.6997       3.726      3.726      3.726   0.3619
ConstOPT, r = 5             0.6964       1.260      1.260      1.260   0.7551
ConstOPT, r = 10            0.6964       1.260      1.260      1.260   0.7551
OPTMech                     0.6999       1.243      1.243      1.243   0.7582
Madlib (simulated)          0.1945       6.290      6.290      6.058        -
lower bound                      -       1.243          -          -        -
word     exponential                              OPTMech
river    -> river, river, river, stream, island   -> river, river, river, river, creek
stream   -> lake, flu, stream, creek, beach       -> stream, coast, stream, stream, stream
sea      -> pain, creek, flu, sea, sea            -> cancer, sea, ocean, sea, sea
coast    -> stream, sea, ocean, flu, lake         -> ocean, coast, coast, shore, sea
island   -> island, island, lake, shore, cancer   -> island, island, ocean, island, island
cancer   -> cancer, cancer, pain, pain, sea       -> cancer, cancer, disease, virus, cancer
disease  -> disease, disease, pain, disease, flu  -> disease, disease, virus, disease, disease
stroke   -> beach, virus, stroke, beach, shore    -> stroke, stroke, stroke, stroke, stroke
`

func TestWords_Golden(t *testing.T) {
	dir := t.TempDir()
	out := program.Must(t, "-quiet", "-kept", "0", "-n", "16", "-time", "10m", "-many", "0", "-out", dir)
	demotest.Golden(t, demotest.Untimed(out), golden)
	if n := len(demotest.Table(t, dir, "released.csv")); n != 16*8 {
		t.Errorf("released.csv: %d rows", n)
	}
	demotest.Picture(t, dir, "loss.png")
}

func TestWords_Flags(t *testing.T) { program.Agrees(t) }

// With few outputs the optimum is between what was proved and what others lose.
func TestWords_Many(t *testing.T) {
	for _, c := range []struct {
		many, k, time string
		gap           float64
		long          bool
	}{{"60", "8", "1m", 1e-5, false}, {"1000", "20", "1m", 1e-2, true}} {
		if c.long && os.Getenv("METRICDP_LONG") == "" {
			continue
		}
		dir := t.TempDir()
		out := program.Must(t, "-kept", "0", "-n", "4", "-many", c.many, "-k", c.k, "-alpha", "1", "-time", c.time, "-out", dir)
		if want := c.many + " words of common.txt.gz, released as one of " + c.k + ": "; !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
		loss := map[string]float64{}
		for _, row := range demotest.Table(t, dir, "many.csv") {
			loss[row["mechanism"]] = demotest.Number(t, row["worst loss"])
		}
		opt, lower := loss[optMech], loss["lower bound"]
		if others := min(loss["exponential, the best"], loss[madlibName]); opt > others || lower > opt || lower < opt*(1-c.gap) {
			t.Errorf("OPTMech %v, lower bound %v, the others %v", opt, lower, others)
		}
	}
}

func TestWords_Inputs(t *testing.T) {
	for i, c := range []struct {
		in   string
		args []string
		want string
	}{
		{"a 0\nb 1\n\n  c   3\n", nil, "3 words of in.txt in 1 dimensions"},
		{"a 0 0\nb 3 4\nc 3 4\n", nil, "from 0 apart (b, c) to 5 (a, b)"},                   // two words with one vector
		{"a 0 0\nb 3 4\nc ?\n", []string{"-kept", "0", "-n", "2", "-many", "0"}, "2 words"}, // what follows is not looked at
		{"a 0 0\nb 3 4\nc 1 1\n", []string{"-time", "0"}, "by program"},
		{"a 1 1\nb 1 1\n", nil, "all 2 words have one vector"},
		{"a 0\nb 1\nc 3\n", []string{"-alpha", "1000"}, "OPTMech"},
		{"a 0\nb 1\nc 3\n", []string{"-alpha", "1e-6"}, "Least worst loss"},
		{"a 0\nb 1\nc 3\n", []string{"-alpha", "1e-40"}, "Least worst loss: Spanner, 1 times the lower bound"}, // the best constant
		{"a 0\nb 1\nc 3\nd 4\n", []string{"-n", "2", "-k", "2"}, "4 words of in.txt, released as one of 2: b, d."},
		{"a 0\nb 1\nc 3\n", []string{"-n", "2"}, "no 20 of 3 words"},
		{"a 0\nb 1e-5\nc 3e-5\n", nil, "no picture: at delta = 0.001 all levels are 0"},
		{"a 0\nb 1e30\nc -1e30\n", nil, "Madlib"},
		{"3 1\na 0\nb 1\nc 3\n", nil, "3 words of in.txt in 1 dimensions"}, // word2vec, fastText
		{"a 0\nb 1\nc 3\n", []string{"-text", "x y"}, "no text to show: in.txt has none of its words"},
		{"she 0\ndoctor 1\npolice 3\nnurse 5\n", []string{"-text", "She, a doctor, saw."}, " she , a doctor , saw .\nMadlib           she , a "},
	} {
		if i%testkit.Sweep(2, 1) > 0 {
			continue
		}
		args := append([]string{"-in", program.File(t, c.in), "-out", t.TempDir()}, c.args...)
		if out := program.Must(t, args...); !strings.Contains(out, c.want) {
			t.Errorf("%q %v: no %q in\n%s", c.in, c.args, c.want, out)
		}
	}
}

func TestWords_BadInput(t *testing.T) {
	program.Rejects(t, map[string][]string{
		"-alpha 0: want a number in":          {"-alpha", "0"},
		"-alpha -1":                           {"-alpha", "-1"},
		"-alpha NaN":                          {"-alpha", "NaN"},
		"-alpha +Inf":                         {"-alpha", "Inf"},
		"-n 1: want 2 to 1000":                {"-n", "1"},
		"-n 1001":                             {"-n", "1001"},
		"-time -1s: want a duration >= 0":     {"-time", "-1s"},
		"-many 2001: want 0 to 2000":          {"-many", "2001"},
		"-k 0: want 1":                        {"-k", "0"},
		"-vocabulary 1: want 2 to 1000000":    {"-vocabulary", "1"},
		"-kept 1: want a number in [0, 1)":    {"-kept", "1"},
		"-kept NaN":                           {"-kept", "NaN"},
		"no such file":                        {"-in", "/no/such/file"},
		"1 words, want two at least":          {"-in", program.File(t, "a 1 2\n")},
		"line 2: \"b\" has 1 numbers, want 2": {"-in", program.File(t, "a 1 2\nb 1\n")},
	})
}

// The shipped vocabularies are what DATA.md says.
func TestWords_Vocabularies(t *testing.T) {
	for want, text := range map[string][]byte{
		"200 words in 100 dimensions, river to mobile":   nouns,
		"1000 words in 100 dimensions, the to sure":      common,
		"5000 words in 100 dimensions, the to considers": frequent,
	} {
		v := testkit.Must(words.Read(t.Context(), bytes.NewReader(text), nil))
		if got := fmt.Sprintf("%v, %s to %s", v, v.Words()[0], v.Words()[v.Len()-1]); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if len(text) > 300<<10 {
			t.Errorf("%d bytes", len(text))
		}
	}
}

// The text and its releases at the default seed, at levels at which most words stay.
const goldenText = `
                 my sister is in london , my father plays on monday .
Madlib           my said is in london , my father said on monday .
Madlib at delta  my spokesman is in english , my father said on monday .
truncated        my said is in london , my him said on monday .
exponential      my said is in london , my father said on monday .

mechanism        alpha  level  eps of any two  unchanged  a word takes
Madlib           10.85  7.841           166.2  3 of 5
Madlib at delta  5.961  3.581           91.35  2 of 5
truncated        3.581      -           16.24  2 of 5
exponential      2.893      -           44.33  3 of 5
`

func TestWords_Text(t *testing.T) {
	dir := t.TempDir()
	out := program.Must(t, "-quiet", "-kept", ".8", "-vocabulary", "800", "-text", "My sister is in London, my father plays on Monday.", "-n", "2", "-many", "0", "-time", "0", "-out", dir)
	text, _, _ := strings.Cut(out, "mechanism                    level")
	demotest.Golden(t, demotest.Untimed(text), goldenText)
	if n := len(demotest.Table(t, dir, "text.csv")); n != 12 {
		t.Errorf("text.csv: %d rows", n)
	}
}

// chats are what people write to one another, with what a vocabulary of 5,000 words lacks.
var chats = strings.Split(`hey!! r u coming to Berlin on FRIDAY?? 😂😂
Can't, my daughter is in hospital :( since monday...
omg what happened??? 😱
Doctor says it's her heart, they don't know yet
I've told my boss I need money, he wasn't happy...
call me: +49 171 2345678 or anna.schmidt@example.org
here's the report -> https://example.org/r/8271?patient=schmidt
LOL no way, the POLICE came to our school 2day
@tom did u see the game?? 3:1 for Liverpool ⚽🇬🇧
she lost her job at the bank & her husband left
voted for the labour party, don't tell dad 🤫
flight LH 2041 lands 18:35, Gate B12
happy birthday!!! 🎂🎉🎉 love u sooo much ❤️❤️
meeting moved 2 tue 9am — bring the contract
We're at St. Mary's church, the wedding's at 4
got the test back: positive. please keep it secret
pls send 250€ to my account DE89370400440532013000
the lawyer said the court won't decide b4 June
ok ok 👍🏽 c u @ the station
GOOD NIGHT :-)`, "\n")

// Nothing of a chat is released but words of the vocabulary, and public ones where they stood;
// capitals make no difference; and at the level for it no word stays more often than asked
// (false rejects 1e-6: 5 standard errors of all the words).
func TestWords_Chats(t *testing.T) {
	v := testkit.Must(words.Read(t.Context(), bytes.NewReader(frequent), nil))
	stop := strings.Fields(stopWords)
	reach := testkit.Must(reachOf(t.Context(), v))
	var said []int
	for _, line := range chats {
		for _, w := range v.Split(line, stop...) {
			if x, ok := v.Index(w); ok && !slices.Contains(stop, w) {
				said = append(said, x)
			}
		}
	}
	level := testkit.Must(v.ChooseAlpha(t.Context(), .3, &words.ChooseOptions{Reach: reach, Words: said, Every: true}))
	m := testkit.Must(exponential.Truncated(t.Context(), v.Points(), level.Lo, reach, nil))
	for _, x := range said {
		if p := m.Prob(x, x); p > .3 {
			t.Errorf("%s stays with probability %v at %v", v.Words()[x], p, level)
		}
	}
	text := testkit.Must(words.NewText(testkit.Must(mechanism.Labels(m, v.Words(), v.Words())), &words.TextOptions{Stop: stop, Unknown: "time"}))
	rng, kept, private, unknown := random.Seeded(4), 0, 0, 0
	for _, line := range chats {
		tokens := v.Split(line, stop...)
		if loud := v.Split(strings.ToUpper(line), stop...); !slices.Equal(loud, tokens) {
			t.Errorf("%q in capitals: %q", tokens, loud)
		}
		for range 10 {
			for i, w := range testkit.Must(text.Release(rng, tokens)) {
				_, known := v.Index(tokens[i])
				switch _, ok := v.Index(w); {
				case slices.Contains(stop, tokens[i]):
					if w != tokens[i] {
						t.Errorf("%q for the public %q", w, tokens[i])
					}
					continue
				case !ok:
					t.Errorf("%q: %q came out for %q", line, w, tokens[i])
				case known && w == tokens[i]:
					kept++
				case !known:
					unknown++
				}
				private++
			}
		}
	}
	known := float64(private - unknown)
	if share := float64(kept) / known; share > .3+5*math.Sqrt(.3*.7/known) || unknown < 400 || known < 700 {
		t.Errorf("%d of %v words stay, %d are unknown", kept, known, unknown)
	}
	t.Logf("%d known words and %d others in %d lines: %v keeps %.2f", int(known)/10, unknown/10, len(chats), level, float64(kept)/known)
}

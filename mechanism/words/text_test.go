package words

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/mechanism/mechanismtest"
	"github.com/metricdp/metricdp/metric"
)

// three words on a line, at 0, 1 and 3.
func three(t *testing.T, alpha float64) (*exponential.Mechanism, mechanism.Mechanism[string, string]) {
	t.Helper()
	v := testkit.Must(New([]string{"a", "b", "c"}, [][]float32{{0}, {1}, {3}}))
	m := testkit.Must(exponential.Standard(t.Context(), v.Points(), alpha, nil))
	return m, testkit.Must(mechanism.Labels(m, v.Words(), v.Words()))
}

// The channel of all texts of two words, by its exact matrix, is private at the level of a
// word for the sum of the distances, and not at one 2 percent less; and for the largest
// distance at the level that Total gives.
func TestText_Audit(t *testing.T) {
	m, named := three(t, .8)
	text := testkit.Must(NewText(named, nil))
	var weights []float64
	for x := range 9 {
		for y := range 9 {
			weights = append(weights, m.Prob(x/3, y/3)*m.Prob(x%3, y%3))
		}
	}
	pairs := make([]int, 9)
	for i := range pairs {
		pairs[i] = i
	}
	at := []float64{0, 1, 3}
	space := func(join func(a, b float64) float64) metric.Finite {
		return testkit.Must(metric.NewPoints(pairs, metric.Func[int](func(x, y int) float64 {
			return join(math.Abs(at[x/3]-at[y/3]), math.Abs(at[x%3]-at[y%3]))
		})))
	}
	c := testkit.Must(mechanism.FromWeights(t.Context(), 9, 9, weights, nil))
	sum := testkit.Must(c.Audit(t.Context(), space(func(a, b float64) float64 { return a + b }), nil))
	if one := text.Guarantee().Alpha(); sum.Hi > one*(1+1e-9) || sum.Hi < .98*one {
		t.Errorf("audited level %v for the sum, want %v", sum.Hi, one)
	}
	n, total, err := text.Total([]string{"a", "c"})
	testkit.Check(t, err)
	most := testkit.Must(c.Audit(t.Context(), space(math.Max), nil))
	if n != 2 || most.Hi > total.Alpha()*(1+1e-9) || most.Hi < .98*total.Alpha() {
		t.Errorf("audited level %v for the largest distance, want %v for %d words", most.Hi, total, n)
	}
}

// Stop words stay where they are and cost nothing; unknown ones come out as their stand-in
// would; each place has a draw of its own, with the distribution of the word.
func TestText_Release(t *testing.T) {
	m, named := three(t, 1)
	text := testkit.Must(NewText(named, &TextOptions{Stop: []string{"the", ","}, Unknown: "c"}))
	in := []string{"the", "a", ",", "?", "a"}
	rng := random.Seeded(3)
	counts := make([]int, 27)
	for range 20_000 {
		out := testkit.Must(text.Release(rng, in))
		if len(out) != 5 || out[0] != "the" || out[2] != "," {
			t.Fatal(out)
		}
		at := func(i int) int { return strings.Index("abc", out[i]) }
		counts[9*at(1)+3*at(3)+at(4)]++
	}
	want := make([]float64, 27)
	for k := range want {
		want[k] = m.Prob(0, k/9) * m.Prob(2, k/3%3) * m.Prob(0, k%3)
	}
	testkit.ChiSquare(t, counts, want, 1e-7)
	if n, g, err := text.Total(in); n != 3 || g.Alpha() != 3*m.Guarantee().Alpha() || err != nil {
		t.Errorf("%d words, %v, %v", n, g, err)
	}
	if n, g, err := text.Total([]string{"the", ","}); n != 0 || g.Alpha() != 0 || err != nil {
		t.Errorf("%d words, %v, %v", n, g, err)
	}
	for n := range 3 {
		if _, g, err := testkit.Must(NewText(near{named}, nil)).Total(make([]string, n)); err != nil || g.Reach() != 2 {
			t.Errorf("%d words of a shorter reach: %v, %v", n, g, err)
		}
	}
	if !slices.Equal(in, []string{"the", "a", ",", "?", "a"}) {
		t.Error("the text was changed")
	}
}

// near promises something for words up to a distance of 2 only.
type near struct {
	mechanism.Mechanism[string, string]
}

func (m near) Guarantee() mechanism.Guarantee {
	return testkit.Must(m.Mechanism.Guarantee().Within(2))
}

func TestText_Conformance(t *testing.T) {
	_, named := three(t, 1)
	text := testkit.Must(NewText(named, &TextOptions{Stop: []string{"the"}}))
	o := &mechanismtest.Options[[]string, []string]{Key: func(y []string) any { return strings.Join(y, " ") }, Refused: [][]string{{"x"}, {"the", "", "a"}}}
	testkit.Check(t, mechanismtest.TestMechanism(t.Context(), text, [][]string{{"a", "the", "b"}, {"c", "c", "c"}}, o))
	if _, err := mechanismtest.TestLevel(t.Context(), text, []string{"a", "the", "b"}, []string{"b", "the", "c"}, 3, o); err != nil {
		t.Error(err)
	}
}

// Errors name the call, the argument and what is wrong.
func TestErrors(t *testing.T) {
	_, named := three(t, 1)
	strict := testkit.Must(NewText(mechanism.Then(named, func(s string) (string, error) { return s, nil }), nil))
	v, one := testkit.Must(New([]string{"u", "v", "w"}, [][]float32{{0}, {1}, {3}})), [][]float32{{1}, {2}}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	testkit.Refused(t, [][3]any{
		{testkit.Err(strict.Release(nil, []string{"a", "x"})), "words: Text.Release: word 1: ", mechanism.ErrNotAPoint},
		{testkit.Err(strict.Release(nil, []string{"x"})), " labels: see TextOptions.Unknown"},
		{testkit.Err(NewText(nil, nil)), "words: NewText: m: empty"},
		{testkit.Err(NewText(testkit.Must(mechanism.NewSticky(named, nil)), nil)), "words: NewText: m: " + mechanism.ErrMemoized.Error()},
		{testkit.Err(NewText(named, &TextOptions{Stop: []string{"the", "\xff"}})), `words: NewText: Stop[1] = "\xff" is not valid UTF-8`},
		{testkit.Err(NewText(rough{named}, nil)), "words: NewText: the delta of m = 0.1, want 0"},
		{testkit.Err(NewText(named, &TextOptions{Unknown: "x"})), `words: NewText: Unknown = "x": mechanism: Labels`},
		{testkit.Err(NewText(named, &TextOptions{Unknown: "a", Stop: []string{"a"}})), `Unknown = "a" is a stop word`},
		{testkit.Err(new(Text).Release(nil, nil)), "NewText"},
		{testkit.Err(New(nil, nil)), "words: New: words: empty"},
		{testkit.Err(New([]string{"a"}, one)), "words: New: vectors has size 2, want 1"},
		{testkit.Err(New([]string{"a", ""}, one)), "words: New: words[1] is empty"},
		{testkit.Err(New([]string{"a", "b"}, [][]float32{{1}, {1, 2}})), "pts[1]"},
		{testkit.Err(New([]string{"a", "b"}, [][]float32{{1}, {float32(math.NaN())}})), "pts[1]"},
		{testkit.Err(v.Nearest("x", 1)), `"x" is none of the 3 words`},
		{testkit.Err(v.Nearest("w", 0)), "k = 0"},
		{testkit.Err(v.Nearest("w", 3)), "k = 3"},
		{testkit.Err(v.ChooseAlpha(t.Context(), 0, nil)), "words: Vocabulary.ChooseAlpha: stay = 0"},
		{testkit.Err(v.ChooseAlpha(t.Context(), 1, nil)), "stay = 1"},
		{testkit.Err(v.ChooseAlpha(t.Context(), .5, &ChooseOptions{Reach: -1})), "words: Vocabulary.ChooseAlpha: Reach = -1"},
		{testkit.Err(v.ChooseAlpha(t.Context(), .5, &ChooseOptions{Words: []int{3}})), "Words[0] = 3"},
		{testkit.Err(v.ChooseAlpha(t.Context(), .5, &ChooseOptions{Words: []int{}})), "Words: empty"},
		{testkit.Err(v.ChooseAlpha(t.Context(), .5, &ChooseOptions{Draws: -1})), "Draws = -1"},
		{testkit.Err(v.ChooseAlpha(ended, .5, nil)), context.Canceled.Error()},
		{testkit.Err(new(Vocabulary).ChooseAlpha(t.Context(), .5, nil)), "the vocabulary: empty"},
		{testkit.Err(new(Vocabulary).Reach(t.Context())), "words: "},
	})
	if g, zero := new(Text).Guarantee(), new(Vocabulary); !math.IsInf(g.Alpha(), 1) || zero.Len() != 0 || zero.Dim() != 0 {
		t.Error(g, zero)
	}
}

// rough is a mechanism with a delta.
type rough struct {
	mechanism.Mechanism[string, string]
}

func (rough) Guarantee() mechanism.Guarantee {
	return testkit.Must(mechanism.NewGuarantee(1, .1, ""))
}

// At the level that is estimated the share of words that stay is the one asked for: exactly for
// the exponential mechanism, within what 2,000 releases show for Madlib (7 standard errors). For
// every word it is the most of any.
func TestVocabulary_ChooseAlpha(t *testing.T) {
	v := testkit.Must(Read(t.Context(), generated(400, 25), nil))
	stays := func(alpha, reach float64) (mean, most float64) {
		m := testkit.Must(exponential.Truncated(t.Context(), v.Points(), alpha, reach, nil))
		for x := range v.Len() {
			mean += m.Prob(x, x) / float64(v.Len())
			most = max(most, m.Prob(x, x))
		}
		return mean, most
	}
	mean := func(alpha, reach float64) float64 { m, _ := stays(alpha, reach); return m }
	for _, share := range []float64{.3, .8}[:testkit.Sweep(1, 2)] {
		for _, reach := range []float64{1.2, 3, 1e6} {
			l := testkit.Must(v.ChooseAlpha(t.Context(), share, &ChooseOptions{Reach: reach, Draws: 2000, Seed: 5}))
			if lo, got, hi := mean(l.Lo, reach), mean(l.Alpha, reach), mean(l.Hi, reach); lo > share || hi < share || math.Abs(got-share) > .05 || hi-lo > .15 {
				t.Errorf("share %v, reach %v: %v keeps %v, in [%v, %v]", share, reach, l, got, lo, hi)
			}
			l = testkit.Must(v.ChooseAlpha(t.Context(), share, &ChooseOptions{Reach: reach, Every: true}))
			if _, most := stays(l.Lo, reach); most > share || most < share*(1-1e-3) || l != (Level{l.Lo, l.Lo, l.Lo, 1}) {
				t.Errorf("every word, share %v, reach %v: %v keeps %v", share, reach, l, most)
			}
		}
		l := testkit.Must(v.ChooseAlpha(t.Context(), share, &ChooseOptions{Draws: 2000, Seed: 5}))
		words := []int{7, 70, 300}
		every := testkit.Must(v.ChooseAlpha(t.Context(), share, &ChooseOptions{Draws: 1000, Seed: 5, Words: words, Every: true}))
		keeps := func(alpha float64, of func(k int) int) float64 {
			m, rng, kept := testkit.Must(additive.NewMadlib(v.Vectors(), alpha, nil)), random.Seeded(6), 0
			for k := range 2000 {
				if testkit.Must(m.Release(rng, of(k))) == of(k) {
					kept++
				}
			}
			return float64(kept) / 2000
		}
		all := func(k int) int { return k % v.Len() }
		const err = 7 * .5 / 44
		if keeps(l.Lo, all) > share+err || keeps(l.Hi, all) < share-err || math.Abs(keeps(l.Alpha, all)-share) > err+.03 || !(l.Lo < l.Alpha && l.Alpha < l.Hi && l.Hi < 1.2*l.Lo) {
			t.Errorf("Madlib, share %v: %v keeps %v", share, l, keeps(l.Alpha, all))
		}
		most := func(alpha float64) (most float64) {
			for _, x := range words {
				most = max(most, keeps(alpha, func(int) int { return x }))
			}
			return most
		}
		if most(every.Lo) > share+err || most(every.Hi) < share-err || math.Abs(most(every.Alpha)-share) > err+.05 || !(every.Lo < every.Alpha && every.Alpha < every.Hi) {
			t.Errorf("Madlib, every word, share %v: %v keeps %v", share, every, most(every.Alpha))
		}
	}
	one := testkit.Must(v.ChooseAlpha(t.Context(), .5, &ChooseOptions{Reach: 2, Words: []int{7}, Draws: 100, Workers: 1}))
	if again := testkit.Must(v.ChooseAlpha(t.Context(), .5, &ChooseOptions{Reach: 2, Words: []int{7, 7}, Draws: 100, Workers: 2})); again.Alpha/one.Alpha > 2 || one.Alpha/again.Alpha > 2 {
		t.Errorf("%v and %v", one, again)
	}
	same := testkit.Must(New([]string{"a", "b"}, [][]float32{{1}, {1}}))
	if l := testkit.Must(same.ChooseAlpha(t.Context(), .6, &ChooseOptions{Reach: 2})); !math.IsInf(l.Alpha, 1) {
		t.Errorf("two words of one vector are told apart at %v", l)
	}
}

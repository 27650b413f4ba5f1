package words

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"unicode/utf8"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism"
)

// Text releases texts word by word: every word that is not public by a draw of its own. A word is a
// token, as [Vocabulary.Split] makes them.
//
// Public are how many words a text has, and which places hold a word of TextOptions.Stop, with the word;
// they come out as they are. Two texts are compared where these agree: the guarantee is alpha, the level of
// one word, per unit of the sum over the other places of the distances between the two words there, as
// draws are independent. [Text.Total] has the level per unit of the largest of the distances. A released
// word may be a stop word too, by chance. An error after some words were drawn spends these draws.
//
// A Text is immutable and safe for concurrent use.
type Text struct {
	m       mechanism.Mechanism[string, string]
	stop    map[string]bool
	unknown string
}

// TextOptions tune [NewText]. Nil and the zero value mean the defaults.
type TextOptions struct {
	// Stop lists public words, such as "the" and ",", which stay as they are. A place where one
	// stands is public.
	Stop []string
	// Unknown is the word that takes the place of one that is not in the vocabulary, before it is
	// released; distances are those of the word in place. "" refuses texts with such words.
	Unknown string
}

var _ mechanism.Mechanism[[]string, []string] = (*Text)(nil)

// NewText returns the mechanism that releases words by m, one of mechanism.Labels: it must report words
// that are not its own as [mechanism.ErrNotAPoint], and have delta 0. An m that repeats draws, such as a
// mechanism.Sticky, is [mechanism.ErrMemoized]: a word that occurs twice would show. The error also reports
// a stop word that is not valid UTF-8, and an Unknown that m does not know or that is a stop word.
func NewText(m mechanism.Mechanism[string, string], o *TextOptions) (*Text, error) {
	const op = "words: NewText"
	if m == nil {
		return nil, fault.Empty(op, "m", 0)
	}
	if err := fault.Independent(m); err != nil {
		return nil, fmt.Errorf("%s: m: %w", op, err)
	}
	if o == nil {
		o = &TextOptions{}
	}
	if d := m.Guarantee().Delta(); d != 0 {
		return nil, fault.Value(op, "the delta of m", d, "0")
	}
	t := &Text{m, make(map[string]bool, len(o.Stop)), o.Unknown}
	for i, w := range o.Stop {
		if !utf8.ValidString(w) {
			return nil, fmt.Errorf("%s: Stop[%d] = %.40q is not valid UTF-8", op, i, w)
		}
		t.stop[w] = true
	}
	if w := o.Unknown; w != "" {
		if t.stop[w] {
			return nil, fmt.Errorf("%s: Unknown = %.40q is a stop word", op, w)
		}
		if _, err := m.Release(nil, w); err != nil { // a public word: nothing is spent
			return nil, fmt.Errorf("%s: Unknown = %.40q: %w", op, w, err)
		}
	}
	return t, nil
}

// Guarantee is that of one word, per unit of the sum of the distances of two texts.
func (t *Text) Guarantee() mechanism.Guarantee {
	if t == nil || t.m == nil {
		return mechanism.Guarantee{}
	}
	return t.m.Guarantee()
}

// Total returns the number n of words of a text that are not public, and the level of the text per
// unit of the largest distance of two words at one place: n times that of a word. It depends on
// what is public alone.
//
// At a delta > 0 the level may be far less: that of n releases of the words' mechanism in
// [mechanism.Composition.AuditAt], for texts whose words are at most its distance apart at every place.
func (t *Text) Total(text []string) (n int, g mechanism.Guarantee, err error) {
	if err := t.check("words: Text.Total"); err != nil {
		return 0, mechanism.Guarantee{}, err
	}
	for _, w := range text {
		if !t.stop[w] {
			n++
		}
	}
	return n, t.Guarantee().Times(n), nil
}

func (t *Text) check(op string) error {
	return fault.Made(t != nil && t.m != nil, op, "Text", "NewText")
}

// Release returns the released words in a new slice, of the length of text. A word that m does not know is
// an error, without an Unknown, that names the place; nothing is returned then. One release of m a word.
func (t *Text) Release(rng *rand.Rand, text []string) ([]string, error) {
	const op = "words: Text.Release"
	if err := t.check(op); err != nil {
		return nil, err
	}
	rng, done := random.Get(rng)
	defer done()
	out := make([]string, len(text))
	for i, w := range text {
		if t.stop[w] {
			out[i] = w
			continue
		}
		y, err := t.m.Release(rng, w)
		if t.unknown != "" && errors.Is(err, mechanism.ErrNotAPoint) {
			y, err = t.m.Release(rng, t.unknown)
		}
		if errors.Is(err, mechanism.ErrNotAPoint) {
			return nil, fmt.Errorf("%s: word %d: %w: see TextOptions.Unknown", op, i, err)
		} else if err != nil {
			return nil, fmt.Errorf("%s: word %d: %w", op, i, err)
		}
		out[i] = y
	}
	return out, nil
}

// String is for people.
func (t *Text) String() string {
	if err := t.check("words"); err != nil {
		return err.Error()
	}
	return fmt.Sprintf("texts word by word, %d stop words: %s", len(t.stop), fault.Describe(t.m))
}

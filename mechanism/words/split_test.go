package words

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

// lexicon is a vocabulary of words that are all alike.
func lexicon(words ...string) *Vocabulary {
	vectors := make([][]float32, len(words))
	for i := range vectors {
		vectors[i] = []float32{float32(i)}
	}
	return testkit.Must(New(words, vectors))
}

func TestVocabulary_Split(t *testing.T) {
	v := lexicon("new", "york", "new_york", "new york city", "Berlin", "berlin", "BERLIN", "don't", "do", "n't", "'s", "it", "e-mail", "u.s.", "3.5", ":)", "😂", "🇩🇪", "❤", "the", "ΑΘΗΝΑ", "to")
	for text, want := range map[string]string{
		"":                                   "",
		" \n\t":                              "",
		"the NEW  York\u00a0city":            "the|new york city",
		"New York, new\nyork!":               "new_york|,|new_york|!",
		"new new york new":                   "new|new_york|new",
		"new-york newyork new_york":          "new|-|york|newyork|new_york",
		"BERLIN Berlin berlin bERLIN":        "Berlin|Berlin|Berlin|Berlin", // the first
		"αθηνα":                              "ΑΘΗΝΑ",
		"Don't don’t DO N'T":                 "don't|don't|do|n't",
		"can't, won't.":                      "ca|n't|,|wo|n't|.",
		"n't isn'to it's its":                "n't|isn|'|to|it|'s|its",
		"e-mail E‑Mail e mail":               "e-mail|e-mail|e|mail",
		"u.s. u.s":                           "u.s.|u|.|s",
		"3.5 3,5 2nd":                        "3.5|3|,|5|2nd",
		":) :-) :)":                          ":)|:|-|)|:)",
		"😂😂😭":                                "😂|😂|😭",
		"🇩🇪🇫🇷":                               "🇩🇪|🇫|🇷",
		"❤️ ❤":                               "❤|❤",
		"👩🏽‍💻":                               "👩|🏽\u200d|💻",
		"https://x.org/a?b=the, the":         "https://x.org/a?b=the|,|the",
		"(www.x.org) me@x.org. @The":         "(www.x.org|)|me@x.org|.|@the",
		"www.x.org":                          "www.x.org",
		"the\u200b t\u00adhe":                "the|the",
		"cafe\u0301 a\xffb":                  "cafe\u0301|a|\ufffd|b",
		"don't !? NEW YORK CITY the\u2014it": "don't|!?|new york city|the|-|it",
	} {
		got := v.Split(text, "!?", "don't")
		if s := strings.Join(got, "|"); s != want {
			t.Errorf("%q: %s, want %s", text, s, want)
		}
		// Tokens are what they were parted into, in capitals too, if they are of the list.
		for _, token := range got {
			if again := v.Split(strings.ToUpper(token), "!?", "don't"); slices.Contains(v.Words(), token) && !slices.Equal(again, []string{token}) {
				t.Errorf("%q is %q", token, again)
			}
		}
	}
	if got := lexicon("a").Split("Don't A", "The"); fmt.Sprint(got) != "[don ' t a]" {
		t.Error(got)
	}
	if got := new(Vocabulary).Split("The a", "The"); fmt.Sprint(got) != "[The a]" {
		t.Error(got)
	}
}

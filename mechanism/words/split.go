package words

import (
	"strings"
	"unicode"
)

// Split parts a text into tokens for a [Text]: words and phrases of the vocabulary, and the public
// tokens, such as TextOptions.Stop, both spelled as given. At every place the longest of them is
// taken, "new york" before "new".
//
// Capitals, the kind of blanks, apostrophes and quotation marks, and underscores in phrases do not matter:
// "NEW  York" is the new_york of the vocabulary, and capitals are in no release. Of entries that differ in
// these alone the first is taken. Where "n't" is a token it is cut off, as in GloVe. What is neither is a
// token of its own, in small letters, which a Text refuses or replaces: a run of letters and digits, one
// mark or emoji, and, whole, what has "://" or "@" in it or begins with "www.".
//
// O(length of text times the longest phrase), and at the first call O(Len()) for an index.
func (v *Vocabulary) Split(text string, public ...string) []string {
	tokens := []string{}
	text = plainly(text)
	v.once.Do(func() { v.phrases = newPhrases(v.words) })
	own := newPhrases(public)
	ends := atoms(text, own.tokens["n't"] != "" || v.phrases.tokens["n't"] != "")
	for k := 0; k < len(ends); {
		from := 0
		if k > 0 {
			from = ends[k-1]
		}
		for ; text[from] == ' '; from++ {
		}
		first := text[from:ends[k]]
		token, next := first, k+1
		for to := min(len(ends), k+max(own.longest[first], v.phrases.longest[first])); to > k; to-- {
			key := text[from:ends[to-1]]
			found, ok := own.tokens[key]
			if !ok {
				found, ok = v.phrases.tokens[key]
			}
			if ok {
				token, next = found, to
				break
			}
		}
		tokens, k = append(tokens, token), next
	}
	return tokens
}

// phrases finds tokens by how a text has them.
type phrases struct {
	tokens  map[string]string // by their plain form
	longest map[string]int    // by its first atom, the most atoms of a token
}

func newPhrases(list []string) phrases {
	p := phrases{make(map[string]string, len(list)), make(map[string]int, len(list))}
	for _, token := range list {
		key := plainly(token)
		if _, twice := p.tokens[key]; twice || key == "" {
			continue
		}
		p.tokens[key] = token
		for _, cut := range []bool{false, true} { // a text has n't cut off or not
			ends := atoms(key, cut)
			first := key[:ends[0]]
			p.longest[first] = max(p.longest[first], len(ends))
		}
	}
	return p
}

// plainly has small letters, one blank between words, and one of each mark.
func plainly(text string) string {
	text = strings.Map(func(r rune) rune {
		switch r {
		case '’', '‘', 'ʼ', '`':
			return '\''
		case '“', '”', '„':
			return '"'
		case '–', '—', '‑', '−':
			return '-'
		case '\ufe0f', '\u00ad', '\u200b', '\ufeff': // a variant of an emoji, and what is not seen
			return -1
		case '_':
			return ' '
		}
		return unicode.ToLower(r)
	}, text)
	return strings.Join(strings.Fields(text), " ")
}

// atoms returns where the parts of a text end of which tokens consist: runs of letters and
// digits, single other characters, addresses. cut parts n't from what it follows.
func atoms(text string, cut bool) (ends []int) {
	at := 0
	for _, chunk := range strings.Split(text, " ") {
		if body := strings.TrimRight(chunk, ".,;:!?)'\""); strings.Contains(body, "://") || strings.Contains(body, "@") || strings.HasPrefix(strings.TrimLeft(body, "(<['\""), "www.") {
			ends, at, chunk = append(ends, at+len(body)), at+len(body), chunk[len(body):]
		}
		run := false // letters before
		for i, r := range chunk {
			letter := unicode.IsLetter(r) || unicode.IsDigit(r)
			if i > 0 && (letter && run || unicode.IsMark(r) || unicode.Is(unicode.Cf, r)) {
				after, not := strings.CutPrefix(chunk[i:], "n't")
				if ends = ends[:len(ends)-1]; not && cut && !strings.ContainsFunc(after, unicode.IsLetter) {
					ends = append(ends, at+i)
				}
			}
			run = letter || run && unicode.IsMark(r)
			ends = append(ends, at+i+len(string(r)))
		}
		at += len(chunk) + 1
	}
	return ends
}

// Package citation knows what the five papers number, and finds citations of what they do not have.
package citation

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// papers has what each paper numbers: a kind, and its numbers, "a-b" for all from a to b. Sections
// include appendices. Numbers of IRC24's theorems below 2 are informal versions.
var papers = map[string]map[string]string{
	"KL10": {
		"Definition": "2.1-2.3 2.6 3.1 3.2", "Remark": "2.4 2.5", "Theorem": "2.7 3.4 A.2", "Example": "3.3",
		"Lemma": "A.1", "Section": "1-3 A", "Equation": "1-7",
	},
	"BSV24": {
		"Definition": "1.1 1.2 1.4 1.6 2.8 2.10", "Problem": "1.3", "Theorem": "1.5 1.7 3.1 3.2 4.2 5.1 6.1-6.4",
		"Fact": "2.1-2.3", "Proposition": "2.4 2.9 2.11 2.12 2.14", "Lemma": "2.5-2.7 2.15 4.1 5.2-5.4 A.1",
		"Remark": "2.13 6.5", "Section": "1-6 1.1-1.5 2.1-2.5 A", "Equation": "1.1-1.4 2.1 4.1-4.5 5.1-5.7 6.1-6.5",
	},
	"BSV22": {
		"Definition": "2.1 2.2", "Lemma": "2.3 3.2 4.1 5.3 6.1 6.2 8.3 8.4", "Theorem": "3.1 5.4 6.3 7.2 8.5 8.6 9.5 9.6",
		"Proposition": "3.3 3.4 5.1 5.2 6.5 7.1 8.1 8.2", "Corollary": "7.3 7.4 9.1-9.4", "Remark": "6.4 7.5", "Figure": "1-5",
		"Section":  "1-9 1.1-1.6 2.1 2.2 2.2.1-2.2.2 3.1-3.6 4.1 4.2 5.1 5.1.1-5.1.2 5.2 5.2.1-5.2.2 6.1-6.4 7.1 7.2 7.2.1-7.2.2 7.3 8.1-8.3 9.1 9.2",
		"Equation": "1.1-1.3 2.1-2.7 3.1-3.8 4.1 5.1-5.6 6.1 6.2 7.1-7.6 8.1-8.5 9.1-9.6",
	},
	"IKWAT22": {
		"Definition": "1-3", "Proposition": "1", "Lemma": "1", "Theorem": "1-4", "Corollary": "1", "Algorithm": "1",
		"Table": "1-4", "Figure": "1-4", "Section": "1-6 2.1 3.1 3.2 5.1-5.3 A B C", "Equation": "1-27",
	},
	"IRC24": {
		"Definition": "2.1-2.4 3.1 3.2 5.1 5.2 A.1", "Lemma": "2.1 4.2 5.2 6.1-6.4 6.7 A.1 A.2 B.1-B.5",
		"Theorem": "1.1-1.3 4.1 4.3 4.4 5.3 6.5 6.6", "Corollary": "6.8", "Fact": "5.1", "Algorithm": "1-4", "Table": "1 2 2a 2b",
		"Section": "1-9 1.1 1.1.1-1.1.3 2.1 2.2 4.1 4.2 6.1 6.1.1-6.1.2 6.2 6.2.1-6.2.2 A B B.1-B.5 C C.1 C.2 D D.1-D.5", "Equation": "1-26",
	},
}

// has says whether a paper has such a number: of that kind, or where that is "Number" of some kind.
func has(paper, kind, number string) bool {
	for k, list := range papers[paper] {
		if k != kind && kind != "Number" {
			continue
		}
		for _, item := range strings.Fields(list) {
			first, last, _ := strings.Cut(item, "-")
			if number == first || last != "" && between(number, first, last) {
				return true
			}
		}
	}
	return false
}

// between says whether a number is one from first to last, which differ behind their last dot.
func between(number, first, last string) bool {
	cut := strings.LastIndex(first, ".") + 1
	if len(number) < cut || number[:cut] != first[:cut] {
		return false
	}
	n, err := strconv.Atoi(number[cut:])
	lo, _ := strconv.Atoi(first[cut:])
	hi, _ := strconv.Atoi(last[cut:])
	return err == nil && lo <= n && n <= hi
}

const (
	item = `(?:[A-D](?:\.\d+)*|\d+(?:\.\d+)*)[ab]?\b`
	tags = `KL10|BSV24|BSV22|IKWAT22|IRC24`
)

var (
	// source is what a text is about from there on: one of the papers, by its initials or its
	// title, or another one, by initials or a year.
	source = regexp.MustCompile(`\b(?:` + tags + `)\b|\b[A-Z]{2,6}\d\d\b|\b(?:19|20)\d\d\b|(?i:metric geometry of the privacy|private measures, random walks|privacy-compatibility for|balancing utility and scal|privacy at the user.level via)`)
	titles = map[string]string{
		"metric geometry of the privacy": "BSV24", "private measures, random walks": "BSV22", "privacy-compatibility for": "KL10",
		"balancing utility and scal": "IKWAT22", "privacy at the user": "IRC24",
	}
	cited = regexp.MustCompile(`(?i:\b(theorem|lemma|proposition|corollary|definition|fact|remark|example|problem|algorithm|figure|table|section|appendix))(s|ies)? (` + item + `(?:(?:,? and|,? or| to|,) ` + item + `)*)`)
	items = regexp.MustCompile(item)
	bare  = regexp.MustCompile(`\b(` + tags + `)(?:,|'s)? (?:\((\d+(?:\.\d+)?)\)(?: and \((\d+(?:\.\d+)?)\))?|(\d\.\d+)\))`)
	after = regexp.MustCompile(`^\)?,? (?:of |in |\()(` + tags + `)\b`)
	space = regexp.MustCompile(`\s+`)
	names = regexp.MustCompile(tags)
)

// one is a citation: a kind as "Theorem", "Section" for appendices too, and a number.
type one struct {
	paper        string // "" where the text names none before it, "other" for that of another paper
	kind, number string
}

// find returns the citations of a text. Where several numbers follow, a plural is before
// them. A word in small letters cites only right behind a paper's initials.
func find(text string) (all []one) {
	if !strings.ContainsAny(text, "0123456789ABCD") {
		return nil
	}
	text = space.ReplaceAllString(text, " ")
	numbered := cited.FindAllStringSubmatchIndex(text, -1)
	var sources [][]int
	if numbered != nil {
		sources = source.FindAllStringIndex(text, -1)
	}
	for _, m := range numbered {
		paper, end := "", 0
		titled := false
		for _, s := range sources {
			if s[0] > m[0] {
				break
			}
			name := text[s[0]:s[1]]
			title, isTitle := "", false
			for t, p := range titles {
				if strings.HasPrefix(strings.ToLower(name), t) {
					title, isTitle = p, true
				}
			}
			switch {
			case isTitle:
				paper = title
			case papers[name] != nil:
				paper = name
			case titled && name[0] <= '9': // the year of that title
				continue
			default:
				paper = "other"
			}
			titled, end = isTitle, s[1]
		}
		word := text[m[2]:m[3]]
		if of := after.FindStringSubmatch(text[m[1]:]); of != nil {
			paper = of[1]
		} else if word[0] >= 'a' && (paper == "" || strings.Trim(text[end:m[0]], ",:' s(") != "") {
			continue
		}
		kind := strings.ToUpper(word[:1]) + strings.ToLower(word[1:])
		if kind == "Appendix" {
			kind = "Section"
		}
		numbers := items.FindAllString(text[m[6]:m[7]], -1)
		if m[4] < 0 { // no plural
			numbers = numbers[:1]
		}
		for _, n := range numbers {
			all = append(all, one{paper, kind, n})
		}
	}
	for _, m := range bare.FindAllStringSubmatch(text, -1) {
		for i, n := range m[2:] {
			if n != "" {
				all = append(all, one{m[1], []string{"Equation", "Equation", "Number"}[i], n})
			}
		}
	}
	return all
}

// Wrong returns the citations of a text that the papers do not have. Those that name no
// paper are of one of the given ones, or of no matter what where there are none.
func Wrong(text string, otherwise ...string) (wrong []string) {
	for _, c := range find(text) {
		from := []string{c.paper}
		if c.paper == "" {
			from = otherwise
		}
		known := func(p string) bool { return p == "other" || has(p, c.kind, c.number) }
		if len(from) > 0 && !slices.ContainsFunc(from, known) {
			wrong = append(wrong, fmt.Sprint(strings.Join(from, " or "), " ", c.kind, " ", c.number))
		}
	}
	return wrong
}

// Papers returns those of the five that a text names by their initials.
func Papers(text string) []string {
	return slices.Compact(slices.Sorted(slices.Values(names.FindAllString(text, -1))))
}

// Place returns an error unless a place names something that the paper numbers, an equation
// as "(2.7)", and nothing that it does not.
func Place(paper, place string) error {
	if wrong := Wrong(paper + ", " + place); len(wrong) > 0 {
		return fmt.Errorf("%q: there is no %s", place, strings.Join(wrong, ", "))
	}
	if len(find(paper+", "+place)) == 0 {
		return fmt.Errorf("%q: not a place in %s, as \"Theorem 3.1\" or \"Section 2.3\"", place, paper)
	}
	return nil
}

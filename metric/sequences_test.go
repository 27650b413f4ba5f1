package metric_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/metric"
	"github.com/metricdp/metricdp/metric/metrictest"
)

func randomString(rng *rand.Rand, alphabet []rune, n int) string {
	var b strings.Builder
	for range n {
		b.WriteRune(alphabet[rng.IntN(len(alphabet))])
	}
	return b.String()
}

var alphabets = [][]rune{
	[]rune("ab"),
	[]rune("abcdefghijklmnopqrstuvwxyz"),
	[]rune("aé漢🙂 "),
	{'a', 'a' + 128, 'a' + 256, 'b' + 128, 'b' + 1280, '\u007f', '\u00ff'}, // one slot for several runes
}

func TestSequences_Metric(t *testing.T) {
	r := random.Seeded(1)
	var words [][]byte
	var texts []string
	for range 20 {
		w := randomString(r, alphabets[0], 5)
		words = append(words, []byte(w))
		texts = append(texts, w[:r.IntN(6)], randomString(r, alphabets[2], r.IntN(5)))
	}
	texts = append(texts, "", strings.Repeat("ab", 50), strings.Repeat("ba", 50)+"a")
	conform(t, "Hamming", metric.Hamming[byte]{}, nil, words...)
	conform(t, "Levenshtein", metric.Levenshtein{}, nil, texts...)
	runes := make([][]rune, len(texts))
	for i, s := range texts {
		runes[i] = []rune(s)
	}
	for _, base := range []float64{0, 1.5, 2, math.E, 1e10} {
		conform(t, fmt.Sprint("CommonPrefix, base ", base), metric.CommonPrefix[rune]{Base: base}, &metrictest.Options{Ultrametric: true}, runes...)
	}
}

func TestPrefix_ClosedForms(t *testing.T) {
	for _, c := range []struct {
		x, y string
		k    float64 // the common prefix, or +Inf
	}{
		{"", "", math.Inf(1)}, {"", "a", 0}, {"abc", "abc", math.Inf(1)}, {"abc", "abd", 2}, {"ab", "abd", 2},
		{"éa", "éb", 1}, {"é", "è", 0}, // é and è share a byte
		{"漢字", "漢学", 1}, {"a漢", "a", 1}, {"🙂🙃", "🙂🙂", 1}, {"日", "旦", 0},
	} {
		want := math.Exp2(-c.k)
		if got := (metric.CommonPrefix[rune]{}).Distance([]rune(c.x), []rune(c.y)); got != want {
			t.Errorf("CommonPrefix(%q, %q) = %v, want %v", c.x, c.y, got, want)
		}
	}
	if got := (metric.CommonPrefix[bool]{Base: 10}).Distance([]bool{true, true, true}, []bool{true, true}); math.Abs(got-0.01) > 1e-17 {
		t.Errorf("base 10: %v", got)
	}
}

// plainLevenshtein is the textbook matrix.
func plainLevenshtein(x, y string) float64 {
	a, b := []rune(x), []rune(y)
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for j := range d[i] {
			switch {
			case i == 0 || j == 0:
				d[i][j] = i + j
			case a[i-1] == b[j-1]:
				d[i][j] = d[i-1][j-1]
			default:
				d[i][j] = 1 + min(d[i-1][j-1], d[i-1][j], d[i][j-1])
			}
		}
	}
	return float64(d[len(a)][len(b)])
}

func TestLevenshtein_AgreesWithTheMatrix(t *testing.T) {
	r := random.Seeded(2)
	check := func(x, y string) {
		t.Helper()
		want, s := plainLevenshtein(x, y), metric.Levenshtein{}
		if got, back := s.Distance(x, y), s.Distance(y, x); got != want || back != want {
			t.Errorf("%q, %q: %v, backwards %v, want %v", x, y, got, back, want)
		}
	}
	check("kitten", "sitting") // 3
	check("", "")
	check("\xff\xfe", "\xff") // broken bytes read as U+FFFD
	lengths := []int{0, 1, 2, 7, 31, 63, 64, 65, 100, 127, 128, 129, 200}
	for _, alphabet := range alphabets {
		for _, m := range lengths {
			for _, n := range lengths {
				check(randomString(r, alphabet, m), randomString(r, alphabet, n))
			}
			// A few edits of one string.
			x := []rune(randomString(r, alphabet, m+3))
			y := append([]rune{}, x...)
			for range 3 {
				k := r.IntN(len(y))
				y = append(y[:k], append([]rune{alphabet[r.IntN(len(alphabet))]}, y[k+r.IntN(2):]...)...)
			}
			check(string(x), string(y))
		}
	}
	for range 2000 {
		alphabet := alphabets[r.IntN(len(alphabets))]
		check(randomString(r, alphabet, r.IntN(12)), randomString(r, alphabet, r.IntN(12)))
	}
}

func FuzzLevenshtein(f *testing.F) {
	f.Add("kitten", "sitting")
	f.Add(strings.Repeat("漢a", 40), strings.Repeat("a漢", 50))
	f.Add("\xff\xe6", "\xe6\xbc")
	f.Fuzz(func(t *testing.T, x, y string) {
		if len(x)*len(y) > 1<<20 {
			return
		}
		if got, want := (metric.Levenshtein{}).Distance(x, y), plainLevenshtein(x, y); got != want {
			t.Errorf("%q, %q: %v, want %v", x, y, got, want)
		}
	})
}

package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/metricdp/metricdp/examples/internal/demo"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/mechanism/exponential"
	"github.com/metricdp/metricdp/mechanism/words"
	"github.com/metricdp/metricdp/metric"
)

//go:embed frequent.txt.gz
var frequent []byte

const (
	defaultText = "My sister lost her job. The nurse at a hospital in London told my father on Monday that he has cancer. " +
		"We owe the bank money, and the police want my brother for drugs."
	maxVocabulary = 1_000_000
	// stopWords are public: they stay, and it is seen where they stand.
	stopWords = ". , ; : ! ? ' - a an the and or but if of in on at to for from by with as that this these those there " +
		"i you he she it we they me him her us them my your his its our their who what which " +
		"is are was were be been am has have had do does did will would can could may not no so than then"
	sampled = 200 // words whose nearest one is looked for
)

// release is one mechanism for texts, at a level that was looked for.
type release struct {
	name  string
	alpha float64
	level float64 // at delta, an upper bound; NaN where there is none
	any   float64 // eps between any two words
	m     mechanism.Mechanism[int, int]
	text  []string
	took  time.Duration
}

// releaseText shows what the mechanisms for large vocabularies do to a text, each at the
// level at which the same share of all words stays unchanged.
func releaseText(ctx context.Context, p *demo.Program, text string, n int, kept float64) error {
	f, name, err := p.Input("frequent.txt.gz", frequent)
	if err != nil {
		return err
	}
	defer f.Close()
	v, err := words.Read(ctx, f, &words.ReadOptions{Name: name, Max: n})
	if err != nil {
		return err
	}
	stop := strings.Fields(stopWords)
	tokens, places := v.Split(text, stop...), 0
	known := slices.ContainsFunc(tokens, func(w string) bool { _, ok := v.Index(w); return ok && !slices.Contains(stop, w) })
	first := slices.IndexFunc(v.Words(), func(w string) bool { return !slices.Contains(stop, w) })
	reach, err := reachOf(ctx, v)
	if err != nil {
		return err
	}
	if !known || first < 0 || reach == 0 {
		p.Remark("no text to show: %s has none of its words, or no distances between words.\n", filepath.Base(name))
		return nil
	}
	o := &words.TextOptions{Stop: stop, Unknown: v.Words()[first]}
	list, err := releases(ctx, p, v, reach, kept)
	if err != nil {
		return err
	}
	for k := range list {
		r := &list[k]
		named, err := mechanism.Labels(r.m, v.Words(), v.Words())
		if err != nil {
			return err
		}
		whole, err := words.NewText(named, o)
		if err != nil {
			return err
		}
		if places, _, err = whole.Total(tokens); err != nil {
			return err
		}
		start := time.Now()
		if r.text, err = whole.Release(random.Seeded(p.Seed+uint64(k)), tokens); err != nil {
			return err
		}
		r.took = time.Since(start) / time.Duration(max(1, places))
	}
	p.Remark("%v of %s; each mechanism at the level at which some %v %% of all words stay as they are.", v, filepath.Base(name), 100*kept)
	show(p, tokens, list)
	t := demo.NewTable("mechanism", "alpha", "level", "eps of any two", "unchanged", "a word takes")
	for _, r := range list {
		same := 0
		for i, w := range r.text {
			if w == tokens[i] && !slices.Contains(stop, w) {
				same++
			}
		}
		t.Row(r.name, r.alpha, r.level, r.any, fmt.Sprintf("%d of %d", same, places), r.took)
	}
	p.Print(t)
	p.Remark("alpha: per unit of distance, for one word; for the text, of which %d words are private, %d times that. level: a", places, places)
	p.Remark("level per unit that the noise keeps but for delta = %v; Madlib at delta has the alpha of truncated there. Stop words and", delta)
	p.Remark("marks are public, and so is where they stand. Words that are not in the vocabulary are released as %q would be.\n", o.Unknown)
	return p.WriteFile("text.csv", func(w io.Writer) error {
		columns := []string{"word"}
		for _, r := range list {
			columns = append(columns, r.name)
		}
		t := demo.NewTable(columns...)
		for i, word := range tokens {
			row := []any{word}
			for _, r := range list {
				row = append(row, r.text[i])
			}
			t.Row(row...)
		}
		return t.WriteCSV(w)
	})
}

// reachOf is a quarter more than the median distance to the nearest other word.
func reachOf(ctx context.Context, v *words.Vocabulary) (float64, error) {
	near := make([]float64, 0, sampled)
	ix := metric.NewIndex(v.Points())
	for k := range min(sampled, v.Len()) {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		_, d := ix.Nearest(k * v.Len() / min(sampled, v.Len()))
		near = append(near, d)
	}
	slices.Sort(near)
	if d := near[len(near)/2]; d < math.Inf(1) {
		return 1.25 * d, nil
	}
	return 0, nil
}

// releases builds the mechanisms.
func releases(ctx context.Context, p *demo.Program, v *words.Vocabulary, reach, kept float64) ([]release, error) {
	report, wipe := p.Progress("levels")
	defer wipe()
	wide, err := v.Reach(ctx)
	if err != nil {
		return nil, err
	}
	var alphas [3]float64 // of noise, truncated and whole
	for k, reach := range []float64{0, reach, math.Inf(1)} {
		report(k, len(alphas)+1)
		level, err := v.ChooseAlpha(ctx, kept, &words.ChooseOptions{Reach: reach, Seed: p.Seed})
		if err != nil {
			return nil, err
		}
		alphas[k] = level.Alpha
	}
	report(len(alphas), len(alphas)+1)
	noise, cut, whole := alphas[0], alphas[1], alphas[2]
	if math.IsInf(max(cut, whole), 1) {
		return nil, fmt.Errorf("-kept %v: too many words have one vector", kept)
	}
	norm := additive.Norm{P: 2, Dim: v.Dim()}
	at, err := norm.AlphaForLevel(cut, delta, wide)
	if err != nil {
		return nil, err
	}
	var list []release
	for _, alpha := range []float64{noise, at} {
		m, err := additive.NewMadlib(v.Vectors(), alpha, nil)
		if err != nil {
			return nil, err
		}
		k, err := additive.NewKNorm(norm, alpha, nil)
		if err != nil {
			return nil, err
		}
		level, err := k.LevelAt(delta, wide)
		if err != nil {
			return nil, err
		}
		list = append(list, release{name: "Madlib", alpha: alpha, level: level, any: alpha * wide, m: m})
	}
	list[1].name = "Madlib at delta"
	m, err := exponential.Truncated(ctx, v.Points(), cut, reach, nil)
	if err != nil {
		return nil, err
	}
	list = append(list, release{name: "truncated", alpha: cut, level: unknown, any: cut * reach, m: m})
	if m, err = exponential.Lazy(ctx, v.Points(), whole, nil); err != nil {
		return nil, err
	}
	return append(list, release{name: "exponential", alpha: whole, level: unknown, any: whole * wide, m: m}), nil
}

// show prints the text and its releases sentence by sentence.
func show(p *demo.Program, tokens []string, list []release) {
	t := demo.NewTable("", "")
	for from := 0; from < len(tokens); {
		to := from + 1
		for to < len(tokens) && to < from+maxSentence && tokens[to-1] != "." {
			to++
		}
		t.Row("", strings.Join(tokens[from:to], " "))
		for _, r := range list {
			t.Row(r.name, strings.Join(r.text[from:to], " "))
		}
		t.Row("", "")
		from = to
	}
	p.Print(t)
}

// maxSentence is how many words of a sentence go on a line.
const maxSentence = 20

package words

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/search"
	"github.com/metricdp/metricdp/mechanism/additive"
)

// Level is an estimate of the level at which a wanted share of words stays unchanged.
type Level struct {
	Alpha  float64 // the estimate
	Lo, Hi float64 // between them the level lies, at the Confidence; Hi is +Inf where draws are too few
	// Confidence is the probability with which [Lo, Hi] holds the level, .99.
	Confidence float64
}

// KeptOptions tune [Vocabulary.MadlibKept] and [Vocabulary.TruncatedKept]. Nil and the zero
// value mean the defaults.
type KeptOptions struct {
	// Words are the public words, by number, whose mean share is meant; a word that is in
	// the list k times counts k times. nil: all words alike.
	Words    []int
	Draws    int    // 0 means 400
	Seed     uint64 // of the draws
	Progress func(done, total int)
	Workers  int // 0: all processors
}

const (
	defaultDraws = 400
	confidence   = .99
)

// MadlibKept estimates the level at which additive.Madlib returns a share of the words, a
// number in (0, 1), unchanged. Nothing private is read.
//
// For noise z of level 1 a word x stays where z/alpha is nearer to it than to any other, that is
// from alpha = max over words w of 2<z,w-x>/|w-x|^2 on. The level is the quantile of that
// number over words and noise. It is estimated by random draws of both, and the interval ends
// at two of the draws in order. O(Len()*Dim()) a draw: some 10 ms for 50,000 words in 100
// dimensions.
func (v *Vocabulary) MadlibKept(ctx context.Context, share float64, o *KeptOptions) (Level, error) {
	const op = "words: Vocabulary.MadlibKept"
	if v.Len() == 0 {
		return Level{}, fault.Empty(op, "the vocabulary", 0)
	}
	k, err := additive.NewKNorm(additive.Norm{P: 2, Dim: v.Dim()}, 1, nil)
	if err != nil {
		return Level{}, err
	}
	origin := make([]float64, v.Dim())
	return v.kept(ctx, op, share, o, func(rng *rand.Rand, x int) (float64, error) {
		z, err := k.Release(rng, origin)
		if err != nil {
			return 0, err
		}
		at, most := v.vectors[x], 0.0
		for _, w := range v.vectors {
			dot, square := 0.0, 0.0
			for j, c := range w {
				d := float64(c) - float64(at[j])
				dot += float64(z[j] * d)
				square += float64(d * d)
			}
			if dot > most*square {
				most = dot / square
			}
		}
		return 2 * most, nil
	})
}

// TruncatedKept estimates the level at which exponential.Truncated with that reach returns a
// share of the words, a number in (0, 1), unchanged; a reach of +Inf stands for
// exponential.Lazy. Nothing private is read.
//
// A word is returned with a probability that grows with alpha. So the level is the quantile,
// over words and uniform numbers u, of the alpha at which the probability is u; it is
// estimated as that of [Vocabulary.MadlibKept]. O(Len()*Dim()) a draw and some exponentials
// of every word within reach.
func (v *Vocabulary) TruncatedKept(ctx context.Context, share, reach float64, o *KeptOptions) (Level, error) {
	const op = "words: Vocabulary.TruncatedKept"
	if v.Len() == 0 {
		return Level{}, fault.Empty(op, "the vocabulary", 0)
	}
	if !(reach > 0) {
		return Level{}, fault.Value(op, "reach", reach, "a number > 0")
	}
	return v.kept(ctx, op, share, o, func(rng *rand.Rand, x int) (float64, error) {
		near, far := v.points.DistancesFrom(x, nil), 0.0
		within, zeros := near[:0], 0.0
		for _, d := range near {
			switch {
			case d == 0:
				zeros++
			case d < reach:
				within = append(within, d)
			default:
				far++
			}
		}
		least := math.Inf(1) // the positive distance that is left longest
		if far > 0 {
			least = reach
		}
		for _, d := range within {
			least = min(least, d)
		}
		// 1/u is the sum of exp(-alpha*d/2) over the words.
		rest := 1/random.Uniform(rng) - zeros
		if !(rest > 0) {
			return math.Inf(1), nil // words of one vector are never told apart
		}
		if far+float64(len(within)) <= rest {
			return 0, nil
		}
		sum := func(alpha float64) float64 {
			s := 0.0
			if far > 0 {
				s = far * exact.Exp(-alpha*reach/2)
			}
			for _, d := range within {
				s += exact.Exp(-alpha * d / 2)
			}
			return s
		}
		hi := max(1e-300, 2*math.Log((far+float64(len(within)))/rest)/least*(1+1e-9))
		_, alpha := search.Change(0, hi, 1e-4, func(a float64) bool { return sum(a) <= rest })
		return alpha, nil
	})
}

// kept is the quantile of the level from which on a word stays, over words and draws.
func (v *Vocabulary) kept(ctx context.Context, op string, share float64, o *KeptOptions, from func(rng *rand.Rand, x int) (float64, error)) (Level, error) {
	if o == nil {
		o = &KeptOptions{}
	}
	if err := fault.Fraction(op, "share", share); err != nil {
		return Level{}, err
	}
	if o.Draws < 0 {
		return Level{}, fault.Value(op, "Draws", float64(o.Draws), "an integer >= 0")
	}
	if o.Words != nil {
		if err := cmp.Or(fault.Empty(op, "Words", len(o.Words)), fault.Indices(op, "Words", o.Words, v.Len())); err != nil {
			return Level{}, err
		}
	}
	n := cmp.Or(o.Draws, defaultDraws)
	if err := fault.Memory(op, float64(n), 8); err != nil {
		return Level{}, err
	}
	levels, bad := make([]float64, n), make([]error, n)
	err := parallel.Chunks(ctx, n, 1, o.Workers, o.Progress, func(i, _, _ int) {
		rng := random.Seeded(o.Seed ^ uint64(i+1)*0x9e3779b97f4a7c15)
		x := rng.IntN(max(v.Len(), 1))
		if o.Words != nil {
			x = o.Words[rng.IntN(len(o.Words))]
		}
		levels[i], bad[i] = from(rng, x)
	})
	if err := cmp.Or(err, cmp.Or(bad...)); err != nil {
		return Level{}, err
	}
	slices.Sort(levels)
	l := Level{Lo: 0, Hi: math.Inf(1), Confidence: confidence}
	l.Alpha = levels[min(n-1, int(math.Ceil(share*float64(n)))-1)]
	// The k-th least, from 1, is above the quantile where fewer than k draws are below,
	// and of these there are Bin(n, share).
	atLeast := func(k int) float64 { return mathext.RegIncBeta(float64(k), float64(n-k+1), share) }
	for k := 1; k <= n; k++ {
		p := atLeast(k)
		if p >= 1-(1-confidence)/2 {
			l.Lo = levels[k-1]
		}
		if p <= (1-confidence)/2 {
			l.Hi = levels[k-1]
			break
		}
	}
	return l, nil
}

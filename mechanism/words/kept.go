package words

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/sample"
	"github.com/metricdp/metricdp/internal/search"
	"github.com/metricdp/metricdp/mechanism/additive"
)

// Level is the level at which a word stays unchanged with a wanted probability.
type Level struct {
	Alpha float64 // the estimate
	// Between Lo and Hi the level lies, at the Confidence: at Lo and below a word stays at most
	// as often as wanted. Hi is +Inf where draws are too few.
	Lo, Hi float64
	// Confidence is the probability with which [Lo, Hi] holds the level: .99, and 1 where
	// nothing was drawn.
	Confidence float64
}

// ChooseOptions tune [Vocabulary.ChooseAlpha]. Nil and the zero value mean the defaults.
type ChooseOptions struct {
	// Reach says of which mechanism: 0 of additive.Madlib, a number > 0 of exponential.Truncated
	// with that reach, +Inf of exponential.Lazy. A quarter more than the median distance to the
	// nearest other word is a reach to begin with (examples/words).
	Reach float64
	// Words are the public words, by number, that are meant, as often as they are in the list. nil:
	// all words alike.
	Words []int
	// Every asks for a level at which none of the Words stays more often than wanted, not their mean.
	Every    bool
	Draws    int    // of each word for Every, and of all otherwise; 0 means 400
	Seed     uint64 // of the draws
	Progress func(done, total int)
	Workers  int // 0: all processors
}

const (
	defaultDraws = 400
	confidence   = .99
)

// ChooseAlpha finds the level at which a word stays unchanged with probability stay, in (0, 1): of
// additive.NewMadlib, or with a [ChooseOptions.Reach] of exponential.Truncated or exponential.Lazy,
// which keep nearly all words at the level of Madlib. It is that of the mean of the words, or of the
// most of any for Every. Nothing private is read.
//
// A word stays from some level on: for Madlib with noise z of level 1 from the most of
// 2<z,w-x>/|w-x|^2 over the words w other than x; for an exponential mechanism, which draws by a
// uniform number u, from where its probability of x is u. The level wanted is the quantile of this
// number over words and draws, estimated by random ones. For Every with a Reach it is computed: Lo,
// Alpha and Hi are one level, within 1e-4 of the largest, up to the rounding of sums.
//
// O(Len()*Dim()) a draw and, with a Reach, some exponentials of every word within it: some 10 ms for 50,000
// words in 100 dimensions. Every takes Draws of each word without a Reach, and one with it.
func (v *Vocabulary) ChooseAlpha(ctx context.Context, stay float64, o *ChooseOptions) (Level, error) {
	const op = "words: Vocabulary.ChooseAlpha"
	if v.Len() == 0 {
		return Level{}, fault.Empty(op, "the vocabulary", 0)
	}
	if o == nil {
		o = &ChooseOptions{}
	}
	if err := fault.Fraction(op, "stay", stay); err != nil {
		return Level{}, err
	}
	if !(o.Reach >= 0) {
		return Level{}, fault.Value(op, "Reach", o.Reach, "a number >= 0")
	}
	if o.Draws < 0 {
		return Level{}, fault.Value(op, "Draws", float64(o.Draws), "an integer >= 0")
	}
	meant := o.Words
	if meant != nil {
		if err := cmp.Or(fault.Empty(op, "Words", len(meant)), fault.Indices(op, "Words", meant, v.Len())); err != nil {
			return Level{}, err
		}
	}
	if meant == nil {
		meant = make([]int, v.Len())
		for x := range meant {
			meant[x] = x
		}
	}
	n, groups, computed := cmp.Or(o.Draws, defaultDraws), 1, o.Every && o.Reach > 0
	if o.Every {
		groups = len(meant)
	}
	if computed {
		n = 1
	}
	if err := fault.Memory(op, float64(n)*float64(groups), 8); err != nil {
		return Level{}, err
	}
	noise, err := additive.NewKNorm(additive.Norm{P: 2, Dim: v.Dim()}, 1, nil)
	if err != nil {
		return Level{}, err
	}
	origin := make([]float64, v.Dim())
	levels, bad := make([]float64, n*groups), make([]error, n*groups)
	err = parallel.Chunks(ctx, len(levels), 1, o.Workers, o.Progress, func(i, _, _ int) {
		rng := random.Seeded(o.Seed ^ uint64(i+1)*0x9e3779b97f4a7c15)
		x := meant[i/n]
		if !o.Every {
			x = meant[rng.IntN(len(meant))]
		}
		switch {
		case computed:
			levels[i], _ = v.staysFrom(x, o.Reach, stay)
		case o.Reach > 0:
			_, levels[i] = v.staysFrom(x, o.Reach, random.Uniform(rng))
		default:
			z, err := noise.Release(rng, origin)
			if bad[i] = err; err == nil {
				levels[i] = v.stands(x, z)
			}
		}
	})
	if err := cmp.Or(err, cmp.Or(bad...)); err != nil {
		return Level{}, err
	}
	if computed {
		alpha := slices.Min(levels)
		return Level{alpha, alpha, alpha, 1}, nil
	}
	least := Level{math.Inf(1), math.Inf(1), math.Inf(1), confidence}
	for g := range groups {
		l := quantile(levels[g*n:(g+1)*n], stay, (1-confidence)/2/float64(groups))
		least.Alpha, least.Lo, least.Hi = min(least.Alpha, l.Alpha), min(least.Lo, l.Lo), min(least.Hi, l.Hi)
	}
	return least, nil
}

// stands is the level from which on Madlib with noise z of level 1 returns x.
func (v *Vocabulary) stands(x int, z []float64) float64 {
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
	return 2 * most
}

// staysFrom encloses the level from which on exponential.Truncated returns x with probability u.
func (v *Vocabulary) staysFrom(x int, reach, u float64) (lo, hi float64) {
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
	rest := 1/u - zeros
	if !(rest > 0) {
		return math.Inf(1), math.Inf(1) // words of one vector are never told apart
	}
	if far+float64(len(within)) <= rest {
		return 0, 0
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
	hi = max(1e-300, 2*math.Log((far+float64(len(within)))/rest)/least*(1+1e-9))
	return search.Change(0, hi, 1e-4, func(a float64) bool { return sum(a) <= rest })
}

// quantile sorts draws and brackets the quantile of a share, but for the probability tail at either end.
func quantile(levels []float64, share, tail float64) Level {
	slices.Sort(levels)
	n := len(levels)
	l := Level{Lo: 0, Hi: math.Inf(1)}
	l.Alpha = levels[min(n-1, int(math.Ceil(share*float64(n)))-1)]
	lo, hi := sample.Ranks(n, share, tail)
	if lo >= 0 {
		l.Lo = levels[lo]
	}
	if hi < n {
		l.Hi = levels[hi]
	}
	return l
}

package ikwat22

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/metricdp/metricdp/examples/papers/internal/cities"
	"github.com/metricdp/metricdp/internal/random"
	wordlist "github.com/metricdp/metricdp/mechanism/words"
	"github.com/metricdp/metricdp/metric"
)

// wordsFile is described in DATA.md.
//
//go:embed words.txt.gz
var wordsFile []byte

// space is one metric for privacy and loss.
type space struct {
	*metric.Dense
	title, unit string
}

// source makes a space of n points.
type source func(ctx context.Context, n int, seed uint64) (space, error)

// perCluster is how many words a cluster of the vocabulary has.
const perCluster = 10

// words are a clustered vocabulary of n words with their GloVe vectors. The words of a
// smaller n are the first of these.
func words(ctx context.Context, n int, seed uint64) (space, error) {
	v, err := wordlist.Read(ctx, bytes.NewReader(wordsFile), &wordlist.ReadOptions{Name: "words.txt.gz"})
	if err != nil {
		return space{}, err
	}
	all := v.Points()
	return subset(ctx, all, clusters(all, n, perCluster, random.Seeded(seed)), "words", "unit")
}

// places are the n most populous cities.
func places(ctx context.Context, n int, _ uint64) (space, error) {
	all, err := cities.Largest(n)
	if err != nil {
		return space{}, err
	}
	d, err := metric.Densify(ctx, all)
	return space{d, fmt.Sprintf("%d cities", n), "km"}, err
}

// subset is the space of some points.
func subset(ctx context.Context, f metric.Finite, points []int, title, unit string) (space, error) {
	some, err := metric.Subset(f, points)
	if err != nil {
		return space{}, err
	}
	d, err := metric.Densify(ctx, some)
	return space{d, fmt.Sprintf("%d %s", len(points), title), unit}, err
}

// clusters samples n points of f: again and again one at random of those that are left,
// together with the size-1 of them that are nearest to it.
func clusters(f metric.Finite, n, size int, rng *rand.Rand) []int {
	left := rng.Perm(f.Len())
	var chosen []int
	for len(chosen) < n {
		center := left[rng.IntN(len(left))]
		slices.SortFunc(left, func(x, y int) int {
			return cmp.Or(cmp.Compare(f.Distance(center, x), f.Distance(center, y)), cmp.Compare(x, y))
		})
		k := min(size, n-len(chosen))
		chosen, left = append(chosen, left[:k]...), left[k:]
	}
	return chosen
}

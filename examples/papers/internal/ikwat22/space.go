package ikwat22

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
	"github.com/metricdp/metricdp/internal/random"
	wordlist "github.com/metricdp/metricdp/mechanism/words"
	"github.com/metricdp/metricdp/metric"
)

// The files are described in DATA.md.
var (
	//go:embed words.txt.gz
	wordsFile []byte
	//go:embed cells.csv
	cellsFile string
)

// space is one metric for privacy and loss, that of the vectors where there are any.
type space struct {
	*metric.Dense
	vectors [][]float32
}

// A sample of GloVe stands for both embeddings. Distances under FastText are shorter: scaled
// so the loss of a uniform word is 2.68 on 200 words, of which 1.5 is 44 % less (Section 5.2).
const fastTextUnit = .4

// vocabulary is read once.
var vocabulary = sync.OnceValues(func() (*wordlist.Vocabulary, error) {
	return wordlist.Read(context.Background(), bytes.NewReader(wordsFile), &wordlist.ReadOptions{Name: "words.txt.gz"})
})

// words are n words by the sampler of Section 5.1: the first and half of the others are any,
// the rest are among the 50 nearest to one that is in. Fewer words are the first of these.
func words(unit float32) func(ctx context.Context, n int, seed uint64) space {
	return func(ctx context.Context, n int, seed uint64) space {
		v := exhibit.Must(vocabulary())
		vectors := v.Vectors()
		var some [][]float32
		for _, x := range sample(v.Points(), n, 50, random.Seeded(seed)) {
			vector := slices.Clone(vectors[x])
			for i := range vector {
				vector[i] *= unit
			}
			some = append(some, vector)
		}
		points := exhibit.Must(metric.NewPoints(some, metric.Float32[metric.Euclidean]{}))
		return space{exhibit.Must(metric.Densify(ctx, points)), some}
	}
}

// sample is that of words on any metric.
func sample(f metric.Finite, n, near int, rng *rand.Rand) (chosen []int) {
	type neighbor struct {
		at   int
		dist float64
	}
	var nearest []neighbor
	for len(chosen) < n {
		next := rng.IntN(f.Len())
		if len(chosen) > 0 && rng.IntN(2) == 0 {
			center := chosen[rng.IntN(len(chosen))]
			nearest = nearest[:0]
			for i := range f.Len() { // it is the nearest itself, and of equals the first are nearer
				d := f.Distance(center, i)
				if len(nearest) > near && d >= nearest[near].dist {
					continue
				}
				at, _ := slices.BinarySearchFunc(nearest, d, func(x neighbor, d float64) int { return cmp.Or(cmp.Compare(x.dist, d), -1) })
				nearest = slices.Insert(nearest[:min(len(nearest), near)], at, neighbor{i, d})
			}
			next = nearest[1+rng.IntN(near)].at
		}
		if !slices.Contains(chosen, next) {
			chosen = append(chosen, next)
		}
	}
	return chosen
}

// cells are the n cells with most places, under the Euclidean distance of their centers. As
// in the paper a cell is .6 km wide: ours stand for those of GeoLife.
func cells(ctx context.Context, n int, _ uint64) space {
	const width = .6
	var at [][]float64
	for _, line := range strings.Split(cellsFile, "\n")[1 : n+1] {
		part := strings.Split(line, ",")
		at = append(at, []float64{
			width * exhibit.Must(strconv.ParseFloat(part[0], 64)),
			width * exhibit.Must(strconv.ParseFloat(part[1], 64)),
		})
	}
	return space{exhibit.Must(metric.Densify(ctx, exhibit.Must(metric.NewPoints(at, metric.Euclidean{})))), nil}
}

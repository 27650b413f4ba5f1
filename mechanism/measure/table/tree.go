package table

import (
	"context"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/mechanism/measure"
)

// Edge is a pair of columns whose ranks (see [Synthesizer]) are released together: To is
// drawn given From.
type Edge struct {
	From, To int
	// Ranks is the measure of the ranks of both on the unit square.
	Ranks *measure.Release[[]float64]
}

// bins is into how many parts scores cut the ranks of a column.
const bins = 8

// score is how far two columns are from independent: the sum over the cells of
// their table of |n_ij - n_i n_j/N|, rounded down.
func score(n *[bins][bins]int64) int64 {
	var row, col [bins]int64
	total := int64(0)
	for i := range n {
		for j, c := range n[i] {
			row[i] += c
			col[j] += c
			total += c
		}
	}
	if total == 0 {
		return 0
	}
	sum := int64(0) // at most 2 N^2
	for i := range n {
		for j, c := range n[i] {
			d := total*c - row[i]*col[j]
			sum += max(d, -d)
		}
	}
	return sum / total
}

// sensitivity is by how much a score changes between neighbors, at most. Let e_i and
// f_j be the unit vectors of a row's part in the one and the other column, n the
// table, r and c its margins. The product of margins over N changes
//
//   - for a row replaced by ((e'-e) c^T + r' (f'-f)^T)/N, of norm 2 + 2 in l1, and n by
//     2: by 6 together;
//   - for a row added from r c^T/N to (r+e)(c+f)^T/(N+1): e f^T less that change is
//     (N^2 e f^T - N e c^T - N r f^T + r c^T)/(N(N+1)), of norm 4N/(N+1).
//
// Rounded down, numbers that differ by at most a whole number still do.
func sensitivity(rel measure.Relation) int64 {
	if rel == measure.ReplaceOne {
		return 6
	}
	return 4
}

// pickTree returns the edges of a forest of columns, from the roots down.
//
// Each step takes the pair of the greatest score plus noise, among pairs that no
// path joins yet, or none and ends (Chow and Liu's tree by Kruskal's algorithm,
// picked as in MST). It follows from the scores, and from the steps before. The
// noise K is geometric, P{K >= k} = e^(-rate k) for k >= 0, which makes a step
// private at rate times twice the sensitivity D (report noisy max, or permute and
// flip): given all other noise, a pair is picked if its own is at least some t, which
// between neighbors grows by at most 2D, and P{K >= t+2D} >= e^(-2D rate) P{K >= t}.
// Ties go to the first. Under leastRate noise is greater than any score, and none is
// picked.
func (s *Synthesizer) pickTree(ctx context.Context, rng *rand.Rand, ranks [][]float64, total float64) ([]Edge, error) {
	k := len(ranks)
	var pairs []Edge
	for a := range k {
		for b := range a {
			pairs = append(pairs, Edge{From: b, To: a})
		}
	}
	scores := make([]int64, len(pairs))
	err := parallel.Chunks(ctx, len(pairs), 1, 0, nil, func(_, lo, hi int) {
		for p := lo; p < hi; p++ {
			var n [bins][bins]int64
			x, y := ranks[pairs[p].From], ranks[pairs[p].To]
			for i := range x {
				n[bin(x[i])][bin(y[i])]++
			}
			scores[p] = score(&n)
		}
	})
	if err != nil {
		return nil, err
	}
	if s.rate < leastRate {
		return nil, nil
	}
	part := make([]int, k) // of the forest, by column
	for a := range part {
		part[a] = a
	}
	none := s.none(total, len(pairs))
	var tree []Edge
	for len(tree) < k-1 {
		best, most := -1, s.noisy(rng, none)
		for p, e := range pairs {
			if part[e.From] == part[e.To] {
				continue
			}
			if y := s.noisy(rng, scores[p]); most.less(y) {
				best, most = p, y
			}
		}
		if best < 0 {
			break
		}
		tree = append(tree, pairs[best])
		from, to := part[pairs[best].From], part[pairs[best].To]
		for a := range part {
			if part[a] == to {
				part[a] = from
			}
		}
	}
	return rooted(tree, k), nil
}

// leastRate is that from which noise stays below 2^62 but with probability e^-2^22.
const leastRate = 0x1p-40

// wide is a number of 128 bits.
type wide struct{ hi, lo uint64 }

func (x wide) less(y wide) bool { return x.hi < y.hi || x.hi == y.hi && x.lo < y.lo }

// noisy returns a score plus noise: a discrete Laplace variate that is not negative.
// Where it passes an int64 it is that and one more, as it has no memory.
func (s *Synthesizer) noisy(rng *rand.Rand, score int64) wide {
	y := wide{lo: uint64(score)}
	for {
		k := exact.DiscreteLaplace(rng, s.rate)
		if k < 0 {
			continue
		}
		var carry uint64
		y.lo, carry = bits.Add64(y.lo, uint64(k), 0)
		y.hi += carry
		if k < math.MaxInt64 {
			return y
		}
	}
}

func bin(u float64) int { return min(int(u*bins), bins-1) }

// none is the score of no pair, that of independent columns and some noise. Their
// bins have N/64 rows each, sqrt(2/pi) standard deviations off in the mean, and the
// greatest of the noise of n pairs is about log(n)/rate more than the mean. Twice and
// half of this have about the same error of ranges, but lose weak edges or keep
// false ones.
func (s *Synthesizer) none(total float64, pairs int) int64 {
	mean := float64(math.Sqrt(2/math.Pi) * bins * math.Sqrt(max(0, total)))
	noise := float64(max(2, float64(0.75*math.Log(float64(pairs)))) / s.rate)
	return int64(min(mean+noise, math.MaxInt64/2))
}

// rooted returns the edges so that each begins at a column that is reached before.
// The root of a tree is the column of most edges.
func rooted(tree []Edge, k int) []Edge {
	degree := make([]int, k)
	for _, e := range tree {
		degree[e.From]++
		degree[e.To]++
	}
	order := make([]int, k)
	for a := range order {
		order[a] = a
	}
	slices.SortStableFunc(order, func(a, b int) int { return degree[b] - degree[a] })
	reached := make([]bool, k)
	var out []Edge
	for _, root := range order {
		if reached[root] {
			continue
		}
		reached[root] = true
		for queue := []int{root}; len(queue) > 0; queue = queue[1:] {
			for _, e := range tree {
				if e.To == queue[0] {
					e.From, e.To = e.To, e.From
				}
				if e.From == queue[0] && !reached[e.To] {
					reached[e.To] = true
					out = append(out, e)
					queue = append(queue, e.To)
				}
			}
		}
	}
	return out
}

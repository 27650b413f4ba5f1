package kernel

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/game"
	"github.com/metricdp/metricdp/internal/parallel"
)

// candidates is how many outputs a column may release, those that cost its inputs least.
const candidates = 24

// Remap changes which outputs the columns release, in shares, such that the input that loses most
// loses less, and returns the losses: what is made of a private release is as private. See package
// game. With an error the columns are as they were: those of ctx and Memory, and ErrNone.
// O(n (columns + outputs)) a round, some hundred rounds.
func (k *Kernel) Remap() (losses []float64, err error) {
	answers, err := k.play()
	if err != nil {
		return nil, err
	}
	k.answers = answers
	if losses, err = k.Losses(); err != nil {
		k.answers = nil
	}
	return losses, err
}

// ErrNone says that the weights are no numbers, as where rho1 is no metric, and no answers were found.
var ErrNone = errors.New("lp: no answers for the columns of a kernel")

// play returns the columns with what they are to release.
func (k *Kernel) play() ([]term, error) {
	columns := k.columns()
	c, m := len(columns), len(k.label)
	if c == 0 {
		return nil, ErrNone
	}
	if err := k.Memory(float64(4*float64(k.n)*float64(c+m)) + k.entries()); err != nil {
		return nil, err
	}
	g := &game.Game{N: k.n, C: c, K: m, Mass: make([]float32, k.n*c), Dist: make([]float32, k.n*m), Workers: k.Workers, Lists: make([][]int, c)}
	most := slices.Max(k.Loss)
	err := parallel.Chunks(k.ctx, k.n, 8, k.Workers, nil, func(_, lo, hi int) {
		at := make([]float64, c)
		var from []float64
		for x := lo; x < hi; x++ {
			from = finite.Row(k.Budget, x, from)
			sum := 0.0
			for i, col := range columns {
				at[i] = math.Exp(col.log - float64(k.rate*nearest(from, col.set)))
				sum += at[i]
			}
			for i, q := range at {
				g.Mass[x*c+i] = float32(q / sum)
			}
			for j, w := range k.label {
				g.Dist[x*m+j] = float32(2 * (k.Loss[w*k.n+x] / most))
			}
		}
	})
	if err != nil {
		return nil, err
	}
	answer := make([]int, c)
	err = parallel.Chunks(k.ctx, c, 8, k.Workers, nil, func(_, lo, hi int) {
		order, cost := make([]int, m), make([]float64, m)
		for i := lo; i < hi; i++ {
			answer[i] = columns[i].labels[0]
			for j, w := range k.label {
				order[j], cost[j] = j, 0
				for _, u := range columns[i].set {
					cost[j] += k.Loss[w*k.n+int(u)]
				}
			}
			slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(cost[a], cost[b]), cmp.Compare(a, b)) })
			list := slices.Clone(order[:min(m, candidates)])
			if !slices.Contains(list, answer[i]) {
				list[len(list)-1] = answer[i]
			}
			g.Lists[i] = list
		}
	})
	if err != nil {
		return nil, err
	}
	weight, err := g.Play(k.ctx, answer, game.Gap, nil)
	if err != nil {
		return nil, err
	}
	width, sum := len(g.Lists[0]), floats.Sum(weight)/float64(c) // of every column
	if !(sum > 0) {
		return nil, ErrNone
	}
	for i := range columns {
		own := weight[i*width : (i+1)*width]
		columns[i].labels, columns[i].shares = nil, nil
		for j, v := range own {
			if v > 0 {
				columns[i].labels = append(columns[i].labels, g.Lists[i][j])
				columns[i].shares = append(columns[i].shares, math.Log(v/sum))
			}
		}
	}
	return columns, nil
}

// nearest is the least distance of a set.
func nearest(from []float64, set []int32) float64 {
	least := from[set[0]]
	for _, s := range set[1:] {
		least = min(least, from[s])
	}
	return least
}

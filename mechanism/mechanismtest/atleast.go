package mechanismtest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/finite"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// LevelAtLeast bounds the level of m on the points of rho from below, by simulation: m is (a,
// delta)-private for no a below the Level of the evidence, with its Confidence. x and xPrime are
// the inputs that prove it, or -1 where nothing does.
//
// Sets of probability p at level a need about (a*distance)^-2/p samples. Errors: a [*metric.ValueError] for
// delta, outside [0, 1), an option or a distance, [mechanism.ErrMemoized], and those of Release.
// O(n*Samples) releases, O(n^2 k log k) for k outputs an input.
func LevelAtLeast[Y any](ctx context.Context, m mechanism.Mechanism[int, Y], rho metric.Finite, delta float64, o *Options[int, Y]) (e Evidence, x, xPrime int, err error) {
	// Half of the samples of every input choose one pair and one set of outputs; the other half
	// bounds its two probabilities as [TestLevel] does.
	const op = "mechanismtest: LevelAtLeast"
	opt, err := sampling(op, m, o)
	n := fault.Len(rho)
	if err := cmp.Or(err, fault.Empty(op, "rho", n), fault.Delta(op, "delta", delta)); err != nil {
		return Evidence{}, -1, -1, err
	}
	rows := make([][]float64, n)
	for x := range rows {
		rows[x] = finite.Row(rho, x, nil)
		if err := fault.AllNonNegative(op, fmt.Sprintf("rho[%d]", x), rows[x]); err != nil {
			return Evidence{}, -1, -1, err
		}
	}
	m = until[int, Y]{ctx, m}
	size := [2]int{max(1, opt.Samples/2), max(1, opt.Samples-opt.Samples/2)}
	number := map[any]int{} // of outputs, in order of first occurrence
	counts, seen := make([]map[int][2]int, n), make([][]int, n)
	r := opt.generator(1)
	for x := range n {
		counts[x] = map[int][2]int{}
		for part := range size {
			err := opt.count(m, r, x, size[part], func(y any) {
				k, ok := number[y]
				if !ok {
					k = len(number)
					number[y] = k
				}
				c := counts[x][k]
				c[part]++
				counts[x][k] = c
			})
			if err != nil {
				return Evidence{}, -1, -1, fault.Within(op, err)
			}
		}
		seen[x] = slices.Sorted(maps.Keys(counts[x]))
	}
	pair := func(x, xPrime int) *sampled {
		s := &sampled{n: size}
		for _, k := range seen[x] {
			p, q := counts[x][k], counts[xPrime][k]
			s.train, s.test = append(s.train, [2]int{p[0], q[0]}), append(s.test, [2]int{p[1], q[1]})
		}
		return s
	}
	level := opt.FalseReject / 2 // two bounds
	best, to := make([]float64, n), make([]int, n)
	err = parallel.Chunks(ctx, n, 1, 0, nil, func(x, _, _ int) {
		for xPrime := range n {
			if x == xPrime {
				continue
			}
			if _, score := pair(x, xPrime).choose(delta, level); score > 0 && score/rows[x][xPrime] > best[x] {
				best[x], to[x] = score/rows[x][xPrime], xPrime
			}
		}
	})
	if err != nil {
		return Evidence{}, -1, -1, fmt.Errorf("%s: %w", op, err)
	}
	x = -1
	for z, b := range best {
		if b > 0 && (x < 0 || b > best[x]) {
			x = z
		}
	}
	e.Samples = size[1]
	xPrime = -1
	if x >= 0 {
		e, _ = pair(x, to[x]).judge(math.Inf(1), delta, rows[x][to[x]], level)
		if xPrime = to[x]; e.Level == 0 {
			x, xPrime = -1, -1
		}
	}
	e.Confidence = 1 - opt.FalseReject
	return e, x, xPrime, nil
}

package walk

import (
	"cmp"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/fault"
)

// CountsInt writes to dst, of length Nodes(), the sum of x below each node, x having one value a
// leaf. The absolute values of x must sum to at most 2^63-1 ([*ValueError]). O(nodes).
func (t *Tree) CountsInt(dst, x []int64) error {
	const op = "walk: Tree.CountsInt"
	if err := t.check(op); err != nil {
		return err
	}
	if err := cmp.Or(fault.Size(op, "dst", len(dst), t.Nodes()), fault.Size(op, "x", len(x), t.Len()), checkSum(op, x)); err != nil {
		return err
	}
	counts(t, dst, x)
	return nil
}

// counts sets dst to the sums of x below the nodes.
func counts[T int64 | float64](t *Tree, dst, x []T) {
	for v := t.Nodes() - 1; v >= 0; v-- {
		lo, hi := t.first[v], t.first[v+1]
		sum := T(0)
		if lo == hi {
			sum = x[t.lo[v]]
		}
		for _, y := range dst[lo:hi] {
			sum += y
		}
		dst[v] = sum
	}
}

// Center makes counts of all nodes consistent, in place: from the root down, it adds one number to
// all children of a node such that they sum to it (after Hay, Rastogi, Miklau and Suciu, 2010).
// O(nodes).
func (t *Tree) Center(counts []float64) error {
	const op = "walk: Tree.Center"
	if err := t.check(op); err != nil {
		return err
	}
	if err := fault.Size(op, "counts", len(counts), t.Nodes()); err != nil {
		return err
	}
	for v := range t.Nodes() {
		below := counts[t.first[v]:t.first[v+1]]
		if len(below) == 0 {
			continue
		}
		floats.AddConst((counts[v]-floats.Sum(below))/float64(len(below)), below)
	}
	return nil
}

// Haar replaces the values on the leaves of a binary tree by its Haar coefficients, in place: x[0]
// becomes the total, and x[Split(v)], for each inner node v, the sum below its first child minus
// that below its second. (Noise on them: Xiao, Wang and Gehrke, 2010.) A tree that is not binary is
// a [*ValueError]. O(n).
func (t *Tree) Haar(x []float64) error {
	if err := t.checkHaar("walk: Tree.Haar", len(x)); err != nil {
		return err
	}
	haar(t, x)
	return nil
}

// HaarInverse undoes [Tree.Haar], in place. O(n).
func (t *Tree) HaarInverse(x []float64) error {
	if err := t.checkHaar("walk: Tree.HaarInverse", len(x)); err != nil {
		return err
	}
	for v := range t.Nodes() {
		c := t.first[v]
		if c == t.first[v+1] {
			continue
		}
		i, j := t.lo[v], t.lo[c+1]
		p, d := float64(x[i]/2), float64(x[j]/2)
		x[i], x[j] = p+d, p-d
	}
	return nil
}

// HaarInt is [Tree.Haar] for integers, exactly. The absolute values must sum to
// at most 2^63-1; where they do not, x is left as it is.
func (t *Tree) HaarInt(x []int64) error {
	const op = "walk: Tree.HaarInt"
	if err := cmp.Or(t.checkHaar(op, len(x)), checkSum(op, x)); err != nil {
		return err
	}
	haar(t, x)
	return nil
}

func haar[T int64 | float64](t *Tree, x []T) {
	for v := t.Nodes() - 1; v >= 0; v-- {
		c := t.first[v]
		if c == t.first[v+1] {
			continue
		}
		i, j := t.lo[v], t.lo[c+1]
		x[i], x[j] = x[i]+x[j], x[i]-x[j]
	}
}

func (t *Tree) checkHaar(op string, n int) error {
	if err := t.check(op); err != nil {
		return err
	}
	return cmp.Or(t.checkBinary(op), fault.Size(op, "x", n, t.Len()))
}

func (t *Tree) checkBinary(op string) error {
	for v := range t.Nodes() {
		if k := t.first[v+1] - t.first[v]; k != 0 && k != 2 {
			return &ValueError{Op: op, Arg: "children of node", Index: v, Value: float64(k), Want: "0 or 2, a binary tree"}
		}
	}
	return nil
}

func checkSum(op string, x []int64) error {
	room := int64(math.MaxInt64)
	for i, v := range x {
		if v < -room || v > room {
			return &ValueError{Op: op, Arg: "x", Index: i, Value: float64(v), Want: "a smaller magnitude: sums leave int64", Private: true}
		}
		room -= max(v, -v)
	}
	return nil
}

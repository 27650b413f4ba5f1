package walk

import "math"

// Counts writes to dst, of length Nodes(), the sum of x below each node, x
// having one value a leaf. O(nodes).
func (t *Tree) Counts(dst, x []float64) error {
	const op = "walk: Tree.Counts"
	if err := t.checkCounts(op, len(dst), len(x)); err != nil {
		return err
	}
	counts(t, dst, x)
	return nil
}

// CountsInt is [Tree.Counts] for integers, exactly. The absolute values of x
// must sum to at most 2^63-1; where they do not the error is an
// [*OverflowError].
func (t *Tree) CountsInt(dst, x []int64) error {
	const op = "walk: Tree.CountsInt"
	if err := t.checkCounts(op, len(dst), len(x)); err != nil {
		return err
	}
	if err := checkSum(op, x); err != nil {
		return err
	}
	counts(t, dst, x)
	return nil
}

func counts[T int64 | float64](t *Tree, dst, x []T) {
	for v := t.Nodes() - 1; v >= 0; v-- {
		lo, hi := t.first[v], t.first[v+1]
		if lo == hi {
			dst[v] = x[t.lo[v]]
			continue
		}
		sum := T(0)
		for _, y := range dst[lo:hi] {
			sum += y
		}
		dst[v] = sum
	}
}

// Centre makes counts of all nodes consistent, in place: from the root down, it
// adds one number to all children of a node such that they sum to the node. The
// root keeps its count. O(nodes).
func (t *Tree) Centre(counts []float64) error {
	const op = "walk: Tree.Centre"
	if err := t.check(op); err != nil {
		return err
	}
	if err := checkLen(op, "counts", len(counts), t.Nodes()); err != nil {
		return err
	}
	for v := range t.Nodes() {
		below := counts[t.first[v]:t.first[v+1]]
		if len(below) == 0 {
			continue
		}
		sum := 0.0
		for _, y := range below {
			sum += y
		}
		shift := (counts[v] - sum) / float64(len(below))
		for i := range below {
			below[i] += shift
		}
	}
	return nil
}

// CentreInt is [Tree.Centre] for integers, exactly: it multiplies all counts by
// [Tree.Unit], the units in which the centred counts are integers. No magnitude
// may pass [Tree.CentreLimit]: where one does, counts are left as they are and
// the error is an [*OverflowError]. [Clamp] before the call makes it safe; for
// noisy counts that is post-processing. O(nodes).
func (t *Tree) CentreInt(counts []int64) error {
	const op = "walk: Tree.CentreInt"
	if err := t.check(op); err != nil {
		return err
	}
	if err := checkLen(op, "counts", len(counts), t.Nodes()); err != nil {
		return err
	}
	unit, limit := t.units()
	if err := checkMagnitude(op, counts, limit); err != nil {
		return err
	}
	counts[0] *= unit
	for v := range t.Nodes() {
		below := counts[t.first[v]:t.first[v+1]]
		k := int64(len(below))
		if k == 0 {
			continue
		}
		sum := int64(0)
		for _, y := range below {
			sum += y
		}
		shift := (counts[v] - unit*sum) / k // exact: counts[v] and unit are multiples of k
		for i, y := range below {
			below[i] = unit*y + shift
		}
	}
	return nil
}

// Unit returns the least integer u such that [Tree.CentreInt] turns any integer
// counts into multiples of 1/u: the least common multiple, over the leaves, of
// the products of the numbers of children above them. For a binary tree it is
// 2^Height(). It is 0 where u would pass 2^63-1. O(nodes).
func (t *Tree) Unit() int64 {
	unit := int64(1)
	product := make([]int64, t.made("walk: Tree.Unit").Nodes()) // of the numbers of children above v
	product[0] = 1
	for v, p := range product {
		k := int64(t.first[v+1] - t.first[v])
		if k == 0 {
			if unit%p != 0 {
				q := p / gcd(unit, p)
				if unit > math.MaxInt64/q {
					return 0
				}
				unit *= q
			}
			continue
		}
		if p > math.MaxInt64/k {
			return 0
		}
		for c := t.first[v]; c < t.first[v+1]; c++ {
			product[c] = p * k
		}
	}
	return unit
}

// CentreLimit returns the largest magnitude of a count that [Tree.CentreInt]
// takes, (2^63-1) / (Unit()*(Arity()+4)) rounded down, and 0 where Unit is 0.
// O(nodes).
func (t *Tree) CentreLimit() int64 {
	_, limit := t.made("walk: Tree.CentreLimit").units()
	return limit
}

// units returns Unit and CentreLimit.
//
// With counts of magnitude at most B and U the unit, a centred count is at most
// 4UB: the root is at most UB; a child of a node of k >= 2 children at most UB +
// UB + 4UB/k. What is divided by k is at most 4UB + kUB.
func (t *Tree) units() (unit, limit int64) {
	unit = t.Unit()
	if unit == 0 {
		return 0, 0
	}
	return unit, math.MaxInt64 / unit / (int64(t.arity) + 4)
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func (t *Tree) checkCounts(op string, dst, x int) error {
	if err := t.check(op); err != nil {
		return err
	}
	if err := checkLen(op, "dst", dst, t.Nodes()); err != nil {
		return err
	}
	return checkLen(op, "x", x, t.Len())
}

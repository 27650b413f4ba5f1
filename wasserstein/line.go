package wasserstein

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/parallel"
	"github.com/metricdp/metricdp/metric"
	"golang.org/x/exp/constraints"
)

// lineMax bounds positions, like the coordinates and lengths of package metric:
// their differences stay finite.
const lineMax = 1e300

// W1LineBetween returns the distance of the measure with weights mu on the points x of the real
// line and that with weights nu on the points y, in any order: the integral of |F-G|, F and G the
// distribution functions. Weights may be negative (Vallender 1974). A difference of the totals up
// to 2^-30 of their sizes counts as if it lay at the largest point; more is a [*MassError].
//
// The relative error is about 2^-51, plus (n+m)*2^-103 times the total variation and the extent.
// Positions lie in [-1e300, 1e300] ([*metric.ValueError]; [metric.ErrEmpty], [*metric.SizeError]);
// the result is +Inf on overflow. O((n+m) log(n+m)), and O(n+m) for sorted points.
func W1LineBetween(x, mu, y, nu []float64) (float64, error) {
	const op = "wasserstein: W1LineBetween"
	if err := cmp.Or(lineCheck(op, "x", x), lineCheck(op, "y", y), checkMeasures(op, mu, nu, len(x), len(y), true)); err != nil {
		return 0, err
	}
	ox, oy := lineOrder(x), lineOrder(y)
	var cost, d exact.DD
	at := min(x[lineAt(ox, 0)], y[lineAt(oy, 0)])
	for i, j := 0, 0; i < len(x) || j < len(y); {
		var to, w float64
		if j == len(y) || i < len(x) && x[lineAt(ox, i)] <= y[lineAt(oy, j)] {
			k := lineAt(ox, i)
			to, w = x[k], mu[k]
			i++
		} else {
			k := lineAt(oy, j)
			to, w = y[k], -nu[k]
			j++
		}
		if w == 0 {
			continue
		}
		// The conversion keeps the product from being fused with a sum, which would
		// spoil the error terms in there.
		cost = cost.AddFloat(float64((to - at) * math.Abs(d.Hi)))
		d = d.AddFloat(w)
		at = to
	}
	return sumOrInf(cost), nil
}

// W1Samples returns the distance of the empirical measures of two samples of numbers, of any sizes,
// which are not modified. Differences of integers do not overflow. The relative error is at most
// 2^-51. Numbers lie in [-1e300, 1e300]: [metric.ErrEmpty], [*metric.ValueError],
// [*metric.SizeError]. O(n+m) for sorted samples, otherwise two sorts.
func W1Samples[T constraints.Integer | constraints.Float](a, b []T) (float64, error) {
	const op = "wasserstein: W1Samples"
	if err := cmp.Or(lineCheck(op, "a", a), lineCheck(op, "b", b)); err != nil {
		return 0, err
	}
	samples := [2][]T{a, b}
	workers := 0
	if len(a)+len(b) < lineParallel {
		workers = 1
	}
	// Without a context there is no error.
	_ = parallel.Chunks(context.Background(), 2, 1, workers, nil, func(c, _, _ int) {
		x := samples[c]
		if slices.IsSorted(x) {
			return
		}
		if f, ok := any(x).([]float64); ok {
			f, _ = lineSort(f, false)
			samples[c] = any(f).([]T)
			return
		}
		samples[c] = slices.Sorted(slices.Values(x))
	})
	a, b = samples[0], samples[1]
	// A number of a weighs m units, one of b weighs n. Below lineCount the product fits an int64.
	n, m := int64(len(a)), int64(len(b))
	unit := gcd(n, m)
	n, m = n/unit, m/unit
	units := float64(m) * float64(len(a)) // all of either measure
	var line metric.Numbers[T]
	var cost exact.DD
	restA, restB := m, n
	for i, j := 0, 0; i < len(a) && j < len(b); {
		t := min(restA, restB)
		cost = cost.AddFloat(float64(line.Distance(a[i], b[j]) * (float64(t) / units)))
		if restA -= t; restA == 0 {
			i, restA = i+1, m
		}
		if restB -= t; restB == 0 {
			j, restB = j+1, n
		}
	}
	return sumOrInf(cost), nil
}

// lineParallel is the number of points that are worth a second goroutine.
const lineParallel = 1 << 13

// lineCount is the largest number of points on a line: their indices, the
// counters of the radix sort and the nodes of the heap are int32.
const lineCount = 1 << 30

func lineCheck[T constraints.Integer | constraints.Float](op, arg string, x []T) error {
	if err := lineSize(op, arg, len(x)); err != nil {
		return err
	}
	for i, v := range x {
		if f := float64(v); !(math.Abs(f) <= lineMax) {
			return &fault.ValueError{Op: op, Arg: arg, Index: i, Value: f, Want: "a number in [-1e300, 1e300]"}
		}
	}
	return nil
}

func lineSize(op, arg string, n int) error {
	if err := fault.Empty(op, arg, n); err != nil {
		return err
	}
	if n > lineCount {
		return &fault.SizeError{Op: op, Arg: arg, Got: n, Want: fmt.Sprintf("at most %d", lineCount)}
	}
	return nil
}

// sumOrInf returns a sum of terms >= 0, +Inf where it overflowed: then its double-double is NaN.
func sumOrInf(c exact.DD) float64 {
	if math.IsNaN(c.Hi) || math.IsNaN(c.Lo) {
		return math.Inf(1)
	}
	return c.Hi
}

// lineOrder returns the indices of x in ascending order of value, nil for 0, 1, ...
func lineOrder(x []float64) []int32 {
	if slices.IsSorted(x) {
		return nil
	}
	_, order := lineSort(x, true)
	return order
}

// lineAt is order[k], or k where order is nil.
func lineAt(order []int32, k int) int {
	if order == nil {
		return k
	}
	return int(order[k])
}

// The radix sort takes the 64 bits of a number in 6 digits of 11 bits. Below
// lineSmall numbers a comparison sort is faster.
const (
	lineBits   = 11
	lineDigits = 6
	lineSmall  = 600
)

// lineSort returns a sorted copy of src, which holds no NaN, and with it on request the index that
// each number had in src. Numbers of equal bits keep their order.
func lineSort(src []float64, indexed bool) (sorted []float64, index []int32) {
	n := len(src)
	if indexed {
		index = make([]int32, n)
		for i := range index {
			index[i] = int32(i)
		}
	}
	if n < lineSmall {
		sorted = slices.Clone(src)
		slices.Sort(sorted)
		slices.SortStableFunc(index, func(i, j int32) int { return cmp.Compare(src[i], src[j]) })
		return sorted, index
	}
	var count [lineDigits][1 << lineBits]int32
	for _, v := range src {
		k := lineKey(v)
		for d := range count {
			count[d][k>>(d*lineBits)&(1<<lineBits-1)]++
		}
	}
	from, to, spare := src, make([]float64, n), make([]float64, n)
	var indexTo []int32
	if indexed {
		indexTo = make([]int32, n)
	}
	for d := range count {
		shift := d * lineBits
		place := &count[d]
		if int(place[lineKey(from[0])>>shift&(1<<lineBits-1)]) == n {
			continue // one digit for all: nothing moves
		}
		sum := int32(0)
		for b, c := range place {
			place[b] = sum
			sum += c
		}
		if indexed {
			for i, v := range from {
				b := lineKey(v) >> shift & (1<<lineBits - 1)
				to[place[b]], indexTo[place[b]] = v, index[i]
				place[b]++
			}
			index, indexTo = indexTo, index
		} else {
			for _, v := range from {
				b := lineKey(v) >> shift & (1<<lineBits - 1)
				to[place[b]] = v
				place[b]++
			}
		}
		from, to, spare = to, spare, to // src is read in the first pass only
	}
	return from, index
}

// lineKey orders the numbers as integers: all bits of the negative ones are
// flipped, the sign bit of the others. -0 comes just below 0.
func lineKey(v float64) uint64 {
	b := math.Float64bits(v)
	return b ^ (uint64(int64(b)>>63) | 1<<63)
}

// Package finite asks a metric.Finite for what it can do beside Distance: rows and coordinates.
package finite

import (
	"cmp"
	"slices"
)

// Metric is metric.Finite.
type Metric interface {
	Len() int
	Distance(i, j int) float64
}

// RowReader is metric.RowReader.
type RowReader interface {
	DistancesFrom(i int, dst []float64) []float64
}

// Row returns the distances from point i to every point, by f's own [RowReader] if it has one,
// which may bring a slice of its own, and else in dst where its capacity allows. O(Len()).
func Row(f Metric, i int, dst []float64) []float64 {
	if r, ok := f.(RowReader); ok {
		return r.DistancesFrom(i, dst)
	}
	dst = Grow(dst, f.Len())
	for j := range dst {
		dst[j] = f.Distance(i, j)
	}
	return dst
}

// Square is a metric that is stored: row i of D has the N distances from point i.
type Square struct {
	N int
	D []float64
}

// Len is N.
func (s Square) Len() int { return s.N }

// Distance reads one.
func (s Square) Distance(i, j int) float64 { return s.D[i*s.N+j] }

// DistancesFrom returns a row of D.
func (s Square) DistancesFrom(i int, _ []float64) []float64 { return s.D[i*s.N : (i+1)*s.N] }

// Grow returns a slice of length n, dst where its capacity allows.
func Grow(dst []float64, n int) []float64 {
	if cap(dst) < n {
		return make([]float64, n)
	}
	return dst[:n]
}

// Dim returns the dimension of f's embedding where f knows it without making one,
// which may take more memory than f, and 0 otherwise.
func Dim(f Metric) int {
	if d, ok := f.(interface{ Dim() int }); ok {
		return d.Dim()
	}
	return 0
}

// Embed returns f's embedding, E being metric.Embedding, if it has one.
func Embed[E any](f Metric) (e E, ok bool) {
	if p, is := f.(interface{ Embed() (E, bool) }); is {
		return p.Embed()
	}
	return e, false
}

// lineSlack is the relative excess of a way through all points of a line over the distance
// of its ends: the rounding of some 10^4 distances.
const lineSlack = 0x1p-40

// Line returns positions of the points on the real line with the same distances, up to
// rounding, if there are any. A farthest point from any point of a line is an end of it,
// and if from there, in order of distance, the steps sum to the distance of the last, then
// by the triangle inequality every part of the way is as long as the distance of its ends.
// O(n log n), with two rows of distances.
func Line(f Metric) ([]float64, bool) {
	n := f.Len()
	row, end := Row(f, 0, nil), 0
	for i, d := range row {
		if d > row[end] {
			end = i
		}
	}
	x := slices.Clone(Row(f, end, nil))
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(x[i], x[j]) })
	way := 0.0
	for k := 1; k < n; k++ {
		way += f.Distance(order[k-1], order[k])
	}
	return x, way <= x[order[n-1]]*(1+lineSlack)
}

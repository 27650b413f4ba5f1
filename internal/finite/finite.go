// Package finite asks a metric.Finite for what it can do beside Distance: rows and coordinates.
package finite

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

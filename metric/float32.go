package metric

import "sync"

// Float32 is the space S on vectors of float32: Float32[Euclidean]{} in place of Euclidean{}. The
// distance is that of S between the same numbers as float64, bit for bit. Check is that of S,
// except that a vector of [TotalVariation] may sum to 1 within 1e-5.
type Float32[S interface {
	Space[[]float64]
	Checker[[]float64]
	Embedder[[]float64]
}] struct {
	Space S // its zero value where S has no parameters
}

// Distance implements [Space]. It does not allocate.
func (f Float32[S]) Distance(x, y []float32) float64 {
	switch any(f.Space).(type) {
	case Euclidean:
		return euclidean(x, y)
	case Manhattan:
		return manhattan(x, y)
	case Chebyshev:
		return chebyshev(x, y)
	case Angular:
		return angular(x, y)
	}
	w := widen(x, y)
	defer widePool.Put(w)
	return f.Space.Distance(w.x, w.y)
}

// Unit returns that of S.
func (f Float32[S]) Unit() Unit { return UnitOf(f.Space) }

// Check implements [Checker].
func (f Float32[S]) Check(x, y []float32) error {
	w := widen(x, y)
	defer widePool.Put(w)
	if _, ok := any(f.Space).(TotalVariation); ok {
		return checkProbabilities(w.x, w.y, 1e-5)
	}
	return f.Space.Check(w.x, w.y)
}

// Append implements [Embedder].
func (f Float32[S]) Append(dst []float64, p []float32) []float64 {
	w := widen(p, nil)
	defer widePool.Put(w)
	return f.Space.Append(dst, w.x)
}

// Norm implements [Embedder].
func (f Float32[S]) Norm() (float64, func(float64) float64) { return f.Space.Norm() }

func (f Float32[S]) linear() bool { return isLinear(f.Space) }

type wide struct{ x, y []float64 }

var widePool = sync.Pool{New: func() any { return new(wide) }}

// widen takes a wide from the pool; it is to be put back.
func widen(x, y []float32) *wide {
	w := widePool.Get().(*wide)
	w.x, w.y = w.x[:0], w.y[:0]
	for _, v := range x {
		w.x = append(w.x, float64(v))
	}
	for _, v := range y {
		w.y = append(w.y, float64(v))
	}
	return w
}

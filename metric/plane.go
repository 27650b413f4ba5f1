package metric

import "math"

// Plane is the [Euclidean] distance of R^2 on arrays, which compare by ==. Both coordinates are in
// one unit of length: for degrees of latitude and longitude see [GreatCircle]. Check is as of
// Euclidean.
type Plane struct{}

// Distance implements [Space].
func (Plane) Distance(x, y [2]float64) float64 { return math.Hypot(x[0]-y[0], x[1]-y[1]) }

// Check implements [Checker].
func (Plane) Check(x, y [2]float64) error { return checkVectors("metric: Plane", x[:], y[:]) }

// Append implements [Embedder].
func (Plane) Append(dst []float64, p [2]float64) []float64 { return append(dst, p[:]...) }

// Norm implements [Embedder].
func (Plane) Norm() (float64, func(float64) float64) { return 2, identity }

func (Plane) linear() bool { return true }

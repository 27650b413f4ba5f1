package exhibit

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/metricdp/metricdp/metric"
)

// Below has the numbers below n.
func Below(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// Simplex is n points at distance 1 from each other.
func Simplex(n int) metric.Finite {
	return Must(metric.NewPoints(Below(n), metric.Discrete[int]{}))
}

// Line is k+1 points from lo to hi, at equal gaps.
func Line(lo, hi float64, k int) *metric.Points[float64] {
	points := make([]float64, k+1)
	for i := range points {
		points[i] = lo + (hi-lo)*float64(i)/float64(k)
	}
	return Must(metric.NewPoints(points, metric.Numbers[float64]{}))
}

// Normalize divides weights by their sum, and returns them.
func Normalize(w []float64) []float64 {
	sum := 0.0
	for _, x := range w {
		sum += x
	}
	for i := range w {
		w[i] /= sum
	}
	return w
}

// Slope is the exponent b of the power law y = a x^b that fits best in logarithms.
func Slope(x, y []float64) float64 {
	lx, ly := make([]float64, len(x)), make([]float64, len(y))
	for i := range x {
		lx[i], ly[i] = math.Log(x[i]), math.Log(y[i])
	}
	_, b := stat.LinearRegression(lx, ly, nil, false)
	return b
}

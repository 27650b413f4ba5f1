package sample

import "math"

// Mean returns the mean of x and its standard error.
func Mean(x []float64) (mean, stderr float64) {
	n := float64(len(x))
	for _, v := range x {
		mean += v / n
	}
	for _, v := range x {
		stderr += float64((v - mean) * (v - mean))
	}
	return mean, math.Sqrt(stderr / n / max(1, n-1))
}

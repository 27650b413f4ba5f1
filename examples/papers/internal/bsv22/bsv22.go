// Package bsv22 has the exhibits of BSV22: Boedihardjo, Strohmer, Vershynin,
// "Private measures, random walks, and synthetic data", arXiv 2204.09167.
package bsv22

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/metricdp/metricdp/examples/papers/internal/exhibit"
)

// Exhibits are those of the paper, in its order.
var Exhibits = []exhibit.Exhibit{
	{Name: "BSV22/walk", About: "a random walk as private as independent Laplace steps that stays within log^2 n", Run: walks},
	{Name: "BSV22/thm6.3", About: "the shortest tour is at most 16 times the covering integral", Run: tours},
	{Name: "BSV22/measure", About: "private measures err by the covering integral times (log n)^(3/2)/alpha, and not by less than Theorem 8.5 says", Run: measures},
	{Name: "BSV22/exponent", About: "synthetic data of N records in d dimensions err like N^(-1/d), and must", Run: exponents},
}

// slope is the exponent b of the power law y = a x^b that fits best in logarithms.
func slope(x, y []float64) float64 {
	lx, ly := make([]float64, len(x)), make([]float64, len(y))
	for i := range x {
		lx[i], ly[i] = math.Log(x[i]), math.Log(y[i])
	}
	_, b := stat.LinearRegression(lx, ly, nil, false)
	return b
}

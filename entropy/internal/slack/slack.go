// Package slack holds the factors that make bounds by the triangle inequality
// true for computed distances.
package slack

import "github.com/metricdp/metricdp/metric"

// With t = metric.DefaultTolerance, 2^-40, distances obey rho(x,z) <= (1+t)
// (rho(x,y) + rho(y,z)). No proof of package entropy uses the inequality more
// than twice in a row. (1+t)^2 = 1 + 2t + t^2, so that Up covers it with almost
// 2t, or 2^-39, to spare: hundreds of roundings of 2^-53. And (1+t)^2 (1-4t) <=
// 1 - 2t, so that Down does as well.
const (
	// Up times an upper bound in plain arithmetic is a true one.
	Up = 1 + 4*metric.DefaultTolerance
	// Down times a lower bound, or a separation, likewise.
	Down = 1 - 4*metric.DefaultTolerance
)

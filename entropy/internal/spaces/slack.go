package spaces

import "github.com/metricdp/metricdp/metric"

// Factors that make bounds by the triangle inequality true for computed distances. With t =
// metric.DefaultTolerance, 2^-40, distances obey rho(x,z) <= (1+t) (rho(x,y) + rho(y,z)). No proof
// of package entropy uses the inequality more than twice in a row. (1+t)^2 = 1 + 2t + t^2, so that
// SlackUp covers it with almost 2t, or 2^-39, to spare: hundreds of roundings of 2^-53. And (1+t)^2
// (1-4t) <= 1 - 2t, so that SlackDown does as well.
const (
	// SlackUp times an upper bound in plain arithmetic is a true one.
	SlackUp = 1 + 4*metric.DefaultTolerance
	// SlackDown times a lower bound, or a separation, likewise.
	SlackDown = 1 - 4*metric.DefaultTolerance
)

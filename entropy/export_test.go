package entropy

// The witnesses of the scales, for tests that give them any points.
type (
	CrowdedBall = crowdedBall
	WideBall    = wideBall
)

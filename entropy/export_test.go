package entropy

// The witnesses that are not exported, for tests that give them any points.
type (
	CrowdedBall = crowdedBall
	WideBall    = wideBall
	Star        = weightedStar
	Constant    = constantOutput
	NetOutputs  = netOutputs
)

package entropy

// The witnesses that are not exported, for tests that give them any points.
type (
	Constant   = constantOutput
	NetOutputs = netOutputs
	Answer     = answer
	Priced     = priced
)

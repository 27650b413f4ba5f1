package tsp

func init() {
	ints("BR", &breadths)
	ints("CUT", &breadthsCut)
	x := []int{maxDepth, maxTurns, farMost, sweepStep}
	y := []int{}
	ints("DEPTH", &y)
	copy(x, y)
	y = nil
	ints("FAR", &y)
	copy(x[2:], y)
	maxDepth, maxTurns, farMost, sweepStep = x[0], x[1], x[2], x[3]
}

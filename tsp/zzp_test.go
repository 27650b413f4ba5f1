package tsp

func init() {
	ints("BR", &breadths)
	ints("CUT", &breadthsCut)
	x := []int{maxDepth, maxTurns, farMost}
	y := []int{}
	ints("DEPTH", &y)
	copy(x, y)
	y = nil
	ints("FAR", &y)
	copy(x[2:], y)
	maxDepth, maxTurns, farMost = x[0], x[1], x[2]
	y = []int{regionMost, regionSize, 50, maxRun, walkLen}
	z := y
	ints("REG", &y)
	copy(z, y)
	y = z
	regionMost, regionSize, regionShare, maxRun, walkLen = y[0], y[1], float64(y[2])/100, y[3], y[4]
	y = []int{qPer, 0}
	z = nil
	ints("Q", &z)
	copy(y, z)
	qPer, useMST = y[0], y[1] == 1
}

package tsp

func init() {
	y := []int{}
	x := []int{50, 50}
	ints("WALK", &y)
	copy(x, y)
	walkSteps, mixKick = x[0], x[1]
	y = nil
	ints("BR", &y)
	copy(widths[:], y)
	y = []int{maxSteps}
	ints("DEPTH", &y)
	maxSteps = y[0]
	y = []int{letDepth}
	ints("LET", &y)
	letDepth = y[0]
}

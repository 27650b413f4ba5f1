package scale

// Options tune scales, counts and, in package entropy, bounds. Nil and the zero value mean
// the defaults. Results depend on Nodes alone.
type Options struct {
	// Nodes bounds the branch-and-bound nodes of one packing problem, less on more
	// than some hundred points. 0 means 20000, enough for some dozens of points; a
	// negative number none: greedy sets and partitions only. Fewer nodes leave
	// wider intervals, never wrong ones. What makes no such search ignores it.
	Nodes int
	// Progress, where not nil, is told how many of how many parts are done. It
	// starts again with each level, scale and bound. Calls do not overlap.
	// [Packing] and [Outer] do not call it.
	Progress func(done, total int)
	// Workers is the number of goroutines; 0 means GOMAXPROCS. [Packing] and
	// [Outer] use one.
	Workers int
}

const defaultNodes = 20000

// budget applies the default to the field Nodes of options.
func budget(nodes int) int {
	if nodes == 0 {
		return defaultNodes
	}
	return max(0, nodes)
}

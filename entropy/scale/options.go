package scale

// Options tune scales, counts and, in package entropy, bounds. Nil and the zero value mean the
// defaults. Results depend on Nodes alone.
type Options struct {
	// Nodes bounds the branch-and-bound nodes of one packing problem. 0 means 20000, enough for
	// some dozens of points; a negative number none. Fewer nodes leave wider intervals, never
	// wrong ones.
	Nodes int
	// Progress, where not nil, is called with the parts done and their number, anew for each
	// level, scale and bound, never concurrently. Not by [Packing] and [Outer].
	Progress func(done, total int)
	// Workers is the number of goroutines; 0 means GOMAXPROCS. [Packing] and [Outer] use one.
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

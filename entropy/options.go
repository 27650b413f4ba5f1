package entropy

import "context"

// Options tune what searches and what takes long. Nil and the zero value mean
// the defaults. Results depend on Nodes, and not on Workers or on time.
type Options struct {
	// Nodes bounds the branch-and-bound nodes spent on one packing or covering
	// problem, less on more than some hundred points, where a node takes
	// longer. 0 is DefaultNodes, and a negative number none: greedy sets and
	// partitions only. Fewer nodes are faster and may leave wider intervals,
	// never wrong ones.
	Nodes int
	// Context, where not nil, ends the work early with its error.
	Context context.Context
	// Progress, where not nil, is told how many of how many parts are done, by
	// functions that take long. Calls do not overlap.
	Progress func(done, total int)
	// Workers is the number of goroutines; 0 means GOMAXPROCS.
	Workers int
}

// DefaultNodes is enough to make packing numbers exact in most sets of some
// dozens of points.
const DefaultNodes = 20000

func (o *Options) orDefault() *Options {
	if o == nil {
		return &Options{}
	}
	return o
}

func (o *Options) context() context.Context {
	if o.Context == nil {
		return context.Background()
	}
	return o.Context
}

func (o *Options) nodes() int {
	if o.Nodes == 0 {
		return DefaultNodes
	}
	return max(0, o.Nodes)
}

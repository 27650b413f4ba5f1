package byinput

import (
	"cmp"
	"context"
	"slices"
)

// Plan is the structure of a factorization: what is known without a number.
type Plan struct {
	n, k        int
	start, ends []int32
	of          []int32
	inputs      []int32 // in the order of elimination
	number      []int32 // of every input
	later       [][]tie // of every input
	nodes       []node  // children before parents, a subtree in a row
	tasks       [][2]int
	top         []int // nodes outside of the tasks
	entries     int   // of all panels
	vectors     int   // of all widths
	flops       float64
}

// tie is a pair of an input and one that is eliminated later.
type tie struct{ number, pair int32 }

// node is a group of inputs that are eliminated together. Its panel is a row by
// row matrix of its part of the factor: first come its unknowns, those of
// [first, last) and then their multipliers, then the unknowns of its border,
// columns only.
type node struct {
	first, last int32   // inputs, by number
	border      []int32 // later inputs that they are tied to, by number, ascending
	inputs      []int32 // those, as the caller numbers them
	duals       []int32 // their multipliers
	parent      int     // -1: none
	children    []int
	updates     []update
	x, p, width int // unknowns x and all unknowns, rows of the panel, and columns
	at, vector  int // where the panel begins, and a vector as wide
}

// update is an earlier node: border[lo:hi] of it are inputs of this one.
type update struct {
	node   int
	lo, hi int
}

// Groups are merged where that adds at most relaxed of their multiplications.
const relaxed = 0.1

// Subtrees of less than 1/shares of all multiplications are worked on in
// parallel, what is above them one node after another.
const shares = 16

// NewPlan takes the graph of the pairs u < v, ends[start[u]:start[u+1]] those of
// u, and the input of every multiplier. It returns nil where a factorization
// would take more than most multiplications. The error is the context's.
func NewPlan(ctx context.Context, n, outputs int, start, ends, of []int32, most float64) (*Plan, error) {
	k := float64(outputs)
	columns, err := eliminate(ctx, n, start, ends, 2*most/(k*k*k))
	if columns == nil {
		return nil, err
	}
	p := &Plan{n: n, k: outputs, start: start, ends: ends, of: of, number: make([]int32, n)}
	p.build(columns)
	p.measure()
	return p, nil
}

// build groups the columns and lists the groups in postorder.
func (p *Plan) build(columns []column) {
	type group struct {
		inputs, border []int32
		children       []int
		work           float64 // in squares of rows, without what merging adds
	}
	groups := make([]group, p.n)
	step := make([]int, p.n)
	for j, c := range columns {
		step[c.input] = j
	}
	square := func(inputs, border int) (sum float64) {
		for i := range inputs {
			c := float64(inputs - i + border)
			sum += c * c
		}
		return sum
	}
	// A column takes in the groups of its children in the elimination tree, those with
	// the largest borders first, where that adds little work. The parent of a column is
	// the first that is eliminated of its border.
	children := make([][]int, p.n)
	var roots []int
	for j, c := range columns {
		g := &groups[j]
		g.inputs, g.border, g.work = []int32{c.input}, c.border, square(1, len(c.border))
		list := children[j]
		slices.SortStableFunc(list, func(a, b int) int {
			return cmp.Compare(len(groups[b].border), len(groups[a].border))
		})
		for _, i := range list {
			h := &groups[i]
			if work := g.work + h.work; square(len(g.inputs)+len(h.inputs), len(g.border)) <= (1+relaxed)*work {
				g.inputs, g.work = append(h.inputs, g.inputs...), work
				g.children = append(g.children, h.children...)
			} else {
				g.children = append(g.children, i)
			}
		}
		if len(c.border) == 0 {
			roots = append(roots, j)
			continue
		}
		parent := p.n
		for _, v := range c.border {
			parent = min(parent, step[v])
		}
		children[parent] = append(children[parent], j)
	}
	// Nodes in postorder, so that a subtree is a range and what a panel needs comes
	// before it. Inputs are numbered as they come.
	next := int32(0)
	var visit func(j int) int
	visit = func(j int) int {
		g := &groups[j]
		var below []int
		for _, i := range g.children {
			below = append(below, visit(i))
		}
		d := node{first: next, inputs: g.inputs, border: g.border, parent: -1, children: below}
		for _, u := range g.inputs {
			p.number[u] = next
			p.inputs = append(p.inputs, u)
			next++
		}
		d.last = next
		for _, i := range below {
			p.nodes[i].parent = len(p.nodes)
		}
		p.nodes = append(p.nodes, d)
		return len(p.nodes) - 1
	}
	for _, j := range roots {
		visit(j)
	}
}

// measure fills in what follows from the groups.
func (p *Plan) measure() {
	// Each pair belongs to its end that is eliminated first, whose panel it is in.
	p.later = make([][]tie, p.n)
	for u := range p.n {
		for i := p.start[u]; i < p.start[u+1]; i++ {
			v := p.ends[i]
			if a, b := p.number[u], p.number[v]; a < b {
				p.later[u] = append(p.later[u], tie{b, i})
			} else {
				p.later[v] = append(p.later[v], tie{a, i})
			}
		}
	}
	// The multipliers of each node, the shape and place of its panel, and the work.
	owner, duals := make([]int, p.n), make([][]int32, p.n)
	for j, u := range p.of {
		duals[u] = append(duals[u], int32(j))
	}
	below := make([]float64, len(p.nodes)) // work of the subtrees
	size := make([]int, len(p.nodes))      // their nodes
	for i := range p.nodes {
		d := &p.nodes[i]
		for _, u := range d.inputs {
			owner[p.number[u]] = i
			d.duals = append(d.duals, duals[u]...)
		}
		for e, u := range d.border {
			d.border[e] = p.number[u]
		}
		slices.Sort(d.border)
		d.x = p.k * len(d.inputs)
		d.p = d.x + len(d.duals)
		d.width = d.p + p.k*len(d.border)
		d.at, d.vector = p.entries, p.vectors
		p.entries += d.p * d.width
		p.vectors += d.width
		for r := range d.p {
			c := float64(d.width - r)
			below[i] += c * c
		}
		p.flops += below[i]
		size[i]++
		for _, c := range d.children {
			below[i] += below[c]
			size[i] += size[c]
		}
	}
	// A node updates those that own a part of its border.
	for i := range p.nodes {
		for lo, b := 0, p.nodes[i].border; lo < len(b); {
			o, hi := owner[b[lo]], lo+1
			for hi < len(b) && owner[b[hi]] == o {
				hi++
			}
			p.nodes[o].updates = append(p.nodes[o].updates, update{i, lo, hi})
			lo = hi
		}
	}
	// From the roots down: what is too large for a task is at the top.
	for i := len(p.nodes) - 1; i >= 0; {
		if below[i] > p.flops/shares {
			p.top = append(p.top, i)
			i--
			continue
		}
		p.tasks = append(p.tasks, [2]int{i + 1 - size[i], i + 1})
		i -= size[i]
	}
	slices.Reverse(p.top)
}

// Flops is the number of multiplications of a factorization.
func (p *Plan) Flops() float64 { return p.flops / 2 }

// Bytes is the memory of a Factor.
func (p *Plan) Bytes() float64 {
	panels := 0.0 // which may be more than an int of 32 bits
	for _, d := range p.nodes {
		panels += float64(float64(d.p) * float64(d.width))
	}
	duals := len(p.of)
	return float64(8 * (panels + float64(p.vectors+p.k*(6*p.n+len(p.ends)+duals)+6*duals)))
}

// run is a part of a border that lies in a row of columns of a later panel.
type run struct {
	from, count int // in the border
	column      int
}

// runs cuts border[from:], all of it in the columns of d, into runs.
func (p *Plan) runs(list []run, border []int32, from int, d *node) []run {
	list = list[:0]
	at := 0
	for e := from; e < len(border); e++ {
		v, column := border[e], 0
		if v < d.last {
			column = p.k * int(v-d.first)
		} else {
			for d.border[at] != v {
				at++
			}
			column = d.p + p.k*at
		}
		if n := len(list); n > 0 && column == list[n-1].column+p.k*list[n-1].count {
			list[n-1].count++
		} else {
			list = append(list, run{e, 1, column})
		}
	}
	return list
}

package byinput

import (
	"cmp"
	"context"
	"slices"
)

// System is the structure of a system: where its numbers are.
type System struct {
	Inputs      int
	Start, Ends []int32  // the pairs of inputs u < v, Ends[Start[u]:Start[u+1]] those of u
	Of          []int32  // the input of every multiplier
	Columns     []Column // one for every output
}

// Column has an unknown for every one of some inputs.
type Column struct {
	Inputs []int32    // ascending
	Pairs  [][2]int32 // of its unknowns, those of inputs that are a pair
	// Duals are the multipliers of its inputs, all of them, At the unknowns they are about.
	Duals, At []int32
}

// Plan is the structure of a factorization: what is known without a number.
type Plan struct {
	System
	columns  []place   // of the matrix
	unknowns [][]int32 // of every input, by output
	entries  [][]int   // of every multiplier, in C, as the unknowns of its input
	offset   []int     // unknowns of inputs before, by number
	inputs   []int32   // in the order of elimination
	number   []int32   // of every input
	later    [][]tie   // of every input
	nodes    []node    // children before parents, a subtree in a row
	tasks    [][2]int
	top      []int // nodes outside of the tasks
	size     int   // of all panels
	vectors  int   // of all widths
	flops    float64
}

// place is where a column begins in unknowns, in H and in C.
type place struct{ x, h, c int }

// tie is a pair of an unknown and one that is eliminated later.
type tie struct {
	number   int32 // of the later input
	row, col int32 // the unknowns, among those of their inputs
	from, to int32 // the same, of all
	h        int   // its place in H
}

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
	borderAt    []int // unknowns of the border before each input, and all
	x, p, width int   // unknowns x and all unknowns, rows of the panel, and columns
	at, vector  int   // where the panel begins, and a vector as wide
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

// Work is the number of multiplications of a factorization.
func (p *Plan) Work() float64 { return p.flops }

// NewPlan returns nil where a factorization would take more than most multiplications.
// The error is the context's.
func NewPlan(ctx context.Context, s System, most float64) (*Plan, error) {
	p := &Plan{System: s, columns: make([]place, len(s.Columns)+1), unknowns: make([][]int32, s.Inputs), number: make([]int32, s.Inputs)}
	for w, c := range s.Columns {
		at := p.columns[w]
		for i, u := range c.Inputs {
			p.unknowns[u] = append(p.unknowns[u], int32(at.x+i))
		}
		p.columns[w+1] = place{at.x + len(c.Inputs), at.h + len(c.Inputs) + len(c.Pairs), at.c + len(c.Duals)}
	}
	columns, err := eliminate(ctx, s.Start, s.Ends, p.unknowns, most)
	if columns == nil {
		return nil, err
	}
	p.build(columns)
	p.measure()
	return p, nil
}

// all counts unknowns, numbers of H, and of C.
func (p *Plan) all() place { return p.columns[len(p.Columns)] }

// build groups the columns and lists the groups in postorder.
func (p *Plan) build(columns []column) {
	type group struct {
		inputs, border []int32
		children       []int
		work           float64 // in squares of rows, without what merging adds
	}
	groups := make([]group, p.Inputs)
	step := make([]int, p.Inputs)
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
	children := make([][]int, p.Inputs)
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
		parent := p.Inputs
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
	p.offset = make([]int, p.Inputs+1)
	for i, u := range p.inputs {
		p.offset[i+1] = p.offset[i] + len(p.unknowns[u])
	}
	rank := make([]int32, p.all().x)
	for _, list := range p.unknowns {
		for i, q := range list {
			rank[q] = int32(i)
		}
	}
	// Each pair belongs to its end that is eliminated first, whose panel it is in.
	p.later, p.entries = make([][]tie, p.Inputs), make([][]int, len(p.Of))
	for w, c := range p.Columns {
		at := p.columns[w]
		for i, pair := range c.Pairs {
			a, b := pair[0], pair[1]
			if p.number[c.Inputs[a]] > p.number[c.Inputs[b]] {
				a, b = b, a
			}
			from, to := int32(at.x)+a, int32(at.x)+b
			u := c.Inputs[a]
			p.later[u] = append(p.later[u], tie{p.number[c.Inputs[b]], rank[from], rank[to], from, to, at.h + len(c.Inputs) + i})
		}
		for i, j := range c.Duals {
			p.entries[j] = append(p.entries[j], at.c+i)
		}
	}
	for _, list := range p.later {
		slices.SortStableFunc(list, func(a, b tie) int { return cmp.Compare(a.number, b.number) })
	}
	// The multipliers of each node, the shape and place of its panel, and the work.
	owner, duals := make([]int, p.Inputs), make([][]int32, p.Inputs)
	for j, u := range p.Of {
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
		d.borderAt = make([]int, len(d.border)+1)
		for e, v := range d.border {
			d.borderAt[e+1] = d.borderAt[e] + p.wide(v)
		}
		d.x = p.offset[d.last] - p.offset[d.first]
		d.p = d.x + len(d.duals)
		d.width = d.p + d.borderAt[len(d.border)]
		d.at, d.vector = p.size, p.vectors
		p.size += d.p * d.width
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

// wide is how many unknowns an input has, by number.
func (p *Plan) wide(number int32) int { return p.offset[number+1] - p.offset[number] }

// Flops is the number of multiplications of a factorization.
func (p *Plan) Flops() float64 { return p.flops / 2 }

// tieBytes and entryBytes are what the lists of a Plan take for a number of H and of C.
const tieBytes, entryBytes = 40, 16

// Bytes is the memory of a Factor and of a Plan.
func (p *Plan) Bytes() float64 {
	panels := 0.0 // which may be more than an int of 32 bits
	for _, d := range p.nodes {
		panels += float64(float64(d.p) * float64(d.width))
	}
	all := p.all()
	return float64(8*(panels+float64(p.vectors+4*all.x+all.h+all.c+6*len(p.Of)))) + float64(tieBytes*all.h+entryBytes*all.c)
}

// run is a part of a border that lies in a row of columns of a later panel, in unknowns.
type run struct {
	from, count int // in the border
	column      int
}

// runs cuts border[from:] of c, all of it in the columns of d, into runs.
func (p *Plan) runs(list []run, c *node, from int, d *node) []run {
	list = list[:0]
	at := 0
	for e := from; e < len(c.border); e++ {
		v, column := c.border[e], 0
		if v < d.last {
			column = p.offset[v] - p.offset[d.first]
		} else {
			for d.border[at] != v {
				at++
			}
			column = d.p + d.borderAt[at]
		}
		if n := len(list); n > 0 && column == list[n-1].column+list[n-1].count {
			list[n-1].count += p.wide(v)
		} else {
			list = append(list, run{c.borderAt[e], p.wide(v), column})
		}
	}
	return list
}

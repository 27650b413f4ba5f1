package entropy

import (
	"math/bits"
	"slices"
)

// reachFrom is how far from the centre of cell x a point may be that lies in
// the ball of radius r around a point of x.
func (p *prover) reachFrom(x *cell, r float64) float64 {
	if x.single() {
		return r
	}
	return (r + x.radius) * boundSlack
}

// meets reports whether a ball of radius r around a point of x may have a point
// of u. It looks at parts of both, so it is right more often than their radii
// alone allow, and always where x is a point and u a leaf.
func (p *prover) meets(x, u *cell, r float64, deep int) bool {
	p.work++
	d := p.s.b.Privacy.Distance(int(x.centre), int(u.centre))
	if d <= r || d > (r+x.radius+u.privacy)*boundSlack {
		return d <= r
	}
	switch {
	case x.leaf() && u.leaf():
		return p.inside(x.centre, u, p.reachFrom(x, r)) >= 0
	case deep == 0:
		return true
	case u.leaf() || (!x.leaf() && x.radius > u.privacy):
		for i := range x.count {
			if p.meets(&p.s.xs.nodes[x.first+i], u, r, deep-1) {
				return true
			}
		}
		return false
	}
	for i := range u.count {
		if p.meets(x, &p.s.ys.nodes[u.first+i], r, deep-1) {
			return true
		}
	}
	return false
}

// gather appends the cells of radius at most size, or leaves, that may have a
// point within r of point c.
func (p *prover) gather(dst []cellKey, c int32, r, size float64) []cellKey {
	stack := append(p.stack[:0], 0)
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		u := &p.s.ys.nodes[v]
		p.work++
		d := p.s.b.Privacy.Distance(int(c), int(u.centre))
		if d > (r+u.privacy)*boundSlack {
			continue
		}
		if u.leaf() || u.radius <= size {
			dst = append(dst, cellKey{max(0, d/boundSlack-u.privacy), v})
			continue
		}
		for i := range u.count {
			stack = append(stack, u.first+i)
		}
	}
	p.stack = stack
	slices.SortFunc(dst, func(a, b cellKey) int {
		switch {
		case a.key < b.key:
			return -1
		case a.key > b.key:
			return 1
		}
		return int(a.u - b.u)
	})
	return dst
}

// graph builds the graph of the cells u. Where parents is given, vertex i
// descends from vertex parents[i] of the graph of old: only pairs joined there
// can be joined, and pairs that both are vertices of it are joined as there. It
// is not complete once work passes the limit.
func (p *prover) graph(u []int32, parents []int32, old []uint64, kept []bool) []uint64 {
	m := len(u)
	w := bitWords(m)
	rows := make([]uint64, m*w)
	ow := 0
	if parents != nil {
		ow = bitWords(len(kept))
	}
	for i := range u {
		if p.work > p.limit {
			break // the caller gives up
		}
		var oldRow []uint64
		if parents != nil {
			oldRow = old[int(parents[i])*ow : (int(parents[i])+1)*ow]
		}
		for j := range i {
			if parents != nil {
				q := parents[j]
				if oldRow[q/64]>>(q%64)&1 == 0 {
					continue
				}
				if kept[parents[i]] && kept[q] {
					rows[i*w+j/64] |= 1 << (j % 64)
					rows[j*w+i/64] |= 1 << (i % 64)
					continue
				}
			}
			if p.apart(&p.s.ys.nodes[u[i]], &p.s.ys.nodes[u[j]], deepApart) {
				rows[i*w+j/64] |= 1 << (j % 64)
				rows[j*w+i/64] |= 1 << (i % 64)
			}
		}
		p.work += int64(i / 8)
	}
	return rows
}

// apart reports whether a point of a and one of b may be more than T apart, by
// looking at parts of both; for leaves, whether they are.
func (p *prover) apart(a, b *cell, deep int) bool {
	p.work++
	d := p.s.b.Utility.Distance(int(a.centre), int(b.centre))
	if d > p.t || (a.single() && b.single()) {
		return d > p.t
	}
	if (d+a.radius+b.radius)*boundSlack <= p.t {
		return false
	}
	switch {
	case a.leaf() && b.leaf():
		return p.leavesApart(a, b)
	case deep == 0:
		return true
	case a.radius < b.radius:
		a, b = b, a
	}
	for i := range a.count {
		if p.apart(&p.s.ys.nodes[a.first+i], b, deep-1) {
			return true
		}
	}
	return false
}

// leavesApart is apart for sets of points at distance 0, whose distances may
// still differ by an ulp.
func (p *prover) leavesApart(a, b *cell) bool {
	for _, y := range p.s.ys.perm[a.lo:a.hi] {
		for _, z := range p.s.ys.perm[b.lo:b.hi] {
			if p.work++; p.s.b.Utility.Distance(int(y), int(z)) > p.t || p.work > p.limit {
				return true
			}
		}
	}
	return false
}

// restrict is the problem for the centres x alone, x a part of q's.
func (p *prover) restrict(q problem, x int32) problem {
	cx := &p.s.xs.nodes[x]
	r := p.s.reach[q.k]
	keep := make([]int32, 0, len(q.u))
	for i, u := range q.u {
		if p.meets(cx, &p.s.ys.nodes[u], r, deepMeets) {
			keep = append(keep, int32(i))
		}
	}
	return p.induced(q, x, keep)
}

// induced is the problem q on the vertices keep.
func (p *prover) induced(q problem, x int32, keep []int32) problem {
	m := len(keep)
	w, ow := bitWords(m), bitWords(len(q.u))
	sub := problem{x, q.k, make([]int32, m), make([]uint64, m*w)}
	for i, v := range keep {
		sub.u[i] = q.u[v]
		row, old := sub.rows[i*w:(i+1)*w], q.rows[int(v)*ow:(int(v)+1)*ow]
		for j, y := range keep {
			row[j/64] |= (old[y/64] >> (y % 64) & 1) << (j % 64)
		}
	}
	p.work += int64(m * m / 16)
	return sub
}

// radial colours the vertices in order and returns how many colours the first
// ones take: entry i is for vertices 0 to i.
func (p *prover) radial(rows []uint64, m, w int) []int32 {
	var class [][]uint64
	used := make([]int32, m)
	for v := range m {
		row := rows[v*w : (v+1)*w]
		c := 0
	next:
		for ; c < len(class); c++ {
			for j, y := range class[c] {
				if y&row[j] != 0 {
					continue next
				}
			}
			break
		}
		p.work += int64(c*w/8 + 1)
		if c == len(class) {
			class = append(class, make([]uint64, w))
		}
		class[c][v/64] |= 1 << (v % 64)
		used[v] = int32(len(class))
	}
	return used
}

// core drops the vertices that lie in no clique of k: those whose neighbours
// take fewer than k-1 colours. Where some drop out, others may follow, up to
// corePasses times.
func (p *prover) core(q problem) problem {
	m := len(q.u)
	w := bitWords(m)
	p.left, p.class = resized(p.left, w), resized(p.class, w)
	alive := make([]uint64, w)
	for v := range m {
		alive[v/64] |= 1 << (v % 64)
	}
	count := m
	for pass := 0; pass < corePasses && count >= q.k; pass++ {
		before := count
		for v := range m {
			if alive[v/64]>>(v%64)&1 == 0 {
				continue
			}
			degree := 0
			for j, y := range q.rows[v*w : (v+1)*w] {
				p.left[j] = y & alive[j]
				degree += bits.OnesCount64(p.left[j])
			}
			if degree < q.k-1 || !p.colours(q.rows, w, q.k-1) {
				alive[v/64] &^= 1 << (v % 64)
				count--
			}
			p.work += int64(w/4 + degree/4)
		}
		if count == before {
			break
		}
	}
	if count < q.k {
		return problem{x: q.x, k: q.k}
	}
	if count == m {
		return q
	}
	keep := make([]int32, 0, count)
	forEach(alive, func(v int) { keep = append(keep, int32(v)) })
	return p.induced(q, q.x, keep)
}

// colours reports whether the greedy colouring of the set left takes at least
// need colours. It uses up left.
func (p *prover) colours(rows []uint64, w, need int) bool {
	for k := 1; k <= need; k++ {
		if k == need {
			for _, y := range p.left {
				if y != 0 {
					return true
				}
			}
			return false
		}
		copy(p.class, p.left)
		some := false
		for j := range w {
			for p.class[j] != 0 {
				some = true
				v := j*64 + bits.TrailingZeros64(p.class[j])
				p.left[j] &^= 1 << (v % 64)
				p.class[j] &= p.class[j] - 1
				row := rows[v*w : (v+1)*w]
				for i := j; i < w; i++ {
					p.class[i] &^= row[i]
				}
			}
		}
		if !some {
			return false
		}
	}
	return true
}

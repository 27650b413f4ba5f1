// Package heap is a binary heap of numbered nodes whose keys may fall, as the
// algorithms of Dijkstra and Prim need it, and the slope trick.
package heap

// Heap holds nodes from [0, n), the one with the least key first, and knows where each is. The
// keys belong to the caller, who may lower that of a node and then pushes it again. Among equal
// keys the order depends on the calls alone. The zero Heap is one of no nodes; see [New].
type Heap struct {
	key  []float64
	node []int32
	at   []int32 // place of a node: 0 never in, gone after it left, else 1 + index
}

const gone = -1

// New returns an empty heap of nodes from [0, len(key)), which reads their keys in key.
func New(key []float64) Heap {
	return Heap{key, make([]int32, 0, len(key)), make([]int32, len(key))}
}

// Len returns the number of nodes in the heap.
func (h *Heap) Len() int { return len(h.node) }

// Top returns the node with the least key.
func (h *Heap) Top() int32 { return h.node[0] }

// Has tells whether k is in the heap.
func (h *Heap) Has(k int32) bool { return h.at[k] > 0 }

// Left tells whether k was in the heap and came out.
func (h *Heap) Left(k int32) bool { return h.at[k] == gone }

// Push adds k, or moves it up after its key fell. O(log n).
func (h *Heap) Push(k int32) {
	i := int(h.at[k]) - 1
	if i < 0 {
		i = len(h.node)
		h.node = append(h.node, k)
	}
	x := h.key[k]
	for i > 0 {
		up := (i - 1) / 2
		p := h.node[up]
		if h.key[p] <= x {
			break
		}
		h.node[i], h.at[p] = p, int32(i+1)
		i = up
	}
	h.node[i], h.at[k] = k, int32(i+1)
}

// Pop takes the node with the least key out and returns it. O(log n).
func (h *Heap) Pop() int32 {
	top := h.node[0]
	h.at[top] = gone
	last := len(h.node) - 1
	k := h.node[last]
	h.node = h.node[:last]
	if last == 0 {
		return top
	}
	x, i := h.key[k], 0
	for {
		d := 2*i + 1
		if d >= last {
			break
		}
		if d+1 < last && h.key[h.node[d+1]] < h.key[h.node[d]] {
			d++
		}
		c := h.node[d]
		if x <= h.key[c] {
			break
		}
		h.node[i], h.at[c] = c, int32(i+1)
		i = d
	}
	h.node[i], h.at[k] = k, int32(i+1)
	return top
}

// Reset empties the heap and forgets which nodes left it. nodes are those
// pushed since the last Reset.
func (h *Heap) Reset(nodes []int32) {
	for _, k := range nodes {
		h.at[k] = 0
	}
	h.node = h.node[:0]
}

// Clear is [Heap.Reset] where all nodes may have been pushed.
func (h *Heap) Clear() {
	clear(h.at)
	h.node = h.node[:0]
}

package wasserstein

// assignHeap is a binary heap of nodes, the one with the least key first, that
// knows where each is so that a key may fall. The keys belong to the caller.
type assignHeap struct {
	key  []float64
	node []int32
	at   []int32 // place of a node: 0 never in, gone after it left, else 1 + index
}

const assignGone = -1

func (h *assignHeap) init(key []float64) {
	h.key, h.node, h.at = key, make([]int32, 0, len(key)), make([]int32, len(key))
}

func (h *assignHeap) len() int   { return len(h.node) }
func (h *assignHeap) top() int32 { return h.node[0] }

// left tells whether k was in the heap and came out.
func (h *assignHeap) left(k int32) bool { return h.at[k] == assignGone }

// push adds k, or moves it up after its key fell.
func (h *assignHeap) push(k int32) {
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

func (h *assignHeap) pop() {
	h.at[h.node[0]] = assignGone
	last := len(h.node) - 1
	k := h.node[last]
	h.node = h.node[:last]
	if last == 0 {
		return
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
}

// reset empties the heap. nodes are those pushed since the last reset.
func (h *assignHeap) reset(nodes []int32) {
	for _, k := range nodes {
		h.at[k] = 0
	}
	h.node = h.node[:0]
}

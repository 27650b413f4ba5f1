package additive

import "sync"

var buffers = sync.Pool{New: func() any { return new([]float64) }}

// borrow returns a pooled slice of length n, to be handed to giveBack.
func borrow(n int) *[]float64 {
	b := buffers.Get().(*[]float64)
	if cap(*b) < n {
		*b = make([]float64, n)
	}
	*b = (*b)[:n]
	return b
}

func giveBack(b *[]float64) { buffers.Put(b) }

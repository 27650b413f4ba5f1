package heap

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
)

// Pushes, falling keys and pops, against a scan of all keys; twice on one heap,
// emptied in either way.
func TestHeap_AgainstScan(t *testing.T) {
	const n = 60
	r := random.Seeded(1)
	key := make([]float64, n)
	h := New(key)
	for round := range 20 {
		in, left := make([]bool, n), make([]bool, n)
		var pushed []int32
		for range 400 {
			k := int32(r.IntN(n))
			switch {
			case r.IntN(3) > 0 && !in[k] && !left[k]:
				key[k] = float64(r.IntN(50)) // ties too
				in[k] = true
				h.Push(k)
				pushed = append(pushed, k)
			case r.IntN(2) == 0 && in[k]:
				key[k] -= float64(r.IntN(20))
				h.Push(k)
			case h.Len() > 0:
				least := math.Inf(1)
				for j, q := range key {
					if in[j] {
						least = min(least, q)
					}
				}
				top := h.Top()
				if got := h.Pop(); got != top || !in[got] || key[got] != least {
					t.Fatalf("popped %d of key %v, Top %d, least %v", got, key[got], top, least)
				}
				in[top], left[top] = false, true
			}
			if h.Has(k) != in[k] || h.Left(k) != left[k] {
				t.Fatalf("node %d: Has %v, Left %v, want %v, %v", k, h.Has(k), h.Left(k), in[k], left[k])
			}
		}
		if round%2 == 0 {
			h.Reset(pushed)
		} else {
			h.Clear()
		}
		for k := range int32(n) {
			if h.Len() != 0 || h.Has(k) || h.Left(k) {
				t.Fatal("not empty")
			}
		}
	}
}

package kkt

import "testing"

// A solve is given up after patience iterations without progress, and after
// maxIterations with it.
func TestPatience_Lost(t *testing.T) {
	for name, c := range map[string]struct {
		shrink float64 // of the gap in an iteration
		want   int
	}{
		"stands still": {1, patience + 2},
		"too slow":     {1 - 1e-4, patience + 2},
		"goes on":      {0.89, maxIterations + 1},
	} {
		var p Patience
		gap, n := 1.0, 1
		for ; !p.Lost(gap) && n < 10*maxIterations; n++ {
			gap *= c.shrink
		}
		if n != c.want {
			t.Errorf("%s: given up after %d iterations, want %d", name, n, c.want)
		}
	}
}

package lp

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/metric"
)

// FuzzOptimal takes two matrices of distances, which need be no metrics, and a
// level from any bytes: every answer is certified and what is proved of one
// channel holds for the others, and nothing panics.
func FuzzOptimal(f *testing.F) {
	f.Add([]byte{3, 200, 1, 2, 3, 4, 5, 6})
	f.Add([]byte{2, 128, 0, 0, 0, 0})
	f.Add([]byte{5, 0, 255, 1, 255, 1, 255, 1, 255, 1, 9, 9, 9, 9, 200, 200, 30, 30, 7, 7})
	f.Add(binary.LittleEndian.AppendUint64([]byte{6, 90}, math.Float64bits(math.Pi)))
	f.Fuzz(func(t *testing.T, data []byte) {
		next := func() float64 {
			if len(data) == 0 {
				return 1
			}
			b := data[0]
			data = data[1:]
			return float64(b)
		}
		n := 1 + int(next())%6
		alpha := math.Exp((next() - 128) / 8) // 1e-7 to 1e7
		space := func() metric.Finite {
			upper := make([]float64, n*(n-1)/2)
			for i := range upper {
				if b := next(); b > 0 {
					upper[i] = math.Exp((b - 128) / 16) // 3e-4 to 3e3
				}
			}
			return testkit.Must(metric.NewDense(n, upper))
		}
		b := metric.Same(space())
		if next() > 128 {
			b.Utility = space()
		}
		s := testkit.Must(Optimal(t.Context(), b, alpha, nil))
		certified(t, b, alpha, nil, s)
		c := testkit.Must(ConstOPT(t.Context(), b, alpha, nil))
		constCertified(t, b, alpha, c)
		if c.Objective < s.DualBound {
			t.Errorf("ConstOPT loses %v, below the bound %v", c.Objective, s.DualBound)
		}
	})
}

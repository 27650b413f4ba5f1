package finite

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
)

// formula is a metric on len(at) points of the plane.
type formula struct {
	at       [][2]float64
	distance func(d float64) float64
}

func (f formula) Len() int { return len(f.at) }

func (f formula) Distance(i, j int) float64 {
	return f.distance(math.Hypot(f.at[i][0]-f.at[j][0], f.at[i][1]-f.at[j][1]))
}

// Points on a line are found wherever it lies; bent by little it is no line.
func TestLine_FindsLinesOnly(t *testing.T) {
	r := random.Seeded(5)
	whole := func(d float64) float64 { return d }
	for range 50 {
		var line, bent [][2]float64
		for k := range 3 + r.IntN(8) {
			x := r.NormFloat64()
			line = append(line, [2]float64{0.6 * x, 0.8 * x})
			bent = append(bent, [2]float64{float64(k), 1e-5 * float64(k*k)})
		}
		line = append(line, line[0]) // a double point
		f := formula{line, whole}
		x, ok := Line(f)
		if !ok {
			t.Fatalf("%v is no line", line)
		}
		for i := range x {
			for j := range i {
				if math.Abs(math.Abs(x[i]-x[j])-f.Distance(i, j)) > 1e-12 {
					t.Fatalf("%v and %v are at %v", x[i], x[j], f.Distance(i, j))
				}
			}
		}
		if _, ok := Line(formula{bent, whole}); ok {
			t.Fatalf("%v is a line", bent)
		}
		if _, ok := Line(formula{line, math.Sqrt}); ok {
			t.Fatal("the roots of distances are a line")
		}
	}
}

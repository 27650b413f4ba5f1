package wasserstein

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/rng"
	"github.com/metricdp/metricdp/metric"
)

func TestProject_SlowReference(t *testing.T) {
	r := rng.Seeded(1)
	for range 80 {
		n := 1 + r.IntN(30)
		f := w1Plane(r, n)
		g := w1Weights(r, n, true)
		for range r.IntN(n + 1) { // noise that keeps the total
			d := r.NormFloat64()
			i, j := r.IntN(n), r.IntN(n)
			g[i] += d
			g[j] -= d
		}
		got, err := Project(f, g, nil)
		if err != nil {
			t.Fatal(err)
		}
		want := refNearest(f.Distance, g)
		if math.Abs(got.Cost-want) > 1e-12*(1+want) || got.Lower > want+1e-12 || got.Upper < want-1e-12 {
			t.Fatalf("n = %d: %v in [%v, %v], want %v", n, got.Cost, got.Lower, got.Upper, want)
		}
		if slices.Min(got.P) < 0 || math.Abs(total(got.P)-1) > 1e-14*float64(n) {
			t.Fatalf("P has total %v, least %v", total(got.P), slices.Min(got.P))
		}
		// The distance of P from g, computed as that of two signed measures.
		if d := refSigned(f.Distance, g, got.P); math.Abs(d-want) > 1e-12*(1+want) {
			t.Fatalf("P is %v from g, want %v", d, want)
		}
		moved := slices.Clone(g)
		for _, p := range got.Plan {
			if g[p.I] <= 0 || g[p.J] >= 0 {
				t.Fatalf("flow %+v from %v to %v", p, g[p.I], g[p.J])
			}
			moved[p.I] -= p.Mass
			moved[p.J] += p.Mass
		}
		for i := range moved {
			if math.Abs(moved[i]-got.P[i]) > 1e-14*(1+math.Abs(g[i])) {
				t.Fatalf("P[%d] = %v, the plan makes it %v", i, got.P[i], moved[i])
			}
		}
	}
}

func TestProject_AgreesWithLine(t *testing.T) {
	r := rng.Seeded(2)
	for range 20 {
		n := 2 + r.IntN(100)
		x, pts, g := make([]float64, n), make([][]float64, n), w1Weights(r, n, false)
		for i := range x {
			x[i] = 10 * r.Float64()
			pts[i] = []float64{x[i]}
			d := 0.1 * r.NormFloat64()
			g[i] += d
			g[0] -= d
		}
		f, _ := metric.NewPoints(pts, metric.Euclidean{})
		got, err := Project(f, g, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, want, _ := ProjectLine(x, g); math.Abs(got.Cost-want) > 1e-11*(1e-2+want) {
			t.Errorf("n = %d: %v, on the line %v", n, got.Cost, want)
		}
	}
}

func TestProject_Edges(t *testing.T) {
	f := w1Plane(rng.Seeded(3), 3)
	g := []float64{.25, .5, .25}
	if p, err := Project(f, g, nil); err != nil || !slices.Equal(p.P, g) || p.Cost != 0 || p.Gap() != 0 {
		t.Errorf("a probability measure: %+v, %v", p, err)
	}
	var mass *MassError
	if _, err := Project(f, []float64{1, 1, -.5}, nil); !errors.As(err, &mass) || mass.Mu != 1.5 || mass.Nu != 1 {
		t.Errorf("total 1.5: %v", err)
	}
	if _, err := Project(f, []float64{1, 1, math.NaN()}, nil); err == nil {
		t.Error("NaN accepted")
	}
	if p, err := Project(w1Plane(rng.Seeded(3), 1), []float64{1}, nil); err != nil || p.P[0] != 1 {
		t.Errorf("one point: %+v, %v", p, err)
	}
}

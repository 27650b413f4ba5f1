package frequency

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
)

// randomChannel has strong diagonals and is otherwise without structure.
func randomChannel(t testing.TB, r *rand.Rand, n, m int) *mechanism.Channel {
	t.Helper()
	w := make([]float64, n*m)
	for i := range w {
		w[i] = r.Float64() + .01
		if i/m == i%m%n {
			w[i] += 2
		}
	}
	return testkit.Must(mechanism.FromWeights(t.Context(), n, m, w, nil))
}

func TestInverse_IsARightInverse(t *testing.T) {
	r := random.Seeded(1)
	for _, size := range [][2]int{{1, 1}, {1, 4}, {2, 2}, {5, 5}, {5, 9}, {40, 40}, {40, 97}} {
		n, m := size[0], size[1]
		c := randomChannel(t, r, n, m)
		v := testkit.Must(newInverse(t.Context(), "", c, maxCondition))
		if c.Len() != n || c.Outputs() != m || !(v.condition >= 1-1e-12) {
			t.Errorf("%v: %d inputs, %d outputs, condition %v", size, c.Len(), c.Outputs(), v.condition)
		}
		unitRows(t, size, c, v.estimate, 1e-10)
		for y := range m {
			if sum := floats.Sum(v.r.RawRowView(y)); math.Abs(sum-1) > 1e-10 {
				t.Errorf("%v: row %d of R sums to %v", size, y, sum)
			}
		}
	}
}

// uniformVariance is the mean over inputs of the sum of variances with inverse
// r.
func uniformVariance(c *mechanism.Channel, r mat.Matrix) float64 {
	total := 0.0
	for x := range c.Len() {
		for y, p := range c.Row(x, nil) {
			for j := range c.Len() {
				total += p * r.At(y, j) * r.At(y, j)
			}
		}
	}
	return total/float64(c.Len()) - 1
}

// Among right inverses none has a smaller mean variance: not the
// pseudo-inverse, nor any that a vector of A's null space leads to.
func TestInverse_HasLeastVariance(t *testing.T) {
	r := random.Seeded(2)
	for range 10 {
		const n, m = 4, 9
		c := randomChannel(t, r, n, m)
		v := testkit.Must(newInverse(t.Context(), "", c, maxCondition))
		best := uniformVariance(c, v.r)
		if w := v.weightedVariance([]float64{1, 1, 1, 1}); w < best*(1-1e-12) {
			t.Errorf("the worst variance %v is below the mean %v", w, best)
		}
		var pseudo, gram mat.Dense // A'(AA')^-1
		gram.Mul(v.a, v.a.T())
		if err := pseudo.Solve(&gram, v.a); err != nil {
			t.Fatal(err)
		}
		if u := uniformVariance(c, pseudo.T()); u < best*(1-1e-12) {
			t.Errorf("pseudo-inverse %v, ours %v", u, best)
		}
		for range 20 {
			var other, project mat.Dense // R + (I - RA) G
			g := mat.NewDense(m, n, nil)
			g.Apply(func(_, _ int, _ float64) float64 { return r.NormFloat64() }, g)
			project.Mul(v.r, v.a)
			other.Mul(&project, g)
			other.Sub(g, &other)
			other.Add(v.r, &other)
			if u := uniformVariance(c, &other); u < best*(1-1e-12) {
				t.Errorf("another inverse %v, ours %v", u, best)
			}
		}
	}
}

// The closed form of randomized response and the matrix agree.
func TestInverse_AgreesWithGKRR(t *testing.T) {
	for _, s := range gkrrSettings {
		g := mustGKRR(t, s.c, s.alpha0)
		c, _ := g.Channel(t.Context())
		v := testkit.Must(newInverse(t.Context(), "", c, 1e12))
		slack := 1e-11 + 0x1p-40*g.conditionNumber()
		if math.Abs(v.condition/g.conditionNumber()-1) > slack {
			t.Errorf("%+v: condition %v, closed form %v", s, v.condition, g.conditionNumber())
		}
		if slack > 1e-3 { // the rows of the matrix have not the digits
			continue
		}
		k := s.c.Len()
		f := testkit.Distribution(random.Seeded(3), k, nil)
		var out [4][]float64
		for i := range out {
			out[i] = make([]float64, k)
		}
		g.estimate(f, out[0], out[1])
		v.estimate(f, out[2], out[3])
		for x := range k {
			for i := range 2 {
				if d := math.Abs(out[i][x] - out[i+2][x]); d > slack*math.Pow(g.conditionNumber(), float64(i+1)) {
					t.Errorf("%+v item %d: %v and %v", s, x, out[i][x], out[i+2][x])
				}
			}
		}
		// No bound of its own beats the tree's.
		if general := v.errorBound(s.c, s.c.Inter()); general < g.errorBound(1)*(1-1e-6) {
			t.Errorf("%+v: general bound %v, of the tree %v", s, general, g.errorBound(1))
		}
	}
}

// The decomposition of a large channel is left to itself when its context ends.
func TestNewInverse_EndsWithItsContext(t *testing.T) {
	large := randomChannel(t, random.Seeded(1), 400, 400)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	clock := testkit.StartClock()
	_, err := newInverse(ctx, "", large, 1e12)
	if took := clock.Took(); !errors.Is(err, context.DeadlineExceeded) || took > 500*time.Millisecond {
		t.Errorf("%v after %v", err, took)
	}
}

func TestInverse_RefusesWhatIsIllConditioned(t *testing.T) {
	same := []float64{1, 2, 3, 1, 2, 3, 3, 2, 1} // two equal rows
	near := []float64{1, 2, 3, 1, 2, 3 + 1e-9, 3, 2, 1}
	for _, c := range []struct {
		n, m  int
		w     []float64
		limit float64
		ok    bool
	}{
		{3, 3, same, maxCondition, false}, {3, 3, near, maxCondition, false}, {3, 3, near, 1e12, true},
		{3, 2, []float64{1, 2, 2, 1, 1, 1}, maxCondition, false}, {2, 1, []float64{1, 1}, math.Inf(1), false}, // too few outputs
		{2, 2, []float64{1, 0, 0, 1}, 1, true},
		{2, 3, []float64{1, 0, 1, 1, 0, 3}, maxCondition, true}, // an output that never comes
	} {
		ch := testkit.Must(mechanism.FromWeights(t.Context(), c.n, c.m, c.w, nil))
		_, err := newInverse(t.Context(), "", ch, c.limit)
		var e *ConditionError
		if c.ok != (err == nil) || !c.ok && (!errors.As(err, &e) || e.Condition < e.Limit) {
			t.Errorf("%v, limit %v: %v", c.w, c.limit, err)
		}
	}
}

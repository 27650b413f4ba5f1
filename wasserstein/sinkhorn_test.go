package wasserstein

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/rng"
	"github.com/metricdp/metricdp/metric"
)

// sinkCase returns two integer measures of equal mass on n points of the plane,
// many of them without mass and some with both, and their distance by matching
// units of mass.
func sinkCase(t *testing.T, n int, seed uint64) (f metric.Finite, mu, nu []float64, exact float64) {
	t.Helper()
	r := rng.Seeded(seed)
	pts := make([][]float64, n)
	for i := range pts {
		pts[i] = []float64{r.Float64(), r.Float64()}
	}
	p, err := metric.NewPoints(pts, metric.Euclidean{})
	if err != nil {
		t.Fatal(err)
	}
	mu, nu = make([]float64, n), make([]float64, n)
	var a, b []int
	for range 2 * n {
		i, j := r.IntN(n/2), n/4+r.IntN(n/2)
		a, b = append(a, i), append(b, j)
		mu[i]++
		nu[j]++
	}
	c, err := Distances(p, a, b)
	if err != nil {
		t.Fatal(err)
	}
	m, err := Assignment(c, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p, mu, nu, m.Cost
}

func TestSinkhorn_BracketsExact(t *testing.T) {
	for seed := range uint64(3) {
		f, mu, nu, exact := sinkCase(t, 60, seed)
		for _, scale := range []float64{1, 1e-250, 1e250} {
			g, err := metric.Scaled(f, scale)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Sinkhorn(g, mu, nu, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := exact * scale
			if !r.Converged || r.Upper-r.Lower > 0.05*r.Upper {
				t.Errorf("seed %d scale %v: [%v, %v] after %d sweeps", seed, scale, r.Lower, r.Upper, r.Sweeps)
			}
			// want carries the rounding of its sum and of the scaled distances.
			if r.Lower > want*(1+1e-14) || r.Upper < want*(1-1e-14) {
				t.Errorf("seed %d scale %v: %v outside [%v, %v]", seed, scale, want, r.Lower, r.Upper)
			}
			sinkVerify(t, g, mu, nu, r)
		}
	}
}

// sinkVerify checks that the potentials are feasible as real numbers and worth
// Lower.
func sinkVerify(t *testing.T, f metric.Finite, mu, nu []float64, r *Entropic) {
	t.Helper()
	value := 0.0
	for i, m := range mu {
		value += (m - nu[i]) * (r.U[i] - r.V[i]) // one of them is 0
		if m <= nu[i] {
			continue
		}
		for j := range nu {
			if nu[j] <= mu[j] {
				continue
			}
			d := f.Distance(i, j)
			if s, e := directed.TwoSum(r.U[i], r.V[j]); s > d || (s == d && e > 0) {
				t.Fatalf("U[%d]+V[%d] = %v > %v", i, j, s, d)
			}
		}
	}
	if math.Abs(value-r.Lower) > 1e-12*math.Abs(value) {
		t.Errorf("potentials are worth %v, Lower is %v", value, r.Lower)
	}
}

// The bracket closes with the entropy.
func TestSinkhorn_GapFallsWithEpsilon(t *testing.T) {
	f, mu, nu, exact := sinkCase(t, 50, 9)
	last := math.Inf(1)
	for _, eps := range []float64{0.3, 0.1, 0.03, 0.01, 0.003} {
		r, err := Sinkhorn(f, mu, nu, &SinkhornOptions{Epsilon: eps, Tolerance: 1e-9, Sweeps: 1000})
		if err != nil {
			t.Fatal(err)
		}
		gap := r.Upper - r.Lower
		if !(gap < last/2) || r.Epsilon != eps || r.Lower > exact || r.Upper < exact {
			t.Errorf("epsilon %v (%v): [%v, %v], exact %v", eps, r.Epsilon, r.Lower, r.Upper, exact)
		}
		last = gap
	}
}

func TestSinkhorn_Exceptional(t *testing.T) {
	f := assignLine(0, 1, 3, 3)
	for _, x := range []struct {
		mu, nu []float64
		want   float64
	}{
		{[]float64{1, 0, 0, 0}, []float64{0, 0, 1, 0}, 3},
		{[]float64{.5, .25, .25, 0}, []float64{.5, .25, .25, 0}, 0},
		{[]float64{0, 0, 2, 1}, []float64{0, 0, 1, 2}, 0},
		{make([]float64, 4), make([]float64, 4), 0},
		{[]float64{1e-300, 0, 0, 0}, []float64{0, 1e-300, 0, 0}, 1e-300},
		{[]float64{1e300, 1e-300, 0, 0}, []float64{0, 1e300, 1e-300, 0}, 1e300},
		// The tenths add up to a little less than 1.
		{[]float64{1, 0, 0, 0}, []float64{0, .1 + .1 + .1 + .1 + .1 + .1 + .1 + .1 + .1 + .1, 0, 0}, 1},
	} {
		r, err := Sinkhorn(f, x.mu, x.nu, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !r.Converged || math.Abs(r.Upper-x.want) > 1e-9*x.want || math.Abs(r.Lower-x.want) > 1e-9*x.want {
			t.Errorf("%v to %v: [%v, %v], want %v", x.mu, x.nu, r.Lower, r.Upper, x.want)
		}
	}
}

func TestSinkhorn_WorkersAgree(t *testing.T) {
	f, mu, nu, _ := sinkCase(t, 80, 4)
	d, err := metric.Densify(f) // a RowReader
	if err != nil {
		t.Fatal(err)
	}
	var first string
	for _, o := range []SinkhornOptions{{Workers: 1}, {Workers: 5}} {
		for _, g := range []metric.Finite{f, d} {
			r, err := Sinkhorn(g, mu, nu, &o)
			if err != nil {
				t.Fatal(err)
			}
			if s := fmt.Sprint(*r); first == "" {
				first = s
			} else if s != first {
				t.Fatal("the result depends on the workers or on the way rows are read")
			}
		}
	}
}

func TestSinkhorn_Errors(t *testing.T) {
	f := assignLine(0, 1)
	half := []float64{.5, .5}
	var value *metric.ValueError
	var size *metric.SizeError
	var mass *MassError
	for _, bad := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := Sinkhorn(f, half, []float64{1, bad}, nil); !errors.As(err, &value) {
			t.Errorf("mass %v: %v", bad, err)
		}
		if _, err := Sinkhorn(f, half, half, &SinkhornOptions{Tolerance: bad}); !errors.As(err, &value) {
			t.Errorf("tolerance %v: %v", bad, err)
		}
		if _, err := Sinkhorn(f, half, half, &SinkhornOptions{Epsilon: bad}); !errors.As(err, &value) {
			t.Errorf("epsilon %v: %v", bad, err)
		}
		if _, err := Sinkhorn(sinkBad(bad), []float64{1, 0}, []float64{0, 1}, nil); !errors.As(err, &value) || value.Arg != "distance of points 0 and 1" {
			t.Errorf("distance %v: %v", bad, err)
		}
	}
	if _, err := Sinkhorn(f, half, []float64{1}, nil); !errors.As(err, &size) {
		t.Errorf("length: %v", err)
	}
	if _, err := Sinkhorn(f, half, []float64{1, 1}, nil); !errors.As(err, &mass) {
		t.Errorf("mass: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Sinkhorn(f, []float64{1, 0}, []float64{0, 1}, &SinkhornOptions{Context: ctx}); !errors.Is(err, context.Canceled) {
		t.Errorf("context: %v", err)
	}
}

// Sinkhorn reads distances again and again: one bad answer, however late, is an
// error, and never a bound that is NaN or rests on what was left out.
func TestSinkhorn_RefusesADistanceThatIsBadOnce(t *testing.T) {
	mu, nu := []float64{0.4, 0, 0.6, 0}, []float64{0, 0.7, 0, 0.3}
	for _, bad := range []float64{math.NaN(), math.Inf(1), -1} {
		for k := int64(1); ; k++ {
			f := &sinkOnce{bad: bad, at: k}
			_, err := Sinkhorn(f, mu, nu, nil)
			if f.calls.Load() < k { // all of them have been tried
				if err != nil || k < 100 {
					t.Errorf("%d calls: %v", k-1, err)
				}
				break
			}
			var value *metric.ValueError
			if !errors.As(err, &value) || !strings.HasPrefix(value.Arg, "distance of points ") {
				t.Fatalf("distance %v at call %d: %v", bad, k, err)
			}
		}
	}
}

// sinkOnce is four points on a line, but for one call of Distance, counted from 1.
type sinkOnce struct {
	calls atomic.Int64
	at    int64
	bad   float64
}

func (*sinkOnce) Len() int { return 4 }
func (s *sinkOnce) Distance(i, j int) float64 {
	if s.calls.Add(1) == s.at {
		return s.bad
	}
	return math.Abs(float64(i - j))
}

// sinkBad is two points at the given distance.
type sinkBad float64

func (sinkBad) Len() int { return 2 }
func (d sinkBad) Distance(i, j int) float64 {
	if i == j {
		return 0
	}
	return float64(d)
}

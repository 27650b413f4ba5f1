package cells

import (
	"math"
	"math/big"
	"testing"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
)

func logMasses(l Law, x, k int, rate float64) []float64 {
	m := make([]float64, k)
	l.LogMasses(x, rate, m)
	return m
}

// scatter is n points of the unit cube of R^d, or on the unit sphere.
func scatter(seed uint64, n, d int, round bool) []float64 {
	r, out := random.Seeded(seed), make([]float64, n*d)
	for i := range out {
		out[i] = r.Float64()
		if round {
			out[i] = r.NormFloat64()
		}
	}
	return out
}

// row is k sites on a line of no simple direction, and fan as many on a circle of the
// sphere; two of them are near.
func row(k int) []float64 {
	var out []float64
	for i := range k {
		u := math.Abs(math.Sin(float64(max(i, 1)*i))) + 1e-6*float64(i)
		out = append(out, .3*u, .1+.7*u)
	}
	return out
}

func fan(k int) []float64 {
	var out []float64
	for i := range k {
		s, c := math.Sincos(6 * math.Abs(math.Sin(float64(max(i, 1)*max(i, 1)))))
		out = append(out, .03*c, .03*s+1e-8*float64(i), -1)
	}
	return out
}

// Against the series in 200 bits, on both sides of where closed forms take over.
func TestTrigonometry_IsRightRelativeToItself(t *testing.T) {
	for i := range 2000 {
		s := math.Pi * float64(i+1) / 2000
		x, term := big.NewFloat(s).SetPrec(200), big.NewFloat(s).SetPrec(200)
		sums := [2]*big.Float{new(big.Float).SetPrec(200), new(big.Float).SetPrec(200)} // of odd and even powers
		for k := 2; k < 60; k++ {
			term.Quo(new(big.Float).SetPrec(200).Mul(term, x), big.NewFloat(float64(k)))
			if k%4 < 2 { // -s^4/4!, -s^5/5!
				sums[k%2].Sub(sums[k%2], term)
			} else { // s^2/2, s^3/6
				sums[k%2].Add(sums[k%2], term)
			}
		}
		sine := new(big.Float).Sub(x, sums[1])
		sin, below, rest := trigonometry(s)
		for name, c := range map[string]struct {
			got  float64
			want *big.Float
			tol  float64
		}{"sin": {sin, sine, 3e-16}, "1-cos": {below, sums[0], 1.2e-15}, "s-sin": {rest, sums[1], 2.5e-15}} {
			e, _ := new(big.Float).Sub(big.NewFloat(c.got), c.want).Float64()
			w, _ := c.want.Float64()
			if s < 3.1 && !(math.Abs(e) <= c.tol*w) {
				t.Errorf("%s at %v: %v, off by a relative %v", name, s, c.got, e/w)
			}
		}
	}
}

// Every law sums to 1 for inputs that are outputs and for others, at all rates.
func TestLaws_SumToOne(t *testing.T) {
	for _, k := range []int{1, 2, 3, 30} {
		n := k + 4
		for name, law := range map[string]Law{
			"line":   Line(scatter(1, n, 1, false), scatter(1, k, 1, false)),
			"plane":  testkit.Must(Plane(t.Context(), scatter(2, n, 2, false), scatter(2, k, 2, false), 0)),
			"sphere": testkit.Must(Sphere(t.Context(), scatter(3, n, 3, true), scatter(3, k, 3, true), 0)),
			// All sides meet in two points.
			"row": testkit.Must(Plane(t.Context(), scatter(2, n, 2, false), row(k), 0)),
			"fan": testkit.Must(Sphere(t.Context(), scatter(3, n, 3, true), fan(k), 0)),
		} {
			for _, rate := range []float64{1e-9, .01, 5, 300} {
				for x := max(0, k-2); x < n; x++ {
					sum := 0.
					for _, m := range logMasses(law, x, k, rate) {
						sum += math.Exp(m)
					}
					if !(math.Abs(sum-1) <= 1e-13) {
						t.Errorf("%s, %d outputs, rate %v, input %d: %v", name, k, rate, x, sum)
					}
				}
			}
		}
	}
}

// ray is what an input sees in a direction: from the definition of a cell, the part of a
// ray that is nearer to output y than to any other.
type ray func(x, y int, direction float64) (from, to float64)

func flatRay(coords []float64, k int) ray {
	return func(x, y int, direction float64) (from, to float64) {
		s, c := math.Sincos(direction)
		from, to = 0, math.Inf(1)
		for j := range k {
			// |p-y|^2 <= |p-z|^2 at p = x + r(c, s).
			n0, n1 := coords[2*y]-coords[2*j], coords[2*y+1]-coords[2*j+1]
			m0, m1 := (coords[2*y]+coords[2*j])/2, (coords[2*y+1]+coords[2*j+1])/2
			h, q := n0*(coords[2*x]-m0)+n1*(coords[2*x+1]-m1), -(n0*c + n1*s)
			from, to = bound(from, to, h, q, h/q)
		}
		return from, to
	}
}

func roundRay(coords []float64, k int) ray {
	at := func(i int) vec { return unit(vec(coords[3*i:])) }
	return func(x, y int, direction float64) (from, to float64) {
		s, c := math.Sincos(direction)
		f := frame(at(x))
		from, to = 0, math.Pi
		for j := range k {
			n := minus(at(y), at(j))
			h, q := dot(n, f[2]), -c*dot(n, f[0])-s*dot(n, f[1])
			angle := math.Atan2(h, q)
			if h < 0 {
				angle += math.Pi
			}
			from, to = bound(from, to, h, math.Copysign(1, h), angle)
		}
		return from, to
	}
}

// bound is the part of [from, to] where h - q*r >= 0, an equation that at solves.
func bound(from, to, h, q, at float64) (float64, float64) {
	switch {
	case h > 0 && q > 0:
		to = min(to, at)
	case h < 0 && q < 0:
		from = max(from, at)
	case h < 0:
		to = from
	}
	return from, max(from, to)
}

// Masses are the integrals over directions of what every ray has of the cell, by a rule
// that knows nothing of sides and corners.
func TestLaws_AreThoseOfRays(t *testing.T) {
	const k, n, directions = 7, 9, 4000
	flat, round := scatter(5, n, 2, false), scatter(6, n, 3, true)
	for _, c := range []struct {
		name string
		law  Law
		ray  ray
		tail func(rate, r float64) float64 // over e^(-rate*r)
		all  func(rate float64) float64
	}{
		{"plane", testkit.Must(Plane(t.Context(), flat, flat[:2*k], 0)), flatRay(flat, k),
			func(rate, r float64) float64 { return 1 + rate*r }, func(float64) float64 { return 1 }},
		{"sphere", testkit.Must(Sphere(t.Context(), round, round[:3*k], 0)), roundRay(round, k),
			func(rate, r float64) float64 { return math.Cos(r) + rate*math.Sin(r) },
			func(rate float64) float64 { return 1 + math.Exp(-rate*math.Pi) }},
	} {
		for _, rate := range []float64{.1, 5, 100} {
			for x := n - 2; x < n; x++ {
				have := logMasses(c.law, x, k, rate)
				for y := range k {
					// In units of e^(-rate*near): masses reach 1e-200.
					near, sum := math.Inf(1), 0.
					var ends [][2]float64
					for i := range directions {
						from, to := c.ray(x, y, 2*math.Pi*(float64(i)+.5)/directions)
						if from < to {
							near = min(near, from)
							ends = append(ends, [2]float64{from, to})
						}
					}
					for _, e := range ends {
						sum += math.Exp(-rate*(e[0]-near)) * c.tail(rate, e[0])
						if e[1] < math.Inf(1) {
							sum -= math.Exp(-rate*(e[1]-near)) * c.tail(rate, e[1])
						}
					}
					want := math.Log(sum/directions/c.all(rate)) - rate*near
					if len(ends) > 100 && math.Abs(have[y]-want) > 5e-3 {
						t.Errorf("%s, rate %v: ln P(%d|%d) = %v, by rays %v", c.name, rate, y, x, have[y], want)
					}
				}
			}
		}
	}
}

// What symmetry and integrals say: the line's masses, a half-plane and a third of the
// plane seen from its edge, a hemisphere from its pole, the corners of a square from its center.
func TestLaws_ClosedForms(t *testing.T) {
	const rate = 1.7
	check := func(name string, l Law, x int, want ...float64) {
		t.Helper()
		for y, m := range logMasses(l, x, len(want), rate) {
			if math.Abs(math.Exp(m)-want[y]) > 1e-15 {
				t.Errorf("%s: %v, want %v", name, math.Exp(m), want[y])
			}
		}
	}
	plane := func(k int, coords ...float64) Law { return testkit.Must(Plane(t.Context(), coords, coords[:2*k], 0)) }
	sphere := func(k int, coords ...float64) Law { return testkit.Must(Sphere(t.Context(), coords, coords[:3*k], 0)) }
	line := Line([]float64{0, -2, 3}, []float64{0, -2, 3})
	check("line", line, 0, 1-math.Exp(-rate)/2-math.Exp(-1.5*rate)/2, math.Exp(-rate)/2, math.Exp(-1.5*rate)/2)
	check("line from an end", line, 2, math.Exp(-1.5*rate)/2-math.Exp(-4*rate)/2, math.Exp(-4*rate)/2, 1-math.Exp(-1.5*rate)/2)
	check("halves", plane(2, 0, 1, 0, 3, 7, 2), 2, .5, .5)
	third := math.Sqrt(3) / 2
	check("thirds", plane(3, 1, 0, -.5, third, -.5, -third, 0, 0), 3, 1./3, 1./3, 1./3)
	check("square", plane(4, 0, 0, 1, 0, 0, 1, 1, 1, .5, .5), 4, .25, .25, .25, .25)
	north := (1 - math.Exp(-rate*math.Pi/2)*rate) / (1 + math.Exp(-rate*math.Pi))
	check("hemispheres", sphere(2, 0, 0, 1, 0, 0, -1, 1, 0, 0), 0, north, 1-north)
	check("octants", sphere(6, 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 1, 1, 1), 6, func() []float64 {
		l := logMasses(sphere(6, 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 1, 1, 1), 6, 6, rate)
		p := math.Exp(l[0])
		return []float64{p, 1./3 - p, p, 1./3 - p, p, 1./3 - p}
	}()...)
}

// Masses keep their digits however small they are: turning the plane or the sphere
// changes every intermediate result and none of the masses.
func TestLaws_AreInvariantUnderRotations(t *testing.T) {
	const k = 30
	turn := func(coords []float64, d int) []float64 {
		out, s, c := make([]float64, len(coords)), math.Sin(.7), math.Cos(.7)
		for i := 0; i < len(coords); i += d {
			copy(out[i:i+d], coords[i:i+d])
			out[i], out[i+d-1] = c*coords[i]-s*coords[i+d-1], s*coords[i]+c*coords[i+d-1]
		}
		return out
	}
	flat, round := scatter(7, k, 2, false), scatter(8, k, 3, true)
	for i := range 4 { // a cluster: 1e-3 apart
		flat[2*i], flat[2*i+1] = .5+1e-3*flat[2*i], .5+1e-3*flat[2*i+1]
	}
	for _, c := range []struct {
		name string
		a, b Law
	}{
		{"plane", testkit.Must(Plane(t.Context(), flat, flat[:2*k], 0)), testkit.Must(Plane(t.Context(), turn(flat, 2), turn(flat, 2), 0))},
		{"sphere", testkit.Must(Sphere(t.Context(), round, round[:3*k], 0)), testkit.Must(Sphere(t.Context(), turn(round, 3), turn(round, 3), 0))},
	} {
		for _, rate := range []float64{1e-3, 1, 30, 400} {
			worst := 0.
			for x := range k {
				a, b := logMasses(c.a, x, k, rate), logMasses(c.b, x, k, rate)
				for y := range a {
					worst = max(worst, math.Abs(a[y]-b[y])/max(1, rate))
				}
			}
			if !(worst <= 1e-12) {
				t.Errorf("%s, rate %v: differ by %v", c.name, rate, worst)
			}
		}
	}
}

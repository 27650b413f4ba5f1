package additive

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

type noise interface {
	Guarantee() mechanism.Guarantee
	PrivacyLoss(distance float64) (mechanism.PrivacyLoss, error)
}

// times is a mechanism released so often.
func times(m noise, k int64) *mechanism.Composition {
	return testkit.Must(mechanism.NewComposition(mechanism.Repeated{Mechanism: m, Times: k}))
}

// contains fails where the level is not in the audit, or that is wide.
func contains(t *testing.T, what string, a mechanism.Audit, want, slack float64) {
	t.Helper()
	if !(a.Lo <= want*(1+slack) && want*(1-slack) <= a.Hi) || a.Hi-a.Lo > 1.01e-3*a.Hi {
		t.Errorf("%s: %v, want %.12g", what, a, want)
	}
}

// Of one release the level is a closed form, of two an integral, and of a hundred at .5 what
// two programs by others print, 30.48.
func TestLaplace_ComposesToTheExactLevel(t *testing.T) {
	for _, c := range []struct{ alpha, distance, delta float64 }{{.5, 1, 1e-6}, {3, 2, .1}, {1e-3, 4, 1e-4}} {
		l, a := testkit.Must(NewLaplace(c.alpha, nil)), c.alpha*c.distance
		one := testkit.Must(times(l, 1).AuditAt(t.Context(), c.distance, c.delta))
		contains(t, fmt.Sprint("once ", c), one, (a+2*math.Log1p(-c.delta))/c.distance, 1e-12)
		// delta(s) = E delta_1(s - L), delta_1(s) = 1 - e^((s-a)/2) for |s| <= a, and 1 - e^s below.
		once := func(s float64) float64 {
			switch {
			case s >= a:
				return 0
			case s <= -a:
				return -math.Expm1(s)
			}
			return -math.Expm1((s - a) / 2)
		}
		two := testkit.Must(times(l, 2).AuditAt(t.Context(), c.distance, c.delta))
		for _, end := range []struct {
			level float64
			above bool
		}{{two.Lo, true}, {two.Hi, false}} {
			s := end.level * c.distance
			delta := once(s-a)/2 + once(s+a)*math.Exp(-a)/2
			for _, part := range [][2]float64{{-a, min(max(s-a, -a), a)}, {min(max(s-a, -a), a), a}} {
				delta += quad.Fixed(func(l float64) float64 { return math.Exp((l-a)/2) / 4 * once(s-l) }, part[0], part[1], 100, quad.Legendre{}, 0)
			}
			if end.above != (delta > c.delta) || math.Abs(delta-c.delta) > .02*c.delta+3e-4*a {
				t.Errorf("twice %v: at %v delta is %v", c, end.level, delta)
			}
		}
	}
	hundred := testkit.Must(times(testkit.Must(NewLaplace(.5, nil)), 100).AuditAt(t.Context(), 1, 1e-6))
	contains(t, "a hundred", hundred, 30.4837, 1e-5)
}

// A finer lattice may add nothing while all of the highest cell is in its lower half.
func TestComposition_FewReleasesOfLargeLosses(t *testing.T) {
	testkit.Slow(t)
	for a, k := range map[float64]int64{350: 1, 550: 3} {
		for _, m := range []noise{testkit.Must(NewLaplace(a, nil)), testkit.Must(NewPlanarLaplace(a, nil))} {
			if got := testkit.Must(times(m, k).AuditAt(t.Context(), 1, 1e-4)); got.Hi-got.Lo > 1e-3*got.Hi {
				t.Errorf("%v, %d times: %v", m, k, got)
			}
		}
	}
}

// Normal noise composes to normal noise.
func TestGaussian_ComposesToGaussian(t *testing.T) {
	g := testkit.Must(NewGaussian(3, GaussianTarget{Alpha: .3, Delta: 1e-5, Diameter: 2}, nil))
	for _, k := range []int64{1, 30, 1e4, 1e8} {
		for _, delta := range []float64{.01, 1e-9} {
			a := testkit.Must(times(g, k).AuditAt(t.Context(), 2, delta))
			sigma := g.Sigma() / math.Sqrt(float64(k))
			if lo, hi := GaussianDelta(sigma, a.Lo, 2), GaussianDelta(sigma, a.Hi, 2); lo < delta || hi > delta*(1+1e-9) || a.Hi-a.Lo > 1e-3*a.Hi {
				t.Errorf("%d times: %v, delta from %v to %v", k, a, lo, hi)
			}
		}
	}
}

// In polar coordinates about x, the losses above s are those of norms up to (d^2-c^2)/(2(c + d
// cos)), c = s/alpha, where c + d cos > 0, and all others.
func TestKNorm_PrivacyLossInPolarCoordinates(t *testing.T) {
	for _, n := range []int{2, 3, 4, 7, 40} {
		for _, a := range []float64{.5, 1, 9, 80} {
			law := testkit.Must(testkit.Must(NewKNorm(Norm{P: 2, Dim: n}, a/2, nil)).PrivacyLoss(2))
			all, back := law.Mass(math.Inf(-1), math.Inf(1))
			if math.Abs(all-1) > 1e-9 || math.Abs(back-1) > 1e-9 {
				t.Errorf("n = %d, a = %v: masses %v and %v", n, a, all, back)
			}
			for _, part := range []float64{-.9, -.3, 0, .2, .8, .99} {
				// In units of the distance, and of a for norms.
				f := func(angle float64) float64 {
					w := math.Pow(math.Sin(angle), float64(n-2))
					if c := part + math.Cos(angle); c > 0 {
						w *= gammaProb(float64(n), a*(1-part*part)/(2*c))
					}
					return w
				}
				volume := func(f func(float64) float64) float64 {
					sum := 0.0
					for i := range 400 {
						sum += quad.Fixed(f, math.Pi*float64(i)/400, math.Pi*float64(i+1)/400, 12, quad.Legendre{}, 0)
					}
					return sum
				}
				want := volume(f) / volume(func(angle float64) float64 { return math.Pow(math.Sin(angle), float64(n-2)) })
				here, there := law.Mass(part*a, math.Inf(1))
				mirror, _ := law.Mass(math.Inf(-1), -part*a)
				if math.Abs(here-want) > 1e-7 || math.Abs(there-mirror) > 1e-9*there {
					t.Errorf("n = %d, a = %v: above %v a with %v, want %v; at x' with %v and %v", n, a, part, here, want, there, mirror)
				}
			}
		}
	}
}

// In three dimensions the density is prop. to e^(x c) (1 + more - c^2), c the loss over a. Ends of
// cells in v are off by more than the masses of wide cells tell.
func TestKNorm_PrivacyLossOfNarrowCells(t *testing.T) {
	for _, a := range []float64{.5, 9, 80} {
		law := testkit.Must(testkit.Must(NewKNorm(Norm{P: 2, Dim: 3}, a, nil)).PrivacyLoss(1))
		mass := func(lo, hi float64) float64 {
			return quad.Fixed(func(c float64) float64 {
				return math.Exp(a/2*(c-1)) * (4/a*(1+2/a) + (1-c)*(1+c))
			}, lo, hi, 16, quad.Legendre{}, 0)
		}
		all, n := 0.0, 256
		for i := range n {
			all += mass(float64(2*i)/float64(n)-1, float64(2*i+2)/float64(n)-1)
		}
		for i := range n {
			lo := float64(2*i)/float64(n) - 1
			hi := lo + 0x1p-12
			got, _ := law.Mass(lo*law.Top, hi*law.Top)
			if want := mass(lo, hi) / all; math.Abs(got-want) > law.Err*want {
				t.Errorf("a = %v: mass %v from %v a, want %v", a, got, lo, want)
			}
		}
	}
}

// Masses add up where most of the noise is far from where the sine's power is largest.
func TestKNorm_PrivacyLossAddsUp(t *testing.T) {
	for _, n := range []int{2, 3, 10, 25, 100, 300} {
		for _, a := range []float64{1e-90, 1e-5, 1, 30, 160, 599} {
			law := testkit.Must(testkit.Must(NewKNorm(Norm{P: 2, Dim: n}, a, nil)).PrivacyLoss(1))
			here, there := 0.0, 0.0
			for i := range 256 {
				p, q := law.Mass(law.Top-float64(i+1)*a/128*(1+1e-6), law.Top-float64(i)*a/128*(1+1e-6))
				here, there = here+p, there+q
			}
			if math.Abs(here-1) > 1e-10 || math.Abs(there-1) > 1e-10 {
				t.Errorf("n = %d, a = %v: masses %v and %v", n, a, here, there)
			}
		}
	}
}

// The matrix of clamped noise has the same level.
func TestDiscreteLaplace_ComposesAsItsChannel(t *testing.T) {
	const last, alpha = 3, .7
	w := make([]float64, 0, (last+1)*(last+1))
	for x := range last + 1 {
		for y := range last + 1 {
			v := -alpha * math.Abs(float64(x-y))
			if y > 0 && y < last {
				v += math.Log(-math.Expm1(-alpha))
			}
			w = append(w, v)
		}
	}
	c := testkit.Must(mechanism.FromLogWeights(t.Context(), last+1, last+1, w, nil))
	g := testkit.Must(NewTruncatedGeometric(Range{0, last}, alpha, nil))
	for _, k := range []int64{1, 5, 400} {
		list := testkit.Must(mechanism.NewComposition(mechanism.Repeated{Mechanism: c, Times: k}))
		want := testkit.Must(list.Audit(t.Context(), space.Path(last+1, 1), &mechanism.AuditOptions{Delta: 1e-4}))
		for _, m := range []noise{g, testkit.Must(NewDiscreteLaplace(alpha, nil))} {
			if got := testkit.Must(times(m, k).AuditAt(t.Context(), last, 1e-4)); got.Lo > want.Hi || got.Hi < want.Lo || got.Hi > 1.001*want.Hi || got.Lo < .999*want.Lo {
				t.Errorf("%v, %d times: %v, of the channel %v", m, k, got, want)
			}
		}
	}
	if far := testkit.Must(g.PrivacyLoss(last + 1)); !far.Bound {
		t.Error("beyond the range a loss is not clamped")
	}
}

// movedDelta is delta at each eps of noise of density prop. to e^-norm on inputs moved by d, by sums
// over n boxes a side, in parts of all, so that what is far cancels.
func movedDelta(norm func(z []float64) float64, d, eps []float64, n int) []float64 {
	const far = 14.0
	z, y, all, common := make([]float64, len(d)), make([]float64, len(d)), 0.0, make([]float64, len(eps))
	var sum func(c int)
	sum = func(c int) {
		for i := 0; c < len(d) && i < n; i++ {
			z[c] = d[c]/2 + far*(2*(float64(i)+.5)/float64(n)-1)
			y[c] = z[c] - d[c]
			sum(c + 1)
		}
		if c == len(d) {
			p, q := math.Exp(-norm(z)), math.Exp(-norm(y))
			all += p
			for k, e := range eps {
				common[k] += min(p, math.Exp(e)*q)
			}
		}
	}
	sum(0)
	for k, v := range common {
		common[k] = 1 - v/all
	}
	return common
}

func pNorm(p float64) func(z []float64) float64 {
	return func(z []float64) (sum float64) {
		for _, v := range z {
			switch v := math.Abs(v); p {
			case 1:
				sum += v
			case math.Inf(1):
				sum = max(sum, v)
			default:
				sum += math.Pow(v, p)
			}
		}
		if p > 1 && p < math.Inf(1) {
			sum = math.Pow(sum, 1/p)
		}
		return sum
	}
}

// No direction tells more apart than Laplace noise on the line does, and one as much where the norm
// is l_1 or l_inf.
func TestKNorm_NoDirectionIsAboveLaplace(t *testing.T) {
	testkit.Slow(t)
	r := random.Seeded(3)
	const a = 1.5
	eps := []float64{-.6 * a, 0, .3 * a, .8 * a}
	for _, c := range []struct {
		n, boxes int
		p, off   float64
	}{{2, 240, 1, 2e-3}, {2, 240, 1.3, 2e-3}, {2, 240, 3, 2e-3}, {2, 240, math.Inf(1), 2e-3}, {3, 60, 1, 8e-3}, {3, 60, math.Inf(1), 8e-3}} {
		norm := pNorm(c.p)
		law := testkit.Must(testkit.Must(NewKNorm(Norm{P: c.p, Dim: c.n}, a/2, nil)).PrivacyLoss(2))
		if law.Bound != (c.p == 1.3 || c.p == 3) {
			t.Errorf("p = %v: %v", c.p, law.Bound)
		}
		for k := range 4 {
			d := make([]float64, c.n)
			switch {
			case k == 0 && c.p == math.Inf(1): // the worst
				for i := range d {
					d[i] = 1
				}
			case k == 0:
				d[0] = 1
			default:
				for i := range d {
					d[i] = r.NormFloat64()
				}
			}
			size := norm(d)
			for i := range d {
				d[i] *= a / size
			}
			for i, got := range movedDelta(norm, d, eps, c.boxes) {
				most := -math.Expm1((eps[i] - a) / 2)
				if got > most+c.off || k == 0 && !law.Bound && got < most-c.off {
					t.Errorf("p = %v, moved by %v: delta %v at %v, of Laplace noise %v", c.p, d, got, eps[i], most)
				}
				if of := deltaOf(law, eps[i], 2000); math.Abs(of-most) > 1e-3 {
					t.Errorf("p = %v: the law has %v, want %v", c.p, of, most)
				}
			}
		}
	}
}

// deltaOf is about the delta of a law at eps, and no more.
func deltaOf(law mechanism.PrivacyLoss, eps float64, cells int) (delta float64) {
	top, wide := law.Top*(1+1e-9), (law.Top-eps)/float64(cells)
	for i := range cells {
		p, q := law.Mass(top-float64(i+1)*wide, top-float64(i)*wide)
		delta += max(0, p-math.Exp(eps)*q)
	}
	return delta
}

// In polar coordinates about x, on the unit sphere: r has the density of the arc, and the losses
// above a l are where the cosine of the bearing is below a bound.
func sphereAbove(alpha, angle, l float64) float64 {
	if angle == math.Pi {
		return arc{alpha}.head((math.Pi - l) / 2)
	}
	// The bound is within (-1, 1) for r above lo and below hi, up to e^-50.
	lo := (angle - l) / 2
	hi := min(math.Pi-(angle+l)/2, lo+50/alpha)
	f := func(r float64) float64 {
		c := math.Cos(r+l) - math.Cos(r)
		if r > .1 || l > .1 || angle > .1 {
			c += math.Cos(r) * (1 - math.Cos(angle))
		} else {
			c = 2*math.Cos(r)*math.Pow(math.Sin(angle/2), 2) - 2*math.Sin(r+l/2)*math.Sin(l/2)
		}
		c /= math.Sin(r) * math.Sin(angle)
		return arc{alpha}.density(r) * (1 - math.Acos(max(-1, min(1, c)))/math.Pi)
	}
	sum := arc{alpha}.head(lo) // nearer all losses are
	const n = 150
	for i := range n { // finer towards both ends, as roots are there
		at := func(i int) float64 { return lo + (hi-lo)*(1-math.Cos(math.Pi*float64(i)/n))/2 }
		sum += quad.Fixed(f, at(i), at(i+1), 8, quad.Legendre{}, 0)
	}
	return sum
}

func TestSphere_PrivacyLossInPolarCoordinates(t *testing.T) {
	for _, alpha := range []float64{1e-3, 1, 5, 30, 180, 3000, 1e9} {
		for _, angle := range []float64{1e-9, 1e-3, .3, 1.5, 2.8, 3.1, math.Pi} {
			if a := alpha * angle; a > maxLoss || a < 1e-8 {
				continue
			}
			law := newSphereLoss(alpha, angle).law()
			here, there := 0.0, 0.0
			for i := range 256 {
				p, q := law.Mass(law.Top-float64(i+1)*law.Top/128, law.Top-float64(i)*law.Top/128)
				here, there = here+p, there+q
			}
			if math.Abs(here-1) > 1e-12 || math.Abs(there-1) > 1e-12 {
				t.Errorf("alpha = %v, angle = %v: masses %v and %v", alpha, angle, here, there)
			}
			for _, part := range []float64{-.95, -.3, 0, .2, .8, .999} {
				want := sphereAbove(alpha, angle, part*angle)
				here, there := law.Mass(part*law.Top, math.Inf(1))
				mirror, _ := law.Mass(math.Inf(-1), -part*law.Top)
				if math.Abs(here-want) > 1e-7 || math.Abs(there-mirror) > 1e-9*there {
					t.Errorf("alpha = %v, angle = %v: above %v with %v, want %v; at x' with %v and %v", alpha, angle, part, here, want, there, mirror)
				}
			}
		}
	}
}

func TestSphere_SmallAnglesAreFlat(t *testing.T) {
	for _, a := range []float64{1e-3, .01, .3, 5, 500} {
		if bent, flat := newSphereLoss(a/1e-10, 1e-10).more, newEuclideanLoss(2, a).more; math.Abs(bent-flat) > 1e-11*flat {
			t.Errorf("a = %v: %v, in the plane %v", a, bent, flat)
		}
	}
}

// farther is the probability of outputs about x that are more than a quarter from x' or from x.
func farther(alpha, angle float64) float64 {
	sum, lo, hi := 0.0, math.Pi/2-angle, math.Pi/2
	for i := range 20 {
		sum += quad.Fixed(func(r float64) float64 {
			return arc{alpha}.density(r) * (1 - math.Acos(max(-1, min(1, -1/(math.Tan(r)*math.Tan(angle)))))/math.Pi)
		}, lo+(hi-lo)*float64(i)/20, lo+(hi-lo)*float64(i+1)/20, 8, quad.Legendre{}, 0)
	}
	return sum + arc{alpha}.tail(hi)
}

// The law that counts from above is above those of all nearer places, per unit of the distance.
func TestSphere_LawIsAboveThatOfNearerPlaces(t *testing.T) {
	testkit.Slow(t)
	var exact, raised, laplace, fails int
	for _, alpha := range []float64{.5, 3, 5, 9, 20, 200} {
		s := testkit.Must(NewSphere(alpha, &SphereOptions{Radius: 1}))
		for _, distance := range []float64{.05, .3, .9, 1.5, 2, 3, 4} {
			if alpha*distance > maxLoss {
				continue
			}
			law := testkit.Must(s.PrivacyLoss(distance))
			switch {
			case !law.Bound:
				exact++
			case law.Bottom > -law.Top:
				raised++
			default:
				laplace++
			}
			if law.Below != nil {
				is := *law.Below
				if math.Abs(is.Top-alpha*min(distance, math.Pi)) > 1e-12*is.Top {
					t.Errorf("%v at %v: from below up to %v", s, distance, is.Top)
				}
				// What is a quarter and more from one end or another counts as the top.
				most, _ := law.Mass(.99*law.Top, math.Inf(1))
				own, _ := is.Mass(.99*law.Top, math.Inf(1))
				if law.Bottom > -law.Top && most-own < farther(alpha, distance) {
					t.Errorf("%v at %v: %v more at the top, %v are far", s, distance, most-own, farther(alpha, distance))
				}
			}
			if all, _ := law.Mass(math.Inf(-1), math.Inf(1)); all < 1-1e-12 || all > 1+1e-7 {
				t.Errorf("%v at %v: mass %v", s, distance, all)
			}
			for i := range 6 {
				near := distance * float64(i+1) / 6
				if near > math.Pi {
					continue
				}
				is := newSphereLoss(alpha, near).law()
				for _, part := range []float64{-.98, -.7, -.3, 0, .2, .5, .8, .95, .99, .9999} {
					if law.Bottom == -law.Top && law.Bound {
						if d, most := deltaOf(is, part*is.Top, 60), -math.Expm1((part-1)*law.Top/2); d > most+1e-9 {
							t.Errorf("%v at %v: delta %v at %v of the top, at %v %v", s, distance, most, part, near, d)
						}
						continue
					}
					d, _ := is.Mass(part*is.Top, math.Inf(1))
					most, _ := law.Mass(part*law.Top, math.Inf(1))
					if d > most+1e-9 {
						t.Errorf("%v at %v: above %v with %v, at %v with %v", s, distance, part, most, near, d)
					}
				}
			}
		}
		// The law itself is not where much of the noise is far away.
		is, near := newSphereLoss(alpha, 3).law(), newSphereLoss(alpha, 1).law()
		if p, _ := is.Mass(.99*is.Top, is.Top); alpha < 5 {
			if q, _ := near.Mass(.99*near.Top, near.Top); q > p {
				fails++
			}
		}
	}
	if exact == 0 || raised < 3 || laplace == 0 || fails != 2 {
		t.Errorf("%d exact, %d raised, %d of Laplace noise; %d where the law itself is not above", exact, raised, laplace, fails)
	}
}

// On the Earth places compose as in the plane; bent, both ends contain delta by the losses of
// polar coordinates, rounded to a lattice up and down.
func TestSphere_ComposesToTheExactLevel(t *testing.T) {
	testkit.Slow(t)
	earth := testkit.Must(times(testkit.Must(NewSphere(.5, nil)), 100).AuditAt(t.Context(), 1, 1e-6))
	flat := testkit.Must(times(testkit.Must(NewPlanarLaplace(.5, nil)), 100).AuditAt(t.Context(), 1, 1e-6))
	contains(t, "the Earth", earth, (flat.Lo+flat.Hi)/2, 1e-3)
	for _, c := range []struct{ alpha, angle, wide float64 }{{5, .1, .02}, {9, .3, .01}, {60, .2, 1e-3}, {3, 2, 1}, {.7, 2.5, 1}} {
		const n, delta = 240, .05
		step := 2 * c.angle / n
		above := make([]float64, n+1) // of losses above -angle + i step
		for i := range above {
			if above[i] = 1; i > 0 && i < n {
				above[i] = sphereAbove(c.alpha, c.angle, -c.angle+float64(i)*step)
			}
		}
		above[n] = 0
		// delta at a level of two, each rounded by so many of a step up.
		of := func(eps float64, up int) (sum float64) {
			for i := range n {
				for j := range n {
					l := c.alpha * (-2*c.angle + float64(i+j+2*up)*step)
					if l > eps {
						sum -= (above[i] - above[i+1]) * (above[j] - above[j+1]) * math.Expm1(eps-l)
					}
				}
			}
			return sum
		}
		s := testkit.Must(NewSphere(c.alpha, &SphereOptions{Radius: 1}))
		a := testkit.Must(times(s, 2).AuditAt(t.Context(), c.angle, delta))
		if down, up := of(a.Hi*c.angle, 0), of(a.Lo*c.angle, 1); down > delta || up < delta || a.Hi-a.Lo > c.wide*a.Hi || up > delta+.03 {
			t.Errorf("%v at %v: %v, delta from %v to %v", s, c.angle, a, down, up)
		}
	}
}

// Tracks have the law of the line from above and, but on the Earth, that of the plane from below.
func TestTracks_PrivacyLossIsBetweenPlaneAndLine(t *testing.T) {
	line, plane := testkit.Must(testkit.Must(NewLaplace(.5, nil)).PrivacyLoss(2)), testkit.Must(testkit.Must(NewPlanarLaplace(.5, nil)).PrivacyLoss(2))
	for _, c := range []struct {
		m    noise
		flat bool
	}{
		{testkit.Must(NewKnots(.5, nil)), true}, {testkit.Must(NewTrail(.5, nil)), true},
		{testkit.Must(NewEarthKnots(.5, metric.LatLon{}, nil)), false}, {testkit.Must(NewEarthTrail(.5, metric.LatLon{}, nil)), false},
	} {
		law := testkit.Must(c.m.PrivacyLoss(2))
		same := func(a, b mechanism.PrivacyLoss) bool {
			for at := -1.; at < 1; at += .1 {
				here, there := a.Mass(at, at+.15)
				if p, q := b.Mass(at, at+.15); math.Abs(here-p) > 1e-9*p || math.Abs(there-q) > 1e-9*q {
					return false
				}
			}
			return math.Abs(a.Top-b.Top) < 1e-12 && math.Abs(a.Bottom-b.Bottom) < 1e-12
		}
		if !law.Bound || !same(law, line) || (law.Below != nil) != c.flat || c.flat && (law.Below.Bound || !same(*law.Below, plane)) {
			t.Errorf("%v: %+v", c.m, law)
		}
	}
}

// By the sum over all pairs of integers.
func TestDiscreteGaussian_ComposesToTheExactLevel(t *testing.T) {
	g := testkit.Must(NewDiscreteGaussian(GaussianTarget{Alpha: .5, Delta: 1e-3, Diameter: 3}, nil))
	const d, delta = 3.0, 1e-4
	v := g.Sigma() * g.Sigma()
	end := int(12 * g.Sigma())
	loss := func(k int) float64 { return (d*d - 2*d*float64(k)) / (2 * v) }
	total := 0.0
	for k := -end; k <= end; k++ {
		total += math.Exp(-float64(k*k) / (2 * v))
	}
	apart := func(s float64) float64 {
		sum := 0.0
		for i := -end; i <= end; i++ {
			for j := -end; j <= end; j++ {
				if l := loss(i) + loss(j); l > s {
					sum -= math.Exp(-float64(i*i+j*j)/(2*v)) / (total * total) * math.Expm1(s-l)
				}
			}
		}
		return sum
	}
	a := testkit.Must(times(g, 2).AuditAt(t.Context(), d, delta))
	if lo, hi := apart(a.Lo*d), apart(a.Hi*d); lo < delta*(1-1e-9) || hi > delta || a.Hi-a.Lo > 1e-3*a.Hi {
		t.Errorf("%v: delta from %v to %v", a, lo, hi)
	}
}

// Of noise that is rounded to words nothing is known from below.
func TestMadlib_PrivacyLossIsABound(t *testing.T) {
	m := testkit.Must(NewMadlib([][]float64{{0, 0}, {3, 1}}, .5, nil))
	if a := testkit.Must(times(m, 50).AuditAt(t.Context(), 3, 1e-6)); a.Lo != 0 || !(a.Hi < .9*50*.5) {
		t.Errorf("%v", a)
	}
}

// Losses over the distance do not fall, in law, as it grows: what a pair farther apart proves holds
// for all nearer ones, per unit.
func TestPrivacyLoss_GrowsWithTheDistance(t *testing.T) {
	ms := []noise{
		testkit.Must(NewLaplace(.5, nil)), testkit.Must(NewPlanarLaplace(.5, nil)), testkit.Must(NewKNorm(Norm{P: 2, Dim: 9}, .5, nil)),
		testkit.Must(NewDiscreteLaplace(.5, nil)), testkit.Must(NewTruncatedGeometric(Range{-2, 1}, .5, nil)), testkit.Must(NewKNorm(Norm{P: 1, Dim: 3}, .5, nil)),
		testkit.Must(NewGaussian(1, GaussianTarget{Alpha: .3, Delta: 1e-5, Diameter: 40}, nil)),
		testkit.Must(NewDiscreteGaussian(GaussianTarget{Alpha: .3, Delta: 1e-5, Diameter: 40}, nil)),
		testkit.Must(NewMadlib([][]float64{{0, 0}, {3, 1}}, .5, nil)), testkit.Must(NewSphere(.5, nil)),
		testkit.Must(NewKNorm(Norm{P: 4, Dim: 3}, .5, nil)), testkit.Must(NewKnots(.5, nil)),
	}
	for _, m := range ms {
		for at := -.5; at < .5; at += .031 {
			before := 0.0
			for _, d := range []float64{1, 2, 3, 40} {
				law := testkit.Must(m.PrivacyLoss(d))
				above, _ := law.Mass(at*d, math.Inf(1))
				if above < before-1e-9 {
					t.Errorf("%v: above %v per unit with %v at %v, nearer with %v", m, at, above, d, before)
				}
				before = above
			}
		}
	}
	m := testkit.Must(NewSphere(.5, &SphereOptions{Radius: 15})) // a law of its own, and that of Laplace noise
	before := 0.0
	for _, d := range []float64{1, 3, 40} {
		a := testkit.Must(times(m, 20).AuditAt(t.Context(), d, 1e-3))
		if a.Hi < before*(1-1e-3) || a.Hi > 20*.5 {
			t.Errorf("%v: %v at %v, nearer %v", m, a, d, before)
		}
		before = a.Hi
	}
	c, _, err := times(m, 20).CertifyAt(t.Context(), 2, 1e-3)
	if err != nil || c.Guarantee().Reach() != 2 || c.Guarantee().Delta() != 1e-3 {
		t.Errorf("%v: %v, %v", m, c.Guarantee(), err)
	}
}

// Beyond the reach of normal noise, where its losses are beyond float64, and between integers.
func TestPrivacyLoss_RefusesDistances(t *testing.T) {
	gauss := testkit.Must(NewGaussian(1, GaussianTarget{Alpha: 1, Delta: 1e-3, Diameter: 1}, nil))
	wide := testkit.Must(NewDiscreteGaussian(GaussianTarget{Alpha: 1e-5, Delta: 1e-9, Diameter: 1}, nil))
	for m, d := range map[noise]float64{gauss: 1e6, wide: 1, testkit.Must(NewDiscreteLaplace(1, nil)): 1.5} {
		if _, err := m.PrivacyLoss(d); err == nil {
			t.Errorf("%T at %v: no error", m, d)
		}
	}
}

// At delta = 0 the level of noise is alpha, and no product underflows.
func TestPrivacyLoss_PureLevels(t *testing.T) {
	for _, alpha := range []float64{1e-100, .3, 7, 1e100} {
		for _, distance := range []float64{1e-300, 1.5e-224, 1e-30, .7, 1, 1e30, 1e300} {
			ms := []noise{
				testkit.Must(NewLaplace(alpha, nil)), testkit.Must(NewPlanarLaplace(alpha, nil)),
				testkit.Must(NewKNorm(Norm{P: 1, Dim: 3}, alpha, nil)), testkit.Must(NewKNorm(Norm{P: 3, Dim: 3}, alpha, nil)),
				testkit.Must(NewKnots(alpha, nil)),
			}
			if alpha < 1e5 {
				ms = append(ms, testkit.Must(NewSphere(alpha, nil)))
			}
			if distance == 1 {
				ms = append(ms, testkit.Must(NewDiscreteLaplace(alpha, nil)))
			}
			for _, m := range ms {
				if a := testkit.Must(times(m, 4).AuditAt(t.Context(), distance, 0)); a.Lo > 4*alpha || a.Hi < 4*alpha {
					t.Errorf("%v at %v: from %v to %v", m, distance, a.Lo, a.Hi)
				}
			}
		}
	}
}

// A range of 100 integers whose ends float64 has 256 apart.
func TestTruncatedGeometric_PrivacyLossOfAFarRange(t *testing.T) {
	g := testkit.Must(NewTruncatedGeometric(Range{1<<60 + 100, 1<<60 + 200}, 1, nil))
	if near, far := testkit.Must(g.PrivacyLoss(100)), testkit.Must(g.PrivacyLoss(101)); near.Bound || !far.Bound {
		t.Errorf("%v and %v", near.Bound, far.Bound)
	}
}

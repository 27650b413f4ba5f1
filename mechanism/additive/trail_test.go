package additive

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/exact"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// Positions from the first to the last, and the worst losses of the increments drawn.
type drawn struct{ from, to, rate float64 }

// ledger makes m draw nothing and keep what it would have drawn: inputs on a line.
func ledger(m *Trail[[2]float64]) *[]drawn {
	kept := new([]drawn)
	m.draw = func(_ *rand.Rand, to, from [2]float64, rate float64) [2]float64 {
		*kept = append(*kept, drawn{from[0], to[0], rate})
		return [2]float64{float64(len(*kept)), 1} // whatever the positions are
	}
	return kept
}

// laws multiplies out the laws of a toy of the increments, whole numbers with two-sided geometric
// noise of the rates drawn: the largest log ratio over all outputs, each number of a window wide enough.
func toyLoss(a, b []drawn) float64 {
	loss := 0.0
	for i := range a {
		x, y, worst := a[i].to-a[i].from, b[i].to-b[i].from, math.Inf(-1)
		for out := -6.0; out <= 6; out++ {
			worst = max(worst, a[i].rate*(math.Abs(out-y)-math.Abs(out-x)))
		}
		loss += worst
	}
	return loss
}

// All pairs of short tracks on a line, live and whole: outputs depend on positions through the
// noisy increments alone, whose worst loss is at most alpha d_TV; it is that for tracks that are
// shifted and where a stay in nodes of its own is moved, and at most Level times the largest distance.
func TestTrail_LosesAlphaTimesVariation(t *testing.T) {
	const alpha = 0.75
	for _, n := range []int{1, 2, 4, 5, 6} {
		m := testkit.Must(NewTrail(alpha, &TrailOptions{Steps: n}))
		if n == 6 { // more levels than are best
			m.levels = m.newLevels(n, 3, 2, 1.0/3)
		}
		kept, level := ledger(m), 0.0
		live := func(track [][2]float64) [][2]float64 {
			l, y, err := m.Start(nil, track[0])
			ys := [][2]float64{y}
			for _, x := range track[1:] {
				testkit.Check(t, err)
				y, err = l.Next(nil, x)
				ys = append(ys, y)
			}
			if level = l.Level().Alpha(); level > m.Level(n).Alpha() {
				t.Errorf("level %v live, at most %v", level, m.Level(n))
			}
			return append(ys, l.Track()...)
		}
		whole := func(track [][2]float64) [][2]float64 {
			level = m.level(m.wholeLevels(n), n, true).Alpha()
			return testkit.Must(m.Release(nil, track))
		}
		for name, release := range map[string]func([][2]float64) [][2]float64{"live": live, "whole": whole} {
			var tracks [][][2]float64
			var ledgers [][]drawn
			var outs [][][2]float64
			for code := range int(math.Pow(3, float64(n))) {
				track := make([][2]float64, n)
				for i := range track {
					track[i][0] = float64(code % 3)
					code /= 3
				}
				*kept = nil
				outs = append(outs, release(track))
				tracks, ledgers = append(tracks, track), append(ledgers, *kept)
				if !reflect.DeepEqual(outs[0], outs[len(outs)-1]) {
					t.Fatalf("%s: %v: outputs depend on positions", name, track)
				}
			}
			tight, moved := 0.0, 0.0
			for i, x := range tracks {
				for j := 0; j < len(tracks); j += testkit.Sweep(1+n/5*6, 1) {
					y := tracks[j]
					variation, distance, last := 0.0, 0.0, 0.0
					for k := range x {
						delta := x[k][0] - y[k][0]
						variation += math.Abs(delta - last)
						distance = max(distance, math.Abs(delta))
						last = delta
					}
					loss := toyLoss(ledgers[i], ledgers[j])
					if loss > alpha*variation*(1+1e-12) || loss > level*distance*(1+1e-12) {
						t.Fatalf("%s: %v and %v: loss %v, d_TV %v, distance %v at level %v", name, x, y, loss, variation, distance, level)
					}
					if variation > 0 {
						tight = max(tight, loss/(alpha*variation))
					}
					if n > 1 && last == 1 && x[0] == y[0] { // moved from some time on
						moved = max(moved, loss/(alpha*variation))
					}
				}
			}
			if tight < 1-1e-12 || n > 1 && moved < 1-1e-12 {
				t.Errorf("%s of %d: attains %v, and from the start unmoved %v", name, n, tight, moved)
			}
		}
	}
}

// Deep trees: tracks on two sides of a third in turn lose no more than Level says, and that much
// where the ends of all increments are on different sides; as many are drawn as it counts.
func TestTrail_LevelIsAttained(t *testing.T) {
	m := testkit.Must(NewTrail(0.75, &TrailOptions{Steps: 400}))
	kept := ledger(m)
	attained := [2]int{}
	for n := 40; n <= 400; n += 1 + n/100 {
		for whole, levels := range [][]trailLevel{m.levels, m.wholeLevels(n)} {
			var ledgers [2][]drawn
			for side := range ledgers {
				track := make([][2]float64, n)
				for i := range track {
					track[i][0] = float64(1 - 2*((i+side)%2))
				}
				*kept = nil
				if whole == 1 {
					testkit.Must(m.Release(nil, track))
				} else {
					l, _, err := m.Start(nil, track[0])
					for _, x := range track[1:] {
						testkit.Check(t, err)
						_, err = l.Next(nil, x)
					}
				}
				ledgers[side] = *kept
			}
			draws := 1
			for _, a := range levels {
				draws += (n - 1 + whole*(a.width-1)) / a.width
			}
			level := m.level(levels, n, whole == 1).Alpha()
			loss := toyLoss(ledgers[0], ledgers[1]) / 2
			if loss > level*(1+1e-12) || level > m.Level(n).Alpha() || len(ledgers[0]) != draws {
				t.Errorf("%d reports, whole %d: loss %v per unit by %d draws, level %v, want %d draws", n, whole, loss, len(ledgers[0]), level, draws)
			}
			if loss > level*(1-1e-12) {
				attained[whole]++
			}
		}
	}
	if attained[0] == 0 || attained[1] == 0 {
		t.Errorf("attained %v times", attained)
	}
}

// Rates of the tree add to alpha at most, in exact reals, and to no less than its last digits. The level is
// not below the sum of what is drawn, on the plane and per km of the Earth, nor above it by more.
func TestTrail_LevelRoundsUp(t *testing.T) {
	testkit.Rounding(t)
	rng := random.Seeded(45)
	for i := range 500 {
		n, alpha := 2+rng.IntN(200), math.Exp(rng.NormFloat64())
		if i%10 == 0 {
			n = 2 + rng.IntN(3000)
		}
		check := func(alpha, unit float64, levels []trailLevel, g mechanism.Guarantee, cut int) {
			least, rates := testkit.Ratio(alpha), new(big.Rat)
			for _, a := range levels {
				nodes := (n - 1 + cut*(a.width-1)) / a.width
				least.Add(least, new(big.Rat).Mul(testkit.Ratio(a.rate), testkit.Ratio(2*float64(nodes))))
				if rates.Add(rates, testkit.Ratio(a.rate)); !(a.rate > 0) {
					t.Fatalf("%d reports: %+v", n, levels)
				}
			}
			least.Quo(least, testkit.Ratio(unit))
			if near, _ := least.Float64(); testkit.Ratio(g.Alpha()).Cmp(least) < 0 || g.Alpha() > near*(1+1e-13) {
				t.Errorf("%d reports: %v, want %v or little more", n, g.Alpha(), near)
			}
			if near, _ := rates.Float64(); rates.Cmp(testkit.Ratio(alpha)) > 0 || near < alpha*(1-1e-15) {
				t.Errorf("%d reports: rates of %+v add to %v of %v", n, levels, near, alpha)
			}
		}
		flat := testkit.Must(NewTrail(alpha, &TrailOptions{Steps: n}))
		check(flat.alpha, 1, flat.levels, flat.level(flat.levels, n, false), 0)
		check(flat.alpha, 1, flat.wholeLevels(n), flat.level(flat.wholeLevels(n), n, true), 1)
		earth := testkit.Must(NewEarthTrail(alpha, metric.LatLon{}, &TrailOptions{Steps: n}))
		check(earth.alpha, metric.EarthRadiusKm, earth.levels, earth.level(earth.levels, n, false), 0)
		check(earth.alpha, metric.EarthRadiusKm, earth.wholeLevels(n), earth.level(earth.wholeLevels(n), n, true), 1)
	}
}

// The stated errors are those of noise, and no worse than what the formula says.
func TestTrail_RMS(t *testing.T) {
	for _, c := range []struct {
		n          int
		live, best float64 // by the formula of the shares alone; by least squares, of trees with the best shares
	}{{1, math.Sqrt(6), math.Sqrt(6)}, {16, 7.142, 7.142}, {64, 13.2, 10.38}, {128, 16.1, 12.47}, {1440, 29.0, 20.6}} {
		m := testkit.Must(NewTrail(0.25, &TrailOptions{Steps: c.n}))
		rms := m.RMS(c.n) / 4
		if rms > c.live || rms < 0.9*c.live {
			t.Errorf("%d reports: rms times alpha %v, want about %v", c.n, rms, c.live)
		}
		rng := random.Seeded(41)
		live, whole, runs := 0.0, 0.0, 1+6000/c.n
		if c.n > 16 {
			runs += 100
		}
		for range runs {
			l, y, err := m.Start(rng, [2]float64{3, 4})
			for k := range c.n {
				testkit.Check(t, err)
				live += (y[0]-3)*(y[0]-3) + (y[1]-4)*(y[1]-4)
				if k < c.n-1 {
					y, err = l.Next(rng, [2]float64{3, 4})
				}
			}
			if _, err := l.Next(rng, [2]float64{}); err == nil {
				t.Fatalf("report %d of %d", c.n+1, c.n)
			}
			for _, y := range testkit.Must(m.Release(rng, make([][2]float64, c.n))) {
				whole += y[0]*y[0] + y[1]*y[1]
			}
		}
		count := 16 * float64(runs) * float64(c.n)
		if live = math.Sqrt(live / count); !near(live, rms, 0.08) {
			t.Errorf("%d reports: rms times alpha %v live, stated %v", c.n, live, rms)
		}
		if whole = math.Sqrt(whole / count); whole > 1.08*c.best {
			t.Errorf("%d reports: rms times alpha %v of a whole track, want %v", c.n, whole, c.best)
		}
	}
	if v := testkit.Must(NewTrail(1, nil)).RMS(1441); !math.IsNaN(v) {
		t.Errorf("RMS beyond the last report: %v", v)
	}
}

// Track is the solution of the normal equations of all increments drawn.
func TestTrail_TrackIsLeastSquares(t *testing.T) {
	rng := random.Seeded(42)
	for _, n := range []int{2, 7, 23, 40, 395} {
		m := testkit.Must(NewTrail(1, &TrailOptions{Steps: max(n, 40)}))
		if n == 40 {
			m.levels = m.newLevels(40, 3, 3, 0.5)
		}
		at, rows := 0.0, [][4]float64{} // from, to, increment, rate
		m.draw = func(_ *rand.Rand, to, from [2]float64, rate float64) [2]float64 {
			z := rng.NormFloat64()
			rows = append(rows, [4]float64{from[1], to[1], z, rate})
			return [2]float64{z, 0}
		}
		for _, whole := range []bool{false, true} {
			rows = nil
			track := make([][2]float64, n)
			for i := range track {
				track[i][1] = float64(i)
			}
			var got [][2]float64
			if whole {
				got = testkit.Must(m.Release(nil, track))
			} else {
				l, _, err := m.Start(nil, track[0])
				for _, x := range track[1:] {
					testkit.Check(t, err)
					_, err = l.Next(nil, x)
				}
				got = l.Track()
			}
			// The gradient of the weighted squares vanishes in every position but the start.
			gradient := make([]float64, n)
			for _, r := range rows[1:] {
				at = (got[int(r[1])][0] - got[int(r[0])][0] - r[2]) * r[3] * r[3]
				gradient[int(r[1])] += at
				gradient[int(r[0])] -= at
			}
			if at = floats.Norm(gradient[1:], inf); at > 1e-12 || got[0][0] != rows[0][2] {
				t.Errorf("%d reports, whole %v: gradient %v", n, whole, gradient)
			}
		}
	}
}

// On the Earth a place falls where its neighbors within 60 degrees do not come nearer than half
// nor go farther than they are; outputs lift back; what lies farther is refused before anything is drawn.
func TestEarthTrail_MapsNoPlacesApart(t *testing.T) {
	rng := random.Seeded(43)
	for _, center := range []metric.LatLon{{}, {Lat: 48.2, Lon: 16.4}, {Lat: -90, Lon: 7}, {Lat: 89.9, Lon: 180}, {Lat: -33.9, Lon: -540}} {
		m := testkit.Must(NewEarthTrail(1e5, center, &TrailOptions{Steps: 3}))
		unit := metric.GreatCircle{Radius: 1}
		var places []metric.LatLon
		for _, p := range append(globe(400), center) {
			d := unit.Distance(center, p)
			if math.Abs(d-math.Pi/3) < 1e-9 {
				continue
			}
			source := random.Seeded(44)
			_, y, err := m.Start(source, p)
			if err != nil && source.Uint64() != random.Seeded(44).Uint64() {
				t.Fatalf("%v about %v: drew before %v", p, center, err)
			}
			if (err == nil) != (d < math.Pi/3) {
				t.Errorf("%v, %v from %v: %v", p, d, center, err)
			} else if err == nil {
				if places = append(places, p); unit.Distance(p, y) > 1e-6 {
					t.Errorf("%v about %v: released %v", p, center, y)
				}
			}
		}
		for range 1000 {
			p, q := places[rng.IntN(len(places))], places[rng.IntN(len(places))]
			if rng.IntN(2) == 0 {
				q = metric.LatLon{Lat: p.Lat * (1 - 1e-7), Lon: p.Lon + 1e-5*rng.Float64()}
			}
			z := exact.NewChart(center.Lat, center.Lon).Difference(p.Lat, p.Lon, q.Lat, q.Lon)
			d, flat := unit.Distance(p, q), math.Hypot(z.Near[0].Hi, z.Near[1].Hi)
			if flat > d+1e-13 || flat < d/4-1e-13 {
				t.Errorf("%v and %v about %v: %v apart, %v on the map", p, q, center, d, flat)
			}
		}
	}
	for range 300 { // the level on the map is not above that per km
		alpha := min(1e5, math.Exp(5*rng.NormFloat64()))
		m := testkit.Must(NewEarthTrail(alpha, metric.LatLon{}, nil))
		if p, low := directed.TwoProd(alpha, metric.EarthRadiusKm); m.alpha > p || m.alpha == p && low < 0 || m.alpha < p*(1-1e-15) {
			t.Errorf("level %v per km: %v on the map", alpha, m.alpha)
		}
	}
	flat, m := testkit.Must(NewTrail(2, nil)), testkit.Must(NewEarthTrail(2, metric.LatLon{}, nil))
	if got, want := m.RMS(1440), flat.RMS(1440); !near(got, want, 1e-12) {
		t.Errorf("RMS %v on the Earth, %v on the plane", got, want)
	}
	if got, want := m.Level(99).Alpha(), flat.Level(99).Alpha(); !near(got, want, 1e-12) || m.Level(1).Alpha() != 2 || m.Level(0).Alpha() != inf {
		t.Errorf("level %v on the Earth, %v on the plane, %v of one report", got, want, m.Level(1))
	}
}

// What is refused on the way is named, not shown, and draws and changes nothing.
func TestTrail_RefusesOnTheWay(t *testing.T) {
	m := testkit.Must(NewTrail(1, &TrailOptions{Steps: 9}))
	_, err := m.Release(nil, [][2]float64{{}, {0, math.NaN()}})
	if err == nil || !strings.Contains(err.Error(), "track[1][1]") {
		t.Error(err)
	}
	rng := random.Seeded(46)
	var twins [2][2]float64
	for k := range twins {
		l, _, err := m.Start(random.Seeded(47), [2]float64{1, 2})
		testkit.Check(t, err)
		if k == 1 {
			for _, x := range [][2]float64{{math.Inf(1), 0}, {0, math.NaN()}, {0, -0x1p32}} {
				if y, err := l.Next(rng, x); err == nil || y != [2]float64{} {
					t.Errorf("%v: %v, %v", x, y, err)
				}
			}
		}
		twins[k] = testkit.Must(l.Next(random.Seeded(48), [2]float64{3, 4}))
	}
	if twins[0] != twins[1] || rng.Uint64() != random.Seeded(46).Uint64() {
		t.Errorf("%v, after refusals %v", twins[0], twins[1])
	}
	earth := testkit.Must(NewEarthTrail(1, metric.LatLon{}, nil))
	for _, x := range []metric.LatLon{{Lat: 91.25}, {Lat: 61.25}, {Lon: 91.25}} {
		if _, _, err := earth.Start(nil, x); err == nil || strings.Contains(err.Error(), "1.25") {
			t.Error(err)
		}
	}
}

// BenchmarkTrail reports the root mean square error times alpha of live positions, as stated and
// as measured, and by least squares afterwards.
func BenchmarkTrail(b *testing.B) {
	for _, n := range []int{16, 64, 128, 1440} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			const alpha = 0.5
			m := testkit.Must(NewTrail(alpha, &TrailOptions{Steps: n}))
			live, after, whole := 0.0, 0.0, 0.0
			rng := random.Seeded(7)
			for b.Loop() {
				l, y, _ := m.Start(rng, [2]float64{})
				for t := 0; ; t++ {
					live += y[0]*y[0] + y[1]*y[1]
					if t == n-1 {
						break
					}
					y = testkit.Must(l.Next(rng, [2]float64{}))
				}
				for _, y := range l.Track() {
					after += y[0]*y[0] + y[1]*y[1]
				}
				for _, y := range testkit.Must(m.Release(rng, make([][2]float64, n))) {
					whole += y[0]*y[0] + y[1]*y[1]
				}
			}
			count := float64(b.N) * float64(n)
			b.ReportMetric(alpha*m.RMS(n), "rms*alpha")
			b.ReportMetric(alpha*math.Sqrt(live/count), "measured")
			b.ReportMetric(alpha*math.Sqrt(after/count), "afterwards")
			b.ReportMetric(alpha*math.Sqrt(whole/count), "whole")
			b.ReportMetric(count/b.Elapsed().Seconds(), "reports/s")
		})
	}
	b.Run("earth", func(b *testing.B) {
		rng := random.Seeded(8)
		m := testkit.Must(NewEarthTrail(6.93, metric.LatLon{Lat: 48.2, Lon: 16.4}, nil))
		track := make([]metric.LatLon, 1440)
		for i := range track {
			track[i] = metric.LatLon{Lat: 48.2 + 1e-4*float64(i), Lon: 16.4}
		}
		for b.Loop() {
			testkit.Must(m.Release(rng, track))
		}
		b.ReportMetric(1440*float64(b.N)/b.Elapsed().Seconds(), "reports/s")
	})
}

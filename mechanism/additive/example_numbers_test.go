package additive_test

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/additive"
	"github.com/metricdp/metricdp/metric"
)

// A mean of 1000 users' vectors of l2 norm at most 1: a change of one user
// moves it by at most 2/1000, so level 500 per unit of the mean gives eps = 1.
func ExampleNewKNorm() {
	m := must(additive.NewKNorm(additive.Norm{P: 2, Dim: 3}, 500, nil))
	y := must(m.Release(seeded(), []float64{0.2, -0.1, 0.4}))
	fmt.Printf("%.3f\n", y)
	eps, _ := m.Guarantee().At(2.0 / 1000)
	fmt.Printf("eps %.3f, root mean square error %.4f a coordinate\n", eps, math.Sqrt(m.SecondMoment()))
	// Output:
	// [0.208 -0.096 0.402]
	// eps 1.000, root mean square error 0.0040 a coordinate
}

func ExampleNewLaplace() {
	m := must(additive.NewLaplace(0.1, &additive.Options{Unit: "EUR", Grid: 0.25}))
	y, err := m.Release(seeded(), 1200)
	fmt.Println(y, err)
	fmt.Println(m.Guarantee())
	// Output:
	// 1202.5 <nil>
	// 0.1-private per EUR
}

func ExampleNewDiscreteLaplace() {
	m, rng := must(additive.NewDiscreteLaplace(0.5, &additive.DiscreteOptions{Unit: "record"})), seeded()
	fmt.Println(must(m.Release(rng, 100)), must(m.Release(rng, 100)), must(m.Release(rng, 100)))
	fmt.Println("within", m.RadiusQuantile(0.95), "with probability 0.95")
	// Output:
	// 106 101 103
	// within 6 with probability 0.95
}

func ExampleNewTruncatedGeometric() {
	m := must(additive.NewTruncatedGeometric(additive.Range{Lo: 0, Hi: 10}, 0.5, nil))
	rng := seeded()
	for range 4 {
		y, _ := m.Release(rng, 1)
		fmt.Print(y, " ")
	}
	// Output:
	// 7 2 4 0
}

func ExampleNewGaussian() {
	target := additive.GaussianTarget{Alpha: 1, Delta: 1e-6, Diameter: 2}
	m := must(additive.NewGaussian(2, target, nil))
	y, err := m.Release(seeded(), []float64{0.5, -0.5})
	fmt.Printf("sigma %.4f: %.2f %v\n", m.Sigma(), y, err)
	fmt.Println(m.Guarantee())
	// Output:
	// sigma 4.4610: [5.59 5.34] <nil>
	// (1 per unit, 1e-06)-private up to 2
}

func ExampleNewDiscreteGaussian() {
	m := must(additive.NewDiscreteGaussian(additive.GaussianTarget{Alpha: 0.5, Delta: 1e-9, Diameter: 3}, nil))
	y, err := m.Release(seeded(), 40)
	fmt.Printf("sigma %.4f: %d %v\n", m.Sigma(), y, err)
	// Output:
	// sigma 11.2065: 35 <nil>
}

// seeded makes the examples repeat. Releases of private data pass nil.
func seeded() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

// A position on Earth, hidden among the places within some kilometers.
func ExampleNewSphere() {
	m := must(additive.NewSphere(0.5, nil)) // per km
	vienna := metric.LatLon{Lat: 48.2082, Lon: 16.3738}
	y := must(m.Release(seeded(), vienna))
	fmt.Printf("released %.3f, %.3f\n", y.Lat, y.Lon)
	fmt.Printf("within %.1f km in 95 of 100 releases\n", m.RadiusQuantile(0.95))
	fmt.Println(m.Guarantee())
	// Output:
	// released 48.212, 16.355
	// within 9.5 km in 95 of 100 releases
	// 0.5-private per km
}

// A position on Earth that is off by less than 500 m in 95 of 100 releases.
func ExampleNewSphereWithin() {
	noise := must(additive.NewSphereWithin(0.5, 0.95, nil)) // km
	released, err := noise.Release(seeded(), metric.LatLon{Lat: 48.20849, Lon: 16.37208})
	fmt.Printf("%v: %.4f %v\n", noise.Guarantee(), released, err)
	// Output:
	// 9.48773-private per km: {48.2087 16.3711} <nil>
}

// Places released as cells of a public grid: a receiver that trembles where it stands costs nothing.
func ExampleNewCells() {
	cells := must(additive.NewCells(metric.GreatCircle{}, 0.1)) // km
	noise := must(additive.NewSphereWithin(0.5, 0.95, nil))
	sticky := must(mechanism.NewSticky(mechanism.Then(noise, cells.Center), &mechanism.StickyOptions[metric.LatLon]{Key: cells.Key}))
	rng := seeded()
	for _, p := range []metric.LatLon{{Lat: 48.20849, Lon: 16.37208}, {Lat: 48.20848, Lon: 16.37209}, {Lat: 48.22000, Lon: 16.35600}} {
		fmt.Printf("%.5f -> %.5f\n", p, must(sticky.Release(rng, p)))
	}
	// Output:
	// {48.20849 16.37208} -> {48.20810 16.37133}
	// {48.20848 16.37209} -> {48.20810 16.37133}
	// {48.22000 16.35600} -> {48.21611 16.35785}
}

// An hour of a walk, a position a minute in meters, by three of them and straight lines between.
func ExampleNewKnots() {
	m := must(additive.NewKnots(math.Log(4)/200, &additive.KnotsOptions{Every: 20, Unit: "m"}))
	walk := make([][2]float64, 60)
	for t := range walk {
		walk[t] = [2]float64{80 * float64(t), 2000}
	}
	released := must(m.Release(seeded(), walk))
	fmt.Printf("%.0f -> %.0f\n", walk[15], released[15])
	fmt.Printf("%v, whatever the track; noise of %.0f m\n", m.Guarantee(), m.RMS(60))
	// Output:
	// [1200 2000] -> [1466 2266]
	// 0.00693148-private per m, whatever the track; noise of 763 m
}

// The same by latitude and longitude, about a public center.
func ExampleNewEarthKnots() {
	m := must(additive.NewEarthKnots(10, metric.LatLon{Lat: 48.2, Lon: 16.4}, &additive.KnotsOptions{Every: 3}))
	day := []metric.LatLon{{Lat: 48.1853, Lon: 16.3761}, {Lat: 48.2085, Lon: 16.3721}, {Lat: 48.2085, Lon: 16.3721}, {Lat: 48.2200, Lon: 16.3560}}
	fmt.Printf("%.4f\n", must(m.Release(seeded(), day)))
	fmt.Println(m.Guarantee())
	// Output:
	// [{48.2085 16.3714} {48.2085 16.3714} {48.2148 16.3645} {48.2212 16.3576}]
	// 10-private per km
}

// A walker on an island, of public outline: what falls into the sea is taken ashore.
func ExampleNewRegion() {
	island := [][]metric.LatLon{{{Lat: 54.64, Lon: 18.60}, {Lat: 54.60, Lon: 18.80}, {Lat: 54.70, Lon: 18.70}}}
	land := must(additive.NewRegion(metric.GreatCircle{}, island, 0.01)) // km
	noise := must(additive.NewSphereWithin(10, 0.95, nil))
	ashore := mechanism.Then(noise, land.Move)
	walker := metric.LatLon{Lat: 54.65, Lon: 18.69}
	for seed := range uint64(3) {
		y := must(noise.Release(rand.New(rand.NewPCG(seed, 0)), walker))
		z := must(ashore.Release(rand.New(rand.NewPCG(seed, 0)), walker))
		fmt.Printf("%.3f -> %.3f\n", y, z)
	}
	fmt.Println(ashore.Guarantee())
	// Output:
	// {54.617 18.713} -> {54.617 18.713}
	// {54.705 18.704} -> {54.700 18.700}
	// {54.649 18.708} -> {54.649 18.708}
	// 0.474387-private per km
}

// An hour on foot, in meters, a report every five minutes: moved by 200 m a track is at most four times
// as likely.
func ExampleNewTrail() {
	m := must(additive.NewTrail(math.Log(4)/200, &additive.TrailOptions{Steps: 12, Unit: "m"}))
	rng := seeded()
	live, y, err := m.Start(rng, [2]float64{0, 0})
	for k := 1; k < 4 && err == nil; k++ {
		fmt.Printf("%.0f\n", y)
		y, err = live.Next(rng, [2]float64{400 * float64(k), 0})
	}
	fmt.Printf("%v where the track is moved as a whole, off by %.0f m\n", m.Guarantee(), m.RMS(12))
	fmt.Println(m.Level(12), "where each report may be elsewhere")
	// Output:
	// [23 -105]
	// [657 -43]
	// [1202 116]
	// 0.00693148-private per m where the track is moved as a whole, off by 901 m
	// 0.159424-private per m where each report may be elsewhere
}

// A track about Vienna, released as a whole: moved by 1 km it is at most e times as likely.
func ExampleNewEarthTrail() {
	m := must(additive.NewEarthTrail(1, metric.LatLon{Lat: 48.2, Lon: 16.4}, nil))
	track := []metric.LatLon{{Lat: 48.18531, Lon: 16.37613}, {Lat: 48.20849, Lon: 16.37208}, {Lat: 48.18533, Lon: 16.37614}}
	fmt.Printf("%.3f\n", must(m.Release(seeded(), track)))
	fmt.Println(m)
	_, err := m.Release(nil, []metric.LatLon{{Lat: 48.2, Lon: -103.6}})
	fmt.Println(err)
	// Output:
	// [{48.179 16.378} {48.206 16.396} {48.193 16.414}]
	// trail of up to 1440 reports, 1-private per km
	// additive: Trail.Release: the distance of track[0] from the center, want at most 60 degrees
}

func ExampleNewPlanarLaplace() {
	m := must(additive.NewPlanarLaplace(2, &additive.Options{Unit: "km", Grid: 1.0 / 64}))
	y := must(m.Release(seeded(), [2]float64{3.5, 1.25}))
	fmt.Println(y)
	// Output:
	// [3.578125 0.890625]
}

func ExampleNewMadlib() {
	words, rng := []string{"cat", "dog", "car", "bus"}, seeded()
	m := must(additive.NewMadlib([][]float64{{0, 1}, {0, 1.3}, {4, 0}, {4.2, 0.4}}, 2, nil))
	for range 4 {
		fmt.Print(words[must(m.Release(rng, 0))], " ")
	}
	// Output: cat dog dog dog
}

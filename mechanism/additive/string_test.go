package additive

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// TestString_NamesNoiseAndGuarantee: what Println shows of every mechanism,
// alone and lifted, is a line and not its fields.
func TestString_NamesNoiseAndGuarantee(t *testing.T) {
	target := GaussianTarget{Alpha: 1, Delta: 1e-6, Diameter: 10}
	km := &Options{Unit: "km"}
	grid := testkit.Must(metric.NewPoints([][2]float64{{0, 0}, {0, 1}}, metric.Plane{}))
	planar := testkit.Must(NewPlanarLaplace(2, km))
	record := &DiscreteOptions{Unit: "record"}
	discrete := testkit.Must(NewDiscreteLaplace(0.5, record))
	madlib := testkit.Must(NewMadlib([][]float64{{0}, {1}}, 2, record))
	for want, m := range map[string]any{
		"Laplace noise, 2-private per km":                                                   testkit.Must(NewLaplace(2, km)),
		"K-norm noise (p = +Inf) in R^3, 2-private per km":                                  testkit.Must(NewKNorm(Norm{P: math.Inf(1), Dim: 3}, 2, km)),
		"Gaussian noise of deviation 5.41087 in R^3, (1 per km, 1e-06)-private up to 10 km": testkit.Must(NewGaussian(3, target, km)),
		"discrete Gaussian noise of sigma 5.41154, (1 per m, 1e-06)-private up to 10 m":     testkit.Must(NewDiscreteGaussian(target, &DiscreteOptions{Unit: "m"})),
		"discrete Laplace noise, 0.5-private per record":                                    discrete,
		"truncated geometric on [0, 9], 0.5-private per record":                             testkit.Must(NewTruncatedGeometric(Range{0, 9}, 0.5, record)),
		"planar Laplace noise, 2-private per km":                                            planar,
		"noise on the sphere of radius 6371.01, 2-private per km":                           testkit.Must(NewSphere(2, nil)),
		"noise on the sphere of radius 5, 2-private per m":                                  testkit.Must(NewSphere(2, &SphereOptions{Radius: 5, Unit: "m"})),
		"Madlib on 2 words, 2-private per record":                                           madlib,
		"on 2 points under metric.Plane: Madlib on 2 words, 2-private per record":           mechanism.On(madlib, grid),
		"post-processed: planar Laplace noise, 2-private per km":                            Snap(planar, grid),
		"2 mechanisms composed, 1-private per record":                                       testkit.Must(mechanism.Compose[int64, int64](discrete, discrete)),
	} {
		if got := fmt.Sprint(m); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if g := m.(interface{ Guarantee() mechanism.Guarantee }).Guarantee(); !strings.HasSuffix(want, g.String()) {
			t.Errorf("%v: guarantee %v", m, g)
		}
	}
}

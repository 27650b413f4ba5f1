package additive

import (
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

// What no constructor made releases nothing, promises nothing and states no
// number.
func TestZeroValues_Refuse(t *testing.T) {
	testkit.Unmade[Laplace](t, "NewLaplace")
	testkit.Unmade[KNorm](t, "NewKNorm")
	testkit.Unmade[PlanarLaplace](t, "NewPlanarLaplace")
	testkit.Unmade[Gaussian](t, "NewGaussian")
	testkit.Unmade[Sphere](t, "NewSphere")
	testkit.Unmade[DiscreteLaplace](t, "NewDiscreteLaplace")
	testkit.Unmade[TruncatedGeometric](t, "NewTruncatedGeometric")
	testkit.Unmade[DiscreteGaussian](t, "NewDiscreteGaussian")
	testkit.Unmade[Madlib](t, "NewMadlib")
	testkit.Unmade[Cells](t, "NewCells")
	testkit.Unmade[Region](t, "NewRegion")
	testkit.Unmade[Knots[[2]float64]](t, "NewKnots or NewEarthKnots")
}

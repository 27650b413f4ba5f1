package additive

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/metric"
)

// Snap replaces every output of m by the index of the nearest of the given points, in their own metric;
// ties go to the lowest index. It is post-processing, so m's guarantee stands. The points must be public,
// and of the type that m releases: KNorm goes with metric.Euclidean and its relatives, PlanarLaplace with
// metric.Plane, Sphere with metric.GreatCircle. An output that the points' space refuses is an error.
// Snapped of package exponential has the matrix of this mechanism, its losses and its audited level.
//
// O(n log n) once. A release searches as [metric.Locator] does, and is safe for concurrent use if m's is.
func Snap[X, P any](m mechanism.Mechanism[X, P], pts *metric.Points[P]) mechanism.Mechanism[X, int] {
	near := metric.NewLocator(pts)
	check, _ := pts.Space().(metric.Checker[P])
	return mechanism.Then(m, func(y P) (int, error) {
		if check != nil {
			if err := check.Check(pts.At(0), y); err != nil {
				return 0, fmt.Errorf("additive: Snap: %w", fault.Private(err))
			}
		}
		i, _ := near.Nearest(y)
		return i, nil
	})
}

// Madlib replaces a word by a word of near meaning: it adds noise with density prop. to e^(-alpha*||z||_2)
// to the word's vector and returns the word whose vector is nearest (Feyisetan, Balle, Drake, Diethe 2020,
// "Privacy- and utility-preserving textual analysis via calibrated multivariate perturbations"). Words are
// the indices of their vectors. It is alpha-private per unit of the Euclidean distance between vectors; a
// text of n words composes n times. In d dimensions the noise has norm about d/alpha: alpha must be well
// above d over the distance of near words, or words change often. The noise is exact ([Options]), and what
// follows it is post-processing. Immutable and safe for concurrent use.
type Madlib struct {
	k       *KNorm
	words   metric.Finite
	vector  func(x int, dst []float64) []float64 // appends that of word x
	nearest func(y []float64) int
}

// NewMadlib returns the mechanism of level alpha, a number in [1e-100, 1e100], on the words 0, ...,
// len(vectors)-1. The vectors must have one length, entries that [KNorm.ReleaseTo] takes, and not be
// modified afterwards. Vectors of float32 take half the memory and are searched faster ([metric.Locator]).
func NewMadlib[T float32 | float64](vectors [][]T, alpha float64, o *DiscreteOptions) (*Madlib, error) {
	const op = "additive: NewMadlib"
	m := new(Madlib)
	var err error
	switch vectors := any(vectors).(type) {
	case [][]float64:
		err = setWords(m, vectors, metric.Euclidean{}, func(dst, y []float64) []float64 { return append(dst, y...) })
	case [][]float32:
		err = setWords(m, vectors, metric.Float32[metric.Euclidean]{}, func(dst []float32, y []float64) []float32 {
			for _, v := range y {
				dst = append(dst, float32(max(-math.MaxFloat32, min(v, math.MaxFloat32))))
			}
			return dst
		})
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	if m.k, err = newKNorm(op, Norm{P: 2, Dim: len(vectors[0])}, alpha, &Options{Unit: orZero(o).Unit}); err != nil {
		return nil, err
	}
	var v []float64
	for i := range vectors {
		v = m.vector(i, v[:0])
		if err := m.k.out.checkVector(op, fmt.Sprintf("vectors[%d]", i), v, m.k.norm.Dim); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// setWords sets the words of m; narrow appends the numbers of y to dst.
func setWords[T float32 | float64](m *Madlib, vectors [][]T, space metric.Space[[]T], narrow func(dst []T, y []float64) []T) error {
	words, err := metric.NewPoints(vectors, space)
	if err != nil {
		return err
	}
	near := metric.NewLocator(words)
	m.words = words
	m.vector = func(x int, dst []float64) []float64 {
		for _, v := range words.At(x) {
			dst = append(dst, float64(v))
		}
		return dst
	}
	m.nearest = func(y []float64) int {
		i, _ := near.Nearest(narrow(make([]T, 0, len(y)), y))
		return i
	}
	return nil
}

func (m *Madlib) check(op string) error {
	return fault.Made(m != nil && m.k != nil, op, "Madlib", "NewMadlib")
}

// Guarantee is alpha per unit of the Euclidean distance of vectors, delta 0.
func (m *Madlib) Guarantee() mechanism.Guarantee { return orZero(m).k.Guarantee() }

// String gives the noise and its guarantee.
func (m *Madlib) String() string {
	return describe(m.check("additive"), m.Guarantee(), "Madlib on %d words", fault.Len(orZero(m).words))
}

// Release returns the index of a word. The error reports an x outside [0, n). It takes O(d) for
// the noise in d dimensions and a search among n words, O(n*d) where d > 20: with 50,000 words
// in float32 some 2 ms at d = 100 and 7 ms at 300.
func (m *Madlib) Release(rng *rand.Rand, x int) (int, error) {
	const op = "additive: Madlib.Release"
	if err := m.check(op); err != nil {
		return 0, err
	}
	if err := fault.Private(fault.Index(op, "x", x, m.words.Len())); err != nil {
		return 0, err
	}
	y := m.vector(x, make([]float64, 0, m.k.norm.Dim))
	if err := m.k.ReleaseTo(y, rng, y); err != nil {
		return 0, err
	}
	return m.nearest(y), nil
}

package emd

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/mechanism"
)

func pureLevel(t testing.TB, alpha float64) mechanism.Guarantee {
	return testkit.Must(mechanism.NewGuarantee(alpha, 0, ""))
}

// promiseOf is a stand-in for a mechanism: it promises, and records what it
// reads.
type promiseOf[P any] struct {
	g    Guarantee
	seen [][]P
	stop int // users to read; 0: all
}

func (m *promiseOf[P]) Guarantee() Guarantee { return m.g }

var errInner = errors.New("inner")

func (m *promiseOf[P]) Release(_ *rand.Rand, data Users[P]) (int, error) {
	m.seen = nil
	for items := range data {
		m.seen = append(m.seen, slices.Clone(items))
		if len(m.seen) == m.stop {
			return 0, errInner
		}
	}
	return len(m.seen), nil
}

func promise(t testing.TB, m Model, alpha, delta float64) Guarantee {
	t.Helper()
	level := testkit.Must(mechanism.NewGuarantee(alpha, delta, m.Unit))
	return testkit.Must(NewGuarantee(m, level))
}

// beyond is hockeyStick for laws on 0, 1, ...
func beyond(p, q []float64, eps float64) float64 {
	delta := 0.0
	for y, v := range p {
		delta += max(0, v-math.Exp(eps)*q[y])
	}
	return delta
}

// binomial is the law of s items of two points, one of them of probability p.
func binomialLaw(s int, p float64) []float64 {
	law := []float64{1}
	for range s {
		next := make([]float64, len(law)+1)
		for k, v := range law {
			next[k] += v * (1 - p)
			next[k+1] += v * p
		}
		law = next
	}
	return law
}

package accountant

import (
	"math/big"
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
)

// ask is a Shuffle with all numbers that its questions are about.
type ask struct {
	Records, Items        int64
	Alpha0, Alpha, Delta  float64
	Diameter, MinDistance float64
	Clones                Clones
}

func (a ask) shuffle() Shuffle {
	return Shuffle{Records: a.Records, Items: a.Items, Alpha0: a.Alpha0, Diameter: a.Diameter, MinDistance: a.MinDistance, Clones: a.Clones}
}

func (a ask) level() (Bound, error) {
	return a.shuffle().Level(bg, a.Delta)
}

func (a ask) delta() (Bound, error) {
	return a.shuffle().Delta(bg, a.Alpha)
}

func (a ask) budget() (Bound, error) {
	return a.shuffle().Budget(bg, Promise{a.Alpha, a.Delta})
}

func (a ask) item(distance, eps float64) (float64, error) {
	d, err := a.shuffle().MovedDelta(bg, Moved{1, distance}, eps)
	return d.Value, err
}

// joint is a over its diameter.
func (a ask) joint(t testing.TB) joint {
	t.Helper()
	b := testkit.Must(a.shuffle().check(""))
	testkit.Check(t, b.setAlpha0("", "", a.Alpha0))
	return b
}

// wide is x in 300 bits.
func wide(x float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(x) }

package kernel

import (
	"testing"

	"github.com/metricdp/metricdp/internal/testkit"
	testspace "github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

func halton(t *testing.T, n int, alpha float64) *Kernel {
	outputs := make([]int, n)
	for i := range outputs {
		outputs[i] = i
	}
	p := &Problem{Space: metric.Same(testspace.Halton(n)), Alpha: alpha, Outputs: outputs, Memory: func(float64) error { return nil }}
	return testkit.Must(New(t.Context(), p, nil, 0))
}

// A mended kernel keeps the level, and one that cannot be mended, as its rate was raised too
// far, gives way to one that keeps it by the triangle inequality.
func TestChannel_KeepsTheLevel(t *testing.T) {
	for _, alpha := range []float64{2, 10, 40, 2000} {
		k := halton(t, 60, alpha)
		for _, raise := range []float64{1, 1.3} {
			k.rate *= raise
			_, audit, err := k.Channel()
			if err != nil || audit.Hi > alpha || raise == 1 && audit.Hi < .99*alpha {
				t.Errorf("alpha %v: level %v at %v of the rate, %v", alpha, audit.Hi, raise, err)
			}
		}
	}
}

func TestBytes_CountsTheChannel(t *testing.T) {
	if k := halton(t, 40, 5); k.Bytes() < 8*40*float64(len(k.label)) || k.Bytes() < k.entries() {
		t.Errorf("%v bytes for %d labels", k.Bytes(), len(k.label))
	}
}

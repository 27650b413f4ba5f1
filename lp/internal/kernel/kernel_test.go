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

// The safe rate keeps the level without a look at any pair, and a rate that was raised
// too far gives way to it.
func TestChannel_FallsBackToTheSafeRate(t *testing.T) {
	for _, alpha := range []float64{2, 10, 40} {
		k := halton(t, 60, alpha)
		if !(k.safe > 0 && k.safe <= k.rate && k.rate <= alpha) {
			t.Errorf("alpha %v: rates %v and %v", alpha, k.safe, k.rate)
		}
		for _, rate := range []float64{k.rate, 1.3 * alpha} {
			k.rate = rate
			_, audit, err := k.Channel()
			if err != nil || audit.Hi > alpha {
				t.Errorf("alpha %v: level %v at rate %v, %v", alpha, audit.Hi, rate, err)
			}
		}
	}
}

func TestBytes_CountsTheChannel(t *testing.T) {
	if k := halton(t, 40, 5); k.Bytes() < 8*40*float64(len(k.label)) || k.Bytes() < k.entries() {
		t.Errorf("%v bytes for %d labels", k.Bytes(), len(k.label))
	}
}

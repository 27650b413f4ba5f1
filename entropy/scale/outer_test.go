package scale

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/entropy/internal/spaces"
	"github.com/metricdp/metricdp/metric"
)

// checkOuter fails unless the witnesses prove both ends.
func checkOuter(t *testing.T, f metric.Finite, o OuterScale) {
	t.Helper()
	if !(o.Lo >= 0 && o.Lo <= o.Hi) {
		t.Fatalf("interval %v", o.Interval)
	}
	checkCount(t, f, spaces.AllPoints(f.Len()), o.G, o.N)
	if hi := o.G + math.Log(float64(o.N.Hi))/o.Alpha; math.Abs(hi-o.Hi) > 1e-14*o.Hi {
		t.Fatalf("Hi %v, its proof gives %v", o.Hi, hi)
	}
	at, lo := 0.0, o.Hi
	for _, st := range o.Steps {
		if st.From != at || st.To <= st.From {
			t.Fatalf("step [%v, %v) after %v", st.From, st.To, at)
		}
		at = st.To
		for a, i := range st.Separated {
			for _, j := range st.Separated[:a] {
				if f.Distance(i, j) < st.To {
					t.Fatalf("%d, %d at %v in a step to %v", i, j, f.Distance(i, j), st.To)
				}
			}
		}
		lo = min(lo, st.From+math.Log(float64(len(st.Separated)))/o.Alpha)
	}
	if at < o.Lo || lo < o.Lo*(1-1e-14) {
		t.Fatalf("Lo %v, steps to %v give %v", o.Lo, at, lo)
	}
}

package scale

import (
	"fmt"
	"math"
	"testing"

	"github.com/metricdp/metricdp/entropy/internal/spaces"
	"github.com/metricdp/metricdp/internal/testkit"
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

func TestOuter_Plane(t *testing.T) {
	f := planePoints(300, 1)
	for _, alpha := range []float64{1, 20} {
		o := testkit.Must(Outer(t.Context(), f, []float64{alpha}, &Options{Nodes: 20}))[0]
		checkOuter(t, f, o)
		// The packing numbers of the plane are known within a factor 2.
		if o.Width() > math.Ln2/alpha {
			t.Errorf("alpha %v: %v", alpha, o.Interval)
		}
	}
}

func BenchmarkOuterScale(b *testing.B) {
	for _, n := range []int{100, 1000, 10000} {
		f := planePoints(n, 1)
		b.Run(fmt.Sprintf("n=%d/alpha=20", n), func(b *testing.B) {
			var o OuterScale
			for b.Loop() {
				o = testkit.Must(Outer(b.Context(), f, []float64{20}, nil))[0]
			}
			b.ReportMetric(o.Lo, "lo")
			b.ReportMetric(o.Hi, "hi")
		})
	}
}

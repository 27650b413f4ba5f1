package scale

import (
	"math"
	"testing"

	"github.com/metricdp/metricdp/entropy/internal/limit"
	"github.com/metricdp/metricdp/entropy/internal/spaces"
	"github.com/metricdp/metricdp/internal/testkit"
	"github.com/metricdp/metricdp/internal/testkit/space"
	"github.com/metricdp/metricdp/metric"
)

// checkDoubling fails unless the witness proves the lower end.
func checkDoubling(t *testing.T, f metric.Finite, d DoublingScale) {
	t.Helper()
	if !(d.Lo >= 0 && d.Lo <= d.Hi) {
		t.Fatalf("interval %v", d.Interval)
	}
	if d.Lo == 0 {
		if d.X != -1 || d.Set != nil {
			t.Fatalf("a witness of nothing: %+v", d)
		}
		return
	}
	// It proves Lo itself, or the entropic scale at 4 Alpha to be twice that.
	apart := d.Lo
	if !(d.R/2 < d.Lo) || float64(len(d.Set)) < math.Exp(2*d.Alpha*d.Lo)*(1-1e-12) {
		if apart = 2 * d.Lo; !limit.Exceeded(4*d.Alpha, d.R, len(d.Set)) {
			t.Fatalf("%+v", d)
		}
	}
	for a, i := range d.Set {
		if f.Distance(d.X, i) > d.R {
			t.Fatalf("%d outside the ball", i)
		}
		for _, j := range d.Set[:a] {
			if f.Distance(i, j) < apart {
				t.Fatalf("%d, %d at %v, below %v", i, j, f.Distance(i, j), apart)
			}
		}
	}
}

// TestDoubling_Bracket: what stands for the search in larger spaces encloses
// the scale in small ones, by either witness, and a line of 500 points ends.
func TestDoubling_Bracket(t *testing.T) {
	four := 0
	for seed := range uint64(testkit.Sweep(16, 60)) {
		f := randomSpace(4+int(seed%8), seed)
		for _, alpha := range []float64{.1, .7, 1.5, 3, 20} {
			s := testkit.Must(Entropic(t.Context(), metric.Same(f), []float64{alpha, 4 * alpha}, nil))
			d := doublingBracket(t.Context(), f, s[0], s[1])
			checkDoubling(t, f, d)
			if want := bruteDoubling(f, alpha); d.Lo > want*(1+1e-14) || d.Hi < want*(1-1e-14) {
				t.Errorf("seed %d, alpha %v: %v, want %v", seed, alpha, d.Interval, want)
			}
			s[0].Set = nil // the other witness alone
			d = doublingBracket(t.Context(), f, s[0], s[1])
			checkDoubling(t, f, d)
			if d.Lo == s[1].Lo/2*spaces.SlackDown && d.Lo > 0 {
				four++
			}
		}
	}
	if four == 0 {
		t.Error("the scale at four times the level was never the best")
	}
	for _, f := range []metric.Finite{space.Path(500, 1), planePoints(300, 1)} {
		ds := testkit.Must(Doubling(t.Context(), f, []float64{.05, .2, 2, 30}, &Options{Nodes: 200}))
		for k, d := range ds {
			checkDoubling(t, f, d)
			if k > 0 && d.Hi > ds[k-1].Hi || d.Hi > 4*d.Lo {
				t.Errorf("alpha %v: %v after %v", d.Alpha, d.Interval, ds[max(k-1, 0)].Interval)
			}
		}
	}
}
